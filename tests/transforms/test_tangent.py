"""Forward mode against central differences, and the form of what it makes."""

from __future__ import annotations

import copy
import math
import operator
from random import Random
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gradscribe as gs
from gradscribe import primitives  # noqa: F401
from gradscribe.frontend.inlined_rules import inline
from gradscribe.ir.core import Function, Primitive, walk
from gradscribe.ir.printer import print_function
from gradscribe.ir.trees import LEAF, Constant, Node
from gradscribe.ir.types import FLOAT
from gradscribe.ir.verifier import verify
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.typing import elementwise_type
from gradscribe.transforms.passes.simplify import simplify
from gradscribe.transforms.tangent import differentiate
from tests.handmade import Hand, vector
from tests.interpreter import run
from tests.transforms import random_programs
from tests.transforms.adjoint_harness import active_leaves, joined_of, lowered

STEP = 1e-6


def shifted(value: Any, direction: Any, step: float) -> Any:
    """value + step * direction, in any structure; None is no direction."""
    if direction is None:
        return copy.deepcopy(value)
    if isinstance(value, (list, tuple)):
        parts = zip(value, direction, strict=True)
        return type(value)(shifted(v, d, step) for v, d in parts)
    return value + step * direction


def flat(value: Any) -> np.ndarray:
    """All floating leaves of a value in one vector."""
    if isinstance(value, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(flat, value)])
    if value is None or not np.issubdtype(np.asarray(value).dtype, np.floating):
        return np.zeros(0)
    return np.ravel(value)


