"""What the demonstration counts at its end is its own (canonry/demo/ending.py)."""

import pytest

from canonry.demo.display import Display, a_console
from canonry.demo.ending import counted_up, summary
from canonry.demo.people import Cast
from canonry.demo.scene import Scene
from canonry.remote import Remote
from models.schemas.reviews import ReviewBody
from tests.client import Client, a_person, a_project, ok
from tests.proposals import a_draft, a_place, a_review, creates, published, reread, select

pytestmark = pytest.mark.usefixtures("worker")


def test_what_others_publish_is_not_counted_as_the_demonstration_s(api: Client) -> None:
    organization, elsewhere = a_place(api)
    owner = organization.owner
    projects = {name: a_project(owner) for name in ("Platform", "Support")}
    published(owner, elsewhere, creates("theirs.md"))
    shared, _ = published(owner, projects["Platform"], creates("a.md"), creates("b.md"))
    published(owner, projects["Support"], creates("c.md"))
    select(owner, elsewhere, [shared])
    waiting = a_review(owner, a_draft(owner, projects["Platform"], creates("d.md")))
    mira = a_person(organization)
    for client, name in ((owner, "theirs"), (mira.client, "ours")):
        ok(client.post("/memories", {"name": name, "description": "About it.", "content": "A note."}), 201)
    assert owner.token is not None
    remote = Remote(owner.base_url, owner.token, print)
    scene = Scene(
        Cast(remote, remote, remote, remote, {mira.user_id: "Mira"}), projects, Display(a_console(), {}, 10), ()
    )

    figures = counted_up(scene, waiting=ReviewBody.model_validate(reread(owner, waiting)))
    remote.close()

    assert summary(figures, 1.0).strip() == (
        "Told in 1.0 s. Platform and Support read 3 documents; 2 Reviews, 2 versions, 3 submissions.\n"
        "Agents saved 1 memory."
    )
