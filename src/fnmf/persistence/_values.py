"""Python values as JSON with references to arrays, and back.

JSON keeps None, booleans, integers, finite floats and strings as they are. Everything else
is an object whose key ``"$"`` names its kind.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data import MappedCSR
from fnmf.persistence._container import ModelFileError
from fnmf.persistence._dtypes import dtype_to_json
from fnmf.persistence._random import random_from_json, random_to_json

_SPARSE = {
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
}
_MAX_DEPTH = 40
_KIND = "$"

EstimatorToJson = Callable[[Any, "Encoder"], dict[str, Any] | None]
EstimatorFromJson = Callable[[dict[str, Any], "Decoder"], Any]


class Encoder:
    """Turns values into JSON and collects the arrays they refer to."""

    def __init__(self, estimator_to_json: EstimatorToJson) -> None:
        self.arrays: list[np.ndarray] = []
        self._estimator_to_json = estimator_to_json

    def __call__(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value if type(value) in (type(None), bool) else str(value)
        if type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {_KIND: "float", "value": repr(value)}
        if isinstance(value, (list, tuple)):
            kind = "list" if isinstance(value, list) else "tuple"
            return {_KIND: kind, "items": [self(v, f"{where}[{i}]") for i, v in enumerate(value)]}
        if isinstance(value, dict):
            items = [[self(k, where), self(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {_KIND: "dict", "items": items}
        if isinstance(value, np.generic):
            return {_KIND: "scalar", "array": self._add(np.asarray(value), where)}
        if isinstance(value, np.ndarray):
            return self._array(np.asarray(value), where)
        if isinstance(value, MappedCSR):
            value = sp.csr_array((value.data, value.indices, value.indptr), shape=value.shape)
        if type(value) in _SPARSE.values():
            parts = [self._add(getattr(value, p), where) for p in ("data", "indices", "indptr")]
            kind = type(value).__name__
            return {_KIND: "sparse", "type": kind, "shape": list(value.shape), "parts": parts}
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return {**self(random_to_json(value, where), where), _KIND: "random"}
        if (described := self._estimator_to_json(value, self)) is not None:
            return {_KIND: "estimator", **described}
        raise ModelFileError(
            f"{where} is of type {type(value).__name__}, which a model file cannot hold; "
            "it stores numbers, text, arrays, sparse CSR and CSC matrices and random states."
        )

    def _add(self, array: np.ndarray, where: str) -> int:
        try:
            # The container asks again; here the name of the value is known.
            dtype_to_json(array.dtype)
        except TypeError as error:
            raise ModelFileError(f"{where}: {error}.") from error
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _array(self, array: np.ndarray, where: str) -> dict[str, Any]:
        if array.dtype != object:
            return {_KIND: "array", "array": self._add(array, where)}
        texts = array.ravel().tolist()
        if not all(isinstance(text, str) for text in texts):
            raise ModelFileError(
                f"{where} is an array of Python objects; only arrays of text can be stored."
            )
        # One block of bytes and the lengths: names of a million features stay out of the JSON.
        coded = [text.encode("utf-8", "surrogatepass") for text in texts]
        lengths = np.array([len(text) for text in coded], dtype=np.int64)
        content = np.frombuffer(b"".join(coded), dtype=np.uint8)
        return {
            _KIND: "strings",
            "shape": list(array.shape),
            "lengths": self._add(lengths, where),
            "content": self._add(content, where),
        }


class Decoder:
    """Turns JSON back into values; every claim of the file is checked first."""

    def __init__(self, arrays: list[np.ndarray], estimator_from_json: EstimatorFromJson) -> None:
        self._arrays = arrays
        self._estimator_from_json = estimator_from_json
        self._depth = 0

    def __call__(self, node: Any) -> Any:
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if not isinstance(node, dict):
            raise ModelFileError("a value is neither a plain value nor a described one")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ModelFileError("values are nested too deeply")
        try:
            return self._described(node)
        finally:
            self._depth -= 1

    def _described(self, node: dict[str, Any]) -> Any:
        match node.get(_KIND):
            case "float":
                if node.get("value") not in ("nan", "inf", "-inf"):
                    raise ModelFileError("a special float is neither nan nor inf")
                return float(node["value"])
            case "list":
                return [self(item) for item in self._items(node)]
            case "tuple":
                return tuple(self(item) for item in self._items(node))
            case "dict":
                return self._dict(node)
            case "scalar":
                array = self._array(node.get("array"))
                if array.shape != ():
                    raise ModelFileError("a scalar is stored as an array with dimensions")
                return array[()]
            case "array":
                return self._array(node.get("array"))
            case "strings":
                return self._strings(node)
            case "sparse":
                return self._sparse(node)
            case "random":
                return random_from_json(self._dict(node))
            case "estimator":
                return self._estimator_from_json(node, self)
            case kind:
                raise ModelFileError(f"a value is of the unknown kind {str(kind)[:40]!r}")

    def _items(self, node: dict[str, Any]) -> list[Any]:
        items = node.get("items")
        if not isinstance(items, list):
            raise ModelFileError("a list has no items")
        return items

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        result = {}
        for pair in self._items(node):
            if not isinstance(pair, list) or len(pair) != 2:
                raise ModelFileError("a dictionary has an item that is not a pair")
            key = self(pair[0])
            if not (key is None or isinstance(key, (bool, int, float, str))):
                raise ModelFileError("a dictionary has a key that is not a plain value")
            result[key] = self(pair[1])
        return result

    def _array(self, index: Any) -> np.ndarray:
        if type(index) is not int or not 0 <= index < len(self._arrays):
            raise ModelFileError("a value refers to an array that does not exist")
        return self._arrays[index]

    def _strings(self, node: dict[str, Any]) -> np.ndarray:
        lengths, content = self._array(node.get("lengths")), self._array(node.get("content"))
        shape = node.get("shape")
        fits = (
            lengths.dtype == np.int64
            and lengths.ndim == 1
            and content.dtype == np.uint8
            and content.ndim == 1
            and isinstance(shape, list)
            and all(type(size) is int and size >= 0 for size in shape)
            and math.prod(shape) == len(lengths)
            and (lengths >= 0).all()
            # Python integers: a sum of int64 could wrap round to the right value.
            and sum(lengths.tolist()) == len(content)
        )
        if not fits:
            raise ModelFileError("an array of text does not fit its lengths")
        raw, texts, at = content.tobytes(), [], 0
        try:
            for length in lengths.tolist():
                texts.append(raw[at : at + length].decode("utf-8", "surrogatepass"))
                at += length
        except UnicodeDecodeError as error:
            raise ModelFileError("an array of text is not UTF-8") from error
        result = np.empty(len(texts), dtype=object)
        result[:] = texts
        return result.reshape(shape)

    def _sparse(self, node: dict[str, Any]) -> Any:
        kind, shape, parts = (
            _SPARSE.get(str(node.get("type"))),
            node.get("shape"),
            node.get("parts"),
        )
        if (
            kind is None
            or not isinstance(shape, list)
            or len(shape) != 2
            or not all(type(size) is int and 0 <= size < 1 << 48 for size in shape)
            or not isinstance(parts, list)
            or len(parts) != 3
        ):
            raise ModelFileError("a sparse matrix is described wrongly")
        data, indices, indptr = (self._array(part) for part in parts)
        if (
            any(part.ndim != 1 for part in (data, indices, indptr))
            or data.dtype.kind not in "biufc"
            or indices.dtype not in (np.int32, np.int64)
            or indptr.dtype not in (np.int32, np.int64)
            or len(indptr) != (shape[0] if "csr" in str(node["type"]) else shape[1]) + 1
        ):
            raise ModelFileError("a sparse matrix has arrays of the wrong type")
        matrix = kind((data, indices, indptr), shape=tuple(shape), copy=False)
        # SciPy accepts indices out of range unless asked; a compiled kernel must never see them.
        matrix.check_format(full_check=True)
        return matrix
