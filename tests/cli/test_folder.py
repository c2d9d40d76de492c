"""Nothing of the user's is ever lost in the folder of a run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fnmf.cli import _folder

QUICK = ["--restarts", "0", "--max-iter", "20"]


def snapshot(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def test_force_replaces_results_and_leaves_everything_else(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, *QUICK)
    folder = tmp_path / "c.csv-clusters"
    (folder / "thesis.txt").write_text("precious")
    (folder / "deep").mkdir()
    (folder / "deep" / "more.txt").write_text("precious too")
    before = snapshot(folder)
    run("cluster", "c.csv", "-k", 2, "--force", *QUICK)
    after = snapshot(folder)
    assert after["labels.csv"] != before["labels.csv"]
    assert after["thesis.txt"] == b"precious"
    assert (folder / "deep" / "more.txt").read_text() == "precious too"
    assert not list(folder.glob(".*"))


def test_the_input_is_never_overwritten(run, tmp_path, write_customers):
    write_customers(tmp_path / "labels.csv")
    before = (tmp_path / "labels.csv").read_bytes()
    for force in ([], ["--force"]):
        told = run("cluster", "labels.csv", "-k", 3, "-o", ".", *force, code=2).stderr
        assert "is the input of this run" in told
    assert snapshot(tmp_path) == {"labels.csv": before}


def test_the_folder_with_the_input_can_be_the_output(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    before = (tmp_path / "c.csv").read_bytes()
    run("cluster", "c.csv", "-k", 3, "-o", ".", *QUICK)
    assert "exists already" in run("cluster", "c.csv", "-k", 2, "-o", ".", code=2).stderr
    run("cluster", "c.csv", "-k", 2, "-o", ".", "--force", *QUICK)
    assert (tmp_path / "c.csv").read_bytes() == before
    run("inspect", ".")


def test_a_link_to_a_folder_is_followed(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    run("cluster", "c.csv", "-k", 3, "-o", "link", *QUICK)
    run("cluster", "c.csv", "-k", 2, "-o", "link", "--force", *QUICK)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "report.html").exists()


@pytest.mark.parametrize(
    "record", ['{"fnmf": 1}', "[]", "{", '{"run": "of something else"}', '{"fnmf": "0.1.0"}']
)
def test_a_record_of_something_else_gives_no_right_to_replace(
    run, tmp_path, write_customers, record
):
    write_customers(tmp_path / "c.csv")
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "run.json").write_text(record)
    (folder / "model.fnmf").write_text("mine")
    before = snapshot(folder)
    told = run("cluster", "c.csv", "-k", 3, "-o", "f", "--force", code=2).stderr
    assert "was not written by an earlier run" in told
    assert snapshot(folder) == before


def test_a_result_that_was_changed_by_hand_is_not_replaced(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, *QUICK)
    labels = tmp_path / "c.csv-clusters" / "labels.csv"
    labels.write_text(labels.read_text() + "a remark,of mine\n")
    before = snapshot(labels.parent)
    told = run("cluster", "c.csv", "-k", 2, "--force", code=2).stderr
    assert "labels.csv was not written by an earlier run, or has changed since" in told
    assert snapshot(labels.parent) == before


def test_a_page_drawn_again_still_belongs_to_the_run(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, *QUICK)
    run("report", "c.csv-clusters", "--title", "Another")
    run("cluster", "c.csv", "-k", 2, "--force", *QUICK)


def test_files_that_the_new_run_does_not_write_go(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    run("cluster", "c.csv", "-k", 3, *QUICK)
    run("cluster", "c.csv", "-k", 3, "--method", "CLR", "--restarts", 0, "--force")
    names = snapshot(tmp_path / "c.csv-clusters").keys()
    record = json.loads((tmp_path / "c.csv-clusters" / "run.json").read_text())
    assert names == {*record["files"], "run.json"}


KILLED = """
import os, sys
from pathlib import Path
from fnmf.cli import _folder
folder, moment = Path(sys.argv[1]), int(sys.argv[2])
real, count = os.replace, 0
def replace(a, b):
    global count
    if count == moment:
        os.kill(os.getpid(), 9)
    count += 1
    real(a, b)
