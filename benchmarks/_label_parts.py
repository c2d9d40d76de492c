"""Parts of the benchmark of labels that need no peers: effects apart, budgets of labels, time."""

from collections.abc import Iterator
from contextlib import nullcontext
from time import process_time
from typing import Any
from unittest import mock

import numpy as np

from _label_peers import data, labelled
from fnmf import FNMF, SemiFNMF
from fnmf._settings import Settings
from fnmf.data import view_of
from fnmf.execution import Runner
from fnmf.factorization import Observer, Problem
from fnmf.labels import guided, samples_to_label
from fnmf.labels.guidance import Guidance
from fnmf.labels.guided import GuidedClasses, guide
from fnmf.labels.known import read_labels
from fnmf.labels.links import read_links
from fnmf.relevance.pipeline import inputs_of, search_features

# Sets on which effects and budgets are measured.
FEW = ("mfeat", "semeion", "cnae-9", "turkish_music_emotion", "diabetic_retinopathy_debrecen")
# Steps of a budget, each as many labels as there are classes.
STEPS = 8
Row = tuple[str, str, float, int, str, float]


class Guided:
    """Everything of a fit that labels do not change, then as many fits as there are splits."""

    def __init__(self, X: np.ndarray, n_classes: int, runner: Runner) -> None:
        settings = Settings.of(FNMF(n_classes).get_params(deep=False)).for_data(X)
        self.inputs = inputs_of(Problem(settings, view_of(X), 0, Observer()), runner)
        self.search = search_features(self.inputs, 0)

    def fit(self, given: Any, **options: Any) -> tuple[np.ndarray, GuidedClasses]:
        """Classes of all rows by number, and what led to them."""
        n = self.inputs.statistics.view.shape[0]
        known = read_labels(given, n)
        links = (read_links(name, options.get(name), n) for name in ("must_link", "cannot_link"))
        guidance = Guidance(known, *links, True, options.get("class_sizes"))
        found, classes = guide(self.inputs, *self.search, guidance, 0)
        return np.asarray(found.labels), classes


def effects(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """Each of what labels do left out in turn: ties, weights of features, names of clusters."""
    opinions = guided.Surroundings.opinions

    def without(place: int) -> Any:
        def flat(self: Any, seeds: Any) -> Any:
            said = list(opinions(self, seeds))
            said[place] = np.broadcast_to(np.log(self.prior), said[place].shape).copy()
            return tuple(said)

        return mock.patch.object(guided.Surroundings, "opinions", flat)

    def nothing(statistics: Any, *_: Any) -> np.ndarray:
        return np.zeros(statistics.view.shape[1])

    switches = {
        "all": nullcontext,
        "no ties": lambda: without(0),
        "no weights of features": lambda: mock.patch.object(guided, "label_relevance", nothing),
        "no names of clusters": lambda: without(1),
    }
    for name in (*FEW, "planted beside other groups"):
        X, y = data(name) if name in FEW else beside_other_groups()
        ours = Guided(X, y.max() + 1, runner)
        for share in (1, 0.05, 0.1):
            for split in range(splits):
                given = np.where(labelled(y, share, split), y, -1)
                for method, switch in switches.items():
                    with switch():
                        found, _ = ours.fit(given)
                    right = float(np.mean(found[given < 0] == y[given < 0]))
                    yield "effects", name, share, split, method, right


def beside_other_groups() -> tuple[np.ndarray, np.ndarray]:
    """Three classes on ten features, three stronger groups on twenty, and a hundred of noise."""
    rng = np.random.default_rng(0)
    y, others = rng.integers(0, 3, (2, 600))
    shown = [np.eye(3)[:, rng.integers(0, 3, d)][of] for d, of in ((10, y), (20, others))]
    return rng.uniform(0, 0.6, (600, 130)) + np.pad(0.5 * np.hstack(shown), ((0, 0), (0, 100))), y


def budget(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """From one label a class on as many again at each step: asked for, or drawn at random.

    Without a factorisation those asked for are divided by their probabilities alone.
    """
    for name in FEW:
        X, y = data(name)
        k = int(y.max()) + 1
        ours = Guided(X, k, runner)
        for split in range(splits):
            for method in ("label-next", "random"):
                rng, mask = np.random.RandomState(split), labelled(y, 1, split)
                for step in range(1, STEPS + 1):
                    found, classes = ours.fit(np.where(mask, y, -1))
                    right = float(np.mean(found[~mask] == y[~mask]))
                    yield "budget", name, step, split, method, right
                    rows = rng.permutation(np.flatnonzero(~mask))[:k]
                    if method == "label-next":
                        sure = classes.shares.max(axis=1)
                        said = {"labels_": found, "labelled_": mask, "sample_confidence_": sure}
                        model = SemiFNMF()
                        vars(model).update(said, label_distributions_=classes.shares)
                        rows = samples_to_label(model, k)
                    mask[rows] = True


def time(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """CPU seconds of 100,000 x 784 with 1 % of the labels, over those of FNMF."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 100_000)
    X = rng.random((len(y), 784), dtype=np.float32)
    X[:, :100] += np.repeat(np.eye(10, dtype=np.float32), 10, axis=1)[y]
    given = np.where(rng.random(len(y)) < 0.01, y, -1)
    models: Any = FNMF(10, random_state=0), SemiFNMF(10, random_state=0)
    for split in range(min(splits, 2) + 1):
        spent = []
        for model, told in zip(models, (None, given), strict=True):
            begun = process_time()
            model.fit(X, told)
            spent.append(process_time() - begun)
        if split:
            # The first fits compile.
            yield "time", "planted", 0.01, split, "ratio", spent[1] / spent[0]
    free = given < 0
    right = float(np.mean(models[1].transduction_[free] == y[free]))
    yield "time", "planted", 0.01, 0, "accuracy", right
