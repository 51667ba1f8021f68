"""How workflow code is run: the same in the worker, in tests and when a history is replayed."""

from collections.abc import Sequence

from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import SandboxImportNotificationPolicy

from models.errors import Problem
from workflows.import_ import ImportWorkflow
from workflows.projection import ProjectionWorkflow
from workflows.publication_lane import PublicationLane
from workflows.reconciliation import ReconciliationWorkflow
from workflows.reindex import ReindexWorkflow
from workflows.retention import RetentionWorkflow
from workflows.review import ReviewWorkflow

WORKFLOWS: Sequence[type] = (
    ReviewWorkflow,
    PublicationLane,
    ProjectionWorkflow,
    ImportWorkflow,
    ReconciliationWorkflow,
    RetentionWorkflow,
    ReindexWorkflow,
)
"""Every workflow of ours; each has recorded histories that are replayed in the tests."""

DATA_CONVERTER: DataConverter = pydantic_data_converter

FAILURE_TYPES: Sequence[type[BaseException]] = (Problem,)
"""What fails a workflow that raises it; anything else unforeseen would be tried again for ever."""

# Not built again for every run: importing them takes 0.4 s (measured). Modules that hold a workflow are left out on
# purpose, so that runs share no state.
PASSED_THROUGH = (
    "activities",
    "models",
    "workflows.commands",
    "workflows.ids",
    "workflows.patience",
    "workflows.search_attributes",
    "workflows.states",
    "workflows.visibility",
    "orjson",
    "psycopg",
    "pydantic_settings",
    "rapidfuzz",
    "sqlalchemy",
)


def workflow_runner() -> SandboxedWorkflowRunner:
    """The sandbox: what is not passed through is isolated for each run, and reported by a warning."""
    return SandboxedWorkflowRunner(
        SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH).with_import_notification_policy(
            SandboxImportNotificationPolicy.WARN_ON_DYNAMIC_IMPORT
            | SandboxImportNotificationPolicy.WARN_ON_UNINTENTIONAL_PASSTHROUGH
        )
    )
