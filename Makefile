# The doors to the project. Everything runs in .venv, which is made where it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test fuzz lint bench e2e browser clean

run: $(VENV)/.run
	$(BIN)/palimpsest serve $(ARGS)

test: $(VENV)/.dev lint
	$(BIN)/pytest -n 2

fuzz: $(VENV)/.dev
	$(BIN)/pytest -n 2 --hypothesis-profile=fuzz $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench.load $(ARGS)

e2e: $(VENV)/.dev
	$(BIN)/python -m tests.e2e $(ARGS)

browser: $(VENV)/.dev
	$(BIN)/python -m tests.e2e.browser
	$(BIN)/python -m tests.e2e.pages $(ARGS)

clean:
	rm -rf $(VENV) .e2e .bench

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Palimpsest needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	@echo "installing what Palimpsest needs into $(VENV): a minute or two, the first time only"
	@$(BIN)/python -m pip uninstall --quiet --yes palimpsest 2>/dev/null || true
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@# Until it was called palimpsest-proxy it was installed as palimpsest, which would stay beside it.
	@$(BIN)/python -m pip uninstall --quiet --yes palimpsest 2>/dev/null || true
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.run
