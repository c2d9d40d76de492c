"""From a file to a folder of results, and back to new rows."""

import csv
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import fnmf

FILES = {"labels.csv", "features.csv", "embedding.csv", "model.fnmf", "report.html", "run.json"}
QUICK = ["--restarts", "0", "--max-iter", "30"]


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_table_gives_clusters_weights_a_model_and_a_page(run, tmp_path, write_customers):
    _, kinds = write_customers(tmp_path / "customers.csv")
    words = ["cluster", "customers.csv", "-k", 3, "--id-column", "name", "--label-column", "kind"]
    result = run(*words, "--restarts", 1)
    folder = tmp_path / "customers.csv-clusters"
    assert {path.name for path in folder.iterdir()} == FILES
    labels = rows(folder / "labels.csv")
    assert labels[0] == ["id", "cluster", "name", "label", "confidence", "second"]
    assert {row[1] for row in labels[1:]} == {"1", "2", "3"}
    assert labels[1][0] == "client 0"
    assert fnmf.metrics.clustering_accuracy(kinds, [row[1] for row in labels[1:]]) == 1
    features = rows(folder / "features.csv")
    names = [row[0] for row in features[1:]]
    assert set(names[:3]) == {"bread", "milk", "tea"}
    assert set(names[3:]) == {"salt", "oil"}
    assert features[0][:3] == ["feature", "importance", "weighting_1"]
    assert np.shape(rows(folder / "embedding.csv")) == (61, 4)
    record = json.loads((folder / "run.json").read_text())
    content = (tmp_path / "customers.csv").read_bytes()
    assert record["input"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert record["seed"] == 0
    assert record["quality"]["ACC"] == "1.000"
    for word in ("1.000", "high bread", "columns of text are left out: 'city'"):
        assert word in result.output
    assert re.search(r"bread 3\.\d \(others 0\.\d+\)", (folder / "report.html").read_text())
    assert isinstance(fnmf.load(folder / "model.fnmf").model, fnmf.FNMF)


def test_same_seed_same_files(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    for out in ("a", "b"):
        run("cluster", "c.csv", "-k", 3, "--out", out, "--seed", 5, *QUICK)
    for name in ("labels.csv", "features.csv", "embedding.csv", "model.fnmf"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_traps_are_named_and_the_remedies_work(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv", traps=True)
    words = ["cluster", "c.csv", "-k", 3, "--strict"]
    told = run(*words, *QUICK, code=2).stderr
    assert "c.csv, line 6, column 'milk': the value is missing" in told
    assert "c.csv, line 9, column 'oil': -0.5 is negative" in told
    single = run(*words, "--shift", code=2).stderr
    assert single.splitlines()[-1].endswith("--missing median")
    run(*shlex.split(told.splitlines()[-1])[1:])
    assert "1 missing cell is filled" in (tmp_path / "c.csv-clusters/run.json").read_text()


def test_json_is_json(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    record = json.loads(run("cluster", "c.csv", "-k", 3, "--json", *QUICK).stdout)
    assert record["folder"] == "c.csv-clusters"
    assert sum(cluster["size"] for cluster in record["clusters"]) == 60


def test_older_results_are_only_replaced_by_force(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, *QUICK)
    before = (tmp_path / "c.csv-clusters/labels.csv").read_bytes()
    refused = run("cluster", "c.csv", "-k", 2, code=2)
    assert "exists already" in refused.stderr
    assert (tmp_path / "c.csv-clusters/labels.csv").read_bytes() == before
    run("cluster", "c.csv", "-k", 2, "--force", *QUICK)
    assert (tmp_path / "c.csv-clusters/labels.csv").read_bytes() != before
    assert {p.name for p in tmp_path.iterdir()} == {"c.csv", "c.csv-clusters"}


def test_force_never_wipes_a_folder_of_something_else(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/labels.csv").write_text("precious")
    refused = run("cluster", "c.csv", "-k", 3, "--out", "thesis", "--force", code=2)
    assert "was not written by an earlier run" in refused.stderr
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["labels.csv"]
    assert (tmp_path / "thesis/labels.csv").read_text() == "precious"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["none.csv", "-k", 3], "none.csv does not exist"),
        (["empty", "-k", 3], "is a folder"),
        (["c.csv", "-k", 61], "-k 61 is more than the 60 rows"),
        (
            ["c.csv", "-k", 3, "--method", "magic"],
            "--method magic is not known; use one of FNMF, NMF",
        ),
        (["c.csv", "-k", 3, "--param", "x=1"], "FNMF has no parameter 'x'"),
        (["c.csv", "-k", 3, "--param", "oops"], "not of the form NAME=VALUE"),
        (["c.csv", "-k", 3, "--solver", "magic"], "--solver 'magic' is not known"),
        (["c.csv", "-k", 3, "--id-column", "no"], "no column 'no'; its columns are 'name'"),
        (["c.csv", "-k", 3, "--shift", "--abs"], "exclude each other"),
        (["c.csv", "-k", 3, "--image-shape", "5"], "not of the form HEIGHTxWIDTH"),
        (["c.csv", "-k", 3, "--image-shape", "2x2"], "has 4 pixels, and there are 8 columns"),
        (["c.csv", "-k", 3, "--delimiter", "ab"], "must be a single character"),
        (["c.csv", "-k", 3, "--neighbors", "0"], "--neighbors 0 is too small"),
    ],
)
def test_wrong_usage_is_one_clear_sentence_and_leaves_nothing(
    run, tmp_path, words, told, write_customers
):
    write_customers(tmp_path / "c.csv")
    (tmp_path / "empty").mkdir()
    result = run("cluster", *words, code=2)
    assert told in result.stderr
    assert result.stderr.startswith("fnmf: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.csv", "empty"]


def test_a_full_disk_leaves_nothing(run, tmp_path, monkeypatch, write_customers):
    write_customers(tmp_path / "c.csv")

    def full(*_, **__):
        raise OSError(28, "No space left on device", "report.html")

    monkeypatch.setattr("fnmf.cli._run.write_page", full)
    result = run("cluster", "c.csv", "-k", 3, *QUICK, code=1)
    assert "the disk is full" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.csv"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(
    run, tmp_path, monkeypatch, number, code, write_customers, request
):
    write_customers(tmp_path / "c.csv")

    def interrupted(summary, path):
        # The worst moment: some files are there, the page is half written.
        assert (path.parent / "labels.csv").exists()
        path.write_text("half")
        os.kill(os.getpid(), number)
        time.sleep(10)

    monkeypatch.setattr("fnmf.cli._run.write_page", interrupted)
    # Under nohup the parent ignores Ctrl-C, and a child inherits that.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, previous))
    result = run("cluster", "c.csv", "-k", 3, *QUICK, code=code)
    assert result.stderr == "fnmf: interrupted; nothing was written.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.csv"]


def test_of_two_runs_into_one_folder_the_slower_is_told(
    run, tmp_path, monkeypatch, write_customers
):
    write_customers(tmp_path / "c.csv")
    folder = tmp_path / "c.csv-clusters"

    def overtaken(*_, **__):
        folder.mkdir()
        (folder / "run.json").write_text("{}")

    monkeypatch.setattr("fnmf.cli._run.write_page", overtaken)
    result = run("cluster", "c.csv", "-k", 3, *QUICK, code=2)
    assert "another run has written" in result.stderr
    assert "--out" in result.stderr
    assert [path.name for path in folder.iterdir()] == ["run.json"]
    assert len(list(tmp_path.iterdir())) == 2


def test_competitors_can_be_used_by_name(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, "--method", "ongr", "--restarts", 0)
    record = json.loads((tmp_path / "c.csv-clusters/run.json").read_text())
    assert record["method"] == "ONGR"


@pytest.mark.parametrize("ending", ["npy", "npz", "tsv.gz", "parquet", "mtx"])
def test_other_kinds_of_files(run, tmp_path, ending, write_customers):
    import gzip

    import pyarrow as pa
    import pyarrow.parquet as pq
    import scipy.io
    import scipy.sparse as sp

    X, _ = write_customers(tmp_path / "c.csv")
    path = tmp_path / f"t.{ending}"
    if ending == "npy":
        np.save(path, X)
    elif ending == "npz":
        sp.save_npz(path, sp.csr_array(X))
    elif ending == "mtx":
        scipy.io.mmwrite(path, sp.coo_array(X))
    elif ending == "parquet":
        pq.write_table(pa.table({f"f{k}": X[:, k] for k in range(5)}), path)
    else:
        text = "\n".join("\t".join(f"{v}" for v in row) for row in [list("abcde"), *X])
        path.write_bytes(gzip.compress(text.encode()))
    run("cluster", path, "-k", 3, *QUICK)
    assert {p.name for p in (tmp_path / f"{path.name}-clusters").iterdir()} == FILES


def test_new_rows_are_matched_by_column_name(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, "--id-column", "name", "--exclude", "kind", *QUICK)
    with open(tmp_path / "new.csv", "w", newline="") as file:
        writer = csv.writer(file)
        table = rows(tmp_path / "c.csv")
        order = [0, 7, 6, 5, 4, 3]
        writer.writerow([*(table[0][k] for k in order), "extra"])
        writer.writerows([[*(row[k] for k in order), 1] for row in table[1:13]])
    result = run("apply", "c.csv-clusters", "new.csv", "--id-column", "name")
    assert "columns the model does not know were left out: 'extra'" in result.output
    applied = rows(tmp_path / "new.csv-applied/labels.csv")
    trained = rows(tmp_path / "c.csv-clusters/labels.csv")
    assert [row[:3] for row in applied] == [row[:3] for row in trained[:13]]
    assert applied[0] == ["id", "cluster", "name", "confidence", "second"]
    sure = [float(row[3]) for row in applied[1:]]
    assert sure == pytest.approx([float(row[3]) for row in trained[1:13]], abs=0.2)
    assert all(row[4] != row[1] for row in applied[1:])
    assert np.shape(rows(tmp_path / "new.csv-applied/embedding.csv")) == (13, 4)


def test_missing_columns_and_text_in_new_rows_are_explained(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, "--exclude", "kind", *QUICK)
    (tmp_path / "few.csv").write_text("bread,milk\n1,2\n")
    told = run("apply", "c.csv-clusters/model.fnmf", "few.csv", code=2).stderr
    assert "lacks 3 of the 5 columns the model needs: 'tea', 'salt', 'oil'" in told
    (tmp_path / "text.csv").write_text("bread,milk,tea,salt,oil\n1,2,none at all,4,5\n")
    told = run("apply", "c.csv-clusters", "text.csv", code=2).stderr
    assert "line 2, column 'tea': 'none at all' is not a number" in told
    assert not list(tmp_path.glob("*-applied"))


def test_a_damaged_model_is_refused(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, *QUICK)
    path = tmp_path / "c.csv-clusters/model.fnmf"
    path.write_bytes(path.read_bytes()[:-1])
    for words in (["inspect", path], ["apply", path, "c.csv"], ["report", "c.csv-clusters"]):
        assert "truncated" in run(*words, code=2).stderr


def test_inspect_shows_parameters_and_features(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, "--smoothness", 7.5, "--exclude", "kind", *QUICK)
    assert "7.5" in run("inspect", "c.csv-clusters").output
    assert "rows of its data: new ones are compared" in run("inspect", "c.csv-clusters").output
    record = json.loads(run("inspect", "c.csv-clusters/model.fnmf", "--json").stdout)
    assert record["rows_kept"] > 0
    assert record["method"] == "FNMF"
    assert record["columns"] == ["bread", "milk", "tea", "salt", "oil"]
    assert len(record["top_features"]) == 5


def test_the_page_can_be_drawn_again(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv", traps=True)
    run("cluster", "c.csv", "-k", 3, "--missing", "drop", "--abs", *QUICK)
    page = tmp_path / "c.csv-clusters/report.html"
    before = page.read_text()
    page.unlink()
    run("report", "c.csv-clusters")
    assert page.read_text() == before
    run("report", "c.csv-clusters", "--title", "Another")
    assert "<h1>Another</h1>" in page.read_text()
    with open(tmp_path / "c.csv", "a") as file:
        file.write("x,Rome,a,1,1,1,1,1\n")
    assert "has changed since" in run("report", "c.csv-clusters", code=2).stderr


def test_methods_are_listed(run):
    record = json.loads(run("methods", "--json").stdout)
    names = [entry["name"] for entry in record["methods"]]
    assert names[0] == "FNMF"
    assert {"NMF", "CLR", "IFPCA", "Spectral"} <= set(names)
    assert "CLR" in run("methods").output


def test_hostile_names_reach_neither_terminal_nor_spreadsheet(run, tmp_path):
    header = '=cmd|calc,"[bold red]x[/]","\x1b[31mred\x07","</script><script>alert(1)</script>"'
    high = [[9 * (i % 3 == k) + (i * 7 + k) % 5 / 9 for k in range(4)] for i in range(60)]
    lines = [",".join(f"{value:.3f}" for value in row) for row in high]
    (tmp_path / "h.csv").write_text("\n".join([header, *lines]) + "\n")
    result = run("cluster", "h.csv", "-k", 3, *QUICK)
    assert "[bold red]x[/]" in result.output
    assert not set("\x1b\x07") & set(result.output)
    names = [row[0] for row in rows(tmp_path / "h.csv-clusters/features.csv")]
    assert "'=cmd|calc" in names
    assert "\x1b" not in "".join(names)
    assert "<script>alert" not in (tmp_path / "h.csv-clusters/report.html").read_text()


def test_help_is_quick_because_nothing_heavy_is_imported():
    program = "import sys, fnmf.cli._app; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {
        "numpy",
        "scipy",
        "sklearn",
        "numba",
        "pandas",
        "matplotlib",
        "jinja2",
        "h5py",
        "pyarrow",
    }
    assert not heavy & set(loaded.stdout.split())


def test_every_verb_has_help(run):
    for verb in ("cluster", "apply", "inspect", "report", "methods"):
        text = re.sub(r"\x1b\[[0-9;]*m", "", run(verb, "--help").output)
        assert "Usage" in text


def test_quiet_when_piped_and_no_progress_on_the_error_stream(tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    done = subprocess.run(
        [sys.executable, "-m", "fnmf.cli", "cluster", "c.csv", "-k", "3", "--json", *QUICK],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not re.sub(r"(?m)^[A-Z][\w .]+: \d+ s.*\n", "", done.stderr)
    assert json.loads(done.stdout)["fnmf"] == fnmf.__version__
