"""The map from votes and stability to confidence, fitted again; sets and kinds left out in turn.

    FNMF_DATA_HOME=... python benchmarks/confidence_map.py

Prints the three numbers of the map and its calibration error: on the sets it was fitted on, on
sets left out, and on kinds of sets left out.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from choose import _MOST, _of_majority, calibration_error, labelled
from choose_parts import KINDS
from fnmf import FNMF
from fnmf.relevance.defaults import DEFAULTS

_RIDGE = 0.02


class Case(NamedTuple):
    """A fitted set: what the map sees of each sample, and whether it is of its cluster's kind."""

    name: str
    seen: np.ndarray
    right: np.ndarray


def main() -> None:
    warnings.simplefilter("ignore")
    cases = [case(*one) for one in labelled(_MOST)]
    kind = {name: kind for kind, names in KINDS.items() for name in names}
    print("level, votes, stability:", fitted(cases).round(2))
    print(f"calibration error {error(cases, lambda one: cases):.3f} on the sets it is fitted on")
    others = error(cases, lambda one: [c for c in cases if c.name != one.name])
    print(f"{others:.3f} on sets left out")
    others = error(cases, lambda one: [c for c in cases if kind[c.name] != kind[one.name]])
    print(f"{others:.3f} on kinds of sets left out")


def case(name: str, X: np.ndarray, y: np.ndarray) -> Case:
    model = FNMF(int(y.max()) + 1, random_state=0, n_jobs=1).fit(X)
    own, back = DEFAULTS, model.cluster_stability_[model.labels_].mean()
    back = np.log((back + own.vote_doubt) / (1 - back + own.vote_doubt))
    # Votes are what confidence was made of, the other way round.
    sure = logit(model.sample_confidence_.astype(float))
    votes = (sure - own.stable_level - own.stable_back * back) / own.stable_sample
    seen = np.column_stack([np.ones(len(votes)), votes, np.full(len(votes), back)])
    return Case(name, seen, _of_majority(model.labels_, y))


def fitted(cases: list[Case]) -> np.ndarray:
    """Logistic regression in which every set counts the same."""

    def loss(b: np.ndarray) -> float:
        total = _RIDGE * float(b @ b)
        for one in cases:
            z = one.seen @ b
            total += float(np.mean(np.logaddexp(0, z) - one.right * z))
        return total

    return minimize(loss, np.zeros(3)).x


def error(cases: list[Case], training) -> float:  # type: ignore[no-untyped-def]
    found = [calibration_error(expit(one.seen @ fitted(training(one))), one.right) for one in cases]
    return float(np.mean(found))


if __name__ == "__main__":
    main()
