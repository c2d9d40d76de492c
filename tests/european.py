"""Tables written in the ways of many countries, with what they mean."""

import csv
import io

import numpy as np

DELIMITERS = (",", ";", "\t", "|", " ")
MARKS = [
    (decimal, thousands)
    for decimal in ".,"
    for thousands in ("", ",", ".", " ", "\u00a0", "\u202f", "'", "\u2019")
    if decimal != thousands
]
QUOTING = (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
KINDS = ("whole", "small", "prices", "large", "three decimals", "signed", "mixed")


def values(rng, kind, n_rows):
    """A column, and the number of decimals it is written with."""
    if kind == "whole":
        return rng.integers(0, 1000, n_rows).astype(float), 0
    if kind == "small":
        return np.round(rng.random(n_rows), 4), 4
    if kind == "prices":
        return np.round(rng.gamma(2, 40, n_rows), 2), 2
    if kind == "large":
        return np.floor(rng.gamma(2, 40_000, n_rows)), 0
    if kind == "three decimals":
        return np.round(rng.uniform(0, 30, n_rows), 3), 3
    if kind == "signed":
        return np.round(rng.normal(0, 5, n_rows), 1), 1
    return np.round(rng.lognormal(3, 3, n_rows), 2), 2


def written(value, decimals, decimal, thousands):
    """One cell."""
    text = f"{value:,.{decimals}f}"
    swap = {",": thousands, ".": decimal}
    return "".join(swap.get(char, char) for char in text)


def table(rng, *, delimiter, marks, quoting, header, n_rows, n_columns):
    """Text of a table, and the numbers it holds."""
    kinds = rng.choice(KINDS, n_columns)
    columns = [values(rng, kind, n_rows) for kind in kinds]
    cells = [[written(v, places, *marks) for v in column] for column, places in columns]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    if header:
        writer.writerow([f"{kind} {k}".replace(" ", "_") for k, kind in enumerate(kinds)])
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue(), np.column_stack([column for column, _ in columns])


def verdict(read, text, truth, path):
    """``right``, ``refused``, ``doubted`` or ``wrong`` for the reading of a text."""
    from fnmf.io import TableError

    path.write_text(text, encoding="utf-8")
    try:
        table = read(path)
    except TableError:
        return "refused"
    if table.X.shape == truth.shape and np.array_equal(table.X, truth):
        return "right"
    doubted = any(note.remedy in ("delimiter", "marks") for note in table.notes)
    return "doubted" if doubted else "wrong"
