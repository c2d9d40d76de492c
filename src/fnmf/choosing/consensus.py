"""Clusters that many fits agree on: resampled rows, fitted anew, vote for every sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from fnmf._fitted import Fitted, present
from fnmf.affinity import LabelledRows, confidence, known_votes
from fnmf.data import view_of
from fnmf.execution import Runner
from fnmf.factorization import Observer, Problem
from fnmf.relevance.scheme import SCHEMES, best_start

# Rows of a resample.
_SHARE = 0.8
_MAX_SEED = np.iinfo(np.int32).max


def consensus(
    fitted: Fitted, problem: Problem, n_resamples: int, seed: int, runner: Runner
) -> Fitted:
    """The model with clusters, confidence and stability from the votes of resampled fits.

    Clusters of a resample are matched one to one with those of the model by the samples they share;
    samples that were left out are labelled as new rows.
    """
    settings, n, labels = problem.settings, problem.view.shape[0], present(fitted.labels)
    k, rng = settings.clusters, np.random.RandomState(seed)
    scheme = SCHEMES[settings.scheme]
    kept = None if fitted.held_labels is None else view_of(fitted.rows)
    votes, overlaps = _members(labels, k), []
    held = None if fitted.held_labels is None else _members(fitted.held_labels, k)
    for _ in range(n_resamples):
        rows = np.sort(rng.choice(n, max(int(_SHARE * n), 1), replace=False))
        part = Problem(
            _part_settings(settings, rows),
            problem.view.subset(rows),
            int(rng.randint(_MAX_SEED)),
            Observer(),
            sure=False,
            defaults=problem.defaults,
        )
        other = best_start(part, [int(rng.randint(_MAX_SEED))], runner)
        found = scheme.predict(other, part.settings, problem.view, runner)
        shared = np.zeros((k, k))
        np.add.at(shared, (labels, found), 1)
        mine, theirs = linear_sum_assignment(-shared)
        matched = np.empty(k, np.int64)
        matched[theirs] = mine
        votes += _members(matched[found], k)
        if held is not None and kept is not None:
            held += _members(matched[scheme.predict(other, part.settings, kept, runner)], k)
        either = shared.sum(axis=1)[:, None] + shared.sum(axis=0) - shared
        overlaps.append((shared / np.maximum(either, 1)).max(axis=1))
    agreed = votes.argmax(axis=1)
    share = votes / votes.sum(axis=1, keepdims=True)
    voters = LabelledRows(known_votes(share), fitted.embedding, agreed.astype(labels.dtype))
    sure, second = confidence(voters, k, None, problem.view, runner, problem.defaults)
    return replace(
        fitted,
        labels=agreed.astype(labels.dtype),
        centres=None,
        held_labels=None if held is None else held.argmax(axis=1).astype(labels.dtype),
        sample_confidence=sure,
        second_labels=second,
        cluster_stability=np.mean(overlaps, axis=0),
    )


def _members(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    members = np.zeros((len(labels), n_clusters))
    members[np.arange(len(labels)), labels] = 1
    return members


def _part_settings(settings: Any, rows: np.ndarray) -> Any:
    """Settings for the clusters of some of the rows: a graph of the user's loses the others."""
    settings = replace(settings, representation="clusters")
    if settings.graph is None or settings.builds_graph:
        return settings
    return replace(settings, graph=settings.graph[rows][:, rows])
