import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio import workflow

from tests.workflows.harness import run
from tests.workflows.straying import StrayingWorkflow
from workflows.sandbox import PASSED_THROUGH, WORKFLOWS, workflow_runner

# Of the standard library, what computes; nothing that opens, connects, waits or draws lots.
PURE = frozenset(
    {"asyncio", "collections", "contextlib", "dataclasses", "datetime", "enum", "functools", "itertools", "typing"}
)


def source_of(workflow_class: type) -> ast.Module:
    return ast.parse(Path(str(sys.modules[workflow_class.__module__].__file__)).read_text())


def imported(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield child.module or "."


def passes_through(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and "imports_passed_through" in ast.unparse(node.items[0])


async def load(workflow_class: type) -> None:
    """As a worker does before it starts; warnings are errors in tests."""
    workflow_runner().prepare_workflow(workflow._Definition.must_from_class(workflow_class))


@pytest.mark.parametrize("workflow_class", WORKFLOWS)
def test_a_workflow_module_imports_only_what_computes_or_is_passed_through(workflow_class: type) -> None:
    isolated = [name for node in source_of(workflow_class).body if not passes_through(node) for name in imported(node)]
    assert {name.split(".")[0] for name in isolated} <= PURE | {"temporalio"}
    passed = [name for node in source_of(workflow_class).body if passes_through(node) for name in imported(node)]
    assert passed
    assert all(any(name == root or name.startswith(f"{root}.") for root in PASSED_THROUGH) for name in passed)


@pytest.mark.parametrize("workflow_class", WORKFLOWS)
def test_a_workflow_loads_into_the_sandbox_without_a_report(workflow_class: type) -> None:
    run(load(workflow_class))


def test_an_import_that_is_not_passed_through_on_purpose_is_reported() -> None:
    with pytest.raises(UserWarning, match="Module rich was not intentionally passed through"):
        run(load(StrayingWorkflow))
