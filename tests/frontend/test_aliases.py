"""One array under several names, or in a list: a store is seen through all of them, or refused."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import check


def appended_then_stored(x):
    y = x * 1
    held = []
    for _ in range(2):
        held.append(y)
    y[0] = 5.0
    return np.sum(held[0])


def stored_after_append_to_argument(xs, v):
    xs.append(v)
    v[0] = 7.0
    return np.sum(xs[-1])


def one_buffer_appended(x, n):
    held = []
    y = x * 1
    for _ in range(n):
        y[0] += 1.0
        held.append(y)
    return np.sum(held[0])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (appended_then_stored, (np.ones(3),)),
        (stored_after_append_to_argument, ([np.ones(3)], np.ones(3))),
        (one_buffer_appended, (np.ones(3), 20)),
    ],
)
def test_store_to_an_array_that_a_list_holds_is_refused(function: Any, args: Any) -> None:
    with pytest.raises(errors.AliasingError, match="may share memory"):
        gs.value_and_grad(function, argnums=len(args) - 1 if len(args) == 1 else 0)(*args)


def new_array_appended(x, n):
    held = []
    y = x * 1
    for _ in range(n):
        y = np.tanh(y)
        y[0] += 1.0
        held.append(y)
    total = 0.0
    for v in held:
        total += np.sum(v)
    return total


def test_a_new_array_each_iteration_may_be_stored_to_and_appended() -> None:
    x = np.array([0.3, -0.2, 0.5])
    value, gradient = gs.value_and_grad(new_array_appended)(x, 3)
    assert value == new_array_appended(x, 3)
    gs.testing.check_grad(lambda x: new_array_appended(x, 3), x)
    assert gradient.shape == (3,)


def one_buffer(x, n):
    held = []
    for _ in range(n):
        x[0] += 1.0
        held.append(x)
    return np.sum(held[0] ** 2)


def test_what_few_iterations_do_to_one_array_is_followed():
    check(one_buffer, np.array([1.0, 2.0]), 3)


def test_an_alias_that_a_loop_changes_in_place_stays_an_alias() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        b = y
        for i in range(3):
            b += np.cos(y) * i
        return np.sum(b * y)

    gs.testing.check_grad(f, np.array([1.0, 2.0, 3.0]))


def test_a_view_that_a_loop_changes_in_place_stays_a_view() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        v = y[1:]
        for i in range(3):
            v *= y[:-1]
            if i == 1:
                y -= 1
        return np.sum(v) * y[0]

    gs.testing.check_grad(f, np.array([1.0, 2.0, 3.0]))


def bound_on_one_path(x):
    z = x * 1
    if x[0] > 0:
        q = z
    z[0] = 5.0
    return np.sum(q)


def nothing_on_the_other_path(x):
    z, q = x * 1, None
    if x[0] > 0:
        q = (z[:2], 1)
    z *= 2
    return 0.0 if q is None else np.sum(q[0])


def called_later_on_one_path(x):
    z, q = x * 1, None
    if x[0] > 0:
        q = functools.partial(np.dot, z)
    z[0] = 5.0
    return q(x)


def bound_in_some_iterations(x):
    z = x * 1
    for value in x:
        if value > 0:
            q = z
    np.add.at(z, [0], 4.0)
    return np.sum(q)


@pytest.mark.parametrize(
    "function",
    [
        bound_on_one_path,
        nothing_on_the_other_path,
        called_later_on_one_path,
        bound_in_some_iterations,
    ],
)
def test_a_name_that_is_an_array_on_some_paths_only_sees_its_stores(function: Any) -> None:
    x = np.array([0.7, 1.3, -0.4])
    assert gs.value_and_grad(function)(x)[0] == function(x)
    gs.testing.check_grad(function, x)


def bound_in_each_iteration(x):
    z, n = x * 1, 0
    while n < 3:
        n, q = n + 1, [z[1:]]
    z[1] = 5.0
    return np.sum(q[0])


def test_a_name_that_iterations_bind_to_an_array_sees_its_stores_or_is_refused() -> None:
    with pytest.raises(errors.AliasingError, match="`z`, which may share memory with `q`"):
        gs.grad(bound_in_each_iteration)(np.array([0.7, 1.3, -0.4]))


def left_before_it_is_bound_anew(x):
    z, w = x * 1, x * 2
    q = w
    for i in range(3):
        q = z if x[0] > 0 else w
        z[0] += x[1]
        if x[i] < 0:
            break
        q = x * 0
    return np.sum(q)


def next_iteration_before_it_is_bound_anew(x):
    z, w = x * 1, x * 2
    q = w
    for value in x:
        q = z if x[0] > 0 else w
        z[0] += x[1]
        if value < 0:
            continue
        q = x * 0
    return np.sum(q)


def left_by_a_match(x):
    z, w, n = x * 1, x * 2, 0
    q = w
    while n < 3:
        q = z if x[0] > 0 else w
        z[0] += x[1]
        n += 1
        match n:
            case 2:
                break
            case _:
                pass
        q = x * 0
    else:
        q = x * 3
    return np.sum(q)


@pytest.mark.parametrize(
    "function",
    [left_before_it_is_bound_anew, next_iteration_before_it_is_bound_anew, left_by_a_match],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_name_is_live_where_a_loop_may_be_left(function: Any, sign: int) -> None:
    x = sign * np.array([0.7, 1.3, -0.4])
    assert gs.value_and_grad(function)(x)[0] == function(x)
    gs.testing.check_grad(function, x)


def list_that_a_path_adds_to(x):
    v = 2 * x
    l = [v]
    if x[0] > 0:
        l.append(x * 1)
    v[1] = 5 * x[2]
    return np.sum(l[0])


def list_that_a_path_takes_from(x):
    v = 2 * x
    l = [v, x * 1]
    if x[0] > 0:
        l.pop()
    v.sort()
    return l[0][0] * 3 + l[0][2]


def dict_that_a_path_adds_to(x):
    v = 2 * x
    d = {"a": v}
    if x[0] > 0:
        d.setdefault("b", x * 1)
    v.reshape(3)[1] = 5 * x[2]
    return np.sum(d["a"])


def one_of_two_lists_of_other_lengths(x):
    v = 2 * x
    l, m = [v], [x * 1, v]
    k = l if x[0] > 0 else m
    v[1] = 5 * x[2]
    return np.sum(k[-1])


def list_or_nothing(x):
    v = 2 * x
    l = [v, x]
    k = (x[0] > 0 and l) or l
    v[1] = 5 * x[2]
    return np.sum(k[0])


def list_or_number(x):
    v = 2 * x
    l = [v, x]
    k = l
    if x[0] < 0:
        k = 1.0
    v[1] = 5 * x[2]
    return np.sum(k[0]) if x[0] >= 0 else np.sum(l[0])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_list_of_either_length_shares_its_items(sign: int) -> None:
    x = sign * np.array([0.7, 1.3, -0.4])
    function = one_of_two_lists_of_other_lengths
    assert gs.value_and_grad(function)(x)[0] == function(x)


@pytest.mark.parametrize(
    "function",
    [
        list_that_a_path_adds_to,
        list_that_a_path_takes_from,
        dict_that_a_path_adds_to,
        list_or_nothing,
        list_or_number,
    ],
)
def test_what_a_list_holds_is_known_where_its_length_is_not(function: Any) -> None:
    with pytest.raises(errors.AliasingError, match=r"may share memory with `[lkda]`"):
        gs.grad(function)(np.array([0.7, 1.3, -0.4]))


def given_the_items_of_what_it_was(x):
    l, m = [x[0], x[1]], [x[1], x[2]]
    k = l
    for _ in range(2):
        k = m
        l.extend(k)
    return sum(l) * x[0] + sum(k)


def test_a_loop_lets_go_of_the_list_that_it_adds_to() -> None:
    gs.testing.check_grad(given_the_items_of_what_it_was, np.array([0.7, 1.3, -0.4]))


def appended_by_branch(x, y):
    held = [x * 1]
    z = x * 3
    for k in range(2):
        z[0] = y[k]
        held.append(np.asarray(z) if x[0] > 0 else z * 1)
    return np.sum(held[0] * x + held[1] * y + held[2] * x)


def appended_by_branch_in_a_while(x, y):
    held = [x * 1]
    z = x * 3
    while len(held) < 3:
        z += y
        held.append(np.asarray(z) if x[0] > 0 else z * 1)
    return np.sum(held[0] * x + held[1] * y + held[2] * x)


def appended_by_branch_to_two(x, y):
    held = [x * 1, x * 2]
    z = x * 3
    for _ in range(2):
        z += y
        held.append(z if x[0] > 0 else z * 1)
    return np.sum(held[0] * x + held[1] * y + held[2] * x)


@pytest.mark.parametrize(
    "function", [appended_by_branch, appended_by_branch_in_a_while, appended_by_branch_to_two]
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_list_from_before_a_loop_holds_what_the_next_iteration_stores_to(
    function: Any, sign: float
) -> None:
    x, y = sign * np.array([1.0, 2.0]), np.array([3.0, 1.0])
    assert gs.value_and_grad(function)(x, y)[0] == function(x, y)
    gs.testing.check_grad(function, x, y)
