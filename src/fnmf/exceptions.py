"""Warnings the library raises on its own account."""


class NoStructureWarning(UserWarning):
    """Clusters were asked for, and nothing beyond chance was found."""


class WeightCollapseWarning(UserWarning):
    """Nearly all feature weight sits on a few features that explain nothing.

    The remedy is in the message: ``weighting="relevance"``.
    """
