"""Text of IR that user programs alone do not lead to: adjoints, records, stacks, calls."""

from __future__ import annotations

import operator as op
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe import primitives  # noqa: F401
from gradscribe.codegen import emit, load
from gradscribe.ir.core import CALL, Function, Location, LoopShape, Operation
from gradscribe.ir.trees import LEAF, Node
from gradscribe.ir.types import BOOL, FLOAT, INT, Array, Collected, Scalar, Tuple
from gradscribe.primitives.control import (
    CONSTANT,
    COPY,
    ITEM,
    PUSH,
    STACK,
    STACK_POP,
    TUPLE,
    UNDEF,
    ZEROS_LIKE,
)
from gradscribe.primitives.indexing import ACCUMULATE, LENGTH, STORE
from tests.codegen.programs import block
from tests.handmade import Hand, at, vector
from tests.interpreter import run

FLOATS = Collected(FLOAT)
STRONG = Scalar("float64", weak=False)


def adjoint_of(ir: Hand, statement: str, line: int) -> None:
    """What is made from now on is the adjoint of this statement."""
    ir.builder.location = Location("f.py", line, 0, 1, statement, "adjoint")


def check(function: Function, *args: Any) -> str:
    """The text, after comparing it with the interpreter."""
    text = emit(function)
    expected = run(function, *args, in_place=True)
    np.testing.assert_equal(load(function)(*args), expected)
    return text


def test_both_branches_assign_the_merged_value() -> None:
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    branch = ir.op(op.gt, x, ir.constant(0))
    (result,) = ir.branch(branch, lambda: x, lambda: ir.op(op.neg, x), [("result", FLOAT)])
    function = replace(ir.function("absolute_forward", result, branch), record=1)
    assert check(function, -2.0) == block("""
        def absolute_forward(x):
            branch = x > 0
            if branch:
                result = x
            else:
                result = -x
            return result, branch
        """)


def test_collected_values_are_appended_before_their_variable_changes() -> None:
    ir = Hand()
    a, tol = ir.parameter("a", FLOAT), ir.parameter("tol", FLOAT)

    def body(x: Any) -> Any:
        half = ir.op(op.mul, ir.constant(0.5), ir.op(op.add, x, ir.op(op.truediv, a, x)), name="x")
        return half, x

    def condition(x: Any) -> Any:
        return ir.op(op.gt, ir.op(abs, ir.op(op.sub, ir.op(op.mul, x, x), a)), tol)

    shape = LoopShape((), 1, collects=1, condition=True)
    x, steps = ir.loop(shape, [a], [("x", FLOAT)], body, [("x", FLOAT), ("", FLOATS)], condition)
    assert check(replace(ir.function("f", x, steps), record=1), 2.0, 1e-3) == block("""
        def f(a, tol):
            steps = []
            x = a
            while abs(x * x - a) > tol:
                steps.append(x)
                x = 0.5 * (x + a / x)
            return x, steps
        """)


def test_adjoint_statements_have_their_primal_statement_as_comment() -> None:
    ir = Hand()
    a, steps = ir.parameter("a", FLOAT), ir.parameter("steps", FLOATS)
    d_x = ir.parameter("d_x", FLOAT)
    zero = ir.constant(0.0)

    def body(x: Any, d_a: Any, d_x: Any) -> Any:
        adjoint_of(ir, "x = 0.5 * (x + a / x)", 4)
        d_t = ir.op(op.mul, ir.constant(0.5), d_x)
        quotient = ir.op(op.neg, ir.op(op.truediv, a, ir.op(op.mul, x, x)))
        return (
            ir.op(op.add, d_a, ir.op(op.truediv, d_t, x), name="d_a"),
            ir.op(op.add, d_t, ir.op(op.mul, d_t, quotient), name="d_x"),
        )

    types = [("x", FLOAT), ("d_a", FLOAT), ("d_x", FLOAT)]
    block_ = ir.block(body, types)
    results = [ir.builder.named(type_, name) for name, type_ in types[1:]]
    adjoint_of(ir, "while abs(x * x - a) > tol:", 3)
    shape = LoopShape(("collected",), 2, reversed=True)
    ir.builder.emit_loop(shape, [steps, zero, d_x], [block_], results)
    function = ir.function("f", ir.op(op.add, *results))
    assert check(function, 2.0, [2.0, 1.5], 1.0) == block("""
        def f(a, steps, d_x):
            d_a = 0.0  # while abs(x * x - a) > tol:
            for x in reversed(steps):
                d_t = 0.5 * d_x  # x = 0.5 * (x + a / x)
                d_a += d_t / x
                d_x = d_t - d_t * (a / (x * x))
            return d_a + d_x
        """)


