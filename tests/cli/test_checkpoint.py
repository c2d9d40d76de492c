"""The command with checkpoints."""

import pytest


def test_a_second_run_goes_on_from_the_first(run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    words = ["cluster", "c.csv", "-k", 3, "--restarts", 0, "--checkpoint", "kept"]
    run(*words, "--out", "a")
    assert any((tmp_path / "kept").glob("start-*.npz"))
    run(*words, "--out", "b")
    for name in ("labels.csv", "embedding.csv", "model.fnmf"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--seed", 3], "differs in --seed"),
        (["--smoothness", 3], "smoothness (was 100.0, is 3.0)"),
        (["--method", "NMF"], "--checkpoint works with --method FNMF only"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(change, message, run, tmp_path, write_customers):
    write_customers(tmp_path / "c.csv")
    words = ["cluster", "c.csv", "-k", 3, "--restarts", 0, "--checkpoint", "kept"]
    run(*words, "--out", "a")
    result = run(*words, "--out", "b", *change, code=2)
    assert message in " ".join(result.output.split())
