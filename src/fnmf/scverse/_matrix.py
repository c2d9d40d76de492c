"""The matrix of an AnnData that a fit takes: which one, its genes, and counts made comparable."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data import is_dask

# Rows of a file that are read together.
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Matrix:
    """Cells by genes, as a fit takes them.

    Attributes
    ----------
    X : ndarray, csr_array or dask array
        Non-negative values of the genes in use.
    source : str
        Where they come from: ``"X"``, ``"raw"`` or ``"layers/<name>"``.
    normalization : str
        What was done to them.
    """

    X: Any
    source: str
    normalization: str


def matrix_of(adata: Any, layer: str | None, genes: np.ndarray | None) -> Matrix:
    """Values of ``layer``, or of X; of ``raw`` where X is scaled."""
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"layer={layer!r} is not in adata; it has {list(adata.layers)}.")
    X = adata.X if layer is None else adata.layers[layer]
    source = "X" if layer is None else f"layers/{layer}"
    if X is None:
        raise ValueError("adata.X is empty; name a layer.")
    X = _opened(X)
    if layer is None and _smallest(X) < 0:
        if adata.raw is None:
            raise ValueError(
                "adata.X has negative values (scaled or centred data), and there is no adata.raw; "
                "name the layer that holds counts or their logarithms with layer=..."
            )
        X, source = _opened(adata.raw[:, adata.var_names].X), "raw"
    if not _are_counts(X):
        return Matrix(_of_genes(X, genes), source, "none: the values are not counts")
    target = float(np.median(_totals(X)))
    shown = f"counts: each cell to {target:g} in total (the median), then log(1 + x)"
    if is_dask(X):
        X = X.map_blocks(partial(_normalized, target=target), dtype=np.float32, meta=X._meta)
    else:
        X = _normalized(X, target)
    return Matrix(_of_genes(X, genes), source, shown)


def _opened(X: Any) -> Any:
    """Arrays in memory and Dask arrays as they are; those of a file as Dask arrays of its rows."""
    if is_dask(X) or isinstance(X, np.ndarray):
        return X
    if _is_sparse(X):
        return sp.csr_array(X)
    import dask.array as da
    from anndata.experimental import read_elem_lazy

    # A backed sparse matrix names its group; a dense one is the data set of the file itself.
    stored = getattr(X, "group", X)
    if getattr(X, "format", "csr") != "csr":
        raise ValueError(
            "adata is backed by a file with its matrix in columns (CSC), from which rows cannot "
            "be read; write it again with adata.X = adata.X.tocsr()."
        )
    lazy: da.Array = read_elem_lazy(stored, chunks=(min(_ROWS_AT_ONCE, X.shape[0]), X.shape[1]))
    return lazy


def _is_sparse(block: Any) -> bool:
    return bool(sp.issparse(block))


def _values(block: Any) -> Any:
    return block.data if _is_sparse(block) else block


def _blocks(X: Any) -> Any:
    """All blocks, one after the other."""
    if not is_dask(X):
        yield X
        return
    for row in range(X.numblocks[0]):
        yield X.blocks[row].compute()


def _smallest(X: Any) -> float:
    return min(float(_values(block).min(initial=0)) for block in _blocks(X))


def _are_counts(X: Any) -> bool:
    """Whether all values are whole numbers; the first block of rows tells."""
    values = _values(next(iter(_blocks(X))))
    return bool(values.size) and bool(np.array_equal(values, np.rint(values)))


def _totals(X: Any) -> np.ndarray:
    """Counts of each cell that has any; 1 if there is none."""
    sums = [np.asarray(block.sum(axis=1), np.float64).ravel() for block in _blocks(X)]
    totals = np.concatenate(sums)
    return totals[totals > 0] if totals.any() else np.ones(1)


def _normalized(block: Any, target: float) -> Any:
    """Rows brought to a common total, then logarithms."""
    totals = np.asarray(block.sum(axis=1), np.float64).ravel()
    factors = target / np.where(totals > 0, totals, 1)
    if _is_sparse(block):
        rows: Any = sp.csr_array(block)
        data = np.log1p(rows.data * np.repeat(factors, np.diff(rows.indptr))).astype(np.float32)
        return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
    return np.log1p(block * factors[:, None]).astype(np.float32)


def _of_genes(X: Any, genes: np.ndarray | None) -> Any:
    if genes is None:
        return X
    if is_dask(X):
        chunks = (X.chunks[0], (int(genes.sum()),))
        return X.map_blocks(lambda block: block[:, genes], chunks=chunks, meta=X._meta)
    return X[:, genes]
