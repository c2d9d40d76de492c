"""The parameters of FNMF, checked when it is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fnmf._validation import Data, check_choice, check_integer, check_jobs, check_real

if TYPE_CHECKING:
    from fnmf._fnmf import FNMF


def check_parameters(model: FNMF) -> None:
    """Each parameter by itmodel."""
    check_integer("n_components", model.n_components, low=1)
    check_integer("n_weightings", model.n_weightings, low=1)
    check_real("diversity", model.diversity)
    check_real("smoothness", model.smoothness)
    check_integer("n_neighbors", model.n_neighbors, low=1)
    if isinstance(model.graph, str):
        check_choice("graph", model.graph, ("adaptive", "approximate"))
    check_choice("weighting", model.weighting, ("relevance", "paper", "uniform"))
    if model.graph_refresh is not None:
        check_integer("graph_refresh", model.graph_refresh, low=0)
    check_choice("assignment", model.assignment, ("sample", "shared"))
    check_choice("solver", model.solver, ("mu", "mu-fast", "hals"))
    if isinstance(model.init, str):
        check_choice("init", model.init, ("random", "nndsvda", "kmeans"))
    if model.n_clusters is not None:
        check_integer("n_clusters", model.n_clusters, low=1)
    check_integer("max_iter", model.max_iter, low=1)
    check_real("tol", model.tol)
    check_integer("n_init", model.n_init, low=1)
    check_jobs(model.n_jobs)
    if not isinstance(model.verbose, (bool, np.bool_)):
        check_integer("verbose", model.verbose, low=0)
    if not isinstance(model.normalize_components, (bool, np.bool_)):
        raise TypeError(
            f"normalize_components must be True or False, got {model.normalize_components!r}."
        )


def check_sizes(model: FNMF, data: Data) -> None:
    """Parameters that must fit the number of samples."""
    n_samples = data.shape[0]
    needed = {"n_components": model.n_components, "n_clusters": model._n_clusters()}
    for name, number in needed.items():
        if number > n_samples:
            raise ValueError(
                f"{name}={number} is more than the {n_samples} samples of X "
                f"(n_samples = {n_samples}); lower {name} or pass more samples."
            )
