"""Factorisation with weights and an affinity, and what every scheme is made of."""

from fnmf.factorization._initial import initial_factors, with_known
from fnmf.factorization._problem import (
    CheckpointCache,
    Observer,
    Problem,
    ProgressReporter,
    Scheme,
    every_row,
    kept_rows,
    with_rounds,
)
from fnmf.factorization._sample_start import (
    Samples,
    SolverRun,
    sample_sizes,
    start_on_samples,
)
from fnmf.factorization._schemes import GivenScheme, PaperScheme, UniformScheme
from fnmf.factorization.solver import anchor_codes, ties_along
