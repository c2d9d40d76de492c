"""What a scheme is given, and what it gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.affinity import Arrays
from fnmf.data import Data, View
from fnmf.execution import RowArray, Runner
from fnmf.factorization.solver import HISTORY, Observe, Progress, SolverCheckpoint
from fnmf.factorization.terms import RULES, Kinds
from fnmf.relevance.defaults import DEFAULTS, Defaults

_PRINT_EVERY = 10


class Observer:
    """Receives the stages and iterations of a fit; this one does nothing about them."""

    wanted = False

    def begin_start(self) -> None:
        """The next start begins."""

    def stage(self, name: str) -> None:
        """What a start does from now on."""

    def iteration(self, progress: Progress, fitted: Callable[[], Fitted]) -> bool:
        """An iteration has ended; true ends the start. ``fitted`` makes the model so far."""
        return False

    def end_start(self) -> None:
        """The start has ended."""

    def end(self) -> None:
        """The fit has ended."""


class CheckpointCache:
    """Keeps what a fit should not compute twice; this one keeps nothing."""

    def cached(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """The arrays kept under a name; made, and kept, if there are none."""
        return make()

    def solver_checkpoint(self, name: str) -> SolverCheckpoint:
        """The checkpoint of a run of the solver."""
        return SolverCheckpoint()


@dataclass(frozen=True)
class Problem:
    """Data and what is asked of them; all checks are behind us.

    Attributes
    ----------
    settings : Settings
        Checked, also against the data.
    view : View
        X.
    labels_seed : int
        Seed of the k-means that gives the labels.
    observer : Observer
        Told about starts and iterations.
    cache : CheckpointCache
        Keeps what is expensive, where the user wants a checkpoint.
    sure : bool
        Whether anybody asks how sure samples and clusters are.
    defaults : Defaults
        Constants of the default fit.
    guidance : Any
        What the user knows of some rows, for a scheme that asks.
    """

    settings: Settings
    view: View
    labels_seed: int
    observer: Observer
    cache: CheckpointCache = field(default_factory=CheckpointCache)
    sure: bool = True
    defaults: Defaults = DEFAULTS
    guidance: Any = None


class ProgressReporter:
    """Reports stages and iterations, and remembers whether the observer wants to stop."""

    def __init__(self, problem: Problem) -> None:
        self.observer, self.verbose = problem.observer, problem.settings.verbose
        self.stopped = False

    def say(self, lines: Iterable[str]) -> None:
        """Print lines, if the user wants to read them."""
        for line in lines if self.verbose else ():
            print(f"[FNMF] {line}")

    def enter(self, name: str) -> None:
        """The next stage of a start begins."""
        if self.verbose:
            print(f"[FNMF] {name}")
        self.observer.stage(name)

    def iterations(self, fitted: Callable[[Progress], Fitted]) -> Observe | None:
        """What the solver calls after each iteration, if anyone wants to know."""
        if not (self.observer.wanted or self.verbose > 1):
            return None

        def observe(progress: Progress) -> bool:
            if self.verbose > 1 and progress.iteration % _PRINT_EVERY == 0:
                print(f"[FNMF] iteration {progress.iteration}: {progress.terms['total']:.6g}")
            if self.observer.iteration(progress, lambda: fitted(progress)):
                self.stopped = True
            return self.stopped

        return observe


class Scheme(ABC):
    """A way to fit, made once for a problem: what does not depend on the start is done then."""

    # What a start does one after the other, as far as an observer is told.
    stages: ClassVar[tuple[str, ...]] = ()
    # Whether rows of X can be recovered from their codes.
    decodes: ClassVar[bool] = True

    @abstractmethod
    def __init__(self, problem: Problem, runner: Runner) -> None: ...

    @classmethod
    @abstractmethod
    def kinds(cls, settings: Settings) -> Kinds:
        """The terms that its objective will have."""

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Raise unless these terms fit the solver, before any work is done."""
        cls.kinds(settings).check(RULES[settings.solver])

    @classmethod
    @abstractmethod
    def most_iterations(cls, settings: Settings) -> int:
        """Upper limit over all rounds of a start."""

    @abstractmethod
    def start(self, seed: int) -> Any:
        """All rounds from one seed.

        What comes has ``quality``, by which starts are compared (the larger, the better),
        ``ended`` (whether an observer wants no further start) and a text for the log.
        """

    @abstractmethod
    def fitted(self, start_result: Any) -> Fitted:
        """The model that the outcome stands for."""

    @staticmethod
    @abstractmethod
    def encode(fitted: Fitted, settings: Settings, view: View, runner: Runner) -> np.ndarray:
        """Codes of new rows, in double precision."""

    @classmethod
    def predict(cls, fitted: Fitted, settings: Settings, view: View, runner: Runner) -> np.ndarray:
        """Clusters of new rows: the nearest centre of their codes."""
        assert fitted.kmeans is not None
        codes = cls.encode(fitted, settings, view, runner)
        return fitted.kmeans.predict(np.ascontiguousarray(codes, fitted.embedding.dtype))

    @staticmethod
    @abstractmethod
    def comparable_rows(fitted: Fitted, view: View, runner: Runner) -> tuple[View, View]:
        """New rows and those kept from the fit, where distances between them count."""

    @staticmethod
    def decode(fitted: Fitted, codes: np.ndarray) -> np.ndarray:
        """Rows of X from their codes, if the scheme decodes."""
        raise NotImplementedError

    @staticmethod
    def lengths(fitted: Fitted, view: View, runner: Runner) -> Any:
        """Factors that new rows were multiplied with, (n, 1) or 1."""
        return 1.0


def with_rounds(histories: list[np.ndarray]) -> np.ndarray:
    """One history of several rounds, which a further field numbers."""
    rows = [(*row, number) for number, part in enumerate(histories) for row in part.tolist()]
    return np.array(rows, dtype=[*HISTORY.descr, ("round", np.int64)])


def every_row(P: RowArray, view: View) -> RowArray:
    """Assignments of all samples, also where they share one."""
    n = view.shape[0]
    # One row that all share is kept once.
    return P if len(P) == n else np.broadcast_to(P, (n, P.shape[1]))


def kept_rows(view: View) -> Data:
    """What a model keeps of the data that it finds no neighbours in; remote ones stay there."""
    return view.subset(np.empty(0, np.intp)).X if view.remote else view.X
