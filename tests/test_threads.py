"""New rows do not depend on the number of threads, and a fit starts no others."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from estimators import D, make_blobs, model
from fnmf import FNMF
from fnmf.baselines import GNMF, NMF
from fnmf.data import _views, view_of

MODELS = {
    "relevance": FNMF(3, random_state=0, max_iter=30),
    "relevance, shared": FNMF(3, random_state=0, max_iter=30, assignment="shared"),
    "paper": model(),
    "paper without graph": model(graph=None),
    "uniform": model(weighting="uniform"),
    "GNMF": GNMF(3, random_state=0, max_iter=50),
    "NMF": NMF(3, random_state=0, max_iter=50),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_rows_are_the_same_bit_for_bit_on_any_number_of_threads(name, form, dtype, monkeypatch):
    monkeypatch.setattr(_views, "_SMALL", 1)
    monkeypatch.setattr(_views, "_ENTRIES_PER_FEATURE", 0)
    X, _ = make_blobs()
    new = form(np.random.default_rng(0).uniform(0, 1, (300, D)).astype(dtype))
    assert len(view_of(new).blocks()) > 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = MODELS[name].fit(form(X.astype(dtype)))
    codes = fitted.set_params(n_jobs=1).transform(new)
    labels = fitted.predict(new) if hasattr(fitted, "predict") else None
    for n_jobs in (2, 3, None):
        fitted.set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(fitted.transform(new), codes)
        if labels is not None:
            np.testing.assert_array_equal(fitted.predict(new), labels)
