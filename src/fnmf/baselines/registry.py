"""The one list of methods: the command, the tables and the model files all read it."""

import importlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# The grid of the FNMF article: 1e-3 ... 1e3.
GRID = tuple(10.0**exponent for exponent in range(-3, 4))


@dataclass(frozen=True)
class Card:
    """What a reader wants to know before choosing a method.

    Parameters
    ----------
    formula : str
        What is minimised or maximised, in one line.
    cost : str
        Time, and memory where it is more than the data; n samples, d features, c clusters,
        k neighbours, s non-zero entries of X.
    use : str
        When to use it, and when not.
    """

    formula: str = ""
    cost: str = ""
    use: str = ""


def _unmade(**_: Any) -> Any:
    raise TypeError("a Method needs a factory or an estimator")


@dataclass(frozen=True)
class Method:
    """One method: how to make it, what to search, what to say about it.

    Parameters
    ----------
    name : str
        Its name in tables and on the command line.
    factory : callable, optional
        ``factory(n_clusters=..., random_state=..., **params)`` makes an unfitted estimator with
        ``fit_predict``; it may be the class itself. By default made from ``estimator``.
    grid : mapping
        Values to search for each parameter; empty when there is none.
    random : bool
        Whether runs with different seeds differ. Without, the estimator takes no
        ``random_state``.
    label_rule : str
        How labels come about in the evaluation protocol.
    citation : str
        The article; by default what the class has under "References".
    estimator : str
        ``"module:Class"``, imported on first use. Models of this class can be saved and loaded;
        without it, those of a ``factory`` that is a class.
    fixed : mapping
        Parameters that the tables set to something else than the class does.
    median : bool
        Whether the tables have a second row with the median setting of the grid, which is what
        somebody without labels meets.
    card : Card
        Formula, cost, and when to use it.
    command : bool
        Whether ``fnmf cluster --method`` offers it; rows of the tables that are a variant of
        another method are not offered.
    """

    name: str
    factory: Callable[..., Any] = _unmade
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    random: bool = True
    label_rule: str = "k-means on the representation"
    citation: str = ""
    estimator: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    median: bool = False
    card: Card = field(default_factory=Card)
    command: bool = True

    def __post_init__(self) -> None:
        if self.factory is _unmade and self.estimator:
            object.__setattr__(self, "factory", self._make)

    def _make(self, *, n_clusters: int, random_state: Any = None, **params: Any) -> Any:
        if self.random:
            params["random_state"] = random_state
        made: Any = self.load_class()
        return made(n_clusters=n_clusters, **params)

    def load_class(self) -> type | None:
        """The class of its estimators, or None if the factory does not tell."""
        if self.estimator:
            # Imported here: the list of methods must not load numba.
            module, _, name = self.estimator.partition(":")
            return getattr(importlib.import_module(module), name)
        return self.factory if inspect.isclass(self.factory) else None

    def article(self) -> str:
        """The article, on one line."""
        told = inspect.getdoc(self.load_class()) if self.estimator and not self.citation else None
        found = re.search(
            r"^References\n-+\n(.*?)(?=\n\n|\Z)", told or "", re.MULTILINE | re.DOTALL
        )
        return " ".join(found[1].split()) if found else self.citation

    @property
    def stored_as(self) -> str:
        """The name of its class in model files; empty if models cannot be saved."""
        module, _, name = self.estimator.partition(":")
        if not name:
            made_by = self.factory
            if not inspect.isclass(made_by):
                return ""
            module, name = made_by.__module__, made_by.__qualname__
        package, _, rest = module.partition(".")
        if package == "fnmf":
            return f"baselines.{name}" if rest.startswith("baselines") else name
        return f"{module}:{name}"


_METHODS: dict[str, Method] = {}


def register_method(method: Method) -> Method:
    """Add a method everywhere at once, or replace the one of that name.

    It is then known to ``fnmf methods`` and ``fnmf cluster --method``, a row of the tables of
    ``fnmf reproduce``, and its models can be saved and loaded.

    Parameters
    ----------
    method : Method
        The entry.

    Returns
    -------
    Method
        The same method.

    Examples
    --------
    >>> from sklearn.cluster import BisectingKMeans
    >>> from fnmf.baselines import Method, all_methods, register_method, unregister_method
    >>> added = register_method(Method("Bisecting", BisectingKMeans))
    >>> added.name in all_methods()
    True
    >>> unregister_method("Bisecting").name in all_methods()
    False
    """
    _METHODS[method.name] = method
    return method


def unregister_method(name: str) -> Method:
    """Take a method off the list again.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    Method
        The entry that was there.
    """
    return _METHODS.pop(name)


def registered() -> dict[str, Method]:
    """All entries by name, in the order of the tables, variants for the tables included."""
    return dict(_METHODS)


def all_methods() -> dict[str, Method]:
    """The methods that can be chosen by name, in the order of the tables.

    Examples
    --------
    >>> from fnmf.baselines import all_methods
    >>> methods = all_methods()
    >>> list(methods)[:10]
    ['NMF', 'RNMF', 'GNMF', 'RMNMF', 'LCNMF', 'ONGR', 'CAN', 'PCAN', 'CLR', 'KMM']
    >>> methods["CLR"].factory(n_clusters=3, random_state=0)
    CLR(n_clusters=3)
    """
    return {name: method for name, method in _METHODS.items() if method.command}
