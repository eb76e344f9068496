"""Arguments of runs as they are, of which other objects show the memory; and of other classes."""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

W = np.array([1.0, 2.0, 3.0])
BACKWARD = W[::-1]
TABLE = {"w": W}


class Model:
    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def first(self) -> Any:
        return self.weights[0]


MODEL = Model(W)
MODULE = types.ModuleType("settings_of_the_user")
MODULE.weights = W  # type: ignore[attr-defined]
FIRST = MODEL.first


def of_a_view(x, y):
    x[0] = 7.0
    return np.sum(y) * BACKWARD[2]


def of_a_dict(x, y):
    x[0] = 7.0
    return np.sum(y) * TABLE["w"][0]


def of_an_object(x, y):
    x[0] = 7.0
    return np.sum(y) * MODEL.weights[0]


def of_a_method(x, y):
    x[0] = 7.0
    return np.sum(y) * FIRST()


def of_a_module(x, y):
    x[0] = 7.0
    return np.sum(y) * MODULE.weights[0]  # type: ignore[attr-defined]


def of_an_inner_function(x, y):
    def first():
        return W[0]

    x[0] = 7.0
    return np.sum(y) * first()


def helper():
    return W[0]


def of_a_helper(x, y):
    x[0] = 7.0
    return np.sum(y) * helper()


_READING = (
    *(of_a_view, of_a_dict, of_an_object, of_a_method, of_a_module, of_an_inner_function),
    of_a_helper,
)
Y = np.array([2.0, 3.0, 4.0])


@pytest.fixture(autouse=True)
def _as_it_was():
    W[:] = 1.0, 2.0, 3.0


def as_it_is(function: Callable[..., Any], *args: Any, argnums: int = 1) -> Any:
    return gs.value_and_grad(function, argnums, compile=False)(*args)


@pytest.mark.parametrize("function", _READING, ids=lambda function: function.__name__)
def test_what_is_stored_and_read_by_another_name_is_refused(function: Callable[..., Any]) -> None:
    for x in (W, W[:2]):
        with pytest.raises(gs.errors.AliasingError, match="by another name"):
            as_it_is(function, x, Y.copy())


@pytest.mark.parametrize("function", _READING, ids=lambda function: function.__name__)
def test_arrays_of_their_own_are_stored_to(function: Callable[..., Any]) -> None:
    value, gradient = as_it_is(function, np.ones(3), Y.copy())
    expected = function(np.ones(3), Y)
    assert value == expected
    np.testing.assert_allclose(gradient, expected / np.sum(Y))


def test_an_object_among_the_arguments_is_looked_into() -> None:
    def of_an_argument(model, x, y):
        x[0] = 7.0
        return np.sum(y) * model.weights[0]

    with pytest.raises(gs.errors.AliasingError, match="Model"):
        as_it_is(of_an_argument, MODEL, W, Y.copy(), argnums=2)
    assert as_it_is(of_an_argument, MODEL, W.copy(), Y.copy(), argnums=2)[0] == np.sum(Y)


def test_a_differentiated_argument_is_no_exception() -> None:
    def of_itself(x):
        x[0] = 7.0
        return np.sum(x) * W[0]

    with pytest.raises(gs.errors.AliasingError, match="by another name"):
        as_it_is(of_itself, W, argnums=0)
    with pytest.raises(gs.errors.AliasingError, match="by another name"):
        gs.jvp(of_itself, (W,), (np.ones(3),), compile=False)
    assert as_it_is(of_itself, W.copy(), argnums=0)[0] == 12.0


