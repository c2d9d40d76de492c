"""NMF: non-negative matrix factorisation with the squared Frobenius loss."""

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
