"""The parameters of FNMF as values: checked all together, before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, Self

import numpy as np

from fnmf.data import Data, is_dask, working_dtype
from fnmf.validation import (
    STARTS,
    check_choice,
    check_components,
    check_graph,
    check_groups,
    check_init,
    check_integer,
    check_jobs,
    check_real,
    check_weights,
)


@dataclass(frozen=True)
class Settings:
    """What a fit was asked for; the fields are explained at :class:`fnmf.FNMF`."""

    n_components: Any
    n_weightings: int
    diversity: float
    smoothness: float
    representation: str
    n_neighbors: int
    graph: Any
    weighting: Any
    graph_refresh: int | None
    assignment: str
    solver: str
    init: Any
    row_norm: str
    column_units: str
    normalize_components: bool
    n_clusters: int | None
    consensus: int | None
    max_iter: int
    tol: float
    n_init: int
    n_jobs: int | None
    verbose: int
    negative: str
    layers: tuple[int, ...] = ()
    feature_groups: Any = None
    # The kind of each feature that was given, "" for the others.
    column_kinds: np.ndarray | None = None
    # The batch of each row of the data, counted from 0; no parameter, but part of a fit.
    batch: np.ndarray | None = None
    components: Any = None
    warm_start: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Settings from what an estimator keeps under their names, each checked by itself."""
        names = [field.name for field in fields(cls) if field.default is MISSING]
        settings = cls(
            **{name: _plain(name, parameters) for name in names},
            layers=tuple(parameters.get("layers", ())),
            feature_groups=parameters.get("feature_groups"),
            components=parameters.get("components"),
            warm_start=bool(parameters.get("warm_start", False)),
        )
        settings._check()
        return settings

    def _check(self) -> None:
        if not self.automatic:
            check_integer("n_components", self.n_components, low=1, or_else="auto")
        check_integer("n_weightings", self.n_weightings, low=1)
        check_real("diversity", self.diversity)
        check_real("smoothness", self.smoothness)
        check_choice("representation", self.representation, ("auto", "clusters", "parts"))
        check_integer("n_neighbors", self.n_neighbors, low=1)
        if isinstance(self.graph, str):
            check_choice("graph", self.graph, ("adaptive", "approximate"))
        if isinstance(self.weighting, str):
            check_choice("weighting", self.weighting, ("relevance", "paper", "uniform"))
        else:
            check_weights(self.weighting)
        check_choice("negative", self.negative, ("error", "shift"))
        if self.graph_refresh is not None:
            check_integer("graph_refresh", self.graph_refresh, low=0)
        check_choice("assignment", self.assignment, ("sample", "shared"))
        check_choice("solver", self.solver, ("mu", "mu-fast", "hals"))
        if isinstance(self.init, str):
            check_choice("init", self.init, STARTS)
        check_choice("row_norm", self.row_norm, ("auto", "unit", "none"))
        check_choice("column_units", self.column_units, ("auto", "own", "typical", "spread"))
        for size in self.layers:
            check_integer("layers", size, low=1)
        if self.n_clusters is not None:
            check_integer("n_clusters", self.n_clusters, low=1)
        if self.consensus is not None:
            check_integer("consensus", self.consensus, low=2)
        check_integer("max_iter", self.max_iter, low=1)
        check_real("tol", self.tol)
        check_integer("n_init", self.n_init, low=1)
        check_jobs(self.n_jobs)
        if not isinstance(self.verbose, (bool, np.bool_)):
            check_integer("verbose", self.verbose, low=0)
        if not isinstance(self.normalize_components, (bool, np.bool_)):
            raise TypeError(
                f"normalize_components must be True or False, got {self.normalize_components!r}."
            )

    def for_data(self, data: Data) -> Self:
        """The same with a graph and a start of the user's checked against the data."""
        n_samples = data.shape[0]
        asked = [("n_clusters", self.n_clusters), ("n_components", self.n_components)]
        asked += [("layers", size) for size in self.layers]
        for name, number in asked:
            if number is not None and number > n_samples:
                raise ValueError(
                    f"{name}={number} is more than the {n_samples} samples of X "
                    f"(n_samples = {n_samples}); lower {name} or pass more samples."
                )
        if self.builds_graph and n_samples < self.n_neighbors + 2:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} needs at least {self.n_neighbors + 2} samples, "
                f"got n_samples={n_samples}; lower n_neighbors."
            )
        if is_dask(data):
            self._check_remote()
        weighting = self.weighting
        if self.scheme == "given":
            weighting = check_weights(weighting, data.shape[1])
        graph = self.graph
        if not (graph is None or self.builds_graph):
            graph = check_graph(graph, n_samples, working_dtype(data.dtype))
        groups, init, known = self.feature_groups, self.init, self.components
        if groups is not None:
            groups = check_groups(groups, data.shape[1])
        if not (isinstance(init, str) and init == "kmeans"):
            init = check_init(init, data, self.n_components)
        if known is not None:
            known = check_components(known, self.n_components, data.shape[1])
        if known is not None and (self.scheme == "paper" or is_dask(data)):
            raise ValueError(
                'components needs data in memory and a weighting that is not "paper", whose '
                "components depend on the weights that it learns."
            )
        return replace(
            self,
            graph=graph,
            init=init,
            weighting=weighting,
            feature_groups=groups,
            components=known,
        )

    def with_kinds(self, kinds: np.ndarray | None) -> Self:
        """The same for columns of given kinds, which only tables have."""
        if kinds is None:
            return self
        if self.scheme != "relevance":
            raise ValueError(
                'column_kinds says how columns are weighted; use weighting="relevance".'
            )
        return replace(self, column_kinds=kinds)

    def with_batch(self, batch: np.ndarray) -> Self:
        """The same for rows that come in batches."""
        if self.scheme != "relevance" or self.graph is None or self.consensus is not None:
            raise ValueError(
                'batch balances the neighbours of a graph; use weighting="relevance", a graph, and '
                "no consensus."
            )
        return replace(self, batch=batch)

    def _check_remote(self) -> None:
        """What needs all samples in one place cannot have them on a cluster."""
        if self.graph is None:
            return
        if not (isinstance(self.graph, str) and self.graph == "adaptive"):
            raise ValueError(
                'graph must be "adaptive", which holds the rows of a Dask array to some of them, '
                "or None; other graphs need all rows in one place."
            )
        if self.scheme != "relevance":
            raise ValueError(
                f'weighting="{self.scheme}" builds its graph from all rows in one place, which '
                'a Dask array does not have; use weighting="relevance", or graph=None.'
            )
        if self.in_turn:
            raise ValueError(
                f'solver="{self.solver}" takes samples one after the other and needs lists of '
                'neighbours, which the rows of a Dask array do not have; use "mu-fast", or '
                "graph=None."
            )

    def with_signs(self) -> Self:
        """The same for rows with negative values: 0 is no natural end of these.

        Rows keep their lengths unless asked for otherwise. Of directions units of the spread would
        say nothing.
        """
        if self.column_units == "typical":
            raise ValueError(
                'column_units="typical" divides by the mean of the positive values, which means '
                'nothing for features with negative values; use "spread", "own" or "auto".'
            )
        if self.row_norm != "unit":
            return replace(self, row_norm="none")
        units = "own" if self.column_units == "auto" else self.column_units
        return replace(self, column_units=units)

    @property
    def scheme(self) -> str:
        """Name of the way to fit: the weighting, or ``"given"`` for weights of the user's."""
        return self.weighting if isinstance(self.weighting, str) else "given"

    @property
    def signed(self) -> bool:
        """Whether rows with negative values are taken as they are, which no factorisation can."""
        return self.negative == "keep"

    @property
    def automatic(self) -> bool:
        """Whether the number of components is ours to choose."""
        return isinstance(self.n_components, str) and self.n_components == "auto"

    def with_components(self, n_components: int) -> Self:
        """The same with a number that was chosen."""
        return replace(self, n_components=n_components)

    @property
    def clusters(self) -> int:
        """How many clusters labels are for."""
        return self.n_components if self.n_clusters is None else self.n_clusters

    @property
    def builds_graph(self) -> bool:
        """Whether the neighbour graph is ours to build."""
        return isinstance(self.graph, str)

    @property
    def starts_itself(self) -> bool:
        """Whether the start needs no array with a row for every sample."""
        return isinstance(self.init, str) or hasattr(self.init, "fit")

    @property
    def search(self) -> str:
        """Name of the neighbour search."""
        return "faiss" if self.builds_graph and self.graph == "approximate" else "exact"

    @property
    def in_turn(self) -> bool:
        """Whether the solver updates samples one after the other, by lists of neighbours."""
        return self.solver == "hals"


def _plain(name: str, parameters: Mapping[str, Any]) -> Any:
    """A parameter; NumPy's integers as Python's, which neither overflow nor change a kernel."""
    if name not in parameters:
        raise TypeError(f"{name} is not set; __init__ of a subclass must call that of its parent.")
    value = parameters[name]
    return int(value) if isinstance(value, np.integer) else value
