"""Each cluster: its sentence, what sets it apart, typical samples, and how solid it is."""

from typing import Any

import numpy as np

from fnmf.choosing import Agreement
from fnmf.describe import ClusterDescription, of_different_columns
from fnmf.display import counted, visible
from fnmf.reporting._findings import stability_word
from fnmf.reporting._images import heat_image
from fnmf.statistics import Statistics

_TOP_OF_CLUSTER = 8


def clusters_in_detail(
    model: Any,
    stats: Statistics,
    matters: np.ndarray,
    names: list[str],
    rows: list[str],
    image_shape: tuple[int, ...] | None,
    flags: frozenset[int],
) -> list[dict[str, Any]]:
    """Every cluster with its features; those among ``flags`` are 0 or 1, and told as shares."""
    effect = stats.effect
    examples = _examples(model, stats)
    n_samples = int(stats.sizes.sum())
    result = []
    for c, size in enumerate(stats.sizes):
        chosen = of_different_columns(np.abs(effect[c]), names, _TOP_OF_CLUSTER)
        strongest = max((abs(float(effect[c, k])) for k in chosen), default=0.0)
        result.append(
            {
                "name": numbered(stats.names)[c],
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
                        "share_of_rows": k in flags,
                        "effect": float(effect[c, k]),
                        "matters": bool(matters[k]),
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


def cluster_answer(
    described: ClusterDescription,
    image_shape: tuple[int, ...] | None,
    classes: dict[str, Any] | None,
    c: int,
) -> dict[str, Any]:
    """A cluster in a sentence. Pixels have no names worth saying; a picture is shown instead."""
    named = image_shape is None
    mostly = ""
    if classes is not None:
        majority = classes["majority"][c]
        share = majority["count"] / described.size
        mostly = f"{share:.0%} of them of class {majority['name']}"
    return {
        "title": described.title if named else f"cluster {c + 1}",
        "sentence": str(described) if named else counted(described.size, described.unit),
        "count": counted(described.size, described.unit),
        "mostly": mostly,
        "traits": described.traits if named else "see the picture of its mean in the report",
        "told": [{"text": str(c), "detail": c.detail} for c in described.contrasts]
        if named
        else [],
    }


def numbered(labels: np.ndarray) -> list[str]:
    """What clusters are called: people count from 1 where arrays count from 0."""
    from_zero = labels.dtype.kind in "iu" and len(labels) > 0 and int(labels[0]) == 0
    return [str(int(label) + 1) if from_zero else visible(label) for label in labels]


def stabilities(model: Any, agreement: Agreement | None) -> list[dict[str, Any]] | None:
    values = getattr(model, "cluster_stability_", None)
    if len(np.unique(model.labels_)) < 2:
        # All samples together come back whatever is done.
        return None
    source = "resamples"
    if values is None:
        if agreement is None:
            return None
        values, source = agreement.clusters, "other starts"
    return [
        {
            "value": float(v),
            "word": stability_word(float(v)),
            "text": f"{float(v):.0%} of the cluster comes back from {source}",
            "source": source,
        }
        for v in np.ravel(np.asarray(values, dtype=float))
    ]
