"""Decimal commas, marks between thousands, any delimiter: right, refused or doubted aloud."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import european
from fnmf.io import TableError, read_table


@settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 10**6),
    delimiter=st.sampled_from(european.DELIMITERS),
    marks=st.sampled_from(european.MARKS),
    quoting=st.sampled_from(european.QUOTING),
    header=st.booleans(),
    n_rows=st.integers(3, 1000),
    n_columns=st.integers(1, 20),
)
@example(0, ";", (",", "."), 0, False, 3, 1)
@example(0, ";", (",", ""), 0, False, 3, 2)
def test_no_table_is_read_wrongly_in_silence(
    tmp_path, seed, delimiter, marks, quoting, header, n_rows, n_columns
):
    text, truth = european.table(
        np.random.default_rng(seed),
        delimiter=delimiter,
        marks=marks,
        quoting=quoting,
        header=header,
        n_rows=n_rows,
        n_columns=n_columns,
    )
    assert european.verdict(read_table, text, truth, tmp_path / "t.csv") != "wrong"


def test_ordinary_tables_are_read_rightly_in_every_notation(tmp_path):
    rng = np.random.default_rng(0)
    found = Counter()
    for delimiter, marks, quoting, header in product(
        european.DELIMITERS, european.MARKS, european.QUOTING, (False, True)
    ):
        text, truth = european.table(
            rng,
            delimiter=delimiter,
            marks=marks,
            quoting=quoting,
            header=header,
            n_rows=60,
            n_columns=6,
        )
        found[european.verdict(read_table, text, truth, tmp_path / "t.csv")] += 1
    assert found["right"] >= 0.99 * found.total()
    assert found["wrong"] == 0


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["$83,305.76", "$1,200.00", "-$12.50", "$0.99"], [83305.76, 1200, -12.5, 0.99]),
        (["€ 1.234,50", "€ 0,99", "€ -12,00", "7,25"], [1234.5, 0.99, -12, 7.25]),
        (["1,200 USD", "15,000 USD", "980 USD", "1,234,567 USD"], [1200, 15000, 980, 1234567]),
        (["1\u00a0234,50\u00a0€", "0,99 €", "", "12,00 €"], [1234.5, 0.99, np.nan, 12]),
    ],
)
def test_amounts_of_money_are_numbers(tmp_path, cells, read):
    path = tmp_path / "t.csv"
    rows = [f"{cell};{k % 3};{'abc'[k % 3]}" for k, cell in enumerate(cells * 5)]
    path.write_text("\n".join(["price;level;name", *rows]))
    table = read_table(path)
    assert table.names == ["price", "level"]
    np.testing.assert_array_equal(table.X[:, 0], read * 5)


def test_two_currencies_are_not_one_number(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("price;level\n" + "$5.00;1\n$6.00;2\n€5.00;3\n7.00;4\n" * 3)
    with pytest.raises(TableError, match=r"'€5\.00' stands among amounts in \$"):
        read_table(path)


def test_percentages_are_numbers_and_go_with_percentages_alone(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("share;level\n" + "12,5 %;1\n50%;2\n;3\n" * 4)
    table = read_table(path)
    assert table.names == ["share", "level"]
    assert table.X[:2].tolist() == [[12.5, 1], [50, 2]]
    path.write_text("share,level\n" + "12.5%,1\n50%,2\n0.5,3\n" * 4)
    with pytest.raises(TableError, match=r"line 4, .*'0\.5' stands among percentages"):
        read_table(path)
    path.write_text("share,level\n" + "12.5,1\n50,2\n5%,3\n" * 4)
    with pytest.raises(TableError, match=r"line 4, .*'5%' stands among plain numbers"):
        read_table(path)


def test_powers_of_ten_are_not_taken_for_thousands(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{k + 8.446:.3e},{k}.250e+03\n" for k in range(1, 9)))
    table = read_table(path)
    assert table.X[0].tolist() == [9.446, 1250]
    assert not table.notes


def test_an_amount_that_could_be_two_numbers_is_doubted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("price;level\n" + "€1.234;1\n€5.678;2\n€9.101;3\n")
    assert any("could mean" in str(note) for note in read_table(path).notes)
