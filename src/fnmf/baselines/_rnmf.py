"""RNMF: robust NMF with the l2,1 loss."""

import numpy as np

from fnmf.baselines._engine import EngineFactorisation
from fnmf.factorization.terms import RobustRows


class RNMF(EngineFactorisation):
    """Robust NMF: lengths of residuals, not their squares, so that outliers count less.

    A basis U (d × c) and a representation V (n × c) minimise

        ‖X − V Uᵀ‖_{2,1} = Σ_i ‖x_i − U v_i‖      subject to U ≥ 0, V ≥ 0

    by multiplicative updates with weights 1/‖x_i − U v_i‖ on the samples, which never raise the
    objective. The weights cancel in the update of V: robustness enters through U.

    Parameters
    ----------
    n_clusters : int, default=8
        Columns of V, and clusters.
    init : {"random", "nndsvda", "kmeans"} or tuple of arrays, default="random"
        Start; a tuple holds an embedding (n_samples, n_clusters) and components (n_clusters,
        n_features).
    max_iter : int, default=300
        Iterations of each start.
    tol : float, default=1e-6
        After 30 iterations, one that changes the objective by less than ``tol`` and the
        representation by less than ten times ``tol``, both relative, is the last.
    n_init : int, default=1
        Starts; the one with the lowest objective is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start and of k-means.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        k-means on the rows of ``embedding_``.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        V.
    components_ : ndarray of shape (n_clusters, n_features)
        Uᵀ, rows of unit length; V takes the scale, once, at the end.
    objective_ : float
        The objective at the end.
    converged_ : bool
        Whether it settled; if not, a ``ConvergenceWarning`` says so. Multiplicative updates
        are slow and often use all iterations.
    history_ : ndarray
        One row an iteration: total, reconstruction, smoothness (always 0). The
        total is taken between the updates of V and of U.
    n_iter_ : int
        Iterations of the start that was kept.

    Notes
    -----
    ``transform`` solves each row for its exact non-negative least-squares coefficients;
    ``fit_transform`` does the same for the training rows, while ``embedding_`` holds V.

    References
    ----------
    D. Kong, C. Ding, H. Huang, "Robust Nonnegative Matrix Factorization using L21-norm", CIKM
    2011, 673-682.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.baselines import RNMF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((60, 3)) @ rng.random((3, 12))
    >>> model = RNMF(n_clusters=3, tol=1e-3, max_iter=2000, random_state=0).fit(X)
    >>> model.embedding_.shape, model.components_.shape
    ((60, 3), (3, 12))
    """

    _row_weights = RobustRows()

    def _factors_of_rows(self, weights: np.ndarray) -> np.ndarray:
        """The weights themselves: lengths of residuals count, not their squares."""
        return weights
