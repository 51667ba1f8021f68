"""What a setting accepts, in words: for refusals and for the reference."""

from dataclasses import dataclass
from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class Form:
    """What a setting with a pattern or a structure looks like, in words; bounds of numbers need none."""

    words: str


def accepted(field: FieldInfo) -> str:
    """The values that a setting may have, in words: its form, or the bounds of its number."""
    form = next((rule.words for rule in field.metadata if isinstance(rule, Form)), None)
    if form is not None:
        return form
    if field.annotation is bool:
        return "true or false"
    if get_origin(field.annotation) is Literal:
        return " or ".join(get_args(field.annotation))
    lowest, above, highest = (_bound(field, name) for name in ("ge", "gt", "le"))
    if highest is None:
        return "text" if _bound(field, "min_length") is None else "text, not empty"
    number = "a whole number" if field.annotation is int else "a number"
    return f"{number} from {lowest} to {highest}" if above is None else f"{number} above {above}, up to {highest}"


def _bound(field: FieldInfo, name: str) -> float | None:
    return next((getattr(rule, name) for rule in field.metadata if hasattr(rule, name)), None)
