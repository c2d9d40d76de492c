"""``fnmf cluster`` of what does not fit: read by blocks, fitted here or on a cluster."""

import re
import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from fnmf.cli._errors import UsageError
from fnmf.cli._folder import RUN_FILES, check_folder, results_folder
from fnmf.cli._models import OURS
from fnmf.cli._outputs import write_csv, write_features, write_json
from fnmf.cli._progress import working
from fnmf.cli._run import Run, parse_shape
from fnmf.data import is_dask
from fnmf.io import Chunks, ReadOptions, Recipe, Table, open_chunks
from fnmf.persistence import save
from fnmf.reporting.page import write_page
from fnmf.statistics import cluster_statistics

# Rows that the report draws, and rows of a file that are turned to text at a time.
_DRAWN, _FEW = 5000, 10_000
# What needs the whole table, or the reader of single tables.
_WHOLE = (
    *("--scale", "--missing", "--shift", "--abs", "--encode", "--id-column", "--label-column"),
    *("--known", "--batch", "--layers"),
    *("--exclude", "--delimiter", "--decimal", "--thousands", "--header", "--no-header"),
    *("--encoding", "--na", "--number-duplicates", "--transpose", "--layer", "--raw"),
    *("--float32", "--restarts", "--join", "--with-columns", "--strict"),
)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Where:
    """What to read, and who does the work.

    Attributes
    ----------
    path : Path
        File, folder or pattern.
    memory : str or None
        What blocks may take altogether.
    scheduler : str or None
        Address of a Dask cluster.
    jobs : int or None
        Threads, if there is none.
    typed : list of str
        The command as it was typed.
    """

    path: Path
    memory: str | None
    scheduler: str | None
    jobs: int | None
    typed: list[str]


def large_run(where: Where, model: Any, normalize: str, image_shape: str | None) -> "LargeRun":
    """A run that is yet to be fitted; everything that stands in its way is told now."""
    unfit = [word for word in where.typed if word in _WHOLE]
    if unfit:
        raise UsageError(
            f"{', '.join(unfit)} cannot be had when rows are read by blocks, as folders, patterns, "
            "--memory and --scheduler ask for; treat the files before, or leave it out."
        )
    if type(model).__name__ != OURS:
        raise UsageError(f"Only --method {OURS} can read by blocks.")
    from fnmf.execution import n_threads

    cores = n_threads(where.jobs)
    chunks = open_chunks(where.path, parse_size(where.memory), cores)
    recipe = Recipe(chunks.names, normalize)
    shape = parse_shape(image_shape, len(chunks.names))
    run = LargeRun(
        where.path, _nothing(where.path, chunks), recipe, model, ReadOptions(), 0, shape, 0
    )
    run.chunks, run.where, run.cores = chunks, where, cores
    return run


