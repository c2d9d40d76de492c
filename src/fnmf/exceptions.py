"""Warnings and errors the library raises on its own account."""


class ClusterLostError(RuntimeError):
    """The cluster that a fit ran on is gone; with a checkpoint it can go on later."""


class EmptyFeatureWarning(UserWarning):
    """Some features have no value in any sample."""


class NoStructureWarning(UserWarning):
    """Clusters were asked for, and nothing beyond chance was found."""


class AmbiguousClustersWarning(UserWarning):
    """Other clusters of the same rows hold up as well as those that were chosen."""


class WeightCollapseWarning(UserWarning):
    """Nearly all feature weight sits on a few features, or on a single one of five columns or more.

    Those of ``weighting="paper"`` may explain nothing. The remedy is in the message.
    """
