"""Tables from files, with errors that say where in the file, and the way of a table to a model."""

from fnmf.io._chunks import Chunks, is_many, open_chunks
from fnmf.io._clean import Cleaning, clean
from fnmf.io._encode import Encoding
from fnmf.io._labels import add_labels
from fnmf.io._prepared import Prepared
from fnmf.io._read import READABLE, read_table
from fnmf.io._recipe import Recipe
from fnmf.io._table import Table
from fnmf.io._told import REMEDIES, Note, SeveralError, TableError, raise_all, worded

__all__ = [
    "READABLE",
    "REMEDIES",
    "Chunks",
    "Cleaning",
    "Encoding",
    "Note",
    "Prepared",
    "Recipe",
    "SeveralError",
    "Table",
    "TableError",
    "add_labels",
    "clean",
    "is_many",
    "open_chunks",
    "raise_all",
    "read_table",
    "worded",
]
