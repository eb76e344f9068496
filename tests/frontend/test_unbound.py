"""A name that has no value on the path that is taken raises, as in Python, in all modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

x3 = np.array([0.5, -1.5, 2.0])


def bound_in_a_loop(x, n):
    for _ in range(n):
        y = x * 2
    return np.sum(y)


def loop_variable(x, n):
    for i in range(n):
        pass
    return x[i] * 2


def bound_in_a_branch(x, n):
    if n > 1:
        y = 2.0
    return y * np.sum(x)


def bound_in_some_branches(x, n):
    if n == 3:
        y = x * 2
    elif n == 2:
        y = x**2
    return np.sum(y)


def bound_in_a_branch_of_a_loop(x, n):
    for i in range(3):
        if i < n:
            last = x[i]
    return last * 2


def bound_while(x, n):
    k = 0
    while k < n:
        y = x * k
        k += 1
    return np.sum(y)


def bound_over_rows(x, n):
    for v in x[:n]:
        y = v * 2
    return y * y


def deleted(x, n):
    y = x * 2
    if n < 1:
        del y
    return np.sum(y)


def not_differentiated(x, n):
    for i in range(n):
        last = i
    return np.sum(x) * (last * 0 + 1)


PROGRAMS = [
    bound_in_a_loop,
    loop_variable,
    bound_in_a_branch,
    bound_in_some_branches,
    bound_in_a_branch_of_a_loop,
    bound_while,
    bound_over_rows,
    deleted,
    not_differentiated,
]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_a_name_that_is_bound_has_its_value(function: Any) -> None:
    check(function, x3, 3)
    check(function, x3, 2)


@pytest.mark.parametrize("order", [(3, 0), (0, 3)], ids=str)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_an_unbound_name_raises_in_all_modes(function: Any, order: Any) -> None:
    gradient, compiled = gs.grad(function), gs.differentiable(function)
    for n in order:
        if n:
            gradient(x3, n)
            continue
        with pytest.raises(UnboundLocalError):
            function(x3, n)
        for derivative in (gradient, gs.value_and_grad(function)):
            with pytest.raises(UnboundLocalError):
                derivative(x3, n)
        with pytest.raises(UnboundLocalError):
            gs.jvp(function, (x3, n), (x3, 0))
        with pytest.raises(UnboundLocalError):
            compiled(gs.tensor(x3, requires_grad=True), n)


def found_or_default(x, key):
    for v in x:
        if v > key:
            found = v
            break
    else:
        found = -1.0
    return found * 2


def test_the_else_clause_of_a_loop_binds_a_name() -> None:
    for key in (0.0, 1.0, 5.0):
        check(found_or_default, x3, key)
    source = gs.differentiable(found_or_default).specialize(x3, 1.0).gradient_source
    assert "UnboundLocalError" not in source


def found_or_unbound(x, key):
    for v in x:
        if v > key:
            found = v
            break
    else:
        pass
    return x[0] + found


def test_an_else_clause_that_binds_nothing_leaves_a_name_unbound() -> None:
    check(found_or_unbound, x3, 1.0)
    with pytest.raises(UnboundLocalError):
        gs.grad(found_or_unbound)(x3, 5.0)


def of_another_dtype(x, key):
    z = x * 2
    for v in x:
        if v > key:
            break
        z = np.arange(3)
    else:
        q = 1.0
        z = z * q
    return (x * z).sum()


def of_another_kind(x, key):
    z, total = None, 0.0
    for k in range(2):
        for v in x:
            if v > key:
                break
            z = v * x
        else:
            continue
        total = total + (x[k] if z is None else z.sum())
        z = v
    return total * x[1]


@pytest.mark.parametrize("key", [0.0, 0.6, 1.0, 5.0])
@pytest.mark.parametrize("function", [of_another_dtype, of_another_kind])
def test_a_loop_with_an_else_clause_that_is_left_at_once_keeps_the_names(
    function: Any, key: float
) -> None:
    check(function, x3, key)


def test_a_loop_that_certainly_runs_binds_its_names() -> None:
    source = gs.differentiable(bound_in_a_loop).specialize(x3, 3).gradient_source
    assert "UnboundLocalError" not in source


def bound_on_ever_fewer_paths(x, s):
    if s > 1:
        if s > 2:
            t = x[0]
        if s > 3:
            t = np.sin(x[1])
        else:
            if s > 2.5:
                t = x[2]
    if s > 4:
        return t * 2
    return x[1]


@pytest.mark.parametrize("s", [0.5, 1.5, 3.5, 4.5])
def test_a_name_that_is_unbound_on_several_paths(s: float) -> None:
    gs.testing.check_grad(bound_on_ever_fewer_paths, np.array([0.3, 0.7, 1.1]), s)


def test_a_name_that_is_read_before_any_path_binds_it_is_refused() -> None:
    def unbound(x, n):
        while n > 0:
            y = y + x  # noqa: F821
            n = n - 1
        return np.sum(y)

    with pytest.raises(
        errors.UnsupportedError, match="`y` has no value before the first iteration"
    ):
        gs.grad(unbound)(x3, 2)


def test_a_loop_over_nothing_binds_nothing() -> None:
    def last(x, n):
        y = x[0]
        for k in range(0):
            y = x[k + n]
        return y * y

    assert gs.grad(last)(x3, 1)[0] == 2 * x3[0]


def bound_where_it_is_chosen(x):
    if x[0] > 1:
        a = x[0] * x[1]
    return a if x[2] > 1 else x[1] * 3


def bound_where_it_is_tested(x):
    if x[0] > 1:
        a = x[0]
    return x[1] * (2 if x[2] > 1 and a > 1 else 3)


@pytest.mark.parametrize("function", [bound_where_it_is_chosen, bound_where_it_is_tested])
@pytest.mark.parametrize("x", [(2.0, 0.5, 3.0), (2.0, 0.5, 0.3), (0.2, 0.5, 0.3)])
def test_a_name_is_missed_only_where_an_expression_reads_it(function, x):
    agrees(function, np.array(x))


@pytest.mark.parametrize("function", [bound_where_it_is_chosen, bound_where_it_is_tested])
def test_a_name_that_an_expression_misses_raises(function):
    with pytest.raises(UnboundLocalError):
        gs.grad(function)(np.array([0.2, 0.5, 3.0]))


def handled_until_it_is_bound(x, n):
    total, k = 0.0, 0
    while k < n:
        try:
            total += y[0] * x[1]  # noqa: F821
        except UnboundLocalError:
            total += x[2]
        if k > 1:
            y = x * k
        k += 1
    return total * x[0]


def dict_handled_until_it_is_bound(x, n):
    total, k = 0.0, 0
    while k < n:
        try:
            total += d["a"] * x[1]
        except NameError:
            total += 1.0
        if k > 1:
            d = {"a": x[0] * k}
        k += 1
    return total * x[0]


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("function", [handled_until_it_is_bound, dict_handled_until_it_is_bound])
def test_a_name_that_is_missed_in_a_try_is_handled_until_an_iteration_binds_it(function, n):
    agrees(function, np.array([0.3, 0.7, 1.1]), n)


def missed_after_a_try(x, n):
    try:
        if n > 2:
            raise ValueError
        y = x * 2
    except ValueError:
        pass
    try:
        y
        total = np.sum(x)
    except NameError:
        total = np.sum(x) * 3
    return total


# -- `del` ----------------------------------------------------------------------------------------


def never_bound(x, n):
    try:
        del nope
        factor = 2
    except NameError:
        factor = 3
    return np.sum(x) * factor


def deleted_twice(x, n):
    y = x * n
    del y
    try:
        del y  # noqa: F821
        factor = 2
    except UnboundLocalError:
        factor = 3
    return np.sum(x) * factor


def deleted_if_bound(x, n):
    if n > 2:
        y = [x, x * n]
    try:
        del y
        factor = 2
    except NameError:
        factor = 3
    return np.sum(x) * factor


def deleted_in_a_loop(x, n):
    y, factor = x * n, 1.0
    for k in range(4):
        try:
            del y
            factor *= 2 + k
        except NameError:
            factor *= 3 + k
            y = x * factor
    return np.sum(x) * factor


def deleted_by_a_loop(x, n):
    y, total = x[0] * 3, 0.0
    for k in range(n + 1):
        if k == 2:
            del y
        else:
            y = x[1] * k
        try:
            total += y
        except NameError:
            total += x[2]
    return total


def deleted_after_a_loop(x, n):
    for k in range(n - 2):
        y = x[k]
    try:
        del y
        factor = 2
    except NameError:
        factor = 3
    return np.sum(x) * factor


def deleted_after_a_try(x, n):
    try:
        if n > 2:
            raise ValueError
        y = x * 2
    except ValueError as error:
        del error
    try:
        del y
        factor = 2
    except NameError:
        factor = 3
    return np.sum(x) * factor


def deleted_by_a_function(x, n):
    y = x * 2

    def forget():
        nonlocal y
        del y

    forget()
    try:
        forget()
        factor = 2
    except NameError:
        factor = 3
    return np.sum(x) * factor


def shadow_of_a_builtin(x, n):
    try:
        del sum
        factor = 2
    except NameError:
        factor = 3
    return np.sum(x) * factor


@pytest.mark.parametrize(
    "function",
    [
        missed_after_a_try,
        never_bound,
        deleted_twice,
        deleted_if_bound,
        deleted_in_a_loop,
        deleted_by_a_loop,
        deleted_after_a_loop,
        deleted_after_a_try,
        deleted_by_a_function,
        shadow_of_a_builtin,
    ],
)
@pytest.mark.parametrize("n", [2, 3])
def test_a_name_that_is_missed_is_handled(function: Any, n: int) -> None:
    agrees(function, x3, n)


def certainly_deleted_twice(x):
    y = x * 2
    del y
    del y  # noqa: F821
    return x


def deleted_again_in_a_loop(x):
    y = x * 2
    for _ in range(2):
        del y
    return x


@pytest.mark.parametrize("function", [certainly_deleted_twice, deleted_again_in_a_loop])
def test_a_name_that_is_certainly_unbound_is_not_deleted(function: Any) -> None:
    with pytest.raises(errors.UnsupportedError, match="`y` has been deleted"):
        gs.vjp(function, 1.0)


def test_the_deletion_of_an_unbound_name_raises() -> None:
    def function(x):
        if x > 1:
            y = x
        del y
        return x

    assert gs.grad(function)(2.0) == 1.0
    with pytest.raises(UnboundLocalError):
        gs.grad(function)(0.5)


class Point:
    a = 1.0


def default_of_the_class(x, n):
    point = Point()
    for i in range(n):
        point.a = x[i]
    return point.a * x[0]


def absence_is_caught(x, n):
    point, i = Point(), 0
    while i < n:
        point.b = x[i]
        i += 1
    try:
        return point.b * x[0]
    except AttributeError:
        return x[1]


def asked_for_in_and_after_the_loop(x, n):
    point = Point()
    for i in range(n):
        point.b = point.b * x[i] if hasattr(point, "b") else x[i]
    return point.b if hasattr(point, "b") else x[1] * 3


@pytest.mark.parametrize("n", [0, 2, 3])
@pytest.mark.parametrize(
    "function", [default_of_the_class, absence_is_caught, asked_for_in_and_after_the_loop]
)
def test_an_attribute_is_there_if_a_loop_has_stored_it(function: Any, n: int) -> None:
    check(function, x3, n)


def stored_for(x, n):
    point = Point()
    for i in range(n):
        point.b = x * i
    return np.sum(x) if point.b is None else np.sum(point.b)


def stored_while(x, n):
    point = Point()
    while n > 0:
        point.b = x * n
        n -= 1
    return np.sum(point.b**2)


@pytest.mark.parametrize("order", [(3, 0), (0, 3)], ids=str)
@pytest.mark.parametrize("function", [stored_for, stored_while])
def test_an_attribute_that_no_loop_has_stored_raises(function: Any, order: Any) -> None:
    gradient = gs.grad(function)
    for n in order:
        if n:
            check(function, x3, n)
            continue
        with pytest.raises(AttributeError):
            function(x3, n)
        with pytest.raises(AttributeError, match="has no attribute `b`"):
            gradient(x3, n)
        with pytest.raises(AttributeError, match="has no attribute `b`"):
            gs.jvp(function, (x3, n), (x3, 0))
