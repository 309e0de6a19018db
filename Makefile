# `make demo` and `make test` need only Python 3.11 or newer. They create their own environment in
# .venv, with the exact versions of constraints.txt. `make demo` installs only the package, and the
# other commands add what they need to the same environment.

ifeq ($(OS),Windows_NT)
SHELL := bash
PYTHON ?= python
SCRIPTS := Scripts
else
PYTHON ?= python3
SCRIPTS := bin
endif
BIN := .venv/$(SCRIPTS)
OLDEST := .venv-oldest/$(SCRIPTS)
WHEELS := .venv-wheels/$(SCRIPTS)
WHEEL_TOOLS := auditwheel build check-wheel-contents hatchling twine ziglang
WHEEL_TARGETS := linux-x86_64 linux-aarch64 macos-x86_64 macos-arm64 windows-x86_64
# Files that determine what is installed, including the core in C, which is compiled then.
CORE := src/allrelevant/native/core
INSTALLED := pyproject.toml constraints.txt hatch_build.py $(wildcard $(CORE)/*.[ch]) $(CORE)/build.py
INSTALL := -m pip install --quiet --disable-pip-version-check
CHECK_PYTHON := $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "Python 3.11 or newer is required; $(PYTHON) is $$($(PYTHON) --version)."; exit 1; }

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(MAKEFILE_LIST))

help:  ## List the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

setup: .venv/ready  ## Create the environment that the other commands use

.venv/ready: $(INSTALLED)
	@$(CHECK_PYTHON)
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python $(INSTALL) --constraint constraints.txt --editable '.[dev]'
	@touch .venv/light $@

# Python compiles the modules that the demo imports, instead of pip all modules.
.venv/light: $(INSTALLED)
	@$(CHECK_PYTHON)
	@echo "Setting up .venv with the package alone (once) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python $(INSTALL) --constraint constraints.txt --no-compile --editable .
	@touch $@

demo: .venv/light  ## Analyze the breast cancer data, print the result, write report.html
	@$(BIN)/allrelevant demo --jobs -1 --output report.html

test: setup lint  ## Run the linter, the import contracts, the type checker and the test suite
	@$(BIN)/python -m pytest --numprocesses 2

lint: setup  ## Run the linter, the import contracts and the type checker
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/mypy --no-error-summary

test-long: setup  ## Run the slow tests
	@$(BIN)/python -m pytest tests/long

mutants: setup  ## Measure which changes of proofs, relevance classes and checkpoints the tests notice
	@$(BIN)/python -m benchmarks.mutants

# The lower bounds of pyproject.toml are the oldest supported versions.
test-oldest:  ## Run the test suite with the oldest supported dependencies, in .venv-oldest
	@$(CHECK_PYTHON)
	@$(PYTHON) -m venv .venv-oldest
	@grep -oE '"[A-Za-z0-9_-]+>=[0-9.]+"' pyproject.toml | tr -d '"' | sed 's/>=/==/' > .venv-oldest/constraints.txt
	@$(OLDEST)/python $(INSTALL) --constraint .venv-oldest/constraints.txt --editable '.[test]'
	@$(OLDEST)/python -m pytest --numprocesses 2

coverage: setup  ## Measure the test coverage, print it, write htmlcov/
	@$(BIN)/python -m pytest --numprocesses 2 --cov --cov-report=term --cov-report=html

# The core is compiled by ziglang for all systems on any of them.
wheels:  ## Build and check the wheels of all systems and the source distribution, in dist/
	@$(CHECK_PYTHON)
	@$(PYTHON) -m venv .venv-wheels
	@$(WHEELS)/python $(INSTALL) --constraint constraints.txt $(WHEEL_TOOLS)
	@rm -rf dist
	@$(WHEELS)/python -m build --sdist --no-isolation > /dev/null
	@for target in $(WHEEL_TARGETS); do \
		ALLRELEVANT_TARGET=$$target $(WHEELS)/python -m build --wheel --no-isolation > /dev/null || exit 1; \
	done
	@$(WHEELS)/twine check --strict dist/*
	@$(WHEELS)/check-wheel-contents dist/*.whl
	@for wheel in dist/*linux*.whl; do $(WHEELS)/auditwheel show $$wheel || exit 1; done
	@ls -l dist

tables: setup  ## Reproduce the papers' tables in docs/results; resumes an interrupted run (DATA=folder)
	@$(BIN)/python -m benchmarks.tables $(if $(DATA),--data $(DATA))

tables-quick: setup  ## Reproduce a part within ten minutes and compare it with docs/results (DATA=folder)
	@$(BIN)/python -m benchmarks.tables --quick $(if $(DATA),--data $(DATA))

bench-truth: setup  ## Measure F1 on data with known ground truth, both formulations
	@$(BIN)/python -m benchmarks.ground_truth
	@$(BIN)/python -m benchmarks.ground_truth --formulation joint

bench-defaults: setup  ## Run the experiment behind the defaults
	@$(BIN)/python -m benchmarks.defaults

bench-breast-cancer: setup  ## Run the breast cancer study of ferel18
	@$(BIN)/python -m benchmarks.breast_cancer

bench-stability: setup  ## Compute bounds over 64 splits of the breast cancer data
	@$(BIN)/python -m benchmarks.stability

bench-speed: setup  ## Compare speed and memory with fri and HiGHS (DATA=folder of gene tables; COMMIT=former commit)
	@$(BIN)/python -m benchmarks.speed $(if $(DATA),--data $(DATA))
	@$(BIN)/python -m benchmarks.growth
	@$(if $(COMMIT),$(BIN)/python -m benchmarks.former_commit $(COMMIT))

bench-tasks: setup  ## Measure F1, speed and paths of the other tasks, compared with fri
	@$(BIN)/python -m benchmarks.task_ground_truth
	@$(BIN)/python -m benchmarks.task_speed

bench-metrics: setup  ## Compare metric learners with sklvq and pylmnn; bound metrics (DATA=folder of spectra)
	@$(BIN)/python -m benchmarks.metric_learners
	@$(BIN)/python -m benchmarks.metric_bounds --images docs/images $(if $(DATA),--data $(DATA))

bench-elimination: setup  ## Compare elimination with scikit-learn; check the claim of EB-RFE (DATA=folder of tables)
	@$(BIN)/python -m benchmarks.elimination_speed $(if $(DATA),--data $(DATA))
	@$(BIN)/python -m benchmarks.elimination_figure
	@$(if $(DATA),$(BIN)/python -m benchmarks.elimination_claim --data $(DATA))

bench-relations: setup  ## Measure relations, what-if and cheapest models: F1 and speed; the cost study
	@$(BIN)/python -m benchmarks.relations
	@$(BIN)/python -m benchmarks.breast_cancer_costs

bench-saliency: setup  ## Measure the cost of saliency; settings of the challenge sets (DATA=folder of these sets)
	@$(BIN)/python -m benchmarks.saliency_speed
	@$(if $(DATA),$(BIN)/python -m benchmarks.saliency_scalings --data $(DATA))
	@$(if $(DATA),$(BIN)/python -m benchmarks.weight_decay --data $(DATA))
	@$(if $(DATA),$(BIN)/python -m benchmarks.unconverged_svm --data $(DATA))

bench-networks: setup  ## Measure selection with networks and their robustness (DATA=folder with mnist, fashion_mnist and cifar10)
	@$(BIN)/python -m benchmarks.branches
	@$(BIN)/python -m benchmarks.mask_penalty
	@$(BIN)/python -m benchmarks.network_selection
	@$(BIN)/python -m benchmarks.network_speed
	@$(if $(DATA),$(BIN)/python -m benchmarks.network_images --data $(DATA) --set mnist)
	@$(if $(DATA),$(BIN)/python -m benchmarks.network_images --data $(DATA) --set fashion_mnist)
	@$(if $(DATA),$(BIN)/python -m benchmarks.network_images --data $(DATA) --set cifar10)
	@$(if $(DATA),$(BIN)/python -m benchmarks.network_robustness --data $(DATA) --figure docs/images/robustness.png)

bench-dorothea: setup  ## Fit DOROTHEA (100,000 features) and MADELON (DATA=folder with both)
	@$(BIN)/python -m benchmarks.dorothea --data $(if $(DATA),$(DATA),.)
	@$(BIN)/python -m benchmarks.madelon --data $(if $(DATA),$(DATA),.)

clean:  ## Remove environments, caches and other generated files
	rm -rf .venv .venv-oldest .venv-wheels .fri-env .metrics-env .calibration-env .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov results-quick dist mutants
	rm -f src/allrelevant/native/*.so src/allrelevant/native/*.dylib src/allrelevant/native/*.dll src/allrelevant/native/*.wasm
