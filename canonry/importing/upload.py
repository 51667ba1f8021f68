"""Sending files to an import: a few requests at a time, and only what the server does not have yet."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

import orjson
from pydantic import JsonValue

from canonry.importing.survey import Survey, SurveyedFile
from canonry.remote import Remote
from models.schemas.imports import ImportBody, StagedFileBody

REQUESTS_AT_ONCE = 4
# Half of what a request may have, so that what a proxy or an older server adds never matters.
MAX_REQUEST_BYTES = 4 * 1024 * 1024
MAX_REQUEST_FILES = 500


def upload(remote: Remote, import_id: str, survey: Survey, told: Callable[[int, int], None]) -> set[str]:
    """Stage every file of the survey that is not staged as it is; a text is read again when it is sent.

    Returns the paths of the files that have changed since they were surveyed, which are not staged. It holds
    the texts of a few requests in memory, whatever the folder holds.

    Args:
        remote: the server.
        import_id: the import, while it is being staged.
        survey: what to stage.
        told: takes how many files have been sent, and how many have to be.

    Raises:
        CommandFailed: the server refuses a request.
    """
    missing = _missing(survey, _staged(remote, import_id))
    if not missing:
        return set()
    done, changed = 0, set[str]()
    told(done, len(missing))
    pool = ThreadPoolExecutor(REQUESTS_AT_ONCE, thread_name_prefix="upload")
    waiting: dict[Future[ImportBody], int] = {}
    over = Event()
    try:
        for files in in_requests(survey.contents(missing, changed.add)):
            if len(waiting) == REQUESTS_AT_ONCE:
                done += _finished(waiting)
                told(done, len(missing) - len(changed))
            body: dict[str, JsonValue] = {"files": files}
            request = pool.submit(remote.post, f"/imports/{import_id}/files", body, ImportBody, unless=over)
            waiting[request] = len(files)
        while waiting:
            done += _finished(waiting)
            told(done, len(missing) - len(changed))
    finally:
        # After a failure what is under way is waited for, so that it says nothing later, and is not tried again.
        over.set()
        pool.shutdown(cancel_futures=True)
    return changed


def _staged(remote: Remote, import_id: str) -> dict[str, StagedFileBody]:
    return {file.path: file for file in remote.items(f"/imports/{import_id}/files", StagedFileBody)}


def _missing(survey: Survey, staged: Mapping[str, StagedFileBody]) -> set[str]:
    return {path for path, file in survey.files.items() if not _is_staged(file, staged.get(path))}


def _is_staged(file: SurveyedFile, there: StagedFileBody | None) -> bool:
    return there is not None and (there.content_hash, there.description, there.memory_id) == (
        file.content_hash,
        file.description,
        file.memory_id,
    )


def in_requests(contents: Iterable[dict[str, JsonValue]]) -> Iterator[list[JsonValue]]:
    """The files in requests of at most 500 files and 4 MiB."""
    files: list[JsonValue] = []
    size = 0
    for file in contents:
        weight = len(orjson.dumps(file))
        if files and (len(files) == MAX_REQUEST_FILES or size + weight > MAX_REQUEST_BYTES):
            yield files
            files, size = [], 0
        files.append(file)
        size += weight + 1
    if files:
        yield files


def _finished(waiting: dict[Future[ImportBody], int]) -> int:
    """How many files the next request brought, or several that ended together; the first that fails is the failure."""
    ended = wait(waiting, return_when=FIRST_COMPLETED).done
    for request in ended:
        request.result()
    return sum(waiting.pop(request) for request in ended)
