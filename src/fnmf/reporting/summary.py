"""Everything the page shows, as plain values: computed once, drawn later."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fnmf import __version__
from fnmf.choosing import Agreement, NumberOfClusters
from fnmf.describe import describe_clusters
from fnmf.display import convergence, counted, feature_names, sample_names, visible
from fnmf.reporting._answer import answer, groups_sentence
from fnmf.reporting._classes import known_classes
from fnmf.reporting._clusters import cluster_answer, clusters_in_detail, stabilities
from fnmf.reporting._columns import Columns
from fnmf.reporting._features import feature_summary, mattering, ranking, weightings
from fnmf.reporting._findings import findings
from fnmf.reporting._groups import group_summary
from fnmf.reporting._images import heat_image
from fnmf.reporting._layout import HEIGHT, WIDTH
from fnmf.reporting._missing import missing_cells
from fnmf.reporting._payload import Ranked, payload
from fnmf.reporting._samples import chosen_samples, draw_samples
from fnmf.reporting._settings import number_of_clusters, parameters, preparations
from fnmf.reporting.labels import class_names, label_summary
from fnmf.reporting.layers import layer_summary
from fnmf.statistics import Statistics, cluster_statistics
from fnmf.validation import unit_of

_SILHOUETTE_SAMPLES = 2000
# What single precision, in which the page holds its numbers, has room for.
_LEAST, _MOST = 1e-30, 1e30
_MOST_CLUSTERS = 200
_MOST_COMPONENT_IMAGES = 60


@dataclass(frozen=True)
class About:
    """What a model does not know of itself: title, names, known classes, where data come from."""

    title: str | None = None
    feature_names: Sequence[Any] | None = None
    sample_names: Sequence[Any] | None = None
    labels_true: Sequence[Any] | None = None
    image_shape: tuple[int, ...] | None = None
    unit: str = "samples"
    # The column of the file behind each feature, if several features may share one.
    sources: Sequence[str] | None = None
    source: dict[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    # What was decided for the reader: what, why, otherwise.
    decisions: Sequence[dict[str, str]] = ()
    model_file: str = "model.fnmf"
    choice: NumberOfClusters | None = None


def summarise(
    model: Any,
    X: Any,
    about: About,
    agreement: Agreement | None = None,
    *,
    fitted: Any = None,
) -> dict[str, Any]:
    """Plain numbers, strings, lists and dictionaries that describe a fitted model.

    ``X`` is shown; ``fitted`` is what the model saw, if that was scaled or shifted: how much of
    the data the clusters explain is a matter of the latter.
    """
    image_shape = about.image_shape
    check_is_fitted(model, "labels_")
    X, about = _in_readable_units(X, about)
    stats = cluster_statistics(X, model.labels_)
    seen = stats if fitted is None else cluster_statistics(fitted, model.labels_)
    stats = replace(stats, explained=seen.explained, chance=seen.chance, energy=seen.energy)
    if len(stats.names) > _MOST_CLUSTERS:
        raise ValueError(
            f"the model has {len(stats.names)} clusters; the report shows at most {_MOST_CLUSTERS}."
        )
    known = feature_names(model, X.shape[1], about.feature_names)
    rows = sample_names(X.shape[0], about.sample_names)
    if image_shape is not None and int(np.prod(image_shape)) != X.shape[1]:
        raise ValueError(
            f"image_shape={image_shape} has {int(np.prod(image_shape))} pixels, "
            f"but X has {X.shape[1]} features."
        )
    unit = visible(about.unit)
    columns = Columns.of(known, about.sources)
    by_column, shown = columns.statistics(stats), columns.model(model)
    matter, _ = mattering(shown, by_column)
    matters = columns.features(matter, len(known))
    classes = known_classes(stats, about.labels_true)
    described = describe_clusters(
        X, model.labels_, feature_names=known, relevant=matters, unit=unit, statistics=stats
    )
    drawn = draw_samples(model, X, stats)
    stability = stabilities(model, agreement)
    flags, called = columns.flags(known, about.sources), class_names(model)
    clusters = clusters_in_detail(model, stats, matters, known, rows, image_shape, flags)
    for c, (entry, described_as) in enumerate(zip(clusters, described, strict=True)):
        entry |= cluster_answer(described_as, image_shape, classes, c)
        entry["stability"] = None if stability is None else stability[c]
        if called is not None:
            entry["title"] = called[int(stats.names[c])]
    features = feature_summary(shown, by_column, columns.names, image_shape)
    number = number_of_clusters(about.choice or NumberOfClusters.recalled(model))
    return {
        "answer": answer(model, X.shape[0], clusters, features, unit),
        "groups": groups_sentence(model, X.shape[0], clusters, unit),
        "decisions": [
            {key: visible(text, longest=400) for key, text in one.items()}
            for one in about.decisions
        ],
        "title": visible(about.title or f"Clusters found by {type(model).__name__}"),
        "version": __version__,
        "method": type(model).__name__,
        "unit": unit,
        "parameters": parameters(model),
        "tried": preparations(getattr(model, "chosen_", None)),
        "number": number,
        "source": {key: visible(value) for key, value in about.source.items()},
        "notes": [visible(note, longest=600) for note in about.notes],
        "facts": _facts(X.shape[0], len(columns.names), stats, unit),
        "quality": _quality(model, seen, classes),
        "clusters": clusters,
        "labels": label_summary(model, rows, unit),
        "classes": None if classes is None else {**classes, "codes": None},
        "weights": weightings(shown, by_column, columns.names, image_shape),
        "layers": layer_summary(model, known, image_shape),
        "features": features,
        "feature_groups": group_summary(model),
        "missing": missing_cells(by_column, columns.names, [c["name"] for c in clusters]),
        "n_features": len(columns.names),
        "representation": _representation(model, stats, image_shape),
        "convergence": convergence(model),
        "diagnosis": findings(model, stats, matters, agreement, unit, known),
        "model_file": visible(about.model_file),
        "image_shape": image_shape,
        "has_confidence": getattr(model, "sample_confidence_", None) is not None,
        "map": {
            "width": WIDTH,
            "height": HEIGHT,
            "radius": drawn.radius,
            "shown": len(drawn.rows),
            "of": X.shape[0],
            "layouts": [
                {"key": layout.key, "name": layout.name, "text": layout.text}
                for layout in drawn.layouts
            ],
        },
        "payload": payload(
            columns.table(X),
            by_column,
            drawn,
            Ranked(
                ranking(shown, by_column),
                columns.names,
                _of_features(shown, by_column, matter),
                columns.levels,
            ),
            _of_samples(model, stats, drawn.rows, rows, classes),
            getattr(model, "embedding_", None),
        ),
    }


def _in_readable_units(X: Any, about: About) -> tuple[Any, About]:
    """Data whose numbers the page cannot hold in units of a power of ten, and a note about it."""
    largest = unit_of(X)
    if _LEAST < largest < _MOST:
        return X, about
    power = math.floor(math.log10(largest))
    # In two steps: a power of ten may be too small for a number.
    shown = X / 10.0 ** (power // 2) / 10.0 ** (power - power // 2)
    note = f"values on this page are in units of 1e{power}"
    return shown, replace(about, notes=[*about.notes, note])


def _of_samples(
    model: Any,
    stats: Statistics,
    drawn: np.ndarray,
    rows: list[str],
    classes: dict[str, Any] | None,
) -> dict[str, Any]:
    found: dict[str, Any] = {"names": [rows[i] for i in drawn]}
    if classes is not None:
        found["class"] = classes["codes"][drawn].astype(np.uint16)
    if (confidence := getattr(model, "sample_confidence_", None)) is not None:
        found["confidence"] = np.asarray(confidence)[drawn].astype(np.float32)
    if (second := getattr(model, "second_labels_", None)) is not None:
        second = np.asarray(second)[drawn]
        place = np.searchsorted(stats.names, second)
        place = np.minimum(place, len(stats.names) - 1)
        found["second"] = np.where(stats.names[place] == second, place, -1).astype(np.int16)
    return found


def _of_features(model: Any, stats: Statistics, matters: np.ndarray) -> dict[str, np.ndarray]:
    found = {
        "explained": stats.explained,
        "chance": stats.chance,
        "spread": stats.spread,
        "matters": matters,
    }
    for key, name in (("importance", "feature_importances_"), ("qvalue", "feature_qvalues_")):
        if (values := getattr(model, name, None)) is not None:
            found[key] = np.asarray(values, dtype=float)
    return found


def _facts(n_rows: int, n_columns: int, stats: Statistics, unit: str) -> list[dict[str, str]]:
    facts = [(unit, n_rows), ("features", n_columns), ("clusters", len(stats.sizes))]
    shown = (counted(count, name).split(" ", 1) for name, count in facts)
    return [{"value": value, "name": name} for value, name in shown]


def _quality(model: Any, stats: Statistics, classes: dict[str, Any] | None) -> list[dict[str, Any]]:
    """How good the clustering is, with known classes and without."""
    result: list[dict[str, Any]] = []
    several = len(stats.sizes) > 1
    embedding = getattr(model, "embedding_", None)
    if embedding is not None and several:
        from sklearn.metrics import silhouette_score

        chosen = chosen_samples(stats.codes, _SILHOUETTE_SAMPLES)
        codes = stats.codes[chosen]
        if 1 < len(np.unique(codes)) < len(codes):
            value = float(silhouette_score(np.asarray(embedding)[chosen], codes))
            text = "how clearly clusters are apart in the representation, -1 to 1"
            result.append(_score("silhouette", f"{value:.3f}", text, "silhouette", first=False))
    # Relative to the widest, whose square may be too large for a number.
    variance = (stats.spread / max(stats.spread.max(initial=0.0), 1e-320)) ** 2
    between, total = float((stats.explained * variance).sum()), float(variance.sum())
    if total > 0 and several:
        text = "share of the variance of the data, as fitted, that lies between clusters"
        share, label = f"{between / total:.1%}", "variance between clusters"
        result.append(_score("explained", share, text, label, first=False))
    if several and (confidence := getattr(model, "sample_confidence_", None)) is not None:
        values = np.asarray(confidence, dtype=float)
        text = "median of how sure the cluster of each is, 0 to 1"
        shown = f"{float(np.median(values)):.2f}"
        result.insert(0, _score("confidence", shown, text, "typical confidence"))
    if classes is not None:
        text = "share in the right class, clusters matched to classes"
        share = f"{classes['accuracy']:.3f}"
        result.append(_score("ACC", share, text, "accuracy on known classes"))
        text = "mutual information with the known classes, 0 to 1"
        result.append(_score("NMI", f"{classes['information']:.3f}", text))
    return result


def _score(
    name: str, value: str, text: str, label: str | None = None, *, first: bool = True
) -> dict[str, Any]:
    """A figure: its name in files, what it is called, what it means, whether it is shown first."""
    return {"name": name, "value": value, "text": text, "label": label or name, "first": first}


def _representation(
    model: Any, stats: Statistics, image_shape: tuple[int, ...] | None
) -> dict[str, Any] | None:
    """Means of the representation in each cluster, and components as images."""
    embedding = getattr(model, "embedding_", None)
    if embedding is None:
        return None
    V = np.asarray(embedding, dtype=float)
    means = np.array([V[stats.codes == c].mean(axis=0) for c in range(len(stats.sizes))])
    most = means.max(axis=0)
    images = []
    components: Any = getattr(model, "components_", None)
    if image_shape is not None and components is not None:
        rows = np.atleast_2d(np.asarray(components, dtype=float))[:_MOST_COMPONENT_IMAGES]
        if rows.shape[1] == int(np.prod(image_shape)):
            images = [heat_image(row.reshape(image_shape)) for row in rows]
    return {
        "columns": V.shape[1],
        "means": np.divide(means, most, out=np.zeros_like(means), where=most > 0)[:, :20].tolist(),
        "images": images,
    }
