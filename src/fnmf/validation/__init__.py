"""Checks of parameters and data, all of them before any work is done."""

from fnmf.validation._categories import KINDS, given_kinds, with_categories_encoded
from fnmf.validation._checks import (
    STARTS,
    check_choice,
    check_data,
    check_flag,
    check_integer,
    check_jobs,
    check_real,
    divided,
    in_ordinary_units,
    is_frame,
    unit_of,
)
from fnmf.validation._given import (
    check_batch,
    check_components,
    check_graph,
    check_groups,
    check_init,
    check_weights,
    components_of_frame,
    is_missing,
    missing_texts,
)
from fnmf.validation._shift import shifted
