"""`python -m canonry.serving api`, or `worker`: load it, then wait for one line that says where its servers are.

Run as a child of `canonry.services`, so that loading and the servers' own start go on side by side.
"""

# ruff: noqa: PLC0415  (a process loads only what it runs)

import json
import os
import sys
from collections.abc import Callable

from canonry.loading import loading
from models.settings import Settings, load_settings


def main() -> None:
    """Serve with the variables of our environment and of the line, a JSON object."""
    with loading():
        serve = _service(sys.argv[1])
    line = sys.stdin.readline()
    if not line:  # the parent gave up
        return
    os.environ.update(json.loads(line))
    serve(load_settings())


def _service(name: str) -> Callable[[Settings], None]:
    if name == "api":
        from api.server import serve
    else:
        from workflows.worker import serve
    return serve


if __name__ == "__main__":
    main()
