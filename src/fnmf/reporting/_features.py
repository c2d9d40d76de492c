"""Which features matter, which do not, and what each weighting is for."""

from typing import Any

import numpy as np

from fnmf.display import listed, visible
from fnmf.factorization.terms import overlap
from fnmf.relevance.defaults import DEFAULTS
from fnmf.reporting._images import heat_image
from fnmf.statistics import Statistics

TOP = 30
_MOST_WEIGHTINGS = 24
_NEXT_TO_NOTHING = 1e-3
_SAME = 0.99
_SHOWN_NAMES = 5


def importances_of(model: Any) -> np.ndarray | None:
    """The importances, unless all are equal: then there is nothing to rank."""
    values = getattr(model, "feature_importances_", None)
    if values is None:
        return None
    values = np.asarray(values, dtype=float)
    return None if np.ptp(values) <= _NEXT_TO_NOTHING * np.abs(values).max() else values


def mattering(model: Any, stats: Statistics) -> tuple[np.ndarray, str]:
    """Which features matter, and by what that was judged."""
    if (qvalues := getattr(model, "feature_qvalues_", None)) is not None:
        rate = "at most one in ten of these may be chance (false discovery rate of "
        rate += f"{DEFAULTS.small:.0%})"
        return np.asarray(qvalues, dtype=float) <= DEFAULTS.small, rate
    if (relevance := getattr(model, "feature_relevance_", None)) is not None:
        return np.asarray(relevance, dtype=float) > 0, "they differ by more than chance"
    return stats.explained > stats.chance, "they differ by more than in shuffled samples"


def ranking(model: Any, stats: Statistics) -> np.ndarray:
    """All features: what matters first, then by importance, then by explained share."""
    importances = importances_of(model)
    first = stats.explained if importances is None else importances
    matters, _ = mattering(model, stats)
    return np.lexsort((-stats.explained, -first, ~matters))


def feature_summary(
    model: Any, stats: Statistics, names: list[str], shape: tuple[int, ...] | None
) -> dict[str, Any]:
    """The features by relevance, with what chance would give."""
    matters, judged = mattering(model, stats)
    order = ranking(model, stats)
    importances = importances_of(model)
    qvalues = getattr(model, "feature_qvalues_", None)
    count = int(matters.sum())
    picture = stats.explained if importances is None else importances
    return {
        "count": len(names),
        "matter": count,
        "judged": judged,
        "leading": [names[k] for k in order[: min(count, _SHOWN_NAMES)]],
        "equal": getattr(model, "feature_importances_", None) is not None and importances is None,
        "importance": importances is not None,
        "rated": qvalues is not None,
        "doubt": _doubt(model, stats, matters),
        "image": None if shape is None else heat_image(picture.reshape(shape)),
        "rows": [
            {
                "name": names[k],
                "rank": rank,
                "matters": bool(matters[k]),
                "importance": None if importances is None else float(importances[k]),
                "explained": float(stats.explained[k]),
                "chance": float(stats.chance[k]),
                "qvalue": None if qvalues is None else float(qvalues[k]),
            }
            for rank, k in enumerate(order[:TOP])
        ],
    }


def _doubt(model: Any, stats: Statistics, matters: np.ndarray) -> str:
    """Why a bar may pass the mark and still not count."""
    if matters.any() or not (stats.explained > stats.chance).any():
        return ""
    if getattr(model, "structure_found_", None) is not False:
        return ""
    return (
        "Bars beyond it prove nothing here: without structure the clusters are cuts through "
        "these very features."
    )


def weightings(
    model: Any, stats: Statistics, names: list[str], shape: tuple[int, ...] | None
) -> dict[str, Any]:
    """The heaviest features of every weighting, who uses it, and whether they differ at all."""
    weights = getattr(model, "feature_weights_", None)
    if weights is None:
        return {"each": [], "of": 0, "differ": False, "text": ""}
    matrix = np.atleast_2d(np.asarray(weights, dtype=float))
    usage = getattr(model, "assignments_", None)
    shares = np.full((len(stats.codes), len(matrix)), 1 / len(matrix))
    if usage is not None and np.shape(usage)[1] == len(matrix):
        shares = np.asarray(usage, dtype=float)
    each = []
    for j, row in enumerate(matrix[:_MOST_WEIGHTINGS]):
        entry = _ranked(row, stats.explained, names, shape)
        entry["usage"] = float(shares[:, j].mean())
        entry["text"] = _purpose(shares[:, j], stats)
        each.append(entry)
    differ = len(matrix) > 1 and float(overlap(matrix).min()) < _SAME
    text = ""
    if len(matrix) > 1 and not differ:
        text = f"All {len(matrix)} weightings coincide, so that one would do."
    return {"each": each, "of": len(matrix), "differ": differ, "text": text}


def _ranked(
    values: np.ndarray, explained: np.ndarray, names: list[str], shape: tuple[int, ...] | None
) -> dict[str, Any]:
    largest = float(values.max())
    # Weights that saturate are equal: among them the better explained feature comes first.
    close = np.round(values / largest, 3) if largest > 0 else np.zeros(len(values))
    # What weighs next to nothing is counted, not listed.
    order = [int(k) for k in np.lexsort((-explained, -close)) if close[k] > _NEXT_TO_NOTHING]
    square = float((values**2).sum())
    equal = np.ptp(values) <= _NEXT_TO_NOTHING * np.abs(values).max()
    return {
        "features": []
        if equal
        else [
            {"name": names[k], "value": float(values[k]), "share": float(values[k]) / largest}
            for k in order[:TOP]
        ],
        "equal": bool(equal),
        "tied": int((close >= 1).sum()),
        "rest": len(values) - len(order),
        "effective": float(values.sum()) ** 2 / square if square > 0 else 0.0,
        "image": None if shape is None else heat_image(values.reshape(shape)),
    }


def _purpose(share: np.ndarray, stats: Statistics) -> str:
    """Which clusters lean on a weighting more than the others do."""
    means = np.bincount(stats.codes, share) / stats.sizes
    lean = np.flatnonzero(means > 1.25 * share.mean())
    if len(lean) == 0:
        return "All clusters use it about equally."
    shown = [visible(stats.names[c]) for c in lean[np.argsort(-means[lean], kind="stable")][:6]]
    word = "cluster" if len(shown) == 1 else "clusters"
    return f"Used above all by {word} {listed(shown)}."