def direction_of(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(direction_of(item, rng) for item in value)
    return rng.normal(size=value.shape) if isinstance(value, np.ndarray) else float(rng.normal())


def check(function: Function, argnums: tuple[int, ...], *args: Any) -> Function:
    """The tangent of an IR function: verified, simplified, and equal to central differences."""
    tangent = differentiate(function, active_leaves(function, argnums), inline)
    verify(tangent)
    simple = simplify(tangent)
    verify(simple)
    rng = np.random.default_rng(0)
    directions = [direction_of(a, rng) if i in argnums else None for i, a in enumerate(args)]
    given_directions = [d for d in directions if d is not None]
    ahead, behind = (
        run(function, *map(shifted, args, directions, [sign * STEP] * len(args)))
        for sign in (1, -1)
    )
    expected = (flat(ahead) - flat(behind)) / (2 * STEP)
    for version in (tangent, simple):
        result, d_result = run(version, *copy.deepcopy(args), *given_directions)
        np.testing.assert_array_equal(flat(result), flat(run(function, *copy.deepcopy(args))))
        np.testing.assert_allclose(flat(d_result), expected, rtol=1e-6, atol=1e-7)
    return simple


X = np.linspace(0.5, 1.5, 6)
A = np.arange(1.0, 13.0).reshape(3, 4) / 7


def straight(x, y):
    z = np.tanh(x * y) / (1 + x * x)
    return np.sum(z[1:] - z[:-1]), z


def broadcast(x, M):
    return M - x + np.sum(M, axis=1)[:, None]


def branches(x, s):
    if s > 1.0:
        y = np.sin(x) * s
    elif s > 0.0:
        y = x
    else:
        y = np.ones(6)
    return y * y


def stores(x, M):
    M = M.copy()
    M[0, 1:] = x[:3] ** 2
    M[1] *= M[0]
    M[2, :2] += x[4]
    M.T[3] = x[1:4]
    return M


def loop(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 1.2:
            break
        total = total * x[i] + x[i]
    return total


def nested_loops(M, n):
    M = M.copy()
    for _ in range(n):
        for i in range(1, 3):
            M[i] = np.sin(M[i - 1]) * M[i]
    return np.sum(M * M)


def over_rows(M):
    s = 0.0
    for row, k in zip(M, range(3)):
        s = s + np.prod(row) * k
    return s


def over_list(xs, w):
    h = w
    out = []
    for x in xs:
        h = np.tanh(h + x)
        out.append(h * w)
    return out, h


def while_loop(a, tolerance):
    x = a
    while abs(x * x - a) > tolerance:
        x = 0.5 * (x + a / x)
    return x


def containers(pair, d):
    a, (b, c) = pair
    return {"sum": a + b, "rest": [c * d, {"d": d}]}, 3


PROGRAMS = [
    (straight, (0, 1), X, 2.0),
    (straight, (1,), X, 2.0),
    (broadcast, (0,), X[:4], A),
    (broadcast, (0, 1), X[:4], A),
    (branches, (0, 1), X, 1.5),
    (branches, (0, 1), X, 0.5),
    (branches, (0, 1), X, -0.5),
    (stores, (0, 1), X, A),
    (stores, (0,), X, A),
    (loop, (0,), X, 6),
    (nested_loops, (0,), A, 3),
    (over_rows, (0,), A),
    (over_list, (0, 1), [X, X * X], X),
    (over_list, (1,), [X, X * X], X),
    (while_loop, (0,), 2.0, 1e-10),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: f"{case[0].__name__}-{case[1]}")
def test_programs(case):
    function, argnums, *args = case
    check(simplify(lowered(function, *args)), argnums, *args)


@pytest.mark.parametrize(
    "case",
    [case for case in PROGRAMS if case[0] in (loop, nested_loops, over_rows, while_loop)],
    ids=lambda case: case[0].__name__,
)
def test_the_tangent_of_a_gradient_is_its_derivative(case):
    function, argnums, *args = case
    joined = joined_of(function, *args, argnums=argnums).function
    simple = simplify(joined)
    check(simple, argnums, *args, 0.7)


def test_the_tangent_of_a_tangent():
    function = simplify(lowered(while_loop, 2.0, 1e-10))
    first = differentiate(function, (0,), inline)
    check(first, (0, 2), 2.0, 1e-10, 1.3)


def test_structures_are_kept():
    a, b, c, d = 1.0, 2.0, X, 3.0
    function = lowered(containers, (a, (b, c)), d)
    tangent = differentiate(function, (1, 2), inline)
    assert [parameter.name for parameter in tangent.parameters] == ["pair", "d", "d_pair"]
    assert tangent.parameters[2].tree == Node(tuple, (Constant(None), Node(tuple, (LEAF, LEAF))))
    (_, constant), (d_result, nothing) = run(tangent, (a, (b, c)), d, (None, (1.0, X)))
    assert constant == 3 and nothing is None
    assert d_result["sum"] == 1.0 and d_result["rest"][1] == {"d": 0.0}
    np.testing.assert_array_equal(d_result["rest"][0], X * d)


def test_values_without_tangent_get_none():
    ir = Hand()
    x, y = ir.parameter("x", FLOAT), ir.parameter("y", FLOAT)
    u = ir.op(math.exp, y, name="u")
    z = ir.op(operator.mul, x, u, name="z")
    assert (
        print_function(differentiate(ir.function("f", z), (0,), inline))
        == dedent(
            """
        function f_tangent(%x: float, %y: float, %d_x: float)
          %u: float = exp<math.exp>(%y)
          %z: float = multiply(%x, %u)
          %d_z: float = multiply(%d_x, %u)
          return (%z, %d_z)
        """
        ).strip()
    )


def test_what_is_not_active_stays_as_it_is():
    function = lowered(loop, X, 3)
    assert differentiate(function, (), inline).body.operations[:-1] == function.body.operations


def test_float32_stays():
    ir = Hand()
    x, s = ir.parameter("x", vector(3, "float32")), ir.parameter("s", FLOAT)
    y = ir.op(np.sum, ir.op(operator.mul, ir.op(np.exp, x), s))
    tangent = differentiate(ir.function("f", y), (0, 1), inline)
    verify(tangent)
    x = np.ones(3, "float32")
    (_, d_y) = run(tangent, x, 2.0, x, 1.0)
    assert d_y.dtype == np.float32


def test_an_operation_without_rule_is_not_taken_for_constant():
    def rule(out, x, *, d_out):
        return d_out

    ir = Hand()
    odd = Primitive("odd", elementwise_type, PRIMITIVES[np.tanh].signature, adjoint=rule)
    y = ir.builder.call(odd, {"x": ir.parameter("x", FLOAT)}, callee=np.tanh)
    with pytest.raises(AssertionError, match="`odd` has no tangent"):
        differentiate(ir.function("f", y), (0,), inline)


@given(st.integers(0, 2**32))
def test_random_programs(seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random_programs, "BROADCAST_TO", PRIMITIVES[np.broadcast_to])
        patch.setattr(random_programs, "TRANSPOSE", PRIMITIVES[np.transpose])
        function = random_programs.random_function(Random(seed), 8)
    assume(len(list(walk(function.body))) <= 100)
    rng = np.random.default_rng(seed)
    args = [direction_of(a, rng) for a in random_programs.random_arguments()]
    with np.errstate(all="ignore"):
        ahead, here, behind = (
            flat(run(function, *map(shifted, args, args, [step] * 4)))
            for step in (STEP, 0.0, -STEP)
        )
        assume(np.all(np.abs(here) < 1e6))
        smooth = np.allclose((ahead - here) / STEP, (here - behind) / STEP, rtol=1e-2, atol=1e-2)
        assume(smooth)  # no branch was changed by the step
        tangent = differentiate(function, (0, 1, 2, 3), inline)
        verify(tangent)
        for version in (tangent, simplify(tangent)):
            _, d_result = run(version, *args, *args)
            expected = (ahead - behind) / (2 * STEP)
            scale = max(1.0, np.abs(here).max(initial=0))
            np.testing.assert_allclose(flat(d_result), expected, rtol=1e-4, atol=1e-4 * scale)


def left_at_first(x, A):
    w = 0.0
    for i in range(3):
        if A[i, 0] > 5.0:
            return np.tanh(A[i, 1]) * np.sum(x)
        w = w * 0.5 + np.sin(x[:4] @ A)
        if x[i] > 5.0:
            return np.tanh(x[1]) * np.sum(x)
    return np.sum(w)


@pytest.mark.parametrize("first", [0.0, 7.5])
def test_second_derivative_of_a_loop_that_is_left_before_a_name_is_an_array(first):
    gs.testing.check_grad(left_at_first, np.linspace(0.1, 0.5, 5), first + np.eye(4, 5))


def gradient_of_a_part_on_one_side(x):
    def inner(y):
        part = y[:2] if len(y) > 3 else y
        return np.sum(part**3)

    return np.sum(gs.grad(inner)(x) * x)


@pytest.mark.parametrize("first", [gs.vjp, gs.jacfwd], ids=["vjp", "jacfwd"])
def test_lengths_that_one_side_enforces_are_not_those_of_the_other(first):
    """Whichever derivative is compiled first: they share what is known of lengths."""

    def f(x):
        return gradient_of_a_part_on_one_side(x)

    x = np.array([0.5, -1.2, 2.0, 0.3])
    first(f, x) if first is gs.vjp else first(f)(x)
    (along,) = gs.hvp(f, (x,), (np.ones(4),))
    np.testing.assert_allclose(along, [18 * 0.5, 18 * -1.2, 0, 0])


def test_a_shift_that_is_computed_moves_the_tangent_as_the_values():
    def rolled(x, n):
        total = np.zeros_like(x)
        for k in range(n):
            total = total + np.roll(x, k - 1) * x
        return total

    x, direction = np.array([0.5, -1.2, 2.0]), np.array([1.0, 2.0, -3.0])
    _, tangent = gs.jvp(rolled, (x, 3), (direction, None))
    wanted = sum(np.roll(direction, k) * x + np.roll(x, k) * direction for k in (-1, 0, 1))
    np.testing.assert_allclose(tangent, wanted)
