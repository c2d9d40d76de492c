"""Tables from files, with errors that say where in the file."""

from fnmf.io._clean import Cleaning, clean
from fnmf.io._read import READABLE, read_table
from fnmf.io._table import Table, TableError

__all__ = ["READABLE", "Cleaning", "Table", "TableError", "clean", "read_table"]
