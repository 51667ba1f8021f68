"""Who keeps a search index now."""

from sqlalchemy import Engine
from temporalio import activity

from activities.messages import IndexOwners
from models.store.index_owners import living_owners


class IndexOwnerActivities:
    """The activity of the reindexing workflow that any worker carries out, on its pool."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @activity.defn(no_thread_cancel_exception=True)
    def list_index_owners(self) -> IndexOwners:
        """The owners that live."""
        with self._engine.connect() as connection:
            return IndexOwners(task_queues=tuple(owner.task_queue for owner in living_owners(connection)))
