"""Running the command inside the tests, on a small table of customers."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from fnmf.cli._app import app


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A busy machine must not make the command talk."""
    monkeypatch.setattr("fnmf.cli._progress._FIRST_LINE", 3600.0)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def _run(*words, code=0):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == code, result.output + result.stderr
        return result

    return _run


@pytest.fixture
def write_customers():
    def write(path, n=60, traps=False, seed=0):
        rng = np.random.default_rng(seed)
        kinds = np.arange(n) % 3
        X = rng.random((n, 5))
        X[np.arange(n), kinds] += 3
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["name", "city", "kind", "bread", "milk", "tea", "salt", "oil"])
            for i in range(n):
                cells = [f"{value:.4f}" for value in X[i]]
                if traps and i == 4:
                    cells[1] = ""
                if traps and i == 7:
                    cells[4] = "-0.5"
                writer.writerow([f"client {i}", "Rome", "abc"[kinds[i]], *cells])
        return X, kinds

    return write
