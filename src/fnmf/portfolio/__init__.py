"""Choosing how to prepare the data: candidates explored on a sample, and their judge."""

from fnmf.portfolio._explore import (
    Candidate,
    Task,
    Ways,
    explore,
    task_of,
)
from fnmf.portfolio._gates import gates, settled
from fnmf.portfolio._number import SCORES, Numbers, levels, possible, score_numbers, score_table
from fnmf.portfolio._resampling import (
    agrees_beyond_chance,
    come_back,
    factors,
    halves_agree,
    row_halves,
)
from fnmf.portfolio._structure import beyond_chance, structure
from fnmf.portfolio._table import Table
from fnmf.portfolio._treatments import column_treatments, row_treatments

__all__ = [
    "SCORES",
    "Candidate",
    "Numbers",
    "Table",
    "Task",
    "Ways",
    "agrees_beyond_chance",
    "beyond_chance",
    "column_treatments",
    "come_back",
    "explore",
    "factors",
    "gates",
    "halves_agree",
    "levels",
    "possible",
    "row_halves",
    "row_treatments",
    "score_numbers",
    "score_table",
    "settled",
    "structure",
    "task_of",
]
