"""
Data on disk, new rows in a stream
==================================

Data larger than memory are read from a file in blocks; new rows get their cluster as they come,
each on its own, so that batches of any size give the same result.
"""

# %%
# A sparse matrix is written once, and then mapped: nothing of its size is held in memory.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from fnmf import FNMF, MappedCSR
from fnmf.metrics import clustering_accuracy

rng = np.random.default_rng(0)
kind = rng.integers(0, 4, 3000)
level = rng.gamma(0.5, 1.0, (4, 80))
X = sp.csr_array(np.hstack([rng.poisson(level[kind]), rng.poisson(0.5, (3000, 120))]).astype(float))
folder = Path(tempfile.mkdtemp()) / "counts"
MappedCSR.write(X[:1000], folder)
model = FNMF(4, random_state=0).fit(MappedCSR.open(folder))
print(f"training rows: accuracy {clustering_accuracy(kind[:1000], model.labels_):.3f}")

# %%
# The other rows arrive in batches of 100.
stream = [X[start : start + 100] for start in range(1000, 3000, 100)]
labels = [model.predict(batch) for batch in stream]
truth = np.split(kind[1000:], 20)
# One match of clusters to kinds for all batches, from the training rows.
table = np.zeros((4, 4))
np.add.at(table, (model.labels_, kind[:1000]), 1)
partner = table.argmax(axis=1)
accuracy = [(partner[got] == true).mean() for got, true in zip(labels, truth, strict=True)]
figure, axis = plt.subplots(figsize=(6, 2.6), layout="constrained")
axis.plot(accuracy, "o-", color="#286893")
axis.set(xlabel="batch", ylabel="accuracy", ylim=(0, 1))
plt.show()

# %%
# Row by row or all at once: the same.
print((np.concatenate(labels) == model.predict(X[1000:])).all())
