"""Data sets of the benchmark on unseen data, by name, and what is done to them."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn import datasets as public

from fnmf.datasets import load, unit_rows

Data = tuple[np.ndarray, np.ndarray]

ARTICLE = ("yale", "orl", "binary-alphadigits", "usps", "semeion", "cnae-9", "glass", "mfeat")
FURTHER = (
    "coil20",
    "jaffe",
    "warppie10p",
    "mnist2000",
    "glioma",
    "tox_171",
    "lung_small",
    "ma_leukemia",
    "tdt2_10",
    "pbmc",
    "worm",
)
TABLES = ("iris", "wine", "breast_cancer")
OLD = (*ARTICLE, "digits")
NEW = (*FURTHER, *TABLES, "gaussians")
ALL = (*OLD, *NEW)
# Raw counts of cells, which their users scale to equal totals and take the logarithm of.
_CELLS = ("pbmc", "worm")
KINDS = ("permuted", "uniform", "half-normal", "heavy tails", "blocks")


@cache
def data(name: str) -> Data:
    """Non-negative rows as a user would hand them over, and their classes."""
    if name in ARTICLE:
        bunch = load(name)
        return unit_rows(np.asarray(bunch.data, np.float64)), bunch.target
    if name == "digits":
        return public.load_digits(return_X_y=True)
    if name in TABLES:
        X, y = getattr(public, f"load_{name}")(return_X_y=True)
        X = X - X.min(axis=0)
        return X / np.maximum(X.max(axis=0), 1e-12), y
    if name == "gaussians":
        return _gaussians()
    X, y = _stored(name)
    return (_log_normal(X) if name in _CELLS else X), y


def raw(name: str) -> Data:
    """As published: no row or column scaled, no logarithm taken."""
    if name in TABLES:
        return getattr(public, f"load_{name}")(return_X_y=True)
    if name in ARTICLE:
        bunch = load(name)
        return np.asarray(bunch.data, np.float64), bunch.target
    return _stored(name)


def noised(
    name: str, kind: str, ratio: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """With ``ratio`` noise features for each real one, in units from 0.01 to 100 times the data's.

    The third array says which features are real and vary.
    """
    X, y = data(name)
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    typical = X[X > 0].mean()
    noise = _NOISE[kind](X, ratio * d, rng) * typical * 10 ** rng.uniform(-2, 2, ratio * d)
    real = np.concatenate([X.std(axis=0) > 0, np.zeros(ratio * d, bool)])
    return np.hstack([X, noise]), y, real


def copied(name: str, seed: int) -> Data:
    """With five uniform noise features, each forty times."""
    X, y = data(name)
    noise = np.random.default_rng(seed).uniform(0, X.max(), (len(X), 5))
    return np.hstack([X, np.repeat(noise, 40, axis=1)]), y


def shuffled(name: str, seed: int) -> Data:
    """Every column in an order of its own: no structure is left."""
    X, y = data(name)
    return np.random.default_rng(seed).permuted(X, axis=0), y


def unbalanced_digits(seed: int) -> Data:
    """From 400 down to 12 samples of a digit, as far as there are so many."""
    X, y = data("digits")
    rng = np.random.default_rng(seed)
    sizes = np.geomspace(400, 12, 10).astype(int)
    rows = [rng.permutation(np.flatnonzero(y == a))[:size] for a, size in enumerate(sizes)]
    chosen = np.concatenate(rows)
    return X[chosen], y[chosen]


def _gaussians() -> Data:
    """The article's toy: three Gaussians in two dimensions, five more of uniform noise."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 100)
    centres = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 1.0]])
    informative = centres[y] + 0.2 * rng.standard_normal((300, 2))
    return np.maximum(np.hstack([informative, rng.uniform(0, 3, (300, 5))]), 0), y


def _stored(name: str) -> Data:
    home = os.environ.get("FNMF_DATA_HOME")
    path = Path(home or ".") / "more" / f"{name}.npz"
    if home is None or not path.exists():
        raise FileNotFoundError(f"{name} is looked for as more/{name}.npz in FNMF_DATA_HOME.")
    with np.load(path, allow_pickle=False) as file:
        if "X" in file:
            return file["X"].astype(np.float64), file["y"]
        parts = file["data"], file["indices"], file["indptr"]
        matrix = sp.csr_array(parts, shape=tuple(file["shape"]))
        return matrix.toarray().astype(np.float64), file["y"]


def _log_normal(X: np.ndarray) -> np.ndarray:
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / np.maximum(totals, 1) * np.median(totals))


def _blocks(X: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Twenty features at a time share a factor."""
    factors = np.abs(rng.standard_normal((len(X), -(-count // 20))))
    own = np.abs(rng.standard_normal((len(X), count)))
    return np.repeat(factors, 20, axis=1)[:, :count] + 0.5 * own


_NOISE: dict[str, Callable[[np.ndarray, int, np.random.Generator], np.ndarray]] = {
    "permuted": lambda X, count, rng: rng.permuted(
        X[:, rng.integers(X.shape[1], size=count)] / X[X > 0].mean(), axis=0
    ),
    "uniform": lambda X, count, rng: rng.uniform(size=(len(X), count)),
    "half-normal": lambda X, count, rng: np.abs(rng.standard_normal((len(X), count))),
    "heavy tails": lambda X, count, rng: rng.pareto(1.5, (len(X), count)),
    "blocks": _blocks,
}
