"""Advice that leads somewhere: names, joins, units, messages and their ways out."""

import csv
import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.main import get_command

import fnmf
from fnmf import _compile
from fnmf.baselines import unregister_method
from fnmf.cli._app import app
from fnmf.cli._errors import handled
from fnmf.cli._fit_options import Model
from fnmf.datasets.loading import canonical_name

QUICK = ["--restarts", "0", "--max-iter", "20"]


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_names_are_kept_with_the_model_and_written_by_apply(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    words = ["cluster", "c.csv", "-k", 3, "--exclude", "kind", *QUICK]
    told = run(*words, "--names", "a, b", code=2).stderr
    assert "--names has 2 names, and there are 3 clusters" in told
    run(*words, "--names", "bakers, dairy, tea folk", "--rows-are", "clients")
    page = (tmp_path / "c.csv-clusters/report.html").read_text()
    assert "The 60 clients fall into 3 groups" in page
    assert "tea folk" in page
    (tmp_path / "names.csv").write_text('cluster,name\n2,"x, y"\n1,first\n3,third\n')
    run("report", "c.csv-clusters", "--names", "names.csv")
    run("apply", "c.csv-clusters", "c.csv")
    found = {row["cluster"]: row["name"] for row in rows(tmp_path / "c.csv-applied/labels.csv")}
    assert found == {"1": "first", "2": "x, y", "3": "third"}
    run("report", "c.csv-clusters")
    assert "x, y" in (tmp_path / "c.csv-clusters/report.html").read_text()


def test_labels_are_joined_to_a_sheet(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["who", "day", "a", "b"])
    for i in range(30):
        book.active.append([f"w{i}", f"2024-01-{i % 28 + 1:02}", 9 * (i % 2) + i / 50, i % 5])
    book.save(tmp_path / "t.xlsx")
    run("cluster", "t.xlsx", "-k", 2, "--with-columns", *QUICK)
    found = rows(tmp_path / "t.xlsx-clusters/labels.csv")
    assert found[3]["id"] == found[3]["who"] == "w3"
    assert found[3]["day"] == "2024-01-04"
    assert float(found[3]["a"]) == pytest.approx(9.06)


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--scale", "max"],
        ["--normalize", "samples"],
        ["--missing", "drop"],
        ["--weighting", "uniform"],
    ],
)
def test_values_are_explained_in_the_units_of_the_file(run, tmp_path, options):
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    X = np.column_stack([rng.normal(np.array([-230, 100, 415])[kinds], 9), rng.random((60, 3))])
    lines = [",".join(f"{v:.3f}" for v in row) for row in X]
    lines[7] = lines[7].rsplit(",", 1)[0] + ","
    (tmp_path / "t.csv").write_text("\n".join(["balance,b,c,d", *lines]))
    run("cluster", "t.csv", "-k", 3, *options, *QUICK)
    for extra in ([], ["--data", "t.csv"]):
        told = json.loads(run("explain", "t.csv-clusters", 3, "--json", *extra).stdout)
        entries = {e["feature"]: e for e in (*told["pulls"], *told["against"])}
        for name, k in (("balance", 0), ("b", 1)):
            if name in entries:
                assert entries[name]["value"] == pytest.approx(X[2, k], abs=1e-3)
        clusters = rows(tmp_path / "t.csv-clusters/labels.csv")
        lines = [int(row["id"].removeprefix("line ")) - 2 for row in clusters]
        own = [
            i
            for i, row in zip(lines, clusters, strict=True)
            if int(row["cluster"]) == told["cluster"]
        ]
        assert entries["balance"]["own"] == pytest.approx(X[own, 0].mean(), abs=1e-3)


def test_new_rows_are_advised_only_what_apply_has(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, "--strict", *QUICK)
    (tmp_path / "new.csv").write_text("name,bread,milk,tea,salt,oil\na,1,,3,4,-5\n")
    told = run("apply", "c.csv-clusters", "new.csv", code=2).stderr
    assert "the training table had none" in told
    assert not re.search("--(missing|shift|abs|encode)", told)


