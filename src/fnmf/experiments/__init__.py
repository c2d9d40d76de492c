"""The paper's experiments: what to run, a store of results, and tables and figures drawn from it.

A method is an entry added with :func:`register_method`, a data set a loader added with
:func:`register_dataset`; ``fnmf reproduce --with my_file.py`` runs a file that adds both.
"""

from fnmf.experiments._plan import PROFILES, TARGETS
from fnmf.experiments._registry import (
    Method,
    Problem,
    methods,
    problems,
    register_dataset,
    register_method,
    run_plugin,
)
from fnmf.experiments._reproduce import Order, reproduce
from fnmf.experiments._schedule import Progress
from fnmf.experiments._store import Store

__all__ = [
    "PROFILES",
    "TARGETS",
    "Method",
    "Order",
    "Problem",
    "Progress",
    "Store",
    "methods",
    "problems",
    "register_dataset",
    "register_method",
    "reproduce",
    "run_plugin",
]
