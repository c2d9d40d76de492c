"""Clustering and representation of non-negative data when many features are useless.

Public names are imported on first use, so that ``import fnmf`` stays fast: neither
numba nor matplotlib is loaded before something needs it.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Checkpoint": "fnmf._checkpoint",
    "DeepFNMF": "fnmf._deep",
    "FNMF": "fnmf._fnmf",
    "MappedCSR": "fnmf.data",
    "MiniBatchFNMF": "fnmf._minibatch",
    "RelevanceClusterer": "fnmf._clusterer",
    "SemiFNMF": "fnmf._semi",
    "SemiMiniBatchFNMF": "fnmf._semi_stream",
    "SemiRelevanceClusterer": "fnmf._semi",
    "WeightCollapseWarning": "fnmf.exceptions",
    "choose_n_components": "fnmf._choose",
    "load": "fnmf.persistence",
    "report": "fnmf.reporting",
    "save": "fnmf.persistence",
}
_MODULES = (
    "baselines",
    "choosing",
    "datasets",
    "describe",
    "exceptions",
    "explain",
    "graph",
    "inspection",
    "labels",
    "metrics",
    "reporting",
    "scverse",
)

__all__ = [
    "FNMF",
    "Checkpoint",
    "DeepFNMF",
    "MappedCSR",
    "MiniBatchFNMF",
    "RelevanceClusterer",
    "SemiFNMF",
    "SemiMiniBatchFNMF",
    "SemiRelevanceClusterer",
    "WeightCollapseWarning",
    "__version__",
    "choose_n_components",
    "load",
    "report",
    "save",
    *_MODULES,
]

if TYPE_CHECKING:
    from fnmf._checkpoint import Checkpoint
    from fnmf._choose import choose_n_components
    from fnmf._clusterer import RelevanceClusterer
    from fnmf._deep import DeepFNMF
    from fnmf._fnmf import FNMF
    from fnmf._minibatch import MiniBatchFNMF
    from fnmf._semi import SemiFNMF, SemiRelevanceClusterer
    from fnmf._semi_stream import SemiMiniBatchFNMF
    from fnmf.data import MappedCSR
    from fnmf.exceptions import WeightCollapseWarning
    from fnmf.persistence import load, save
    from fnmf.reporting import report


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"fnmf.{name}")
    raise AttributeError(f"module 'fnmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
