"""One X: rows by block, by index and rescaled, whatever holds them."""

from fnmf.data._distinct import DistinctRows, as_counts, distinct_rows, repeated_rows, repeats
from fnmf.data._mapped import MappedCSR
from fnmf.data._missing import (
    ExpectedView,
    Fill,
    IncompleteView,
    dense_if_missing,
)
from fnmf.data._open import (
    SPARSE_BELOW,
    Data,
    as_view,
    canonical,
    check_structure,
    has_missing,
    is_dask,
    quickest,
    view_of,
)
from fnmf.data._views import BATCH, Scaling, View, drawn, spans, working_dtype
