# `make help` lists the targets. Needs Python 3.11, 3.12 or 3.13, Java 17, 21 or 25 and make. The first call downloads
# everything else, pinned by hash, into .venv (and the Delta jar into ~/.cache/strandline). Later calls need no network.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help peers azure browser frost node s3 gcs hdfs wheel notebooks docs reference picture golden demo demo-sync quick test lint fmt check bench lock clean contracts soak fuzz mutants java tools

VENV := .venv
BIN := $(VENV)/bin
LINT_VENV := .venv-datacontract
MUTANTS_VENV := .venv-mutants
DOCS_VENV := .venv-docs
BROWSER_VENV := .venv-browser
# No search for newer versions and no questions: the lock files decide.
PIP := pip --disable-pip-version-check install --quiet --no-input
# PyPI has pyspark only as a source archive. For an isolated build pip would download setuptools without a hash, so the
# build tools are installed first, from a lock file of their own, and the build uses them.
FROM_LOCK := --require-hashes --no-build-isolation --use-pep517

help: ## List these targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: java $(VENV)/.product ## Show Strandline on real journals (under 5 minutes the first time)
	@$(BIN)/strandline demo

demo-sync: java $(VENV)/.product ## Show three operators that exchange files until they have converged (minutes)
	@$(BIN)/python examples/exchange.py demo-sync

wheel: $(VENV)/.build ## Build the wheel into dist/, without any other in it
	@rm -rf dist
	@$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-index --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

notebooks: $(VENV)/.test ## Write notebooks/*.ipynb for Jupyter from notebooks/*.py
	PYTHONPATH=tests $(BIN)/python -m support.notebooks

quick: $(VENV)/.test ## Run the tests that need no JVM, except those marked large, laws on at most a quarter of their examples (20 seconds)
	LAWS=few $(BIN)/python -m pytest -q -n 2 -m "not slow and not large" tests/unit tests/laws tests/architecture

test: java lint contracts ## Run every check, and every test but the slow tier (soak) and node, frost, s3, azure, gcs, hdfs, browser
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

soak: java $(VENV)/.test ## Run the slow tier of the tests; PART=2/6 runs the second of six parts
	$(BIN)/python -m pytest -m slow --durations=0 --durations-min=1 $(if $(PART),--part $(PART))

mutants: $(MUTANTS_VENV)/.ready ## Run the quick tests on a sample of mutants, write docs/mutants.md (20 minutes; N=300 SEED=1)
	PYTHONPATH=tests $(BIN)/python -m mutants $(MUTANTS_VENV)/bin/mutmut --count $(or $(N),300) --seed $(or $(SEED),1)

node: $(VENV)/.test ## Compare with JavaScript in the node on this machine (seconds)
	@node --version > /dev/null 2>&1 || { \
	  echo "error: node is not on PATH." >&2; \
	  echo "next: install Node.js 18 or later: sudo apt-get install -y nodejs npm (Debian, Ubuntu), brew install node (macOS)" >&2; exit 3; }
	npm ci --prefix tests/node/ssb --ignore-scripts --no-audit --no-fund --silent
	$(BIN)/python -m pytest -q -m node tests/node

frost: $(VENV)/.test ## Sign facts with holders of a FROST key, by a published crate (a minute the first time)
	@cargo --version > /dev/null 2>&1 || { \
	  echo "error: cargo is not on PATH." >&2; \
	  echo "next: install Rust 1.81 or later: sudo apt-get install -y cargo (Debian, Ubuntu), brew install rust (macOS)" >&2; exit 3; }
	$(BIN)/python -m pytest -q -m frost tests/frost

s3: java $(VENV)/.test ## Keep a lake in a bucket of an S3 server on this machine (fetches 690 MB of jars once, then minutes)
	$(BIN)/python -m pytest -q -m s3 tests/s3

azure: java $(VENV)/.test ## Read input from Azurite in the node on this machine (fetches 360 MB once, then two minutes)
	@node --version > /dev/null 2>&1 || { \
	  echo "error: node is not on PATH." >&2; \
	  echo "next: install Node.js 22 or later: sudo apt-get install -y nodejs npm (Debian, Ubuntu), brew install node (macOS)" >&2; exit 3; }
	npm ci --prefix tests/azure --ignore-scripts --no-audit --no-fund --silent
	$(BIN)/python -m pytest -q -m azure tests/azure

