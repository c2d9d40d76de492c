"""Names, numbers and small pictures for people."""

from fnmf.display._curves import convergence
from fnmf.display._names import feature_names, sample_names
from fnmf.display._notebook import summary_html
from fnmf.display._text import (
    counted,
    distinct_titles,
    listed,
    number,
    side_by_side,
    visible,
)
from fnmf.display._traits import trait
