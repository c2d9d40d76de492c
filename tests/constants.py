"""Fits with other constants than those of the library."""

from dataclasses import replace

from fnmf import FNMF


def vary(monkeypatch, **changes):
    """Let FNMF fit with some of its constants changed."""
    monkeypatch.setattr(FNMF, "_defaults", replace(FNMF._defaults, **changes))
