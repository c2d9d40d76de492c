"""k-means: compiled for few dimensions, with scikit-learn's starts, and on codes."""

from fnmf.kmeans._codes import cluster_codes, partition_codes
from fnmf.kmeans._lloyd import best_kmeans, halved, principal_kmeans, quick_kmeans
from fnmf.kmeans._protocol import N_STARTS, count_distinct, fit_kmeans, kmeans_on, plus_plus
