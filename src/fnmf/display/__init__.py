"""Names, numbers and small pictures for people."""

from fnmf.display._curves import convergence
from fnmf.display._names import feature_names, sample_names
from fnmf.display._notebook import summary_html
from fnmf.display._text import counted, listed, number, visible

__all__ = [
    "convergence",
    "counted",
    "feature_names",
    "listed",
    "number",
    "sample_names",
    "summary_html",
    "visible",
]
