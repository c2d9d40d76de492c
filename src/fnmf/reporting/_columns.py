"""Features as the columns they came from: the values of one category are shown as one column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fnmf.statistics import Statistics

_SUMMED = ("feature_importances_", "feature_weights_")


@dataclass(frozen=True)
class Columns:
    """Which features are shown together.

    Attributes
    ----------
    names : list of str
        Names of the columns that are shown.
    members : list of ndarray
        Positions of the features of each.
    levels : list of (list of str or None)
        The values of a column that is a category.
    """

    names: list[str]
    members: list[np.ndarray]
    levels: list[list[str] | None]

    @classmethod
    def of(cls, names: list[str], sources: Sequence[str] | None) -> "Columns":
        """Features called ``column=value`` of one source together, all others by themselves."""
        together: dict[str | int, list[int]] = {}
        for k, name in enumerate(names):
            source = name if sources is None else str(sources[k])
            # Other features may share a name and still be columns of their own.
            together.setdefault(source if name.startswith(f"{source}=") else k, []).append(k)
        found = cls([], [], [])
        for column, members in together.items():
            many = len(members) > 1
            found.names.append(str(column) if many else names[members[0]])
            found.members.append(np.array(members))
            values = [names[k].partition("=")[2] for k in members]
            found.levels.append(values if many else None)
        return found

    @staticmethod
    def flags(names: list[str], sources: Sequence[str] | None) -> frozenset[int]:
        """Positions of features that are 0 or 1: values of flags and of categories."""
        pairs = enumerate(zip(names, sources or (), strict=False))
        return frozenset(k for k, (name, source) in pairs if name.startswith(f"{source}="))

    @property
    def plain(self) -> bool:
        """Whether every feature is a column of its own."""
        return all(levels is None for levels in self.levels)

    def features(self, flags: np.ndarray, n_features: int) -> np.ndarray:
        """What holds for a column, for each of its features."""
        result = np.zeros(n_features, dtype=flags.dtype)
        for flag, members in zip(flags, self.members, strict=True):
            result[members] = flag
        return result

    def table(self, X: Any) -> Any:
        """The data by columns: a category as the position of its value."""
        if self.plain:
            return X
        shown = [
            X[:, members[0]] if levels is None else _positions(X[:, members])
            for members, levels in zip(self.members, self.levels, strict=True)
        ]
        return np.column_stack(shown).astype(float)

    def statistics(self, stats: Statistics) -> Statistics:
        """Statistics by columns; of a category, means and spread are 0 and say nothing."""
        if self.plain:
            return stats
        single = np.array([levels is None for levels in self.levels])
        first = np.array([members[0] for members in self.members])
        variance = np.where(stats.spread > 0, stats.spread, 0.0) ** 2

        def shared(values: np.ndarray) -> np.ndarray:
            # Weighted by variance, as the share of a sum of squares is.
            sums = [
                (float(values[m] @ variance[m]), float(variance[m].sum())) for m in self.members
            ]
            return np.array([a / b if b > 0 else 0.0 for a, b in sums])

        return replace(
            stats,
            means=stats.means[:, first] * single,
            rest=stats.rest[:, first] * single,
            spread=stats.spread[first] * single,
            energy=stats.energy[first],
            explained=shared(stats.explained),
            chance=shared(stats.chance),
            missing=stats.missing[:, first],
        )

    def model(self, model: Any) -> Any:
        """The model with what it knows of features, by columns."""
        return model if self.plain else _ByColumns(model, self.members)


def _positions(values: np.ndarray) -> np.ndarray:
    """Where each row of 0/1 values has its 1; NaN where they are missing."""
    return np.where(np.isnan(values[:, 0]), np.nan, values.argmax(axis=1))


class _ByColumns:
    """A fitted model; weights of a category are summed, its smallest q counts as often as tried."""

    def __init__(self, model: Any, members: list[np.ndarray]) -> None:
        self._model, self._members = model, members

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)
        if name in _SUMMED and value is not None:
            array = np.asarray(value, dtype=float)
            return np.stack([array[..., m].sum(axis=-1) for m in self._members], axis=-1)
        if name == "feature_qvalues_" and value is not None:
            array = np.asarray(value, dtype=float)
            return np.array([min(1.0, len(m) * float(array[m].min())) for m in self._members])
        if name == "feature_relevance_" and value is not None:
            array = np.asarray(value, dtype=float)
            return np.array([float(array[m].max()) for m in self._members])
        return value
