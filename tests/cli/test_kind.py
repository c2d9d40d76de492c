"""Kinds of columns from the shell."""

import json

import numpy as np
import pytest

import fnmf

QUICK = ["-k", "3", "--restarts", "0", "--max-iter", "20"]


@pytest.fixture(autouse=True)
def table(tmp_path):
    """Three groups, a code of five values, a scale, a flag and a flag of text."""
    rng = np.random.default_rng(0)
    lines = ["visits,spent,code,grade,member,plan"]
    for i in range(90):
        known = f"{5 * (i % 3) + rng.normal():.3f},{30 - 6 * (i % 3) + rng.normal():.3f}"
        plan = "pro" if rng.random() < 0.5 else "basic"
        others = f"{rng.integers(1, 6)},{rng.integers(1, 4)},{rng.integers(0, 2)},{plan}"
        lines.append(f"{known},{others}")
    (tmp_path / "t.csv").write_text("\n".join(lines))


def test_columns_are_what_the_user_says(run, tmp_path):
    kinds = ["code=category", "grade=ordinal", "member=flag", "plan=flag"]
    options = [one for kind in kinds for one in ("--kind", kind)]
    said = run("cluster", "t.csv", *options, *QUICK).stdout
    assert "you said so" in said
    folder = tmp_path / "t.csv-clusters"
    model = fnmf.load(folder / "model.fnmf")
    names = model.feature_names_in_.tolist() if hasattr(model, "feature_names_in_") else None
    assert names is None
    told = model.column_kinds_.tolist()
    assert told.count("category") == 5
    assert told[:4] == ["continuous", "continuous", "ordinal", "flag"]
    record = json.loads((folder / "run.json").read_text())
    assert "ordinal" in json.dumps(record)
    run("apply", folder, "t.csv", "-o", "again")
    first, again = (
        [line.split(",")[1] for line in (tmp_path / one).read_text().splitlines()]
        for one in ("t.csv-clusters/labels.csv", "again/labels.csv")
    )
    assert first[1:] == again[1:]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("code", "COLUMN=KIND"),
        ("code=nominal", "kinds are flag, category"),
        ("kode=flag", "no such column"),
        ("code=flag", "more than two values"),
        ("plan=ordinal", "holds text"),
    ],
)
def test_kinds_that_cannot_be_are_told(run, kind, told):
    assert told in run("cluster", "t.csv", "--kind", kind, *QUICK, code=2).stderr


def test_kinds_need_a_method_that_knows_them(run):
    said = run("cluster", "t.csv", "--kind", "grade=ordinal", "--method", "kmeans", code=2)
    assert "knows no kinds" in said.stderr
    run("cluster", "t.csv", "--kind", "code=category", "--method", "kmeans", "-k", "3")
