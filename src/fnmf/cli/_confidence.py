"""How sure the clusters of new rows are."""

from typing import Any

import numpy as np

_NEAREST = 5


def labels_of(
    fitted: Any, X: Any, embedding: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Number of the class or cluster of new rows, how sure that is, and the second-best one."""
    if not hasattr(fitted, "classes_"):
        found = fitted.predict(X)
        return (found, *inherited(fitted, found, embedding))
    shares = fitted.predict_proba(X)
    order = np.argsort(-shares, axis=1, kind="stable")
    return order[:, 0], shares.max(axis=1), order[:, min(1, shares.shape[1] - 1)]


def inherited(
    fitted: Any, labels: np.ndarray, embedding: np.ndarray | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Confidence and second-best cluster of new rows, from the nearest rows of the fit.

    Each of the five rows of the fit that are nearest in the representation gives its confidence to
    its own cluster and the rest to its second-best; the mean is what a new row has.
    """
    sure = getattr(fitted, "sample_confidence_", None)
    second = getattr(fitted, "second_labels_", None)
    if sure is None or second is None or embedding is None or len(np.unique(fitted.labels_)) < 2:
        return None, None
    from sklearn.neighbors import NearestNeighbors

    own, codes = np.asarray(fitted.labels_), np.asarray(fitted.embedding_)
    near = NearestNeighbors(n_neighbors=min(_NEAREST, len(codes))).fit(codes)
    found = near.kneighbors(embedding, return_distance=False)
    k = int(max(own.max(), np.max(second))) + 1
    votes = np.zeros((len(embedding), k))
    rows = np.arange(len(embedding))[:, None]
    np.add.at(votes, (rows, own[found]), np.asarray(sure)[found])
    np.add.at(votes, (rows, np.asarray(second)[found]), 1 - np.asarray(sure)[found])
    votes /= found.shape[1]
    at = np.arange(len(labels)), labels.astype(np.intp)
    confidence = votes[at].copy()
    votes[at] = -1
    return np.clip(confidence, 0, 1), votes.argmax(axis=1)
