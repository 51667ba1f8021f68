"""Where chosen keys of a YAML mapping stand, so that they can be taken out of its text and nothing else changes."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import yaml

TEXT = "tag:yaml.org,2002:str"
NOTHING = "tag:yaml.org,2002:null"

_TABS = re.compile(r"^[A-Za-z_][\w-]*:[ \t]+", re.MULTILINE)

DEEPEST = 100
"""Reading `[[[[…` takes time by the square of its depth, and nobody writes front matter like that."""

_NO_MAPPING = "is not a YAML mapping"


class Unusable(Exception):  # noqa: N818  (it is what the text is; whoever asked decides whether that is a failure)
    """Why no key can be told: half a sentence."""


class NoMapping(Unusable):
    """It is one text, a list, or comments alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key and its value; `text[start:end]` are the whole lines they stand on.

    `tag` is what YAML takes the value for; a value that is a list or a mapping has none and an empty `value`.
    """

    value: str
    tag: str | None
    start: int
    end: int


def find_keys(text: str, names: Collection[str]) -> dict[str, Key]:
    """The keys of these names in the outermost mapping of a text.

    It reads events and builds no values: whatever the text is, it takes time by its length and no stack.

    Raises:
        Unusable: the text is not one YAML mapping, has an alias, or is nested more than 100 deep; a key stands twice,
            or beside something else on its lines.
    """
    try:
        return _found(text, yaml.SafeLoader(_TABS.sub(_spaced, text)), names)
    except yaml.MarkedYAMLError as error:
        where = "" if error.problem_mark is None else f" (line {error.problem_mark.line + 1}: {error.problem})"
        raise Unusable(f"is not valid YAML{where}") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # a control character, an escape beyond Unicode
        raise Unusable("is not valid YAML") from error


def _spaced(key: re.Match[str]) -> str:
    """Spaces for tabs: YAML takes both for white space there, and the library only the former."""
    return key[0].replace("\t", " ")


def _found(text: str, loader: yaml.SafeLoader, names: Collection[str]) -> dict[str, Key]:
    keys: dict[str, Key] = {}
    children = list(_children(loader))
    for name, value in zip(children[::2], children[1::2], strict=True):
        if not isinstance(name, yaml.ScalarEvent) or name.value not in names:
            continue
        if name.value in keys:
            raise Unusable(f"has `{name.value}` twice")
        keys[name.value] = _key(text, loader, name, value)
    return keys


def _children(loader: yaml.SafeLoader) -> Iterator[yaml.NodeEvent]:
    """Keys and values of the outermost mapping in turn, a collection by its first event."""
    depth, rooted = 0, False
    while not isinstance(event := _next_event(loader), yaml.StreamEndEvent):
        if isinstance(event, yaml.DocumentStartEvent) and event.explicit:
            raise Unusable("is more than one YAML document")
        if isinstance(event, yaml.NodeEvent):
            if depth == 0:
                _require_block_mapping(event)
                rooted = True
            if depth > DEEPEST:
                raise Unusable("is nested too deeply")
            if isinstance(event, yaml.AliasEvent):
                raise Unusable("has a YAML alias")
            if depth == 1:
                yield event
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
    if not rooted:
        raise NoMapping(_NO_MAPPING)


def _next_event(loader: yaml.SafeLoader) -> yaml.Event:
    event: yaml.Event = loader.get_event()  # type: ignore[no-untyped-call]
    return event


def _require_block_mapping(root: yaml.NodeEvent) -> None:
    if not isinstance(root, yaml.MappingStartEvent):
        raise NoMapping(_NO_MAPPING)
    if root.flow_style:
        raise Unusable("has its keys in braces instead of on lines of their own")


def _key(text: str, loader: yaml.SafeLoader, name: yaml.ScalarEvent, value: yaml.NodeEvent) -> Key:
    begins = _index(name.start_mark)
    start = text.rfind("\n", 0, begins) + 1
    if not isinstance(value, yaml.ScalarEvent):
        return Key(value="", tag=None, start=start, end=start)
    ends = len(text[: _index(value.end_mark)].rstrip())  # a block scalar ends after the blank lines below it
    line_end = text.find("\n", ends)
    end = len(text) if line_end < 0 else line_end + 1
    if text[start:begins].strip(" ") or not _is_comment(text[ends:end]):
        raise Unusable(f"has `{name.value}` beside something else on its lines")
    return Key(value=value.value, tag=_tag(loader, value), start=start, end=end)


def _is_comment(rest: str) -> bool:
    """Whether the rest of a line is blank or a comment; YAML knows line breaks that are none to us."""
    return len(rest.splitlines()) <= 1 and (not rest.strip() or rest.lstrip().startswith("#"))


def _tag(loader: yaml.SafeLoader, value: yaml.ScalarEvent) -> str:
    if value.tag is not None and value.tag != "!":
        return value.tag
    resolved: str = loader.resolve(yaml.ScalarNode, value.value, value.implicit)  # type: ignore[no-untyped-call]
    return resolved


def _index(mark: object) -> int:
    return mark.index if isinstance(mark, yaml.Mark) else 0
