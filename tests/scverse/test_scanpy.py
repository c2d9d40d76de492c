"""scanpy's own functions on our results, and its own data."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

sc = pytest.importorskip("scanpy")
import fnmf.scverse as fv  # noqa: E402

# Whatever scanpy and its libraries warn about is theirs.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def cells():
    # A file that an old anndata wrote, in scanpy's own package: scaled values, logarithms in raw.
    data = sc.datasets.pbmc68k_reduced()
    fv.tl.fnmf(data, 10, rng=0)
    return data


def test_blood_cells_are_told_apart_better_than_by_the_clusters_of_the_file(cells):
    found = adjusted_rand_score(cells.obs["bulk_labels"], cells.obs["fnmf"])
    assert found >= 0.52
    assert found > adjusted_rand_score(cells.obs["bulk_labels"], cells.obs["louvain"]) + 0.1
    assert cells.uns["fnmf"]["matrix"] == "raw"


def test_umap_and_leiden_take_the_graph(cells):
    data = cells.copy()
    sc.tl.umap(data, neighbors_key="fnmf", maxiter=50)
    assert data.obsm["X_umap"].shape == (700, 2)
    assert not np.array_equal(data.obsm["X_umap"], cells.obsm["X_umap"])
    sc.tl.leiden(
        data,
        neighbors_key="fnmf",
        key_added="leiden",
        flavor="igraph",
        n_iterations=2,
        resolution=0.5,
    )
    assert adjusted_rand_score(data.obs["leiden"], data.obs["fnmf"]) > 0.4


def test_neighbours_take_the_representation(cells):
    data = cells.copy()
    sc.pp.neighbors(data, use_rep="X_fnmf", key_added="again")
    assert data.obsp["again_connectivities"].shape == (700, 700)


def test_groups_of_genes_are_ranked_by_our_clusters(cells):
    data = cells.copy()
    sc.tl.rank_genes_groups(data, "fnmf", method="wilcoxon")
    assert len(data.uns["rank_genes_groups"]["names"].dtype.names) == 10
    # A gene that marks a kind of cell is relevant.
    marker = data.uns["rank_genes_groups"]["names"][0][0]
    assert data.var["fnmf_relevance"][marker] > data.var["fnmf_relevance"].median()


def test_plots_of_scanpy_colour_by_our_keys(cells):
    pytest.importorskip("matplotlib").use("agg")
    axes = sc.pl.umap(cells, color=["fnmf", "fnmf_confidence"], show=False)
    assert len(axes) == 2
