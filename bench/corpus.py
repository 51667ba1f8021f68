"""Real Markdown through everything: imported, reviewed, merged, selected, exported, and imported elsewhere.

`.venv/bin/python bench/corpus.py` fetches what bench/corpus_packages.toml names, asserts at each step that nothing is
lost or changed, and prints what it took, with ratios against baselines of the same run.
"""

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Engine

from bench.corpus_baselines import commit_with_git, copy_rows, write_files
from bench.corpus_journey import Journey, count_files
from bench.corpus_packages import Package, fetch, pinned_packages
from bench.measuring import markdown
from tests.installation import an_installation
from tests.verification import verified

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "canonry-corpus"
FEWEST_FILES = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"folder that keeps what was fetched ({CACHE})")
    parser.add_argument("--kills", type=int, default=0, help="kill the command and the servers so often meanwhile (0)")
    chosen = parser.parse_args()
    packages = pinned_packages()
    corpus = fetch(packages, chosen.cache.resolve())
    print(_packages(packages, corpus), end="\n\n", flush=True)
    with tempfile.TemporaryDirectory() as scratch, an_installation() as installation:
        journey = Journey(installation, corpus, Path(scratch), chosen.kills)
        first = journey.travel()
        if journey.killing is not None:
            print(journey.killing.table(), end="\n\n")
        print(_phases(journey), end="\n\n")
        print(_ratios(journey, installation.engine, first.organization.organization_id), end="\n\n")
        print(_left_out(journey))
        print(f"canonry verify: {verified(installation)}")


def _packages(packages: Sequence[Package], corpus: Path) -> str:
    """What the corpus is made of, and under which licences."""
    counts = [count_files(corpus / package.folder) for package in packages]
    assert sum(counts) >= FEWEST_FILES
    rows = [
        (package.registry, package.name, package.version, package.licence, f"{count}")
        for package, count in zip(packages, counts, strict=True)
    ]
    return markdown([("registry", "package", "version", "licence", "files"), *rows, ("", "", "", "", f"{sum(counts)}")])


def _phases(journey: Journey) -> str:
    rows = [
        (phase.name, f"{phase.files}", f"{phase.seconds:.2f}", f"{phase.files / phase.seconds:,.0f}")
        for phase in journey.phases
    ]
    return markdown([("phase", "files", "seconds", "files/s"), *rows])


def _ratios(journey: Journey, engine: Engine, organization_id: str) -> str:
    """Phases against what the same content costs without Canonry."""
    published = journey.seconds("import", "approve", "merge", "select")
    rows, copying = copy_rows(engine, organization_id)
    compared = [("import to select", published, f"COPY of the {rows:,} rows that it left", copying)]
    committing = commit_with_git(journey.corpus, journey.scratch / "git")
    if committing is not None:
        compared.append(("import to select", published, "git add and git commit of the files", committing))
    writing = write_files(journey.exported, journey.scratch / "written")
    compared.append(("export", journey.seconds("export"), "writing its files", writing))
    return markdown(
        [
            ("measured", "seconds", "against", "seconds", "ratio"),
            *(
                (subject, f"{taken:.2f}", baseline, f"{against:.3f}", f"{taken / against:.1f}x")
                for subject, taken, baseline, against in compared
            ),
        ]
    )


def _left_out(journey: Journey) -> str:
    """What was left out and why, and what was compared."""
    rows = [(str(report["path"]), str(report["code"]), str(report["detail"])) for report in journey.reports]
    compared = f"{journey.descriptions} descriptions in front matter and every text were compared with their files."
    return "\n".join([markdown([("left out", "code", "why"), *rows]), "", compared])


if __name__ == "__main__":
    main()
