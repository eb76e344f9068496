"""Dicts with computed keys: what is known of their keys is found without a search."""

from __future__ import annotations

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


PROGRAMS = (
    *(warped, counted, of_names, found_first, deleted, of_a_list, of_a_list_with_one_twice),
    of_what_is_missing,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_with_keys(program) -> None:
    check(program, X)


def test_a_dict_that_remembers() -> None:
    np.testing.assert_allclose(gs.grad(memorized)(X), gs.grad(memorized, compile=False)(X))


def source(program) -> str:
    return str(gs.differentiable(program).specialize("float64[:]").gradient_source)


@pytest.mark.parametrize("program", [warped, of_a_list])
def test_places_are_found_without_a_search(program) -> None:
    lines = [line.partition("#")[0] for line in source(program).splitlines()]
    assert not any(".index(" in line for line in lines)
    assert any(" = len(" in line for line in lines)


@pytest.mark.parametrize("program", [deleted, of_a_list_with_one_twice, of_what_is_missing])
def test_lists_that_do_more_stay_lists(program) -> None:
    assert ".index(" in source(program)
