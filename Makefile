PYTHON ?= python3
BIN := .venv/bin

.PHONY: install test lint ahead tests docs soak coverage reproduce bench bench-live peers shop clean

install: .venv/installed

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

# Style, types and imports need one core, so that some of the compiling can go on beside them.
test: install
	$(MAKE) --jobs 2 lint ahead
	$(MAKE) tests docs

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

ahead: install
	$(BIN)/python tests/compile_ahead.py

# Once as compiled, once as plain Python with a shorter horizon. Two test processes share the cores, so BLAS gets one each.
tests: export OPENBLAS_NUM_THREADS = 1
tests: install ahead
	$(BIN)/pytest -n 2 -m 'not plain'
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -m 'not compiled'

# What takes long: a hundred kills under load, the log cut at every byte, another processor for every policy, more laws and shapes.
soak: export DRIFTBANDIT_SOAK = 1
soak: export OPENBLAS_NUM_THREADS = 1
soak: install
	$(BIN)/pytest tests/live
	$(BIN)/pytest -n 2 -m 'not plain' --ignore tests/live

# The site, in docs/_build/html. Code cells run each time; after the tests, for they compile what the cells use.
docs: install
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --quiet --jobs 2 docs docs/_build/html

# Of the tests without the compiler, since no one can look into machine code; the least that is accepted stands in pyproject.toml.
coverage: export OPENBLAS_NUM_THREADS = 1
coverage: install
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -m 'not compiled' --cov --cov-report=term

reproduce: install
	$(BIN)/driftbandit reproduce

bench: install
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/blocks.py

# Needs wrk (Debian: apt-get install wrk).
bench-live: export OPENBLAS_NUM_THREADS = 1
bench-live: install
	$(BIN)/python benchmarks/live.py --out benchmarks/live.md
	$(BIN)/python benchmarks/live_learner.py

# The field's other packages, in an environment of their own; one that cannot be installed is told in the table.
peers: .venv-peers/installed
	.venv-peers/bin/python benchmarks/peers.py --out benchmarks/peers.md
	.venv-peers/bin/python benchmarks/chooser.py --out benchmarks/chooser.md
	.venv-peers/bin/python benchmarks/shop.py

# The shop in full, on seeds that nothing was designed on: about an hour and a half of processor time.
shop: .venv-peers/installed
	.venv-peers/bin/python benchmarks/shop.py --seeds 91 92 93 94 95 --decisions 200000 --out benchmarks/shop.md

.venv-peers/installed: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --editable '.[lab]'
	.venv-peers/bin/python benchmarks/peers.py --install
	touch $@

clean:
	rm -rf .venv .venv-peers .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist docs/_build
