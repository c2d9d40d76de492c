"""The state of a stream as plain values, and back; what comes from a file is checked."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf._fitted import Fitted
from fnmf.labels.scheme import FittedLabels
from fnmf.persistence._container import ModelFileError
from fnmf.persistence._shapes import check_arrays, check_fitted
from fnmf.streaming import Memory, Pace, Reservoir, Stream, Sums

_COUNTS = ("seen", "steps", "renewals", "sampled")
_AMOUNTS = ("weight", "fresh", "passed", "odd")
# Letters as in ``Fitted``; s rows are in the sample now, r were at the last renewal.
_SAMPLE = {
    "rows": "sd",
    "priorities": "s",
    "weights": "s",
    "counts": "s",
    "threshold": "?",
    "codes": "s",
}
_SUMS = {
    "counts": "k",
    "sums": "kd",
    "squares": "kd",
    "fourth": "d",
    "places": "kd",
    "crosses": "mdc",
    "grams": "mcc",
    "strange": "?",
    "about": "d",
    "limit": "?",
}


def stream_to_dict(stream: Stream) -> dict[str, Any]:
    """All of it, in values that a model file can hold."""
    kept = {name: getattr(stream, name) for name in ("rng", *_AMOUNTS, *_COUNTS)}
    kept["classes"] = stream.classes
    kept["sample"] = {name: getattr(stream.reservoir, name) for name in _SAMPLE}
    if stream.fitted is not None and stream.memory is not None:
        kept["fitted"] = stream.fitted.attributes()
        around = {"about": stream.memory.about, "limit": stream.memory.limit}
        kept["memory"] = {**stream.memory.sums._asdict(), **around}
    return kept


def stream_from_dict(kept: Any, n_features: Any, pace: Pace) -> Stream:
    """The stream that went in; ``ModelFileError`` if no stream can be like this."""
    if not isinstance(kept, dict) or not isinstance(kept.get("rng"), np.random.RandomState):
        raise ModelFileError("its stream is not described")
    for name in _COUNTS:
        if type(kept.get(name)) is not int or kept[name] < 0:
            raise ModelFileError(f"its stream has no number {name}")
    for name in _AMOUNTS:
        amount = kept.get(name)
        if not isinstance(amount, float) or not math.isfinite(amount) or amount < 0:
            raise ModelFileError(f"its stream has no amount {name}")
    classes = kept.get("classes")
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ModelFileError("its stream does not name its classes")
    clusters = pace.numbered(len(classes)).settings.clusters
    sizes = {"d": n_features, "k": max(clusters, len(classes))}
    sample = _part(kept, "sample", _SAMPLE, sizes)
    rows: Any = sample["rows"]
    if not isinstance(rows, np.ndarray | sp.csr_array) or rows.dtype.kind != "f":
        raise ModelFileError("the sample of its stream has no rows")
    if sample["threshold"].shape != (1,) or not (sample["counts"] > 0).all():
        raise ModelFileError("the sample of its stream does not say what rows count")
    codes = sample["codes"]
    if codes.dtype.kind != "i" or not ((codes >= -1) & (codes < len(classes))).all():
        raise ModelFileError("the sample of its stream holds numbers that no class has")
    stream = Stream(
        kept["rng"],
        Reservoir(**sample),
        **{name: kept[name] for name in (*_AMOUNTS, *_COUNTS)},
        classes=classes,
    )
    if "fitted" in kept or "memory" in kept:
        stream.fitted = _fitted(kept.get("fitted"), sizes)
        memory = _part(kept, "memory", _SUMS, sizes)
        if memory["strange"].shape != (1,) or memory["limit"].shape != (1,):
            raise ModelFileError("its stream does not know what is strange")
        sums = Sums(**{name: memory[name] for name in Sums._fields})
        stream.memory = Memory(sums, memory["about"], memory["limit"])
    return stream


def _part(
    kept: dict[str, Any], name: str, shapes: dict[str, str], sizes: dict[str, int]
) -> dict[str, Any]:
    part = kept.get(name)
    if (
        not isinstance(part, dict)
        or part.keys() != shapes.keys()
        or any(value is None for value in part.values())
    ):
        raise ModelFileError(f"its stream has no {name}")
    check_arrays(part, shapes, sizes)
    return part


def _fitted(attributes: Any, sizes: dict[str, int]) -> Fitted:
    if not isinstance(attributes, dict) or not attributes.keys() <= set(FittedLabels.names()):
        raise ModelFileError("its stream has no model")
    record: type[Fitted] = FittedLabels if "classes_" in attributes else Fitted
    check_arrays(attributes, record.shapes(), sizes)
    present = {name for name, value in attributes.items() if value is not None}
    lacking = [] if "labels_" in present else ["labels_"]
    # Streams have the relevance weighting, and what comes with it.
    lacking = lacking or check_fitted(attributes, present, relevance=True)
    if lacking:
        raise ModelFileError(f"its stream lacks {lacking[0]}, which every fit makes")
    labels = attributes["labels_"]
    if labels.size and labels.max() >= sizes["k"]:
        raise ModelFileError("labels_ holds numbers that no cluster has")
    return record.of(attributes)
