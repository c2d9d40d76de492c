"""Choosing how to prepare the data: candidates explored on a sample, and their judge."""

from fnmf.portfolio._explore import (
    Candidate,
    Task,
    beyond_chance,
    explore,
    gates,
    row_treatments,
    structure,
    task_of,
)
from fnmf.portfolio._table import Table

__all__ = [
    "Candidate",
    "Table",
    "Task",
    "beyond_chance",
    "explore",
    "gates",
    "row_treatments",
    "structure",
    "task_of",
]
