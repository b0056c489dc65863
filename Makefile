# Every target works from a fresh clone: it makes .venv in the checkout and installs what it needs there.
# Wanted on the machine: Python 3.11 or newer with pip, make, and a C++ compiler. Another Python: make PYTHON=python3.12 test

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -qq
JOBS   ?= 2                     # processes that run tests
TESTS  ?=                       # make test TESTS="tests/io -k csv" runs those tests only

# The compiled core is rebuilt when one of these is newer than the stamp; Python files are used where they lie, but a new
# package is found only after it was installed.
SOURCES := pyproject.toml experiments/pyproject.toml $(wildcard CMakeLists.txt) $(shell find core -type f 2>/dev/null) $(shell find src experiments/src -name __init__.py)
CPP     := $(filter %.cpp %.hpp,$(SOURCES)) $(wildcard tests/kernels/*.cpp)
INSTALL  = $(PIP) install $(addprefix --constraint ,$(CONSTRAINTS)) --no-build-isolation --config-settings=build-dir=build/$(VENV)-{cache_tag} \
           $(addprefix --config-settings=cmake.define.PURSUIT_SANITIZE=,$(SANITIZE)) --editable
EXPERIMENTS = $(PIP) install $(addprefix --constraint ,$(CONSTRAINTS)) --no-build-isolation --editable ./experiments

.PHONY: help demo docs release-check experiments test smoke coverage wheel test-oldest test-pythons sanitize bench bench-scale fuzz-proofs fuzz-exchange fuzz-curvature docs-table lint format clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/stamp-demo  ## choose features on real data, next to the lasso; writes models and pictures to ./demo/
	@$(BIN)/pursuit demo --out demo

test: lint  ## format, lint, types, import rules, then all tests
	@echo "== tests (pytest) =="
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(TESTS)

smoke: $(VENV)/stamp-dev  ## the tests with the marker smoke: one of every kind, in less than half a minute
	@$(BIN)/python -m pytest -q -m smoke $(shell grep -rl --include='test_*.py' pytest.mark.smoke tests)

coverage: $(VENV)/stamp-dev  ## all tests, and the share of lines of src/pursuit that they run
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --cov=pursuit --cov-report=term:skip-covered --cov-report=html:build/coverage $(TESTS)

wheel: $(VENV)/stamp-dev  ## sdist and wheel in dist/, checked, installed outside the checkout with and without extras, smoke tests run there
	@echo "== sdist and wheel =="
	@$(BIN)/python tools/check_wheel.py --build-dir build/$(VENV)-{cache_tag}

docs: $(VENV)/stamp-docs  ## the site in build/site: gallery run, warnings are errors, every internal link followed
	@echo "== site (sphinx) =="
	@rm -rf build/site docs/gallery docs/api/generated docs/api/backreferences docs/sg_execution_times.rst
	@$(BIN)/python -m sphinx -q -W --keep-going -n -b html -d build/site-doctrees docs build/site
	@$(BIN)/python tools/check_site.py build/site

release-check: wheel docs  ## wheels, site, twine check, versions and changelog entry; nothing is uploaded
	@$(PIP) install "twine>=5"
	@$(BIN)/python -m twine check --strict dist/*
	@$(BIN)/python tools/check_release.py

test-oldest:  ## the tests with the oldest dependencies that pyproject.toml declares, in .venv-oldest
	@$(MAKE) --no-print-directory VENV=.venv-oldest CONSTRAINTS=tools/oldest.txt .venv-oldest/stamp-dev
	@.venv-oldest/bin/python -m pytest -n $(JOBS) --dist worksteal $(TESTS)

# Pythons that pyenv has installed need not be on the path, and its shims for those that are not active fail: hence the trial.
PYTHONS ?= 3.12 3.13            # make test-pythons PYTHONS=3.13
test-pythons:  ## the tests with other Pythons (3.12, 3.13; from the path or from pyenv), in .venv-3.12 and .venv-3.13
	@failed=; for version in $(PYTHONS); do \
	    found=; for python in python$$version "$$(pyenv root 2>/dev/null)"/versions/$$version.*/bin/python; do \
	        if "$$python" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$$version')" 2>/dev/null; then found=$$python; break; fi; \
	    done; \
	    if [ -z "$$found" ]; then echo "== Python $$version: absent, not tested =="; continue; fi; \
	    echo "== Python $$version ($$found) =="; \
	    $(MAKE) --no-print-directory VENV=.venv-$$version PYTHON="$$found" .venv-$$version/stamp-dev && \
	    .venv-$$version/bin/python -m pytest -n $(JOBS) --dist worksteal $(TESTS) || failed="$$failed $$version"; \
	done; if [ -n "$$failed" ]; then echo "the tests failed with Python$$failed" >&2; exit 1; fi

# What an instrumented core needs around it. A process that ends by a finding may be a worker, which Dask restarts, and the
# tests go on: so findings are looked for afterwards, in the files that processes write and (undefined behaviour, whose log_path
# gcc ignores beside the address sanitiser) on the stderr that workers inherit. ASLR off: the thread sanitiser of older compilers wants that. No look for deadlocks: its table
# of 64 locks is too small for the allocator of pyarrow, which takes all of its own at a fork.
CHECKED  := tests/kernels tests/dual/test_kernel.py tests/engines tests/designs
THREADED := tests/kernels/test_rules.py tests/kernels/test_pool.py tests/engines
FINDINGS := $(CURDIR)/build/findings
COMMA    := ,
LIBRARY   = $$($(CXX) -print-file-name=lib$(1).so)
SANITIZED = rm -rf $(FINDINGS) && mkdir -p $(FINDINGS) && \
            ASAN_OPTIONS="detect_leaks=0 log_path=$(FINDINGS)/address" UBSAN_OPTIONS="print_stacktrace=1" \
            TSAN_OPTIONS="die_after_fork=0 detect_deadlocks=0 halt_on_error=1 exitcode=66 log_path=$(FINDINGS)/thread" \
            LD_PRELOAD="$(call LIBRARY,$(1)) $(call LIBRARY,stdc++)" PYTHONMALLOC=malloc PURSUIT_POOL_FLAGS="-g -fsanitize=$(2) -fno-sanitize-recover=all" \
            setarch -R $(3)/bin/python -m pytest -q --capture=sys -p no:cacheprovider $(4) 2>$(FINDINGS)/stderr; status=$$?; \
            cat $(FINDINGS)/*; \
            if grep -qE 'runtime error: |ERROR: AddressSanitizer|: ThreadSanitizer' $(FINDINGS)/*; then echo "the sanitiser found something: above, and in $(FINDINGS)" >&2; exit 1; fi; \
            exit $$status
sanitize:  ## tests of kernels and threads under the address, undefined-behaviour and thread sanitisers, in .venv-address and .venv-thread
	@$(MAKE) --no-print-directory VENV=.venv-address SANITIZE=address,undefined .venv-address/stamp-dev
	@echo "== address and undefined behaviour =="
	@$(call SANITIZED,asan,address$(COMMA)undefined,.venv-address,$(or $(TESTS),$(CHECKED)))
	@$(MAKE) --no-print-directory VENV=.venv-thread SANITIZE=thread .venv-thread/stamp-dev
	@echo "== threads =="
	@$(call SANITIZED,tsan,thread,.venv-thread,$(or $(TESTS),$(THREADED)))

bench: $(VENV)/stamp-bench  ## side by side with other packages
	@$(BIN)/python benchmarks/run.py
	@$(BIN)/python benchmarks/paths.py
	@$(BIN)/python benchmarks/quality.py
	@$(BIN)/python benchmarks/jax_objectives.py
	@echo 'the search on real tables and fresh problems: $(BIN)/python benchmarks/search_tables.py; $(BIN)/python benchmarks/search_quality.py --best-known'
	@echo 'proofs next to OKRidge: $(BIN)/python benchmarks/exact.py --okridge; dual methods on text: $(BIN)/pursuit-experiments run diht'

bench-scale: $(VENV)/stamp-dev  ## large sparse data, rows on a disk (a 6 GB file, removed afterwards), rows on Dask, the plan past these machines
	@$(BIN)/python benchmarks/scale_sparse.py
	@$(BIN)/python benchmarks/scale_disk.py
	@$(BIN)/python benchmarks/scale_dask.py
	@$(BIN)/python benchmarks/scale_plan.py

RUN ?=                          # make experiments RUN="grasp/table2 --quick"
experiments: $(VENV)/stamp-dev  ## judge the committed results of the papers' experiments anew; with RUN=NAME run one (list: all names)
	@$(BIN)/pursuit-experiments $(if $(strip $(RUN)),run $(RUN),verify)

fuzz-proofs: $(VENV)/stamp-dev  ## 20,000 random problems of the worst kind against an independent referee (half an hour)
	@$(BIN)/python tools/fuzz_proofs.py --jobs $(JOBS)

fuzz-curvature: $(VENV)/stamp-dev  ## 2,000 random designs: restricted constants and the papers' theorems against enumeration (15 minutes)
	@$(BIN)/python tools/fuzz_curvature.py --problems 2000 --jobs $(JOBS)

fuzz-exchange: $(VENV)/stamp-dev  ## 5,000 random problems of least squares and 5,000 of other losses: every exchange at every swap_optimal, by a referee (an hour)
	@$(BIN)/python tools/fuzz_exchange.py --problems 5000 --large 100 --jobs $(JOBS)
	@$(BIN)/python tools/fuzz_exchange.py --losses --problems 5000 --jobs $(JOBS) --out build/fuzz_losses.jsonl
	@$(BIN)/python tools/fuzz_exchange.py --losses multinomial --problems 500 --jobs $(JOBS) --out build/fuzz_multinomial.jsonl

docs-table: $(VENV)/stamp-dev  ## run every solver on every objective and constraint; writes docs/conformance.md; docs/solvers.md from the registry
	@$(BIN)/python tools/conformance_table.py
	@$(BIN)/python tools/solvers_page.py

lint: $(VENV)/stamp-dev  ## everything that make test checks before the tests
	@echo "== format (ruff format) =="
	@$(BIN)/ruff format --check .
	@echo "== lint (ruff check) =="
	@$(BIN)/ruff check .
	@echo "== format of the C++ (clang-format) =="
	@$(if $(CPP),$(BIN)/clang-format --dry-run -Werror $(CPP) && echo "$(words $(CPP)) files already formatted",echo "no C++ files")
	@echo "== types (mypy) =="
	@$(BIN)/mypy
	@echo "== import rules (lint-imports) =="
	@$(BIN)/lint-imports

format: $(VENV)/stamp-dev  ## rewrite Python and C++ files in the project's format
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .
	@$(if $(CPP),$(BIN)/clang-format -i $(CPP),true)

clean:  ## remove the virtual environments, builds, caches, ./demo/ and ./example/
	rm -rf .venv .venv-* build dist demo example experiments-quick .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Debian ships venv without ensurepip: there the system's pip fills the environment.
$(VENV)/stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "pursuit needs Python 3.11 or newer, and $(PYTHON) is older or missing: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "== virtual environment in $(VENV) =="
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV) && $(PYTHON) -m venv --without-pip $(VENV) && \
	    $(PYTHON) -m pip --disable-pip-version-check -qq --python $(BIN)/python install pip; }
	@$(PIP) install "scikit-build-core>=0.11" "nanobind>=2.4" ninja "cmake>=3.18"
	@touch $@

$(VENV)/stamp-demo: $(VENV)/stamp-venv $(SOURCES)
	@echo "== building and installing pursuit with what the demo needs (a minute or two) =="
	@$(INSTALL) ".[plot,cli]" "pandas>=2.1"
	@touch $@

$(VENV)/stamp-dev: $(VENV)/stamp-venv $(SOURCES)
	@echo "== building and installing pursuit with what the tests need (a minute or two) =="
	@$(INSTALL) ".[dev]"
	@$(EXPERIMENTS)
	@touch $@

$(VENV)/stamp-docs: $(VENV)/stamp-venv $(SOURCES)
	@echo "== building and installing pursuit with what the site needs (a minute or two) =="
	@$(INSTALL) ".[docs]"
	@touch $@

$(VENV)/stamp-bench: $(VENV)/stamp-venv $(SOURCES)
	@echo "== building and installing pursuit with what the benchmark needs (a minute or two) =="
	@$(INSTALL) ".[bench]"
	@touch $@
