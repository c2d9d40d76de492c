"""Which samples are worth a label next: those in doubt, no two of them alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from fnmf.validation import check_integer

# Samples in doubt among which the choice is made, for each that is asked for.
_CANDIDATES = 50
# Doubt of a sample that is sure of its class: samples of no doubt at all still stand for others.
_LEAST = 1e-3


def samples_to_label(model: Any, n_samples: int = 10) -> np.ndarray:
    """Samples whose class would tell most about the others.

    Those that are least sure of their class are divided by k-means, weighted by their doubt, in
    the representation of the fit; the sample in the middle of each part is taken, so that no two
    tell the same. Of a fit without labels all samples take part alike: typical ones are taken.

    Parameters
    ----------
    model : SemiFNMF or FNMF
        Fitted, with ``sample_confidence_``.
    n_samples : int, default=10
        How many.

    Returns
    -------
    ndarray of shape (n_samples,)
        Rows of the training data, those in the most doubt first; fewer if fewer have no label.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf import SemiFNMF
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> from fnmf.labels import samples_to_label
    >>> X, truth = make_noisy_gaussians(random_state=0)
    >>> y = np.full(len(X), -1)
    >>> y[[0, 300, 600]] = truth[[0, 300, 600]]
    >>> rows = samples_to_label(SemiFNMF(random_state=0).fit(X, y), 5)
    >>> len(rows), bool((y[rows] == -1).all())
    (5, True)
    """
    check_is_fitted(model, "labels_")
    wanted = check_integer("n_samples", n_samples, low=1)
    sure = getattr(model, "sample_confidence_", None)
    told = getattr(model, "labelled_", None)
    if sure is None or (told is None and not hasattr(model, "embedding_")):
        raise ValueError(f"{type(model).__name__} has no representation of rows; use SemiFNMF.")
    doubt = np.ones(len(sure)) if told is None else 1 - np.asarray(sure, np.float64)
    rows = np.arange(len(doubt)) if told is None else np.flatnonzero(~told)
    rows = rows[np.argsort(-doubt[rows], kind="stable")]
    if told is not None:
        rows = rows[: _CANDIDATES * wanted]
    places = getattr(model, "embedding_", None)
    points = np.asarray(model.label_distributions_ if places is None else places)[rows]
    parts = min(wanted, len(np.unique(points, axis=0)))
    if parts < len(rows):
        means = KMeans(parts, n_init=1, random_state=0)
        means.fit(points, sample_weight=doubt[rows] + _LEAST)
        chosen = np.unique(pairwise_distances_argmin(means.cluster_centers_, points))
        rest = np.setdiff1d(np.arange(len(rows)), chosen)[: wanted - len(chosen)]
        rows = rows[np.sort(np.concatenate([chosen, rest]))]
    return rows
