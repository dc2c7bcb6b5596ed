# Two commands: `make run` and `make test`. Each sets up all it needs; Python 3.11+ and a package index suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
WORKERS ?= 2

.PHONY: run test test-fast lint format setup dist lock docs clean

run: setup
	@$(BIN)/whence model install
	@exec $(BIN)/whence serve

test: setup lint
	@$(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report=term:skip-covered --durations=10

test-fast: setup
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

lint: setup
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m docs.generate --check

format: setup
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

docs: setup
	@$(BIN)/python -m docs.generate

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Whence needs Python 3.11 or newer; set PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

dist: setup
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation

# The lock names no address: every installer finds its own index.
lock:
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--no-annotate --group dev --python-version 3.11 pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
