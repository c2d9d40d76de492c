"""What the neighbours of a sample say about its cluster."""

import numpy as np
import scipy.sparse as sp

from fnmf._compile import njit


def graph_votes(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Share of each cluster where walks of one and two steps end, (n, n_clusters).

    Walks back to the sample itself do not count: its own label is no evidence. A sample without
    neighbours has no votes. The graph is symmetric.
    """
    degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    lists = graph.indptr, graph.indices, graph.data
    return _walks(*lists, inverse, labels.astype(np.int64, copy=False), n_clusters)


@njit(nogil=True, cache=True)
def _walks(pointers, neighbours, similarity, inverse, labels, k):  # type: ignore[no-untyped-def]
    n = len(labels)
    one, votes = np.zeros((n, k), similarity.dtype), np.zeros((n, k), similarity.dtype)
    two = np.zeros(k)
    for i in range(n):
        for p in range(pointers[i], pointers[i + 1]):
            one[i, labels[neighbours[p]]] += inverse[i] * similarity[p]
    for i in range(n):
        two[:] = 0
        for p in range(pointers[i], pointers[i + 1]):
            j, share = neighbours[p], inverse[i] * similarity[p]
            for a in range(k):
                two[a] += share * one[j, a]
            two[labels[i]] -= share * inverse[j] * similarity[p]
        total = 0.0
        for a in range(k):
            votes[i, a] = one[i, a] + max(two[a], 0.0)
            total += votes[i, a]
        if total > 0:
            votes[i] /= total
    return votes
