"""Who published, as git names people: by what the token may know of them."""

from collections.abc import Mapping

from pydantic import BaseModel

from canonry.refusals import Refused
from canonry.remote import Remote
from models.errors import Forbidden


class _Person(BaseModel):
    user_id: str
    name: str
    email: str | None = None


class _Identity(BaseModel):
    user: _Person


def known_authors(remote: Remote, project_id: str | None) -> Mapping[str, bytes]:
    """Author lines by user id: all users, else the project's members, else whose token it is, as the role allows.

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
    lists = ["/admin/users"] if project_id is None else ["/admin/users", f"/projects/{project_id}/members"]
    for path in lists:
        try:
            return list(remote.items(path, _Person))
        except Refused as refusal:
            if refusal.code != Forbidden.code:
                raise
    return [remote.get("/me", _Identity).user]


def _cleaned(text: str) -> str:
    return "".join(character for character in text if character not in "<>" and character.isprintable()).strip()
