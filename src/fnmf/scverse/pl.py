"""Plots of what :func:`fnmf.scverse.tl.fnmf` wrote; needs matplotlib (extra ``plot``)."""

from typing import Any

import numpy as np

__all__ = ["n_clusters", "weights"]

_GREY, _BLUE, _RED = "#9db4c8", "#3b82c4", "#c2502e"
# q-values below this are called a discovery.
_DISCOVERY = 0.05


def weights(
    adata: Any,
    n_genes: int = 20,
    *,
    key: str = "fnmf",
    gene_symbols: str | None = None,
    ax: Any = None,
) -> Any:
    """Genes by their relevance, largest first.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`fnmf.scverse.tl.fnmf`.
    n_genes : int, default=20
        How many.
    key : str, default="fnmf"
        ``key_added`` of the results.
    gene_symbols : str, default=None
        Column of ``var`` with names to show.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Genes whose q-value is below 0.05 are blue, others grey.
    """
    relevance = _column(adata, f"{key}_relevance", key)
    found = np.argsort(-np.nan_to_num(relevance, nan=-1.0), kind="stable")[:n_genes]
    found = found[~np.isnan(relevance[found])][::-1]
    named = adata.var_names if gene_symbols is None else adata.var[gene_symbols]
    names = np.asarray(named, str)[found]
    qvalues = np.asarray(adata.var.get(f"{key}_qvalue", np.zeros(adata.n_vars)), float)[found]
    axes = _axes(ax, (4.5, 0.8 + 0.22 * len(found)))
    colours = np.where(qvalues < _DISCOVERY, _BLUE, _GREY)
    axes.barh(np.arange(len(found)), relevance[found], color=colours.tolist())
    axes.set_yticks(np.arange(len(found)), [_literal(name) for name in names])
    axes.set_xlabel("share of the gene's variance between clusters")
    axes.set_xlim(0, 1)
    return axes


def n_clusters(adata: Any, *, key: str = "fnmf", ax: Any = None) -> Any:
    """Scores of all numbers of clusters, and the one that was taken.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`fnmf.scverse.tl.fnmf` for ``n_components="auto"``.
    key : str, default="fnmf"
        ``key_added`` of the results.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Scores with their uncertainty; shaded are the numbers that can be defended too.
    """
    record = adata.uns.get(key, {})
    if "number" not in record:
        raise ValueError(
            f'adata.uns["{key}"] holds no choice of a number; run fnmf.scverse.tl.fnmf with '
            'n_components="auto".'
        )
    number = record["number"]
    taken = int(record["n_clusters"])
    low, high = (int(bound) for bound in number["interval"])
    axes = _axes(ax, (5.0, 3.2))
    axes.axvspan(low - 0.4, high + 0.4, color=_GREY, alpha=0.3, lw=0)
    axes.errorbar(
        number["k"], number["score"], yerr=number["spread"], color=_BLUE, marker="o", ms=4
    )
    axes.axvline(taken, color=_RED)
    axes.set_xlabel(f"number of clusters (taken: {taken})")
    axes.set_ylabel("score")
    return axes


def _column(adata: Any, name: str, key: str) -> np.ndarray:
    if name not in adata.var:
        raise ValueError(
            f"adata.var has no column {name!r}; run fnmf.scverse.tl.fnmf(adata, "
            f'key_added="{key}") first.'
        )
    return np.asarray(adata.var[name], float)


def _literal(name: str) -> str:
    """A name as it is: a dollar sign begins no formula."""
    return name.replace("$", r"\$")


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]
