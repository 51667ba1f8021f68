"""`canonry migrate`: what `canonry up` does to a database before it serves, for databases that somebody else runs."""

from sqlalchemy.exc import OperationalError

from canonry.data_folders import require_ours
from canonry.embedded.placement import data_folder, usable
from canonry.failures import CommandFailed
from canonry.preparation import OWNER_TOKEN
from canonry.prepare import prepare
from models.settings import Settings


def run(settings: Settings) -> None:
    """Migrate the database of the settings; an empty one gets its first organization, whose token is printed once.

    Raises:
        CommandFailed: no database is named, or it does not answer.
    """
    if settings.database_url is None:
        raise CommandFailed("CANONRY_DATABASE_URL is not set; `canonry up` migrates the embedded database itself.")
    require_ours(settings.data)
    with usable(settings.data):
        data = data_folder(settings.data)
    try:
        secret = prepare(settings, settings.database_url)
    except OperationalError as error:
        raise CommandFailed(f"The database does not answer: {error.orig}") from error
    print("The schema is up to date.")
    if secret is not None:
        print(f"The owner's token: {secret} (shown once; kept in {data / OWNER_TOKEN})")
