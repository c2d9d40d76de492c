"""Labels that the others contradict."""

from __future__ import annotations

import numpy as np

# Labels that count as much as the belief that labels of a class are right.
_PRIOR = 1.0
_ROUNDS = 50
# Probability of being wrong, its own say included, from which a label is not to be believed.
_SURELY = 0.5
_KIND = [("row", np.int64), ("given", np.int64), ("suggested", np.int64), ("probability", float)]


def true_classes(held_out: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Probabilities of the true classes of labelled rows, their own labels included, (l, k).

    A label is drawn from a row of a confusion matrix, that of the true class, whose probability
    is what is said without the label. The matrix is estimated by expectation maximisation, from
    one that is half right: labels of a class that is often confused with another count less.

    Parameters
    ----------
    held_out : ndarray of shape (l, k)
        Log probabilities, each made without the label of the row.
    given : ndarray of shape (l,)
        Labels.
    """
    shares, k = np.exp(held_out), held_out.shape[1]
    prior = _PRIOR / 2 * (np.eye(k) + 1 / k)
    confusion = prior / prior.sum(axis=1, keepdims=True)
    found = shares
    for _ in range(_ROUNDS):
        found = shares * confusion[:, given].T
        found /= np.maximum(found.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        counts = prior.copy()
        np.add.at(counts.T, given, found)
        confusion = counts / counts.sum(axis=1, keepdims=True)
    return found


def suspicious_labels(
    held_out: np.ndarray, rows: np.ndarray, given: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Labels that the others contradict, ``suspicious_labels_``, and which are surely wrong, (l,).

    Listed is a row that would be of another class without its label. The ``probability`` of being
    wrong is that without the label; the order counts the label, and what it is confused with.
    """
    every, said = np.arange(len(given)), np.exp(held_out)
    wrong = 1 - true_classes(held_out, given)[every, given]
    suggested = said.argmax(axis=1)
    listed = np.flatnonzero(suggested != given)
    listed = listed[np.argsort(-wrong[listed], kind="stable")]
    found = np.empty(len(listed), _KIND)
    found["row"], found["given"] = rows[listed], given[listed]
    found["suggested"] = suggested[listed]
    found["probability"] = 1 - said[listed, given[listed]]
    return found, wrong >= _SURELY
