"""One self-contained HTML page from a fitted model, or from two of them."""

from fnmf.display import feature_names
from fnmf.reporting._labels import next_labels
from fnmf.reporting._page import write_page
from fnmf.reporting._report import Report, compare, report
from fnmf.reporting._summary import About, summarise

__all__ = [
    "About",
    "Report",
    "compare",
    "feature_names",
    "next_labels",
    "report",
    "summarise",
    "write_page",
]
