"""Pairs of rows that belong together or apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

# A link without doubt counts so many units of log probability; more than any row can object.
_CERTAIN = 1e4
_ROUNDS = 50


class Links(NamedTuple):
    """Pairs of rows (p, 2), and the probability (p,) that each is right."""

    pairs: np.ndarray
    sure: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """Log odds of being right."""
        sure = np.clip(self.sure, 0.5, 1)
        with np.errstate(divide="ignore"):
            return np.minimum(np.log(sure) - np.log1p(-sure), _CERTAIN)


NO_LINKS = Links(np.empty((0, 2), np.intp), np.empty(0))


def read_links(name: str, links: Any, n_samples: int) -> Links:
    """Pairs of row numbers, each with a confidence above 0.5 and up to 1 if one is given.

    Pairs with their confidences may be a mapping too.
    """
    if links is None:
        return NO_LINKS
    try:
        if isinstance(links, Mapping):
            links = [(*pair, sure) for pair, sure in links.items()]
        rows = list(np.asarray(links) if hasattr(links, "shape") else links)
        if not rows:
            return NO_LINKS
        # A pair without a confidence is certain.
        array = np.array([(*pair, 1.0) if len(pair) == 2 else pair for pair in rows], np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} must hold pairs of rows, or pairs with a confidence.")
    pairs, sure = array[:, :2], array[:, 2]
    if not ((pairs >= 0) & (pairs < n_samples) & (pairs == np.floor(pairs))).all():
        raise ValueError(f"{name} holds numbers that are no rows of X (0 to {n_samples - 1}).")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(f"{name} links a row with itself.")
    if not ((sure > 0.5) & (sure <= 1)).all():
        raise ValueError(f"a confidence in {name} must be above 0.5 and at most 1.")
    return Links(pairs.astype(np.intp), sure)


def contradictions(must: Links, cannot: Links, codes: np.ndarray, n_classes: int) -> list[str]:
    """What cannot all be true, in words: links against links, also through chains, and labels.

    Of links that ask for more classes than there are, odd rings are found if there are two, and
    else one set of rows that are all to be kept apart, unless it is hidden among many links.
    """
    graph = _graph(must, len(codes))
    group = connected_components(graph, directed=False)[1]
    found, against = [], []
    # A labelled row of each group that links hold together.
    first: dict[int, int] = {}
    for row in map(int, np.flatnonzero(codes >= 0)):
        head = first.setdefault(int(group[row]), row)
        if codes[head] != codes[row]:
            chain = _chain(graph, head, row)
            found.append(f"must_link {chain} against the labels of {head} and {row}, which differ")
    for a, b in cannot.pairs.tolist():
        if group[a] == group[b]:
            against.append(f"cannot_link ({a}, {b}) against must_link {_chain(graph, a, b)}")
            continue
        # Their own labels, if they have any, or those that links lead to.
        one, other = (row if codes[row] >= 0 else first.get(group[row], row) for row in (a, b))
        if codes[one] < 0 or codes[one] != codes[other]:
            continue
        ways = [_chain(graph, *way) for way in ((a, one), (b, other)) if way[0] != way[1]]
        through = f" (must_link {' and '.join(ways)})" if ways else ""
        text = f"the labels of {one} and {other}, which are the same{through}"
        against.append(f"cannot_link ({a}, {b}) against {text}")
    return [*against, *found, *_too_few_classes(group[cannot.pairs], cannot.pairs, n_classes)]


def _too_few_classes(groups: np.ndarray, pairs: np.ndarray, n_classes: int) -> list[str]:
    """Pairs to be kept apart for which there are too few classes; (p, 2) with their groups."""
    link, near = {}, defaultdict(set)
    for (a, b), pair in zip(groups.tolist(), pairs.tolist(), strict=True):
        if a != b:
            link[a, b] = link[b, a] = tuple(pair)
            near[a].add(b)
            near[b].add(a)
    found = _odd_rings(near) if n_classes == 2 else _clique(near, n_classes + 1)
    named = (", ".join(str(link[one]) for one in edges) for edges in found)
    return [f"cannot_link {one}, which need more than {n_classes} classes" for one in named]


def _odd_rings(near: dict[int, set[int]]) -> Iterator[list[tuple[int, int]]]:
    """Edges of an odd ring of each part of a graph that has one."""
    depth: dict[int, int] = {}
    before: dict[int, int] = {}
    for root in near:
        if root in depth:
            continue
        depth[root], queue = 0, [root]
        for node in queue:
            for other in sorted(near[node] - depth.keys()):
                depth[other], before[other] = depth[node] + 1, node
                queue.append(other)
        level = ((a, b) for a in queue for b in near[a] if depth[a] == depth[b])
        for a, b in islice(level, 1):
            ring = [(a, b)]
            while a != b:
                ring = [(before[a], a), *ring, (b, before[b])]
                a, b = before[a], before[b]
            yield ring


def _clique(near: dict[int, set[int]], size: int) -> Iterator[Iterator[tuple[int, int]]]:
    """Edges of so many nodes with an edge between any two, if such are found step by step."""
    near = dict(near)
    while few := {node for node, others in near.items() if len(others) < size - 1}:
        near = {node: others - few for node, others in near.items() if node not in few}
    for node in near:
        nodes, left = [node], near[node]
        while left and len(nodes) < size:
            nodes.append(max(sorted(left), key=lambda one: len(near[one])))
            left = left & near[nodes[-1]]
        if len(nodes) == size:
            yield combinations(nodes, 2)
            return


def _graph(links: Links, n: int) -> sp.csr_array:
    a, b = links.pairs.T
    return sp.csr_array((np.ones(len(a)), (a, b)), (n, n))


def _chain(graph: sp.csr_array, a: int, b: int) -> str:
    """Rows that links lead over from one to another."""
    before = breadth_first_order(graph, a, directed=False)[1]
    path = [int(b)]
    while path[-1] != a:
        path.append(int(before[path[-1]]))
    return " - ".join(str(row) for row in reversed(path))


def keep_links(log_shares: np.ndarray, fixed: np.ndarray, must: Links, cannot: Links) -> np.ndarray:
    """Classes of all rows, the most probable that keep the links, (n,).

    Rows that certain links hold together move as one; each group in turn takes the class that
    costs least given all others, until none moves.

    Parameters
    ----------
    log_shares : ndarray of shape (n, k)
        Log probabilities.
    fixed : ndarray of shape (n,)
        Classes that are given, -1 elsewhere.
    must, cannot : Links
        What to keep.
    """
    n, k = log_shares.shape
    scores = log_shares.astype(np.float64, copy=True)
    given = np.flatnonzero(fixed >= 0)
    # Given labels weigh more than any link.
    scores[given, fixed[given]] += n * _CERTAIN
    hard = must.sure >= 1
    certain = Links(must.pairs[hard], must.sure[hard])
    count, group = connected_components(_graph(certain, n), directed=False)
    together = np.zeros((count, k))
    np.add.at(together, group, scores)
    labels = together.argmax(axis=1)
    ties = _ties(group, must, cannot, count)
    linked = np.flatnonzero(np.diff(ties.indptr))
    # Those who are surest choose first.
    top = np.sort(together[linked], axis=1)
    order = linked[np.argsort(-(top[:, -1] - top[:, -2]), kind="stable")] if k > 1 else linked[:0]
    for _ in range(_ROUNDS):
        before = labels.copy()
        for one in order:
            near = slice(ties.indptr[one], ties.indptr[one + 1])
            cost = -together[one]
            np.subtract.at(cost, labels[ties.indices[near]], ties.data[near])
            labels[one] = cost.argmin()
        if np.array_equal(before, labels):
            break
    return labels[group]


def _ties(group: np.ndarray, must: Links, cannot: Links, count: int) -> sp.csr_array:
    """Gain of being in one class, negative for those to be kept apart, between groups."""
    pairs = np.concatenate([must.pairs, cannot.pairs])
    gains = np.concatenate([must.weights, -cannot.weights])
    a, b = group[pairs[:, 0]], group[pairs[:, 1]]
    apart = a != b
    a, b, gains = a[apart], b[apart], gains[apart]
    both = np.concatenate([a, b]), np.concatenate([b, a])
    return sp.csr_array((np.concatenate([gains, gains]), both), (count, count))


def violated(labels: np.ndarray, must: Links, cannot: Links) -> np.ndarray:
    """Links that do not hold: rows (row, other, 1 for must and 0 for cannot), (v, 3)."""
    found = []
    for links, wanted in ((must, True), (cannot, False)):
        same = labels[links.pairs[:, 0]] == labels[links.pairs[:, 1]]
        broken = links.pairs[same != wanted]
        found.append(np.column_stack([broken, np.full(len(broken), int(wanted))]))
    return np.concatenate(found).astype(np.int64)
