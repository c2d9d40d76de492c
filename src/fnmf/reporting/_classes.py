"""Known classes beside the clusters: who was split, who was merged."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fnmf.display import listed, visible
from fnmf.metrics import clustering_accuracy, normalized_mutual_information
from fnmf.statistics import Statistics

MOST_CLASSES = 100
# A share of a class, or of a cluster, that is worth a sentence.
_PART = 0.2
_MOST_SENTENCES = 8


def known_classes(stats: Statistics, labels_true: Sequence[Any] | None) -> dict[str, Any] | None:
    """The confusion table, what it says in words, and both scores."""
    if labels_true is None:
        return None
    if len(labels_true) != len(stats.codes):
        raise ValueError(
            f"labels_true has {len(labels_true)} labels, but X has {len(stats.codes)} samples; "
            "pass one label for each sample."
        )
    text = np.asarray([visible(label) for label in labels_true])
    names, codes = _in_order(text)
    table = np.zeros((len(stats.sizes), len(names)), dtype=int)
    np.add.at(table, (stats.codes, codes), 1)
    return {
        "names": names.tolist(),
        "codes": codes,
        "table": table.tolist() if len(names) <= MOST_CLASSES else None,
        "shades": (table / table.sum(axis=1, keepdims=True)).tolist(),
        "sentences": _sentences(table, [visible(name) for name in stats.names], names.tolist()),
        "majority": [{"name": str(names[row.argmax()]), "count": int(row.max())} for row in table],
        "accuracy": clustering_accuracy(text, stats.codes),
        "information": normalized_mutual_information(text, stats.codes),
    }


def _in_order(text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Names of the classes, numbers by their size and not by their digits; the class of each."""
    names, codes = np.unique(text, return_inverse=True)
    try:
        order = np.argsort(names.astype(float), kind="stable")
    except ValueError:
        return names, codes
    return names[order], np.argsort(order)[codes]


def _sentences(table: np.ndarray, clusters: list[str], classes: list[str]) -> list[str]:
    found: list[tuple[int, str]] = []
    for k, column in enumerate(table.T):
        parts = np.flatnonzero(column >= _PART * column.sum())
        if len(parts) > 1:
            shown = listed([f"{clusters[c]} ({column[c]:,})" for c in parts])
            found.append((int(column.sum()), f"Class {classes[k]} is split over clusters {shown}."))
    for c, row in enumerate(table):
        parts = np.flatnonzero(row >= _PART * row.sum())
        if len(parts) > 1:
            shown = listed([f"{classes[k]} ({row[k]:,})" for k in parts])
            found.append((int(row.sum()), f"Cluster {clusters[c]} merges classes {shown}."))
    found.sort(key=lambda item: -item[0])
    left = len(found) - _MOST_SENTENCES
    sentences = [text for _, text in found[:_MOST_SENTENCES]]
    if left > 0:
        sentences.append(f"{left} more are split or merged; the table shows them.")
    return sentences or ["No cluster holds a notable part of two classes, and no class is split."]
