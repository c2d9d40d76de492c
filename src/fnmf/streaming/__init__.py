"""Fits that never end: a sample of what the stream was lately, and sums that decay."""

from fnmf.streaming._memory import Memory
from fnmf.streaming._reading import Sums
from fnmf.streaming._reservoir import Reservoir
from fnmf.streaming._stream import Pace, Stream

__all__ = ["Memory", "Pace", "Reservoir", "Stream", "Sums"]
