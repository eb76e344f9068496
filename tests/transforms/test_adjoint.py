"""Gradients by the adjoint agree with central differences, whatever the program is made of."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import frontend
from gradscribe.frontend.inlined_rules import inline
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Primitive
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF
from gradscribe.ir.types import FLOAT, Array, Sequence
from gradscribe.ir.verifier import verify
from gradscribe.transforms.adjoint import differentiate
from gradscribe.transforms.passes.simplify import simplify
from tests.handmade import Hand, vector
from tests.interpreter import run
from tests.transforms.adjoint_harness import (
    assert_matches_differences,
    check_gradient,
    joined_of,
    split,
)

RNG = np.random.default_rng(1)
VECTOR = RNG.normal(size=5)
MATRIX = RNG.normal(size=(4, 5))


# -- straight-line code ----------------------------------------------------------------------


def test_broadcast_operands_get_sums():
    def f(x, A, s):
        return np.sum((A * x + s) * (s - A) + x)

    check_gradient(f, VECTOR, MATRIX, 0.7, argnums=(0, 1, 2))


def test_axes_of_length_one_are_summed():
    def f(column, A):
        return np.sum(np.sin(column * A) * column)

    check_gradient(f, MATRIX[:, :1].copy(), MATRIX, argnums=(0, 1))


def test_float32_gradients_are_float32():
    def f(x, A):
        return np.sum(np.tanh(A @ x) * 2.5)

    x, A = VECTOR.astype(np.float32), MATRIX.astype(np.float32)
    _, _, gradient = check_gradient(f, x, A, argnums=(0, 1), rtol=0.3)
    assert [leaf.type.dtype for leaf in gradient.body.yields] == ["float32", "float32"]


def test_nested_containers_keep_their_structure():
    def f(parameters):
        (a, b), rest = parameters["first"], parameters["second"]
        return np.sum(a * b) * rest[0]

    check_gradient(f, {"first": (VECTOR, VECTOR + 1), "second": [2.0, 3]})


def test_an_unused_argument_gets_zeros():
    def f(x, A):
        return np.sum(x)

    check_gradient(f, VECTOR, MATRIX, argnums=(0, 1))


def test_an_operand_used_twice():
    def f(x):
        y = x * x
        return np.sum(y * y * x)

    check_gradient(f, VECTOR)


def test_reading_an_element_twice():
    def f(x):
        return x[0] * x[1] + x[0] * np.sum(x[1:]) + np.sum(x[::2])

    check_gradient(f, VECTOR)


def test_a_constant_operation_cuts():
    def f(x):
        return np.sum(x * (x > 0)) + np.argmax(x) * 2.0

    check_gradient(f, VECTOR)


def test_reshapes_and_transposes():
    def f(A):
        B = A.T.reshape(2, 10)
        return np.sum(B[0] * np.ravel(A)[:10]) + np.sum(np.concatenate([A, A * A], axis=0)[2:6])

    check_gradient(f, MATRIX)


# -- branches ----------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [0.5, -0.5])
def test_branches_that_read_different_values(s):
    def f(x, s):
        y = x * x
        if s > 0:
            z = y * s + x
        else:
            t = np.exp(-x)
            z = t * t - y
        return np.sum(z * y)

    check_gradient(f, VECTOR, s, argnums=(0, 1))


@pytest.mark.parametrize("s", [0.5, -0.5])
def test_one_side_only(s):
    def f(x, s):
        y = np.sin(x)
        if s > 0:
            y = y * y * s
        return np.sum(y)

    check_gradient(f, VECTOR, s, argnums=(0, 1))


@pytest.mark.parametrize("s", [0.5, -0.5, 3.0])
def test_early_returns(s):
    def f(x, s):
        if s < 0:
            return np.sum(x * s)
        y = x * x
        if s > 2:
            return np.sum(y)
        return np.sum(y * y) * s

    check_gradient(f, VECTOR, s, argnums=(0, 1))


def test_a_side_that_raises():
    def f(x, s):
        if s < 0:
            raise ValueError("negative")
        else:
            y = x * s
        return np.sum(y * y)

    check_gradient(f, VECTOR, 0.5, argnums=(0, 1))


@pytest.mark.parametrize("s", [0.5, -0.5, 3.0])
def test_nested_branches(s):
    def f(s):
        y = s * s
        if s > 0:
            z = y * s
            if s > 1:
                z = z * z + y
            else:
                y = np.sin(z)
        else:
            z = np.cos(y)
        return y * z

    check_gradient(f, s)


# -- loops ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_range(n):
    def f(x, n):
        y = 1.0
        for i in range(n):
            y = np.sin(y * x) + x * i
        return y

    check_gradient(f, 0.3, n)


def test_a_range_with_steps():
    def f(x):
        total = 0.0
        for i in range(4, -1, -2):
            total = total * x[i] + x[i] ** 2
        return total

    check_gradient(f, VECTOR)


@pytest.mark.parametrize("n", [0, 3])
def test_the_value_of_the_last_iteration(n):
    def f(x, n):
        y = x * 2
        z = x
        for i in range(n):
            y = z * z
            z = np.sin(z)
        return y + z

    check_gradient(f, 0.3, n)


def test_permuted_carried_values():
    def f(a, b):
        for i in range(5):
            a, b = b, a * b + i
        return a * b

    check_gradient(f, 0.6, 0.7, argnums=(0, 1))


def test_rows_of_a_matrix():
    def f(A, x):
        total = 0.0
        for row in A:
            total = total + np.sum(row * x) * total + row[0] ** 2
        return total

    check_gradient(f, MATRIX, VECTOR, argnums=(0, 1))


def test_an_array_backwards():
    def f(x):
        y = 0.5
        for xi in reversed(x):
            y = np.tanh(y * xi + xi)
        return y

    check_gradient(f, VECTOR)


def test_several_iterables_at_once():
    def f(x, A):
        y = 0.1
        for i, (a, row) in enumerate(zip(x, A)):
            y = y * a + np.sum(row * y) + i * a
        return y

    check_gradient(f, VECTOR, MATRIX, argnums=(0, 1))


def test_an_item_read_in_one_branch_and_outside():
    def f(x):
        y = 1.0
        for xi in x:
            if xi > 0:
                y = y * xi
            else:
                y = y - xi * 0.1
            if y > 1:
                y = y * xi
        return y * x[0]

    check_gradient(f, VECTOR)


def test_nested_loops():
    def f(A):
        total = 0.0
        for row in A:
            inner = 1.0
            for a in row:
                inner = inner * np.cos(a) + a * total
            total = total + inner * inner
        return total

    check_gradient(f, MATRIX)


def test_an_outer_value_in_nested_loops():
    def f(x, A):
        total = np.sum(x)
        for i in range(3):
            y = total * x
            for j in range(i):
                total = total + np.sum(np.sin(y * A[i])) * x[j]
        return total

    check_gradient(f, VECTOR, MATRIX, argnums=(0, 1))


@pytest.mark.parametrize("limit", [0.2, 1.0, 100.0])
def test_break(limit):
    def f(x, limit):
        total = 1.0
        for xi in x:
            total = total * (1 + xi * xi)
            if total > limit:
                break
            total = total + xi
        return total * x[0]

    check_gradient(f, VECTOR, limit)


@pytest.mark.parametrize("limit", [0.2, 1.0, 100.0])
def test_break_in_a_reversed_loop(limit):
    def f(x, limit):
        total = 1.0
        for xi in reversed(x):
            total = total * (1 + xi * xi)
            if total > limit:
                break
        return total

    check_gradient(f, VECTOR, limit)


def test_continue():
    def f(x):
        total = 1.0
        for xi in x:
            if xi < 0:
                continue
            total = total * xi
        return total

    check_gradient(f, VECTOR)


@pytest.mark.parametrize("limit", [0.1, 1.5, 100.0])
def test_return_from_a_loop(limit):
    def f(x, limit):
        total = 0.5
        for i in range(5):
            total = total + x[i] ** 2 * total
            if total > limit:
                return total * x[0]
        return total

    check_gradient(f, VECTOR, limit)


def test_while():
    def f(x, limit):
        n = 0
        while x < limit:
            x = x * x + 0.5
            n += 1
        return x * n

    check_gradient(f, 1.1, 100.0)


def test_while_over_indices():
    def f(x):
        i = 0
        total = 1.0
        while i < len(x):
            total = total * np.sin(x[i]) + x[i]
            i += 2
        return total

    check_gradient(f, VECTOR)


def test_linear_loops_record_nothing():
    def f(x, n):
        for i in range(n):
            x = 2 * x + i
        return x

    forward, _, _ = check_gradient(f, 0.3, 4)
    assert not any("collected" in repr(leaf.type) for leaf in forward.body.yields)


# -- lists ---------------------------------------------------------------------------------------


def test_a_list_argument_of_arrays():
    def f(W, xs):
        h = np.zeros(4)
        for x in xs:
            h = np.tanh(W @ x + h)
        return np.sum(h * h)

    check_gradient(f, MATRIX, [VECTOR, VECTOR + 1, VECTOR - 1], argnums=(0, 1))


def test_a_list_that_grows():
    def f(x):
        values = []
        for xi in x:
            values.append(np.sin(xi))
        total = 0.0
        for v in values:
            total = total + v * v
        return total + values[-1] * values[0]

    check_gradient(f, VECTOR)


def test_a_list_whose_items_are_replaced():
    def f(x):
        values = [0.0, 0.0, 0.0]
        for i in range(3):
            values[i] = x[i] ** 2
        values[1] = values[0] * values[2]
        total = 0.0
        for v in values:
            total = total * 2 + v
        return total

    check_gradient(f, VECTOR)


def test_sequences_as_arguments_get_lists_of_gradients():
    def f(xs, s):
        total = s
        for x in xs:
            total = total * np.sum(x * x)
            if total > 2:
                total = total * x[0]
        return total + xs[1][2]

    hand = lowered_for_sequences(f)
    primal = simplify(hand)
    joined = differentiate(primal, [0, 1], inline)
    verify(joined.function)
    forward, adjoint, gradient = split(joined)
    xs = [VECTOR, VECTOR + 1, VECTOR - 1]
    _, record = run(forward, xs, 0.3)
    found = {"adjoint": run(adjoint, record, 1.0), "gradient": run(gradient, xs, 0.3, 1.0)}
    assert_matches_differences(f, (xs, 0.3), (0, 1), found, 1e-6)


def lowered_for_sequences(function):
    length = Affine.of(Symbol("n", 2))
    arguments = [
        frontend.Argument("xs", LEAF, (Sequence(Array("float64", (length,))),)),
        frontend.Argument("s", LEAF, (FLOAT,)),
    ]
    return frontend.lower(function, arguments, Facts(), lambda *_: None).function


def test_a_pole_behind_a_mask_gives_zero():
    def f(x):
        return np.sum(np.where(x > 0.5, np.sqrt(x - 0.5), x))

    joined = joined_of(f, VECTOR)
    with np.errstate(all="ignore"):
        _, gradient = run(joined.function, np.array([0.5, 1.5, 0.0, 0.5, -1.0]), 1.0)
    np.testing.assert_array_equal(gradient, [1.0, 0.5, 1.0, 1.0, 1.0])


# -- errors --------------------------------------------------------------------------------------


def test_an_operation_without_rule_is_not_taken_for_constant():
    unknown = Primitive("mystery", lambda facts, callee, x: x, None)
    hand = Hand()
    x = hand.parameter("x", vector(3))
    y = hand.builder.call(unknown, {"x": x})
    with pytest.raises(AssertionError, match="`mystery` has no adjoint"):
        differentiate(hand.function("f", y), [0], inline)


def test_math_functions_of_numbers():
    def f(x):
        return math.exp(math.sin(x)) * math.sqrt(x) + math.log(x)

    check_gradient(f, 1.3)


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda x: x + x, 2.0),
        (lambda x: x - x, 0.0),
        (lambda x: x * x, 1.4),
        (lambda x: x / x, 0.0),
        (lambda x: np.maximum(x, x), 1.0),
        (lambda x: np.hypot(x, x), np.sqrt(2)),
        (lambda x: np.where(x > 0, x, x), 1.0),
        (lambda x: np.stack([x, x]), 2.0),
    ],
)
def test_an_operand_that_stands_twice_has_both_derivatives(function, slope):
    gradient = gs.grad(lambda x: np.sum(function(x)))
    np.testing.assert_allclose(gradient(np.array([0.7, 0.7])), [slope, slope], atol=1e-15)


def test_all_parts_of_an_element_that_is_taken_several_times_are_added():
    x, index = np.array([0.5, -1.2, 2.0]), np.array([0, 2, 0, 0])
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    taken = gs.grad(lambda x, index: np.sum(x[index] * weights))
    assert taken(x, index).tolist() == [8, 0, 2]
    squares = gs.grad(lambda x, index: np.sum(x[index] ** 2) + x[0])
    np.testing.assert_allclose(squares(x, index), [4, 0, 4])
