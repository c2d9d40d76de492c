"""Dask arrays: their blocks stay where they are, and the work comes to them."""

from fnmf.distributed._outputs import as_dask, new_rows
from fnmf.distributed._runner import dask_runner
from fnmf.distributed._view import dask_view

__all__ = ["as_dask", "dask_runner", "dask_view", "new_rows"]
