"""Tables from files, with errors that say where in the file, and the way of a table to a model."""

from fnmf.io._cells import add_labels, raw_cells
from fnmf.io._chunks import Chunks, is_many, open_chunks
from fnmf.io._clean import Cleaning, clean
from fnmf.io._decide import DECIDED_MISSING, DECIDED_NEGATIVE, decide
from fnmf.io._encode import Encoding
from fnmf.io._messages import REMEDIES, Note, SeveralError, TableError, worded
from fnmf.io._numbers import MISSING
from fnmf.io._options import ReadOptions
from fnmf.io._prepared import Prepared
from fnmf.io._read import READABLE, read_table
from fnmf.io._recipe import Recipe
from fnmf.io._table import Table

__all__ = [
    "DECIDED_MISSING",
    "DECIDED_NEGATIVE",
    "MISSING",
    "READABLE",
    "REMEDIES",
    "Chunks",
    "Cleaning",
    "Encoding",
    "Note",
    "Prepared",
    "ReadOptions",
    "Recipe",
    "SeveralError",
    "Table",
    "TableError",
    "add_labels",
    "clean",
    "decide",
    "is_many",
    "open_chunks",
    "raw_cells",
    "read_table",
    "worded",
]
