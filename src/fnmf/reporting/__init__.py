"""One self-contained HTML page from a fitted model."""

from fnmf.reporting._page import report

__all__ = ["report"]
