"""Names of people, organizations, projects and tokens: what is accepted, and when two are the same."""

import re
import unicodedata

MAX_NAME_CHARACTERS = 200
MAX_EMAIL_CHARACTERS = 254
MAX_SLUG_CHARACTERS = 100

_REFUSED_CATEGORIES = {
    "Cc": "control_character",
    "Zl": "line_break",
    "Zp": "line_break",
    "Cs": "lone_surrogate",
}
_EMAIL = re.compile(r"[^\s@]+@[^\s@.]+(\.[^\s@.]+)*")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def tidy_name(raw: str) -> str:
    """The name in NFC, without white space at either end."""
    return unicodedata.normalize("NFC", raw).strip()


def broken_name_rule(name: str) -> str | None:
    """The first rule that a tidy name breaks, or None: 1-200 characters on one line, without control characters."""
    if not name:
        return "blank"
    if len(name) > MAX_NAME_CHARACTERS:
        return "too_long"
    return next(
        (rule for character in name if (rule := _REFUSED_CATEGORIES.get(unicodedata.category(character)))), None
    )


def name_key(name: str) -> str:
    """The key that two names share when they differ in case only: NFC(casefold(NFD(name)))."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def broken_email_rule(email: str) -> str | None:
    """The first rule that an email address breaks, or None: at most 254 characters, `local@domain`."""
    if len(email) > MAX_EMAIL_CHARACTERS:
        return "too_long"
    return None if _EMAIL.fullmatch(email) and broken_name_rule(email) is None else "email"


def broken_slug_rule(slug: str) -> str | None:
    """The first rule that a slug breaks, or None: 1-100 of `a-z`, `0-9` and single hyphens between them."""
    if len(slug) > MAX_SLUG_CHARACTERS:
        return "too_long"
    return None if _SLUG.fullmatch(slug) else "slug"


def slug_of(name: str) -> str:
    """The slug a name suggests: its letters and digits without accents, `project` when none is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    return "-".join(words)[:MAX_SLUG_CHARACTERS].strip("-") or "project"


def numbered_slug(slug: str, number: int) -> str:
    """The slug with a number appended, within the limit: what is tried when the plain one is taken."""
    suffix = f"-{number}"
    return slug[: MAX_SLUG_CHARACTERS - len(suffix)].rstrip("-") + suffix
