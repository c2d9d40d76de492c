"""Samples with weights: those that count, and those that do not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fnmf._weights import check_sample_weight
from fnmf.data import Data, View, view_of


class WeightedRows(NamedTuple):
    """Rows of a fit.

    Attributes
    ----------
    view : View
        Samples that count, with their weights unless all count once.
    places : ndarray of int or slice
        Where they are.
    absent : View or None
        Samples of weight 0, if there are any.
    """

    view: View
    places: Any = slice(None)
    absent: View | None = None

    def together(self, present: np.ndarray, absent: np.ndarray) -> np.ndarray:
        """Values of all samples, from those of both kinds."""
        whole = np.empty((len(present) + len(absent), *present.shape[1:]), present.dtype)
        there = np.zeros(len(whole), bool)
        there[self.places] = True
        whole[there], whole[~there] = present, absent
        return whole


def weighted_rows(data: Data, sample_weight: Any) -> WeightedRows:
    """The rows that count, and how much."""
    weights, view = check_sample_weight(sample_weight, data), view_of(data)
    if weights is None or np.all(weights == 1):
        return WeightedRows(view)
    if weights.all():
        return WeightedRows(view.weighing(weights))
    places = np.flatnonzero(weights)
    present = view.subset(places).weighing(
        None if np.all(weights[places] == 1) else weights[places]
    )
    return WeightedRows(present, places, view.subset(np.flatnonzero(weights == 0)))
