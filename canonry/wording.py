"""How numbers and texts from elsewhere stand in a sentence."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 file`, `2 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def printable(text: str) -> str:
    """The text with what would steer a terminal, or is not Unicode, written as an escape."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
