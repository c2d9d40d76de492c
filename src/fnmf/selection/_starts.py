"""The best of several starts."""

from collections.abc import Iterable

from fnmf._fitted import Fitted
from fnmf.runners import Runner
from fnmf.schemes import SCHEMES, Outcome, Problem


def best_start(problem: Problem, seeds: Iterable[int], runner: Runner) -> Fitted:
    """Fit from every seed with the scheme of the problem; the one of the best quality is kept.

    Of equal ones the first stays. What does not depend on the start is done once.
    """
    scheme = SCHEMES[problem.settings.weighting](problem, runner)
    best: Outcome | None = None
    for number, seed in enumerate(seeds):
        problem.observer.begin_start()
        outcome = scheme.start(int(seed))
        problem.observer.end_start()
        if problem.settings.verbose:
            print(f"[FNMF] start {number}: {outcome}")
        if best is None or outcome.quality > best.quality:
            best = outcome
        if outcome.ended:
            break
    assert best is not None
    return scheme.fitted(best)
