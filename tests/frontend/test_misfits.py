"""Calls, operators and stores that Python refuses: refused where they stand, as what it raises."""

from __future__ import annotations

import time
import traceback

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.border.verdicts import function_of

X = np.array([1.0, 2.0, 3.0])


def range_of_nothing(x):
    return sum(x[i] for i in range())


def range_of_a_module(x):
    return sum(x[i] for i in range(0, 3, np))


def range_without_end(x):
    return sum(x[i] for i in range(0, 3, 0))


def range_by(x, n):
    return sum(x[0] * i for i in range(n))


def length_of_nothing(x):
    return x[0] * len()


def length_with_an_option(x):
    return x[0] * len(x, 1)


def insertion_without_a_place(x):
    items = [x[0]]
    items.insert(x[1])
    return items[0]


def attribute_without_a_name(x):
    return x[0] * getattr(x)


def repeated_by_a_fraction(x):
    return 0.5 * [x[0], x[1]]


def diagonal_of_a_cube(x):
    return np.sum(np.diag(np.ones((2, 2, 2)) * x[0]))


def deep_sequence_stored(x):
    rows = np.zeros((3, 3))
    rows[:, 1] = (x,)
    return np.sum(rows)


def transposed_integer(x, n):
    return sum(x[0] / (4**j + 1).T for j in range(n))


def more_functions_than_pieces(x):
    return np.sum(np.piecewise(x, [x < 1.5], [lambda v: v, lambda v: 2 * v, lambda v: 3 * v]))


def more_choices_than_conditions(x):
    return np.sum(np.select([x < 1.5], [x, 2 * x]))


def read_before_the_inner_loop_binds_it(x):
    total = 0.0
    for _ in range(2):
        for j in range(3):
            if last is None:  # noqa: F821
                continue
            last = x[j]
            total += last
    return total


def range_as_a_number(x):
    return x[0] * abs(range(3))


def option_of_another_function(x):
    return abs(x[0], out=None)


def option_of_no_method(x):
    return np.sum(x[::2].copy(out=None))


def more_operands_than_there_are(x):
    return np.sum(np.exp(x, x, x))


def number_in_a_number(x):
    return x[0] if 1 in 2 else x[1]


def dict_of_a_text(x):
    table = {"a": x[0]}
    table.update("missing")
    return table["a"]


def matrix_product_in_place(x):
    y = x * 2.0
    y @= x
    return y


def logarithms_as_integers(x):
    return np.sum(np.log(x, dtype=int))


def class_as_a_start(x):
    return sum(i * v for i, v in enumerate(x, start=complex))


def place_between_items(x):
    items = [x[0], x[1]]
    return items.pop(0.0)


def too_large_to_be_called(x, n):
    return n(x)


def list_as_a_key(x):
    table = {}
    for i in range(2):
        table[i, 0] = x[i]
    return table[[0, 0]]


