"""One object at two places is one for code that tells objects apart: pickles, `is`."""

from __future__ import annotations

import operator
import pickle
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.5, 1.0, 2.0])


def length_of_a_pickle(x):
    inner = [1.0]
    return len(pickle.dumps([inner, inner])) * np.sum(x)


def list_from_a_pickle(x):
    inner = [1.0]
    found = pickle.loads(pickle.dumps({"a": inner, "b": [inner]}))
    found["a"].append(2.0)
    return len(found["b"][0]) * np.sum(x)


def array_from_a_pickle(x):
    inner = np.ones(3)
    return len(pickle.dumps({"a": inner, "b": inner, "c": (inner,)})) * np.sum(x)


def list_of_arrays_in_a_pickle(x):
    inner = np.arange(3.0)
    return len(pickle.dumps([inner, inner])) * np.sum(x)


def list_given_to_a_pickle(x):
    inner = np.ones(3)
    items = [inner]
    size = len(pickle.dumps(items))
    items[0][0] = 4.0
    return (size + float(items[0] is inner)) * np.sum(x * inner)


def operator_of_lists(x):
    a, b = [1.0, 2.0], [1.0, 2.0]
    same, other = operator.is_(a, a), operator.is_(a, b)
    return (4.0 * same + 2.0 * other + operator.is_not(a, b)) * np.sum(x)


def operator_of_arrays(x):
    a, b = x * 2.0, x * 2.0
    return (4.0 * operator.is_(a, a) + operator.is_not(a, b)) * np.sum(a * b)


def operator_that_maps(x):
    row = [1.0]
    return sum(map(operator.is_, [row, [1.0]], [row, row])) * np.sum(x)


PROGRAMS = (
    *(length_of_a_pickle, list_from_a_pickle, array_from_a_pickle, list_of_arrays_in_a_pickle),
    *(list_given_to_a_pickle, operator_of_lists, operator_of_arrays, operator_that_maps),
)


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_an_object_is_one_wherever_it_stands(program: Any, options: dict[str, Any]) -> None:
    value, gradient = gs.value_and_grad(program, **options)(X)
    assert value == program(X)
    step = 1e-6 * np.eye(3)
    differences = [(program(X + d) - program(X - d)) / 2e-6 for d in step]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6)


ONE, ROWS, TABLE = np.zeros(3), [1.0, 2.0], {"a": 1.0}
SAME, SAME_ROWS, SAME_TABLE, OTHER = ONE, ROWS, TABLE, np.zeros(3)
HELD = {"array": ONE, "rows": ROWS, "other": OTHER}


def one_array_under_two_names(x, y):
    return x[0] if ONE is SAME else x[1]


def one_list_under_two_names(x, y):
    return x[0] if ROWS is SAME_ROWS else x[1]


def one_dict_under_two_names(x, y):
    return x[0] if TABLE is not SAME_TABLE else x[1]


def two_arrays(x, y):
    return x[0] if ONE is OTHER else x[1]


def an_array_in_a_dict(x, y):
    return x[0] if HELD["array"] is ONE and HELD["other"] is not ONE else x[1]


def a_list_in_a_dict(x, y):
    return sum([x[i] for i, rows in enumerate([HELD["rows"]]) if rows is ROWS])


def a_loop_left_for_it(x, y):
    product = 1.0
    for i in range(3):
        if ONE is SAME:
            break
        product = product * x[i]
    return product + x[1]


def one_argument_twice(x, y):
    return x[0] if x is y else x[1]


@pytest.mark.parametrize(
    "function",
    [
        one_array_under_two_names,
        one_list_under_two_names,
        one_dict_under_two_names,
        two_arrays,
        an_array_in_a_dict,
        a_list_in_a_dict,
        a_loop_left_for_it,
        one_argument_twice,
    ],
)
@pytest.mark.parametrize("other", [X, X + 1.0])
def test_what_is_given_twice_is_one_object(function, other):
    expected = function(X, other)
    assert gs.value_and_grad(function)(X, other)[0] == expected
    assert gs.jvp(function, (X, other), (X, X))[0] == expected
    x = gs.tensor(X, requires_grad=True)
    y = x if other is X else gs.tensor(other, requires_grad=True)
    assert gs.differentiable(function)(x, y).item() == expected


