# The doors to the project. Everything runs in .venv, which is made where it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What else to install for `make run`: bridge, server, minilm, fast, or all; several with commas.
EXTRAS ?=
# LOCKED=1 installs the exact versions of the lock files, checked by their hashes: what CI does.
LOCKED ?=
# How many processes run the tests: on two cores three, since some wait for a program or a disk.
WORKERS ?= 3
# What Python has compiled is kept, whatever the shell says: else each program that is started compiles all of ours anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run extras test suite fuzz openapi lint docs lock bench e2e browser wheel release clean

run: $(VENV)/.run $(if $(EXTRAS),extras)
	$(BIN)/palimpsest serve $(ARGS)

extras: $(VENV)/.run
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'

# Both at once: the tests now and then wait for a disk or for a program that they start.
test: $(VENV)/.dev
	$(MAKE) --jobs=2 lint suite

suite: $(VENV)/.dev
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

fuzz: $(VENV)/.dev
	$(BIN)/pytest -n $(WORKERS) --hypothesis-profile=fuzz $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m docs.generate --check

# The description of our endpoints, tried by schemathesis. It lies apart: its plugin would slow all other tests.
openapi: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --upgrade --target .openapi 'schemathesis>=4.32,<5'
	PYTHONPATH=.openapi $(BIN)/pytest -p no:cacheprovider tests/proxy/api/test_openapi.py

docs: $(VENV)/.dev
	$(if $(LOCKED),,$(BIN)/python -m pip install --quiet --editable '.[docs]')
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean
	@! grep -rlE '(src|href)="https?://' site --include='*.html' || (echo "these pages load or link to another host"; exit 1)
	@echo "open site/index.html"

# The newest versions that pyproject.toml allows, with hashes, for every platform. UPGRADE= keeps those that still fit.
UPGRADE ?= --upgrade
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11

lock: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) $(UPGRADE) --extra all --output-file requirements.lock pyproject.toml
	$(COMPILE) $(UPGRADE) --extra dev --extra docs --constraint requirements.lock --output-file requirements-dev.lock pyproject.toml

bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench.load $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m tests.bench.beside_pages)

e2e: $(VENV)/.dev
	$(if $(ARGS),,$(MAKE) browser)
	$(if $(ARGS),,$(BIN)/python -m tests.e2e.pooler)
	$(if $(ARGS),,$(BIN)/python -m tests.e2e.login)
	$(BIN)/python -m tests.e2e $(ARGS)

browser: $(VENV)/.dev
	$(BIN)/python -m tests.e2e.browser
	$(BIN)/python -m tests.e2e.pages $(ARGS)

# For `pipx install`, `uv tool install` and `uvx --from`, on this machine or another.
wheel: | $(VENV)/bin/python
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	@ls dist/*.whl

# What a release is checked for beside its tests: docs/releasing.md. The audit asks PyPI about each locked package.
AUDIT := .audit

release: $(VENV)/.dev
	$(BIN)/python -m docs.release tables
	$(BIN)/python -m docs.release licences
	mkdir -p dist
	$(BIN)/python -m docs.release sbom > dist/sbom.cdx.json
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet 'pip-audit>=2.9,<3'
	$(AUDIT)/bin/pip-audit --strict --require-hashes --disable-pip --requirement requirements.lock

clean:
	rm -rf $(VENV) $(AUDIT) .e2e .bench .openapi dist site

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
	$(if $(LOCKED),$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock,)
	$(BIN)/python -m pip install --quiet --editable $(if $(LOCKED),. --no-deps --no-build-isolation,'.[dev]')
	@touch $@ $(VENV)/.run
