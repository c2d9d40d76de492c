"""The first fit on a machine compiles its kernels; whoever waits for that should know."""

import os
import sys
from functools import cache
from pathlib import Path


@cache
def tell_first_compiling() -> None:
    """Say once that kernels are compiled, if none was compiled here before."""
    if not compiled_before():
        print("Compiling, only the first time: about ten seconds.", file=sys.stderr, flush=True)


def compiled_before() -> bool:
    """Whether numba finds compiled kernels of this package."""
    import numba

    import fnmf

    package = Path(fnmf.__file__).parent
    chosen = getattr(numba.config, "CACHE_DIR", "")
    # Where the package cannot be written, numba keeps them with the user.
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "numba"
    for place in [Path(chosen)] if chosen else [package, home]:
        if place.is_dir() and next(place.rglob("*.nbi"), None) is not None:
            return True
    return False
