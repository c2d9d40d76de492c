"""Names, numbers and small pictures for people."""

from fnmf.display._curves import convergence
from fnmf.display._notebook import summary_html
from fnmf.display._text import (
    counted,
    distinct_titles,
    feature_names,
    listed,
    number,
    sample_names,
    side_by_side,
    trait,
    visible,
)
