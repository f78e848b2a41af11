# Everything a contributor runs. `make` alone lists the targets.

# Older ones, such as that of macOS, would ignore the shell's flags below, and so its errors.
ifeq ($(filter undefine,$(.FEATURES)),)
$(error This needs GNU make 3.82 or later. On macOS, install it with `brew install make`, and run `gmake` instead)
endif

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
# Tests start hundreds of processes; without this each would compile all that it loads.
unexport PYTHONDONTWRITEBYTECODE
# How many test processes: a number, or auto for one a core.
WORKERS ?= auto

# What git ignores and Node makes: the packages, and the dashboard that the server shows.
PACKAGES := node_modules/.installed
UI := src/callboard/server/ui/index.html
CLIENTS := .clients/.installed
UI_SOURCES := $(shell find clients/react web -type d \( -name node_modules -o -name dist -o -name tests \) -prune -o -type f -print)

.PHONY: help setup python run run-cluster check check-python check-macos check-web format system clients test test-python test-web test-long \
  screenshots bench bench-quick docs wheel lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: python $(UI) ## Make .venv with the pinned tools and Callboard itself, and build the dashboard

python: $(VENV)/.requirements $(VENV)/.project ## The part of setup that needs no Node

# Debian ships Python without the module that gives a new environment its pip.
define make_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Callboard needs Python 3.11 or later; try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing python3-venv"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; \
	  else \
	    echo "$(PYTHON) cannot make environments; install one that can: sudo apt-get install python3-venv, or brew install python" >&2; exit 1; \
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

# The server and what installs it, a quarter of the whole. The pins are complete. pip compiles them: else the first
# server would, and take seconds longer to start.
$(VENV)/.run: requirements/run.txt | $(BIN)/pip
	@echo "installing $<"
	@$(BIN)/python $(PIP) install --no-deps -r $<
	@touch $@