gcs: java $(VENV)/.test ## Follow a prefix of a server of Google Cloud Storage on this machine (fetches 39 MB once, then a minute)
	$(BIN)/python -m pytest -q -m gcs tests/gcs

hdfs: java $(VENV)/.test ## Read input from a cluster of HDFS on this machine, and keep a lake in it (fetches 56 MB once, then minutes)
	$(BIN)/python -m pytest -q -m hdfs tests/hdfs

browser: docs $(BROWSER_VENV)/.ready ## Open the page of `report` and the site in the Chromium on this machine (seconds)
	$(BROWSER_VENV)/bin/python -m pytest -q -p no:cacheprovider -m browser tests/browser

reference: $(VENV)/.test ## Write docs/reference from contracts, reasons, the parser and the settings
	PYTHONPATH=tests $(BIN)/python -m docsite reference

picture: $(BROWSER_VENV)/.ready ## Draw docs/images/report.png from the lake of `make demo`
	PYTHONPATH=tests $(BROWSER_VENV)/bin/python -m docsite picture demo-lake

docs: $(DOCS_VENV)/.ready $(VENV)/.test ## Make the documentation site in build/site (seconds)
	@PYTHONPATH=tests $(BIN)/python -m docsite stage build/site-pages
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict
	@echo "site: build/site/index.html; with search: python3 -m http.server --bind 127.0.0.1 -d build/site"

golden: java $(VENV)/.test ## Rewrite tests/vectors/golden: rows and costs that tests compare (minutes)
	STRANDLINE_GOLDEN=write $(BIN)/python -m pytest -q tests/spark/test_golden.py tests/spark/test_conformance.py

fuzz: $(VENV)/.test ## Fuzz every parser for SECONDS=30 each; TARGET=cids runs one of them
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(or $(SECONDS),30) $(TARGET)

lint: $(VENV)/.test ## Check style, types and import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: $(VENV)/.test ## Format the code
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

check: lint quick ## Lint, then the quick tests: the inner loop

contracts: $(LINT_VENV)/.ready ## Lint the contracts in schemas/ with datacontract-cli
	@printf '%s\n' schemas/*.odcs.yaml | xargs -P 2 -I {} sh -c 'log=$(LINT_VENV)/lint-$$(basename {}).log; \
	  $(LINT_VENV)/bin/datacontract lint {} > $$log 2>&1 || { cat $$log; echo "{} does not pass"; exit 1; }' \
	  && echo "contracts: all pass datacontract lint"

peers: ## Bring the public JavaScript libraries of logs, which two figures of the benchmarks compare with (minutes)
	@node --version > /dev/null 2>&1 || { \
	  echo "error: node is not on PATH." >&2; \
	  echo "next: install Node.js 20 or later: sudo apt-get install -y nodejs npm (Debian, Ubuntu), brew install node (macOS)" >&2; exit 3; }
	npm install --prefix tests/bench/node --no-package-lock --ignore-scripts --no-audit --no-fund --silent

bench: java $(VENV)/.test ## Run the benchmarks and write docs/bench and docs/performance.md
	PYTHONPATH=tests $(BIN)/python -m bench
	PYTHONPATH=tests $(BIN)/python -m docsite reference

tools: $(VENV)/.test ## Make .venv with the product and the test tools

lock: ## Rewrite the lock files (needs uv: https://docs.astral.sh/uv)
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group build -o requirements-build.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra spark pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group test \
	  -c requirements.lock -c requirements-build.lock -o requirements-test.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group contracts -o requirements-contracts.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group browser \
	  -c requirements-test.lock -o requirements-browser.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group docs -o requirements-docs.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group mutants \
	  -c requirements.lock -c requirements-test.lock -o requirements-mutants.lock

clean: ## Remove what make and the tools made
	rm -rf $(VENV) $(LINT_VENV) $(MUTANTS_VENV) $(BROWSER_VENV) $(DOCS_VENV) build dist demo-lake demo-sync .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find lib jobs tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Checked first, since everything else takes minutes: a Java that Spark supports.
java:
	@program="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	found=$$("$$program" -version 2>&1 | sed -n 's/.*version "\([0-9][0-9.]*\).*/\1/p' | head -n 1); \
	case "$$found" in 17|17.*|21|21.*|25|25.*) ;; *) \
	  echo "error: Spark needs Java 17, 21 or 25, and $$program is $${found:-not there}." >&2; \
	  echo "next: sudo apt-get install -y openjdk-17-jre-headless (Debian, Ubuntu), sudo dnf install -y java-17-openjdk-headless (Fedora), brew install openjdk@17 (macOS); or set JAVA_HOME." >&2; \
	  exit 3;; esac

