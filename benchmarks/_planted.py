"""Planted clusters with a known number, for the benchmark of choosing it.

Three kinds in turn: measurements (Gaussian about non-negative centres), counts (Poisson, samples of
unlike totals) and subspaces (every cluster shows in features of its own). Sizes are unbalanced, and
noise features, up to ten for each real one, are shuffled copies of real ones or uniform.
"""

from typing import NamedTuple

import numpy as np

KINDS = ("measurements", "counts", "subspaces")
_FEWEST = 20


class Planted(NamedTuple):
    """Data, clusters, and which features carry them."""

    X: np.ndarray
    y: np.ndarray
    real: np.ndarray
    kind: str
    noise: int


def planted(number: int) -> Planted:
    """Set ``number`` of the series: everything about it follows from its number."""
    rng = np.random.RandomState(1000 + number)
    k = 2 + number % 14
    noise = int(rng.choice([0, 1, 3, 10]))
    return make(k, KINDS[number % len(KINDS)], noise, rng)


def make(k: int, kind: str, noise: int, rng: np.random.RandomState) -> Planted:
    """``k`` clusters in 30 real features and ``noise`` others for each of them."""
    shares = rng.dirichlet(np.full(k, 3.0))
    sizes = _FEWEST + np.round(shares * (40 * k)).astype(int)
    y = np.repeat(np.arange(k), sizes)
    real = _KINDS[kind](y, k, rng)
    shuffled = [rng.permutation(real[:, rng.randint(real.shape[1])]) for _ in range(noise * 15)]
    uniform = rng.uniform(0, real.max(axis=0).mean(), size=(len(y), noise * 15))
    X = np.column_stack([real, *shuffled, uniform])
    order = rng.permutation(len(y))
    return Planted(X[order], y[order], np.arange(X.shape[1]) < real.shape[1], kind, noise)


def shuffled(X: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Every column in an order of its own: no clusters are left."""
    return np.column_stack([rng.permutation(column) for column in X.T])


def _measurements(y: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    centres = rng.uniform(0, 4, size=(k, 30))
    return np.abs(centres[y] + rng.normal(size=(len(y), 30)))


def _counts(y: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    rates = rng.gamma(0.7, 4.0, size=(k, 30)) + 0.3
    exposure = rng.lognormal(0, 0.3, size=(len(y), 1))
    return rng.poisson(rates[y] * exposure).astype(float)


def _subspaces(y: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    own = np.zeros((k, 4 * k))
    for a in range(k):
        own[a, 4 * a : 4 * a + 4] = 1
    return rng.uniform(size=(len(y), 4 * k)) + own[y]


_KINDS = {"measurements": _measurements, "counts": _counts, "subspaces": _subspaces}
