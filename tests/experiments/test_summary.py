import numpy as np
import pytest
from scipy.stats import rankdata

from fnmf.experiments._summary import mean_ranks, ranking, summarise


def row(method="A", acc=0.5, seed=0, params=None, state="done", purpose="table", reason=None):
    return {
        "dataset": "tiny", "method": method, "purpose": purpose, "state": state, "seed": seed,
        "params": params or {}, "acc": acc, "nmi": acc / 2, "seconds": 1.0, "reason": reason,
        "key": f"{method}{params}{seed}",
    }  # fmt: skip


def test_the_setting_with_the_best_mean_accuracy_is_shown_with_its_nmi_and_spread():
    measured = {1: (0.2, 0.6), 2: (0.5, 0.7)}
    rows = [row(acc=measured[b][s], seed=s, params={"b": b}) for b in (1, 2) for s in (0, 1)]
    cell = summarise(rows)["tiny", "A"]
    assert cell.params == {"b": 2}
    assert cell.acc == pytest.approx(0.6)
    assert cell.acc_std == pytest.approx(0.1)
    assert cell.nmi == pytest.approx(0.3)
    assert (cell.repeats, cell.settings) == (2, 2)


def test_a_lucky_setting_with_fewer_repeats_does_not_win():
    rows = [row(acc=0.9, params={"b": 1})]
    rows += [row(acc=0.5, seed=s, params={"b": 2}) for s in range(3)]
    assert summarise(rows)["tiny", "A"].params == {"b": 2}


def test_settings_are_ranked_by_their_first_seeds_only():
    rows = [row(acc=a, seed=s, params={"b": b}) for b, s, a in
            [(1, 0, 0.5), (2, 0, 0.6), (3, 0, 0.4), (3, 1, 1.0)]]  # fmt: skip
    assert ranking(rows, 1)["tiny", "A"] == [{"b": 2}, {"b": 1}, {"b": 3}]
    assert ranking(rows, 2)["tiny", "A"] == [{"b": 3}, {"b": 2}, {"b": 1}]


def test_a_failed_method_is_a_cell_with_its_reason_and_one_success_outweighs_failures():
    failed = row(state="failed", reason="ValueError: no", params={"b": 1})
    assert summarise([failed])["tiny", "A"].reason == "ValueError: no"
    assert summarise([failed, row(params={"b": 2})])["tiny", "A"].reason is None


def test_runs_for_figures_stay_out_of_the_tables():
    assert summarise([row(purpose="components"), row(purpose="detail")]) == {}


def test_the_run_shown_is_the_median_one():
    rows = [row(acc=a, seed=s) for s, a in enumerate((0.9, 0.1, 0.5))]
    assert summarise(rows)["tiny", "A"].key == rows[2]["key"]


def test_mean_ranks_agree_with_scipy_and_missing_values_rank_last():
    values = np.random.default_rng(0).integers(0, 5, size=(6, 7)).astype(float)
    np.testing.assert_allclose(mean_ranks(values), rankdata(-values, axis=0).mean(axis=1))
    values[0, 0] = np.nan
    lowered = np.where(np.isnan(values), -1, values)
    np.testing.assert_allclose(mean_ranks(values), rankdata(-lowered, axis=0).mean(axis=1))
    values[2] = np.nan
    values[:, 3] = np.nan
    ranks = mean_ranks(values)
    assert np.isnan(ranks[2])
    kept = np.delete(np.delete(lowered, 2, axis=0), 3, axis=1)
    np.testing.assert_allclose(np.delete(ranks, 2), rankdata(-kept, axis=0).mean(axis=1))


def test_the_run_shown_does_not_depend_on_digits_that_an_export_drops():
    exact = [row(acc=2 / 3, seed=s) for s in range(4)]
    mixed = [row(acc=round(2 / 3, 6) if s != 1 else 2 / 3, seed=s) for s in range(4)]
    assert summarise(exact)["tiny", "A"].key == summarise(mixed)["tiny", "A"].key


def test_a_doubled_method_has_a_second_row_with_its_median_setting():
    rows = [row(acc=a, params={"b": b}) for b, a in enumerate((0.9, 0.1, 0.5))]
    cells = summarise(rows, ["A"])
    assert cells["tiny", "A"].acc == 0.9
    assert cells["tiny", "A, median"].acc == 0.5
    assert cells["tiny", "A, median"].params == {"b": 2}
    assert ("tiny", "A, median") not in summarise(rows)
