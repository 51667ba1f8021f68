"""What a body names, read before the body is judged: an unknown project or Draft goes before a broken rule.

404 and 403 precede 400 (publication.md §6), and where the project or the Drafts are named in the body, this is how
they are found although something else in it may be wrong. What is no plausible id is left to the schema, which refuses
it: so nothing is done by what is mentioned, only by the body once it has been judged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl

from pydantic import JsonValue

from api.calls import Read, Write
from models.schemas.common import MAX_ID_CHARACTERS, broken_text_rule


@dataclass(frozen=True, slots=True)
class Mentions:
    """The members of a body that is an object; of any other, none."""

    members: dict[str, JsonValue]

    @classmethod
    def of(cls, call: Write) -> "Mentions":
        """What the body of a request names."""
        value = call.json().value
        return cls(value if isinstance(value, dict) else {})

    def id(self, name: str) -> str | None:
        """The id in a member; None also where something is named that is no plausible id."""
        return next(_plausible([self.members.get(name)]), None)

    def ids(self, name: str, member: str | None = None) -> list[str]:
        """The ids in a list, or in one member of each object in it."""
        listed = self.members.get(name)
        if not isinstance(listed, list):
            return []
        if member is None:
            return list(_plausible(listed))
        return list(_plausible([item.get(member) for item in listed if isinstance(item, dict)]))

    def objects(self, name: str) -> list["Mentions"]:
        """What each object in a list names."""
        listed = self.members.get(name)
        return [Mentions(item) for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def mentioned_id(call: Read, name: str) -> str | None:
    """The id in a query parameter that is given once; None also where it is no plausible one."""
    given = parse_qsl(call.incoming.query.decode("latin-1"), keep_blank_values=True)
    values: list[JsonValue] = [value for each, value in given if each == name]
    return next(_plausible(values), None) if len(values) == 1 else None


def _plausible(values: list[JsonValue]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARACTERS and not broken_text_rule(value):
            yield value
