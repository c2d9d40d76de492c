"""Random states as plain values. NumPy trusts the positions it is given, so they are checked."""

from typing import Any

import numpy as np

_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
# Words of the state: name of the field, its length (0: a plain integer) and its bits.
_WORDS: dict[str, dict[str, tuple[int, int]]] = {
    "PCG64": {"state": (0, 128), "inc": (0, 128)},
    "PCG64DXSM": {"state": (0, 128), "inc": (0, 128)},
    "MT19937": {"key": (624, 32), "pos": (0, 32)},
    "Philox": {"counter": (4, 64), "key": (2, 64)},
    "SFC64": {"state": (4, 64)},
}
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "has_gauss": 1}


def random_to_json(
    value: np.random.RandomState | np.random.Generator, where: str
) -> dict[str, Any]:
    """The complete state as a dictionary of plain values and arrays."""
    if isinstance(value, np.random.Generator):
        state = dict(value.bit_generator.state)
        if state["bit_generator"] not in _GENERATORS:
            from fnmf.persistence._container import ModelFileError

            raise ModelFileError(f"{where} uses the unknown generator {state['bit_generator']!r}.")
        return {"class": "Generator", **state}
    return {"class": "RandomState", **value.get_state(legacy=False)}


def random_from_json(state: dict[Any, Any]) -> np.random.RandomState | np.random.Generator:
    """The generator in the stored state; ``ValueError`` if the state is not a possible one."""
    kind, name = state.pop("class", None), state.get("bit_generator")
    if kind not in ("Generator", "RandomState") or name not in _GENERATORS:
        raise ValueError("a random state is of an unknown kind")
    if kind == "RandomState" and name != "MT19937":
        raise ValueError("a RandomState is stored with a foreign generator")
    inner = state.get("state")
    words = _WORDS[str(name)]
    if not isinstance(inner, dict) or inner.keys() != words.keys():
        raise ValueError("a random state is incomplete")
    for field, (length, bits) in words.items():
        _check_word(inner[field], field, length, bits)
    if name == "Philox":
        _check_word(state.get("buffer"), "buffer", 4, 64)
        _check_word(state.get("buffer_pos"), "buffer_pos", 0, 32)
    if name != "MT19937":
        _check_word(state.get("has_uint32"), "has_uint32", 0, 1)
        _check_word(state.get("uinteger"), "uinteger", 0, 32)
    if kind == "Generator":
        generator = getattr(np.random, str(name))()
        generator.state = state
        return np.random.Generator(generator)
    _check_word(state.get("has_gauss"), "has_gauss", 0, 1)
    if not isinstance(state.get("gauss"), float):
        raise ValueError("a random state is incomplete")
    result = np.random.RandomState()
    result.set_state(state)
    return result


def _check_word(value: Any, field: str, length: int, bits: int) -> None:
    if length:
        if not isinstance(value, np.ndarray) or value.shape != (length,):
            raise ValueError("a random state has words of the wrong length")
        if value.dtype != np.dtype(f"u{bits // 8}"):
            raise ValueError("a random state has words of the wrong type")
    elif (
        not isinstance(value, int | np.integer)
        or isinstance(value, bool)
        or not 0 <= int(value) <= _LARGEST.get(field, (1 << bits) - 1)
    ):
        raise ValueError(f"a random state has the impossible value {field}={value}")
