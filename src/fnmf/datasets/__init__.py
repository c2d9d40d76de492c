"""The data sets of the paper, synthetic ones with a known answer, and noise for any of them."""

from fnmf.datasets._load import (
    available,
    canonical_name,
    checked_file,
    fetch_original,
    find,
    load,
)
from fnmf.datasets._noise import add_noise_features, noised_yale, occlude, unit_rows
from fnmf.datasets._registry import SOURCES, Source
from fnmf.datasets._synthetic import make_noisy_gaussians, make_planted_subspaces

__all__ = [
    "SOURCES",
    "Source",
    "add_noise_features",
    "available",
    "canonical_name",
    "checked_file",
    "fetch_original",
    "find",
    "load",
    "make_noisy_gaussians",
    "make_planted_subspaces",
    "noised_yale",
    "occlude",
    "unit_rows",
]
