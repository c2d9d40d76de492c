"""Compiled functions, kept on disk where there is a place for them."""

import logging
import os
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

__all__ = ["FAST", "compiled_before", "njit", "tell_first_compiling"]

# What the compiler may do to sums: reassociation lets them be vectorised; NaN and infinity keep
# their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
# Without a handler of the user's Python writes warnings to stderr.
_LOG = logging.getLogger("fnmf")


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
        "can be written to. They are compiled anew in every process, which takes about ten "
        "seconds; set NUMBA_CACHE_DIR to a folder that can be written to.",
        RuntimeWarning,
        stacklevel=2,
    )


@cache
def tell_first_compiling() -> None:
    """Log once that kernels are compiled, if none was compiled here before."""
    if not _tell.cache_info().currsize and not compiled_before():
        _LOG.warning("Compiling, only the first time: about ten seconds.")


def compiled_before() -> bool:
    """Whether numba finds compiled kernels of this package."""
    package = Path(__file__).parent
    chosen = getattr(numba.config, "CACHE_DIR", "")
    # Where the package cannot be written, numba keeps them with the user.
    # Where no home is known, this stays "~", as in numba.
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "numba"
    for place in [Path(chosen)] if chosen else [package, home]:
        if place.is_dir() and next(place.rglob("*.nbi"), None) is not None:
            return True
    return False
