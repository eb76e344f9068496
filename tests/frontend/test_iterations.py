"""What loops leave behind where they make no iteration, and tests of `while` that change
something."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees
from tests.programs.registry import same

x4 = np.array([0.3, -0.7, 1.2, 0.9])

# -- names of another kind before the loop ---------------------------------------------------------


def none_then_number(x, n):
    best = None
    for j in range(n):
        best = x[j]
    return x[0] if best is None else best


def none_then_array(x, n):
    best = None
    for j in range(n):
        best = x * j
    return np.sum(x) if best is None else np.sum(best)


def none_then_dict(x, n):
    best = None
    for j in range(n):
        best = {"a": x[j], "b": (1, x)}
    return x[0] if best is None else best["b"][1][2] * best["a"]


def none_then_text(x, n):
    found = None
    for _ in range(n):
        found = "some"
    return x[0] if found is None else x[1]


def none_then_tuple_on_a_condition(x, n):
    found = None
    for j in range(n):
        if x[j] > 1:
            found = (j, x[j])
    return x[0] * (2 if found else 3)


def left_when_found(x, n):
    k = 0.0
    for i in range(n):
        found = None
        for j in range(n):
            if x[i] * x[j] < -0.5:
                found = (i, j)
                break
        if found:
            break
        k = k + x[i]
    return k


def number_then_array(x, n):
    s = 0.0
    for i in range(n):
        s = x * i
    return np.sum(s)


def number_then_array_in_while(x, n):
    s = 0.0
    while n > 0:
        s = x * n
        n -= 1
    return np.sum(s)


def empty_tuple_then_pair(x, n):
    y = ()
    for v in x[:n]:
        y = (v, v * 2)
    return len(y) * x[0]


def read_in_the_else_clause(x, n):
    loss = None
    for _ in range(n):
        loss = np.sum(x**2)
        x = x - 0.2 * x
    else:
        x = x * 2
    return loss if loss is not None else np.sum(x)


# -- tests that change something -------------------------------------------------------------------


def assignment_in_the_test(x, n):
    i, t = 0, 1.0
    while (i := i + 1) < n and (t := t * x[i]) < 10:
        x = x * x[i]
    return x.sum() * t


def _bump(z):
    z[0] += 1
    return z[0]


def store_in_the_test(x, n):
    z = x * 1
    while _bump(z) < n:
        z *= 1.1
    return z.sum()


def pop_in_the_test(x, n):
    values = [x[0] + 2, x[1] + 2, x[2] + 2]
    s = 0.0
    while len(values) > 0 and values.pop() > 1.5:
        s = s + x[0]
    return s


def counter_in_the_test(x, n):
    k = 0

    def step():
        nonlocal k
        k += 1
        return k

    while step() < n:
        x = x * 1.5
    else:
        x = x * x
    return x.sum() * k


def append_in_the_test(x, n):
    taken = []

    def more():
        taken.append(x[len(taken)])
        return len(taken) < n

    while more():
        if taken[-1] > 1:
            break
    return sum(taken)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "function",
    [
        none_then_number,
        none_then_array,
        none_then_dict,
        none_then_text,
        none_then_tuple_on_a_condition,
        left_when_found,
        number_then_array,
        number_then_array_in_while,
        empty_tuple_then_pair,
        read_in_the_else_clause,
        assignment_in_the_test,
        store_in_the_test,
        pop_in_the_test,
        counter_in_the_test,
        append_in_the_test,
    ],
)
def test_after_any_number_of_iterations(function: Any, n: int) -> None:
    agrees(function, x4, n)


def test_none_that_no_iteration_replaced_has_no_derivative() -> None:
    def loss_of_last_step(x, n):
        loss = None
        for _ in range(n):
            loss = np.sum(x**2)
        return loss

    assert gs.grad(loss_of_last_step)(x4, 1).tolist() == (2 * x4).tolist()
    with pytest.raises(TypeError, match="returned None here, which has no derivative"):
        gs.grad(loss_of_last_step)(x4, 0)


def test_augmented_assignment_reads_a_name_of_two_kinds() -> None:
    def unbound_or_whole_number(x, s):
        flag = s < s
        if flag:
            t = np.sin(s)
        if not flag:
            t = 0
        t += np.cos(s)
        return s + t + np.sum(x)

    agrees(unbound_or_whole_number, x4, 2.0)


def item_swapped_before_an_inner_exit(x, s):
    for v in np.sin(x):
        s, v = v, s
        k = 0
        while k < 2:
            k += 1
            if s > v + k:
                return np.tanh(s) * v
    return s * x[0]


def sum_kept_before_an_inner_exit(x, s):
    last = s
    for v in x:
        total = s * v
        for w in x:
            total = total + v * w
            if total > 40.0:
                return total * last
        last, s = total, v
    return last * s


@pytest.mark.parametrize("s", [0.5, -3.0, 40.0])
@pytest.mark.parametrize(
    "function", [item_swapped_before_an_inner_exit, sum_kept_before_an_inner_exit]
)
def test_what_ends_an_iteration_comes_before_a_loop_inside_passes_on(function, s) -> None:
    agrees(function, np.array([0.5, 1.5, 2.0]), s)


@pytest.mark.parametrize("n", [0, 1])
def test_zeros_like_what_no_iteration_has_made(n) -> None:
    def pair_or_none(x, A, n, m):
        if np.max(x) < -1:
            return np.sum(x)
        found = None
        for _ in range(n):
            found = np.sin(np.tanh(A[-1])), np.sum(x)
            break
        t = np.tanh(np.max(found[0]) * found[1]) if found is not None and m > 1 else 1.5
        return t + np.sum(np.sin(A))

    A = np.linspace(-1, 1, 6).reshape(2, 3)
    for m in (1, 2):
        expected, pull = gs.vjp(pair_or_none, x4, A, n, m)
        value, gradients = gs.value_and_grad(pair_or_none, (0, 1))(x4, A, n, m)
        assert value == expected == pair_or_none(x4, A, n, m)
        for gradient, pulled in zip(gradients, pull(1.0), strict=False):
            np.testing.assert_allclose(gradient, pulled)


def items_made_anew(x):
    for _ in range(2):
        kept = [v * x[0] for v in x if v > 0.5]
    return sum(kept) / len(kept)


def left_backwards(x):
    for i in reversed(range(1, 10, 2)):
        x = np.sin(x) * 1.5 + 0.01 * i * x
        if np.max(x) > 1.2:
            return np.sum(x) * i
    return np.sum(x)


def in_a_tuple(x, n):
    p = x[0]
    for _ in range(n):
        p = (p * 2,)
    return p


def in_a_list(x, n):
    p = x[0]
    for _ in range(n):
        p = [p]
    return p


def in_a_list_at_last(x, n):
    p = (x[0], x[1])
    for _ in range(n):
        p = [p[0], p[1] * 2]
    return p


def lists_that_change_places(x, n):
    held = [[x[0]], [x[1], x[2]]]
    for _ in range(n):
        held[0], held[1] = held[1], held[0]
    return held[0][0] + 2 * held[1][0] + 5 * len(held[0])


def lists_in_a_dict_that_change_places(x, n):
    held = {"a": [x[0]], "b": [x[1], x[2]]}
    for _ in range(n):
        held["a"], held["b"] = held["b"], held["a"]
    return held["a"][0] + 2 * held["b"][0] + 5 * len(held["a"])


def lists_turned_around(x, n):
    a, b = [x[0]], [x[1], x[2]]
    held = [a, b]
    for _ in range(n):
        held.reverse()
    return held[0][0] + 2 * held[1][0] + 5 * len(held[0])


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "function",
    [
        in_a_tuple,
        in_a_list,
        in_a_list_at_last,
        lists_that_change_places,
        lists_in_a_dict_that_change_places,
        lists_turned_around,
    ],
)
def test_a_number_in_a_loop_does_not_stand_for_what_holds_one(function, n) -> None:
    """A tuple of one number is no number, though both are one value to compiled code; two lists of
    one and two numbers are not two of two and one."""
    try:
        found, _ = gs.vjp(function, x4, n)
    except gs.errors.UnsupportedError:
        assert n > 1
        return
    assert same(found, function(x4, n))


@pytest.mark.parametrize("function", [items_made_anew, left_backwards])
def test_what_an_iteration_leaves_is_differentiated(function) -> None:
    gs.testing.check_grad(function, x4)
