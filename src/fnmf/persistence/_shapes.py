"""Do the arrays of a loaded model fit each other? Compiled kernels index them without asking."""

import inspect
import math
from collections.abc import Collection, Mapping
from types import UnionType
from typing import Any, get_args, get_origin

import numpy as np
import scipy.sparse as sp

from fnmf._fitted import Fitted, FittedClusters
from fnmf.persistence._container import ModelFileError

_ARRAYS = (np.ndarray, sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)
# Letters as in ``Fitted``, and for competitors p prototypes; "?" is any size. A class whose
# attribute of such a name has another shape says so in ``_stored_shapes``.
_SHAPES = {
    **Fitted.shapes(),
    "nonnegative_embedding_": "nc",
    "feature_names_in_": "d",
    "prototypes_": "pd",
    "prototype_labels_": "p",
    "projection_": "d?",
    "component_labels_": "n",
    "_rows": "nd",
    "_scales": "c",
    "shift_": "d",
}

_TEXTS = ("feature_names_in_", "column_kinds_", "classes_")


def check_shapes(model: Any) -> None:
    """Raise unless every known attribute of ``model`` has the shape the others imply."""
    sizes: dict[str, int] = {}
    if hasattr(model, "n_features_in_"):
        sizes["d"] = _whole(model.n_features_in_, "n_features_in_")
    shapes = _SHAPES | getattr(type(model), "_stored_shapes", {})
    check_arrays(vars(model), shapes, sizes)
    _check_layers(vars(model))


def _check_layers(kept: Mapping[str, Any]) -> None:
    """Raise unless each layer fits the one before, and all of them the components."""
    layers = kept.get("layer_components_")
    if layers is None:
        return
    if not isinstance(layers, tuple | list) or not layers:
        raise ModelFileError("layer_components_ is not a list of arrays")
    ends: Any = getattr(kept.get("components_"), "shape", (None, None))
    width = ends[1]
    for layer in layers:
        numbers = isinstance(layer, np.ndarray) and layer.dtype.kind == "f" and layer.ndim == 2
        if not numbers or layer.shape[1] != width:
            raise ModelFileError("layer_components_ holds layers that do not fit each other")
        width = layer.shape[0]
    if width != ends[0]:
        raise ModelFileError("layer_components_ does not fit components_")


def check_arrays(
    values: Mapping[str, Any], shapes: Mapping[str, str], sizes: dict[str, int]
) -> None:
    """Raise unless those that are there have these shapes; ``sizes`` learns new letters."""
    for name, shape in shapes.items():
        value: Any = values.get(name)
        if value is None:
            continue
        if not isinstance(value, _ARRAYS):
            raise ModelFileError(f"{name} is not an array")
        if not _fits(value.shape, shape, sizes):
            raise ModelFileError(f"{name} has shape {value.shape}, which does not fit the rest")
        if name not in _TEXTS and value.dtype.kind not in "fiub":
            raise ModelFileError(f"{name} does not hold numbers")


def check_complete(model: Any) -> None:
    """Raise if a fitted model lacks something that every fit of its class leaves behind.

    Classes declare their fitted attributes by annotations; those that may be None may be missing.
    """
    kept = {name for name, value in vars(model).items() if value is not None}
    present = kept - set(model.get_params(deep=False))
    kinds = _declared(type(model))
    declared = {name for name, kind in kinds.items() if "None" not in str(kind)}
    if not present & (declared | set(Fitted.names())):
        return
    lacking = sorted(declared - present)
    record = getattr(type(model), "_record", None)
    if record is not None:
        try:
            settings = model._read_settings()
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"no fit has such parameters: {error}") from error
        relevance = settings.scheme == "relevance"
        lacking += check_fitted(vars(model), present, relevance=relevance, record=record)
    if getattr(model, "negative", "error") == "shift":
        lacking += sorted({"shift_", "n_clipped_"} - present)
    unit = vars(model).get("unit_", 1.0)
    if not isinstance(unit, float) or not math.isfinite(unit) or math.frexp(unit)[0] != 0.5:
        raise ModelFileError("its unit is not a power of two")
    if "n_features_in_" not in present:
        lacking.append("n_features_in_")
    if lacking:
        raise ModelFileError(f"it lacks {lacking[0]}, which every fit makes")
    for name in sorted(declared):
        if not _is_a(kinds[name], vars(model)[name]):
            raise ModelFileError(f"{name} is not what a fit leaves behind")
    _check_selection(vars(model))


