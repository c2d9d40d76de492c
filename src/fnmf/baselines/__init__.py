"""The methods that FNMF is compared with, and the one list of them all.

Classes are imported on first use, so that the list alone costs next to nothing.
"""

from typing import TYPE_CHECKING, Any

from fnmf.baselines import _entries as _entries
from fnmf.baselines import _rivals as _rivals
from fnmf.baselines.registry import (
    Card,
    Method,
    all_methods,
    register_method,
    registered,
    unregister_method,
)

# For type checkers alone; what exists is what the entries say.
if TYPE_CHECKING:
    from fnmf.baselines._can import CAN as CAN
    from fnmf.baselines._clr import CLR as CLR
    from fnmf.baselines._consensus import ConsensusKMeans as ConsensusKMeans
    from fnmf.baselines._entropykmeans import EntropyKMeans as EntropyKMeans
    from fnmf.baselines._gnmf import GNMF as GNMF
    from fnmf.baselines._ifpca import IFPCA as IFPCA
    from fnmf.baselines._kmeans import KMeans as KMeans
    from fnmf.baselines._kmm import KMM as KMM
    from fnmf.baselines._laplacianscore import LaplacianScore as LaplacianScore
    from fnmf.baselines._lcnmf import LCNMF as LCNMF
    from fnmf.baselines._leiden import Leiden as Leiden
    from fnmf.baselines._mcfs import MCFS as MCFS
    from fnmf.baselines._nmf import NMF as NMF
    from fnmf.baselines._nmf import RNMF as RNMF
    from fnmf.baselines._ongr import ONGR as ONGR
    from fnmf.baselines._pcan import PCAN as PCAN
    from fnmf.baselines._rmnmf import RMNMF as RMNMF
    from fnmf.baselines._sparsekmeans import SparseKMeans as SparseKMeans
    from fnmf.baselines._spectral_clustering import Spectral as Spectral

_HERE = {
    method.estimator.partition(":")[2]: method
    for method in registered().values()
    if method.estimator.startswith("fnmf.baselines.")
}
__all__ = ["Card", "Method", "all_methods", "register_method", "unregister_method"]
__all__ += sorted(_HERE)


def __getattr__(name: str) -> Any:
    if name in _HERE:
        return _HERE[name].load_class()
    raise AttributeError(f"module 'fnmf.baselines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
