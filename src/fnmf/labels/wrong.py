"""Labels that the others contradict."""

from __future__ import annotations

import numpy as np

# Labels that count as much as the belief that labels of a class are right.
_PRIOR = 1.0
_ROUNDS = 50
# Probability of being wrong from which a label is called suspicious.
_SUSPICIOUS = 0.5
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


def suspicious_labels(true: np.ndarray, rows: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Labels that are probably wrong, surest first: ``suspicious_labels_``."""
    wrong = 1 - true[np.arange(len(given)), given]
    called = wrong >= _SUSPICIOUS
    found = np.empty(int(called.sum()), _KIND)
    found["row"], found["given"] = rows[called], given[called]
    found["suggested"], found["probability"] = true.argmax(axis=1)[called], wrong[called]
    return found[np.argsort(-found["probability"], kind="stable")]
