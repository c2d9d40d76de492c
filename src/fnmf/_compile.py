"""Compiled functions, kept on disk where there is a place for them."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numba

__all__ = ["njit"]


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit``; where nothing can be written, functions are compiled in every process.

    Numba refuses ``cache=True`` when neither the folder of the package nor the home of the user
    can be written to.
    """

    # Nobody calls compiled functions from C, and pieces that are inlined from nowhere else.
    options["no_cfunc_wrapper"] = True
    if options.get("forceinline"):
        options |= {"cache": False, "no_cpython_wrapper": True}

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _tell()
            return numba.njit(**{**options, "cache": False})(function)

    return compiled


@cache
def _tell() -> None:
    """Once in a process: what it costs, and the remedy."""
    warnings.warn(
        "Compiled functions cannot be kept: neither the folder of fnmf nor the user's cache folder "
        "can be written to. They are compiled anew in every process, which takes about a minute; "
        "set NUMBA_CACHE_DIR to a folder that can be written to.",
        RuntimeWarning,
        stacklevel=2,
    )
