"""Freed memory goes back to the system, not into a store for later."""

import ctypes
import sys


def release_freed_memory() -> None:
    """Ask the allocator to give back what it keeps; where it cannot be asked, do nothing.

    Small buffers come from one heap for each thread, and glibc holds on to freed parts of it:
    without this, the buffers of a search would still be counted during the fit that follows.
    """
    if not sys.platform.startswith("linux"):
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
