"""Ten methods that FNMF is compared with, and one list of them all.

Classes are imported on first use, so that the list alone costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from fnmf.baselines._registry import Method, all_methods

__all__ = [
    "CAN",
    "CLR",
    "GNMF",
    "KMM",
    "LCNMF",
    "NMF",
    "ONGR",
    "PCAN",
    "RMNMF",
    "RNMF",
    "Method",
    "all_methods",
]

if TYPE_CHECKING:
    from fnmf.baselines._can import CAN
    from fnmf.baselines._clr import CLR
    from fnmf.baselines._gnmf import GNMF
    from fnmf.baselines._kmm import KMM
    from fnmf.baselines._lcnmf import LCNMF
    from fnmf.baselines._nmf import NMF
    from fnmf.baselines._ongr import ONGR
    from fnmf.baselines._pcan import PCAN
    from fnmf.baselines._rmnmf import RMNMF
    from fnmf.baselines._rnmf import RNMF


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module(f"fnmf.baselines._{name.lower()}"), name)
    raise AttributeError(f"module 'fnmf.baselines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
