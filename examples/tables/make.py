"""Write three made-up tables with the traps that real ones have; the same ones every time.

``customers.csv``: 900 customers of a shop in three segments of very different size, with an id, a
date, yes/no, a category, free text, missing cells and negative balances.
``sensors.csv``: 700 readings of a machine in three states, with a date and missing cells.
``survey.csv``: 600 answers, most of them categories, in three groups.

``python examples/tables/make.py FOLDER`` writes them; ``SEGMENTS`` holds what is to be found.
"""

import csv
import datetime
import sys
from pathlib import Path

import numpy as np

# Rows in each group, and the columns in which the groups differ.
SEGMENTS = {
    "customers.csv": (
        (560, 250, 90),
        ("visits_per_month", "days_since_last_order", "basket_eur", "discount_share", "newsletter"),
    ),
    "sensors.csv": ((380, 240, 80), ("temperature_c", "vibration_mm_s", "current_a")),
    "survey.csv": ((280, 200, 120), ("channel", "reason", "visits", "spending_eur", "recommends")),
}
_COMMENTS = ("", "", "", "", "called twice", "parcel late", "moved house", "likes the new shop")


def _segments(name: str, rng: np.random.Generator) -> np.ndarray:
    sizes, _ = SEGMENTS[name]
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def _day(first: datetime.date, offset: float) -> str:
    return (first + datetime.timedelta(days=int(offset))).isoformat()


def _with_gaps(cells: list[str], share: float, rng: np.random.Generator) -> list[str]:
    return [
        "" if gone else cell
        for cell, gone in zip(cells, rng.random(len(cells)) < share, strict=True)
    ]


def customers(rng: np.random.Generator) -> tuple[dict[str, list[str]], np.ndarray]:
    """Frequent visitors, occasional ones and a few who only buy what is reduced."""
    kind = _segments("customers.csv", rng)
    n = len(kind)
    visits = rng.gamma(9, np.array([2.3, 7.6, 3.0])[kind] / 9)
    last = rng.gamma(3, np.array([95, 11, 45])[kind] / 3)
    basket = rng.lognormal(np.log(np.array([38, 27, 62])[kind]), 0.25)
    discount = rng.beta(*np.array([[2, 14], [2, 14], [16, 5]])[kind].T)
    newsletter = rng.random(n) < np.array([0.25, 0.8, 0.95])[kind]
    first = datetime.date(2019, 1, 1)
    comments = [f"{text}, case {i}" if (text := rng.choice(_COMMENTS)) else "" for i in range(n)]
    return {
        "customer_id": [str(100_017 + 7 * i) for i in range(n)],
        "signed_up": [_day(first, day) for day in rng.integers(0, 2000, n)],
        "newsletter": _with_gaps([("no", "yes")[int(x)] for x in newsletter], 0.03, rng),
        "region": _with_gaps(list(rng.choice(["north", "south", "west", "coast"], n)), 0.05, rng),
        "visits_per_month": [f"{x:.1f}" for x in visits],
        "days_since_last_order": _with_gaps([f"{x:.0f}" for x in last], 0.04, rng),
        "basket_eur": [f"{x:.2f}" for x in basket],
        "discount_share": [f"{x:.2f}" for x in discount],
        "balance_eur": [f"{x:.2f}" for x in rng.normal(60, 130, n)],
        "age": _with_gaps([f"{x:.0f}" for x in rng.normal(46, 14, n).clip(18, 90)], 0.09, rng),
        "distance_km": [f"{x:.1f}" for x in rng.gamma(2, 4, n)],
        "tickets": [str(x) for x in rng.poisson(0.8, n)],
        "comment": comments,
    }, kind


def sensors(rng: np.random.Generator) -> tuple[dict[str, list[str]], np.ndarray]:
    """A machine at work, idle, and now and then overheating."""
    state = _segments("sensors.csv", rng)
    n = len(state)
    start = datetime.datetime(2024, 3, 1)
    times = [start + datetime.timedelta(minutes=20 * i) for i in range(n)]
    named = {
        "temperature_c": np.array([61, 24, 88])[state] + rng.normal(0, 3, n),
        "vibration_mm_s": np.array([2.8, 0.3, 7.0])[state] * rng.lognormal(0, 0.15, n),
        "current_a": np.array([12.5, 1.1, 15.5])[state] + rng.normal(0, 0.5, n),
        "humidity": rng.normal(48, 9, n),
        "room_temperature_c": rng.normal(-2, 5, n),
        "pressure_hpa": rng.normal(1013, 8, n),
        "light_lux": rng.normal(320, 40, n),
        "noise_db": rng.normal(55, 4, n),
    }
    cells = {"time": [time.isoformat(sep=" ", timespec="minutes") for time in times]}
    for name, values in named.items():
        cells[name] = _with_gaps([f"{value:.2f}" for value in values], 0.05, rng)
    return cells, state


def survey(rng: np.random.Generator) -> tuple[dict[str, list[str]], np.ndarray]:
    """People who shop online for the price, in the shop for advice, and by phone."""
    kind = _segments("survey.csv", rng)
    n = len(kind)

    def answers(options: list[str], shares: list[list[float]]) -> list[str]:
        return [str(rng.choice(options, p=shares[k])) for k in kind]

    def anything(options: list[str]) -> list[str]:
        return list(rng.choice(options, n))

    return {
        "respondent": [f"R{i:04d}" for i in range(1, n + 1)],
        "channel": answers(
            ["online", "shop", "phone"], [[0.9, 0.08, 0.02], [0.08, 0.9, 0.02], [0.05, 0.1, 0.85]]
        ),
        "reason": _with_gaps(
            answers(
                ["price", "advice", "habit", "distance"],
                [
                    [0.85, 0.05, 0.05, 0.05],
                    [0.05, 0.8, 0.1, 0.05],
                    [0.05, 0.05, 0.3, 0.6],
                ],
            ),
            0.04,
            rng,
        ),
        "visits": answers(
            ["weekly", "monthly", "rarely"], [[0.7, 0.2, 0.1], [0.15, 0.75, 0.1], [0.05, 0.1, 0.85]]
        ),
        "recommends": answers(["no", "yes"], [[0.6, 0.4], [0.08, 0.92], [0.5, 0.5]]),
        "spending_eur": [f"{x:.0f}" for x in rng.gamma(8, np.array([45, 120, 25])[kind] / 8)],
        "satisfaction": _with_gaps([str(x) for x in rng.integers(1, 6, n)], 0.05, rng),
        "household": [str(x) for x in rng.integers(1, 6, n)],
        "home": anything(["city", "suburb", "village"]),
        "transport": anything(["car", "bus", "bicycle", "foot"]),
        "device": anything(["phone", "laptop", "tablet"]),
        "answered_on": [_day(datetime.date(2024, 5, 1), day) for day in rng.integers(0, 60, n)],
    }, kind


def write(folder: Path) -> dict[str, np.ndarray]:
    """Write the three tables; the true group of each row of each table."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = {}
    for seed, make in enumerate((customers, sensors, survey)):
        columns, groups = make(np.random.default_rng(seed))
        name = f"{make.__name__}.csv"
        truth[name] = groups
        with open(folder / name, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    return truth


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
