"""A fitted model together with the recipe of its table: it takes rows as they are in the file."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.io._messages import TableError
from fnmf.io._read import read_table
from fnmf.io._recipe import Recipe
from fnmf.io._table import Table


class Prepared:
    """A model that the command made, ready for raw rows.

    New rows are matched by column name, completed, shifted, scaled and normalised as the training
    table was, and then handed to the model. Whatever else the model offers, fitted attributes for
    example, is found here too.

    Parameters
    ----------
    model : estimator
        Fitted on prepared rows.
    recipe : Recipe
        How rows are prepared.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf import FNMF
    >>> from fnmf.io import Prepared, Recipe, Table
    >>> rows = np.random.default_rng(0).random((30, 3)) * [1, 10, 100]
    >>> table = Table("made here", rows, ["a", "b", "c"])
    >>> recipe = Recipe.learn(table, scale="max")
    >>> model = FNMF(2, random_state=0).fit(recipe.prepare(table.X))
    >>> prepared = Prepared(model, recipe)
    >>> bool((prepared.predict(rows) == model.predict(recipe.prepare(rows))).all())
    True
    """

    def __init__(self, model: Any, recipe: Recipe) -> None:
        self.model = model
        self.recipe = recipe

    def __getattr__(self, name: str) -> Any:
        if name in ("model", "recipe") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self) -> str:
        return f"Prepared({self.model!r}, {len(self.recipe.columns)} columns)"

    def predict(self, rows: Any) -> np.ndarray:
        """Clusters of raw rows: a data frame, an array, a sparse matrix or a Table."""
        return self.model.predict(self.prepare(rows))

    def transform(self, rows: Any) -> np.ndarray:
        """Representation of raw rows."""
        return self.model.transform(self.prepare(rows))

    def prepare(self, rows: Any) -> Any:
        """Raw rows as the model needs them."""
        return self.recipe.follow(as_table(rows, self.recipe))


def as_table(rows: Any, recipe: Recipe) -> Table:
    """Rows held in memory as a table of their own: nothing of the caller's is changed."""
    if isinstance(rows, Table):
        return Table(
            rows.path,
            rows.X.copy(),
            list(rows.names),
            lines=rows.lines,
            texts=dict(rows.texts),
        )
    where = Path("the new rows")
    if sp.issparse(rows):
        matrix: Any = rows
        return Table(where, sp.csr_array(matrix), _positions(matrix.shape[1], recipe))
    if hasattr(rows, "columns"):
        return read_table(rows, recipe.reading())
    X = np.array(rows, dtype=np.float64, ndmin=2)
    return Table(where, X, _positions(X.shape[1], recipe))


def _positions(n_columns: int, recipe: Recipe) -> list[str]:
    if recipe.encoding is not None:
        names = [*recipe.encoding.sources]
        raise TableError(f"The model needs columns of text by name ({names}); pass a data frame")
    if n_columns != len(recipe.columns):
        raise TableError(
            f"The new rows have {n_columns} columns, and the model needs {len(recipe.columns)}; "
            "pass a data frame to have columns matched by name"
        )
    return list(recipe.columns)
