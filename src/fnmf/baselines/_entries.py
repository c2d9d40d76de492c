"""Entries of FNMF and of the ten methods of its article, in the order of the tables."""

from typing import Any

from fnmf.baselines.registry import GRID, Card, Method, register_method

_PAPER = "M. Chen, M. Gong, X. Li, Feature Weighted Non-negative Matrix Factorization"
_COMPONENTS = "connected components of the learned graph"


def _fnmf(*, n_clusters: int, random_state: Any = None, **params: Any) -> Any:
    from fnmf import FNMF

    n_components = params.pop("n_components", n_clusters)
    return FNMF(n_components, n_clusters=n_clusters, random_state=random_state, **params)


register_method(
    Method(
        "NMF",
        estimator="fnmf.baselines._nmf:NMF",
        card=Card(
            "min ‖X − VUᵀ‖², U, V ≥ 0",
            "2sc an iteration",
            "parts that add up, all features matter; the reference for everything else",
        ),
    )
)
register_method(
    Method(
        "RNMF",
        estimator="fnmf.baselines._nmf:RNMF",
        card=Card(
            "min Σ_i ‖x_i − Uv_i‖, U, V ≥ 0",
            "2sc an iteration",
            "as NMF, with some samples that are wrong altogether",
        ),
    )
)
register_method(
    Method(
        "GNMF",
        estimator="fnmf.baselines._gnmf:GNMF",
        grid={"smoothness": GRID},
        card=Card(
            "min ‖X − VUᵀ‖² + λ tr(VᵀLV), U, V ≥ 0",
            "2sc + nkc an iteration; neighbours once",
            "clusters bend (images, spectra) and neighbours can be trusted",
        ),
    )
)
register_method(
    Method(
        "RMNMF",
        estimator="fnmf.baselines._rmnmf:RMNMF",
        grid={"smoothness": GRID},
        card=Card(
            "min Σ_i ‖x_i − Uv_i‖ + λ tr(VᵀLV), V ≥ 0, VᵀV = I",
            "ndc + nc² an iteration, dense; memory 2nd",
            "GNMF with outliers; slow, for comparisons",
        ),
    )
)
register_method(
    Method(
        "LCNMF",
        estimator="fnmf.baselines._lcnmf:LCNMF",
        grid={"rank_strength": GRID},
        card=Card(
            "min ‖X − GFᵀ‖² + graph of G with c components, G1 = 1",
            "ndm an iteration, m local centroids",
            "clusters of several blobs each; start and settings decide much",
        ),
    )
)
register_method(
    Method(
        "ONGR",
        estimator="fnmf.baselines._ongr:ONGR",
        grid={"coupling": GRID},
        card=Card(
            "min ‖S − FGᵀ‖² + μ‖F − G‖², FᵀF = I, G ≥ 0",
            "nkc + nc² an iteration; neighbours once",
            "the graph says it all; no coordinates needed after it",
        ),
    )
)
register_method(
    Method(
        "CAN",
        estimator="fnmf.baselines._can:CAN",
        random=False,
        label_rule=_COMPONENTS,
        card=Card(
            "min Σ_ij (‖x_i − x_j‖² s_ij + γ s_ij²), graph S with c components",
            "n²d once; eigenvectors in up to 30 steps",
            "no seed and no setting wanted; one stray sample can become a cluster",
        ),
    )
)
register_method(
    Method(
        "PCAN",
        estimator="fnmf.baselines._pcan:PCAN",
        random=False,
        fixed={"n_projected": "all"},
        label_rule=_COMPONENTS,
        card=Card(
            "CAN on Wᵀx, WᵀS_tW diagonal, W learned",
            "n²p + d³ a step; dense",
            "CAN with noise dimensions that have large variance; few features",
        ),
    )
)
register_method(
    Method(
        "CLR",
        estimator="fnmf.baselines._clr:CLR",
        random=False,
        label_rule=_COMPONENTS,
        card=Card(
            "min ‖S − A‖², graph S with c components, A given",
            "nk a step and eigenvectors; neighbours once",
            "a good graph is at hand; the first graph decides",
        ),
    )
)
register_method(
    Method(
        "KMM",
        estimator="fnmf.baselines._kmm:KMM",
        fixed={"graph": "two-sided", "init": "random"},
        label_rule=_COMPONENTS,
        card=Card(
            "min Σ_ij s_ij‖x_i − a_j‖² + γ‖S‖², bipartite graph S with c components",
            "nmd + nm² a step, m = √(nc) prototypes",
            "clusters of any shape, many samples; few samples a cluster upset it",
        ),
    )
)
register_method(
    Method(
        "FNMF (article)",
        _fnmf,
        # One mixture for all samples is the update that the paper prints, and the better one.
        fixed={"weighting": "paper", "assignment": "shared", "solver": "mu"},
        grid={"diversity": GRID, "smoothness": GRID},
        citation=_PAPER,
        command=False,
    )
)
register_method(
    Method(
        "FNMF (tuned)",
        _fnmf,
        fixed={"weighting": "relevance"},
        grid={"smoothness": GRID},
        citation=_PAPER,
        command=False,
    )
)
register_method(
    Method(
        "FNMF",
        _fnmf,
        estimator="fnmf:FNMF",
        label_rule="the partition of the graph; in the tables k-means on the representation",
        fixed={"weighting": "relevance"},
        card=Card(
            "min Σ_ij p_ij²‖θ_j∘x_i − Uv_i‖² + λ Σ_{j≠l} θ_j·θ_l + β tr(VᵀLV); "
            "by default weights by relevance",
            "2sc + 5sm an iteration, m weightings; neighbours once",
            "many features are useless, and which is not known; the default of this package",
        ),
    )
)
