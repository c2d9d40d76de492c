"""
Cells by their genes
====================

Simulated gene counts: five kinds of cells, 400 genes, of which 60 mark a kind and the rest differ
by chance alone. Cells are read to very different depths, as in a real experiment.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from fnmf import FNMF
from fnmf.describe import describe_clusters
from fnmf.metrics import clustering_accuracy

rng = np.random.default_rng(1)
n_cells, n_genes, n_kinds = 400, 400, 5
kind = rng.choice(n_kinds, n_cells, p=[0.4, 0.25, 0.15, 0.12, 0.08])
level = np.tile(rng.gamma(0.6, 1.0, n_genes), (n_kinds, 1))
for k in range(n_kinds):
    level[k, 12 * k : 12 * k + 12] += 4.0
depth = rng.lognormal(0, 0.5, n_cells)
X = sp.csr_array(rng.poisson(level[kind] * depth[:, None]).astype(float))
print(f"{X.shape[0]} cells, {X.shape[1]} genes, {X.nnz / np.prod(X.shape):.0%} of the counts not 0")

# %%
# Sparse counts go in as they are.
model = FNMF(n_kinds, random_state=0).fit(X)
print(f"accuracy {clustering_accuracy(kind, model.labels_):.3f}")
names = [f"marker {g // 12}.{g % 12}" if g < 60 else f"gene {g}" for g in range(n_genes)]
for cluster in describe_clusters(X, model.labels_, feature_names=names, unit="cells"):
    print(cluster)

# %%
# Marker genes stand out; the level of a gene does not decide.
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
means = np.asarray(X.mean(axis=0)).ravel()
marks = np.arange(n_genes) < 60
for mask, label, colour in ((~marks, "other genes", "#b8bec8"), (marks, "markers", "#286893")):
    axis.scatter(means[mask], model.feature_relevance_[mask], s=12, color=colour, label=label)
axis.set(xlabel="mean count", ylabel="relevance")
axis.legend(frameon=False)
plt.show()
