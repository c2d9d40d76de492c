"""Relevance by group of features, where the user named groups."""

from typing import Any

import numpy as np

from fnmf.display import visible


def group_summary(model: Any) -> list[dict[str, Any]] | None:
    """Groups by relevance: name, features, mean relevance, and share in the weights.

    ``None`` if there are no groups, or only numbers stand for them.
    """
    groups = getattr(model, "feature_groups", None)
    relevance = None if groups is None else getattr(model, "group_relevance_", None)
    if relevance is None or np.asarray(groups).dtype.kind not in "US":
        return None
    groups = np.asarray(groups)
    weights = np.asarray(model.feature_importances_, dtype=float)
    found = [
        {
            "name": visible(name),
            "features": int(np.count_nonzero(groups == name)),
            "relevance": value,
            "weight": float(weights[groups == name].sum()),
        }
        for name, value in relevance.items()
    ]
    return sorted(found, key=lambda one: -one["relevance"])
