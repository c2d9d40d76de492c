"""Decimal commas, marks between thousands, any delimiter: right, refused or doubted aloud."""

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import european
from fnmf.io import read_table


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
