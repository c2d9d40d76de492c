"""A toy model, known to the package for the length of a test, and its file."""

import numpy as np
import pytest

from fnmf.baselines import Method
from fnmf.persistence import save
from toy_model import Toy


@pytest.fixture(autouse=True)
def allow_toy(monkeypatch):
    monkeypatch.setattr("fnmf.baselines.registry._METHODS", {"Toy": Method("Toy", Toy)})


@pytest.fixture
def X():
    return np.random.default_rng(0).random((12, 5))


@pytest.fixture
def saved(tmp_path, X):
    path = tmp_path / "model.fnmf"
    save(Toy().fit(X), path, metadata={"columns": ["a", "b"], "seed": 3})
    return path
