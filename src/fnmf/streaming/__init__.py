"""Fits that never end: a sample of what the stream was lately, and sums that decay."""

from fnmf.streaming._memory import Memory
from fnmf.streaming._renewal import renewed
from fnmf.streaming._reservoir import Reservoir

__all__ = ["Memory", "Reservoir", "renewed"]
