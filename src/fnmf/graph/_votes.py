"""What the neighbours of a sample say about its cluster."""

import numpy as np
import scipy.sparse as sp


def graph_votes(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Share of each cluster where walks of one and two steps end, (n, n_clusters).

    Walks back to the sample itself do not count: its own label is no evidence. A sample without
    neighbours has no votes.
    """
    degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
    step = sp.diags_array(np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)) @ graph
    step = sp.csr_array(step)
    members = np.zeros((len(labels), n_clusters))
    members[np.arange(len(labels)), labels] = 1
    one = step @ members
    back = np.asarray(step.multiply(step.T).sum(axis=1), np.float64).ravel()
    two = step @ one - back[:, None] * members
    both = one + np.maximum(two, 0)
    total = both.sum(axis=1, keepdims=True)
    return np.divide(both, total, out=np.zeros_like(both), where=total > 0)
