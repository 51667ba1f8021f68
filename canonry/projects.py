"""Which project a command is about."""

from difflib import get_close_matches

from canonry.failures import CommandFailed
from canonry.refusals import Refused
from canonry.remote import Remote
from models.errors import AlreadyExists
from models.schemas.tenancy import MeView, ProjectView

MAX_LISTED = 10


def choose_project(remote: Remote, wanted: str | None, *, create: bool) -> ProjectView:
    """The project with that id, slug or name; without one, the only project where the token's user may propose.

    Args:
        remote: the server.
        wanted: id, slug or name, whatever its case.
        create: make a project of that name when there is none.

    Raises:
        CommandFailed: there is none, or it is not clear which; the text lists them.
    """
    known = list(remote.items("/projects", ProjectView))
    if wanted is None:
        return _only(_writable(remote, known))
    found = named(known, wanted)
    if found is not None:
        return found
    if create:
        return _made(remote, wanted)
    raise CommandFailed(f"{unknown(known, wanted)} With --create-project it is made.")


def would_make_project(remote: Remote, name: str) -> bool:
    """Whether a project of that name would be made: there is none, as far as the token sees."""
    return named(list(remote.items("/projects", ProjectView)), name) is None


def _only(candidates: list[ProjectView]) -> ProjectView:
    if not candidates:
        raise CommandFailed(
            "There is no project yet that this token may write to; --project NAME --create-project makes one,"
            " and a project's admin adds you to it."
        )
    if len(candidates) > 1:
        raise CommandFailed(f"Say which project by --project ({listed(candidates)}).")
    return candidates[0]


def _writable(remote: Remote, known: list[ProjectView]) -> list[ProjectView]:
    """Active projects of which the user is a member or admin; owners and admins of the organization may in all."""
    identity = remote.get("/me", MeView)
    writes = {each.project_id for each in identity.projects if each.role != "viewer"}
    return [
        project
        for project in known
        if project.state == "active" and (identity.role != "member" or project.project_id in writes)
    ]


def named(known: list[ProjectView], wanted: str) -> ProjectView | None:
    """By id first, then by slug, then by name whatever its case."""
    folded = wanted.casefold()
    found = (
        [each for each in known if each.project_id == wanted]
        or [each for each in known if each.slug == folded]
        or [each for each in known if each.name.casefold() == folded]
    )
    return found[0] if found else None


def unknown(known: list[ProjectView], wanted: str) -> str:
    """That there is no such project, with the one that may be meant and those that there are."""
    slugs = {each.slug: each for each in known} | {each.name.casefold(): each for each in known}
    near = get_close_matches(wanted.casefold(), slugs, n=1)
    meant = f" Did you mean {slugs[near[0]].slug}?" if near else ""
    return f"There is no project {wanted} for this token ({listed(known)}).{meant}"


def _made(remote: Remote, name: str) -> ProjectView:
    try:
        return remote.post("/projects", {"name": name}, ProjectView)
    except Refused as refusal:
        if refusal.code != AlreadyExists.code:
            raise
        raise CommandFailed(
            f"There is a project {name}, but this token may not use it; ask its admin to add you."
        ) from refusal


def listed(projects: list[ProjectView]) -> str:
    """What `--project` may name, for a sentence."""
    more = f" and {len(projects) - MAX_LISTED} more" if len(projects) > MAX_LISTED else ""
    return ", ".join(each.slug for each in projects[:MAX_LISTED]) + more or "it sees none"
