"""
What the parameters do
======================

Agreement with the true digits (line) and number of features called relevant (dashed) as one
parameter changes and all others keep their defaults. Digits with as many useless features as
pixels.
"""

# %%
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from fnmf import FNMF
from fnmf.datasets import add_noise_features, unit_rows
from fnmf.metrics import normalized_mutual_information

digits = load_digits()
y = digits.target[:300]
X, informative = add_noise_features(digits.data[:300], 64, random_state=0)
X = unit_rows(X)
values = {
    "n_components": [4, 7, 10, 14, 20],
    "smoothness": [0.1, 1, 10, 100, 1000],
    "n_neighbors": [2, 5, 10, 20],
    "n_weightings": [1, 2, 3, 5],
}

# %%
# Mutual information with the true digits, since the number of clusters changes too.
figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
for axis, (name, tried) in zip(axes.flat, values.items(), strict=True):
    score, found = [], []
    for value in tried:
        with warnings.catch_warnings():
            # Small values of some parameters need more iterations; the picture says enough.
            warnings.simplefilter("ignore")
            model = FNMF(**{"n_components": 10, "random_state": 0, name: value}).fit(X)
        score.append(normalized_mutual_information(y, model.labels_))
        found.append((model.feature_relevance_ > 0).sum())
    places = range(len(tried))
    axis.plot(places, score, "o-", color="#286893")
    axis.set_xticks(places, [str(value) for value in tried])
    axis.set(title=name, ylim=(0, 1), ylabel="NMI")
    second = axis.twinx()
    second.plot(places, found, "s--", color="#fc6128", markersize=4)
    second.set(ylim=(0, 128), ylabel="relevant features")
plt.show()

# %%
# The three weightings on the same data.
for weighting in ("relevance", "paper", "uniform"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FNMF(10, weighting=weighting, random_state=0).fit(X)
    share = model.feature_importances_[informative].sum()
    nmi = normalized_mutual_information(y, model.labels_)
    print(f"{weighting:>10}: NMI {nmi:.3f}, weight on the pixels {share:.0%}")
