"""The chapter of what each project reads, recomputed by its readers and shown side by side."""

from collections.abc import Callable
from functools import partial

from rich.table import Table
from rich.text import Text

from canonry.demo.people import MIRA, PLATFORM, SUPPORT, WEI
from canonry.demo.scene import Scene
from canonry.demo.snapshots import Reading, read_snapshot
from canonry.remote import Remote
from canonry.wording import counted

DIGITS = 36
"""Of a hash's 64; so that two fit side by side."""


def compare_what_is_read(scene: Scene) -> None:
    """Two people fetch their project's version, and recompute it."""
    scene.display.chapter(
        "What each project reads now",
        "A version is named by a SHA-256 over every text, path and description in it, so that anybody can "
        "check it: the readers recompute all of it from the texts that they got.",
    )
    platform = _recomputed(scene, MIRA, scene.cast.mira, PLATFORM)
    support = _recomputed(scene, WEI, scene.cast.wei, SUPPORT)
    scene.display.show(_side_by_side(platform, support))


def _recomputed(scene: Scene, who: str, remote: Remote, project: str) -> Reading:
    with scene.display.step(who, f"fetches what {project} reads") as step:
        reading = read_snapshot(remote, scene.projects[project])
        texts = counted(len(reading.texts), "text")
        step.ends(f"recomputes what {project} reads: {texts}, tree and commit are as claimed")
    return reading


def _side_by_side(platform: Reading, support: Reading) -> Table:
    shared = platform.paths.keys() & support.paths.keys()
    rows: list[tuple[str, Callable[[Reading], str]]] = [
        ("documents", lambda reading: str(len(reading.paths))),
        ("folders", _folders),
        ("version", lambda reading: str(reading.commit.version)),
        ("commit", lambda reading: f"{reading.commit.commit_id[:DIGITS]}…"),
        ("tree", lambda reading: f"{reading.commit.tree_id[:DIGITS]}…"),
        *(("in both", partial(_place, memory_id)) for memory_id in sorted(shared)),
    ]
    table = Table.grid(padding=(0, 1))
    table.add_row("  ", "", Text(PLATFORM, style="bold"), Text(SUPPORT, style="bold"))
    for name, shown in rows:
        table.add_row("  ", Text(name, style="dim"), Text(shown(platform)), Text(shown(support)))
    return table


def _place(memory_id: str, reading: Reading) -> str:
    return f"{reading.paths[memory_id]} {memory_id}"


def _folders(reading: Reading) -> str:
    return ", ".join(sorted({path.split("/")[0] for path in reading.paths.values()}))
