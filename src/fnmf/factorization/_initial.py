"""Starting values for the basis U and the codes V."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.extmath import randomized_svd

from fnmf.data import View, drawn, spans
from fnmf.execution import BlockSource, RowArray, Rows, Runner, concatenated, parts_of
from fnmf.kmeans import count_distinct, fit_kmeans, partition_codes
from fnmf.relevance.defaults import DEFAULTS, Defaults

# k-means looks at no more rows than this; the others join the nearest centre.
_KMEANS_ROWS = 10_000
_KMEANS_STARTS = 5
_ROWS_AT_ONCE = 4096
_TINY = np.finfo(np.float64).tiny

Start = tuple[np.ndarray, RowArray]


def initial_factors(
    view: View,
    n_components: int,
    init: Any,
    scale: float,
    rng: np.random.RandomState,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> Start:
    """U (d x c) and V (n x c) with V Uᵀ roughly equal to ``scale`` times X.

    ``init`` is ``"random"``, ``"nndsvda"``, ``"kmeans"``, or the pair (V, Uᵀ) of the user's.
    """
    if isinstance(init, str):
        if init == "kmeans":
            U, V = _kmeans(view, n_components, scale, rng, runner, defaults)
        else:
            make = _random if init == "random" else _nndsvda
            U, V = make(view, n_components, scale, rng, runner)
    else:
        V, U = init[0], init[1].T
    if isinstance(V, np.ndarray):
        V = runner.spread(np.array(V, view.dtype, order="C"), view)
    return np.ascontiguousarray(U, view.dtype), V


def with_known(
    U: np.ndarray, V: RowArray, known: np.ndarray
) -> tuple[np.ndarray, RowArray, np.ndarray]:
    """A start with columns of U that are known in their places, and which these are, (c,).

    Those of the start that are most like them make room, the others go where ``known``, (d, c), is
    NaN.
    """
    fixed = ~np.isnan(known).any(axis=0)
    one, other = (rows / np.maximum(np.linalg.norm(rows, axis=0), _TINY) for rows in (known, U))
    like = one[:, fixed].T @ other
    taken = linear_sum_assignment(-like)[1]
    order = np.empty(len(fixed), np.int64)
    order[fixed], order[~fixed] = taken, np.setdiff1d(np.arange(len(fixed)), taken)
    U = np.where(fixed, np.nan_to_num(known), U[:, order]).astype(U.dtype)
    return U, np.ascontiguousarray(V[:, order]), fixed


def _random(
    view: View, n_components: int, scale: float, rng: np.random.RandomState, runner: Runner
) -> Start:
    # Values of this size make V Uᵀ as large as the data on average.
    size = 2 * np.sqrt(scale * view.mean() / n_components)
    U = rng.uniform(size=(view.shape[1], n_components))
    U *= size
    V = runner.empty(view, (n_components,), view.dtype)
    runner.walk(_DrawWork(size), BlockSource(view), (V,), rng)
    return U, V


@dataclass(frozen=True)
class _DrawWork:
    """Random codes; each block draws on from where the last one ended."""

    fills: ClassVar = (0,)
    size: float

    def __call__(
        self, block: tuple[()], rows: Rows, rng: np.random.RandomState
    ) -> tuple[Rows, np.random.RandomState]:
        (V,) = rows
        V[:] = self.size * rng.uniform(size=V.shape)
        return rows, rng


def same_rows(row: np.ndarray, view: View, runner: Runner) -> RowArray:
    """The same values for every row."""
    return runner.map_rows(partial(np.asarray, row), BlockSource(view), (), row.shape, row.dtype)


def _nndsvda(
    view: View, n_components: int, scale: float, rng: np.random.RandomState, runner: Runner
) -> Start:
    """Non-negative double SVD (Boutsidis and Gallopoulos, 2008), zeros filled with the mean."""
    rank = min(n_components, *view.shape)
    rows = view.rows(0, view.shape[0]) if view.incomplete else view.X
    left, values, right = randomized_svd(rows, rank, random_state=rng)
    U, V = np.zeros((view.shape[1], n_components)), np.zeros((view.shape[0], n_components))
    for a in range(rank):
        x, y = left[:, a], right[a]
        positive = np.maximum(x, 0), np.maximum(y, 0)
        negative = np.maximum(-x, 0), np.maximum(-y, 0)
        sizes = [np.linalg.norm(x) * np.linalg.norm(y) for x, y in (positive, negative)]
        x, y = positive if sizes[0] >= sizes[1] else negative
        energy = np.sqrt(scale * values[a] * max(sizes))
        V[:, a] = energy * x / max(np.linalg.norm(x), np.finfo(float).tiny)
        U[:, a] = energy * y / max(np.linalg.norm(y), np.finfo(float).tiny)
    fill = np.sqrt(scale * view.mean() / n_components)
    U[U == 0] = fill
    V[V == 0] = fill
    return U, V


def _kmeans(
    view: View,
    n_components: int,
    scale: float,
    rng: np.random.RandomState,
    runner: Runner,
    defaults: Defaults,
) -> Start:
    """V from a k-means partition, U from its means."""
    rows, weights = _some_rows(view, rng)
    seed = rng.randint(np.iinfo(np.int32).max)
    # Duplicated samples can be fewer than they look; a centre without samples starts at the mean.
    centres = _distinct_centres(rows, n_components, seed, weights)
    mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    if weights is not None:
        mean = weights @ rows / weights.sum()
    U = np.tile(mean[:, None], (1, n_components))
    # A share of the mean keeps entries off 0, which a multiplicative update could never leave.
    share = defaults.negligible
    U[:, : len(centres)] = (1 - share) * centres.T + share * mean[:, None]
    labels = runner.map_rows(partial(_nearest, centres), parts_of(view), (), (), np.int64)
    return scale * U, partition_codes(labels, n_components, view, runner, defaults=defaults)


def _nearest(centres: np.ndarray, part: View) -> np.ndarray:
    few = spans(part.shape[0], _ROWS_AT_ONCE)
    return concatenated(pairwise_distances_argmin(part.rows(*span), centres) for span in few)


def _distinct_centres(
    rows: Any, n_components: int, seed: int, weights: np.ndarray | None
) -> np.ndarray:
    count = rows.shape[0]
    if isinstance(rows, np.ndarray):
        count = count_distinct(rows, n_components)
    count = min(n_components, count)
    model = fit_kmeans(rows, count, n_init=_KMEANS_STARTS, random_state=seed, weights=weights)
    return model.cluster_centers_.astype(np.float64)


def _some_rows(view: View, rng: np.random.RandomState) -> tuple[Any, np.ndarray | None]:
    """Rows for k-means, and what they count."""
    n_samples = view.shape[0]
    if n_samples > _KMEANS_ROWS:
        chosen = drawn(n_samples, _KMEANS_ROWS, rng)
    elif view.remote:
        chosen = np.arange(n_samples)
    else:
        return view.rows(0, n_samples), view.weights
    weights = None if view.weights is None else view.weights[chosen]
    return view.narrowed(view.take(chosen)), weights
