"""Compiled passes over CSR rows: products with other rows, and sums by cluster."""

import numpy as np

from fnmf._compile import njit


@njit(nogil=True, cache=True)
def dense_products(pointers, columns, values, others_pointers, others, weights, count):  # type: ignore[no-untyped-def]
    """Products of CSR rows with ``count`` others, these given feature by feature; dense."""
    n = len(pointers) - 1
    out = np.zeros((n, count), values.dtype)
    for i in range(n):
        row = out[i]
        for e in range(pointers[i], pointers[i + 1]):
            value, k = values[e], columns[e]
            for f in range(others_pointers[k], others_pointers[k + 1]):
                row[others[f]] += value * weights[f]
    return out


@njit(nogil=True, cache=True)
def sums_of_entries(pointers, columns, values, labels, mean, n_clusters):  # type: ignore[no-untyped-def]
    """By cluster and feature: how many entries, their sums and squares about ``mean``, (3, k, d).

    And their fourth powers over all clusters, (d,).
    """
    d = len(mean)
    sums, fourth = np.zeros((3, n_clusters, d)), np.zeros(d)
    for i in range(len(labels)):
        own = labels[i]
        for e in range(pointers[i], pointers[i + 1]):
            k = columns[e]
            gap = values[e] - mean[k]
            square = gap * gap
            sums[0, own, k] += 1
            sums[1, own, k] += gap
            sums[2, own, k] += square
            fourth[k] += square * square
    return sums, fourth
