"""Inputs by blocks: folders, patterns, arrays on disk; the same clusters as the whole table."""

import csv
import json

import numpy as np
import pytest

import fnmf
from fnmf.cli._errors import UsageError
from fnmf.cli._large import parse_size

pytest.importorskip("dask.array")
N, D = 600, 8


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    kinds = np.arange(N) % 3
    X = rng.random((N, D)) * 0.5
    X[np.arange(N), kinds] += 3
    X[np.arange(N), kinds + 3] += 2
    return X.round(4), kinds


def clusters(folder):
    with open(folder / "labels.csv", encoding="utf-8", newline="") as file:
        return [int(row["cluster"]) for row in csv.DictReader(file)]


def write_csvs(folder, X):
    folder.mkdir()
    names = ",".join(f"f{k}" for k in range(D))
    for number, part in enumerate(np.array_split(X, 3)):
        np.savetxt(folder / f"part-{number}.csv", part, delimiter=",", header=names, comments="")


def write_parquet(folder, X):
    pd = pytest.importorskip("pandas")
    folder.mkdir()
    for number, part in enumerate(np.array_split(X, 2)):
        frame = pd.DataFrame(part, columns=[f"f{k}" for k in range(D)]).assign(town="x")
        frame.to_parquet(folder / f"part-{number}.parquet", row_group_size=100)


def write_zarr(folder, X):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(store=str(folder), shape=X.shape, chunks=(100, 5), dtype="float64")
    array[:] = X


CASES = {
    "folder of csv": (write_csvs, "data", []),
    "pattern": (write_csvs, "data/part-*.csv", []),
    "parquet": (write_parquet, "data", []),
    "zarr": (write_zarr, "data", []),
    "npy": (lambda folder, X: np.save(f"{folder}.npy", X), "data.npy", ["--memory", "64KB"]),
}


@pytest.mark.parametrize("case", CASES)
def test_rows_are_read_by_blocks_and_clustered(case, run, rows, tmp_path):
    write, source, words = CASES[case]
    X, kinds = rows
    write(tmp_path / "data", X)
    result = run("cluster", source, "-k", 3, "--out", "out", "--max-iter", 20, *words)
    assert fnmf.metrics.clustering_accuracy(kinds, clusters(tmp_path / "out")) > 0.98
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["input"]["samples"] == N
    assert "rows were read by blocks" in " ".join(result.output.split())
    # The model takes new rows like any other.
    np.savetxt(
        tmp_path / "new.csv",
        X[:30],
        delimiter=",",
        comments="",
        header=",".join(fnmf.load(tmp_path / "out" / "model.fnmf").recipe.columns),
    )
    run("apply", "out", "new.csv", "--out", "applied")
    assert (tmp_path / "applied").exists()


def test_no_more_than_a_block_of_results_is_here_at_a_time(run, rows, tmp_path, monkeypatch):
    da = pytest.importorskip("dask.array")
    seen, compute = [], da.Array.compute

    def watched(self, **options):
        if self.name.startswith(("fnmf", "blocks")):
            seen.append(len(self))
        return compute(self, **options)

    monkeypatch.setattr(da.Array, "compute", watched)
    np.save(tmp_path / "x.npy", rows[0])
    run("cluster", "x.npy", "-k", 3, "--memory", "64KB", "--out", "out", "--max-iter", 20)
    assert 0 < max(seen) < N
    # Labels, codes, assignments, confidence and second labels: all rows of each.
    assert sum(seen) == 5 * N
    stored = fnmf.load(tmp_path / "out" / "model.fnmf").model
    np.testing.assert_array_equal(stored.labels_ + 1, clusters(tmp_path / "out"))


def test_the_report_draws_a_sample_and_says_so(run, rows, tmp_path, monkeypatch):
    monkeypatch.setattr("fnmf.cli._large._DRAWN", 50)
    np.save(tmp_path / "x.npy", rows[0])
    run("cluster", "x.npy", "-k", 3, "--memory", "1MB", "--out", "out", "--max-iter", 20)
    assert "draws a sample of 50 rows" in (tmp_path / "out" / "report.html").read_text()
    assert len(clusters(tmp_path / "out")) == N


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--memory", "much"], "--memory 'much' is no size; write it like 4GB"),
        (["--memory", "1GB", "--missing", "zero"], "--missing cannot be had"),
        (["--memory", "1GB", "--method", "NMF"], "Only --method FNMF can read by blocks"),
        (["--scheduler", "tcp://127.0.0.1:9"], "there is no Dask scheduler"),
    ],
)
def test_what_cannot_work_is_said(words, message, run, rows, tmp_path):
    np.save(tmp_path / "x.npy", rows[0])
    result = run("cluster", "x.npy", "-k", 3, *words, code=2)
    assert message in " ".join(result.output.split())


def test_files_of_other_columns_are_named(run, rows, tmp_path):
    write_csvs(tmp_path / "data", rows[0])
    path = tmp_path / "data" / "part-1.csv"
    path.write_text(path.read_text().replace("f3", "g3", 1))
    result = run("cluster", "data", "-k", 3, code=2)
    assert "it lacks 'f3' and only it has 'g3'" in " ".join(result.output.split())


def test_sizes():
    assert parse_size("4GB") == 4 << 30
    assert parse_size("1.5 MiB") == 3 << 19
    assert parse_size("300") == 300
    for text in ("", "-1GB", "0", "4 gigs"):
        with pytest.raises(UsageError, match="no size"):
            parse_size(text)