def test_a_reversed_loop_that_collects_leaves_its_record_in_order() -> None:
    ir = Hand()
    xs = ir.parameter("xs", vector(ir.length("n")))
    shape = LoopShape(("array",), 0, collects=1, reversed=True)
    (record,) = ir.loop(
        shape, [xs], [("x", STRONG)], lambda x: ir.op(op.mul, x, x), [("", Collected(STRONG))]
    )
    assert check(ir.function("f", record), np.arange(3.0)) == block("""
        def f(xs):
            steps = []
            for x in reversed(xs):
                steps.append(x * x)
            steps.reverse()
            return steps
        """)


def undone() -> Function:
    """A store with its undo, through a stack of tuples."""
    ir = Hand()
    A = ir.parameter("A", vector(ir.length("n")))
    n = ir.op(LENGTH, A, 0, name="n")
    A = ir.op(COPY, A, name="A")
    undo = ir.op(STACK, Tuple((STRONG, INT)), name="undo")
    zero, one = ir.constant(0), ir.constant(1)

    def forward(i: Any, A: Any) -> Any:
        old = ir.item(A, i)
        ir.op(PUSH, undo, ir.op(TUPLE, (old, i)))
        return ir.op(STORE, A, ir.op(op.mul, old, ir.constant(2.0)), at(i), name="A")

    def backward(i: Any, A: Any) -> Any:
        adjoint_of(ir, "A[i] *= 2.0", 2)
        both = ir.op(STACK_POP, undo)
        old, j = ir.op(ITEM, both, 0), ir.op(ITEM, both, 1, name="j")
        return ir.op(STORE, A, old, at(j), name="A")

    types = [("i", INT), ("A", A.type)]
    shape = LoopShape(("range",), 1)
    (A,) = ir.loop(shape, [zero, n, one, A], types, forward, types[1:])
    back = replace(shape, reversed=True)
    (A,) = ir.loop(back, [zero, n, one, A], types, backward, types[1:])
    return ir.function("f", A)


def test_stacks_of_tuples_are_pushed_and_popped() -> None:
    assert check(undone(), np.arange(1.0, 4.0)) == block("""
        def f(A):
            n = A.shape[0]
            A = A.copy()
            undo = []
            for i in range(n):
                undo.append((A[i], i))
                A[i] *= 2.0
            for _ in range(n):  # A[i] *= 2.0
                t, j = undo.pop()
                A[j] = t
            return A
        """)


def test_an_element_that_was_just_stored_is_read_again() -> None:
    ir = Hand()
    A = ir.parameter("A", vector(ir.length("n")))
    zero, one = ir.constant(0), ir.constant(1)
    A = ir.op(COPY, A, name="A")
    adjoint_of(ir, "A[1] /= 9.0", 1)
    value = ir.op(op.truediv, ir.item(A, one), ir.constant(9.0))
    A = ir.op(STORE, A, value, at(one), name="A")
    adjoint_of(ir, "A[1] += A[0]", 2)
    A = ir.op(ACCUMULATE, A, value, at(zero), name="A")
    assert check(ir.function("f", A), np.arange(1.0, 3.0)) == block("""
        def f(A):
            A = A.copy()
            A[1] /= 9.0
            A[0] += A[1]  # A[1] += A[0]
            return A
        """)


def test_accumulating_a_negative_value_subtracts() -> None:
    ir = Hand()
    A, x = ir.parameter("A", Array("float64", (ir.length("n"), ir.length("m")))), None
    x = ir.parameter("x", FLOAT)
    adjoint_of(ir, "y = A[0] * x", 1)
    d_A = ir.op(ZEROS_LIKE, A, name="d_A")
    product = ir.op(op.mul, ir.op(op.neg, x), x)
    d_A = ir.op(ACCUMULATE, d_A, product, at(ir.constant(0)), name="d_A")
    d_A = ir.op(ACCUMULATE, d_A, ir.op(op.mul, x, ir.constant(3.0)), (), name="d_A")
    assert check(ir.function("f", d_A), np.ones((2, 2)), 2.0) == block("""
        def f(A, x):
            d_A = np.zeros_like(A)  # y = A[0] * x
            d_A[0] -= x * x
            d_A += x * 3.0
            return d_A
        """)


def test_an_undefined_entry_of_the_record_is_none() -> None:
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    branch = ir.op(op.gt, x, ir.constant(0))
    results = [("y", FLOAT), ("", FLOAT)]
    y, kept = ir.branch(
        branch,
        lambda: (ir.op(np.exp, x, name="y"), x),
        lambda: (x, ir.op(UNDEF, FLOAT)),
        results,
    )
    function = replace(ir.function("f", y, kept), record=1)
    assert load(function)(-1.0) == (-1.0, None)