def parse_size(text: str | None) -> int | None:
    """Bytes from 4GB, 500 MB and the like."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?\s*", text.upper())
    if found is None or float(found[1]) <= 0:
        raise UsageError(f"--memory {text!r} is no size; write it like 4GB or 500MB.")
    return int(float(found[1]) * _UNITS[found[2]])


class Spool:
    """Files that last as long as this does."""

    def __init__(self) -> None:
        self._folder = mkdtemp(prefix="fnmf-rows-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def kept(self, name: str, array: Any) -> np.ndarray:
        """A Dask array of rows as an array on disk; no more than a block of it is ever here."""
        path = Path(self._folder, f"{name}.npy")
        rows = np.lib.format.open_memmap(path, "w+", array.dtype, array.shape)
        start = 0
        for number in range(array.numblocks[0]):
            block = array.blocks[number].compute()
            rows[start : start + len(block)] = block
            start += len(block)
        rows.flush()
        return np.load(path, mmap_mode="r", allow_pickle=False)


class LargeRun(Run):
    """A run whose table is a sample of the rows: what the report draws."""

    chunks: Chunks
    where: Where
    cores: int
    whole: Any
    spool: Spool

    def fit(self) -> None:
        self.whole, self.spool = self.model, Spool()
        with _workers(self.where, self.cores):
            self.chunks = _rows_as_numbers(self.chunks)
            everything = self.chunks.X
            if self.recipe.normalize == "samples":
                everything = everything.map_blocks(self.recipe.prepare, dtype=everything.dtype)
            drawn = self._draw()
            self._fit_all(everything, drawn)

    def _fit_all(self, everything: Any, drawn: np.ndarray) -> None:
        import time

        from fnmf.cli._hints import in_options
        from fnmf.cli._models import fit_model

        started = time.perf_counter()
        options = {} if self.checkpoint is None else {"checkpoint": self.checkpoint}
        shown = fit_model(self.whole, everything, **options)
        seconds = time.perf_counter() - started
        self.model = copy(self.whole)
        of_rows = ("labels_", "embedding_", "assignments_", "sample_confidence_", "second_labels_")
        for name in of_rows:
            value = getattr(self.whole, name)
            whole = self.spool.kept(name, value) if is_dask(value) else value
            setattr(self.whole, name, whole)
            setattr(self.model, name, whole[drawn])
        n = len(self.whole.labels_)
        notes = [*map(in_options, shown), f"{n} rows were read by blocks"]
        if len(drawn) < n:
            notes.append(f"the report draws a sample of {len(drawn)} rows, and counts in it")
        self._describe(self.recipe.prepare(self.table.X), notes, seconds)

    def _draw(self) -> np.ndarray:
        """Numbers of the rows to draw; they become the table."""
        n = self.chunks.X.shape[0]
        rng = np.random.RandomState(self.seed)
        drawn = np.sort(rng.choice(n, min(n, _DRAWN), replace=False))
        with working("Reading a sample"):
            rows = self.chunks.X[drawn].compute()
        self.table = Table(self.file, np.asarray(rows), self.chunks.names)
        self.table.ids = [f"row {i + 1}" for i in drawn]
        return drawn

    def _input(self) -> dict[str, Any]:
        sources = [Path(source) for source in self.chunks.sources]
        return {
            "file": str(self.file.resolve()),
            "sha256": "not taken: read by blocks",
            "files": [str(source) for source in sources],
            "bytes": sum(_bytes(source) for source in sources),
            "samples": self.chunks.X.shape[0],
        }

    def write(self, folder: Path) -> None:
        """Every file of the run; labels and embedding of all rows, block by block."""
        stats = cluster_statistics(self.table.X, self.model.labels_)

        def check() -> None:
            check_folder(folder, RUN_FILES, self.output.force, [self.file])

        with working("Writing"), results_folder(folder, check) as partial:
            shown = ([name, label + 1] for name, label in lines(self.whole.labels_))
            write_csv(partial / "labels.csv", ["id", "cluster"], shown)
            names = [f"component_{c}" for c in range(1, self.whole.embedding_.shape[1] + 1)]
            write_csv(partial / "embedding.csv", ["id", *names], lines(self.whole.embedding_))
            write_features(partial / "features.csv", self.table.names, self.model, stats)
            save(self.whole, partial / "model.fnmf", metadata=self._metadata())
            write_page(self.summary, partial / "report.html")
            write_json(partial / "run.json", self.record)


@contextmanager
def _workers(where: Where, cores: int) -> Iterator[None]:
    """The cluster of an address, or so many threads here."""
    import dask

    if where.scheduler is None:
        with dask.config.set(scheduler="threads", num_workers=cores):
            yield
        return
    from distributed import Client

    try:
        client = Client(where.scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--scheduler {where.scheduler}: there is no Dask scheduler ({error}); start one with "
            "'dask scheduler'."
        ) from error
    with client:
        if not client.nthreads():
            raise UsageError(
                f"--scheduler {where.scheduler} has no workers; start some with 'dask worker "
                f"{where.scheduler}'."
            )
        yield


def _rows_as_numbers(chunks: Chunks) -> Chunks:
    """Integers as the numbers that rows of unit length need."""
    from fnmf.data import working_dtype

    X = chunks.X.astype(working_dtype(chunks.X.dtype))
    return Chunks(X, chunks.names, chunks.sources)


def _nothing(path: Path, chunks: Chunks) -> Table:
    return Table(path, np.empty((0, len(chunks.names))), chunks.names)


def _bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def lines(values: np.ndarray) -> Iterator[list[Any]]:
    """Rows of a table: their name and what belongs to them."""
    for start in range(0, len(values), _FEW):
        for number, row in enumerate(values[start : start + _FEW], start=start + 1):
            yield [f"row {number}", *np.atleast_1d(row).tolist()]