def _declared(known: type) -> dict[str, Any]:
    """Fitted attributes that a class declares by annotations, with their types."""
    return {
        name: kind
        for part in known.__mro__
        for name, kind in inspect.get_annotations(part).items()
        if name.startswith("_") != name.endswith("_") and not hasattr(known, name)
    }


def _is_a(kind: Any, value: Any) -> bool:
    """Whether a value is of a type; of what lists and tuples hold nothing is said."""
    if isinstance(kind, UnionType):
        return any(_is_a(one, value) for one in get_args(kind))
    if kind is float or kind is int:
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        return number and bool(np.isreal(value)) and math.isfinite(value)
    plain = get_origin(kind) or kind
    return not isinstance(plain, type) or plain is bool or isinstance(value, plain)


def _check_selection(kept: dict[str, Any]) -> None:
    """Raise unless features are selected by a mask, as many as the centres have."""
    chosen, centres = kept.get("selected_features_"), kept.get("cluster_centers_")
    if chosen is None:
        return
    if chosen.dtype != bool or (centres is not None and centres.shape[1] != chosen.sum()):
        raise ModelFileError("its selection of features does not fit the rest")


def check_fitted(
    attributes: Mapping[str, Any],
    present: Collection[str],
    *,
    relevance: bool,
    record: type[FittedClusters] = Fitted,
) -> list[str]:
    """What a record of a fit lacks, of which these attributes are ``present``."""
    for name, kind in record.kinds().items():
        if name in present and not _is_a(kind, attributes[name]):
            raise ModelFileError(f"{name} is not what a fit leaves behind")
    return record.lacking(present, relevance=relevance) or _lacking_for_new_rows(attributes)


def _lacking_for_new_rows(kept: Mapping[str, Any]) -> list[str]:
    """What clusters of new rows are read off: centres, or else labels of rows of the fit."""
    lacking = []
    codes = kept.get("embedding_")
    if codes is None and kept.get("labels_") is None:
        return ["labels_"]
    n = len(kept["labels_"]) if codes is None else codes.shape[0]
    if "_kmeans" in kept or "_omega" not in kept:
        centres: Any = getattr(kept.get("_kmeans"), "cluster_centers_", np.empty(0))
        if codes is None or centres.ndim != 2 or centres.shape[1] != codes.shape[1]:
            lacking.append("_kmeans")
    if kept["_fit_X"].shape[0] != n:
        held = ("_held_labels",) if codes is None else ("_held_codes", "_held_labels")
        lacking += [name for name in held if kept.get(name) is None]
    for name in ("labels_", "_held_labels"):
        labels: Any = kept.get(name)
        # Arrays are made with a place for every label up to the largest.
        if labels is not None and labels.size:
            whole = labels.dtype.kind in "iu"
            if not whole or labels.min() < 0 or labels.max() >= n:
                raise ModelFileError(f"{name} holds numbers that no cluster has")
    of_mixture = ("_precisions", "_intercepts", "_cell_offsets", "_log_low", "_log_offset")
    missing = [name for name in of_mixture if kept.get(name) is None]
    lacking += missing if len(missing) < len(of_mixture) else []
    near: Any = kept.get("_missing_neighbors")
    if near is not None:
        rows = kept["_fit_X"].shape[0]
        sound = isinstance(near, np.ndarray) and near.ndim == 2 and near.dtype.kind == "i"
        # Compiled code reads the rows that they name.
        if not sound or len(near) != rows or near.min(initial=0) < 0 or near.max(initial=0) >= rows:
            raise ModelFileError("_missing_neighbors names rows that the model does not keep")
    return lacking


def check_kmeans(values: dict[str, Any]) -> None:
    """Raise unless the centres are usable by scikit-learn's compiled code."""
    centers = values.get("cluster_centers_")
    if (
        not isinstance(centers, np.ndarray)
        or centers.ndim != 2
        or centers.dtype not in (np.float32, np.float64)
        or 0 in centers.shape
        or not np.isfinite(centers).all()
        or _whole(values.get("n_features_in_"), "n_features_in_") != centers.shape[1]
    ):
        raise ModelFileError("its k-means centres make no sense")
    labels = values.get("labels_")
    if labels is not None and (not isinstance(labels, np.ndarray) or labels.dtype.kind != "i"):
        raise ModelFileError("its k-means labels make no sense")


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 0:
        raise ModelFileError(f"{name} is not a number of features")
    return int(value)


def _fits(shape: tuple[int, ...], letters: str, sizes: dict[str, int]) -> bool:
    if len(shape) != len(letters):
        return False
    seen = dict(sizes)
    for size, letter in zip(shape, letters, strict=True):
        if letter != "?" and seen.setdefault(letter, size) != size:
            return False
    sizes.update(seen)
    return True
