"""Two fits of the same samples: what moved from one to the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fnmf import __version__
from fnmf.choosing import matched_clusters
from fnmf.display import counted, listed, visible
from fnmf.display import feature_names as names_of_features
from fnmf.display import sample_names as names_of_samples
from fnmf.metrics import normalized_mutual_information
from fnmf.reporting._features import importances_of
from fnmf.reporting._settings import parameters
from fnmf.statistics import top_indices

_MOST_SAMPLES = 2000
_MOST_FEATURES = 50
_PART = 0.2


def compare_models(
    first: Any,
    second: Any,
    *,
    names: tuple[str, str],
    feature_names: Sequence[Any] | None,
    sample_names: Sequence[Any] | None,
    title: str | None,
) -> dict[str, Any]:
    """Plain values that describe how two fits differ."""
    for model in (first, second):
        check_is_fitted(model, "labels_")
    a, b = np.asarray(first.labels_), np.asarray(second.labels_)
    if len(a) != len(b):
        raise ValueError(
            f"the first model was fitted on {len(a)} samples, the second on {len(b)}; "
            "only fits of the same samples can be compared."
        )
    ours, others, partner = matched_clusters(a, b)
    code_a, code_b = np.searchsorted(ours, a), np.searchsorted(others, b)
    moved = np.flatnonzero(partner[code_a] != code_b)
    rows = names_of_samples(len(a), sample_names)
    table = np.zeros((len(ours), len(others)), dtype=int)
    np.add.at(table, (code_a, code_b), 1)
    told_a, told_b = [visible(n) for n in ours], [visible(n) for n in others]
    # The same name need not mean the same cluster: say what each one matches.
    known = [
        f"{name} (matches {told_a[int(np.flatnonzero(partner == d)[0])]})"
        if d in partner
        else f"{name} (new)"
        for d, name in enumerate(told_b)
    ]
    return {
        "title": visible(title or f"{names[0]} and {names[1]} compared"),
        "version": __version__,
        "names": [visible(name) for name in names],
        "methods": [type(first).__name__, type(second).__name__],
        "n_samples": len(a),
        "n_moved": len(moved),
        "information": float(normalized_mutual_information(a, b)),
        "clusters": [told_a, told_b],
        "partner": partner.tolist(),
        "table": table.tolist(),
        "shades": (table / table.sum(axis=1, keepdims=True)).tolist(),
        "sentences": _sentences(table, partner, told_a, told_b, names),
        "moved": [
            {"name": rows[i], "from": told_a[code_a[i]], "to": known[code_b[i]]}
            for i in moved[:_MOST_SAMPLES]
        ],
        "features": _features(first, second, feature_names),
        "parameters": _differences(first, second),
    }


def _sentences(
    table: np.ndarray,
    partner: np.ndarray,
    ours: list[str],
    others: list[str],
    names: tuple[str, str],
) -> list[str]:
    first, second = (visible(name) for name in names)
    found = []
    for c, row in enumerate(table):
        parts = [int(d) for d in np.flatnonzero(row >= _PART * row.sum())]
        if len(parts) > 1:
            shown = listed([f"{others[d]} ({row[d]:,})" for d in parts])
            found.append(f"Cluster {ours[c]} of {first} is divided among {shown} of {second}.")
        elif partner[c] < 0:
            goes = f"most of it goes to {others[parts[0]]} of {second}"
            found.append(f"Cluster {ours[c]} of {first} is dissolved; {goes}.")
    for d, column in enumerate(table.T):
        if d not in partner:
            source = int(column.argmax())
            comes = f"most of it comes from {ours[source]} of {first} ({column[source]:,})"
            found.append(f"Cluster {others[d]} of {second} is new; {comes}.")
    return found or ["Every cluster of one has its counterpart in the other."]


def _features(first: Any, second: Any, names: Sequence[Any] | None) -> dict[str, Any] | None:
    before, after = importances_of(first), importances_of(second)
    if before is None or after is None or len(before) != len(after):
        return None
    known = names_of_features(first, len(before), names)
    change = after - before
    order = [k for k in top_indices(np.abs(change), _MOST_FEATURES) if change[k] != 0]
    largest = float(max(before.max(), after.max()))
    return {
        "correlation": float(np.corrcoef(before, after)[0, 1]),
        "count": counted(len(known), "features"),
        "rows": [
            {
                "name": known[k],
                "first": float(before[k]),
                "second": float(after[k]),
                "change": float(change[k]),
                "shares": [float(before[k]) / largest, float(after[k]) / largest],
            }
            for k in order
        ],
    }


def _differences(first: Any, second: Any) -> list[dict[str, str]]:
    a, b = ({p["name"]: p["value"] for p in parameters(model)} for model in (first, second))
    return [
        {"name": name, "first": a.get(name, "–"), "second": b.get(name, "–")}
        for name in sorted(a | b)
        if a.get(name) != b.get(name)
    ]
