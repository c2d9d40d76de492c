"""Every estimator of the package has a page, and the page says what the model learned."""

import numpy as np
import pytest
import scipy.sparse as sp

import fnmf
from fnmf.baselines import all_methods

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def X():
    X = np.random.default_rng(0).random((45, 6))
    X[np.arange(45), np.arange(45) % 3] += 3
    return X


@pytest.mark.parametrize("name", list(all_methods()))
def test_every_estimator_has_a_page(tmp_path, X, name):
    if name == "FNMF":
        model = fnmf.FNMF(3, random_state=0, max_iter=30)
    else:
        model = all_methods()[name].factory(n_clusters=3, random_state=0)
    model.fit(X)
    fnmf.report(model, X, tmp_path / "report.html", labels_true=np.arange(45) % 3)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"Clusters found by {name}" in page
    assert "ACC" in page
    assert page.count('class="sentence"') == len(set(model.labels_))


def test_data_frames_lend_their_names(tmp_path, X):
    import pandas as pd

    frame = pd.DataFrame(X, columns=["one", "two", "three", "four", "five", "six"])
    model = fnmf.FNMF(3, random_state=0, max_iter=30).fit(frame)
    fnmf.report(model, frame, tmp_path / "report.html", n_restarts=1)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<th scope="row">three</th>' in page
    assert "1 fit from other random starts" in page


def test_data_on_disk_and_sparse_data_give_a_page(tmp_path, X):
    from fnmf import MappedCSR

    np.save(tmp_path / "X.npy", X)
    MappedCSR.write(sp.csr_array(X), tmp_path / "sparse")
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for data in (mapped, MappedCSR.open(tmp_path / "sparse"), sp.csr_array(X)):
        model = fnmf.FNMF(3, random_state=0, max_iter=30).fit(data)
        fnmf.report(model, data, tmp_path / "report.html")
        assert (tmp_path / "report.html").stat().st_size > 10_000


def test_layers_are_shown_down_to_the_finest(tmp_path, X):
    names = ["<one>", "two", "three", "four", "five", "six"]
    model = fnmf.DeepFNMF((9, 6, 3), random_state=0, max_iter=30).fit(X)
    fnmf.report(model, X, tmp_path / "report.html", feature_names=names)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    section = page.split('<section id="layers"')[1].split("</section>")[0]
    assert section.count("<article") == 3
    largest = model.hierarchy_[-1][0]
    assert f"<b>part {largest.argmax() + 1}</b> <b>{largest.max():.0%}</b>" in section
    assert "&lt;one&gt;" in section
    fnmf.report(model, X, tmp_path / "report.html", image_shape=(2, 3))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<img class="thumb" src="data:image/png' in page.split('<section id="layers"')[1]
