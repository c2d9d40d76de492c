"""Sets of every family for the ablation, cut down so that a fit takes a fraction of a second."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

import _planted
from _unseen_sets import ALL, data, noised, shuffled
from tables import BLOBS, cases, planted, segments, stored, useless_columns

# Entries that a set is cut down to: rows first, then features.
MOST_ROWS, MOST_FEATURES = 500, 1500


class Case(NamedTuple):
    """A data set of the suite: rows, classes, and which features are real, if that is known."""

    family: str
    name: str
    make: Callable[[int], tuple[np.ndarray, ...]]


# Sets that take longest are left out by ``--quick``, and every second table.
SLOW = ("orl", "tdt2_10", "a2", "a3", "d31", "street_view_house_numbers")


def suite(quick: bool) -> list[Case]:
    """All sets, or cheap ones of every family."""
    found = list(_all_sets())
    if not quick:
        return found
    even = {
        case
        for family in ("tables", "number")
        for case in [c for c in found if c.family == family][::2]
    }
    return [
        case
        for case in found
        if case.name not in SLOW and (case.family not in ("tables", "number") or case in even)
    ]


def _all_sets() -> Iterator[Case]:
    for name in ALL:
        yield Case("sets", name, lambda seed, name=name: data(name))
    for name, _ in cases("tables"):
        yield Case("tables", name, lambda seed, name=name: stored("tables", name))
    for name in BLOBS:
        yield Case("blobs", name, lambda seed, name=name: stored("blobs", name))
    for number in (0, 1, 8, 2, 6, 7):
        yield Case("planted", str(number), partial(_planted_set, number))
        yield Case("number", str(number), partial(_planted_set, number))
    for name in ("digits", "mfeat"):
        for kind in ("permuted", "heavy tails", "blocks"):
            make = partial(noised, name, kind, 3)
            yield Case("noised", f"{name} + {kind}", make)
    for number in range(4):
        yield Case("mixed", f"segments {number}", lambda seed, n=number: segments(10 * seed + n))
    for kind in ("none", "flag", "category 12", "date"):
        yield Case("mixed", f"planted + {kind}", partial(_useless, kind))
    for name in ("yale", "mfeat", "digits", "lung_small", "cnae-9", "iris", "wine"):
        yield Case("shuffled", name, partial(shuffled, name))
    for name in ("digits", "mfeat", "orl", "coil20", "lung_small", "iris", "wine"):
        yield Case("factorised", name, lambda seed, name=name: data(name))


def _planted_set(number: int, seed: int) -> tuple[np.ndarray, ...]:
    found = _planted.planted(number + 100 * seed)
    return found.X, found.y, found.real


def _useless(kind: str, seed: int) -> tuple[np.ndarray, ...]:
    X, y = planted(seed)
    return useless_columns(X, kind, seed), y


def cut(seed: int, X: np.ndarray, y: np.ndarray, *real: np.ndarray) -> tuple[np.ndarray, ...]:
    """Some rows and features, the same for every variant."""
    rng = np.random.default_rng(seed)
    if len(X) > MOST_ROWS:
        rows = np.sort(rng.permutation(len(X))[:MOST_ROWS])
        X, y = X[rows], y[rows]
    if X.shape[1] > MOST_FEATURES:
        features = np.sort(rng.permutation(X.shape[1])[:MOST_FEATURES])
        X, real = X[:, features], tuple(one[features] for one in real)
    return np.asarray(X, np.float64), y, *real
