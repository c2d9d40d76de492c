from fnmf.experiments import methods
from fnmf.experiments._plan import (
    PROFILES,
    TARGETS,
    final_stage,
    first_stage,
    grid_points,
    second_stage,
)
from fnmf.experiments._registry import NOISED_SETS, TABLE_SETS, published

EVERYTHING = [*TABLE_SETS, *NOISED_SETS, "toy"]


def test_the_full_profile_is_the_papers_protocol():
    full = PROFILES["full"]
    assert full.repeats == 20
    points = grid_points(methods()["FNMF (article)"], full)
    assert len(points) == 49
    values = {dict(point)["diversity"] for point in points}
    assert values == {10.0**e for e in range(-3, 4)}
    assert len(grid_points(methods()["NMF"], full)) == 1


def test_every_method_runs_on_every_column_and_deterministic_ones_once():
    runs = first_stage(["table-acc"], EVERYTHING, methods(), PROFILES["quick"])
    assert {(r.dataset, r.method) for r in runs} == {(d, m) for d in TABLE_SETS for m in methods()}
    assert len([r for r in runs if r.method == "CAN"]) == len(TABLE_SETS)
    assert len([r for r in runs if r.method == "NMF"]) == 2 * len(TABLE_SETS)


def test_both_tables_of_clean_data_and_the_parameter_figure_share_their_runs():
    full = PROFILES["full"]
    acc = first_stage(["table-acc"], EVERYTHING, methods(), full)
    assert first_stage(["table-nmi"], EVERYTHING, methods(), full) == acc
    both = first_stage(["table-acc", "fig-parameters"], EVERYTHING, methods(), full)
    assert both == acc
    assert len(set(acc)) == len(acc)


def test_quick_runs_are_a_part_of_the_full_ones():
    quick = set(first_stage(TARGETS, EVERYTHING, methods(), PROFILES["quick"]))
    full = set(first_stage(TARGETS, EVERYTHING, methods(), PROFILES["full"]))
    assert quick < full


def test_screening_tries_the_whole_grid_and_repeats_the_best_settings_in_full():
    screened, full = PROFILES["screened"], PROFILES["full"]
    first = first_stage(["table-acc"], ["yale"], methods(), screened)
    everything = set(first_stage(["table-acc"], ["yale"], methods(), full))
    assert set(first) < everything
    assert {r.params for r in first} == {r.params for r in everything}
    assert len([r for r in first if r.method == "FNMF (article)"]) == 49 * 3
    assert len([r for r in first if r.method == "NMF"]) == 20
    points = grid_points(methods()["FNMF (article)"], full)
    order = {("yale", "FNMF (article)"): [dict(p) for p in points][::-1]}
    final = final_stage(first, methods(), screened, order)
    assert set(final) < everything
    assert len(final) == 3 * 20
    assert dict(final[0].params) == {"diversity": 1000.0, "smoothness": 1000.0}
    assert final_stage(first, methods(), full, order) == []


def test_the_second_stage_uses_the_best_setting_and_reuses_three_weightings():
    best = {("yale", "FNMF (article)"): {"diversity": 1.0, "smoothness": 10.0}}
    runs = second_stage(TARGETS, EVERYTHING, methods(), PROFILES["full"], best)
    assert {run.dataset for run in runs} == {"yale"}
    numbers = {dict(r.params)["n_weightings"] for r in runs if r.purpose == "components"}
    assert numbers == {1, 2, 4, 5, 6}
    assert all(dict(run.params)["smoothness"] == 10.0 for run in runs)
    assert [r.seed for r in runs if r.purpose == "detail"] == [0]


def test_published_numbers_cover_eleven_methods_on_every_column():
    eleven = set(list(methods())[:11])
    for name in TABLE_SETS:
        assert set(published()["acc"][name]) == set(published()["nmi"][name]) == eleven
    for name in NOISED_SETS:
        assert set(published()["acc"][name]) == eleven
    assert published()["acc"]["mfeat"]["FNMF (article)"] == 0.9219
    assert published()["nmi"]["glass"]["CAN"] == 0.3849
    assert published()["acc"]["yale-8x8"]["KMM"] == 0.1933
