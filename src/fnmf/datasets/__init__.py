"""The data sets of the paper, synthetic ones with a known answer, and noise for any of them."""

from fnmf.datasets._noise import add_noise_features, noised_yale, occlude, unit_rows
from fnmf.datasets._synthetic import make_noisy_gaussians, make_planted_subspaces
from fnmf.datasets.loading import available, load

__all__ = [
    "add_noise_features",
    "available",
    "load",
    "make_noisy_gaussians",
    "make_planted_subspaces",
    "noised_yale",
    "occlude",
    "unit_rows",
]
