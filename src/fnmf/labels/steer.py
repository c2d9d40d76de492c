"""Labels as a term of relevance: features that tell labelled classes apart count more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fnmf.data import drawn
from fnmf.execution import Runner
from fnmf.labels.known import Known
from fnmf.labels.links import Links
from fnmf.relevance.choice import Choice
from fnmf.relevance.defaults import Defaults
from fnmf.relevance.prepare import (
    FeatureStatistics,
    Weights,
    capped_moments,
    capped_statistics,
)
from fnmf.relevance.weights import adjusted, chance_probabilities, relevance

# Rate of false discoveries among features that count because of labels.
_FALSE = 0.01
# Entries of labelled rows that are looked at, at most.
_ENTRIES = 20_000_000
# Labels of a class below which they prove nothing about features.
_FEWEST = 2


def label_relevance(
    statistics: FeatureStatistics, known: Known, seed: int, runner: Runner, defaults: Defaults
) -> np.ndarray:
    """Share of each feature that the labels explain beyond chance, (d,).

    0 where that is not certain among so many features, and less by the share that so many classes
    would explain of so few labels in any case: nothing beyond what the labels can prove.
    """
    view, k = statistics.view, len(known.classes)
    most = max(_ENTRIES // max(view.shape[1], 1), k)
    rows = known.rows[drawn(len(known.rows), most, np.random.RandomState(seed))]
    n = len(rows)
    if k < 2 or n < _FEWEST * k:
        return np.zeros(view.shape[1])
    some = capped_statistics(view.subset(rows), statistics.typical, statistics.caps)
    moments = capped_moments(some, known.codes[rows], k, runner)
    certain = adjusted(chance_probabilities(moments)) <= _FALSE
    return np.where(certain, relevance(moments, defaults) * (1 - k / n), 0)


def steered(choice: Choice, told: np.ndarray) -> Choice:
    """A choice whose features count as far as clusters or labels show them to matter."""
    if not told.any():
        return choice
    context, weights = choice.context, choice.weights
    told = told if context is None else told * context.duplicate_weights
    return replace(choice, weights=Weights(np.maximum(weights.omega, told), weights.price))


def trust(choice: Choice) -> float:
    """How far clusters may stand for classes before labels say so, 0 to 1.

    Of a table it is the score that clusters were chosen by: how far halves of its columns, and of
    its rows, agree on them. Other data have structure or none.
    """
    if choice.real is False:
        return 0.0
    return float(np.clip(choice.score, 0, 1)) if choice.columns is not None else 1.0


def spread_weights(choice: Choice) -> np.ndarray | None:
    """Weights of the features that labels spread by, (d,); ``None`` if they are those of the fit.

    Columns of a table that its clusters do not rest on may tell classes apart all the same: as far
    as clusters are not to be trusted, all columns count alike.
    """
    if choice.columns is None or choice.unit or choice.context is None:
        return None
    share, top = trust(choice), choice.weights.top
    even = choice.context.duplicate_weights
    return share * top / max(float(top.max()), np.finfo(float).tiny) + (1 - share) * even


def tied(graph: sp.csr_array, must: Links) -> sp.csr_array:
    """A graph with rows that belong together tied as much as each is to all others."""
    if not len(must.pairs):
        return graph
    degree = np.asarray(graph.sum(axis=1)).ravel()
    a, b = must.pairs.T
    strength = (must.sure * np.maximum(degree[a], degree[b])).astype(graph.dtype)
    added = sp.csr_array((strength, (a, b)), graph.shape)
    both = sp.csr_array(graph + added + added.T)
    both.sort_indices()
    return both