def test_an_undefined_variable_of_the_user_stays_unbound() -> None:
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    branch = ir.op(op.gt, x, ir.constant(0))
    undefined = lambda: ir.op(UNDEF, FLOAT)
    (y,) = ir.branch(branch, lambda: ir.op(np.exp, x, name="y"), undefined, [("y", FLOAT)])
    assert emit(ir.function("f", y)) == block("""
        def f(x):
            if x > 0:
                y = np.exp(x)
            return y
        """)


def test_a_fold_does_not_cross_a_store_to_what_it_reads() -> None:
    ir = Hand()
    A = ir.parameter("A", vector(ir.length("n")))
    A = ir.op(COPY, A)
    first = ir.item(A, ir.constant(0))
    second = ir.op(STORE, A, ir.constant(5.0), at(ir.constant(0)))
    total = ir.op(op.mul, first, ir.item(second, ir.constant(0)))
    assert check(ir.function("f", total), np.arange(1.0, 3.0)) == block("""
        def f(A):
            t = A.copy()
            t_1 = t[0]
            t[0] = 5.0
            return t_1 * t[0]
        """)


def test_the_names_of_a_value_and_its_cotangent_do_not_clash() -> None:
    ir = Hand()
    x, d_x = ir.parameter("x", FLOAT), ir.parameter("d_x", FLOAT)
    y = ir.op(op.mul, x, d_x, name="d_y")
    other = ir.op(op.add, x, d_x, name="d_y")
    assert check(ir.function("f", ir.op(op.mul, y, other), y), 2.0, 3.0) == block("""
        def f(x, d_x):
            d_y = x * d_x
            d_y_1 = x + d_x
            return d_y * d_y_1, d_y
        """)


def test_parameters_are_unpacked_as_far_as_they_are_read() -> None:
    ir = Hand()
    tree = Node(tuple, (Node(tuple, (LEAF, LEAF)), Node(dict, (LEAF,), ("c",))))
    a, b, c = ir.structured("record", tree, [FLOAT, FLOAT, FLOAT])
    d, _ = ir.structured("pair", Node(tuple, (LEAF, LEAF)), [FLOAT, FLOAT])
    function = ir.function("f", ir.op(op.add, ir.op(op.mul, a, c), ir.op(op.mul, b, d)))
    parameters = (*function.parameters[:1], replace(function.parameters[1], default=(1.0, None)))
    assert emit(replace(function, parameters=parameters)) == block("""
        def f(record, pair=(1.0, None)):
            t = record[0][0]
            t_1 = record[0][1]
            t_2 = record[1]["c"]
            t_3 = pair[0]
            return t * t_2 + t_1 * t_3
        """)


def test_a_function_calls_itself() -> None:
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    branch = ir.op(op.lt, x, ir.constant(1.0))

    def deeper() -> Any:
        half = ir.op(op.mul, x, ir.constant(0.5))
        value, depth = ir.builder.named(FLOAT), ir.builder.named(FLOAT, "depth")
        attributes = {"function": "halve"}
        ir.builder.append(Operation(CALL, (half,), (value, depth), attributes))
        return value, ir.op(op.add, depth, ir.constant(1.0))

    results = ir.branch(
        branch, lambda: (x, ir.constant(0.0)), deeper, [("x", FLOAT), ("depth", FLOAT)]
    )
    function = ir.function("halve", *results)
    assert emit(function) == block("""
        def halve(x):
            if x < 1.0:
                depth = 0.0
            else:
                x, depth = halve(x * 0.5)
                depth += 1.0
            return x, depth
        """)
    assert load(function)(5.0) == (0.625, 3.0)


def test_constants_of_every_kind() -> None:
    for value in (True, 2, -1.5, 1j, complex(1, np.inf), np.inf, -np.inf, np.float32(0.1)):
        ir = Hand()
        function = ir.function("f", ir.op(CONSTANT, value))
        assert load(function)() == value
        assert type(load(function)()) is type(value)


def test_emitting_is_deterministic() -> None:
    assert emit(undone()) == emit(undone())


def test_exit_flag_that_is_a_plain_value() -> None:
    ir = Hand()
    x = ir.parameter("x", FLOAT)

    def body(y: Any) -> Any:
        doubled = ir.op(op.mul, y, ir.constant(2.0), name="y")
        return doubled, ir.op(op.lt, doubled, ir.constant(100.0))

    shape = LoopShape((), 1, exits=True)
    (y,) = ir.loop(shape, [x], [("y", FLOAT)], body, [("y", FLOAT)])
    assert check(ir.function("f", y), 1.0) == block("""
        def f(x):
            y = x
            while True:
                y *= 2.0
                if not y < 100.0:
                    break
            return y
        """)
    assert BOOL != FLOAT
