"""What users bring: all problems at once, other formats, true figures, names kept exactly."""

import csv
import json
import re
import shlex

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_wine

from fnmf.cli import _progress
from fnmf.cli._hints import COMMAND_REMEDIES, in_options
from fnmf.io import REMEDIES

QUICK = ["--restarts", "0", "--max-iter", "20"]


def write_trouble(path):
    """Missing, negative, infinite, text, dates, constant, odd cells, names that come twice."""
    rng = np.random.default_rng(0)
    header = ["who", "city", "since", "a", "a", "b", "odd", "worse", "same", "limit", "tail"]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for i in range(80):
            a, b, c = rng.random(3) + 3 * np.eye(3)[i % 3]
            odd = "n.v." if i % 9 == 0 else f"{b:.3f}"
            worse = f"word {i}" if i % 4 == 0 else f"{c:.3f}"
            limit = "inf" if i == 5 else "1.5"
            row = [f"w{i}", "AB"[i % 2], f"2024-01-{1 + i % 28:02d}", f"{a:.3f}", f"{b:.3f}"]
            row += ["" if i == 7 else f"{c:.3f}", odd, worse, "7", limit]
            writer.writerow([*row, f"{-1 if i == 9 else a:.3f}"])


def test_one_message_solves_everything_when_followed_word_for_word(run, tmp_path):
    write_trouble(tmp_path / "t.csv")
    told = run("cluster", "t.csv", "-k", 3, "--strict", *QUICK, code=2).stderr
    for words in ("two columns named 'a'", "'n.v.' is not a number", "the value is infinite"):
        assert words in told
    for words in ("-1 is negative", "is missing", "'word 0' is not a number"):
        assert words in told
    command = told.splitlines()[-1]
    result = run(*shlex.split(command)[1:])
    for words in ("columns of text are left out", "columns of dates", "one value everywhere"):
        assert words in result.output
    assert (tmp_path / "t.csv-clusters" / "report.html").exists()


def test_scaled_cells_are_refused_with_advice_to_use_the_counts(run, tmp_path):
    anndata = pytest.importorskip("anndata")
    counts = np.random.default_rng(0).poisson(3.0, (40, 6)).astype(np.float32)
    cells = anndata.AnnData(counts - counts.mean(axis=0), layers={"counts": counts})
    cells.write_h5ad(tmp_path / "x.h5ad")
    told = run("cluster", "x.h5ad", "-k", 2, "--strict", *QUICK, code=2).stderr
    assert "is negative" in told
    assert "counts are better, and the file also holds" in told
    assert "--layer" in told.splitlines()[-1]
    run("cluster", "x.h5ad", "-k", 2, *QUICK, "--layer", "counts")


def test_a_folder_of_10x_becomes_clusters_of_cells(run, tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(1 + 8 * np.eye(3)[np.arange(30) % 3][:, [0, 1, 2, 0, 1, 2]])
    folder = tmp_path / "cells"
    folder.mkdir()
    scipy.io.mmwrite(folder / "matrix.mtx", sp.coo_array(counts.T))
    (folder / "features.tsv").write_text("".join(f"ENSG{k}\tG{k}\tGene\n" for k in range(6)))
    (folder / "barcodes.tsv").write_text("".join(f"CELL{i}-1\n" for i in range(30)))
    run("cluster", "cells", "-k", 3, *QUICK)
    with open(tmp_path / "cells-clusters" / "labels.csv", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)][:2] == ["CELL0-1", "CELL1-1"]


