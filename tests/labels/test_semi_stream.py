"""Labels of some rows of a stream."""

import numpy as np

from fnmf import MiniBatchFNMF, SemiMiniBatchFNMF, load, save

NAMES = np.array(["ash", "birch", "cedar", ""])


def batches(n_batches, seed=0, size=200):
    """Rows of three groups on nine of eighteen features, and their groups."""
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        y = rng.integers(0, 3, size)
        X = rng.uniform(0, 0.4, (size, 9)) + np.eye(3).repeat(3, axis=1)[y]
        yield np.hstack([X, rng.uniform(0, 1, (size, 9))]), y


def stream(**options):
    return SemiMiniBatchFNMF(3, sample_size=400, random_state=0, **options)


def test_without_labels_it_is_the_plain_stream():
    ours, plain = stream(), MiniBatchFNMF(3, sample_size=400, random_state=0)
    for X, y in batches(4):
        ours.partial_fit(X, np.full(len(y), -1))
        plain.partial_fit(X, y)
    np.testing.assert_array_equal(ours.components_, plain.components_)
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    assert not hasattr(ours, "predict_proba")


def test_labels_of_the_first_batch_outlast_the_rows_of_it():
    model = stream(batch_size=100, forget_factor=0.5)
    for number, (X, y) in enumerate(batches(8)):
        known = np.arange(len(y)) < (12 if number == 0 else 0)
        model.partial_fit(X, NAMES[np.where(known, y, 3)])
    assert np.sum(model._stream.reservoir.codes >= 0) == 12
    assert sorted(model.classes_) == ["ash", "birch", "cedar"]
    assert np.mean(model.predict(X) == NAMES[y]) > 0.95
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))


def test_labels_are_at_most_half_of_the_sample():
    model = stream()
    for X, y in batches(6):
        model.partial_fit(X, y)
    assert np.sum(model._stream.reservoir.codes >= 0) >= 200
    assert len(model._stream.reservoir) == 400


def test_a_class_that_comes_later_renews_the_model():
    model = stream()
    for number, (X, y) in enumerate(batches(3)):
        told = (np.arange(len(y)) < 30) & (number < 2) & ((y < 2) | (number > 0))
        renewals = getattr(model, "n_renewals_", 0)
        model.partial_fit(X, NAMES[np.where(told, y, 3)])
        if number == 0:
            assert list(model.classes_)[2] == "new 1"
        if number == 1:
            assert model.n_renewals_ > renewals
    assert list(model.classes_)[2] == "cedar"
    assert np.mean(model.predict(X) == NAMES[y]) > 0.95


def test_more_classes_than_clusters_count_as_those_that_were_labelled(tmp_path):
    model = SemiMiniBatchFNMF(2, sample_size=400, random_state=0)
    for number, (X, y) in enumerate(batches(4)):
        model.partial_fit(X, np.where((np.arange(len(y)) < 20) & (y <= number), y, -1))
    assert list(model.classes_) == [0, 1, 2]
    assert np.mean(model.predict(X) == y) > 0.95
    save(model, tmp_path / "model.fnmf")
    np.testing.assert_array_equal(load(tmp_path / "model.fnmf").predict(X), model.predict(X))


def test_a_stored_stream_goes_on(tmp_path):
    model = stream()
    rows = list(batches(5))
    for X, y in rows[:3]:
        model.partial_fit(X, np.where(np.arange(len(y)) < 10, y, -1))
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    for X, y in rows[3:]:
        for one in (model, again):
            one.partial_fit(X, np.where(np.arange(len(y)) < 10, y, -1))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.mean(again.predict(X) == y) > 0.95


def test_fit_takes_labels_and_lists_wrong_ones():
    X, y = (np.concatenate(part) for part in zip(*batches(2), strict=True))
    given = np.where(np.arange(len(y)) % 4 == 0, y, -1)
    given[0] = (y[0] + 1) % 3
    model = stream().fit(X, given)
    np.testing.assert_array_equal(model.classes_[model.labels_], model.predict(X))
    assert np.mean(model.predict(X) == y) > 0.95
    assert len(model.suspicious_labels_) == 1


def test_the_number_of_classes_is_that_of_the_labels_unless_told():
    model = SemiMiniBatchFNMF(sample_size=400, random_state=0)
    for number, (X, y) in enumerate(batches(3)):
        told = (np.arange(len(y)) < 30) & (y <= number)
        # No label at first, then two classes, then three.
        model.partial_fit(X, NAMES[np.where(told & (number > 0), y, 3)])
        assert len(model.cluster_sizes_) == (8, 2, 3)[number]
    assert sorted(model.classes_) == ["ash", "birch", "cedar"]
    assert np.mean(model.predict(X) == NAMES[y]) > 0.95


def test_a_stream_whose_number_is_not_told_is_stored(tmp_path):
    model = SemiMiniBatchFNMF(sample_size=400, random_state=0)
    for X, y in batches(2):
        model.partial_fit(X, np.where(np.arange(len(y)) < 30, y, -1))
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.components_.shape[0] == 3
