"""Why a sample is in its cluster: what pulls it there, what speaks against, what would change it.

A cluster is compared with the second-best one where the fit measures distances: with rows prepared
and features weighted as they were then. Feature k pulls a sample z to cluster a rather than b by
(z_k − μ_bk)² − (z_k − μ_ak)². All values are told in the units of the data.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import neighbors_of
from fnmf.data import View, has_missing, view_of
from fnmf.display import number, visible
from fnmf.execution import Runner

__all__ = ["Change", "Evidence", "Explanation", "Neighbour"]

_NEIGHBOURS = 5
# Features that are changed at most before a sample is said not to move.
_MOST_CHANGES = 64


@dataclass(frozen=True)
class Evidence:
    """What one feature says.

    Attributes
    ----------
    feature : str
        Its name.
    index : int
        Its position.
    value : float
        Of the sample.
    own, second : float
        Mean in its cluster and in the second-best one.
    share : float
        Its share in all that is said, positive for the cluster of the sample.
    """

    feature: str
    index: int
    value: float
    own: float
    second: float
    share: float

    def __str__(self) -> str:
        return (
            f"{self.feature} {number(self.value)} "
            f"(cluster mean {number(self.own)}, second-best {number(self.second)})"
        )


@dataclass(frozen=True)
class Neighbour:
    """A near sample of the fit: its position among the rows kept, its cluster, how far it is."""

    index: int
    cluster: int
    distance: float


@dataclass(frozen=True)
class Change:
    """A feature that would have to change, and to what."""

    feature: str
    index: int
    value: float
    to: float

    def __str__(self) -> str:
        return f"{self.feature} from {number(self.value)} to {number(self.to)}"


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a sample is in its cluster.

    Attributes
    ----------
    cluster, second : int
        Its cluster and the second-best one, the same if there is only one.
    confidence : float or None
        Of the fit; ``None`` for new rows.
    pulls, against : tuple of Evidence
        Features that pull it to its cluster and that speak for the second-best, strongest first.
    nearest : tuple of Neighbour
        The nearest samples of the fit, but not itself.
    changes : tuple of Change
        The fewest features, taken by their pull, that move the sample if they become as they
        are in the second-best cluster on average. Empty if nothing of the kind does.
    becomes : int or None
        The cluster that it then moves to.
    """

    cluster: int
    second: int
    confidence: float | None
    pulls: tuple[Evidence, ...]
    against: tuple[Evidence, ...]
    nearest: tuple[Neighbour, ...]
    changes: tuple[Change, ...]
    becomes: int | None

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        sure = "" if self.confidence is None else f", confidence {self.confidence:.2f}"
        shown = f"cluster {self.cluster}{sure}; second-best is cluster {self.second}"
        head = "<tr><th>feature</th><th>value</th><th>mean in cluster</th>"
        head += "<th>mean in second-best</th><th>speaks for it</th></tr>"
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(one.feature)}</th>"
            + "".join(f"<td>{number(value)}</td>" for value in (one.value, one.own, one.second))
            + f"<td>{one.share:+.0%}</td></tr>"
            for one in (*self.pulls, *self.against)
        )
        moved = "" if self.becomes is None else html.escape(str(self).rsplit("\n", 1)[-1].strip())
        body = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
        return f"<p>{html.escape(shown)}</p>{body}<p>{moved}</p>"

    def to_frame(self) -> Any:
        """A data frame with a row for each feature told, strongest for it first; needs pandas."""
        import pandas as pd

        names = ("feature", "value", "own", "second", "share")
        rows = [[getattr(one, name) for name in names] for one in (*self.pulls, *self.against)]
        return pd.DataFrame(rows, columns=list(names))

    def __str__(self) -> str:
        sure = "" if self.confidence is None else f", confidence {self.confidence:.2f}"
        if self.second == self.cluster:
            return f"cluster {self.cluster}, the only one"
        lines = [f"cluster {self.cluster}{sure}; second-best is cluster {self.second}"]
        for title, entries in (("for it", self.pulls), ("against", self.against)):
            lines += [f"  {title}: {entry} {abs(entry.share):.0%}" for entry in entries]
        near = ", ".join(f"{one.index} (cluster {one.cluster})" for one in self.nearest)
        lines.append(f"  nearest samples: {near}")
        if self.becomes is None:
            lines.append("  no change of these features alone would move it")
        else:
            shown = ", ".join(str(change) for change in self.changes)
            lines.append(f"  it would be in cluster {self.becomes} with {shown}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Case:
    """A sample and all that is needed to explain it.

    Attributes
    ----------
    row : ndarray of shape (1, d) or csr_array
        The sample, in the units of the fit.
    there : tuple of View
        The sample and the rows kept from the fit, where distances count.
    rows, labels : array of shape (r, d) and (r,)
        Rows kept from the fit, in its units, and their clusters.
    cluster, second : int
        The two clusters to compare.
    own : int or None
        Position of the sample among the rows kept, if it is one of them.
    confidence : float or None
        If it is known.
    predict : callable
        Clusters of rows in the units of the fit.
    told : pair of array, or None
        The sample and the rows kept in the units to be told, if these are others.
    names : sequence of str, or None
        Names of the features.
    missing : ndarray of bool of shape (d,), or None
        Cells of the sample that are missing: nothing is said of them.
    places : ndarray of int of shape (r,), or None
        The sample that each of the rows kept is, if they are not the samples in their order.
    """

    row: Any
    there: tuple[View, View]
    rows: Any
    labels: np.ndarray
    cluster: int
    second: int
    own: int | None
    confidence: float | None
    predict: Callable[[Any], np.ndarray]
    told: tuple[Any, Any] | None = None
    names: Sequence[Any] | None = None
    top: int = 5
    missing: np.ndarray | None = None
    places: np.ndarray | None = None
    runner: Runner = field(kw_only=True)


def explained(case: Case) -> Explanation:
    """All there is to say about a sample."""
    nearest = _nearest(case)
    if case.second == case.cluster:
        none: tuple[Evidence, ...] = ()
        return Explanation(
            case.cluster, case.second, case.confidence, none, none, nearest, (), None
        )
    pull = _pull(case)
    if case.missing is not None:
        pull[case.missing] = 0
    sample, rows = case.told or (case.row, case.rows)
    values = _dense(sample)[0]
    own, second = (_mean(rows, case.labels == a) for a in (case.cluster, case.second))
    total = max(float(np.abs(pull).sum()), np.finfo(float).tiny)

    def evidence(k: int) -> Evidence:
        name = f"feature {k}" if case.names is None else visible(case.names[k])
        figures = (float(array[k]) for array in (values, own, second, pull / total))
        return Evidence(name, int(k), *figures)

    order = np.argsort(-pull, kind="stable")
    forward = [evidence(k) for k in order[: case.top] if pull[k] > 0]
    backward = [evidence(k) for k in order[::-1][: case.top] if pull[k] < 0]
    moved, becomes = _change(case, order[pull[order] > 0][:_MOST_CHANGES])
    changes = [Change(e.feature, e.index, e.value, e.second) for e in map(evidence, moved)]
    return Explanation(
        case.cluster,
        case.second,
        case.confidence,
        tuple(forward),
        tuple(backward),
        nearest,
        tuple(changes),
        becomes,
    )


def first_samples(kept_at: np.ndarray | None, n_kept: int) -> np.ndarray | None:
    """The first sample that each of the rows kept is, if equal samples are kept once."""
    if kept_at is None:
        return None
    first = np.zeros(n_kept, np.intp)
    counting = np.flatnonzero(kept_at >= 0)[::-1]
    first[kept_at[counting]] = counting
    return first


def _nearest(case: Case) -> tuple[Neighbour, ...]:
    new, there = case.there
    k = min(_NEIGHBOURS + 1, there.shape[0] - 1)
    if k < 1:
        return ()
    indices, squares = neighbors_of(there, k, case.runner, queries=new)
    pairs = zip(indices[0].tolist(), np.sqrt(squares[0]).tolist(), strict=True)
    places = np.arange(there.shape[0]) if case.places is None else case.places
    found = [
        Neighbour(int(places[i]), int(case.labels[i]), gap) for i, gap in pairs if i != case.own
    ]
    return tuple(found[:_NEIGHBOURS])


def _pull(case: Case) -> np.ndarray:
    """How much each feature speaks for the cluster and not for the second-best, (d,)."""
    new, there = case.there
    z = _dense(new.exact(0, 1))[0]
    means = [_mean_of_view(there, case.labels == a) for a in (case.cluster, case.second)]
    gain = (z - means[1]) ** 2 - (z - means[0]) ** 2
    d = case.row.shape[1]
    if len(gain) == d:
        return gain
    pull = np.zeros(d)
    pull[new.kept] = gain
    return pull


def _change(case: Case, order: np.ndarray) -> tuple[np.ndarray, int | None]:
    """The first features of ``order`` that move the sample if set to the second-best's means."""
    if not len(order):
        return order, None
    target = _mean(case.rows, case.labels == case.second)
    row = _dense(case.row)[0]
    tries = np.repeat(row[None], len(order), axis=0)
    for number_, k in enumerate(order):
        tries[number_:, k] = target[k]
    tries = tries.astype(case.row.dtype)
    found = case.predict(sp.csr_array(tries) if sp.issparse(case.row) else tries)
    moved = np.flatnonzero(found != case.cluster)
    if not len(moved):
        return order[:0], None
    return order[: moved[0] + 1], int(found[moved[0]])


def _mean(rows: Any, members: np.ndarray) -> np.ndarray:
    """Mean of the observed cells of some rows."""
    if not has_missing(rows):
        return _mean_of_view(view_of(rows), members)
    chosen = np.asarray(rows)[members]
    known = np.count_nonzero(~np.isnan(chosen), axis=0)
    return np.nansum(chosen, axis=0, dtype=np.float64) / np.maximum(known, 1)


def _mean_of_view(view: View, members: np.ndarray) -> np.ndarray:
    """Mean of some rows, block by block."""
    total, count = np.zeros(view.shape[1]), max(int(members.sum()), 1)
    for start, stop in view.blocks():
        chosen = members[start:stop].astype(float)
        if chosen.any():
            total += np.asarray(view.exact(start, stop).T @ chosen).ravel()
    return total / count


def _dense(rows: Any) -> np.ndarray:
    is_sparse: bool = sp.issparse(rows)
    return np.asarray(rows.toarray() if is_sparse else rows, dtype=np.float64)
