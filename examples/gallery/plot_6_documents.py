"""
Documents
=========

CNAE-9: 1,080 short descriptions of companies in nine classes, as counts of 856 words. Words are
rare, and most say nothing about the class. Needs the data set (``fnmf data fetch cnae-9``).
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from fnmf import FNMF
from fnmf.datasets import load, unit_rows
from fnmf.metrics import clustering_accuracy

documents = load("cnae-9")
X, y = sp.csr_array(unit_rows(documents.data)), documents.target
model = FNMF(9, random_state=0).fit(X)
means = KMeans(9, n_init=10, random_state=0).fit_predict(X)
print(f"k-means {clustering_accuracy(y, means):.3f}")
print(f"FNMF    {clustering_accuracy(y, model.labels_):.3f}")

# %%
# How often a word occurs, and how much it tells.
counts = np.asarray((X > 0).sum(axis=0)).ravel()
relevant = model.feature_relevance_ > 0
print(f"{relevant.sum()} of {len(relevant)} words are relevant")
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
axis.scatter(counts + 1, model.feature_relevance_, s=8, color="#286893")
axis.set(xscale="log", xlabel="documents with the word", ylabel="relevance")
plt.show()
