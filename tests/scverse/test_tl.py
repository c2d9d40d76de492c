"""FNMF on AnnData, with the real anndata; what it writes can be used and stored."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

ad = pytest.importorskip("anndata")
import fnmf.scverse as fv  # noqa: E402
from fnmf import FNMF  # noqa: E402

pytestmark = [
    # Of the libraries; ours would come from another module.
    pytest.mark.filterwarnings("ignore:::(anndata|zarr|scanpy|legacy_api_wrap)"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
N, D, K = 240, 40, 3


def counts(seed=0):
    """Counts of three kinds of cells; the first ten genes tell them apart, depths differ."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(N) % K
    rates = np.ones((K, D))
    rates[:, :10] = rng.uniform(0.1, 6, (K, 10))
    depth = rng.uniform(0.5, 2, N)
    return rng.poisson(rates[kinds] * depth[:, None]).astype(np.float32), kinds


def normalized(X):
    totals = X.sum(axis=1, dtype=np.float64)
    return np.log1p(X * (np.median(totals) / totals)[:, None]).astype(np.float32)


@pytest.fixture
def adata():
    X, kinds = counts()
    data = ad.AnnData(sp.csr_matrix(X))
    data.obs_names = [f"cell{i}" for i in range(N)]
    data.var_names = [f"gene{i}" for i in range(D)]
    data.obs["kind"] = [str(kind) for kind in kinds]
    data.var["even"] = np.arange(D) % 2 == 0
    return data


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, np.asarray])
def test_counts_are_normalised_as_said_and_results_are_those_of_the_estimator(adata, convert):
    X, kinds = counts()
    adata.X = convert(X)
    assert fv.tl.fnmf(adata, K, rng=0) is None
    model = FNMF(K, random_state=0).fit(
        normalized(X) if convert is np.asarray else sp.csr_array(normalized(X))
    )
    assert adata.obs["fnmf"].cat.categories.tolist() == ["0", "1", "2"]
    np.testing.assert_array_equal(adata.obs["fnmf"].astype(int), model.labels_)
    np.testing.assert_array_equal(adata.obs["fnmf_confidence"], model.sample_confidence_)
    np.testing.assert_allclose(adata.obsm["X_fnmf"], model.embedding_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(adata.varm["fnmf"], model.components_.T, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(adata.var["fnmf_relevance"], model.feature_relevance_, rtol=1e-5)
    np.testing.assert_allclose(adata.var["fnmf_qvalue"], model.feature_qvalues_, rtol=1e-4)
    assert (adata.obsp["fnmf_connectivities"] != model.graph_).nnz == 0
    assert adata.uns["fnmf"]["normalization"].startswith("counts: each cell to")
    assert adata.uns["fnmf"]["params"]["n_components"] == K
    table = np.zeros((K, K))
    np.add.at(table, (kinds, model.labels_), 1)
    assert table.max(axis=1).sum() > 0.95 * N


def test_known_kinds_guide_the_fit_and_name_its_clusters(adata):
    _, kinds = counts()
    some = np.arange(N) < 12
    adata.obs["known"] = [
        f"kind {k}" if given else None for k, given in zip(kinds, some, strict=True)
    ]
    fv.tl.fnmf(adata, labels_key="known", rng=0)
    found = adata.obs["fnmf"]
    assert found.cat.categories.tolist() == ["kind 0", "kind 1", "kind 2"]
    assert np.mean(found == [f"kind {k}" for k in kinds]) > 0.95
    assert (found[some] == adata.obs["known"][some]).all()
    with pytest.raises(ValueError, match="labels_key='x' is no column"):
        fv.tl.fnmf(adata, labels_key="x")


def test_values_that_are_no_counts_are_left_alone(adata):
    X, _ = counts()
    adata.layers["logged"] = normalized(X)
    fv.tl.fnmf(adata, K, layer="logged", rng=0)
    assert adata.uns["fnmf"]["matrix"] == "layers/logged"
    assert adata.uns["fnmf"]["normalization"] == "none: the values are not counts"
    expected = FNMF(K, random_state=0).fit(normalized(X))
    np.testing.assert_array_equal(adata.obs["fnmf"].astype(int), expected.labels_)


def test_scaled_data_lead_to_raw_or_to_a_remedy(adata):
    adata.raw = adata
    scaled = adata[:, ::-1].copy()
    scaled.X = scaled.X.toarray() - 1.0
    fv.tl.fnmf(scaled, K, rng=0)
    assert scaled.uns["fnmf"]["matrix"] == "raw"
    # Genes go by their names, not by their places in raw.
    expected = FNMF(K, random_state=0).fit(sp.csr_array(normalized(counts()[0])[:, ::-1]))
    np.testing.assert_allclose(scaled.var["fnmf_relevance"], expected.feature_relevance_, rtol=1e-5)
    scaled.raw = None
    with pytest.raises(ValueError, match="name the layer that holds counts"):
        fv.tl.fnmf(scaled, K)


@pytest.mark.parametrize("mask", ["even", np.arange(D) % 2 == 0])
def test_genes_that_are_masked_are_left_out(adata, mask):
    fv.tl.fnmf(adata, K, mask_var=mask, rng=0)
    X = normalized(counts()[0])[:, ::2]
    expected = FNMF(K, random_state=0).fit(sp.csr_array(X))
    np.testing.assert_array_equal(adata.obs["fnmf"].astype(int), expected.labels_)
    relevance = adata.var["fnmf_relevance"].to_numpy()
    np.testing.assert_allclose(relevance[::2], expected.feature_relevance_, rtol=1e-5)
    assert np.isnan(relevance[1::2]).all()
    assert (adata.varm["fnmf"][1::2] == 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": "none"}, "layer='none' is not in adata"),
        ({"mask_var": "odd"}, "no column of adata.var"),
        ({"mask_var": np.zeros(D, bool)}, "true for some of them"),
        ({"mask_var": np.ones(3, bool)}, f"each of the {D} genes"),
    ],
)
def test_what_is_not_there_is_named(adata, options, message):
    with pytest.raises(ValueError, match=message):
        fv.tl.fnmf(adata, K, **options)


def test_a_copy_leaves_the_original_alone_and_names_follow_the_key(adata):
    before = set(adata.obs), set(adata.var), set(adata.uns)
    found = fv.tl.fnmf(adata, K, key_added="mine", rng=np.random.default_rng(0), copy=True)
    assert before == (set(adata.obs), set(adata.var), set(adata.uns))
    assert {"mine", "mine_confidence"} <= set(found.obs)
    assert {"mine_relevance", "mine_qvalue"} <= set(found.var)
    assert "X_mine" in found.obsm
    assert found.uns["mine"]["connectivities_key"] in found.obsp


def test_results_survive_a_file(adata, tmp_path):
    fv.tl.fnmf(adata, "auto", rng=0)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    assert again.uns["fnmf"]["params"]["weighting"] == "relevance"
    assert again.obs["fnmf"].tolist() == adata.obs["fnmf"].tolist()
    np.testing.assert_array_equal(
        again.uns["fnmf"]["number"]["score"], adata.uns["fnmf"]["number"]["score"]
    )
    axes = fv.pl.n_clusters(again)
    assert f"taken: {adata.obs['fnmf'].nunique()}" in axes.get_xlabel()


def test_backed_and_dask_cells_are_read_by_blocks(adata, tmp_path, monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr("fnmf.scverse._matrix._ROWS_AT_ONCE", 80)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = ad.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    lazy = adata.copy()
    lazy.X = da.from_array(adata.X.toarray(), chunks=(80, D)).map_blocks(sp.csr_matrix)
    for one in (backed, lazy):
        # In memory at once would be an error: blocks only.
        fv.tl.fnmf(one, K, rng=0)
        same = [
            np.mean(one.obs["fnmf"][adata.obs["kind"] == kind].value_counts(normalize=True).max())
            for kind in "012"
        ]
        assert min(same) > 0.9
        assert one.obsm["X_fnmf"].shape == (N, K)
        assert one.uns["fnmf"]["normalization"].startswith("counts")
    np.testing.assert_allclose(backed.obsm["X_fnmf"], lazy.obsm["X_fnmf"], rtol=1e-5, atol=1e-6)


def test_the_estimator_says_what_to_do_with_anndata(adata):
    for given in (adata, adata[:10]):
        with pytest.raises(TypeError, match=r"fnmf\.scverse\.tl\.fnmf\(adata\)"):
            FNMF(K).fit(given)


def test_plots_show_genes_and_numbers(adata):
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    adata.var["symbol"] = [f"$G{i}$" for i in range(D)]
    with pytest.raises(ValueError, match=r"run fnmf\.scverse\.tl\.fnmf"):
        fv.pl.weights(adata)
    fv.tl.fnmf(adata, K, rng=0)
    axes = fv.pl.weights(adata, 5, gene_symbols="symbol")
    shown = [label.get_text() for label in axes.get_yticklabels()]
    best = adata.var["fnmf_relevance"].nlargest(5).index[::-1]
    assert shown == [rf"\$G{name.removeprefix('gene')}\$" for name in best]
    own = plt.subplots()[1]
    assert fv.pl.weights(adata, ax=own) is own
    with pytest.raises(ValueError, match='n_components="auto"'):
        fv.pl.n_clusters(adata)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plt.close("all")
