"""`.canonry.json`: what an exported folder is, and which of its documents do not look like documents (ADR 0010)."""

from typing import Literal

from pydantic import BaseModel, ValidationError

from canonry.failures import CommandFailed

MANIFEST = ".canonry.json"


class Manifest(BaseModel):
    """What lies in the folder; `also` are the paths of documents that nobody finds who looks for Markdown."""

    format: Literal["canonry-export/1"] = "canonry-export/1"
    scope: Literal["org", "project"]
    commit_id: str
    tree_id: str
    also: list[str]


def parse_manifest(data: bytes, name: str) -> Manifest:
    """The manifest of these bytes.

    Raises:
        CommandFailed: it is none; `name` says where it stands.
    """
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        raise CommandFailed(
            f"{name} is not what `canonry export` wrote: without it, or as it was, the folder can be read."
        ) from error
