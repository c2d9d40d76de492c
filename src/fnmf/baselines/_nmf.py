"""NMF with the squared Frobenius loss, and RNMF with the robust l2,1 loss."""

import numpy as np

from fnmf.baselines._engine import EngineFactorisation


class NMF(EngineFactorisation):
    """Non-negative matrix factorisation by multiplicative updates, clustered by k-means.

    A basis U (d × c) and a representation V (n × c) minimise

        ‖X − V Uᵀ‖²      subject to U ≥ 0, V ≥ 0

    by the updates of Lee and Seung, which never raise the objective.

    Notes
    -----
    ``transform`` solves each row for its exact non-negative least-squares coefficients;
    ``fit_transform`` does the same for the training rows, while ``embedding_`` holds V.

    References
    ----------
    D. D. Lee, H. S. Seung, "Algorithms for Non-negative Matrix Factorization", NIPS 13 (2000),
    556-562; "Learning the parts of objects by non-negative matrix factorization", Nature 401
    (1999), 788-791.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.baselines import NMF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((60, 3)) @ rng.random((3, 12))
    >>> model = NMF(n_clusters=3, tol=1e-3, max_iter=2000, random_state=0).fit(X)
    >>> model.embedding_.shape, model.components_.shape
    ((60, 3), (3, 12))
    """


class RNMF(EngineFactorisation):
    """Robust NMF: lengths of residuals, not their squares, so that outliers count less.

    A basis U (d × c) and a representation V (n × c) minimise

        ‖X − V Uᵀ‖_{2,1} = Σ_i ‖x_i − U v_i‖      subject to U ≥ 0, V ≥ 0

    by multiplicative updates with weights 1/‖x_i − U v_i‖ on the samples, which never raise the
    objective. The weights cancel in the update of V: robustness enters through U.

    Attributes
    ----------
    history_ : ndarray
        One row an iteration: total, reconstruction, smoothness (always 0). The
        total is taken between the updates of V and of U.

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

    _robust = True

    def _factors_of_rows(self, weights: np.ndarray) -> np.ndarray:
        """The weights themselves: lengths of residuals count, not their squares."""
        return weights
