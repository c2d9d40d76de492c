"""Noise with a seed: features that mean nothing, blocks that hide a part of an image."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch, check_array

from fnmf._sklearn import as_random_state
from fnmf.validation import check_choice, check_integer

__all__ = ["NOISED_YALE", "add_noise_features", "noised_yale", "occlude", "unit_rows"]

# The paper's names of its four noised Yale sets, and the side of the block (None: noise features).
NOISED_YALE: dict[str, int | None] = {"Noise": None, "4x4": 4, "6x6": 6, "8x8": 8}

# Share of zeros in noise of kind "counts": as sparse as word counts or gene expression often are.
_COUNTS_ZERO = 0.7
_PARETO_INDEX = 2.0


def _float_matrix(X: ArrayLike) -> np.ndarray:
    return check_array(X, dtype=(np.float64, np.float32), copy=True)


def unit_rows(X: ArrayLike) -> np.ndarray:
    """Divide every sample by its Euclidean length; a sample of zeros stays zero.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        A new array; float32 stays float32, everything else becomes float64.

    Examples
    --------
    >>> from fnmf.datasets import unit_rows
    >>> unit_rows([[3, 4], [0, 0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    rows = _float_matrix(X)
    # Dividing by the largest entry first keeps the squares from over- or underflowing.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows /= np.where(largest > 0, largest, 1)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(length > 0, length, 1)
    return rows


def _uniform(X: np.ndarray, n_noise: int, rng: np.random.RandomState) -> np.ndarray:
    return rng.uniform(0, X.max(), size=(len(X), n_noise))


def _exponential(X: np.ndarray, n_noise: int, rng: np.random.RandomState) -> np.ndarray:
    return rng.exponential(max(float(X.mean()), 0.0), size=(len(X), n_noise))


def _counts(X: np.ndarray, n_noise: int, rng: np.random.RandomState) -> np.ndarray:
    mean = max(float(X.mean()), 0.0) / (1 - _COUNTS_ZERO)
    kept = rng.uniform(size=(len(X), n_noise)) >= _COUNTS_ZERO
    return np.where(kept, rng.poisson(mean, size=(len(X), n_noise)), 0).astype(float)


def _permuted(X: np.ndarray, n_noise: int, rng: np.random.RandomState) -> np.ndarray:
    chosen = rng.randint(X.shape[1], size=n_noise)
    return np.stack([rng.permutation(X[:, column]) for column in chosen], axis=1)


def _heavy_tailed(X: np.ndarray, n_noise: int, rng: np.random.RandomState) -> np.ndarray:
    # Pareto of index 2 starting at zero has mean 1 and no variance.
    return rng.pareto(_PARETO_INDEX, size=(len(X), n_noise)) * max(float(X.mean()), 0.0)


_KINDS: dict[str, Callable[[np.ndarray, int, np.random.RandomState], np.ndarray]] = {
    "uniform": _uniform,
    "exponential": _exponential,
    "counts": _counts,
    "permuted": _permuted,
    "heavy-tailed": _heavy_tailed,
}


def add_noise_features(
    X: ArrayLike, n_noise: int, kind: str = "uniform", random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Append features that carry no information.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    n_noise : int
        How many features to append.
    kind : {"uniform", "exponential", "counts", "permuted", "heavy-tailed"}, default="uniform"
        ``"uniform"``: between 0 and the largest value of X, as in the paper.
        ``"exponential"``: with the mean of X. ``"counts"``: Poisson counts, 70 % of them set to
        zero, with the mean of X. ``"permuted"``: columns of X drawn with replacement, each
        shuffled on its own; same distribution, no information. ``"heavy-tailed"``: Pareto
        of index 2 with the mean of X; its variance is infinite.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the noise.

    Returns
    -------
    X_noised : ndarray of shape (n_samples, n_features + n_noise)
        The features of X, then the noise.
    informative : ndarray of shape (n_features + n_noise,), dtype bool
        True for the features of X.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.datasets import add_noise_features
    >>> X, informative = add_noise_features(np.eye(4), 2, random_state=0)
    >>> X.shape, informative.tolist()
    ((4, 6), [True, True, True, True, False, False])
    """
    data = _float_matrix(X)
    n_noise = check_integer("n_noise", n_noise, low=0)
    check_choice("kind", kind, tuple(_KINDS))
    informative = np.arange(data.shape[1] + n_noise) < data.shape[1]
    if n_noise == 0:
        return data, informative
    noise = _KINDS[kind](data, n_noise, as_random_state(random_state))
    return np.hstack([data, noise.astype(data.dtype)]), informative


def occlude(
    X: ArrayLike, image_shape: tuple[int, int], size: int, random_state: Any = None
) -> np.ndarray:
    """Hide a square block of every image behind noise.

    The block lies at a random place, another one for each image; its pixels are drawn
    uniformly between 0 and the largest value of X.

    Parameters
    ----------
    X : array-like of shape (n_samples, height * width)
        Images, one a row, in C order.
    image_shape : tuple of (height, width)
        Shape of one image.
    size : int
        Side of the block in pixels.
    random_state : int, RandomState, Generator or None, default=None
        Seed of places and values.

    Returns
    -------
    ndarray of shape (n_samples, height * width)
        The images with their blocks; X itself is not changed.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.datasets import occlude
    >>> hidden = occlude(np.ones((3, 20)), (4, 5), 2, random_state=0)
    >>> (hidden != 1).sum(axis=1).tolist()
    [4, 4, 4]
    """
    data = _float_matrix(X)
    height, width = (check_integer("image_shape", side, low=1) for side in image_shape)
    size = check_integer("size", size, low=1)
    if height * width != data.shape[1]:
        raise ValueError(
            f"image_shape={image_shape} has {height * width} pixels, but X has "
            f"{data.shape[1]} features; pass the shape of one image."
        )
    if size > min(height, width):
        raise ValueError(
            f"size={size} is larger than the image of shape {image_shape}; "
            f"use at most {min(height, width)}."
        )
    rng = as_random_state(random_state)
    largest = data.max()
    tops = rng.randint(height - size + 1, size=len(data))
    lefts = rng.randint(width - size + 1, size=len(data))
    blocks = rng.uniform(0, largest, size=(len(data), size, size))
    images = data.reshape(len(data), height, width)
    for image, top, left, block in zip(images, tops, lefts, blocks, strict=True):
        image[top : top + size, left : left + size] = block
    return data


def noised_yale(kind: str, *, random_state: Any = 0, **options: Any) -> Bunch:
    """One of the paper's four noised versions of the Yale faces.

    Parameters
    ----------
    kind : {"Noise", "4x4", "6x6", "8x8"}
        ``"Noise"`` appends d / 3 uniform noise features; the others hide a block of that
        size in every image. All noise lies between 0 and the largest pixel.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the noise.
    **options
        Passed to :func:`fnmf.datasets.load`.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`fnmf.datasets.load`, with ``informative``, a boolean mask of the
        features that are pixels.

    Examples
    --------
    >>> from fnmf.datasets import noised_yale
    >>> faces = noised_yale("8x8", random_state=1)  # doctest: +SKIP
    >>> faces.data.shape  # doctest: +SKIP
    (165, 256)
    """
    from fnmf.datasets.loading import load

    check_choice("kind", kind, tuple(NOISED_YALE))
    faces = load("yale", **options)
    n_features = faces.data.shape[1]
    size = NOISED_YALE[kind]
    if size is None:
        faces.data, faces.informative = add_noise_features(
            faces.data, n_features // 3, random_state=random_state
        )
        faces.feature_names += [f"noise {k}" for k in range(n_features // 3)]
        faces.image_shape = None
    else:
        faces.data = occlude(faces.data, faces.image_shape, size, random_state)
        faces.informative = np.ones(n_features, dtype=bool)
    faces.name = f"yale-{kind.lower()}"
    return faces