$(VENV)/.project: pyproject.toml $(VENV)/.run
	@echo "installing callboard, editable"
	@$(BIN)/python $(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# The tools join the same environment; one pip at a time.
$(VENV)/.requirements: requirements/dev.txt | $(VENV)/.project
	@echo "installing $<"
	@$(BIN)/python $(PIP) install -r $<
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.requirements
	@echo "installing $<"
	@$(BIN)/python $(PIP) install -r $<
	@touch $@

$(VENV)/.docs: requirements/docs.txt $(VENV)/.requirements
	@echo "installing $<"
	@$(BIN)/python $(PIP) install -r $<
	@touch $@

$(PEERS)/.requirements: requirements/bench-peers.txt | $(PEERS)/bin/pip
	@echo "installing $<"
	@$(PEERS)/bin/python $(PIP) install -r $<
	@touch $@

define need_node
	@node -e 'const [major, minor] = process.versions.node.split(".").map(Number); \
	  process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' 2>/dev/null && command -v npm >/dev/null \
	  || { echo "the dashboard is built with Node 20.19 or later and npm; install them, or set up without: make python" >&2; exit 1; }
endef

# What a command says is shown only when it fails.
quietly = said=$$($(1) 2>&1) || { echo "$$said" >&2; exit 1; }

$(PACKAGES): package.json package-lock.json clients/react/package.json web/package.json
	$(need_node)
	@echo "installing node packages"
	@$(call quietly,npm ci --no-progress --prefer-offline)
	@touch $@

# The React package comes first: the dashboard is made of it.
$(UI): $(PACKAGES) $(UI_SOURCES)
	@echo "building the dashboard"
	@$(call quietly,npm run --silent build)
	@touch $@

DEMO := .demo/callboard.db
DEMO_WORKFLOWS := examples/release.py examples/refund.py examples/research.py

run: ## Start a server with demo data and open the dashboard; CALLBOARD_NO_BROWSER=1 opens nothing
	@$(PYTHON) tools/prepare.py $(MAKE) $(UI)
	@[ -e $(DEMO) ] || $(BIN)/python tools/demo_data.py $(DEMO)
	@exec $(BIN)/callboard serve $(DEMO_WORKFLOWS) --db $(DEMO) --open

run-cluster: python $(UI) ## Start PostgreSQL, three servers behind nginx and two workers, with the trip example
	@exec $(BIN)/python tools/cluster.py .demo/cluster

check: check-python check-web ## Format, lint, types, layers and words, changing nothing

check-python: python
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/avoided_words.py
	$(BIN)/python tools/linux_only.py

# Apart from check-python, because it takes as long as all of that.
check-macos: python ## Check the types as they are on macOS
	$(BIN)/basedpyright --project tools/basedpyright-macos.json

check-web: python $(UI)
	npm run --silent check

format: python $(PACKAGES) ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	npm run --silent format

system: ## Install the packages that tests need, or say which
	@tools/system-packages nginx=nginx-light chromium=chromium tmux=tmux initdb=postgresql dash=dash zsh=zsh busybox=busybox

clients: $(CLIENTS) ## Install the coding agents that tests drive into .clients

$(CLIENTS): tools/clients
	$(need_node)
	@echo "installing the coding agents that tests drive"
	@$(call quietly,tools/clients $(@D))
	@touch $@

# Only to collect no others: what is meant, their marker says.
DASHBOARD_TESTS := tests/browser tests/acceptance/test_wheel.py

test: check system test-python test-web ## Check, then every quick test

test-python: python $(CLIENTS)
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "not long and not dashboard" --ignore tests/browser

test-web: python $(UI) $(CLIENTS)
	npm run --silent test
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "not long and dashboard" $(DASHBOARD_TESTS)

# They mostly wait, for people who are played and for processes that were killed: twice as many fit.
test-long: python $(UI) $(CLIENTS) ## The long soaks, and the rarer ways through what `make test` shows
	@[ "$$(uname)" != Linux ] || tools/system-packages ip=iproute2
	PYTEST_XDIST_AUTO_NUM_WORKERS=$$((2 * $$(getconf _NPROCESSORS_ONLN))) $(BIN)/pytest -n $(WORKERS) --dist loadgroup -m long --timeout 3600

screenshots: python $(UI) ## Make the pictures in docs/images again
	CALLBOARD_SCREENSHOTS=docs/images $(BIN)/pytest tests/browser/test_pictures.py tests/browser/test_looks.py tests/unit/tui/test_looks.py -k picture

bench: $(VENV)/.bench $(PEERS)/.requirements $(UI) $(CLIENTS) ## Measure against the peers and write benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py $(NAMES)

bench-quick: $(VENV)/.bench $(PEERS)/.requirements ## Measure the first bars in five minutes, writing no files
	$(BIN)/python benchmarks/run.py --quick --first $(NAMES)

docs: $(VENV)/.docs ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

wheel: setup ## Build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
  --no-header --no-emit-index-url --no-emit-find-links

lock: python ## Pin the newest versions into requirements/*.txt and package-lock.json
	$(COMPILE) --upgrade --all-extras pyproject.toml requirements/dev.in -o requirements/dev.txt
	$(COMPILE) --extra acp --extra server --extra tui pyproject.toml requirements/run.in -o requirements/run.txt
	$(COMPILE) --upgrade requirements/bench.in -o requirements/bench.txt
	$(COMPILE) --upgrade requirements/docs.in -o requirements/docs.txt
	$(COMPILE) --upgrade requirements/bench-peers.in -o requirements/bench-peers.txt
	npm update --package-lock-only
	cd clients/react/tests/react18 && npm update --package-lock-only

clean: ## Remove what was built, environments included
	rm -rf $(VENV) $(PEERS) $(dir $(CLIENTS)) node_modules clients/react/tests/react18/node_modules clients/react/dist $(dir $(UI)) .demo build dist site .pytest_cache .ruff_cache .hypothesis .import_linter_cache
