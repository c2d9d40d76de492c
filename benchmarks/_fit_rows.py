"""Rows that the speed benchmarks print: how time is counted, bars, and what is kept of them."""

import csv
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

from _timing import THREADS

FIELDS = ("part", "what", "value", "bar", "detail", "processor", "seconds")


class Clock:
    """Wall clock with as many threads as all benchmarks have, or processor time of one."""

    threads, now, kind = THREADS, staticmethod(time.perf_counter), "wall"

    @classmethod
    def of_processor(cls) -> None:
        cls.threads, cls.now, cls.kind = 1, staticmethod(time.process_time), "processor"

    @classmethod
    def seconds(cls, task: Callable[[], object]) -> float:
        start = cls.now()
        task()
        return cls.now() - start


class Rows:
    """Rows of this run, printed as they come and kept in a file when their part is complete."""

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []

    def add(self, what: str, value: float, bar: float, detail: str = "") -> None:
        """Print a figure beside its bar."""
        row = {"what": what, "value": f"{value:.4g}", "bar": f"{bar:g}", "detail": detail}
        self.found.append(row)
        _print(row)

    def keep(self, path: Path, part: str) -> None:
        """Append all rows, those of one complete part."""
        about = {"part": part, "processor": processor(), "seconds": Clock.kind}
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if file.tell() == 0:
                writer.writeheader()
            writer.writerows(row | about for row in self.found)


ROWS = Rows()
report = ROWS.add


def printed(path: Path, part: str) -> bool:
    """Print what the file has of a part, from this processor and clock; false if nothing."""
    if not path.exists():
        return False
    with path.open() as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["part"], row["processor"], row["seconds"]) == (part, processor(), Clock.kind)
        ]
    for row in rows:
        _print(row)
    return bool(rows)


def _print(row: dict[str, str]) -> None:
    verdict = "met" if float(row["value"]) <= float(row["bar"]) else "NOT MET"
    value, bar = float(row["value"]), float(row["bar"])
    print(f"{row['what']:<68} {value:7.2f}  bar {bar:5g}  {verdict}  {row['detail']}", flush=True)


def against(what: str, bar: float, one: Callable[[], object], other: Callable[[], object]) -> None:
    """The best of three fits of one over that of the other, after a first one of each."""
    one()
    other()
    # In turn, so that both meet the same machine.
    pairs = [(Clock.seconds(one), Clock.seconds(other)) for _ in range(3)]
    a, b = (min(times) for times in zip(*pairs, strict=True))
    report(what, a / b, bar, f"{a:.2f} s against {b:.2f} s")


def processor() -> str:
    """What the figures are from."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return f"{next(names, platform.processor())}, {os.cpu_count()} cores"
