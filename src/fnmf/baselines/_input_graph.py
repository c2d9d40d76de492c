"""The neighbour graph of the methods that take one."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import adaptive_neighbors
from fnmf.baselines._base import check_neighbors
from fnmf.baselines._matrix import Matrix, unit_scale
from fnmf.validation import check_choice, check_graph


def input_graph(X: Matrix, graph: Any, n_neighbors: int, n_jobs: int | None) -> sp.csr_array:
    """The symmetric adaptive-neighbour graph of X, or the user's own, checked."""
    if isinstance(graph, str):
        check_choice("graph", graph, ("adaptive",))
        k = check_neighbors(n_neighbors, X.shape[0], 5)
        # The graph does not depend on the scale of X; this one cannot overflow.
        return adaptive_neighbors(X * unit_scale(X), k, n_jobs=n_jobs)
    return check_graph(graph, X.shape[0], np.dtype(np.float64))
