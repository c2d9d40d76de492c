"""Everything the page shows, as plain values: computed once, drawn later."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fnmf import __version__
from fnmf.metrics import clustering_accuracy, normalized_mutual_information
from fnmf.reporting._curves import convergence
from fnmf.reporting._images import heat_image
from fnmf.reporting._map import chosen_samples, representation, sample_map
from fnmf.reporting._names import feature_names, number, sample_names, visible
from fnmf.reporting._statistics import Statistics, cluster_statistics
from fnmf.reporting._weights import diagnosis, restarts, searchable, top_indices, weightings

_TOP_OF_CLUSTER = 8
_SILHOUETTE_SAMPLES = 2000
_MOST_CLUSTERS = 200


def summarise(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    names: Sequence[Any] | None = None,
    samples: Sequence[Any] | None = None,
    labels_true: Sequence[Any] | None = None,
    image_shape: tuple[int, ...] | None = None,
    n_restarts: int = 0,
    restart_data: Any = None,
    source: dict[str, Any] | None = None,
    notes: Sequence[str] = (),
    model_file: str = "model.fnmf",
) -> dict[str, Any]:
    """Plain numbers, strings, lists and dictionaries that describe a fitted model."""
    check_is_fitted(model, "labels_")
    stats = cluster_statistics(X, model.labels_)
    if len(stats.names) > _MOST_CLUSTERS:
        raise ValueError(
            f"the model has {len(stats.names)} clusters; the report shows at most {_MOST_CLUSTERS}."
        )
    known = feature_names(model, X.shape[1], names)
    rows = sample_names(X.shape[0], samples)
    if image_shape is not None and int(np.prod(image_shape)) != X.shape[1]:
        raise ValueError(
            f"image_shape={image_shape} has {int(np.prod(image_shape))} pixels, "
            f"but X has {X.shape[1]} features."
        )
    stability = restarts(model, X if restart_data is None else restart_data, n_restarts)
    return {
        "title": visible(title or f"Clusters found by {type(model).__name__}"),
        "version": __version__,
        "method": type(model).__name__,
        "parameters": _parameters(model),
        "source": {key: visible(value) for key, value in (source or {}).items()},
        "notes": [visible(note, longest=600) for note in notes],
        "facts": _facts(model, X, stats),
        "quality": quality(model, stats, labels_true),
        "clusters": _clusters(model, stats, known, rows, image_shape),
        "map": sample_map(model, X, stats, rows),
        "weights": weightings(model, known, image_shape),
        "features": searchable(model, stats, known),
        "n_features": X.shape[1],
        "representation": representation(model, stats),
        "convergence": convergence(model),
        "diagnosis": diagnosis(model, stats, stability),
        "model_file": visible(model_file),
    }


def _parameters(model: Any) -> list[dict[str, Any]]:
    defaults = type(model)().get_params(deep=False)
    result = []
    for name, value in model.get_params(deep=False).items():
        shown = value if np.ndim(value) == 0 and not hasattr(value, "shape") else None
        text = visible(repr(value)) if shown is not None or value is None else _shape(value)
        changed = not (value is defaults.get(name) or _same(value, defaults.get(name)))
        result.append({"name": name, "value": text, "changed": changed})
    return result


def _same(a: Any, b: Any) -> bool:
    return (
        isinstance(a, str | int | float | None)
        and isinstance(b, str | int | float | None)
        and a == b
    )


def _shape(value: Any) -> str:
    return visible(f"{type(value).__name__} of shape {getattr(value, 'shape', len(value))}")


def _facts(model: Any, X: Any, stats: Statistics) -> list[dict[str, str]]:
    facts = [
        ("samples", f"{X.shape[0]:,}"),
        ("features", f"{X.shape[1]:,}"),
        ("clusters", str(len(stats.sizes))),
    ]
    if (n_iter := getattr(model, "n_iter_", None)) is not None:
        facts.append(("iterations", f"{int(n_iter):,}"))
    if isinstance(objective := getattr(model, "objective_", None), float | np.floating):
        facts.append(("objective", number(float(objective))))
    return [{"name": name, "value": value} for name, value in facts]


def quality(
    model: Any, stats: Statistics, labels_true: Sequence[Any] | None
) -> list[dict[str, str]]:
    """How good the clustering is, with known classes and without."""
    result = []
    embedding = getattr(model, "embedding_", None)
    if embedding is not None and len(stats.sizes) > 1:
        from sklearn.metrics import silhouette_score

        chosen = chosen_samples(stats.codes, _SILHOUETTE_SAMPLES)
        codes = stats.codes[chosen]
        if 1 < len(np.unique(codes)) < len(codes):
            value = float(silhouette_score(np.asarray(embedding)[chosen], codes))
            text = "how clearly clusters are apart in the representation, -1 to 1"
            result.append({"name": "silhouette", "value": f"{value:.3f}", "text": text})
    between = float((stats.explained * stats.spread**2).sum())
    total = float((stats.spread**2).sum())
    if total > 0:
        text = "share of the variance of the data that lies between clusters"
        result.append({"name": "explained", "value": f"{between / total:.1%}", "text": text})
    if labels_true is not None:
        true = np.asarray([str(label) for label in labels_true])
        accuracy = clustering_accuracy(true, stats.codes)
        shared = normalized_mutual_information(true, stats.codes)
        text = "samples in the right class, clusters matched to classes"
        result.append({"name": "ACC", "value": f"{accuracy:.3f}", "text": text})
        text = "mutual information with the known classes, 0 to 1"
        result.append({"name": "NMI", "value": f"{shared:.3f}", "text": text})
    return result


def _clusters(
    model: Any,
    stats: Statistics,
    names: list[str],
    rows: list[str],
    image_shape: tuple[int, ...] | None,
) -> list[dict[str, Any]]:
    effect = stats.effect
    examples = _examples(model, stats)
    n_samples = int(stats.sizes.sum())
    result = []
    for c, size in enumerate(stats.sizes):
        chosen = top_indices(np.abs(effect[c]), _TOP_OF_CLUSTER)
        strongest = max((abs(float(effect[c, k])) for k in chosen), default=0.0)
        result.append(
            {
                "name": visible(stats.names[c]),
                "size": int(size),
                "share": float(size) / n_samples,
                "examples": [rows[i] for i in examples[c]],
                "image": None
                if image_shape is None
                else heat_image(stats.means[c].reshape(image_shape)),
                "features": [
                    {
                        "name": names[k],
                        "mean": float(stats.means[c, k]),
                        "rest": float(stats.rest[c, k]),
                        "effect": float(effect[c, k]),
                        "share": abs(float(effect[c, k])) / strongest if strongest > 0 else 0.0,
                    }
                    for k in chosen
                    if effect[c, k] != 0
                ],
            }
        )
    return result


def _examples(model: Any, stats: Statistics) -> list[list[int]]:
    """Samples nearest to the middle of their cluster in the representation."""
    embedding = getattr(model, "embedding_", None)
    result = []
    for c in range(len(stats.sizes)):
        members = np.flatnonzero(stats.codes == c)
        if embedding is not None:
            points = np.asarray(embedding)[members].astype(float)
            distances = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
            members = members[np.argsort(distances, kind="stable")]
        result.append(members[:3].tolist())
    return result