def test_only_features_beyond_chance_are_said_to_set_a_cluster_apart(run, tmp_path):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.random((60, 3)) + 4 * np.eye(3)[np.arange(60) % 3], 4 * rng.random((60, 4))])
    names = ["bread", "milk", "tea", "day 1", "day 2", "day 3", "day 4"]
    rows = "".join(f"K{i}," + ",".join(f"{v:.3f}" for v in row) + "\n" for i, row in enumerate(X))
    (tmp_path / "t.csv").write_text(",".join(["Kunde", *names]) + "\n" + rows)
    shown = run("cluster", "t.csv", "-k", 3, *QUICK).output
    table = shown.split("what sets it apart")[1]
    assert all(f"high {name}" in table for name in names[:3])
    assert "day" not in table
    # Words that are not known to be English get no English plural.
    assert "60 rows" in shown


def test_genes_in_rows_turned_round_are_features(run, tmp_path):
    counts = np.random.default_rng(0).poisson(4.0, (9, 40))
    header = "gene," + ",".join(f"cell {i}" for i in range(40))
    rows = [f"ENSG{k:011}," + ",".join(map(str, row)) for k, row in enumerate(counts)]
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]) + "\n")
    shown = run("cluster", "t.csv", "-k", 2, *QUICK, "--transpose").output
    assert "The 40 rows" in shown
    assert "column 'gene' names the features" in shown
    assert "names the rows" not in shown


def test_every_remedy_names_options_that_the_command_has(run):
    assert COMMAND_REMEDIES.keys() == REMEDIES.keys()
    known = run("cluster", "--help").output
    for words in COMMAND_REMEDIES.values():
        assert "=" not in words
        assert all(option in known for option in re.findall(r"--[a-z-]+", words))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("raise max_iter.", "raise --max-iter."),
        ("n_neighbors=0 is too small", "--neighbors 0 is too small"),
        ("so that smoothness cannot join them", "so that smoothness cannot join them"),
        ('fit again with weighting="relevance"', 'fit again with --weighting "relevance"'),
    ],
)
def test_parameters_are_told_as_options(said, told):
    assert in_options(said) == told


def test_names_are_kept_exactly(run, tmp_path):
    names = ["می\u200cخ", "👩\u200d🔬", "a\u00adb", "x" * 400, "two\nlines", "one\rreturn", "ß ı"]
    rng = np.random.default_rng(0)
    with open(tmp_path / "t.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", *names])
        for i in range(40):
            writer.writerow([f"{names[i % 2]}{i}", *(f"{v:.3f}" for v in rng.random(7))])
    run("cluster", "t.csv", "-k", 2, *QUICK)
    folder = tmp_path / "t.csv-clusters"
    assert b"\r" not in (folder / "labels.csv").read_bytes()
    with open(folder / "features.csv", encoding="utf-8", newline="") as file:
        features = list(csv.DictReader(file))
    assert {row["feature"] for row in features} == set(names)
    relevance = [float(row["importance"]) for row in features]
    assert relevance == sorted(relevance, reverse=True)
    with open(folder / "labels.csv", encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)][:2] == [f"{names[0]}0", f"{names[1]}1"]