def test_which_objects_are_one_is_asked_at_each_call(monkeypatch):
    value = gs.value_and_grad(one_array_under_two_names)
    assert value(X, X)[0] == X[0]
    monkeypatch.setitem(globals(), "SAME", OTHER)
    assert value(X, X)[0] == X[1]


class Unequal:
    """Equal to nothing, not even to itself."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


class Compared:
    """Notes that it is compared."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, other: Any) -> bool:
        COMPARISONS.append(self.value)
        return bool(self.value == other.value)

    __hash__ = None


COMPARISONS: list[float] = []
ONE_OBJECT, ANOTHER, FIRST, SECOND = Unequal(), Unequal(), Compared(1.0), Compared(1.0)
OBJECTS, ARRAY = [ANOTHER, ONE_OBJECT], np.ones(3)


def removed(item, items):
    items.remove(item)
    return len(items)


def of_two(x):
    first, second = Unequal(), Unequal()
    return [first, second].index(first if x[0] > 0 else second)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [ONE_OBJECT].count(ONE_OBJECT) + 10 * (ONE_OBJECT in [ONE_OBJECT]),
        lambda x: OBJECTS.index(ONE_OBJECT) + 10 * OBJECTS.count(ONE_OBJECT),
        lambda x: (ONE_OBJECT in (ANOTHER, ONE_OBJECT)) + (ONE_OBJECT in OBJECTS),
        lambda x: removed(ONE_OBJECT, [ANOTHER, ONE_OBJECT]),
        lambda x: ([ONE_OBJECT] == [ONE_OBJECT]) + 10 * ((ONE_OBJECT,) != (ONE_OBJECT,)),
        lambda x: ARRAY in [ARRAY],
        lambda x: ONE_OBJECT in {"a": ONE_OBJECT}.values(),
        lambda x: ONE_OBJECT in (item for item in [ANOTHER, ONE_OBJECT]),
        lambda x: [FIRST, SECOND].index(SECOND) + 10 * [FIRST, SECOND].count(SECOND),
        lambda x: [SECOND, FIRST].count(FIRST) + 10 * (FIRST in [FIRST]),
        lambda x: (ONE_OBJECT == ONE_OBJECT) + 2.0,
        lambda x: SECOND in [Compared(2.0), FIRST, Compared(3.0)],
        lambda x: Compared(x[1]) in (Compared(x[0]), Compared(x[1]), Compared(x[2])),
        lambda x: ([Compared(x[0]), FIRST] == [Compared(x[1]), SECOND]) + 1.0,
        of_two,
    ],
)
def test_containers_ask_for_identity_before_equality(function):
    COMPARISONS.clear()
    expected, count = function(X) * np.sum(X), len(COMPARISONS)
    for _ in range(2):
        COMPARISONS.clear()
        try:
            found = gs.value_and_grad(lambda x: function(x) * np.sum(x))(X)[0]
        except gs.errors.AliasingError:
            assert function is of_two
            continue
        assert (found, len(COMPARISONS)) == (expected, count)


def flags_among_integers(x):
    items, total = [True, 2, 0, False], 0.0
    for i in range(4):
        total += (x[0] if items[i] is True else 3.0) + (x[1] if items[i] is not False else 5.0)
    return total


def item_of_a_tuple(x):
    return x[0] if (True, 2)[int(x[1] > 3)] is True else 3 * x[0]


@pytest.mark.parametrize("function", [flags_among_integers, item_of_a_tuple])
def test_a_number_is_a_flag_where_it_is_a_bool(function):
    value, gradient = gs.value_and_grad(function)(X)
    recorded = gs.value_and_grad(function, compile=False)(X)
    assert value == recorded[0] == function(X)
    np.testing.assert_array_equal(gradient, recorded[1])