# Tries each Python, since a shim on PATH may have no interpreter; then makes its venv and installs the build tools.
$(VENV)/.build: requirements-build.lock
	@set -e; fits='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'; \
	for name in $(PYTHON) python3.11 python3.12 python3.13 python3; do \
	  if "$$name" -c "$$fits" > /dev/null 2>&1; then found="$$name"; break; fi; done; \
	if [ -z "$$found" ]; then \
	  echo "error: no Python 3.11, 3.12 or 3.13 is on PATH (python3 is $$(python3 -V 2>&1))." >&2; \
	  echo "next: sudo apt-get install -y python3.11 python3.11-venv (Debian, Ubuntu), brew install python@3.11 (macOS); or make demo PYTHON=/path/to/python3.11" >&2; \
	  exit 3; fi; \
	"$$found" -m venv $(VENV) || { \
	  echo "error: $$found cannot make a virtual environment." >&2; \
	  echo "next: sudo apt-get install -y python3-venv (Debian, Ubuntu), then run make again" >&2; exit 3; }
	@echo "build tools from requirements-build.lock"
	@$(BIN)/python -m $(PIP) --require-hashes --only-binary :all: -r requirements-build.lock
	@touch $@

$(VENV)/.packages: requirements.lock $(VENV)/.build
	@echo "product from requirements.lock (Spark is 400 MB; once)"
	@$(BIN)/python -m $(PIP) $(FROM_LOCK) -r requirements.lock
	@touch $@

# The project itself, editable. Works offline: hatchling is among the build tools.
$(VENV)/.product: pyproject.toml $(VENV)/.packages
	@$(BIN)/python -m $(PIP) --no-deps --no-index --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: requirements-test.lock $(VENV)/.product
	@echo "test tools from requirements-test.lock"
	@$(BIN)/python -m $(PIP) --require-hashes --only-binary :all: --no-deps -r requirements-test.lock
	@touch $@

$(LINT_VENV)/.ready: requirements-contracts.lock $(VENV)/.build
	@echo "datacontract-cli from requirements-contracts.lock"
	@$(BIN)/python -m venv --clear $(LINT_VENV)
	@$(LINT_VENV)/bin/python -m $(PIP) --require-hashes --only-binary :all: --no-deps -r requirements-contracts.lock
	@touch $@

# mutmut runs the tests in its own process, so its environment also sees the packages of the tests.
$(MUTANTS_VENV)/.ready: requirements-mutants.lock $(VENV)/.test
	@echo "mutmut from requirements-mutants.lock"
	@$(BIN)/python -m venv --clear $(MUTANTS_VENV)
	@$(MUTANTS_VENV)/bin/python -m $(PIP) --require-hashes --only-binary :all: --no-deps -r requirements-mutants.lock
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > $$($(MUTANTS_VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/packages_of_the_tests.pth
	@touch $@

# The driver of Chromium, and the packages of the tests.
$(BROWSER_VENV)/.ready: requirements-browser.lock $(VENV)/.test
	@echo "playwright and axe from requirements-browser.lock"
	@$(BIN)/python -m venv --clear $(BROWSER_VENV)
	@$(BROWSER_VENV)/bin/python -m $(PIP) --require-hashes --only-binary :all: --no-deps -r requirements-browser.lock
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	  > $$($(BROWSER_VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/packages_of_the_tests.pth
	@touch $@

$(DOCS_VENV)/.ready: requirements-docs.lock $(VENV)/.build
	@echo "mkdocs from requirements-docs.lock"
	@$(BIN)/python -m venv --clear $(DOCS_VENV)
	@$(DOCS_VENV)/bin/python -m $(PIP) --require-hashes --only-binary :all: --no-deps -r requirements-docs.lock
	@touch $@
