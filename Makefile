# `make demo` and `make test` need Python 3.11 or newer and nothing else: they make their own
# environment in .venv, with the exact versions of constraints.txt.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(MAKEFILE_LIST))

help:  ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

setup: .venv/ready  ## Make the environment that the other commands use

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version)."; exit 1; }
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -m venv .venv
	@$(INSTALL) --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup  ## Analyse the bundled breast cancer table, print the result, write report.html
	@$(BIN)/allrelevant demo --jobs -1 --output report.html

test: setup lint  ## Linter, types and the test suite
	@$(BIN)/python -m pytest --numprocesses 2

lint: setup
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/mypy --no-error-summary

test-long: setup  ## The slow guarantees
	@$(BIN)/python -m pytest tests/long

tables: setup  ## The papers' tables beside the peers: docs/results, goes on where it stopped (DATA=folder)
	@$(BIN)/python -m benchmarks.tables $(if $(DATA),--data $(DATA))

tables-quick: setup  ## A part of them within ten minutes, compared with docs/results (DATA=folder)
	@$(BIN)/python -m benchmarks.tables --quick $(if $(DATA),--data $(DATA))

bench-truth: setup  ## F1 on data of known truth, both formulations
	@$(BIN)/python -m benchmarks.known_truth
	@$(BIN)/python -m benchmarks.known_truth --formulation joint

bench-defaults: setup  ## The experiment behind the defaults
	@$(BIN)/python -m benchmarks.defaults

bench-breast-cancer: setup  ## The breast cancer study of ferel18
	@$(BIN)/python -m benchmarks.breast_cancer

bench-stability: setup  ## Bounds and classes over 64 splits of breast cancer
	@$(BIN)/python -m benchmarks.stability

bench-speed: setup  ## Speed and memory beside fri, cold programs, HiGHS (DATA=folder of gene tables; COMMIT=former commit)
	@$(BIN)/python -m benchmarks.speed $(if $(DATA),--data $(DATA))
	@$(BIN)/python -m benchmarks.growth
	@$(if $(COMMIT),$(BIN)/python -m benchmarks.former_commit $(COMMIT))

bench-tasks: setup  ## Truth, speed and a path of the other tasks, beside fri
	@$(BIN)/python -m benchmarks.task_truth
	@$(BIN)/python -m benchmarks.task_speed

bench-metrics: setup  ## Metric learners beside sklvq and pylmnn; bounds of metrics (DATA=folder of spectra)
	@$(BIN)/python -m benchmarks.metric_learners
	@$(BIN)/python -m benchmarks.metric_bounds --images docs/images $(if $(DATA),--data $(DATA))

bench-elimination: setup  ## Elimination beside scikit-learn; the claim of EB-RFE (DATA=folder of tables)
	@$(BIN)/python -m benchmarks.elimination_speed $(if $(DATA),--data $(DATA))
	@$(BIN)/python -m benchmarks.elimination_picture
	@$(if $(DATA),$(BIN)/python -m benchmarks.elimination_claim --data $(DATA))

bench-relations: setup  ## What replaces what, what if, the cheapest models: truth and speed; costs of breast cancer
	@$(BIN)/python -m benchmarks.relations
	@$(BIN)/python -m benchmarks.breast_cancer_costs

bench-saliency: setup  ## What saliency costs beside training; settings of the challenge sets (DATA=folder with them)
	@$(BIN)/python -m benchmarks.saliency_speed
	@$(if $(DATA),$(BIN)/python -m benchmarks.saliency_scalings --data $(DATA))
	@$(if $(DATA),$(BIN)/python -m benchmarks.weight_decay --data $(DATA))
	@$(if $(DATA),$(BIN)/python -m benchmarks.unfinished_ranker --data $(DATA))

bench-networks: setup  ## Selection with networks, and how little fools them (DATA=folder with mnist, ct_slices)
	@$(BIN)/python -m benchmarks.branches
	@$(BIN)/python -m benchmarks.mask_penalty
	@$(BIN)/python -m benchmarks.network_selection
	@$(BIN)/python -m benchmarks.network_speed
	@$(if $(DATA),$(BIN)/python -m benchmarks.network_pictures --data $(DATA) --set mnist)
	@$(if $(DATA),$(BIN)/python -m benchmarks.network_pictures --data $(DATA) --set fashion_mnist)
	@$(if $(DATA),$(BIN)/python -m benchmarks.network_pictures --data $(DATA) --set cifar10)
	@$(if $(DATA),$(BIN)/python -m benchmarks.network_reliability --data $(DATA) --picture docs/images/reliability.png)

bench-dorothea: setup  ## 100,000 features, the whole fit; and Madelon (DATA=folder with both)
	@$(BIN)/python -m benchmarks.dorothea --data $(if $(DATA),$(DATA),.)
	@$(BIN)/python -m benchmarks.madelon --data $(if $(DATA),$(DATA),.)

clean:  ## Remove the environments and what tools left behind
	rm -rf .venv .fri-env .metrics-env .mypy_cache .pytest_cache .ruff_cache .hypothesis results-quick
