# `make help` lists the commands; extra words go through ARGS, as in `make demo ARGS=--exit`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

.PHONY: help setup demo up test test-long lint bench lock

help:
	@echo "setup      install the locked dependencies into $(VENV)"
	@echo "demo       start everything and publish the example knowledge base"
	@echo "up         start Postgres, Temporal, worker and API and serve"
	@echo "test       lint and run the tests (minutes)"
	@echo "test-long  the kill and load tests (longer)"
	@echo "lint       formatter, linter, types, layers"
	@echo "bench      the benchmarks, as ratios against baselines of the same run"
	@echo "lock       resolve the dependencies again (needs uv)"

setup: $(VENV)/.ready

$(VENV)/.ready: requirements-dev.txt pyproject.toml
	"$(PYTHON)" -c 'import sys; sys.exit("Canonry needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	"$(PYTHON)" -m venv "$(VENV)"
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	"$(BIN)/python" -m compileall -q api workflows activities search models canonry
	@touch "$@"

demo: setup
	exec "$(BIN)/canonry" demo $(ARGS)

up: setup
	exec "$(BIN)/canonry" up $(ARGS)

test: lint
	"$(BIN)/python" -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(ARGS)

test-long: setup
	"$(BIN)/python" -m pytest -m long $(ARGS)

lint: setup
	"$(BIN)/ruff" format --check .
	"$(BIN)/ruff" check .
	"$(BIN)/mypy"
	"$(BIN)/lint-imports"

bench: setup
	"$(BIN)/python" bench/memory.py $(ARGS)
	"$(BIN)/python" bench/publication.py $(ARGS)
	"$(BIN)/python" bench/retrieval.py $(ARGS)
	"$(BIN)/python" bench/snapshots.py $(ARGS)
	"$(BIN)/python" bench/starting.py $(ARGS)
	"$(BIN)/python" bench/text_merge.py $(ARGS)

lock:
	uv pip compile --no-config --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make lock' -o requirements.txt pyproject.toml
	uv pip compile --no-config --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make lock' --group dev -o requirements-dev.txt pyproject.toml
