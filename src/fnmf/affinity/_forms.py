"""Exact rows come as arrays or CSR matrices; distances want to know which."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def is_sparse(block: Any) -> bool:
    return bool(sp.issparse(block))


def as_dense(block: Any) -> np.ndarray:
    return block.toarray() if is_sparse(block) else block
