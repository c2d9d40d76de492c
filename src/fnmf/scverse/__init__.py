"""For users of scanpy: FNMF on AnnData, with results under names that scanpy's functions take.

``import fnmf.scverse as fv``, then ``fv.tl.fnmf(adata)`` computes and ``fv.pl`` draws. Needs the
extra ``scverse``.
"""

from fnmf.scverse import pl, tl

__all__ = ["pl", "tl"]
