"""Recorded histories against today's workflow code; `record.py` writes them."""

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from tests.replay.changed import (
    ChangedImport,
    ChangedLane,
    ChangedProjection,
    ChangedReconciliation,
    ChangedReindex,
    ChangedRetention,
    ChangedReview,
)
from tests.replay.record import CASES, HISTORIES
from tests.workflows.harness import run
from tests.workflows.rows import BODY
from workflows.sandbox import DATA_CONVERTER, FAILURE_TYPES, WORKFLOWS, workflow_runner

CHANGED = (
    ChangedReview,
    ChangedLane,
    ChangedProjection,
    ChangedImport,
    ChangedReconciliation,
    ChangedRetention,
    ChangedReindex,
)
OF_THE_INSTALLATION = ("retention", "reindex")
FILES = sorted(HISTORIES.glob("*/*.json"))
PAYLOAD = re.compile(r'"data": "([A-Za-z0-9+/=]+)"')


def history_in(file: Path) -> WorkflowHistory:
    document = json.loads(file.read_text())
    return WorkflowHistory.from_json(document["workflow_id"], document["history"])


async def replay(history: WorkflowHistory, workflows: Sequence[type]) -> None:
    replayer = Replayer(
        workflows=workflows,
        workflow_runner=workflow_runner(),
        workflow_failure_exception_types=FAILURE_TYPES,
        data_converter=DATA_CONVERTER,
    )
    await replayer.replay_workflow(history)


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_recorded_history_is_replayed(file: Path) -> None:
    run(replay(history_in(file), WORKFLOWS))


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_changed_workflow_does_not_replay_a_recorded_history(file: Path) -> None:
    with pytest.raises(NondeterminismError):
        run(replay(history_in(file), CHANGED))


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_recorded_history_holds_no_body(file: Path) -> None:
    stored = file.read_text()
    payloads = [base64.b64decode(data).decode() for data in PAYLOAD.findall(stored)]
    assert payloads
    assert file.parent.name in OF_THE_INSTALLATION or any("opn_" in payload for payload in payloads)
    assert not any(BODY in text for text in [stored, *payloads])


def test_every_workflow_has_recorded_histories() -> None:
    recorded = {
        event.workflow_execution_started_event_attributes.workflow_type.name
        for file in FILES
        for event in history_in(file).events[:1]
    }
    assert recorded == {workflow_class.__name__ for workflow_class in WORKFLOWS}


def test_every_case_that_the_recorder_plays_is_recorded() -> None:
    assert set(CASES) <= {name_of(file) for file in FILES}
