"""The one place that knows scikit-learn's callback interface, which is still experimental."""

from collections.abc import Callable
from typing import Any

from fnmf.engine.solver import Progress


class IterationHooks:
    """Tells an estimator's callbacks about starts and iterations.

    Parameters
    ----------
    estimator : estimator with ``CallbackSupportMixin``
        Its callbacks are called, if it has any.
    X : array-like
        The training data, handed to callbacks that ask for it.
    n_starts, max_iter : int
        How many tasks there can be on each level.
    """

    def __init__(self, estimator: Any, X: Any, n_starts: int, max_iter: int) -> None:
        self.estimator, self.X = estimator, X
        self.wanted = hasattr(estimator, "_skl_callbacks")
        self.n_starts, self.max_iter = n_starts, max_iter
        if self.wanted:
            # A single start is not worth a level of its own in a progress bar.
            self._root = estimator._init_callback_context(
                max_subtasks=n_starts if n_starts > 1 else max_iter
            ).call_on_fit_task_begin(estimator=estimator, X=X)

    def start(self) -> Any:
        """Context of the next start."""
        if not self.wanted or self.n_starts == 1:
            return self._root if self.wanted else None
        return self._root.subcontext("start", max_subtasks=self.max_iter).call_on_fit_task_begin(
            estimator=self.estimator, X=self.X
        )

    def iteration(
        self, start: Any, progress: Progress, attributes: Callable[[], dict[str, Any]]
    ) -> bool:
        """Report an iteration; true if a callback wants to stop."""
        if not self.wanted:
            return False
        context = start.subcontext("iteration")
        context.call_on_fit_task_begin(estimator=self.estimator, X=self.X)
        return bool(
            context.call_on_fit_task_end(
                estimator=self.estimator,
                X=self.X,
                metadata={"iteration": progress.iteration, **progress.terms},
                reconstruction_attributes=lambda: _snapshot(attributes()),
            )
        )

    def end_start(self, start: Any) -> None:
        if self.wanted and self.n_starts > 1:
            start.call_on_fit_task_end(estimator=self.estimator, X=self.X)

    def end(self) -> None:
        if self.wanted:
            self._root.call_on_fit_task_end(estimator=self.estimator, X=self.X)


def _snapshot(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes that a callback may keep: the solver updates these two in place."""
    return {
        name: value.copy() if name in ("embedding_", "assignments_") else value
        for name, value in attributes.items()
    }
