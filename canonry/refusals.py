"""What a server says when it refuses, read with the care that whatever stands between us and it deserves."""

from collections.abc import Mapping

import httpx
from pydantic import JsonValue, TypeAdapter, ValidationError

from canonry.failures import CommandFailed

Json = Mapping[str, JsonValue]


class Refused(CommandFailed):
    """The server said no; clients branch on `code`, and the text is the detail with the field and rule it names."""

    def __init__(self, status: int, problem: Json) -> None:
        super().__init__(sentence_of(problem))
        self.status = status
        self.code = str(problem.get("code", ""))
        self.problem = problem


def problem_of(answer: httpx.Response) -> Json | None:
    """The problem document of an answer, None where it has none, whatever its type claims."""
    if answer.headers.get("content-type", "").partition(";")[0] != "application/problem+json":
        return None
    try:
        return TypeAdapter(dict[str, JsonValue]).validate_json(answer.content)
    except ValidationError:
        return None


def sentence_of(problem: Json) -> str:
    """The detail, with the field and the rule where it does not say them."""
    detail = str(problem.get("detail") or problem.get("title") or "refused")
    named = [f"{name} {problem[name]}" for name in ("field", "rule") if name in problem]
    missing = [words for words in named if words.split(" ", 1)[1] not in detail]
    return f"{detail.removesuffix('.')} ({', '.join(missing)})." if missing else detail
