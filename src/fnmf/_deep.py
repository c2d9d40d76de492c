"""The estimator with layers: parameters in, fitted record adopted."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from fnmf._base import FactorisationBase
from fnmf._fnmf import FNMF
from fnmf._parameters import with_parameters_of
from fnmf._sklearn import with_callbacks
from fnmf.data import is_dask
from fnmf.validation import check_integer


class DeepFNMF(FactorisationBase):
    """Feature weighted non-negative matrix factorisation in layers.

    The codes of a layer are the data of the next: many fine parts, fewer parts made of them, and
    at last as many components as the representation is long. Layers are trained one after the
    other, then together. Features are weighed by relevance at the first layer. Clusters are those
    of the affinity of :class:`FNMF` and of the codes of the first layer together, along which
    neighbours are held at the last; with anchors or clusters about means they are those of
    :class:`FNMF`. With one layer it is :class:`FNMF`.

    Parameters
    ----------
    layers : tuple of int, default=(50, 8)
        Components of each layer, the finest first; the last is the length of the representation.

    n_weightings, smoothness, representation, n_neighbors, graph, row_norm, column_units
        As for :class:`FNMF`, with ``weighting="relevance"``.

    solver : {"mu", "mu-fast"}, default="mu-fast"
        As for :class:`FNMF`; ``"hals"`` is there for one layer only.

    n_clusters : int or None, default=None
        Clusters for ``labels_``; ``None`` means the size of the last layer.

    max_iter, tol, n_init, random_state, n_jobs, verbose
        As for :class:`FNMF`; ``max_iter`` counts those in which all layers are trained together.

    Attributes
    ----------
    layer_components_ : tuple of ndarray
        Basis of each layer: the first of shape (layers[0], n_features), each other of shape
        (layers[l], layers[l - 1]). Not there with one layer.
    components_ : ndarray of shape (layers[-1], n_features)
        Their product, as the representation uses it. All other attributes are those of
        :class:`FNMF`.

    Examples
    --------
    >>> from fnmf import DeepFNMF
    >>> from fnmf.datasets import make_planted_subspaces
    >>> X, y, _ = make_planted_subspaces(random_state=0)
    >>> model = DeepFNMF((12, 4), random_state=0).fit(X)
    >>> [share.shape for share in model.hierarchy_]
    [(4, 12)]
    """

    weighting = "relevance"
    layer_components_: tuple[np.ndarray, ...] | None

    @with_parameters_of(
        FNMF,
        "n_weightings",
        "smoothness",
        "representation",
        "n_neighbors",
        "graph",
        "row_norm",
        "column_units",
        "solver",
        "n_clusters",
        "max_iter",
        "tol",
        "n_init",
        "random_state",
        "n_jobs",
        "verbose",
    )
    def __init__(self, layers: Any = (50, 8), **shared: Any) -> None:
        self.layers = layers
        self.__dict__.update(shared)

    @with_callbacks
    def fit(self, X: ArrayLike | sp.sparray, y: Any = None) -> Self:
        """Learn weights, layers, representation and clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, MappedCSR} of shape (n_samples, n_features)
            Non-negative data.
        y : Ignored
            Present by convention.

        Returns
        -------
        self
        """
        from fnmf._fitting import fit_estimator

        if is_dask(X):
            raise TypeError(
                "DeepFNMF takes rows in memory or mapped: the codes of a layer are the data of "
                "the next. Fit FNMF, which takes Dask arrays as they are."
            )
        fit_estimator(self, X)
        return self

    @property
    def layer_products_(self) -> tuple[np.ndarray, ...]:
        """Parts of each layer in the units of the features, (layers[l], n_features) each."""
        return tuple(part / self._units * self.unit_ for part in self._products())

    @property
    def hierarchy_(self) -> tuple[np.ndarray, ...]:
        """Of which finer parts the parts of each layer but the first are made.

        Entry [a, b] of the array for layer l, of shape (layers[l], layers[l - 1]), is the share of
        part b of the layer before in part a, by length in the weighted features. Rows sum to 1.
        """
        parts, found = self._products(), []
        root = np.sqrt(self._omega.max(axis=0))
        for finer, layer in zip(parts[:-1], self._layers()[1:], strict=True):
            lengths = layer * np.linalg.norm(finer * root, axis=1)
            total = lengths.sum(axis=1, keepdims=True)
            found.append(np.divide(lengths, total, out=np.zeros_like(lengths), where=total > 0))
        return tuple(found)

    def _layers(self) -> tuple[np.ndarray, ...]:
        check_is_fitted(self)
        return getattr(self, "layer_components_", None) or (self.components_,)

    def _products(self) -> list[np.ndarray]:
        """Parts of each layer as the fit sees features."""
        layers = [layer.astype(np.float64) for layer in self._layers()]
        parts = layers[:1]
        for layer in layers[1:]:
            parts.append(layer @ parts[-1])
        return parts

    def _parameters(self) -> dict[str, Any]:
        own = {**FNMF().get_params(deep=False), **vars(self)}
        sizes = own["layers"]
        if not isinstance(sizes, tuple | list) or not sizes:
            raise TypeError(f"layers must be a tuple of numbers of components, got {sizes!r}.")
        sizes = tuple(check_integer("layers", size, low=1) for size in sizes)
        # One layer is the model without layers.
        several = sizes if len(sizes) > 1 else ()
        return {**own, "n_components": sizes[-1], "layers": several}
