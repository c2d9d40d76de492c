"""Tools: what computes, and writes its results into the AnnData."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf import FNMF, SemiFNMF, __version__
from fnmf.data import is_dask
from fnmf.scverse._matrix import Matrix, matrix_of

__all__ = ["fnmf"]


def fnmf(
    adata: Any,
    n_components: int | str = "auto",
    *,
    layer: str | None = None,
    mask_var: Any = None,
    labels_key: str | None = None,
    key_added: str = "fnmf",
    rng: Any = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Cluster cells, represent them, and find the genes that matter.

    Counts are brought to the same total in each cell (the median) and their logarithms are taken,
    as ``scanpy.pp.normalize_total`` and ``log1p`` do it; other values are taken as they are. No
    choice of variable genes is needed: genes are weighted by what they tell apart.

    Parameters
    ----------
    adata : AnnData
        Cells and genes, in memory, backed by a file or with Dask arrays; the latter two are
        read by blocks of rows (extra ``dask``).
    n_components : int or "auto", default="auto"
        Number of components and clusters; ``"auto"`` recommends one.
    layer : str, default=None
        Layer to take in place of X. Where X is scaled (it has negative values) ``adata.raw`` is
        taken instead.
    mask_var : str or array of bool of shape (n_vars,), default=None
        Genes to use, or the column of ``var`` that says which; all by default.
    labels_key : str, default=None
        Column of ``obs`` with the kinds of some cells, missing where they are not known: they
        guide the fit, and its clusters bear their names (:class:`fnmf.SemiFNMF`, whose
        ``"auto"`` takes as many clusters as there are kinds).
    key_added : str, default="fnmf"
        Begins the names of all results.
    rng : int, Generator, RandomState or None, default=None
        Seed or source of random numbers.
    copy : bool, default=False
        Leave ``adata`` as it is and return a copy with the results.
    **parameters
        Other parameters of :class:`fnmf.FNMF`, or of :class:`fnmf.SemiFNMF` with ``labels_key``;
        and ``batch_key``, a column of ``obs`` with batches: neighbours are taken from all of them
        alike, and relevance is that within batches, see :meth:`fnmf.FNMF.fit`. Not with
        ``labels_key``.

    Returns
    -------
    AnnData or None
        A copy with the results if ``copy``. They are, with the default ``key_added``:

        ``obs["fnmf"]``, ``obs["fnmf_confidence"]``
            Cluster of each cell, categorical, and the probability that the cell is of the kind
            of its cluster. With ``labels_key`` the kind of each cell, by its name.
        ``obsm["X_fnmf"]``
            Representation, one column for each component.
        ``varm["fnmf"]``
            Components, 0 for genes that ``mask_var`` left out.
        ``var["fnmf_relevance"]``, ``var["fnmf_qvalue"]``
            Share of the variance of each gene that the clusters explain, and its q-value; NaN for
            genes that were left out.
        ``var["fnmf_batch_relevance"]``
            With ``batch_key``: share of the variance of each gene that batches explain.
        ``obsp["fnmf_connectivities"]``
            The neighbour graph; none of more than 10,000 cells, which are held to anchors.
        ``uns["fnmf"]``
            Parameters, the matrix and the normalisation used, the scores of numbers of clusters,
            and the place of the graph: ``sc.tl.umap(adata, neighbors_key="fnmf")`` works.

    Examples
    --------
    >>> import anndata as ad
    >>> import fnmf.scverse as fv
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> X, _ = make_noisy_gaussians(300, random_state=0)
    >>> adata = ad.AnnData(X)
    >>> fv.tl.fnmf(adata, 3, rng=0)
    >>> adata.obs["fnmf"].cat.categories.tolist()
    ['0', '1', '2']
    """
    data = adata.copy() if copy else adata
    genes = _chosen(data, mask_var)
    matrix = matrix_of(data, layer, genes)
    batch_key = parameters.pop("batch_key", None)
    kinds = _known(data, labels_key)
    build = FNMF if kinds is None else SemiFNMF
    given: dict[str, Any] = (
        {} if batch_key is None else {"batch": _batches(data, batch_key, labels_key)}
    )
    model = build(n_components, random_state=rng, **parameters).fit(matrix.X, kinds, **given)
    _write_cells(data, model, key_added)
    _write_genes(data, model, key_added, genes)
    data.uns[key_added] = _record(model, matrix, key_added)
    return data if copy else None


