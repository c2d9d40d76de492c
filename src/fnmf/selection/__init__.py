"""Judging and choosing among fits."""

from fnmf.selection._starts import best_start

__all__ = ["best_start"]
