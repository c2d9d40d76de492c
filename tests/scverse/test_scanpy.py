"""scanpy's own functions on our results, and its own data."""

import re
from pathlib import Path

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
    # Seeds range from 0.50 to 0.52 (docs/scanpy.md), the file's clusters have 0.41.
    assert found > 0.49
    assert adjusted_rand_score(cells.obs["bulk_labels"], cells.obs["louvain"]) < 0.42
    assert cells.uns["fnmf"]["matrix"] == "raw"


def test_umap_and_leiden_take_the_graph(cells):
    data = cells.copy()
    sc.tl.umap(data, neighbors_key="fnmf", maxiter=50)
    assert data.obsm["X_umap"].shape == (700, 2)
    assert not np.array_equal(data.obsm["X_umap"], cells.obsm["X_umap"])
    few = {"flavor": "igraph", "n_iterations": 2, "resolution": 0.5}
    sc.tl.leiden(data, neighbors_key="fnmf", key_added="leiden", **few)
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


def test_the_page_for_scanpy_users_is_true():
    pytest.importorskip("matplotlib").use("agg")
    page = Path(__file__).parents[2] / "docs" / "scanpy.md"
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, page.name, "exec"), names)
    for where, key in re.findall(r'^\| `(\w+)\["(\w+)"\]` \|', text, re.MULTILINE):
        assert key in getattr(names["cells"], where)


def test_plots_of_scanpy_colour_by_our_keys(cells):
    pytest.importorskip("matplotlib").use("agg")
    axes = sc.pl.umap(cells, color=["fnmf", "fnmf_confidence"], show=False)
    assert len(axes) == 2
