"""Who acts in the demonstration, each with a role and a token of their own, kept in the data folder."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path

from pydantic import JsonValue

from canonry.failures import CommandFailed
from canonry.refusals import Refused
from canonry.remote import Remote
from models.rules.roles import OrgRole, Permission, ProjectRole
from models.schemas.tenancy import IssuedTokenView, MemberView, MeView, ProjectView, TokenView, UserView

FOLDER = "demo"
DAYS = 30
OWNER, MIRA, JONAS, WEI = "Owner", "Mira", "Jonas", "Wei"
PROJECT_NOTE = "A project of the demonstration."
PLATFORM, SUPPORT = "Platform", "Support"
COLOURS = {
    OWNER: "bold",
    MIRA: "bold cyan",
    JONAS: "bold green",
    WEI: "bold magenta",
    PLATFORM: "bold",
    SUPPORT: "bold",
}
Report = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody to play; `projects` are those where the person is a member, and as what."""

    name: str
    does: str
    role: OrgRole
    permissions: tuple[Permission, ...]
    projects: Mapping[str, ProjectRole]

    @property
    def email(self) -> str:
        """By which the person is found again, and told from a colleague of the same name."""
        return f"{self.name.lower()}@demo.example"


PEOPLE = (
    Person(
        name=MIRA,
        does="an engineer, writes",
        role="member",
        permissions=("read", "write"),
        projects={PLATFORM: "member", SUPPORT: "member"},
    ),
    Person(
        name=JONAS,
        does="reads what others propose, and decides",
        role="admin",
        permissions=("read", "write"),
        projects={},
    ),
    Person(
        name=WEI,
        does="answers customers, only reads",
        role="member",
        permissions=("read",),
        projects={SUPPORT: "viewer"},
    ),
)


@dataclass(frozen=True)
class Cast:
    """One client a person, and the names by user id."""

    owner: Remote
    mira: Remote
    jonas: Remote
    wei: Remote
    names: Mapping[str, str]

    @property
    def guests(self) -> Mapping[str, Remote]:
        """Everybody but the owner, by name."""
        return {MIRA: self.mira, JONAS: self.jonas, WEI: self.wei}

    def name(self, user_id: str) -> str:
        """What to call a user; the owner's real name is not ours to show."""
        return self.names.get(user_id, OWNER)


def the_projects(owner: Remote) -> dict[str, str]:
    """The two projects' ids by name, made the first time.

    Raises:
        CommandFailed: there is a project of that name which is somebody's own.
    """
    known = {project.name: project for project in owner.items("/projects", ProjectView)}
    return {name: _project(owner, name, known.get(name)) for name in (PLATFORM, SUPPORT)}


def _project(owner: Remote, name: str, known: ProjectView | None) -> str:
    if known is None:
        return owner.post("/projects", {"name": name, "description": PROJECT_NOTE}, ProjectView).project_id
    if known.description != PROJECT_NOTE:
        raise CommandFailed(
            f"There is a project {name} that is not the demonstration's; use another folder: --data DIR."
        )
    return known.project_id


@contextmanager
def the_cast(owner: Remote, projects: Mapping[str, str], data: Path, report: Report) -> Iterator[Cast]:
    """Everybody with a client of their own; who is missing is added, with memberships and a token.

    Args:
        owner: the owner's client, which stays open.
        projects: ids by name.
        data: the data folder, where the tokens are kept.
        report: takes a line when the server does not answer.
    """
    known = {user.email: user for user in owner.items("/admin/users", UserView)}
    with ExitStack() as stack:
        remotes: dict[str, Remote] = {}
        names: dict[str, str] = {}
        for person in PEOPLE:
            user = known.get(person.email) or _user(owner, person)
            _join(owner, person, user, projects)
            remotes[person.name] = _signed_in(owner, person, user, data / FOLDER, report)
            stack.callback(remotes[person.name].close)
            names[user.user_id] = person.name
        yield Cast(owner, remotes[MIRA], remotes[JONAS], remotes[WEI], names)


def describe(remote: Remote) -> str:
    """What the server says that a token's user may do."""
    me = remote.get("/me", MeView)
    roles = [f"organization: {me.role}", *(f"{each.name}: {each.role}" for each in me.projects)]
    return " · ".join([*roles, f"token: {', '.join(me.permissions)}"])


def _user(owner: Remote, person: Person) -> UserView:
    return owner.post("/admin/users", {"name": person.name, "email": person.email, "role": person.role}, UserView)


def _join(owner: Remote, person: Person, user: UserView, projects: Mapping[str, str]) -> None:
    for name, role in person.projects.items():
        path = f"/projects/{projects[name]}/members"
        if user.user_id not in {member.user_id for member in owner.items(path, MemberView)}:
            owner.post(path, {"user_id": user.user_id, "role": role}, MemberView)


def _signed_in(owner: Remote, person: Person, user: UserView, folder: Path, report: Report) -> Remote:
    """A client with the token that an earlier run kept, or a new one in its place."""
    file = folder / f"{person.name.lower()}.token"
    kept = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    if kept:
        remote = Remote(owner.url, kept, report)
        if _is_of(remote, user):
            return remote
        remote.close()
    secret = _new_secret(owner, person, user)
    folder.mkdir(mode=0o700, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(f"{secret}\n", encoding="utf-8")
    return Remote(owner.url, secret, report)


def _is_of(remote: Remote, user: UserView) -> bool:
    try:
        return remote.get("/me", MeView).user.user_id == user.user_id
    except Refused as refusal:
        if refusal.status != HTTPStatus.UNAUTHORIZED:
            raise
        return False


def _new_secret(owner: Remote, person: Person, user: UserView) -> str:
    """A token for a month; one whose secret was lost with an interrupted run is revoked."""
    for token in owner.items("/admin/tokens", TokenView, user_id=user.user_id):
        if token.name == FOLDER:
            owner.delete(f"/admin/tokens/{token.token_id}")
    ends = datetime.now(UTC) + timedelta(days=DAYS)
    body: dict[str, JsonValue] = {
        "user_id": user.user_id,
        "name": FOLDER,
        "permissions": list(person.permissions),
        "expires_at": ends.isoformat(timespec="seconds"),
    }
    return owner.post("/admin/tokens", body, IssuedTokenView).secret
