"""What can be run: data sets, each one entry, beside the methods of :mod:`fnmf.baselines`."""

import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from fnmf import datasets
from fnmf.baselines import Method, register_method
from fnmf.baselines.registry import registered
from fnmf.datasets.registry import SOURCES

__all__ = ["Method", "Problem", "methods", "problems", "register_dataset", "register_method"]

NOISE_SEED = 0
TABLE_SETS = ("yale", "orl", "binary-alphadigits", "usps", "semeion", "cnae-9", "glass", "mfeat")
NOISED_SETS = ("yale-noise", "yale-4x4", "yale-6x6", "yale-8x8")


@dataclass(frozen=True)
class Problem:
    """A data set as the experiments see it.

    ``load(data_home)`` gives a Bunch with ``data``, ``target`` and, for images,
    ``image_shape``. Samples are scaled to unit length unless ``unit`` is False.
    """

    name: str
    title: str
    load: Callable[[Any], Bunch]
    unit: bool = True
    table: str | None = None

    def prepare(self, data_home: Any = None) -> Bunch:
        """Load, and scale samples as the protocol asks."""
        data = self.load(data_home)
        X = np.asarray(data.data, dtype=np.float64)
        data.data = datasets.unit_rows(X) if self.unit else X
        return data


_PROBLEMS: dict[str, Problem] = {}


def register_dataset(problem: Problem) -> Problem:
    """Add a data set, or replace the one of that name.

    Parameters
    ----------
    problem : Problem
        With ``table="clean"`` or ``"noised"`` it becomes a column of those tables; otherwise
        it is one only when it was run by name.

    Returns
    -------
    Problem
        The same data set.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fnmf.experiments import Problem, problems, register_dataset
    >>> added = register_dataset(Problem("iris", "Iris", lambda data_home: load_iris()))
    >>> problems()["iris"].prepare().data.shape
    (150, 4)
    """
    _PROBLEMS[problem.name] = problem
    return problem


def methods() -> dict[str, Method]:
    """All methods by name, in the order of the tables.

    Examples
    --------
    >>> from fnmf.experiments import methods
    >>> list(methods())[:3]
    ['NMF', 'RNMF', 'GNMF']
    """
    return registered()


def problems() -> dict[str, Problem]:
    """All data sets by name.

    Examples
    --------
    >>> from fnmf.experiments import problems
    >>> problems()["cnae-9"].title
    'CNAE-9'
    """
    return dict(_PROBLEMS)


def run_plugin(path: str | Path) -> None:
    """Run a Python file of the user's that registers methods or data sets."""
    path = Path(path)
    spec = importlib.util.spec_from_file_location(f"fnmf_plugin_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"--with {path}: there is no such Python file.")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


@lru_cache
def published() -> dict[str, dict[str, dict[str, float]]]:
    """The paper's numbers: metric, data set, method."""
    content = json.loads(files("fnmf.experiments").joinpath("published.json").read_text("utf-8"))
    return {"acc": content["acc"], "nmi": content["nmi"]}


def _register_datasets() -> None:
    for name in TABLE_SETS:
        title = SOURCES[name].paper_name
        loader = partial(_load_public, name)
        register_dataset(Problem(name, title, loader, table="clean"))
    for kind in datasets._noise.NOISED_YALE:
        name = f"yale-{kind.lower()}"
        title = kind.replace("x", " × ")
        register_dataset(Problem(name, title, partial(_load_noised, kind), table="noised"))
    register_dataset(Problem("toy", "Toy", partial(_load_public, "toy"), unit=False))
    register_dataset(Problem("digits", "Digits", partial(_load_public, "digits")))


def _load_public(name: str, data_home: Any) -> Bunch:
    return datasets.load(name, data_home=data_home)


def _load_noised(kind: str, data_home: Any) -> Bunch:
    return datasets.noised_yale(kind, random_state=NOISE_SEED, data_home=data_home)


_register_datasets()
# The modern references are added as anybody would add a method.
run_plugin(Path(__file__).with_name("references.py"))
