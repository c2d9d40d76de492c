"""Entries of today's rivals: methods that select features, and clusterings of other kinds."""

from fnmf.baselines.registry import GRID, Card, Method, register_method

# Nothing tells somebody without labels how many features to keep, so a range is tried.
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
_CHOSEN = "k-means on the features chosen"

register_method(
    Method(
        "IFPCA",
        estimator="fnmf.baselines._ifpca:IFPCA",
        label_rule="k-means on the leading singular vectors",
        card=Card(
            "keep features with KS distance to normal above the Higher-Criticism threshold; PCA",
            "nd log n + nd·min(n, d), simulation 10nd; dense",
            "few samples, thousands of features with normal noise (gene expression); "
            "counts and pixels are not normal without clusters either",
        ),
    )
)
register_method(
    Method(
        "SparseKMeans",
        estimator="fnmf.baselines._sparsekmeans:SparseKMeans",
        label_rule="its own",
        card=Card(
            "max Σ_j w_j B_j, w ≥ 0, ‖w‖₂ ≤ 1, ‖w‖₁ ≤ s; s by the gap statistic",
            "60 times k-means",
            "round clusters in a few of the features, features in one unit",
        ),
    )
)
register_method(
    Method(
        "EntropyKMeans",
        estimator="fnmf.baselines._entropykmeans:EntropyKMeans",
        grid={"entropy": GRID},
        label_rule="its own",
        card=Card(
            "min Σ_l Σ_j (λ_lj D_lj + γ λ_lj log λ_lj), D scatter of cluster l in feature j",
            "2sc an iteration, 10 starts",
            "each cluster has features of its own (documents); γ must be guessed",
        ),
    )
)
register_method(
    Method(
        "LaplacianScore",
        estimator="fnmf.baselines._laplacianscore:LaplacianScore",
        grid={"n_features_to_select": _SHARES},
        median=True,
        label_rule=_CHOSEN,
        card=Card(
            "keep features with the least f̃ᵀLf̃ / f̃ᵀDf̃",
            "nkd once; neighbours once; k-means",
            "a quick look at which features follow the graph; noise spoils the graph first",
        ),
    )
)
register_method(
    Method(
        "MCFS",
        estimator="fnmf.baselines._mcfs:MCFS",
        grid={"n_features_to_select": _SHARES},
        median=True,
        label_rule=_CHOSEN,
        card=Card(
            "keep features with the largest |a_j| in ‖y − Xa‖², y smooth on the graph, a sparse",
            "nd² + cdm² for m features; memory d²; neighbours once",
            "some hundred features, and a number to keep is known",
        ),
    )
)
register_method(
    Method(
        "Spectral",
        estimator="fnmf.baselines._spectral_clustering:Spectral",
        label_rule="k-means on the spectral embedding",
        card=Card(
            "min tr(YᵀLY), YᵀDY = I",
            "eigenvectors of a sparse matrix; neighbours once",
            "clusters of any shape and similar size, features all of use",
        ),
    )
)
register_method(
    Method(
        "Leiden",
        estimator="fnmf.baselines._leiden:Leiden",
        label_rule="communities of the graph, as many as classes",
        card=Card(
            "max Σ_ij (s_ij − γ k_i k_j / 2m) [i, j together]; γ for c communities",
            "some 25 times nk; neighbours once; needs fnmf[leiden]",
            "large graphs, clusters of unequal size; single-cell data after selection",
        ),
    )
)
register_method(
    Method(
        "ConsensusKMeans",
        estimator="fnmf.baselines._consensus:ConsensusKMeans",
        label_rule="average linkage of the agreement of the runs",
        card=Card(
            "average linkage of 1 − M, M_ij how often i and j share a cluster of k-means",
            "50 times k-means + n²; memory 8n²",
            "k-means that must not depend on its start; says how sure it is of each sample",
        ),
    )
)
register_method(
    Method(
        "KMeans",
        estimator="fnmf.baselines._kmeans:KMeans",
        # The article's tables take the data as they are.
        fixed={"standardize": False},
        label_rule="k-means on the data, 10 starts",
        card=Card(
            "min Σ_i ‖x_i − m_{c(i)}‖², columns of unit variance",
            "2sc an iteration, 10 starts",
            "the first comparison; round clusters of similar size, features all of use",
        ),
    )
)
