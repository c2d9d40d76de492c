"""One self-contained HTML page from a fitted model, or from two of them."""

from fnmf.reporting._report import Report, compare, report

__all__ = ["Report", "compare", "report"]
