"""Dask arrays: a view without rows, rows on workers, and a runner that sends work to them."""

from fnmf.execution.dask._outputs import as_dask, new_rows
from fnmf.execution.dask._runner import dask_runner
from fnmf.execution.dask._view import dask_view
