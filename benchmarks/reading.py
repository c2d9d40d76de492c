"""Time and memory for reading a large CSV file, beside pandas (C engine) and Polars.

    python benchmarks/reading.py --gigabytes 1

Each reader works in a process of its own, several times in turn; the best time counts. Imports are
not counted. Polars and pandas are peers here; the package's reader uses nothing of them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

READERS = {
    "fnmf": "import fnmf.io, pyarrow.csv\nread = lambda p: fnmf.io.read_table(p).X",
    "pandas": "import pandas\nread = lambda p: pandas.read_csv(p, engine='c').to_numpy()",
    "polars": "import polars\nread = lambda p: polars.read_csv(p).to_numpy()",
}
PROGRAM = """
import json, resource, sys, time
import numpy as np
{reader}
started, used = time.perf_counter(), time.process_time()
X = read(sys.argv[1])
seconds, used = time.perf_counter() - started, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([seconds, used, peak / X.nbytes, float(X.sum()), list(X.shape)]))
"""


def write(path: Path, size: int, columns: int) -> None:
    """Numbers with six decimals, in blocks that repeat."""
    rng = np.random.default_rng(0)
    rows = (",".join(f"{v:.6f}" for v in row) for row in rng.gamma(1, 3, (5000, columns)))
    block = "\n".join(rows) + "\n"
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join(f"f{k}" for k in range(columns)) + "\n")
        while file.tell() < size:
            file.write(block)


def main() -> None:
    """Write the file, read it, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=0.2)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    best: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write(path, int(options.gigabytes * 1e9), options.columns)
        for _ in range(options.repeats):
            for name, reader in READERS.items():
                program = PROGRAM.format(reader=reader)
                done = subprocess.run(
                    [sys.executable, "-c", program, str(path)], capture_output=True, text=True
                )
                if done.returncode:
                    print(f"{name}: {done.stderr.splitlines()[-1]}", file=sys.stderr)
                    continue
                found = json.loads(done.stdout)
                if name not in best or found[0] < best[name][0]:
                    best[name] = found
    print(f"{'reader':8} {'seconds':>8} {'of pandas':>10} {'CPU s':>8} {'peak / numbers':>15}")
    for name, (seconds, used, peak, _, _) in best.items():
        ratio = seconds / best["pandas"][0]
        print(f"{name:8} {seconds:8.2f} {ratio:10.2f} {used:8.2f} {peak:15.2f}")
    sums = {(round(entry[3], 3), *entry[4]) for entry in best.values()}
    print("all readers agree" if len(sums) == 1 else f"readers DISAGREE: {sums}")


if __name__ == "__main__":
    main()
