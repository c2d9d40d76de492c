"""What a fit with known classes has to tell: classes found, wrong labels, whom to ask next."""

from typing import Any

import numpy as np

from fnmf.display import counted, visible
from fnmf.labels import samples_to_label

# Samples worth a label, and suspicious labels, that are shown.
_NEXT, _MOST = 10, 20
_SURE = 0.9


def class_names(model: Any) -> list[str] | None:
    """Names of the classes by the number of their cluster, if labels of any were given."""
    shown = getattr(model, "labelled_", None)
    return [visible(name) for name in model.classes_] if shown is not None and shown.any() else None


def label_summary(model: Any, rows: list[str], unit: str) -> dict[str, Any] | None:
    """Classes with what was given and found, suspicious labels, samples worth labelling next."""
    names = class_names(model)
    if names is None:
        return None
    shown, codes = np.asarray(model.labelled_), np.asarray(model.labels_)
    sure = np.asarray(model.sample_confidence_, np.float64)
    found = model.suspicious_labels_
    return {
        "sentence": _sentence(shown, sure, len(found), unit),
        "classes": [
            {
                "name": name,
                "given": int(np.sum(shown & (codes == c))),
                "found": int(np.sum(~shown & (codes == c))),
                "sure": float(sure[own].mean()) if (own := ~shown & (codes == c)).any() else None,
            }
            for c, name in enumerate(names)
        ],
        "suspicious": [
            {
                "row": rows[one["row"]],
                "given": names[one["given"]],
                "suggested": names[one["suggested"]],
                "probability": float(one["probability"]),
            }
            for one in found
        ],
        "next": next_labels(model, rows, _NEXT),
        "most": _MOST,
    }


def next_labels(model: Any, rows: list[str], most: int) -> list[dict[str, Any]]:
    """Samples worth labelling next, with what is thought of them now."""
    names, second = class_names(model), np.asarray(model.second_labels_)
    labels = np.asarray(model.labels_)
    called = names or [f"cluster {c + 1}" for c in range(int(max(labels.max(), second.max())) + 1)]
    return [
        {
            "row": rows[i],
            "class": called[labels[i]],
            "confidence": float(model.sample_confidence_[i]),
            "second": called[second[i]],
        }
        for i in samples_to_label(model, most)
    ]


def _sentence(told: np.ndarray, sure: np.ndarray, suspicious: int, unit: str) -> str:
    free = ~told
    given = f"The class of {int(told.sum()):,} of {counted(len(told), unit)} was given."
    if not free.any():
        rest = ""
    else:
        certain = int(np.sum(sure[free] >= _SURE))
        rest = (
            f" The other {int(free.sum()):,} got one, {certain:,} of them with a confidence of "
            f"{_SURE:.0%} or more."
        )
    if not suspicious:
        return given + rest
    looks = "label looks" if suspicious == 1 else "labels look"
    return f"{given}{rest} {suspicious:,} {looks} wrong."
