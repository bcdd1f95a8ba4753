# Everything starts here; the work is done in scripts/. `make run` and `make test` need nothing before them.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run test setup setup-tests check format clean

help:            ## show this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

run: setup       ## set everything up, then open the window
	@scripts/run

test: setup-tests ## set everything up, then check everything (PYTEST_ARGS="-k cache" goes to pytest)
	@scripts/check $(PYTEST_ARGS)

setup:           ## make .venv and install what the program needs
	@scripts/setup

setup-tests:     ## the same, with what the checks and tests need
	@scripts/setup --tests

check: setup-tests ## formatter, linter, types and import contracts, without the tests
	@scripts/check --static

format: setup-tests ## format the code and mend what the linter can mend
	@.venv/bin/python -m ruff check --fix-only --quiet .
	@.venv/bin/python -m ruff format .

clean:           ## remove .venv, what stands beside it, and everything the tools made
	rm -rf .venv .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage htmlcov
	find app engine training tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
