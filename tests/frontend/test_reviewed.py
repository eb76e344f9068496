"""Programs that were once lowered wrongly: containers, lengths and dtypes that change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors


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


def test_a_new_array_each_trip_may_be_stored_to_and_appended() -> None:
    x = np.array([0.3, -0.2, 0.5])
    value, gradient = gs.value_and_grad(new_array_appended)(x, 3)
    assert value == new_array_appended(x, 3)
    gs.testing.check_grad(lambda x: new_array_appended(x, 3), x)
    assert gradient.shape == (3,)


def shrinking(x, n):
    for _ in range(n):
        x = x[1:]
    return x


def growing(x, n):
    y = x[:0]
    for i in range(n):
        y = np.concatenate((y, x[i : i + 1] ** 2))
    return y


@pytest.mark.parametrize(
    ("function", "n", "seed", "expected"),
    [
        (shrinking, 1, [1.0, 2.0], [0.0, 1.0, 2.0]),
        (shrinking, 2, [3.0], [0.0, 0.0, 3.0]),
        (growing, 2, [1.0, 1.0], [2.0, 4.0, 0.0]),
    ],
)
def test_arrays_whose_length_changes_from_trip_to_trip(
    function: Any, n: int, seed: list[float], expected: list[float]
) -> None:
    _, pull = gs.vjp(function, np.array([1.0, 2.0, 3.0]), n)
    np.testing.assert_allclose(pull(np.array(seed))[0], expected)


def test_an_operand_that_stands_twice_gets_both_cotangents() -> None:
    assert gs.grad(lambda x: sum([x, x], x))(1.3) == 3.0


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda A, b: np.sum(A @ b), (np.ones((2, 3)), np.ones(2))),
        (lambda a, b: np.sum(a - b), (np.ones(4), np.ones(2))),
        (lambda a: np.sum(a @ np.ones(3)), (np.ones(2),)),
    ],
)
def test_shapes_that_do_not_fit_are_no_gradient(function: Any, args: Any) -> None:
    with pytest.raises(errors.UnsupportedError, match=r"differ|do not broadcast"):
        gs.grad(function)(*args)


def added_to_integers(x):
    y = np.arange(3)
    y += x
    return np.sum(y)


async def asynchronous(x):
    return x


def test_what_python_refuses_or_defers_is_refused() -> None:
    with pytest.raises(errors.UnsupportedError, match="does not store a float64"):
        gs.grad(added_to_integers)(1.5)
    with pytest.raises(errors.UnsupportedError, match="`async` function"):
        gs.grad(asynchronous)(1.0)


def tuples_in_a_list(x, n):
    held = []
    for i in range(n):
        held.append((x * i, i))
    total = 0.0
    for v, i in held:
        total += np.sum(v) * i
    return total


def scaled_items(xs, w):
    total = 0.0
    for x in xs:
        total += x * w
    return total


def test_lists_of_tuples_and_empty_lists() -> None:
    np.testing.assert_allclose(gs.grad(tuples_in_a_list)(np.ones(2), 3), [5.0, 5.0])
    assert gs.value_and_grad(scaled_items, argnums=1)([], 2.0) == (0.0, 0.0)


def test_a_second_backward_through_numbers_raises() -> None:
    t = gs.tensor(2.0, requires_grad=True)
    y = gs.differentiable(lambda x: np.sin(x) * x)(t)
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


IDENTITY = np.eye(3)


def offset(x: Any, base: Any = IDENTITY, *, scale: Any = np.array(2.0)) -> Any:
    return x @ base * scale


def test_an_array_as_a_default_is_read_at_each_call() -> None:
    def f(x: Any) -> Any:
        return np.sum(offset(x) ** 2)

    gs.testing.check_grad(f, np.array([1.0, 2.0, 3.0]))


def test_an_element_read_twice_under_two_names() -> None:
    def f(x: Any) -> Any:
        a = x[0]
        b = x[0]
        return a * b

    gs.testing.check_grad(f, np.array([1.0, 2.0, 3.0]))


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
