"""The estimator for streams: constant memory, one batch at a time, as long as they come."""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from fnmf._base import NonNegativeBase
from fnmf._fnmf import FNMF
from fnmf._parameters import with_parameters_of
from fnmf._settings import Settings
from fnmf._sklearn import as_random_state
from fnmf._weights import check_sample_weight, counted_batch
from fnmf.data import Data, View, is_dask, view_of
from fnmf.labels.known import Known, read_labels
from fnmf.validation import check_data, check_integer, in_ordinary_units

if TYPE_CHECKING:
    from fnmf.factorization import Scheme
    from fnmf.streaming import Pace, Stream

_OWN = ("batch_size", "forget_factor", "sample_size", "random_state")


@cache
def _defaults() -> dict[str, Any]:
    """Parameters of FNMF that a stream leaves as they are."""
    # The components follow the clusters from batch to batch.
    return FNMF(representation="clusters").get_params(deep=False)


class MiniBatchFNMF(NonNegativeBase):
    """Feature weighted non-negative matrix factorisation of a stream.

    Takes rows in batches and keeps a model of what they were lately: a sample of fixed size, in
    which recent rows are more likely than old ones, and sums that decay. Weights, preparation,
    neighbours and clusters are found anew on the sample whenever enough has come; between, basis,
    cluster centres and relevance follow the sums. Clusters that are found again keep their
    numbers.

    Parameters
    ----------
    n_components : int, default=8
        Number of components, that is the length of the representation.

    n_weightings : int, default=3
        Most weightings of the features, as for :class:`FNMF`.

    smoothness, n_neighbors, row_norm, column_units
        As for :class:`FNMF`.

    n_clusters : int or None, default=None
        Clusters; ``None`` means ``n_components``.

    batch_size : int, default=1024
        Rows of a batch in ``fit``, and the unit in which ``forget_factor`` counts.

    forget_factor : float, default=0.99
        What a row counts for after another ``batch_size`` rows have come, relative to before; at
        most 1, which forgets nothing. The memory is batch_size / (1 − forget_factor) rows long:
        a row that old counts about a third, one three times as old a twentieth.

    sample_size : int, default=4096
        Rows kept. New rows are compared with them; memory and the time of a renewal grow with it.

    max_iter : int, default=30
        Most iterations of a renewal. Components go on with every batch, and clusters do not wait
        for them.

    tol : float, default=1e-4
        When an iteration of a renewal is the last, as for :class:`FNMF`.

    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample and of renewals.

    n_jobs : int or None, default=None
        Threads; results do not depend on it.

    verbose : int, default=0
        1 prints each renewal.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Basis.
    feature_weights_ : ndarray of shape (n_weightings, n_features)
        Weightings; each sums to 1.
    feature_relevance_ : ndarray of shape (n_features,)
        Share of each feature's variance that the clusters explain beyond chance, by the sums of
        all rows that are remembered.
    feature_importances_ : ndarray of shape (n_features,)
        The same as a share of its sum.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Rows of each cluster, with what they still count for.
    structure_found_ : bool or None
        Whether the last renewal found structure beyond chance.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample given to ``fit``; ``partial_fit`` does not keep them.
    n_samples_seen_ : int
        Rows seen so far.
    n_steps_ : int
        Batches seen so far.
    n_renewals_ : int
        How often the model was found anew.
    n_iter_ : int
        Iterations of the last renewal.
    n_features_in_ : int
        Features seen during fit.

    See Also
    --------
    FNMF : All data at once.

    Examples
    --------
    >>> from fnmf import MiniBatchFNMF
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> X, y = make_noisy_gaussians(random_state=0)
    >>> model = MiniBatchFNMF(n_components=3, random_state=0)
    >>> for start in range(3):
    ...     model = model.partial_fit(X[start::3])
    >>> bool(model.feature_importances_[:2].sum() > 0.9)
    True
    """

    random_state: Any
    verbose: int
    _stream: Stream

    @with_parameters_of(
        FNMF,
        "n_weightings",
        "smoothness",
        "n_neighbors",
        "row_norm",
        "column_units",
        "n_clusters",
        "tol",
        "random_state",
        "n_jobs",
        "verbose",
    )
    def __init__(
        self,
        n_components: int = 8,
        *,
        batch_size: int = 1024,
        forget_factor: float = 0.99,
        sample_size: int = 4096,
        max_iter: int = 30,
        **shared: Any,
    ) -> None:
        self.n_components = n_components
        self.batch_size = batch_size
        self.forget_factor = forget_factor
        self.sample_size = sample_size
        self.max_iter = max_iter
        self.__dict__.update(shared)

    def fit(self, X: ArrayLike | sp.sparray, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one pass over the data, their rows in random order.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, MappedCSR} of shape (n_samples, n_features)
            Non-negative data.
        y : Ignored
            Present by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            As how many samples each counts; equal rows are one.

        Returns
        -------
        self
        """
        self._fit(X, sample_weight)
        return self

    def _fit(self, X: Any, sample_weight: Any, y: Any = None) -> None:
        """A stream of its own, of all rows and the classes that some of them have."""
        pace, data = self._pace(), self._checked(X, reset=True)
        pace.numbered(0).settings.for_data(data)
        weights, given = check_sample_weight(sample_weight, data), read_labels(y, data.shape[0])
        self._begin(data)
        view = self._counted(data, weights, given, pace)
        order = self._stream.rng.permutation(view.shape[0])
        size = pace.batch_size
        batches = [np.sort(order[i : i + size]) for i in range(0, len(order), size)]
        self._learn(view, batches, pace, given, last=True)
        for warning in self._stream.warnings:
            # Components go on with every batch; where they stood at a renewal says little.
            if not isinstance(warning, ConvergenceWarning):
                warnings.warn(warning, stacklevel=3)
        self.labels_ = self._new_rows("predict", data)

    def partial_fit(
        self, X: ArrayLike | sp.sparray, y: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from the next batch of a stream.

        The first model is made when there are enough rows for the clusters and neighbours asked
        for; until then rows are kept, and ``predict`` says that the model is not fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative rows, one or many.
        y : Ignored
            Present by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            As how many samples each counts, in the sums and for what the stream forgets; equal
            rows of the batch are one.

        Returns
        -------
        self
        """
        self._partial_fit(X, sample_weight)
        return self

    def _partial_fit(self, X: Any, sample_weight: Any, y: Any = None) -> None:
        """The next batch, and the classes that some of its rows have."""
        pace, first = self._pace(), not hasattr(self, "_stream")
        data = self._checked(X, reset=first)
        weights, given = check_sample_weight(sample_weight, data), read_labels(y, data.shape[0])
        if first:
            self._begin(data)
        if hasattr(self, "labels_"):
            del self.labels_
        view = self._counted(data, weights, given, pace)
        n = view.shape[0]
        # A huge batch is several: what it brings should count as if it had come bit by bit.
        size = pace.batch_size
        batches = [np.arange(i, min(i + size, n)) for i in range(0, n, size)]
        self._learn(view, batches, pace, given)

    def fit_predict(
        self, X: ArrayLike | sp.sparray, y: Any = None, sample_weight: Any = None
    ) -> np.ndarray:
        """Fit and return the cluster of each sample, ``labels_``."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def _pace(self) -> Pace:
        """All parameters, checked."""
        from fnmf.streaming import Pace

        defaults = _defaults()
        # Not from get_params: a subclass may have fewer parameters than it keeps.
        own = {k: v for k, v in vars(self).items() if k in defaults and k not in _OWN}
        # The renewals inside are told about by a line of our own.
        own["verbose"] = max(0, int(self.verbose) - 1)
        settings = Settings.of({**defaults, **own})
        batch_size = check_integer("batch_size", self.batch_size, low=1)
        sample_size = check_integer("sample_size", self.sample_size, low=1)
        return Pace(settings, batch_size, self.forget_factor, sample_size)

    def _settings(self) -> Settings:
        """Of the model that there is now."""
        return self._pace().numbered(len(self._stream.classes)).settings

    def _model(self) -> tuple[Any, Settings, type[Scheme]]:
        from fnmf.relevance.scheme import SCHEMES

        return self._stream.fitted, self._settings(), SCHEMES["relevance"]

    def _checked(self, X: Any, *, reset: bool = False) -> Data:
        """Rows as the model may see them."""
        if is_dask(X):
            raise TypeError(
                "MiniBatchFNMF takes rows in memory; call partial_fit(block.compute()) for block "
                "in X.blocks, or fit FNMF, which takes Dask arrays as they are."
            )
        return in_ordinary_units(self, check_data(self, X, reset=reset), reset=reset)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def _unfitted(self) -> str:
        seen = getattr(self, "n_samples_seen_", 0)
        return (
            f"This %(name)s instance is not fitted yet: it has seen {seen} rows, and needs at "
            f"least {self._pace().fewest}. Call 'fit', or 'partial_fit' with more rows."
        )

    def _begin(self, data: Data) -> None:
        """A new stream."""
        from fnmf.streaming import Reservoir, Stream

        for name in {"components_", "labels_"} & set(vars(self)):
            delattr(self, name)
        view = view_of(data)
        empty = Reservoir.empty(view.subset(np.empty(0, np.intp)).X, view.dtype)
        self._stream = Stream(as_random_state(self.random_state), empty)

    def _counted(self, data: Data, weights: np.ndarray | None, given: Known, pace: Pace) -> View:
        """Rows of a batch, each there once; all, if some have classes."""
        if len(given.classes):
            return view_of(data)
        view = counted_batch(data, weights, pace.settings)
        self._stream.seen += data.shape[0] - view.shape[0]
        return view

    def _learn(
        self,
        view: View,
        batches: list[np.ndarray],
        pace: Pace,
        given: Known,
        last: bool = False,
    ) -> None:
        """Take in batches of rows; after the ``last`` one the model shall be of all of them."""
        from fnmf.execution import threads

        with threads(pace.settings.n_jobs) as runner:
            for rows in batches:
                whole = len(rows) == view.shape[0] and view.in_place is not None
                batch = view if whole else view.subset(rows)
                told = Known(given.classes, given.codes[rows]) if len(given.classes) else None
                renewed = self._stream.learn(batch, pace, runner, told)
                if last and rows is batches[-1] and self._stream.better_sample(pace):
                    self._stream.renew(pace, runner)
                    renewed = True
                if renewed and self.verbose:
                    print(f"[{type(self).__name__}] renewed after {self._stream.seen} rows")
        self._show()

    def _show(self) -> None:
        """What there is to see of the stream."""
        stream = self._stream
        self.n_samples_seen_, self.n_steps_ = stream.seen, stream.steps
        self.n_renewals_ = stream.renewals
        if stream.fitted is None or stream.memory is None:
            return
        fitted, dtype = stream.fitted, stream.fitted.components.dtype
        self.components_ = fitted.components
        self.feature_weights_ = fitted.feature_weights
        found, shares = stream.memory.relevance(fitted.feature_weights)
        self.feature_relevance_ = found.astype(dtype)
        self.feature_importances_ = np.asarray(shares, dtype)
        self.cluster_sizes_ = stream.memory.sums.counts
        self.structure_found_, self.n_iter_ = fitted.structure_found, fitted.n_iter