os.replace = replace
with _folder.results_folder(folder, lambda: None) as partial:
    for name in ("labels.csv", "model.fnmf"):
        (partial / name).write_text("new")
    (partial / "run.json").write_text('{"fnmf": "0", "input": {}}')
    if moment < 0:
        os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("moment", [-1, 0, 1, 2, 3])
def test_a_kill_leaves_the_old_or_the_new_result_whole(tmp_path, moment):
    folder = tmp_path / "f"
    with _folder.results_folder(folder, lambda: None) as partial:
        for name in ("labels.csv", "model.fnmf", "report.html"):
            (partial / name).write_text("old")
        (partial / "run.json").write_text('{"fnmf": "0", "input": {}}')
    (folder / "mine.txt").write_text("precious")
    old = snapshot(folder)
    subprocess.run([sys.executable, "-c", KILLED, folder, str(moment)], check=False)
    _folder.finish_moves(folder)
    now = snapshot(folder)
    assert now.pop("mine.txt") == b"precious"
    if moment < 0:
        assert now == {k: v for k, v in old.items() if k != "mine.txt"}
    else:
        assert now.keys() == {"labels.csv", "model.fnmf", "run.json"}
        assert now["labels.csv"] == now["model.fnmf"] == b"new"
    with _folder.results_folder(folder, lambda: None) as partial:
        (partial / "run.json").write_text('{"fnmf": "0", "input": {}}')
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_record_cannot_make_us_remove_a_file_elsewhere(tmp_path):
    (tmp_path / "precious").write_text("x")
    folder = tmp_path / "f"
    complete = folder / ".fnmf-0123456789ab.complete"
    complete.mkdir(parents=True)
    (complete / "gone.json").write_text('["../precious"]')
    _folder.finish_moves(folder)
    assert (tmp_path / "precious").exists()


@pytest.fixture(params=["/dev/full", "pipe"])
def broken_output(request):
    if request.param == "pipe":
        reader, writer = os.pipe()
        os.close(reader)
    elif not os.path.exists(request.param):
        pytest.skip("there is no /dev/full here")
    else:
        writer = os.open(request.param, os.O_WRONLY)
    yield writer
    os.close(writer)


def cluster_in(folder, output, prefix=()):
    command = [sys.executable, "-m", "fnmf.cli", "cluster", "c.csv", "-k", "3", *QUICK]
    return subprocess.run(
        [*prefix, *command],
        cwd=folder,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def test_output_that_cannot_be_written_is_told_with_what_is_true(
    tmp_path, write_customers, broken_output
):
    write_customers(tmp_path / "c.csv")
    done = cluster_in(tmp_path, broken_output)
    assert (tmp_path / "c.csv-clusters" / "report.html").exists()
    assert done.returncode == 1
    assert "the output could not be written" in done.stderr
    assert "the results are complete, in c.csv-clusters" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["methods", "--version"])
def test_what_only_prints_blames_the_output_and_not_the_disk(broken_output, words, unbuffered):
    done = subprocess.run(
        [sys.executable, "-m", "fnmf.cli", words],
        stdout=broken_output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert done.returncode == 1
    full = os.fstat(broken_output).st_rdev
    # Who stops reading, as head does, needs no word.
    assert (
        done.stderr.startswith("fnmf: the output could not be written (")
        if full
        else not done.stderr
    )
    assert "disk" not in done.stderr


def test_whoever_closes_the_output_gets_results_and_no_complaint(tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    done = cluster_in(tmp_path, None, ["sh", "-c", '"$@" >&-', "sh"])
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "c.csv-clusters" / "report.html").exists()
