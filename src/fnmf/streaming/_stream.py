"""The state of a stream: all that a fit keeps between two batches."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.affinity import completed_new
from fnmf.data import View, has_missing
from fnmf.execution import Runner
from fnmf.labels.guidance import Guidance
from fnmf.labels.known import Known
from fnmf.streaming._memory import Memory
from fnmf.streaming._renewal import Before, renewed
from fnmf.streaming._reservoir import Reservoir
from fnmf.validation import check_real

_MAX_SEED = np.iinfo(np.int32).max
# The model is renewed when this share of what is remembered has come since the last time,
_RENEW = 0.75
# counted, once the sample is full, from the whole memory or this many samples: a stream that
# stays as it was has nothing new to say earlier.
_SAMPLES = 64
# A stream has changed when this share of what is remembered does not fit the model.
_CHANGED = 0.5
# Components of a stream whose number is ours to choose, until a row has a label.
_COMPONENTS = 8


def with_values(view: View) -> np.ndarray:
    """Which rows of a batch have any value."""
    if not has_missing(view.X):
        return np.ones(view.shape[0], bool)
    return ~np.isnan(view.X).all(axis=1)


@dataclass(frozen=True)
class Pace:
    """How fast a stream forgets, and how much of it is kept.

    Attributes
    ----------
    settings : Settings
        Of the renewals; of the components "auto" is the number of labelled classes.
    batch_size : int
        Rows after which a row counts ``forget_factor`` times what it did.
    forget_factor : float
        At most 1.
    sample_size : int
        Rows kept.
    trust_labels : bool
        Whether given labels are kept whatever the data say.
    class_sizes : mapping, sequence or None
        How many samples each class has, in any units.
    """

    settings: Settings
    batch_size: int
    forget_factor: float
    sample_size: int
    trust_labels: bool = True
    class_sizes: Any = None

    def __post_init__(self) -> None:
        if check_real("forget_factor", self.forget_factor, strict=True) > 1:
            raise ValueError(
                f"forget_factor={self.forget_factor} is more than 1; use 1 to forget nothing, "
                "or a little less."
            )
        if self.sample_size < self.fewest:
            raise ValueError(
                f"sample_size={self.sample_size} is too small; {self.fewest} rows are needed for "
                "these n_components, n_clusters and n_neighbors."
            )

    @property
    def fewest(self) -> int:
        """Rows without which there is no model."""
        own = self.numbered(0).settings
        return max(own.n_components, own.clusters, own.n_neighbors + 2)

    def numbered(self, n_classes: int) -> Pace:
        """With as many components as labelled classes, if their number is ours to choose."""
        if not self.settings.automatic:
            return self
        return replace(self, settings=self.settings.with_components(n_classes or _COMPONENTS))

    def guided(self, known: Known) -> Guidance | None:
        """What labels of rows have to say to a renewal."""
        if not len(known.rows):
            return None
        return Guidance(known, trusted=self.trust_labels, class_sizes=self.class_sizes)

    @property
    def memory(self) -> float:
        """Rows that a long stream remembers."""
        rate = 1 - self.forget_factor
        return self.batch_size / rate if rate > 0 else math.inf


@dataclass
class Stream:
    """What is known of the rows so far.

    Attributes
    ----------
    rng : RandomState
        Draws the sample and the seeds of renewals.
    reservoir : Reservoir
        The sample.
    weight, fresh, passed : float
        Rows remembered, how many of them came since the last renewal, and all that came; each
        counts as its weight.
    odd : float
        Share of strange rows among the last ``batch_size``, about.
    seen, steps, renewals, sampled : int
        Rows and batches so far, renewals, and the rows that the last of them had.
    fitted, memory : Fitted and Memory, or None
        The model and the sums, as soon as there are rows enough.
    classes : ndarray
        Names of the classes that rows were labelled with, in the order in which they came.
    """

    rng: np.random.RandomState
    reservoir: Reservoir
    weight: float = 0.0
    fresh: float = 0.0
    passed: float = 0.0
    odd: float = 0.0
    seen: int = 0
    steps: int = 0
    renewals: int = 0
    sampled: int = 0
    fitted: Fitted | None = None
    memory: Memory | None = None
    classes: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def learn(self, view: View, pace: Pace, runner: Runner, given: Known | None = None) -> bool:
        """Learn from a batch, whose rows may have weights or classes; True if refitted."""
        before = len(self.classes)
        n, k = view.total, max(pace.numbered(before).settings.clusters, before)
        if self.memory is not None and len(self.memory.sums.counts) != k:
            raise ValueError(
                f"The stream has {len(self.memory.sums.counts)} clusters, and {k} are asked for "
                "now; begin a new stream, with sklearn.base.clone or fit."
            )
        decay = pace.forget_factor ** (n / pace.batch_size)
        self.seen += view.shape[0]
        self.passed += n
        self.steps += 1
        self.weight, self.fresh = self.weight * decay + n, self.fresh * decay + n
        age = -math.log(pace.forget_factor) * self.passed / pace.batch_size
        some = with_values(view)
        rows = view if some.all() else view.subset(np.flatnonzero(some))
        codes = None if given is None else self._codes(given)[some]
        self.reservoir.add(rows.X, age, pace.sample_size, self.rng, rows.weights, codes)
        if len(self.reservoir) < pace.fewest:
            return False
        if self._due(pace):
            self.renew(pace, runner)
            return True
        assert self.fitted is not None
        assert self.memory is not None
        memory = self.memory.decayed(decay)
        if rows.shape[0]:
            # Missing cells are what the nearest rows of the sample have there.
            if has_missing(rows.X):
                rows = completed_new(rows.X, self.fitted, runner).weighing(rows.weights)
            self.memory, self.fitted = memory.with_batch(self.fitted, rows, runner)
        strange = float(self.memory.sums.strange[0] - memory.sums.strange[0]) / n
        self.odd += (strange - self.odd) * min(1.0, n / pace.batch_size)
        return False

    def _codes(self, given: Known) -> np.ndarray:
        """Numbers of classes by the names of the stream, to which new ones are added."""
        known = {str(name) for name in self.classes}
        new = [name for name in given.classes.tolist() if str(name) not in known]
        if new:
            self.classes = np.array([*self.classes.tolist(), *new])
        names = {str(name): code for code, name in enumerate(self.classes)}
        numbers = np.array([*(names[str(name)] for name in given.classes), -1])
        return numbers[given.codes]

    def renew(self, pace: Pace, runner: Runner) -> None:
        """Find the model anew on the sample."""
        seed = self.rng.randint(_MAX_SEED)
        before = None
        if self.fitted is not None and self.memory is not None:
            before = Before(self.fitted, self.memory, len(self.reservoir) <= self.sampled)
        guidance = pace.guided(Known(self.classes, self.reservoir.codes))
        settings = pace.numbered(len(self.classes)).settings
        settings = settings if guidance is None else guidance.settings(settings)
        self.fitted, self.memory = renewed(
            self.reservoir, settings, seed, self.weight, before, guidance, runner
        )
        self.fresh, self.odd, self.sampled = 0.0, 0.0, len(self.reservoir)
        self.renewals += 1

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """What the last renewal found worth telling."""
        return () if self.fitted is None else self.fitted.warnings

    def better_sample(self, pace: Pace) -> bool:
        """Whether the sample has grown since the last renewal, which had too few rows."""
        return self.fitted is None or (self.fresh > 0 and self.sampled < pace.sample_size)

    def _due(self, pace: Pace) -> bool:
        if self.fitted is None or self.memory is None:
            return True
        named: Any = getattr(self.fitted, "classes", ())
        if not np.isin(self.classes, named).all():
            # The model does not know a class by its name.
            return True
        if self.memory.sums.strange[0] >= _CHANGED * self.weight:
            return True
        # In the middle of a change a sample of both kinds would tell nothing of either.
        if self.fresh < _RENEW * self.weight or self.odd > _CHANGED:
            return False
        most = min(pace.memory, _SAMPLES * pace.sample_size)
        return self.sampled < pace.sample_size or self.fresh >= _RENEW * most
