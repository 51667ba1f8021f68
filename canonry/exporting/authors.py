"""Who published, as git names people: by what the token may know of them."""

from collections.abc import Mapping

from pydantic import BaseModel

from canonry.remote import Refused, Remote


class _Person(BaseModel):
    user_id: str
    name: str
    email: str | None = None


class _Identity(BaseModel):
    user: _Person


def known_authors(remote: Remote, project_id: str | None) -> Mapping[str, bytes]:
    """Author lines by user id: all users for owners and admins, else the members of the project and the token's user.

    Args:
        remote: the server.
        project_id: whose commits are exported; None for the organization's.
    """
    people = {person.user_id: person for person in _people(remote, project_id)}
    return {user_id: author_line(user_id, person.name, person.email) for user_id, person in people.items()}


def author_line(user_id: str, name: str = "", email: str | None = None) -> bytes:
    """`name <email>`, with the id for what is not known, and without what would end either."""
    return f"{_cleaned(name) or user_id} <{_cleaned(email or '') or user_id}>".encode()


def _people(remote: Remote, project_id: str | None) -> list[_Person]:
    try:
        return list(remote.items("/admin/users", _Person))
    except Refused as refusal:
        if refusal.status not in {403, 404}:
            raise
    members = [] if project_id is None else list(remote.items(f"/projects/{project_id}/members", _Person))
    return [*members, remote.get("/me", _Identity).user]


def _cleaned(text: str) -> str:
    return "".join(character for character in text if character not in "<>" and character.isprintable()).strip()
