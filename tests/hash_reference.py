"""The code that docs/reference/hashes.md gives to clients, as it stands there."""

import re
from pathlib import Path

from tests.client import Json

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "hashes.md"


def verify(document: Json) -> None:
    """Recompute every id of a snapshot with nothing but the page's code; raises when one differs."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    [block] = [block for block in blocks if "def verify(document" in block]
    names: dict[str, object] = {}
    exec(block, names)  # noqa: S102  (the page's own code is what is tested)
    published = names["verify"]
    assert callable(published)
    published(document)
