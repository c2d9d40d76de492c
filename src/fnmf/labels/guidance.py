"""What the user knows, checked and complete, before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fnmf._settings import Settings
from fnmf.labels.known import UNKNOWN, Known
from fnmf.labels.links import NO_LINKS, Links

# As many different labels as labelled samples are no classes, if there are more of them.
_MANY = 100


@dataclass(frozen=True)
class Guidance:
    """Labels and links of some rows.

    Attributes
    ----------
    known : Known
        Labels.
    must, cannot : Links
        Pairs that belong together, and apart.
    trusted : bool
        Whether given labels are kept whatever the data say.
    class_sizes : mapping, sequence or None
        How many samples each class has, in any units.
    """

    known: Known
    must: Links = NO_LINKS
    cannot: Links = NO_LINKS
    trusted: bool = True
    class_sizes: Any = None

    @property
    def empty(self) -> bool:
        """Whether nothing is known of any row."""
        return not (len(self.known.classes) or len(self.must.pairs) or len(self.cannot.pairs))

    @property
    def rows(self) -> np.ndarray:
        """Rows of which something is known, in order."""
        linked = (self.must.pairs.ravel(), self.cannot.pairs.ravel())
        return np.unique(np.concatenate([self.known.rows, *linked]))

    def at(self, rows: np.ndarray) -> Guidance:
        """The same of some rows, in order, that hold all of which something is known."""
        known = Known(self.known.classes, self.known.codes[rows])
        must, cannot = (
            Links(np.searchsorted(rows, links.pairs), links.sure)
            for links in (self.must, self.cannot)
        )
        return replace(self, known=known, must=must, cannot=cannot)

    def with_values(self, rows: np.ndarray) -> Guidance:
        """The same of the rows that have any value; links of others hold nothing together."""
        codes = self.known.codes[rows]
        alone = np.setdiff1d(self.known.codes, [*codes, UNKNOWN])
        if len(alone):
            raise ValueError(
                f"class {self.known.classes[alone[0]]!s} is the label of rows without any value "
                "only; label another row, or leave these out."
            )
        kept, places = np.flatnonzero(rows), (self.must, self.cannot)
        must, cannot = (
            Links(links.pairs[there], links.sure[there])
            for links, there in ((one, rows[one.pairs].all(axis=1)) for one in places)
        )
        return replace(self, must=must, cannot=cannot).at(kept)

    def settings(self, settings: Settings) -> Settings:
        """Settings with at least as many clusters as there are labelled classes."""
        if settings.scheme != "relevance" or settings.graph is None:
            raise ValueError(
                'labels and links are ties of a graph; use weighting="relevance" and a graph.'
            )
        if settings.consensus is not None:
            raise ValueError("consensus resamples rows without their labels; leave it out.")
        count, told = len(self.known.classes), len(self.known.rows)
        fractions = self.known.classes.dtype.kind == "f"
        if (count > _MANY and count == told) or (fractions and 2 * count > told):
            also = "; fractions that are names can be given as texts" if fractions else ""
            raise ValueError(
                f"y has {count} classes for {told} labelled samples: pass classes, not "
                f"measurements{also}."
            )
        asked = settings.n_clusters
        if asked is None and not settings.automatic:
            asked = settings.n_components
        if count == 0 or (asked is not None and asked >= count):
            return settings
        if settings.n_clusters is not None:
            return replace(settings, n_clusters=count)
        return settings.with_components(count)

    def sizes(self, classes: np.ndarray) -> np.ndarray | None:
        """Share of each class, if the user told."""
        given = self.class_sizes
        if given is None:
            return None
        names = [str(name) for name in classes]
        if hasattr(given, "to_dict"):
            # Counts of pandas are in the order of their sizes.
            given = given.to_dict()
        if isinstance(given, Mapping):
            sizes = {str(name): size for name, size in given.items()}
            if lacking := [name for name in names if name not in sizes]:
                raise ValueError(f"class_sizes does not tell the size of class {lacking[0]!r}.")
            if more := [name for name in sizes if name not in names]:
                raise ValueError(
                    f"class_sizes has {more[0]!r}, which is none of the classes {', '.join(names)}."
                )
            given = [sizes[name] for name in names]
        try:
            shares = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            shares = np.empty(0)
        if shares.shape != classes.shape or not (np.isfinite(shares) & (shares > 0)).all():
            raise ValueError(f"class_sizes must hold {len(classes)} positive numbers.")
        return shares / shares.sum()
