# Each target sets up .venv by itself: a fresh machine needs make and Python 3.10 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-all fuzz mutate mutants bench stubs reference lint format clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile

demo: $(INSTALLED) ## differentiate the tutorial's functions, and train with the result
	$(BIN)/python -m examples.demo

SUITE := $(BIN)/python -m pytest -n auto --dist worksteal

test: $(INSTALLED) ## run the tests, the long tables in part; FILE=tests/ir runs all of a part
	$(if $(FILE),$(BIN)/python -m pytest $(FILE),$(SUITE) --sample 1 $(DRAW:%=--draw %))

test-all: $(INSTALLED) ## run all tests
	$(SUITE)

fuzz: $(INSTALLED) ## check 50,000 generated programs
	$(BIN)/python -m tests.properties.fuzz 50000

mutate: $(INSTALLED) ## check 10,000 mutants of the library, and as many of operands of two kinds
	$(BIN)/python -m tests.properties.mutate 10000
	$(BIN)/python -m tests.properties.mutate 10000 --of operands

mutants: $(INSTALLED) ## plant 60 faults, one by one: does the suite find them?
	$(BIN)/python -m tests.mutants

bench: $(INSTALLED) ## compare with hand-written gradients; the costs of a call
	$(BIN)/python -m benchmarks

stubs: $(INSTALLED) ## write the stubs of what is made of rows
	$(BIN)/python tools/stubs.py

reference: $(INSTALLED) ## write the page of functions on Tensors
	$(BIN)/python tools/reference.py

lint: stubs ## check style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED) ## put the sources in the house's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove the environment and all caches
	rm -rf $(VENV) .nox .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@
