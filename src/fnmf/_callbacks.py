"""Starts and iterations of a fit, told to scikit-learn's callbacks."""

from collections.abc import Callable
from typing import Any

from fnmf._base import in_chunks
from fnmf._fitted import Fitted
from fnmf._sklearn import fit_context
from fnmf.factorization import Observer
from fnmf.factorization.solver import Progress


class IterationHooks(Observer):
    """Tells an estimator's callbacks about starts and iterations; an ``Observer`` of schemes.

    Parameters
    ----------
    estimator : estimator with ``CallbackSupportMixin``
        Its callbacks are called.
    X : array-like
        The training data, handed to callbacks that ask for it.
    n_starts, max_iter : int
        How many tasks there can be on each level.
    n_stages : int
        What else a start does besides iterations, each a task of its own.
    """

    wanted = True

    def __init__(
        self, estimator: Any, X: Any, n_starts: int, max_iter: int, n_stages: int = 0
    ) -> None:
        self.estimator, self.X = estimator, X
        self.n_starts, self.max_tasks = n_starts, max_iter + n_stages
        self._stage: Any = None
        self._asked = False
        # A single start is not worth a level of its own in a progress bar.
        context = fit_context(estimator, n_starts if n_starts > 1 else self.max_tasks)
        self._root = context.call_on_fit_task_begin(estimator=estimator, X=X)
        self._start = self._root

    def begin_start(self) -> None:
        if self.n_starts > 1:
            context = self._root.subcontext("start", max_subtasks=self.max_tasks)
            self._start = context.call_on_fit_task_begin(estimator=self.estimator, X=self.X)

    def stage(self, name: str) -> None:
        self._end_stage()
        context = self._start.subcontext(name)
        self._stage = context.call_on_fit_task_begin(estimator=self.estimator, X=self.X)

    def _end_stage(self) -> None:
        if self._stage is not None:
            asked = self._stage.call_on_fit_task_end(estimator=self.estimator, X=self.X)
            # Nothing can end before the first iteration: who wants to is heard then.
            self._asked = self._asked or bool(asked)
            self._stage = None

    def iteration(self, progress: Progress, fitted: Callable[[], Fitted]) -> bool:
        context = self._start.subcontext("iteration")
        context.call_on_fit_task_begin(estimator=self.estimator, X=self.X)
        asked = bool(
            context.call_on_fit_task_end(
                estimator=self.estimator,
                X=self.X,
                metadata={"iteration": progress.iteration, **progress.terms},
                reconstruction_attributes=lambda: in_chunks(fitted().attributes(copy=True), self.X),
            )
        )
        return asked or self._asked

    def end_start(self) -> None:
        self._end_stage()
        if self.n_starts > 1:
            self._start.call_on_fit_task_end(estimator=self.estimator, X=self.X)

    def end(self) -> None:
        self._root.call_on_fit_task_end(estimator=self.estimator, X=self.X)
