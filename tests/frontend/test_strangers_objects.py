"""Tables of objects, results that say what failed, and other spellings of other people's code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import agrees, check

W = np.array([0.7, 1.3, 0.9])
A = np.array([[2.0, 0.3], [0.3, 1.5]])


def filled_table(w: Any, moves: Any) -> Any:
    cost, n = np.zeros((4, 4)), 4
    for i in range(1, n):
        for j in range(1, n):
            above, before = cost[i - 1, j] + w[0], cost[i, j - 1] + w[1] * j
            cost[i, j] = max(above, before)
            moves[i, j] = "up" if above > before else "left"
    i = j = n - 1
    total = 0.0
    while i > 0 and j > 0:
        total = total + cost[i, j] ** 2
        if moves[i, j] == "up":
            i -= 1
        else:
            j -= 1
    return total


def table_of_objects(w: Any) -> Any:
    return filled_table(w, np.empty((4, 4), dtype=object))


def table_of_strings(w: Any) -> Any:
    return filled_table(w, np.full((4, 4), "", dtype="U4"))


def no_value_yet(w: Any) -> Any:
    latest = np.array([[None] * 2]).T
    for k in range(3):
        latest = w[:2] * k
    return latest.sum() * w[2]


@pytest.mark.parametrize("function", [table_of_objects, table_of_strings, no_value_yet])
def test_arrays_of_objects_are_filled_and_read(function: Any) -> None:
    agrees(function, W)


def kept_in_objects(w: Any) -> Any:
    kept = np.empty(3, dtype=object)
    kept[0] = w * 2
    return kept[0].sum()


def test_what_has_a_derivative_is_not_kept_in_an_array_of_objects() -> None:
    with pytest.raises(UnsupportedError, match="array of objects has no derivative"):
        gs.grad(kept_in_objects)(W)


def options_of_array(w: Any) -> Any:
    copied, same = np.array(w, copy=True), np.array(w, copy=None)
    copied[0] = 1.0
    row = np.array(w, ndmin=2)
    return np.sum(copied * same * row) + np.array(w[0] * 2, ndmin=1)[0]


def methods_of_the_class(w: Any) -> Any:
    values: list[Any] = []
    copied = np.ndarray.copy(w)
    copied[0] = 2.0
    list.append(values, w[1] ** 2)
    return np.ndarray.sum(copied * w) + values[0]


def reductions_by_a_ufunc(w: Any) -> Any:
    rows = np.logaddexp.reduce(w.reshape(3, 1) * w, axis=1)
    return np.logaddexp.reduce(rows) * np.hypot.reduce(rows)


@pytest.mark.parametrize(
    "function", [options_of_array, methods_of_the_class, reductions_by_a_ufunc]
)
def test_other_spellings(function: Any) -> None:
    check(function, W)


def root_of_list(a: Any) -> Any:
    lower = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        if a[i][i] <= 0:
            return None
        lower[i][i] = math.sqrt(a[i][i])
    return lower


def root_or_none(a: Any) -> Any:
    return root_of_list(a)


def root_that_is_tested(a: Any) -> Any:
    lower = root_of_list(a)
    if lower is None:
        return 0.0
    return lower[0][0] * lower[1][1]


def pair_or_none(a: Any) -> Any:
    pair = None if a[0][0] < 0 else [a[0][0], a[1][1]]
    return pair[0] * pair[1]


@pytest.mark.parametrize("function", [root_or_none, root_that_is_tested, pair_or_none])
def test_a_list_or_none(function: Any) -> None:
    check(function, A.tolist())


def root_or_message(a: Any) -> Any:
    found = np.array(a)
    for i in range(2):
        if found[i, i] <= 0:
            return False, "not positive"
        found[i, i] = np.sqrt(found[i, i])
    return True, found


def without_a_look(a: Any) -> Any:
    _, found = root_or_message(a)
    return found.sum()


def after_a_look(a: Any) -> Any:
    success, found = root_or_message(a)
    if not success:
        return 0.0
    return found.sum()


@pytest.mark.parametrize("function", [without_a_look, after_a_look])
def test_an_array_or_a_message(function: Any) -> None:
    check(function, A)


def iterated(a: Any) -> Any:
    x = np.ones(2)
    for k in range(5):
        following = a @ x / 10
        if np.linalg.norm(following - x) < 1e-3:
            return following.sum(), k
        x = following
    return x.mean() * x.dot(x) * x.max(), 5


def norm_of_iterated(a: Any) -> Any:
    return iterated(a)[0]


def test_methods_with_one_meaning_are_called_on_arrays_that_may_be_tensors() -> None:
    agrees(norm_of_iterated, A)


def best_of_pairs(w: Any) -> Any:
    choices = [(w[0] * 2, "up"), (w[1], "left"), (w[2] ** 2, "diagonal")]
    worst, name = min(choices)
    best, other = max((w[1], "left"), (w[0], "up"))
    return worst * len(name) + best * (2.0 if other == "left" else 3.0)


def paths_by_the_best_pair(w: Any) -> Any:
    cost, moves = np.zeros((3, 3)), [[None] * 3 for _ in range(3)]
    steps = np.outer(w, np.array([1.0, 0.3, 0.77]))
    for i in range(1, 3):
        for j in range(1, 3):
            cost[i][j], moves[i][j] = min(
                (cost[i - 1][j] + steps[i, j] ** 2, "up"),
                (cost[i][j - 1] + steps[i - 1, j] * 1.1, "left"),
            )
    i = j = 2
    total, shown = 0.0, []
    while i > 0 and j > 0:
        total = total + cost[i][j] * (i + 2 * j)
        shown.append(moves[i][j])
        i, j = (i - 1, j) if moves[i][j] == "up" else (i, j - 1)
    return total * len("".join(reversed(shown)))


def most_likely_states(w: Any) -> Any:
    weights = {"a": {"a": 0.7, "b": 0.3}, "b": {"a": 0.4, "b": 0.6}}
    table = [{state: w[0] * (1.0 if state == "a" else 2.0) for state in weights}]
    for t in range(1, 3):
        table.append({})
        for state in weights:
            likely, _ = max((table[t - 1][s] * weights[s][state] * w[t], s) for s in weights)
            table[t][state] = likely
    return max(table[-1].values())


def lengths_of_ranges(w: Any) -> Any:
    numbers, every = range(len(w)), range(0, len(w), 2)
    return len(numbers) * w[0] + len(every) * w[1] + range(1, 9, 2)[1] * w[2]


PAIRS = [best_of_pairs, paths_by_the_best_pair, most_likely_states, lengths_of_ranges]


@pytest.mark.parametrize("function", PAIRS)
def test_the_best_of_pairs_and_lengths_of_ranges(function: Any) -> None:
    agrees(function, W)


def without_sentinel(w: Any, mode: Any = None) -> Any:
    total, last = w[0] * 2, None
    for k in range(3):
        if last != w[k] and w[k] != None:
            total = total + w[k] ** 2
        last = w[k]
    return total if mode == None or total == "none" else total * w[1]


def with_a_mode(w: Any) -> Any:
    return without_sentinel(w, 2.0) + without_sentinel(w)


def test_a_number_is_neither_none_nor_a_string() -> None:
    check(with_a_mode, W)
