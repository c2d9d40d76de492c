# Two commands matter: `make demo` and `make test`. Each makes .venv and installs the package when needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: reproduce-quick reproduce-full demo test lint types pytest browser docs format clean

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
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
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache docs/_build docs/api docs/gallery
