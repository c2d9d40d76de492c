"""Everything a user can say about how a file is to be read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fnmf.io._dialect import Given
from fnmf.io._table import Roles

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Options:
    """How to read; each reader takes what concerns its format.

    ``keep_texts`` keeps columns of text, to be encoded later.
    """

    roles: Roles = field(default_factory=Roles)
    given: Given = field(default_factory=Given)
    encoding: str | None = None
    dtype: type = np.float64
    na_values: frozenset[str] = frozenset()
    duplicates: str = "error"
    keep_texts: bool = False
    layer: str | None = None
    raw: bool = False
    sheet: str | None = None
    progress: Progress | None = None
    # The file that messages name, if it is not the one that is read.
    shown_as: Path | None = None

    def told(self, n_rows: int) -> None:
        """Report progress, if anybody listens."""
        if self.progress is not None:
            self.progress(n_rows)