def test_figures_are_about_what_was_fitted_and_values_in_the_units_of_the_file(run, tmp_path):
    rng = np.random.default_rng(0)
    kinds = np.arange(90) % 3
    X = rng.random((90, 4)) * 0.3
    X[np.arange(90), kinds] += 3
    loud = 1e6 * rng.random(90)
    lines = ["a,b,c,d,loud"]
    lines += [",".join(f"{v:.5f}" for v in [*x, z]) for x, z in zip(X - 5, loud, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    run("cluster", "t.csv", "-k", 3, "--scale", "max", *QUICK)
    record = json.loads((tmp_path / "t.csv-clusters" / "run.json").read_text())
    assert float(record["quality"]["explained"].rstrip("%")) > 50
    with open(tmp_path / "t.csv-clusters" / "features.csv", newline="") as file:
        first = {row["feature"]: row for row in csv.DictReader(file)}["a"]
    means = [float(value) for name, value in first.items() if name.startswith("mean_in")]
    assert max(means) == pytest.approx((X - 5)[kinds == 0, 0].mean(), abs=0.3)


def test_rows_that_are_all_equal_are_told(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 30)
    assert "all rows are equal" in run("cluster", "t.csv", "-k", 2, *QUICK).output


def test_the_limit_of_iterations_is_told_once_and_as_an_option(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    words = ["cluster", "c.csv", "-k", 3, "--max-iter", 2, "--tol", 0, "--restarts", 0]
    told = run(*words, "--weighting", "paper").output
    assert len(re.findall("limit", told)) == 1
    assert "--max-iter" in told
    assert "max_iter" not in told


def test_new_rows_are_scored_against_known_classes(run, tmp_path, write_customers):
    _, kinds = write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, "--exclude", "kind", *QUICK)
    told = run("apply", "c.csv-clusters", "c.csv", "--label-column", "kind").output
    assert "ACC 1.000" in told
    lines = [f"client {i},{kinds[i]}" for i in range(60)]
    (tmp_path / "known.csv").write_text("\n".join(["name,class", *reversed(lines)]))
    words = ["apply", "c.csv-clusters", "c.csv", "--labels", "known.csv", "-o", "again", "--json"]
    assert json.loads(run(*words).stdout)["quality"]["ACC"] == "1.000"


def test_python_gives_what_the_command_gives(run, tmp_path, write_customers):
    import pandas as pd

    import fnmf

    write_customers(tmp_path / "c.csv", traps=True)
    treatment = ["--missing", "median", "--shift", "--scale", "max", "--encode"]
    run("cluster", "c.csv", "-k", 3, *treatment, *QUICK)
    run("apply", "c.csv-clusters", "c.csv")
    model = fnmf.load(tmp_path / "c.csv-clusters" / "model.fnmf")
    with open(tmp_path / "c.csv-applied" / "labels.csv", newline="") as file:
        applied = [int(row["cluster"]) - 1 for row in csv.DictReader(file)]
    assert model.predict(pd.read_csv(tmp_path / "c.csv")).tolist() == applied


def test_tables_of_other_kinds_do_not_share_a_folder(run, tmp_path):
    X = np.random.default_rng(0).random((30, 4))
    np.save(tmp_path / "t.npy", X)
    np.savez(tmp_path / "t.npz", X=X)
    for name in ("t.npy", "t.npz"):
        run("cluster", name, "-k", 2, *QUICK)
    assert {p.name for p in tmp_path.iterdir() if p.is_dir()} == {
        "t.npy-clusters",
        "t.npz-clusters",
    }


def test_without_a_terminal_a_line_comes_now_and_then(monkeypatch, capsys):
    import time

    monkeypatch.setattr(_progress, "_FIRST_LINE", 0.05)
    monkeypatch.setattr(_progress, "_NEXT_LINE", 0.05)
    with _progress.working("Fitting") as step:
        step(3, 10)
        time.sleep(0.5)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(re.fullmatch(r"Fitting: \d+ s, 3 of 10", line) for line in lines)


def test_that_nothing_was_found_is_told_once_and_names_no_attribute(run, tmp_path):
    X = np.random.default_rng(1).random((60, 6))
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", fmt="%.5f")
    told = run("cluster", "t.csv", "-k", 3, *QUICK).output
    assert told.count("No structure") == 1
    assert "structure_found_" not in told


def test_a_remark_on_scales_is_made_only_where_the_fit_has_not_found_units(run, tmp_path):
    X = load_wine().data
    lines = [",".join("abcdefghijklm"), *(",".join(map(str, row)) for row in X)]
    (tmp_path / "wine.csv").write_text("\n".join(lines))

    def notes(*options):
        run("cluster", "wine.csv", "-k", 3, "--force", *options, *QUICK)
        return json.loads((tmp_path / "wine.csv-clusters" / "run.json").read_text())["notes"]

    assert not any("differ in scale" in note for note in notes())
    assert any("differ in scale" in note for note in notes("--weighting", "uniform"))