def _chosen(adata: Any, mask_var: Any) -> np.ndarray | None:
    """Which genes to use; None for all."""
    if mask_var is None:
        return None
    if isinstance(mask_var, str) and mask_var not in adata.var:
        raise ValueError(f"mask_var={mask_var!r} is no column of adata.var: {list(adata.var)}.")
    mask = np.asarray(adata.var[mask_var] if isinstance(mask_var, str) else mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,) or not mask.any():
        raise ValueError(
            f"mask_var must be true or false for each of the {adata.n_vars} genes, and true for "
            "some of them."
        )
    return mask


def _batches(adata: Any, batch_key: str, labels_key: str | None) -> np.ndarray:
    """The batch of each cell."""
    if labels_key is not None:
        raise ValueError("batch_key does not go with labels_key; leave one of them out.")
    if batch_key not in adata.obs:
        raise ValueError(f"batch_key={batch_key!r} is no column of adata.obs: {list(adata.obs)}.")
    return adata.obs[batch_key].to_numpy()


def _known(adata: Any, labels_key: str | None) -> np.ndarray | None:
    """Kinds of the cells as text, empty where they are not known; None without ``labels_key``."""
    if labels_key is None:
        return None
    if labels_key not in adata.obs:
        raise ValueError(f"labels_key={labels_key!r} is no column of adata.obs: {list(adata.obs)}.")
    column = adata.obs[labels_key]
    return np.where(column.isna(), "", column.astype(str))


def _here(values: Any) -> np.ndarray:
    return np.asarray(values.compute() if is_dask(values) else values)


def _write_cells(adata: Any, model: FNMF, key: str) -> None:
    from pandas import Categorical

    labels = _here(model.labels_)
    names = [str(name) for name in getattr(model, "classes_", range(labels.max() + 1))]
    # -1, a cell that no known kind reaches, takes the last one.
    adata.obs[key] = Categorical(np.array([*names, None], object)[labels], categories=names)
    confidence = getattr(model, "sample_confidence_", None)
    if confidence is not None:
        adata.obs[f"{key}_confidence"] = _here(confidence)
    adata.obsm[f"X_{key}"] = _here(model.embedding_)
    graph = getattr(model, "graph_", None)
    if graph is not None:
        if hasattr(model, "graph_rows_"):
            # Cells without weight have no neighbours.
            counting = np.flatnonzero(model.graph_rows_ >= 0)
            places = counting, model.graph_rows_[counting]
            cells = sp.csr_array((np.ones(len(counting)), places), (adata.n_obs, graph.shape[0]))
            graph = sp.csr_array(cells @ graph @ cells.T)
        adata.obsp[f"{key}_connectivities"] = graph


def _write_genes(adata: Any, model: FNMF, key: str, genes: np.ndarray | None) -> None:
    used = np.ones(adata.n_vars, bool) if genes is None else genes
    components = np.zeros((adata.n_vars, len(model.components_)), model.components_.dtype)
    components[used] = model.components_.T
    adata.varm[key] = components
    attributes = {
        "relevance": "feature_relevance_",
        "qvalue": "feature_qvalues_",
        "batch_relevance": "batch_relevance_",
    }
    for name, kept in attributes.items():
        values = getattr(model, kept, None)
        if values is not None:
            column = np.full(adata.n_vars, np.nan)
            column[used] = values
            adata.var[f"{key}_{name}"] = column


def _record(model: FNMF, matrix: Matrix, key: str) -> dict[str, Any]:
    """What was done, in types that a file of AnnData can hold."""
    plain = (bool, int, float, str, np.generic)
    given = model.get_params(deep=False)
    params = {name: value for name, value in given.items() if isinstance(value, plain)}
    # As scanpy keeps neighbours, so that its functions take ours by neighbors_key.
    params |= {"method": "umap", "use_rep": f"X_{key}"}
    record: dict[str, Any] = {
        "params": params,
        "connectivities_key": f"{key}_connectivities",
        # Asked for by scanpy, which does without them.
        "distances_key": f"{key}_distances",
        "matrix": matrix.source,
        "normalization": matrix.normalization,
        "n_clusters": model.n_clusters or len(model.components_),
        "fnmf": __version__,
    }
    scores = getattr(model, "k_scores_", None)
    if scores is not None:
        number = {name: np.asarray(scores[name]) for name in scores.dtype.names}
        interval, also = np.asarray(model.k_interval_), np.asarray(model.k_also_, np.int64)
        record["number"] = {**number, "interval": interval, "also": also}
    if getattr(model, "structure_found_", None) is not None:
        record["structure_found"] = bool(model.structure_found_)
    return record
