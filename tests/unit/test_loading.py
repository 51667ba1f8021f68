"""What a process does not load it need not wait for: serving reads and writes by statements, not by tables."""

import subprocess
import sys

import pytest

OF_MIGRATIONS = ("models.tables", "sqlmodel", "sqlalchemy.orm", "alembic")


@pytest.mark.parametrize("process", ["api.server", "workflows.worker"])
def test_no_serving_process_loads_what_migrations_need(process: str) -> None:
    code = f"import sys, {process}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True).stdout
    assert process in loaded.split()
    assert [name for name in OF_MIGRATIONS if name in loaded.split()] == []
