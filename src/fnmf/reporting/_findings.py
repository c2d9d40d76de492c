"""What to know before trusting the result, the grave things first."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fnmf.choosing import Agreement
from fnmf.display import counted, listed
from fnmf.factorization.terms import collapsed, effective_features, empty_share
from fnmf.statistics import Statistics

_UNSURE = 0.5
# Share of a feature's variance between batches from which it is named, how many are, and how well
# the batches of a cluster must be mixed to count as one group.
_BATCH_EFFECT, _SHOWN, _MIXED = 0.1, 5, 0.8


def findings(
    model: Any,
    stats: Statistics,
    matters: np.ndarray,
    agreement: Agreement | None,
    unit: str,
    names: list[str],
) -> list[dict[str, str]]:
    """Level, title and one or two sentences each; level is good, note or warn."""
    found: list[dict[str, str]] = []
    found += _structure(model)
    weights = getattr(model, "feature_weights_", None)
    if weights is not None:
        found.append(_spread(np.atleast_2d(np.asarray(weights, dtype=float)), model, stats))
    if len(stats.sizes) > 1 and not matters.any():
        text = "No feature differs between the clusters more than chance would have it."
        if getattr(model, "structure_found_", None) is False:
            text = "None counts as relevant: any cut through the samples divides some features."
        found.append(_finding("warn", "Features", text))
    found += _batches(model, stats, names)
    found += _confidence(model, unit)
    if agreement is not None:
        found.append(_stability(agreement.samples, unit))
    graph = getattr(model, "graph_", None)
    if sp.issparse(graph):
        found.append(_components(graph, len(stats.sizes)))
    found += _convergence(model)
    small = int((stats.sizes < max(2, 0.005 * stats.sizes.sum())).sum())
    if small:
        holds = "holds" if small == 1 else "hold"
        text = (
            f"{small} of {counted(len(stats.sizes), 'clusters')} {holds} next to no {unit}; "
            "try fewer clusters."
        )
        found.append(_finding("warn", "Tiny clusters", text))
    return sorted(found, key=lambda f: ("warn", "note", "good").index(f["level"]))


def stability_word(value: float) -> str:
    """A word for how often a cluster comes back."""
    return "solid" if value >= 0.75 else "soft" if value >= 0.5 else "not reproducible"


def _finding(level: str, title: str, text: str) -> dict[str, str]:
    return {"level": level, "title": title, "text": text}


def _structure(model: Any) -> Iterable[dict[str, str]]:
    if getattr(model, "structure_found_", None) is False:
        text = (
            "No structure was found: shuffled data give clusters that are as clear. "
            "What follows describes a division of the samples, not groups that exist."
        )
        yield _finding("warn", "No clusters", text)


def _batches(model: Any, stats: Statistics, names: list[str]) -> Iterable[dict[str, str]]:
    """Whether clusters hold all batches, and which features tell these apart instead of groups."""
    mixing, effect = (getattr(model, name, None) for name in ("batch_mixing_", "batch_relevance_"))
    if mixing is None or effect is None:
        return
    effect, relevant = np.asarray(effect), np.asarray(model.feature_relevance_)
    apart = np.flatnonzero((effect > relevant) & (effect > _BATCH_EFFECT))
    usual = float(mixing @ stats.sizes / stats.sizes.sum())
    text = f"Batches are mixed within clusters by {usual:.0%} of what is possible "
    text += f"(least mixed cluster {float(np.min(mixing)):.0%})."
    if len(apart):
        first = apart[np.argsort(-effect[apart], kind="stable")][:_SHOWN]
        shown = listed([names[k] for k in first])
        more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
        text += f" These features separate batches, not groups: {shown}{more}."
    level = "good" if float(np.min(mixing)) >= _MIXED else "note"
    yield _finding(level, "Batches", text)


def _confidence(model: Any, unit: str) -> Iterable[dict[str, str]]:
    values = getattr(model, "sample_confidence_", None)
    if values is None:
        return
    values = np.asarray(values, dtype=float)
    unsure = int((values < _UNSURE).sum())
    text = f"{unsure:,} of {counted(len(values), unit)} could as well be in another cluster "
    text += f"(confidence below {_UNSURE}); median confidence {np.median(values):.2f}."
    level = "warn" if unsure > 0.25 * len(values) else "good"
    yield _finding(level, "Confidence", text)


def _spread(weights: np.ndarray, model: Any, stats: Statistics) -> dict[str, str]:
    assignments = getattr(model, "assignments_", None)
    shares = (
        np.full(len(weights), 1 / len(weights))
        if assignments is None
        else np.asarray(assignments, dtype=float).mean(axis=0)
    )
    shown = ", ".join(f"{value:.1f}" for value in effective_features(weights)[:8])
    text = f"The weights rest on about {shown} of {counted(weights.shape[1], 'features')}."
    if getattr(model, "weighting", "paper") == "paper":
        on_empty = float(shares @ empty_share(weights, stats.energy))
        text += f" Nearly empty features hold {on_empty:.0%} of the weight."
    rank = getattr(model, "n_components", len(stats.sizes))
    rank = rank if isinstance(rank, int | np.integer) else len(stats.sizes)
    # Relevance weights are few where few features matter; that is no collapse.
    if str(getattr(model, "weighting", "paper")) == "paper" and collapsed(
        shares @ weights, stats.energy, int(rank)
    ):
        text += (
            " The weights have collapsed onto a few features and say little about the clusters; "
            'fit again with weighting="relevance".'
        )
        return _finding("warn", "Feature weights", text)
    return _finding("good", "Feature weights", text)


def _components(graph: Any, n_clusters: int) -> dict[str, str]:
    n_samples = graph.shape[0]
    if graph.shape[0] != graph.shape[1]:
        # Samples linked to prototypes instead of to each other.
        graph = sp.block_array([[None, graph], [graph.T, None]], format="csr")
    _, part = connected_components(graph, directed=False)
    sizes = np.sort(np.unique(part[:n_samples], return_counts=True)[1])[::-1]
    count = len(sizes)
    shown = ", ".join(str(size) for size in sizes[:6]) + (", …" if count > 6 else "")
    text = f"The neighbour graph has {count} connected parts, of {shown} samples."
    if count == 1:
        text = "The neighbour graph is connected."
    if count > n_clusters:
        text += (
            f" That is more than the {counted(n_clusters, 'clusters')}, so that smoothness "
            "cannot join them; a larger n_neighbors connects more samples."
        )
        return _finding("note", "Neighbour graph", text)
    return _finding("good", "Neighbour graph", text)


def _convergence(model: Any) -> list[dict[str, str]]:
    n_iter, limit = getattr(model, "n_iter_", None), getattr(model, "max_iter", None)
    if n_iter is None or limit is None:
        return []
    history = getattr(model, "history_", None)
    if "round" in (getattr(getattr(history, "dtype", None), "names", None) or ()):
        # The limit holds for each round; the last one decides.
        n_iter = int((history["round"] == history["round"][-1]).sum())  # type: ignore[index]
    if n_iter >= limit and getattr(model, "weighting", "paper") == "relevance":
        text = (
            f"The representation still changed a little at the limit of {limit} iterations. "
            "Features and clusters were found before; only rows at a border could still move. If "
            "you use the representation, raise max_iter."
        )
        return [_finding("note", "Representation", text)]
    if n_iter >= limit:
        text = f"The fit stopped at its limit of {limit} iterations; raise max_iter."
        return [_finding("warn", "Convergence", text)]
    text = f"The fit settled after {n_iter} iterations (limit {limit})."
    return [_finding("good", "Convergence", text)]


def _stability(agreement: np.ndarray, unit: str) -> dict[str, str]:
    lowest, mean = float(agreement.min()), float(agreement.mean())
    text = (
        f"{counted(len(agreement), 'fits')} from other random starts put {mean:.0%} of the {unit} "
        f"into the same clusters on average (lowest {lowest:.0%})."
    )
    if mean < 0.8:
        text += " The clusters depend on the start: treat them with care, or try another number."
        return _finding("warn", "Stability", text)
    return _finding("good", "Stability", text)
