"""The weightings of a fit by name, and the best of several starts."""

from collections.abc import Iterable

from fnmf._fitted import Fitted
from fnmf.execution import Runner
from fnmf.factorization import GivenScheme, PaperScheme, Problem, Scheme, StartResult, UniformScheme
from fnmf.relevance.scheme import RelevanceScheme

SCHEMES: dict[str, type[Scheme]] = {
    "relevance": RelevanceScheme,
    "paper": PaperScheme,
    "uniform": UniformScheme,
    "given": GivenScheme,
}


def best_start(
    problem: Problem, seeds: Iterable[int], runner: Runner, kind: type[Scheme] | None = None
) -> Fitted:
    """Fit from every seed with the scheme of the problem; the one of the best quality is kept.

    Of equal ones the first stays. What does not depend on the start is done once. ``kind`` is
    the scheme, if it is not that of the weighting.
    """
    scheme = (kind or SCHEMES[problem.settings.scheme])(problem, runner)
    best: StartResult | None = None
    for number, seed in enumerate(seeds):
        problem.observer.begin_start()
        start_result = scheme.start(int(seed))
        problem.observer.end_start()
        if problem.settings.verbose:
            print(f"[FNMF] start {number}: {start_result}")
        if best is None or start_result.quality > best.quality:
            best = start_result
        if start_result.ended:
            break
    assert best is not None
    return scheme.fitted(best)
