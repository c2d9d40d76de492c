"""Estimators as a class name, parameters and attributes; only classes of registered methods."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fnmf._sklearn import OWN_ATTRIBUTES, kmeans_threads
from fnmf.baselines import Method
from fnmf.baselines.registry import registered
from fnmf.data import is_dask
from fnmf.persistence._container import ModelFileError
from fnmf.persistence._shapes import check_complete, check_kmeans, check_shapes

if TYPE_CHECKING:
    from fnmf.persistence._values import Decoder, Encoder

KMEANS = "sklearn.KMeans"
_KMEANS_ATTRIBUTES = (
    "cluster_centers_",
    "labels_",
    "inertia_",
    "n_iter_",
    "n_features_in_",
    "_n_features_out",
    "_tol",
)
_MOST_JOBS = 1024
# Where an estimator of streams keeps its state.
_STREAM = "_stream"
# They are no rows of the tables, so they are not registered.
_NOT_IN_TABLES = tuple(
    Method(name, estimator=f"fnmf:{name}")
    for name in (
        "MiniBatchFNMF",
        "RelevanceClusterer",
        "SemiFNMF",
        "SemiMiniBatchFNMF",
        "SemiRelevanceClusterer",
        "DeepFNMF",
    )
)


def _known() -> dict[str, Method]:
    """Methods whose models may be in a file, by the name of their class there."""
    methods = (*registered().values(), *_NOT_IN_TABLES)
    return {method.stored_as: method for method in methods if method.stored_as}


def estimator_to_json(value: Any, encode: "Encoder") -> dict[str, Any] | None:
    """Description of a known estimator, or None for anything else."""
    from sklearn.cluster import KMeans

    if type(value) is KMeans:
        attributes = {n: getattr(value, n) for n in _KMEANS_ATTRIBUTES if hasattr(value, n)}
        return _description(KMEANS, value, attributes, encode)
    kind: Any = type(value)
    for name, method in _known().items():
        # Only a class of that name is imported to see whether it is the one.
        if name.endswith(kind.__name__) and kind is method.load_class():
            parameters = value.get_params(deep=False)
            attributes = {
                key: _plain(key, item)
                for key, item in vars(value).items()
                if key not in parameters and key not in OWN_ATTRIBUTES
            }
            return _description(name, value, attributes, encode)
    return None


def _plain(key: str, item: Any) -> Any:
    """An attribute as a value that can be stored."""
    if key == _STREAM:
        from fnmf.persistence._streams import stream_to_dict

        return stream_to_dict(item)
    # Results of a Dask array are thin; whoever saves them wants them here.
    return item.compute() if is_dask(item) else item


def _description(
    name: str, value: Any, attributes: dict[str, Any], encode: "Encoder"
) -> dict[str, Any]:
    short = type(value).__name__
    parameters = value.get_params(deep=False)
    return {
        "class": name,
        "params": {k: encode(v, f"{short}({k}=...)") for k, v in parameters.items()},
        "attributes": {k: encode(v, f"{short}.{k}") for k, v in attributes.items()},
    }


def estimator_from_json(node: dict[str, Any], decode: "Decoder") -> Any:
    """The estimator that ``node`` describes, checked before anyone can call it."""
    name, params, attributes = node.get("class"), node.get("params"), node.get("attributes")
    if not isinstance(params, dict) or not isinstance(attributes, dict):
        raise ModelFileError("an estimator is described without parameters or attributes")
    if name == KMEANS:
        return _kmeans(params, attributes, decode)
    known_methods = _known()
    if name not in known_methods:
        raise ModelFileError(
            f"it holds an estimator {str(name)[:80]!r}, which this version of fnmf does not know"
        )
    known: Any = known_methods[str(name)].load_class()
    model = known(**_parameters(known, params, decode))
    for key, item in attributes.items():
        # A file must not replace methods of the class.
        if not key.isidentifier() or key.startswith("__") or hasattr(known, key):
            raise ModelFileError(f"it sets an attribute {key[:80]!r}, which no fit makes")
        setattr(model, key, decode(item))
    if _STREAM in attributes:
        _resume(model)
    check_shapes(model)
    if _STREAM not in attributes or model._stream.fitted is not None:
        check_complete(model)
    return model


def _resume(model: Any) -> None:
    """Make a stream of its description; all that it shows follows from it."""
    from fnmf.persistence._streams import stream_from_dict

    width = getattr(model, "n_features_in_", None)
    model._stream = stream_from_dict(model._stream, width, model._pace())
    model._show()


def _parameters(known: Any, params: dict[str, Any], decode: "Decoder") -> dict[str, Any]:
    # Parameters that an older file does not name keep their default.
    names = known._get_param_names()
    unknown = sorted(set(params) - set(names))
    if unknown:
        raise ModelFileError(
            f"{known.__name__} has no parameter {unknown[0][:80]!r} in this version of fnmf"
        )
    values = {key: decode(item) for key, item in params.items()}
    jobs = values.get("n_jobs")
    if jobs is not None and (not isinstance(jobs, int) or abs(jobs) > _MOST_JOBS):
        raise ModelFileError(f"it asks for n_jobs={str(jobs)[:40]}")
    return values


def _kmeans(params: dict[str, Any], attributes: dict[str, Any], decode: "Decoder") -> Any:
    from sklearn.cluster import KMeans

    model = KMeans(**_parameters(KMeans, params, decode))
    values = {key: decode(attributes[key]) for key in _KMEANS_ATTRIBUTES if key in attributes}
    if values:
        check_kmeans(values)
        for key, value in values.items():
            setattr(model, key, value)
        model._n_threads = kmeans_threads()
        model.cluster_centers_ = np.ascontiguousarray(model.cluster_centers_)
    return model
