# Two commands matter: `make demo` and `make test`. Each makes .venv and installs the package when needed.
PYTHON ?= python3
VENV := .venv
BIN = $(VENV)/bin
JOBS ?= 2
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: test-oldest test-latest test-extras coverage dist reproduce-quick reproduce-full demo test lint types pytest browser docs format clean

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade 'pip>=25.1'
	$(INSTALL) --editable '.[all]' --group dev
	touch $@

# The demonstration needs no more than the command and a plot.
$(VENV)/.demo: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -e $(VENV)/.installed || \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cli,plot]'
	touch $@

demo: $(VENV)/.demo
	$(BIN)/fnmf demo

# The paper's tables and figures; the data come from FNMF_DATA_HOME, the cache or a download.
reproduce-quick: $(VENV)/.installed
	$(BIN)/fnmf reproduce all --profile quick --jobs $(JOBS) --out fnmf-reproduce/quick

reproduce-full: $(VENV)/.installed
	$(BIN)/fnmf reproduce all --profile full --jobs $(JOBS) --out fnmf-reproduce/full --results results

test: lint types pytest

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

pytest: $(VENV)/.installed browser
	$(BIN)/python -m pytest -n $(JOBS)

# The suite on the lowest versions that pyproject.toml allows of the libraries that fnmf cannot do without.
test-oldest: VENV := .venv-oldest
test-oldest:
	$(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) --upgrade 'pip>=25.1'
	$(PYTHON) packaging/lower_bounds.py > $(VENV)/lowest.txt
	$(INSTALL) --constraint $(VENV)/lowest.txt --editable '.[all]' --group test
	$(BIN)/python -m pytest -n $(JOBS)

# The suite on the newest versions of everything; PYTHON=python3.13 for the newest interpreter at hand.
test-latest: VENV := .venv-latest
test-latest:
	$(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --upgrade --upgrade-strategy eager --editable '.[all]' --group test
	$(BIN)/python -m pytest -n $(JOBS)

# The wheel alone in an empty environment, and with each extra alone.
test-extras:
	$(PYTHON) packaging/try_wheel.py --extras

# Wheel and source archive, with checked metadata, tried in an empty environment.
dist:
	$(PYTHON) packaging/try_wheel.py --keep dist

# Lines of Python that the suite runs; compiled functions do not count.
coverage: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(JOBS) --cov --cov-report=term --cov-report=html

# The report is tested in a real browser; without one those tests are skipped with a loud reason.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
	  apt-get install -qq --yes --no-install-recommends chromium; } || \
	  echo "No browser found: install Chromium to test the report in it."

# The site, offline; examples on real data run if FNMF_DATA_HOME names them. Warnings are errors.
docs: $(VENV)/.installed
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html in a browser."

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .venv-oldest .venv-latest htmlcov .coverage* build dist .pytest_cache .mypy_cache .ruff_cache docs/_build docs/api docs/gallery
