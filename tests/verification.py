"""`canonry verify` on the database of an installation that runs."""

from tests.installation import Installation
from tests.up import run


def verified(installation: Installation) -> str:
    """What the command says at the end; it has to find nothing."""
    stack = installation.stack
    ran = run("verify", CANONRY_DATABASE_URL=stack.database_url, CANONRY_DATA=str(stack.root))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()[-1]
