"""A new model from the reservoir, with the numbers of the old one where it found the same."""

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.data import Scaling, view_of
from fnmf.runners import Runner
from fnmf.schemes import SCHEMES, Arrival, Problem, Silent
from fnmf.selection import best_start
from fnmf.solver import column_sums
from fnmf.streaming._memory import Members, Memory
from fnmf.streaming._reservoir import Reservoir


def renewed(
    reservoir: Reservoir,
    settings: Settings,
    seed: int,
    weight: float,
    before: Fitted | None,
    runner: Runner,
) -> tuple[Fitted, Memory]:
    """Choose, fit and sum up on the reservoir, which stands for rows of this total ``weight``."""
    view = view_of(reservoir.rows)
    fitted = best_start(Problem(settings, view, seed, Silent()), [seed], runner)
    assert fitted.labels is not None
    assert fitted.caps is not None
    if before is not None:
        found = SCHEMES["relevance"].predict(before, settings, view, runner)
        fitted = _numbered_as(fitted, found, before, settings.clusters)
    n, d = view.shape
    capped = view.scaled(Scaling(np.ones(n), fitted.caps, np.ones(d)))
    about = column_sums(capped, runner)[0] / n
    members = Members(fitted.labels, settings.clusters)
    memory = Memory.of_rows(fitted, Arrival.of(fitted, view, runner), members, about, runner)
    return fitted, memory.decayed(weight / len(reservoir))


def _numbered_as(fitted: Fitted, found: np.ndarray, before: Fitted, n_clusters: int) -> Fitted:
    """The same model with clusters and components in the order of those they agree with most.

    ``found`` are the clusters of its rows by the model before.
    """
    shared = np.zeros((n_clusters, n_clusters))
    np.add.at(shared, (fitted.labels, found), 1)
    number = linear_sum_assignment(-shared)[1]
    alike = _directions(fitted) @ _directions(before).T
    order = np.argsort(linear_sum_assignment(-alike)[1])
    kmeans = fitted.kmeans
    if kmeans is not None:
        kmeans.cluster_centers_ = kmeans.cluster_centers_[np.argsort(number)][:, order]
        kmeans.labels_ = number[kmeans.labels_].astype(kmeans.labels_.dtype)
    return replace(
        fitted,
        labels=number[fitted.labels],
        components=np.ascontiguousarray(fitted.components[order]),
        embedding=np.ascontiguousarray(fitted.embedding[:, order]),
        kmeans=kmeans,
    )


def _directions(fitted: Fitted) -> np.ndarray:
    """Components in the units of the data, at unit length."""
    rows = fitted.components.astype(np.float64) / fitted.units
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)
