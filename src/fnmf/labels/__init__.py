"""Some labels, some links: what a user knows of some rows, as ties and as relevance of features.

``known`` reads labels, ``links`` pairs of rows; ``spread`` carries labels along the affinity,
``linear`` reads them off the features, ``pool`` weighs both by labels that were held out, and
``guided`` is the fit. ``scheme`` makes it one of the library's schemes, ``next`` says which rows
are worth a label.
"""

from fnmf.labels.next import samples_to_label

__all__ = ["samples_to_label"]
