"""Judging and choosing among fits, and among numbers of clusters."""

from fnmf.selection._consensus import consensus
from fnmf.selection._number import NUMBERS, NumberOfClusters, choose_number
from fnmf.selection._starts import best_start

__all__ = ["NUMBERS", "NumberOfClusters", "best_start", "choose_number", "consensus"]