def test_the_layer_of_the_training_run_is_read_again(run, tmp_path):
    anndata = pytest.importorskip("anndata")
    counts = np.random.default_rng(0).poisson(3.0, (40, 6)).astype(np.float32)
    cells = anndata.AnnData(counts)
    cells.raw = cells
    cells.X = counts - counts.mean(axis=0)
    cells.write_h5ad(tmp_path / "x.h5ad")
    shown = run("cluster", "x.h5ad", "-k", 2, "--raw", *QUICK).output
    assert "40 cells" in shown
    run("apply", "x.h5ad-clusters", "x.h5ad")
    trained, applied = (
        [row["cluster"] for row in rows(tmp_path / folder / "labels.csv")]
        for folder in ("x.h5ad-clusters", "x.h5ad-applied")
    )
    assert np.mean(np.array(trained) == np.array(applied)) > 0.9


@pytest.mark.parametrize("name", ["kmeans", "k-means", "KMeans"])
def test_k_means_is_the_first_comparison(run, tmp_path, write_customers, name):
    _, kinds = write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, "--method", name, "--exclude", "kind", "--restarts", 0)
    labels = [int(row["cluster"]) for row in rows(tmp_path / "c.csv-clusters/labels.csv")]
    assert fnmf.metrics.clustering_accuracy(kinds, labels) == 1
    run("apply", "c.csv-clusters", "c.csv")


def test_methods_of_a_file_can_be_listed_and_used(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    (tmp_path / "mine.py").write_text(
        "from fnmf.baselines import KMeans, Method, register_method\n"
        "register_method(Method('Mine', KMeans, citation='none'))\n"
    )
    try:
        assert "Mine" in run("methods", "--with", "mine.py").output
        run("cluster", "c.csv", "-k", 2, "--method", "mine", "--with", "mine.py", *QUICK[:2])
    finally:
        unregister_method("Mine")


def test_few_rows_and_equal_rows_end_in_a_sentence(run, tmp_path):
    (tmp_path / "two.csv").write_text("a,b\n1,2\n3,4\n")
    assert "two.csv has 2 rows; groups need at least 6." in run("cluster", "two.csv", code=2).stderr
    (tmp_path / "six.csv").write_text("a,b\n1,2\n1,3\n2,2\n8,9\n9,9\n9,8\n")
    run("cluster", "six.csv", "-k", 2, "--restarts", 0)
    (tmp_path / "same.csv").write_text("a,b\n" + "1,2\n" * 30)
    assert "nothing to cluster" in run("cluster", "same.csv", code=2).stderr


def test_constant_columns_are_left_out(run, tmp_path):
    lines = [f"7,{9 * (i % 2) + i / 100},0" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["same,b,zero", *lines]))
    run("cluster", "t.csv", "-k", 2, *QUICK)
    assert [row["feature"] for row in rows(tmp_path / "t.csv-clusters/features.csv")] == ["b"]
    record = json.loads((tmp_path / "t.csv-clusters/run.json").read_text())
    assert any("'same', 'zero'" in one["what"] for one in record["decisions"])


def test_marks_that_contradict_each_other_still_stop(run, tmp_path):
    lines = [f"{i}.5;{i},25;{i}" for i in range(1, 40)]
    (tmp_path / "t.csv").write_text("\n".join(["a;b;c", *lines]))
    told = run("cluster", "t.csv", "-k", 2, *QUICK, code=2).stderr
    assert "other marks" in told
    assert told.splitlines()[-1].strip().startswith("fnmf cluster t.csv")


def test_a_value_that_is_none_is_told_with_those_that_are(run):
    told = " ".join(run("cluster", "t.csv", "--missing", "mean", code=2).stderr.split())
    assert "Value error" not in told
    assert "'mean' is none of auto, error, keep, drop" in told


