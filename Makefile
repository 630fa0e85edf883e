# Two commands do everything on a fresh machine: `make run` and `make test`.
# Set-up happens by itself and only when the lock files changed; see scripts/setup.

.NOTPARALLEL:
.DEFAULT_GOAL := help

PY := .venv/bin/python
JOBS ?= 3
ARGS ?=
REFERENCE_VERSION := 2.1.325
UV := $(PY) -m uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-progress $(if $(UPGRADE),--upgrade)

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z]*\): ## \(.*\)/\1 \2/p' Makefile | while read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

.PHONY: run
run: ## set up and take the scripted tour (no key and no network needed)
	@scripts/setup run
	@.venv/bin/forge demo

.PHONY: test
test: ## everything that must be green: format, lint, types, import contracts, house rules, all tests
	@scripts/setup dev
	@scripts/sdk-setup
	@scripts/test-programs
	@echo "format";  $(PY) -m ruff format --check --quiet .
	@echo "lint";    $(PY) -m ruff check --quiet .
	@echo "types";   $(PY) -m mypy --no-error-summary
	@echo "imports"; out=$$(.venv/bin/lint-imports --no-logo 2>&1) || { echo "$$out"; exit 1; }
	@echo "tests";   PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n $(JOBS) $(ARGS)

.PHONY: fmt
fmt: ## format the code and apply safe fixes
	@scripts/setup dev
	@$(PY) -m ruff check --fix --quiet . || true
	@$(PY) -m ruff format .

.PHONY: docs
docs: ## write the pages that are generated from tables
	@scripts/setup dev
	@PYTHONPATH=tests $(PY) -m compat.page
	@PYTHONPATH=tests $(PY) -m compat.hook_page

.PHONY: bench
bench: ## measure (ARGS="--reference PATH" compares with the reference CLI)
	@scripts/setup dev
	@$(PY) -m benchmarks $(ARGS)

.PHONY: conformance
conformance: ## optional: run the comparison tests against the real reference CLI (needs npm)
	@if [ -d tests/conformance ]; then scripts/setup dev && $(MAKE) --no-print-directory reference; \
	else echo "there are no conformance tests in this version"; fi

.PHONY: reference
reference:
	@npm install --silent --no-save --no-audit --no-fund --prefix .conformance @anthropic-ai/claude-code-linux-x64@$(REFERENCE_VERSION)
	@REFERENCE_CLI="$$(pwd)/.conformance/node_modules/@anthropic-ai/claude-code-linux-x64/claude" $(PY) -m pytest tests/conformance $(ARGS)

.PHONY: lock
lock: ## write the lock files anew (UPGRADE=1 takes newer versions)
	@[ -x $(PY) ] || scripts/setup dev
	@$(PY) -m uv --version >/dev/null 2>&1 || $(PY) -m pip install --quiet uv
	@$(UV) --group build pyproject.toml --output-file requirements.lock >/dev/null
	@$(UV) --group build --extra dev --constraint requirements.lock pyproject.toml --output-file requirements-dev.lock >/dev/null
	@$(UV) --constraint requirements-dev.lock tests/sdk/requirements.in --output-file tests/sdk/requirements.lock >/dev/null
	@wc -l requirements.lock requirements-dev.lock tests/sdk/requirements.lock

.PHONY: clean
clean: ## remove caches and the virtual environment
	@rm -rf .venv .conformance .sdk .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
