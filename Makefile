# Everything a contributor runs. `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
# Quiet, and content with whatever index the environment has.
PIP := -m pip --disable-pip-version-check --quiet --quiet
# How many test processes: a number, or auto for one a core.
WORKERS ?= auto

.PHONY: help setup run check format test test-long bench docs wheel lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(VENV)/.project ## Make .venv with the pinned tools and Callboard itself, editable

# Debian ships Python without the module that gives a new environment its pip.
define make_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Callboard needs Python 3.11 or later; try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing python3-venv"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; \
	  else \
	    echo "$(PYTHON) cannot make environments; install it first: sudo apt-get install python3-venv" >&2; exit 1; \
	  fi; \
	fi
	@echo "making $(@D:/bin=)"
	@$(PYTHON) -m venv --clear $(@D:/bin=)
endef

# pip comes last into a new environment: while it is missing, the environment is unfinished.
$(BIN)/pip:
	$(make_venv)

$(PEERS)/bin/pip:
	$(make_venv)

$(VENV)/.requirements: requirements/dev.txt | $(BIN)/pip
	@echo "installing $<"
	@$(BIN)/python $(PIP) install -r $<
	@touch $@

$(VENV)/.project: pyproject.toml $(VENV)/.requirements
	@echo "installing callboard, editable"
	@$(BIN)/python $(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