def array_as_a_key(x):
    table = {"a": x[0]}
    table[x] = x[1]
    return table["a"]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (range_of_nothing, (X,)),
        (range_of_a_module, (X,)),
        (range_without_end, (X,)),
        (range_by, (X, 3.0)),
        (range_by, (X, X)),
        (range_by, (X, ())),
        (range_by, (X, [3])),
        (range_by, (X, None)),
        (length_of_nothing, (X,)),
        (length_with_an_option, (X,)),
        (insertion_without_a_place, (X,)),
        (attribute_without_a_name, (X,)),
        (repeated_by_a_fraction, (X,)),
        (diagonal_of_a_cube, (X,)),
        (deep_sequence_stored, (X,)),
        (transposed_integer, (X, 3)),
        (option_of_another_function, (X,)),
        (more_operands_than_there_are, (X,)),
        (number_in_a_number, (X,)),
        (dict_of_a_text, (X,)),
        (matrix_product_in_place, (X,)),
        (logarithms_as_integers, (X,)),
        (place_between_items, (X,)),
        (too_large_to_be_called, (X, 10**30)),
        (list_as_a_key, (X,)),
        (array_as_a_key, (X,)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_python_refuses_is_refused_as_its_exception(function, args):
    with pytest.raises(Exception) as plain:
        function(*args)
    line = traceback.extract_tb(plain.value.__traceback__)[1].lineno
    with pytest.raises(UnsupportedError) as refused:
        gs.value_and_grad(function)(*args)
    assert isinstance(refused.value, plain.type)
    assert refused.value.location.line == line


@pytest.mark.parametrize(
    "function",
    [
        range_as_a_number,
        option_of_no_method,
        class_as_a_start,
        more_functions_than_pieces,
        more_choices_than_conditions,
        read_before_the_inner_loop_binds_it,
    ],
)
def test_what_python_refuses_later_is_refused(function):
    with pytest.raises((TypeError, ValueError, UnboundLocalError)):
        function(X)
    with pytest.raises(UnsupportedError):
        gs.value_and_grad(function)(X)


def copied_by_a_truth(x):
    y = np.array(x, copy=1)
    y[0] = 2.0 * y[1]
    return np.sum(y * x)


def range_to_an_array_without_axes(x):
    return sum(x[i] * i for i in range(1, np.squeeze(len(x))))


def variable_called_as_nothing(x):
    n, _ = np.outer(x, x[1:]).shape
    for _k in range(n):
        if n > 2:
            return _ * x[0]
        x = x * 2.0
    return np.sum(x)


def columns_of_no_rows(x):
    rows = [x for _ in range(0)]
    return x[0] + sum([sum(column) for column in zip(*rows)])


def checked_twice(x):
    at = float(x[1])
    for _ in range(3):
        rest = at**3 - x[0] * at
        if abs(rest) < 1e-10:
            return at
        if abs(rest) < 1e-10:
            return at
        at = at - 0.1 * rest
    return 2.0 * at


@pytest.mark.parametrize(
    "function",
    [
        copied_by_a_truth,
        range_to_an_array_without_axes,
        variable_called_as_nothing,
        columns_of_no_rows,
        checked_twice,
    ],
)
def test_what_python_takes_is_taken(function):
    found, _ = gs.value_and_grad(function)(X.copy())
    assert found == function(X.copy())
    gs.testing.check_grad(function, X)


def test_a_real_item_among_complex_ones_has_a_real_cotangent():
    def scaled(a):
        items = [0.0] * 2
        for j in range(2):
            items[j] = abs(a[j]) if j == 0 else a[j] / items[0]
        return items

    gs.testing.check_grad(scaled, np.array([2 + 1j, 3 - 1j]), order=1)


def test_an_object_without_tangent_is_given_in_forward_mode():
    def drawn(rng, x):
        return x * 2.0

    assert gs.jvp(drawn, (np.random.default_rng(0), 1.5), (None, 1.0)) == (3.0, 2.0)


def test_whole_numbers_of_any_size_are_written():
    def scaled(x):
        return np.sum(x) * float(10**30)

    assert gs.grad(scaled)(X).tolist() == [1e30] * 3
    with pytest.raises(OverflowError):
        gs.grad(lambda x: np.sum(x) * 10**400)(X)


def test_hundreds_of_versions_of_a_name_are_named_in_time():
    lines = "".join(f"    y = np.sin(y) + {i}.0\n" for i in range(400))
    program = function_of(f"import numpy as np\ndef program(y):\n{lines}    return y\n")
    start = time.process_time()
    gs.vjp(program, 0.5)
    assert time.process_time() - start < 5


def test_a_tangent_without_axes_stays_what_it_is():
    def advanced(x, steps):
        for _ in range(steps):
            x = x - 0.1 * np.sin(x)
        return x

    direction = np.array(1.0)
    gs.jvp(advanced, (np.array(0.8), 3), (direction, None))
    assert direction == 1.0


def test_a_derivative_in_a_try_raises_nothing_of_its_own():
    def quotients(x, y):
        total = 0.0
        for divisor in (1.0, 0.0, 2.0):
            try:
                total += x / divisor
            except ZeroDivisionError:
                total += y
        return total

    with np.errstate(divide="ignore"):
        assert gs.jvp(quotients, (np.float64(0.5), 0.3), (1.0, 0.0)) == (np.inf, np.inf)
    assert gs.jvp(quotients, (0.5, 0.3), (1.0, 0.0)) == (quotients(0.5, 0.3), 1.5)


def test_a_path_that_reads_what_nothing_makes_is_not_left_out():
    def rest(values):
        found = []
        for value in values[1:]:
            if value is not None:
                raise ValueError("early")
            found.append(value)
        return found

    def product(values):
        if len(values) == 1:
            return values[0]
        total = values[0]
        for _ in values:
            total = total * product(rest(values))
        return total * values[1]

    assert gs.grad(product)([2.0]) == [1.0]
    with pytest.raises((ValueError, gs.errors.UnsupportedError)):
        gs.value_and_grad(product)([2.0, 3.0, 4.0])


def test_what_python_raises_for_lengths_is_not_said_of_types():
    """`np.polyfit` raises a TypeError for lengths that differ; others are no mistake."""

    def slope(y):
        return np.polyfit([0.0, 1.0, 2.0], y, 1)[0]

    y = np.array([0.5, 1.2, 0.7])
    np.testing.assert_allclose(gs.grad(slope)(y), [-0.5, 0.0, 0.5], atol=1e-12)
    with pytest.raises(gs.errors.UnsupportedError):
        gs.grad(slope)(np.ones(2))
