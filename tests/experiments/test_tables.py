import csv
import io
from html.parser import HTMLParser

import pytest

from fnmf.experiments._output import page
from fnmf.experiments._summary import Cell
from fnmf.experiments._tables import build, to_csv, to_html, to_latex, to_markdown

PUBLISHED = {"one": {"Old": 0.5, "New": 0.6}, "two": {"Old": 0.7, "New": 0.65}}


def cell(acc, std, **params):
    return Cell(acc=acc, acc_std=std, nmi=acc / 2, nmi_std=std, params=params, repeats=3, key="k")


@pytest.fixture
def table():
    cells = {
        ("one", "Old"): cell(0.52, 0.01),
        ("two", "Old"): cell(0.6, 0.02),
        ("one", "New"): cell(0.58, 0.0, smoothness=10.0),
        ("one", "Extra_1"): cell(0.58, 0.03),
        ("two", "Extra_1"): Cell(reason="ValueError: X | Y <script>&_%$#"),
    }
    return build(
        "table-acc", "ACC & more", "acc", {"one": "One", "two": "4 × 4"},
        ["Old", "New", "Extra_1", "Unseen"], cells, PUBLISHED,
    )  # fmt: skip


def test_entries_hold_both_values_the_difference_and_the_best(table):
    entry = table.entries["one", "Old"]
    assert (entry.paper, entry.ours, entry.std, entry.best) == (0.5, 0.52, 0.01, False)
    assert entry.difference == pytest.approx(0.02)
    assert table.entries["one", "New"].best
    assert table.entries["one", "Extra_1"].best
    assert table.entries["two", "New"].ours is None
    assert "Unseen" not in table.rows
    # Ranks: 3, 1.5, 1.5 on One; 1, then two missing values that share 2.5, on the other.
    assert table.ranks == {"Old": 2.0, "New": 2.0, "Extra_1": 2.0}
    assert table.paper_ranks["Old"] == table.paper_ranks["New"] == 1.5


def test_markdown(table):
    assert to_markdown(table) == (
        "### ACC & more\n"
        "\n"
        "| Method | One | 4 × 4 | mean rank (paper) |\n"
        "|---|---|---|---|\n"
        "| Old | 0.520 ± 0.010<br>0.500 (+0.020) | **0.600** ± 0.020<br>0.700 (−0.100) "
        "| 2.0 (1.5) |\n"
        "| New | **0.580** ± 0.000<br>0.600 (−0.020) | –<br>0.650 | 2.0 (1.5) |\n"
        "| Extra\\_1 | **0.580** ± 0.030 | – \\[1\\] | 2.0 (–) |\n"
        "\n"
        "1. Extra\\_1: ValueError: X \\| Y \\<script\\>&\\_%$\\# (4 × 4)\n"
    )


def test_csv_can_be_read_back(table):
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert len(rows) == 6
    chosen = {(row["method"], row["data set"]): row for row in rows}
    assert float(chosen["Old", "two"]["difference"]) == pytest.approx(-0.1)
    assert chosen["New", "one"]["setting"] == "smoothness=10"
    assert chosen["New", "two"]["ours"] == ""
    assert chosen["Extra_1", "two"]["reason"].startswith("ValueError")


def test_csv_text_that_looks_like_a_formula_is_defused():
    table = build("t", "T", "acc", {"=1+1": "x"}, ["@SUM(A1)"], {("=1+1", "@SUM(A1)"): cell(0.5, 0)}, {})  # fmt: skip # noqa: E501
    (row,) = csv.DictReader(io.StringIO(to_csv(table)))
    assert row["method"] == "'@SUM(A1)"
    assert row["data set"] == "'=1+1"


def test_latex(table):
    text = to_latex(table)
    assert r"Method & One & 4 $\times$ 4 & Rank \\ \hline" in text
    assert r"\textbf{0.600}{\scriptsize $\pm$0.020} & 2.0 \\" in text
    assert r"{\footnotesize 0.700 ($-$0.100)} & 1.5 \\" in text
    assert r"Extra\_1: ValueError: X | Y \textless{}script\textgreater{}\&\_\%\$\# (4 $\times$ 4)" in text  # fmt: skip # noqa: E501
    assert text.count("{") == text.count("}")


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_escaped_and_complete(table):
    reader = Reader()
    reader.feed(to_html(table))
    assert "script" not in reader.tags
    text = " ".join(reader.text)
    for part in ("ACC & more", "0.520", "± 0.010", "paper 0.500", "+0.020", "−0.100", "<script>"):
        assert part in text
    assert reader.tags.count("tr") == 4


def test_the_page_escapes_facts_and_loads_nothing_from_elsewhere(table):
    text = page([table], [], {"command": "fnmf --out '<img src=x onerror=alert(1)>'"})
    reader = Reader()
    reader.feed(text)
    assert not {"script", "img", "iframe", "link"} & set(reader.tags)
    assert "http:" not in text
    assert "https:" not in text
    assert "default-src 'none'" in text
