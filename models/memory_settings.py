"""What an operator may set about structured memory: the table `[memory]` (memory.md §6)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class MemorySettings(BaseModel):
    """How memories are found, injected and saved, each by its key in `[memory]` or by `CANONRY_MEMORY__<NAME>`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    relevance_k: int = Field(default=5, ge=1, le=50, description="memories injected per turn")
    # Not above what is scored without the index at all while it is rebuilt, many times over.
    fetch_limit: int = Field(
        default=50, ge=1, le=10_000, description="first step of candidates scored exactly per turn"
    )
    # What REST takes bounds what a tool may.
    max_content: int = Field(default=32_768, ge=1, le=65_536, description="characters per memory through the tool")
    nudge_cooldown: float = Field(
        default=300, ge=0, le=31_536_000, description="seconds between two nudges of a kind in a session"
    )
    nudges: bool = Field(default=True, description="whether turns are nudged at all")
    inject_max_chars: int = Field(
        default=2_000, ge=1, le=65_536, description="characters of one memory's content in the injected block"
    )
    # Fifty memories, the most that a turn takes, of the longest content there is.
    inject_total_chars: int = Field(
        default=12_000, ge=1, le=3_276_800, description="characters of all contents in the injected block"
    )
    global_write: Literal["member", "admin"] = Field(
        default="member", description="default of new organizations: who may write global memories"
    )
