"""Feature weights, how fits went, and whether the weights can be trusted."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fnmf.model.diagnosis import collapsed, effective_features, empty_share, overlap
from fnmf.reporting._images import heat_image
from fnmf.reporting._statistics import Statistics

TOP = 30
_MOST_SEARCHABLE = 20_000
_MOST_WEIGHTINGS = 24
_NEXT_TO_NOTHING = 1e-3


def weightings(model: Any, names: list[str], image_shape: tuple[int, ...] | None) -> dict[str, Any]:
    """The heaviest features of every weighting, and overall."""
    importances = getattr(model, "feature_importances_", None)
    weights = getattr(model, "feature_weights_", None)
    result: dict[str, Any] = {"overall": None, "each": [], "of": 0}
    if importances is not None:
        result["overall"] = _ranked(np.asarray(importances, dtype=float), names, image_shape)
    if weights is not None:
        matrix = np.atleast_2d(np.asarray(weights, dtype=float))
        result["of"] = len(matrix)
        usage = getattr(model, "assignments_", None)
        shares = np.full(len(matrix), np.nan) if usage is None else np.asarray(usage).mean(axis=0)
        for j, row in enumerate(matrix[:_MOST_WEIGHTINGS]):
            entry = _ranked(row, names, image_shape)
            entry["usage"] = (
                float(shares[j]) if j < len(shares) and np.isfinite(shares[j]) else None
            )
            result["each"].append(entry)
    return result


def _ranked(values: np.ndarray, names: list[str], shape: tuple[int, ...] | None) -> dict[str, Any]:
    order = top_indices(values, TOP)
    largest = float(values[order[0]]) if len(order) else 0.0
    # What weighs next to nothing is counted, not listed.
    order = [k for k in order if values[k] > _NEXT_TO_NOTHING * largest]
    square = float((values**2).sum())
    return {
        "features": [
            {
                "name": names[k],
                "value": float(values[k]),
                "share": float(values[k]) / largest if largest > 0 else 0.0,
            }
            for k in order
        ],
        "rest": int((values <= _NEXT_TO_NOTHING * largest).sum()),
        "effective": float(values.sum()) ** 2 / square if square > 0 else 0.0,
        "image": None if shape is None else heat_image(values.reshape(shape)),
    }


def top_indices(values: np.ndarray, count: int) -> list[int]:
    """Positions of the largest values, largest first; the earlier of equal ones first."""
    count = min(count, len(values))
    if count < len(values):
        border = np.partition(values, -count)[-count]
        candidates = np.flatnonzero(values >= border)
    else:
        candidates = np.arange(len(values))
    return candidates[np.argsort(-values[candidates], kind="stable")][:count].tolist()


def searchable(model: Any, stats: Statistics, names: list[str]) -> list[list[Any]]:
    """Name, importance, share of variance between clusters: the table behind the search box."""
    importances = getattr(model, "feature_importances_", None)
    key = stats.explained if importances is None else np.asarray(importances, dtype=float)
    return [
        [
            names[k],
            None if importances is None else _short(key[k]),
            _short(stats.explained[k]),
        ]
        for k in top_indices(key, _MOST_SEARCHABLE)
    ]


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def diagnosis(
    model: Any, stats: Statistics, stability: dict[str, Any] | None
) -> list[dict[str, str]]:
    """What to check before trusting the result: level, title and one or two sentences each."""
    findings = []
    weights = getattr(model, "feature_weights_", None)
    if weights is not None:
        matrix = np.atleast_2d(np.asarray(weights, dtype=float))
        findings.append(_spread(matrix, model, stats))
        if len(matrix) > 1:
            findings.append(_overlap(matrix))
    graph = getattr(model, "graph_", None)
    if sp.issparse(graph):
        findings.append(_components(graph, len(stats.sizes)))
    if stability is not None:
        findings.append(_stability(stability))
    findings += _convergence(model)
    small = int((stats.sizes < max(2, 0.005 * stats.sizes.sum())).sum())
    if small:
        text = (
            f"{small} of {len(stats.sizes)} clusters hold next to no samples; try fewer clusters."
        )
        findings.append(_finding("warn", "Tiny clusters", text))
    return findings


def _shares(weights: np.ndarray, model: Any) -> np.ndarray:
    """How much the mixtures of the samples use each weighting, on average."""
    assignments = getattr(model, "assignments_", None)
    if assignments is None:
        return np.full(len(weights), 1 / len(weights))
    return np.asarray(assignments, dtype=float).mean(axis=0)


def _finding(level: str, title: str, text: str) -> dict[str, str]:
    return {"level": level, "title": title, "text": text}


def _spread(weights: np.ndarray, model: Any, stats: Statistics) -> dict[str, str]:
    shares = _shares(weights, model)
    told = ", ".join(f"{value:.1f}" for value in effective_features(weights)[:8])
    on_empty = float(shares @ empty_share(weights, stats.energy))
    text = (
        f"Effective number of features of each weighting: {told} of {weights.shape[1]}. "
        f"Nearly empty features hold {on_empty:.0%} of the weight."
    )
    rank = getattr(model, "n_components", len(stats.sizes))
    # Relevance weights are few where few features matter; that is no collapse.
    if getattr(model, "weighting", "paper") == "paper" and collapsed(
        shares @ weights, stats.energy, rank
    ):
        text += (
            " The weights have collapsed onto a few features and say little about the clusters; "
            'fit again with weighting="relevance".'
        )
        return _finding("warn", "Feature weights", text)
    return _finding("good", "Feature weights", text)


def _overlap(weights: np.ndarray) -> dict[str, str]:
    cosines = overlap(weights)[np.triu_indices(len(weights), 1)]
    text = f"Cosine between weightings: mean {cosines.mean():.2f}, largest {cosines.max():.2f}."
    if cosines.min() > 0.99:
        text += " They coincide: one weighting would do."
        return _finding("note", "Several weightings", text)
    return _finding("good", "Several weightings", text)


def _components(graph: Any, n_clusters: int) -> dict[str, str]:
    n_samples = graph.shape[0]
    if graph.shape[0] != graph.shape[1]:
        # Samples linked to prototypes instead of to each other.
        graph = sp.block_array([[None, graph], [graph.T, None]], format="csr")
    _, part = connected_components(graph, directed=False)
    sizes = np.sort(np.unique(part[:n_samples], return_counts=True)[1])[::-1]
    count = len(sizes)
    told = ", ".join(str(size) for size in sizes[:6]) + (", …" if count > 6 else "")
    text = f"The neighbour graph has {count} connected parts, of {told} samples."
    if count == 1:
        text = "The neighbour graph is connected."
    if count > n_clusters:
        text += (
            f" That is more than the {n_clusters} clusters, so that smoothness cannot join them; "
            "a larger n_neighbors connects more samples."
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
    if n_iter >= limit:
        text = f"The fit stopped at its limit of {limit} iterations; raise max_iter."
        return [_finding("warn", "Convergence", text)]
    text = f"The fit settled after {n_iter} iterations (limit {limit})."
    return [_finding("good", "Convergence", text)]


def _stability(stability: dict[str, Any]) -> dict[str, str]:
    agreement = stability["agreement"]
    lowest, mean = min(agreement), sum(agreement) / len(agreement)
    text = (
        f"{len(agreement)} fits from other random starts put {mean:.0%} of the samples into "
        f"the same clusters on average (lowest {lowest:.0%})."
    )
    if mean < 0.8:
        text += " The clusters depend on the start: treat them with care, or try another number."
        return _finding("warn", "Stability", text)
    return _finding("good", "Stability", text)


def restarts(model: Any, X: Any, count: int) -> dict[str, Any] | None:
    """Agreement of the labels with those of other random starts."""
    from sklearn.base import clone

    from fnmf.metrics import clustering_accuracy

    if count < 1 or "random_state" not in model.get_params(deep=False):
        return None
    seed = model.get_params(deep=False)["random_state"]
    first = seed if isinstance(seed, int | np.integer) else 0
    agreement = []
    for step in range(1, count + 1):
        with warnings.catch_warnings():
            # The first fit has said all there is to say about these data.
            warnings.simplefilter("ignore")
            other = clone(model).set_params(random_state=int(first) + step).fit(X)
        agreement.append(clustering_accuracy(model.labels_, other.labels_))
    return {"agreement": agreement}
