"""Write customers.csv: a made-up table with the traps that real tables have.

Three hundred customers of a shop, in four groups that differ in what they buy. Eight further
columns are noise. One column is text, one value is missing, one is negative.
"""

import csv
import sys
from pathlib import Path

import numpy as np

GROUPS = np.array([[9, 1, 1, 5], [1, 9, 2, 5], [1, 2, 9, 5], [5, 5, 5, 1]])
GOODS = ["bread", "milk", "tea", "coffee"]
CITIES = ["Graz", "Lyon", "Porto"]


def write(path: Path) -> None:
    """Write the table; the same one every time."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 300)
    bought = np.clip(GROUPS[group] + rng.normal(0, 1, (300, 4)), 0, None)
    noise = 10 * rng.random((300, 8))
    cells = [[f"{value:.2f}" for value in row] for row in np.hstack([bought, noise])]
    cells[20][2] = ""
    cells[40][5] = "-1.50"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["customer", "city", "group", *GOODS, *(f"day {k}" for k in range(1, 9))])
        for i, row in enumerate(cells):
            writer.writerow([f"C{i:03d}", CITIES[i % 3], "abcd"[group[i]], *row])


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "customers.csv"))
