"""Some labels, some links: what a user knows of some rows, as ties and as relevance of features.

``known`` reads labels, ``links`` pairs of rows; ``spread`` carries labels along the affinity,
``linear`` reads them off the features, ``pool`` weighs both by labels that were held out, and
``guided`` is the fit. ``scheme`` makes it one of the library's schemes, ``next`` says which rows
are worth a label.
"""

from fnmf.labels.guidance import Guidance
from fnmf.labels.known import read_labels
from fnmf.labels.links import read_links
from fnmf.labels.new_rows import class_distributions
from fnmf.labels.next import samples_to_label
from fnmf.labels.scheme import FittedLabels, GuidedScheme

__all__ = [
    "FittedLabels",
    "Guidance",
    "GuidedScheme",
    "class_distributions",
    "read_labels",
    "read_links",
    "samples_to_label",
]
