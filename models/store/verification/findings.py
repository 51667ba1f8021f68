"""What verification finds: one fact that does not hold, with the ids to look it up by."""

import json
from dataclasses import dataclass

SHOWN_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it has to be.

    Args:
        check: its stable name, `<thing>.<fact>`.
        what: what is wrong, as half a sentence.
        where: the ids that lead to the rows.
        expected: what would be right, as text.
        found: what stands there, as text.
    """

    check: str
    what: str
    where: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.check}: {self.what}, {self.where}, expected {self.expected}, found {self.found}"


def shown(value: object) -> str:
    """A stored value on one line of bounded length, with nothing in it that a terminal would obey."""
    if value is None:
        return "nothing"
    if isinstance(value, bytes):
        return value.hex()
    if not isinstance(value, str):
        return str(value)
    plain = value if value.isascii() and value.isprintable() and " " not in value and value else json.dumps(value)
    return plain if len(plain) <= SHOWN_CHARACTERS else plain[:SHOWN_CHARACTERS] + "…"
