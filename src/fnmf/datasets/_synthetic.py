"""Data with a known answer: which samples belong together, and which features say so."""

from typing import Any

import numpy as np

from fnmf._sklearn import as_random_state
from fnmf.validation import check_integer, check_real

__all__ = ["make_noisy_gaussians", "make_planted_subspaces"]

# Far apart for their spread, so that the two dimensions alone separate the classes; within the
# range of the noise, so that all dimensions together hide them.
_CENTRES = np.array([[0.4, 2.1], [2.1, 0.4], [1.9, 1.9]])
_SPREAD = 0.2
_NOISE_LARGEST = 3.0


def make_noisy_gaussians(
    n_samples: int = 900, n_noise: int = 5, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """The paper's toy: three Gaussians in two dimensions, the other dimensions uniform noise.

    Parameters
    ----------
    n_samples : int, default=900
        Number of samples, spread evenly over the three classes.
    n_noise : int, default=5
        Number of noise dimensions, uniform from 0 to 3.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2 + n_noise)
        Non-negative data; the first two features are the informative ones.
    y : ndarray of shape (n_samples,)
        Classes 0, 1 and 2.

    Examples
    --------
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> X, y = make_noisy_gaussians(random_state=0)
    >>> X.shape
    (900, 7)
    """
    n_samples = check_integer("n_samples", n_samples, low=3)
    n_noise = check_integer("n_noise", n_noise, low=0)
    rng = as_random_state(random_state)
    y = np.sort(np.arange(n_samples) % len(_CENTRES))
    informative = _CENTRES[y] + _SPREAD * rng.standard_normal((n_samples, 2))
    noise = rng.uniform(0, _NOISE_LARGEST, size=(n_samples, n_noise))
    # A negative draw is two standard deviations away; reflecting it keeps data non-negative.
    return np.hstack([np.abs(informative), noise]), y


def make_planted_subspaces(
    n_samples: int = 400,
    n_clusters: int = 4,
    n_informative: int = 10,
    n_features: int = 200,
    *,
    lift: float = 1.0,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clusters that each show in features of their own.

    All features are uniform noise from 0 to 1; a cluster's own features are raised by
    ``lift`` for its samples and for no others.

    Parameters
    ----------
    n_samples : int, default=400
        Number of samples, spread evenly over the clusters.
    n_clusters : int, default=4
        Number of clusters.
    n_informative : int, default=10
        Features that belong to one cluster; no feature belongs to two.
    n_features : int, default=200
        All features, with those that belong to no cluster.
    lift : float, default=1.0
        How much a cluster's own features are raised; 0 hides the clusters.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Non-negative data.
    y : ndarray of shape (n_samples,)
        Clusters.
    features : ndarray of shape (n_clusters, n_features), dtype bool
        Which features belong to which cluster.

    Examples
    --------
    >>> from fnmf.datasets import make_planted_subspaces
    >>> X, y, features = make_planted_subspaces(random_state=0)
    >>> X.shape, features.sum(axis=1).tolist(), int(features.any(axis=0).sum())
    ((400, 200), [10, 10, 10, 10], 40)
    """
    n_clusters = check_integer("n_clusters", n_clusters, low=1)
    n_samples = check_integer("n_samples", n_samples, low=n_clusters)
    n_informative = check_integer("n_informative", n_informative, low=1)
    n_features = check_integer("n_features", n_features, low=1)
    lift = check_real("lift", lift)
    if n_clusters * n_informative > n_features:
        raise ValueError(
            f"n_features={n_features} is too small for {n_clusters} clusters with "
            f"{n_informative} features each; use at least {n_clusters * n_informative}."
        )
    rng = as_random_state(random_state)
    y = np.sort(np.arange(n_samples) % n_clusters)
    chosen = rng.permutation(n_features)[: n_clusters * n_informative]
    features = np.zeros((n_clusters, n_features), dtype=bool)
    np.put_along_axis(features, chosen.reshape(n_clusters, n_informative), True, axis=1)
    X = rng.uniform(size=(n_samples, n_features)) + lift * features[y]
    return X, y, features
