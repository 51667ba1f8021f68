"""What an import would do in a project that is not there yet: planned here, by the rules that the server has."""

from collections.abc import Mapping
from dataclasses import replace

from canonry.importing.base import Base, exported_version
from canonry.importing.survey import Survey, SurveyedFile
from canonry.remote import Remote
from models.errors import OperationInvalid
from models.identifiers import BlobId, CommitId, MemoryId
from models.rules import import_plans
from models.rules.hashes import content_hash
from models.rules.import_plans import ImportPlan, ImportReport, Library, StagedFile
from models.rules.importing import plan_files
from models.rules.paths import accept_path
from models.rules.states import Body, MemoryState
from models.schemas.commits import MemoryBody, Snapshot


def foresee(remote: Remote, found: Survey, *, prefix: str, base: Base) -> ImportPlan:
    """The plan in a project that selects nothing yet, beside all that the organization publishes."""
    staged = [_staged(path, file, prefix) for path, file in found.files.items() if file.content_hash is not None]
    states = {MemoryId(each.memory_id): _state(each) for each in remote.items("/org/memories", MemoryBody)}
    library = Library(states=states, selected=(), archived=_archived(remote), base=_base(remote, base))
    return plan_files(staged, library, prefix=prefix)


def _archived(remote: Remote) -> set[MemoryId]:
    return {MemoryId(each.memory_id) for each in remote.items("/org/memories", MemoryBody, status="archived")}


def _base(remote: Remote, base: Base) -> import_plans.Base | None:
    snapshot = None if base.commit_id is None else exported_version(remote, base.commit_id)
    if snapshot is None:
        return None
    states = _states(snapshot)
    return import_plans.Base(CommitId(snapshot.commit.commit_id), states, states.keys())


def _states(snapshot: Snapshot) -> Mapping[MemoryId, MemoryState]:
    hashes = {blob.blob_id: content_hash(blob.content) for blob in snapshot.blobs}
    return {
        MemoryId(entry.id): MemoryState(entry.path, entry.description, _body(hashes[entry.blob_id]))
        for entry in snapshot.tree.entries
        if entry.path is not None
    }


def _state(memory: MemoryBody) -> MemoryState:
    return MemoryState(memory.path, memory.description, _body(memory.content_hash))


def _body(text: str) -> Body:
    """Bodies of equal texts are equal; no other is compared with these, and a list names no blobs."""
    return Body(BlobId(text), text)


def _staged(path: str, file: SurveyedFile, prefix: str) -> StagedFile:
    full = f"{prefix}/{path}" if prefix else path
    memory_id = None if file.memory_id is None else MemoryId(file.memory_id)
    staged = StagedFile(path, full, memory_id, file.description, _body(file.content_hash or ""))
    try:
        accept_path(full)
    except OperationInvalid as problem:
        return replace(staged, body=None, report=ImportReport(path, problem.code, problem.detail))
    return staged