def test_methods_that_take_no_missing_cells_have_them_filled(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    lines = (tmp_path / "c.csv").read_text().splitlines()
    lines[3] = ",".join([*lines[3].split(",")[:-1], ""])
    (tmp_path / "c.csv").write_text("\n".join(lines))
    words = ["cluster", "c.csv", "-k", 3, "--method", "kmeans", "--restarts", 0]
    told = run(*words, "--missing", "keep", code=2).stderr
    assert "KMeans takes no missing cells; choose --missing median or drop." in told
    run(*words)
    record = json.loads((tmp_path / "c.csv-clusters/run.json").read_text())
    assert any("filled by the median" in one["what"] for one in record["decisions"])


def test_an_interrupted_kernel_is_an_interruption(capsys):
    import typer

    def kernel():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise SystemError("CPUDispatcher returned a result with an exception set") from error

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(typer.Exit), handled():
            kernel()
    finally:
        signal.signal(signal.SIGINT, previous)
    assert capsys.readouterr().err == "fnmf: interrupted; nothing was written.\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_before_the_verb_begins_is_told(number, code):
    """Libraries that are interrupted while they are imported raise errors of their own."""
    script = f"""
import signal, sys
from fnmf.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)

class Finder:
    def find_spec(self, name, *_):
        if name == "fnmf.cli._app":
            try:
                signal.raise_signal({int(number)})
            except BaseException:
                raise AttributeError("partially initialized module")

sys.meta_path.insert(0, Finder())
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "fnmf: interrupted; nothing was written.\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_that_c_code_drops_comes_again(number, code):
    """Numba compiles through ctypes, which prints what a callback raises, and goes on."""
    script = f"""
import ctypes, signal, time
from fnmf.cli._errors import handled

@ctypes.CFUNCTYPE(None)
def callback():
    signal.raise_signal({int(number)})

signal.signal(signal.SIGINT, signal.default_int_handler)
with handled():
    callback()
    time.sleep(20)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr.startswith("fnmf: interrupted; nothing was written.\n")
    assert f"Exit: {code}" in done.stderr


def test_the_first_compiling_is_told_once(monkeypatch, caplog, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path), raising=False)
    assert not _compile.compiled_before()
    _compile.tell_first_compiling.cache_clear()
    for _ in range(2):
        _compile.tell_first_compiling()
    assert caplog.text.count("only the first time") == 1
    (tmp_path / "kernel.nbi").write_text("")
    assert _compile.compiled_before()


def test_help_has_examples_defaults_and_no_types_of_flags(run):
    assert "<bool>" not in run("data", "--help").output
    for verb in ([], *([name] for name in get_command(app).commands if name != "data")):
        text = run(*verb, "--help").output
        assert not re.search(r"<\w+", text)
        assert "Examples:" in text
    text = " ".join(re.sub(r"[│\s]+", " ", run("cluster", "--help").output).split())
    defaults = fnmf.FNMF().get_params()
    for option, name in (("neighbors", "n_neighbors"), ("max-iter", "max_iter"), ("init", "init")):
        found = re.search(rf"--{option} .*?\(default: (\S+)\)", text)
        assert found[1] == str(defaults[name])
    assert Model().given() == {}


def test_the_demonstration_ends_with_a_report_and_what_to_do_next(run, tmp_path):
    told = run("demo").output
    assert (tmp_path / "fnmf-demo/report.html").is_file()
    assert "file://" in told
    assert [line for line in told.splitlines() if " cluster tables/customers.csv" in line]


def test_a_data_set_has_the_name_of_its_file():
    assert canonical_name("usps_1854") == "usps"


def test_layers_from_the_command(run, tmp_path, write_customers):
    write_customers("c.csv")
    run("cluster", "c.csv", "-k", "3", "--layers", "9,5", *QUICK)
    page = (tmp_path / "c.csv-clusters/report.html").read_text(encoding="utf-8")
    assert "9, then 5, then 3" in page
    assert fnmf.load(tmp_path / "c.csv-clusters/model.fnmf").layers == (9, 5, 3)
    run("apply", "c.csv-clusters", "c.csv")
    told = run("cluster", "c.csv", "--layers", "many", "--force", code=2).stderr
    assert "of the form 100,30" in told
