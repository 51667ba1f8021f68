"""Which nudge a turn deserves: a sentence for the agent beside the block, at most one an answer (memory.md §5)."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

NudgeKind = Literal["denial", "tool_error", "correction", "completion", "resume"]
TurnEvent = Literal["tool_error", "denial", "resume"]

NUDGES: Mapping[NudgeKind, str] = {
    "denial": (
        "A tool call was refused. If the reason is a lasting rule or preference, save it with "
        "memory(action='save', type='feedback', …) so that it is kept to next time."
    ),
    "tool_error": (
        "A tool call failed. An earlier session may have solved this: look with memory(action='search', query='…') "
        "before you try again."
    ),
    "correction": (
        "The user seems to correct you. If this should hold in future too, save it with "
        "memory(action='save', type='feedback', …)."
    ),
    "completion": (
        "The work seems to be done. If something was learned that a later session should know, save it with "
        "memory(action='save', …)."
    ),
    "resume": (
        "This work goes on from an earlier session. Look with memory(action='search', query='…') for what was saved "
        "then before you begin."
    ),
}
"""The kinds in their priority, each with its text."""

MAX_COMPLETION_CHARACTERS = 80
"""A longer message that begins with thanks goes on to something else."""

_SUGGEST_SAVING = frozenset({"denial", "correction", "completion"})

_AFTER_NO = (
    "i|me|my|mine|myself|you|your|yours|yourself|he|him|his|himself|she|her|hers|herself|it|its|itself|we|us|our|ours"
    "|ourselves|they|them|their|theirs|themselves|what"  # pronouns
    "|this|that|these|those"  # demonstratives
    "|a|an|the"  # articles
    "|not|do|did|but"
)
_WORD_BEGINS = r"(?<!\w)(?<!\w-)"
_WORD_ENDS = r"(?!-?\w)"


def _words(words: str) -> re.Pattern[str]:
    """The words anywhere, each whole, with any white space between them."""
    return re.compile(f"{_WORD_BEGINS}(?:{words}){_WORD_ENDS}".replace(" ", r"\s+"))


def _first_words(words: str) -> re.Pattern[str]:
    """The words at the beginning, for `match`; quotes and dashes before the first do not count."""
    return re.compile(rf"\W*+(?:{words}){_WORD_ENDS}".replace(" ", r"\s+"))


_NO = re.compile(r"\W*+no\s*[,.](?!\d)")
_CORRECTION_BEGINS = _first_words(f"no (?:{_AFTER_NO})|stop|actually|instead|wrong|i said|i meant|please don't")
_CORRECTION_SAYS = _words("don't|not like that|that's not")
_NEVER = _words("never")
_ALWAYS = _words("always")
_NO_CORRECTION = _words("no (?:problem|worries|thanks|idea|rush)")

_COMPLETION_BEGINS = _first_words("that's all|lgtm")
_SHORT_COMPLETION_BEGINS = _first_words(r"thanks(?! for\b)|thank you|perfect|great job|done")
_SHORT_COMPLETION_SAYS = _words("looks good|that works")
_ASKS = re.compile("[?\uff1f]")
_GOES_ON = _words("can you|could you|please|also|but|now|next|and then|after that|one more|however")


@dataclass(frozen=True, slots=True)
class Turn:
    """What a nudge is judged by.

    `texts` are the user messages so far, `events` what the client reports of this turn. `resumes` says that this is
    the first turn of a session on a workstream that had an earlier one.
    """

    texts: Sequence[str]
    events: Collection[TurnEvent]
    in_scope: int
    read_only: bool
    resumes: bool


def due_nudges(turn: Turn) -> list[NudgeKind]:
    """The kinds that the turn gives reason for, the most important first; those in cooldown are to be passed over."""
    return [kind for kind in NUDGES if _has_reason(kind, turn) and not _is_withheld(kind, turn)]


def _has_reason(kind: NudgeKind, turn: Turn) -> bool:
    match kind:
        case "denial":
            return "denial" in turn.events
        case "tool_error":
            return "tool_error" in turn.events and turn.in_scope > 0
        case "correction":
            return is_correction(_last(turn))
        case "completion":
            return is_completion(_last(turn))
        case "resume":
            return ("resume" in turn.events or turn.resumes) and turn.in_scope > 0


def _is_withheld(kind: NudgeKind, turn: Turn) -> bool:
    """The first message says what is wanted, nothing of how it goes; who cannot save is not asked to."""
    is_first = len(turn.texts) <= 1 and kind != "resume"
    return is_first or (turn.read_only and kind in _SUGGEST_SAVING)


def _last(turn: Turn) -> str:
    return turn.texts[-1] if turn.texts else ""


def is_correction(message: str) -> bool:
    """Whether the user corrects what was done."""
    said = _plain(message)
    begins = _NO.match(said) or _CORRECTION_BEGINS.match(said)
    corrects = begins or _CORRECTION_SAYS.search(said) or _says_never_and_always(said)
    return bool(corrects) and _NO_CORRECTION.search(said) is None


def _says_never_and_always(said: str) -> bool:
    """Two searches, because one pattern for both takes the square of the time on a text of many "never"."""
    never = _NEVER.search(said)
    return never is not None and _ALWAYS.search(said, never.end()) is not None


def is_completion(message: str) -> bool:
    """Whether the user is content, and asks for nothing more."""
    said = _plain(message)
    ends = _COMPLETION_BEGINS.match(said) or (len(said) <= MAX_COMPLETION_CHARACTERS and _ends_shortly(said))
    return bool(ends) and _ASKS.search(said) is None and _GOES_ON.search(said) is None


def _ends_shortly(said: str) -> bool:
    return bool(_SHORT_COMPLETION_BEGINS.match(said) or _SHORT_COMPLETION_SAYS.search(said))


def _plain(message: str) -> str:
    return message.strip().lower().replace("\u2019", "'")
