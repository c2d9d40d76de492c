"""The array types a model file may hold: numbers, booleans, fixed-length text, flat records."""

import re
from typing import Any

import numpy as np

_SIMPLE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[SU][1-9][0-9]{0,4})")
_MAX_FIELDS = 256
_LAST_CODE_POINT = 0x10FFFF


def dtype_to_json(dtype: np.dtype) -> Any:
    """A description from which :func:`dtype_from_json` makes the same type."""
    description: Any = dtype.str
    if dtype.names is not None:
        description = [[name, dtype.fields[name][0].str] for name in dtype.names]  # type: ignore[index]
    try:
        same = dtype_from_json(description) == dtype
    except ValueError:
        same = False
    if not same:
        raise TypeError(f"arrays of type {dtype} cannot be stored in a model file")
    return description


def dtype_from_json(description: Any) -> np.dtype:
    """The type that a header declares; ``ValueError`` for any type that is not allowed."""
    if isinstance(description, str) and _SIMPLE.fullmatch(description):
        return np.dtype(description)
    if isinstance(description, list) and 0 < len(description) <= _MAX_FIELDS:
        fields = []
        for field in description:
            if not isinstance(field, list) or len(field) != 2 or not isinstance(field[0], str):
                break
            if not (isinstance(field[1], str) and _SIMPLE.fullmatch(field[1])) or not field[0]:
                break
            fields.append((field[0], field[1]))
        else:
            return np.dtype(fields)
    raise ValueError(f"the array type {str(description)[:80]!r} is not allowed.")


def check_content(flat: np.ndarray) -> None:
    """Bit patterns that are no value of their type would be undefined behaviour later."""
    if flat.dtype.names is not None:
        for name in flat.dtype.names:
            check_content(np.ascontiguousarray(flat[name]))
    elif flat.dtype.kind == "b" and flat.size and flat.view(np.uint8).max() > 1:
        raise ValueError("a boolean array holds bytes other than 0 and 1.")
    elif flat.dtype.kind == "U" and flat.size:
        points = flat.view(np.dtype("u4").newbyteorder(flat.dtype.byteorder))
        if points.max() > _LAST_CODE_POINT:
            raise ValueError("a text array holds something that is not Unicode.")
