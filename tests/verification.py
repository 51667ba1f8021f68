"""`canonry verify` on the database of an installation that runs."""

import os
import subprocess
import sys

from tests.installation import Installation


def verified(installation: Installation) -> str:
    """What the command says at the end; it has to find nothing."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CANONRY_")}
    stack = installation.stack
    own = {"CANONRY_DATABASE_URL": stack.database_url, "CANONRY_DATA": str(stack.root)}
    command = [sys.executable, "-P", "-m", "canonry", "verify"]
    ran = subprocess.run(command, env=inherited | own, cwd=stack.root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()[-1]
