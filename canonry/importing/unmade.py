"""What an import would do in a project that is not there yet: told without a server, by the rules that it has."""

from dataclasses import replace

from canonry.importing.survey import Survey, SurveyedFile
from models.errors import OperationInvalid
from models.identifiers import MemoryId
from models.rules.hashes import body_of
from models.rules.import_plans import ImportPlan, ImportReport, Library, StagedFile
from models.rules.importing import plan_files
from models.rules.paths import accept_path


def foresee(found: Survey, prefix: str) -> ImportPlan:
    """The plan in an organization without Memories: which files would be created, and which left out."""
    staged = [_staged(path, file, prefix) for path, file in found.files.items() if file.content_hash is not None]
    return plan_files(staged, Library(states={}, selected=()), prefix=prefix)


def _staged(path: str, file: SurveyedFile, prefix: str) -> StagedFile:
    full = f"{prefix}/{path}" if prefix else path
    # Where nothing is published no text is compared with another.
    memory_id = None if file.memory_id is None else MemoryId(file.memory_id)
    staged = StagedFile(path, full, memory_id, file.description, body_of(""))
    try:
        accept_path(full)
    except OperationInvalid as problem:
        return replace(staged, body=None, report=ImportReport(path, problem.code, problem.detail))
    return staged
