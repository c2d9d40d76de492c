"""
Faces under changing light
==========================

The Yale faces: 15 people, 11 pictures each, lit from different sides. Needs the data set
(``fnmf data fetch yale``).
"""

# %%
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from fnmf import FNMF
from fnmf.datasets import load, unit_rows
from fnmf.metrics import clustering_accuracy

faces = load("yale")
X, y, shape = unit_rows(faces.data), faces.target, faces.image_shape
model = FNMF(15, random_state=0).fit(X)
means = KMeans(15, n_init=10, random_state=0).fit_predict(X)
print(f"k-means {clustering_accuracy(y, means):.3f}")
print(f"FNMF    {clustering_accuracy(y, model.labels_):.3f}")

# %%
# Three people, the pixels that count, and three components.
figure, axes = plt.subplots(1, 7, figsize=(10, 1.9), layout="constrained")
pictures = [*faces.data[[0, 40, 90]], model.feature_relevance_, *model.components_[:3]]
titles = ["face", "face", "face", "relevance", "component 1", "component 2", "component 3"]
for axis, picture, title in zip(axes, pictures, titles, strict=True):
    axis.imshow(picture.reshape(shape), cmap="viridis" if title != "face" else "gray")
    axis.set_title(title, fontsize=9)
    axis.set_axis_off()
plt.show()
