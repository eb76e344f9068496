"""Dicts with computed keys: what is known of their keys is found without a search."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import check

X = np.array([0.5, 1.0, 2.0, 1.5, 0.7])


def warped(x):
    table = {(0, 0): 0.0}
    for i in range(len(x)):
        for j in range(len(x)):
            if i or j:
                best = min(table.get((i - 1, j), np.inf), table.get((i, j - 1), np.inf))
                table[i, j] = best + (x[i] - 2.3 * x[j]) ** 2
    return table[len(x) - 1, len(x) - 1]


def counted(x):
    sums = {}
    for i in range(len(x)):
        sums[i % 3] = sums.get(i % 3, 0.0) + x[i] ** 2
    return sum(sums.values()) * len(sums) + sums[1]


def of_names(x):
    products = {}
    for i, name in enumerate(["a", "b", "a", "c"]):
        products[name] = products.get(name, 1.0) * x[i]
    return products["a"] + 2 * products["b"] * products["c"]


def found_first(x):
    firsts = {}
    for i in range(4):
        firsts.setdefault(i // 2, x[i])
    return firsts[0] * firsts[1]


def memorized(x):
    known = {}

    def fibonacci(n):
        if n not in known:
            known[n] = x[0] if n < 2 else fibonacci(n - 1) * x[1] + fibonacci(n - 2)
        return known[n]

    return fibonacci(6)


def deleted(x):
    held = {}
    for i in range(len(x)):
        held[i % 3] = x[i]
        if i == 2:
            del held[0]
    return sum(held[key] * (place + 1) for place, key in enumerate(held))


def of_a_list(x):
    names, held = [], []
    for i in range(len(x)):
        if i % 3 not in names:
            names.append(i % 3)
            held.append(x[i])
        else:
            held[names.index(i % 3)] = held[names.index(i % 3)] * x[i]
    return sum(held) * len(names)


def of_what_is_missing(x):
    names = []
    for i in range(len(x)):
        if i % 3 not in names:
            names.append(i % 3)
    try:
        return x[names.index(7)]
    except ValueError:
        return x[1] * len(names)


def of_a_list_with_one_twice(x):
    names = []
    for i in range(len(x)):
        names.append(i % 2)
    return x[names.index(1)] * len(names)


def run_over(x):
    sums = {}
    for i in range(len(x)):
        if (i % 3, 0) in sums:
            sums[i % 3, 0] = sums[i % 3, 0] * 1.5 + x[i] * x[i]
        else:
            sums[i % 3, 0] = np.sin(x[i])
    total = 0.0
    for key in sums:
        total += sums[key] * key[0]
    for (first, _), value in sums.items():
        total += value**2 * (first + 1)
    return total * sums[1, 0]


def changed_while_run_over(x):
    held = {}
    for i in range(len(x)):
        held[i % 3] = x[i]
        for k in held:
            for j in held:
                if j != k:
                    held[k] = held[k] + 0.1 * held[j]
    return held[0] + 2 * held[1] * held[2]


def grown_by_a_copy(x):
    held = {i // 2: x[i] for i in range(len(x))}
    for key in list(held):
        held[key + 1] = held[key] * x[0]
    total = 0.0
    for key in reversed(held):
        total = total * 0.5 + held[key]
    return total


def run_over_a_growing_list(x):
    names = []
    total = 0.0
    for i in range(len(x)):
        if i % 3 not in names:
            names.append(i % 3)
        for name in names:
            total += x[names.index(name)] * (name + 1)
    return total


def of_a_shallow_copy(x):
    held = {}
    for i in range(len(x)):
        held[i % 2] = x[i]
    other = copy.copy(held)
    other[0] = x[1]
    return held[0] * other[0] + other[1]


def with_a_key_more(x):
    held = {}
    for i in range(len(x)):
        held[i % 2] = x[i]
    for key in held:
        held[7] = x[0]
        if key == 0:
            break
    return sum(held.values())


def made_anew_in_a_loop(x):
    held = {}
    for i in range(4):
        held[len(x) - i] = x[i]
        held = {key: value * x[0] for key, value in held.items()}
    return sum(held.values()) * held[len(x)]


def compared_and_united(x):
    held = {}
    for i in range(len(x)):
        held[i % 3] = x[i]
    united = held | {1: x[2]}
    scale = (2.0 if held != {} else 3.0) + (1.0 if united == held else 5.0)
    held |= {0: x[1]}
    return scale * united[1] + held[0] * (2.0 if held == dict(held) else 7.0) + united[0]


PROGRAMS = (
    *(warped, counted, of_names, found_first, deleted, of_a_list, of_a_list_with_one_twice),
    *(of_what_is_missing, run_over, changed_while_run_over, grown_by_a_copy),
    *(run_over_a_growing_list, of_a_shallow_copy, with_a_key_more, made_anew_in_a_loop),
    compared_and_united,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_with_keys(program) -> None:
    check(program, X)


def test_a_dict_that_remembers() -> None:
    np.testing.assert_allclose(gs.grad(memorized)(X), gs.grad(memorized, compile=False)(X))


def source(program) -> str:
    return str(gs.differentiable(program).specialize("float64[:]").gradient_source)


SEARCHED_NOWHERE = [warped, of_a_list, run_over, changed_while_run_over, grown_by_a_copy]


@pytest.mark.parametrize("program", SEARCHED_NOWHERE)
def test_places_are_found_without_a_search(program) -> None:
    lines = [line.partition("#")[0] for line in source(program).splitlines()]
    assert not any(".index(" in line for line in lines)
    assert any("] = len(" in line for line in lines)


def test_what_a_branch_has_asked_is_not_asked_again() -> None:
    lines = [line.partition("#")[0] for line in source(run_over).splitlines()]
    asking = [line.strip() for line in lines if " in sums_keys" in line]
    assert asking == ["branch = (t, 0) in sums_keys", "if (1, 0) not in sums_keys:"]
    assert sum(" in enumerate(sums_keys)" in line for line in lines) == 2


def test_a_dict_that_gets_a_key_while_a_loop_runs_over_it_is_refused() -> None:
    def grown(x, more):
        held = {}
        for i in range(len(x)):
            held[i % 2] = x[i]
        for key in held:
            if more:
                held[key + 2] = x[0]
        return sum(held.values())

    with pytest.raises(RuntimeError, match="changed size"):
        grown(X, True)
    assert gs.grad(grown)(X, False).tolist() == [0, 0, 0, 1, 1]
    with pytest.raises(gs.errors.UnsupportedError, match="changes the size of the dict"):
        gs.grad(grown)(X, True)


@pytest.mark.parametrize("program", [deleted, of_a_list_with_one_twice, of_what_is_missing])
def test_lists_that_do_more_stay_lists(program) -> None:
    assert ".index(" in source(program)