def test_an_argument_that_is_not_differentiated_is_not_stored_to_outside() -> None:
    def outside(x, y):
        W[0] = 7.0
        return np.sum(y) * x[0]

    with pytest.raises(gs.errors.AliasingError, match="outside of the function's arguments"):
        as_it_is(outside, W, Y.copy())


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize(
    "given",
    [
        np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
        np.matrix([[1.0, 2.0], [3.0, 4.0]]),
        np.rec.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_arrays_of_other_classes_stay_what_they_are(given: Any) -> None:
    def scaled(x, m):
        doubled = m.a[0] if isinstance(m, np.recarray) else float((m * m).sum())
        return np.sum(x) * doubled

    def mixed(x, m):
        return np.sum(x * m)

    def stored(x, m):
        m[0] = m[0]
        return np.sum(x) * len(m)

    assert as_it_is(scaled, Y, given, argnums=0)[0] == scaled(Y, given)
    assert as_it_is(stored, Y, given, argnums=0)[0] == stored(Y, given)
    if not isinstance(given, np.recarray):  # which are not multiplied
        with pytest.raises(gs.errors.UnsupportedError, match="operators need not mean"):
            as_it_is(mixed, Y[: len(given)], given, argnums=0)


@dataclasses.dataclass
class State:
    rate: float
    steps: list[float]


NUMBERS = [1.0, 2.0]
OPTIONS = {"rate": 1.0}
STATE = State(1.0, [1.0])


def of_a_list(numbers, y):
    numbers[0] = 7.0
    return np.sum(y) * NUMBERS[0]


def of_a_longer_list(numbers, y):
    numbers.append(7.0)
    return np.sum(y) * len(NUMBERS)


def of_options(options, y):
    options["rate"] = 7.0
    return np.sum(y) * OPTIONS["rate"]


def of_a_field(state, y):
    state.rate = 7.0
    return np.sum(y) * STATE.rate


def of_a_list_in_a_field(state, y):
    state.steps[0] = 7.0
    return np.sum(y) * STATE.steps[0]


def stored_in_a_list(numbers, y):
    NUMBERS[0] = 7.0
    return np.sum(y) * numbers[0]


def stored_in_options(options, y):
    OPTIONS["rate"] = 7.0
    return np.sum(y) * options["rate"]


def stored_in_a_field(state, y):
    STATE.rate = 7.0
    return np.sum(y) * state.rate


_CONTAINERS: dict[Callable[..., Any], Any] = {
    **{of_a_list: NUMBERS, of_a_longer_list: NUMBERS, of_options: OPTIONS, of_a_field: STATE},
    **{of_a_list_in_a_field: STATE, stored_in_a_list: NUMBERS, stored_in_options: OPTIONS},
    **{stored_in_a_field: STATE},
}


@pytest.fixture(autouse=True)
def _containers_as_they_were():
    yield
    NUMBERS[:] = 1.0, 2.0
    OPTIONS["rate"] = STATE.rate = STATE.steps[0] = 1.0


@pytest.mark.parametrize("function", _CONTAINERS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
def test_containers_that_are_read_by_another_name(function: Any, options: Any) -> None:
    with pytest.raises(gs.errors.AliasingError):
        gs.value_and_grad(function, 1, **options)(_CONTAINERS[function], Y.copy())


@pytest.mark.parametrize("function", _CONTAINERS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
def test_containers_of_their_own_are_stored_to(function: Any, options: Any) -> None:
    own = copy.deepcopy(_CONTAINERS[function])
    expected = function(copy.deepcopy(own), Y)
    assert gs.value_and_grad(function, 1, **options)(own, Y.copy())[0] == expected


def test_a_list_that_is_given_twice_is_not_stored_to() -> None:
    def twice(first, second, y):
        first[0] = 7.0
        return np.sum(y) * second[0]

    with pytest.raises(gs.errors.AliasingError):
        as_it_is(twice, NUMBERS, NUMBERS, Y.copy(), argnums=2)
    assert as_it_is(twice, NUMBERS, [2.0], Y.copy(), argnums=2)[0] == 2 * np.sum(Y)


def is_the_list(numbers, y):
    return np.sum(y) * (numbers is NUMBERS)


def is_the_state(state, y):
    return np.sum(y) * (state is STATE)


def is_the_array(x, y):
    return np.sum(y) * (x is W)


@pytest.mark.parametrize(
    ("function", "given"),
    [(is_the_list, NUMBERS), (is_the_state, STATE), (is_the_array, W)],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_which_object_an_argument_is(function: Any, given: Any) -> None:
    other = copy.deepcopy(given)
    for options in ({}, {"compile": "auto"}, {"compile": False}):
        gradient = gs.value_and_grad(function, 1, **options)
        assert gradient(other, Y.copy())[0] == 0.0
        try:
            assert gradient(given, Y.copy())[0] == np.sum(Y)
        except gs.errors.AliasingError:
            assert options or function is is_the_state


def is_nothing(x, y):
    return np.sum(y) if W is not None and x is not None else y[0]


def test_what_is_compared_with_none_is_not_refused() -> None:
    assert as_it_is(is_nothing, W, Y.copy())[0] == np.sum(Y)


def into_a_buffer(x, buffer=None, steps=None):
    buffer[0] = 5.0
    steps.append(1.0)
    return np.sum(x) * buffer[0] * len(steps)


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
def test_keywords_of_the_caller_are_not_changed(options: Any) -> None:
    buffer, steps = np.zeros(2), [1.0]
    gradient = gs.value_and_grad(into_a_buffer, **options)
    for _ in range(2):
        assert gradient(Y.copy(), buffer=buffer, steps=steps)[0] == 10.0 * np.sum(Y)
    assert (buffer.tolist(), steps) == ([0.0, 0.0], [1.0])


def test_a_keyword_that_is_read_by_another_name_is_not_stored_to() -> None:
    def stored(y, x=None):
        x[0] = 7.0
        return np.sum(y) * W[0]

    def twice(y, first=None, second=None):
        first[0] = 7.0
        return np.sum(y) * second[0]

    with pytest.raises(gs.errors.AliasingError):
        gs.grad(stored, compile=False)(Y.copy(), x=W)
    value = gs.value_and_grad(twice, compile=False)(Y.copy(), first=W, second=W[:2])[0]
    assert value == 7.0 * np.sum(Y)


def test_what_an_array_of_objects_holds_is_copied_with_it() -> None:
    def stored(x, held):
        held[0][0] = 5.0
        held[1] = 3.0
        held[2]["k"] = 7.0
        return np.sum(held[0] * x) * held[1]

    held = np.array([np.zeros(2), 1.0, {"k": 1.0}], dtype=object)
    value, gradient = gs.value_and_grad(stored, compile=False)(np.ones(2), held)
    assert (value, gradient.tolist()) == (15.0, [15.0, 0.0])
    assert (held[0].tolist(), held[1], held[2]) == ([0.0, 0.0], 1.0, {"k": 1.0})
