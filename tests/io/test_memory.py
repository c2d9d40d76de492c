"""Reading a large text file holds little more than its numbers."""

import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import resource, sys
import numpy as np
from fnmf.io import read_table
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
# Everything a reader needs is imported and used once before the measurement.
read_table(sys.argv[2])
before = peak()
table = read_table(sys.argv[1])
print((peak() - before) / table.X.nbytes, table.X.shape[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in kibibytes there")
def test_peak_memory_is_below_twice_the_numbers(tmp_path):
    rng = np.random.default_rng(0)
    block = "\n".join(",".join(f"{v:.6f}" for v in row) for row in rng.random((1000, 50)))
    header = ",".join(f"f{i}" for i in range(50))
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text(f"{header}\n{block}\n" * 1)
    with open(large, "w") as file:
        file.write(f"{header}\n")
        for _ in range(150):
            file.write(block + "\n")
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(large), str(small)],
        capture_output=True,
        text=True,
        check=True,
    )
    ratio, rows = run.stdout.split()
    assert int(rows) == 150_000
    assert float(ratio) < 2
