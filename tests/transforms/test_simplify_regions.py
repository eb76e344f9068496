"""Branches that are known, values that pass through loops unchanged, records of what is at hand."""

from __future__ import annotations

import math
import operator
from textwrap import dedent

import numpy as np

from gradscribe import primitives  # noqa: F401
from gradscribe.ir.core import Function, Location, LoopShape
from gradscribe.ir.printer import print_function
from gradscribe.ir.types import BOOL, FLOAT, INT, Array, Collected, Scalar
from gradscribe.ir.verifier import verify
from gradscribe.primitives.control import ZEROS_LIKE
from gradscribe.primitives.indexing import ACCUMULATE, LENGTH, STORE
from gradscribe.transforms.passes.simplify import simplify
from tests.handmade import Hand, at, vector
from tests.interpreter import run

STRONG = Scalar("float64", weak=False)


def check(function: Function, text: str) -> None:
    """The simplified function prints as expected, and is correct IR."""
    verify(function)
    result = simplify(function)
    verify(result)
    assert print_function(result) == dedent(text).strip()


def test_a_known_branch_is_inlined():
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    condition = ir.op(operator.lt, ir.constant(1), ir.constant(2))
    (y,) = ir.branch(
        condition, lambda: ir.op(operator.neg, x), lambda: ir.op(math.exp, x), [("y", FLOAT)]
    )
    check(
        ir.function("f", y),
        """
        function f(%x: float)
          %0: float = negative(%x)
          return %0
        """,
    )


def test_a_condition_is_known_in_its_own_branches():
    ir = Hand()
    x, condition = ir.parameter("x", FLOAT), ir.parameter("c", BOOL)

    def inner(y):
        return lambda: ir.branch(condition, lambda: y, lambda: x, [("y", FLOAT)])

    doubled = ir.op(operator.add, x, x)
    (y,) = ir.branch(condition, inner(doubled), inner(doubled), [("y", FLOAT)])
    check(
        ir.function("f", y),
        """
        function f(%x: float, %c: bool)
          %0: float = add(%x, %x)
          %y: float = if %c
            yield %0
          else
            yield %x
          return %y
        """,
    )


def test_a_value_from_both_sides_needs_no_branch():
    ir = Hand()
    x, condition = ir.parameter("x", FLOAT), ir.parameter("c", BOOL)
    results = [("y", FLOAT), ("z", FLOAT)]
    y, z = ir.branch(
        condition, lambda: (x, ir.constant(1.0)), lambda: (x, ir.constant(1.0)), results
    )
    check(
        ir.function("f", y, z),
        """
        function f(%x: float, %c: bool)
          %0: float = constant(value=1.0)
          return (%x, %0)
        """,
    )


def counted(ir: Hand, stop, body, *initial, shape: LoopShape | None = None):
    """A loop over range(stop) with carried floats."""
    shape = shape or LoopShape(("range",), len(initial))
    carried = [(value.name or "t", value.type) for value in initial]
    return ir.loop(
        shape,
        [ir.constant(0), stop, ir.constant(1), *initial],
        [("i", INT), *carried],
        body,
        carried,
    )


def test_a_carried_value_that_no_iteration_changes_is_the_initial_one():
    ir = Hand()
    x, y, n = ir.parameter("x", FLOAT), ir.parameter("y", FLOAT), ir.parameter("n", INT)
    total, same = counted(ir, n, lambda i, t, s: (ir.op(operator.add, t, s), s), x, y)
    check(
        ir.function("f", total, same),
        """
        function f(%x: float, %y: float, %n: int(n))
          %0: int(0) = constant(value=0)
          %1: int(1) = constant(value=1)
          %x_2: float = loop
            for %i: int(i) in range(%0, %n, %1)
            carry %x_1: float = %x
            do
              %2: float = add(%x_1, %y)
              yield %2
          return (%x_2, %y)
        """,
    )


def test_a_loop_of_no_iterations_goes():
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    (y,) = counted(ir, ir.constant(0), lambda i, t: ir.op(operator.add, t, t), x)
    check(
        ir.function("f", y),
        """
        function f(%x: float)
          return %x
        """,
    )


def test_an_exit_that_is_never_taken_goes():
    ir = Hand()
    x, n = ir.parameter("x", FLOAT), ir.parameter("n", INT)
    (y,) = counted(
        ir,
        n,
        lambda i, t: (ir.op(operator.add, t, t), ir.constant(True)),
        x,
        shape=LoopShape(("range",), 1, exits=True),
    )
    result = simplify(ir.function("f", y))
    verify(result)
    assert not result.body.operations[-1].attributes["shape"].exits


def recorded(ir: Hand, element) -> Function:
    """A loop that records `element(i, t, outside)`, and its mirror that reads the record."""
    x, n = ir.parameter("x", FLOAT), ir.parameter("n", INT)
    outside = ir.op(math.exp, x, name="outside")
    bounds = [ir.constant(0), n, ir.constant(1)]
    _, record = ir.loop(
        LoopShape(("range",), 1, collects=1),
        [*bounds, x],
        [("i", INT), ("t", FLOAT)],
        lambda i, t: (ir.op(operator.mul, t, t), element(i, t, outside)),
        [("t", FLOAT), ("record", Collected(element(x, x, outside).type))],
    )
    (y,) = ir.loop(
        LoopShape(("range", "collected"), 1, reversed=True),
        [*bounds, record, ir.constant(1.0)],
        [("i", INT), ("item", record.type.item), ("d", FLOAT)],
        lambda i, item, d: ir.op(operator.mul, d, item),
        [("d", FLOAT)],
    )
    return ir.function("f", y)


def test_what_an_iteration_does_not_change_is_not_recorded():
    function = simplify(recorded(Hand(), lambda i, t, outside: outside))
    verify(function)
    (loop,) = [operation for operation in function.body.operations if operation.regions]
    assert loop.attributes["shape"].iterables == ("range",)
    assert run(function, 0.5, 3) == math.exp(0.5) ** 3


def test_what_iterations_change_is_recorded():
    function = recorded(Hand(), lambda i, t, outside: t)
    result = simplify(function)
    verify(result)
    assert len([operation for operation in result.body.operations if operation.regions]) == 2
    assert run(result, 0.5, 3) == run(function, 0.5, 3) == 0.5 * 0.25 * 0.0625


def test_the_index_is_not_recorded():
    ir = Hand()
    n, x = ir.parameter("n", INT), ir.parameter("x", FLOAT)
    bounds = [ir.constant(0), n, ir.constant(1)]
    (record,) = ir.loop(
        LoopShape(("range",), 0, collects=1),
        bounds,
        [("i", INT)],
        lambda i: i,
        [("record", Collected(INT))],
    )
    (y,) = ir.loop(
        LoopShape(("range", "collected"), 1, reversed=True),
        [*bounds, record, x],
        [("k", INT), ("item", INT), ("d", FLOAT)],
        lambda k, item, d: ir.op(operator.mul, ir.op(operator.add, d, item), d),
        [("d", FLOAT)],
    )
    check(
        ir.function("f", y),
        """
        function f(%n: int(n), %x: float)
          %0: int(0) = constant(value=0)
          %1: int(1) = constant(value=1)
          %d_1: float = loop reversed
            for %k: int(k) in range(%0, %n, %1)
            carry %d: float = %x
            do
              %2: float = add(%d, %k)
              %3: float = multiply(%2, %d)
              yield %3
          return %d_1
        """,
    )


def test_the_shape_of_a_stored_to_array_needs_no_stores():
    """The gradient of in-place code that is linear in the array need not run it."""
    ir = Hand()
    ir.builder.location = Location("f.py", 1, 0, 0, "", "adjoint")
    A, n = ir.parameter("A", vector(ir.length("m"))), ir.parameter("n", INT)
    d = ir.parameter("d", FLOAT)
    (B,) = counted(ir, n, lambda i, t: ir.op(STORE, t, ir.constant(0.0), at(i)), A)
    zeros = ir.op(ZEROS_LIKE, B)
    y = ir.op(ACCUMULATE, zeros, d, at(ir.op(operator.sub, ir.op(LENGTH, B, 0), ir.constant(1))))
    check(
        ir.function("f", y),
        """
        function f(%A: float64[m], %n: int(n), %d: float)
          %0: int(1) = constant(value=1)
          %1: float64[m] = zeros_like(%A)
          %2: int(m) = length(%A, axis=0)
          %3: int(m - 1) = subtract(%2, %0)
          %4: float64[m] = store(%1, %d, path=(getitem(index=(%3,)),))
          return %4
        """,
    )


def test_the_shape_of_a_local_array_needs_no_stores():
    ir = Hand()
    n, m = ir.parameter("n", INT), ir.parameter("m", INT)
    u = ir.op(np.zeros, m)
    assert isinstance(u.type, Array)
    (v,) = counted(ir, n, lambda i, t: ir.op(STORE, t, ir.constant(1.0), at(i)), u)
    result = simplify(ir.function("f", ir.op(ZEROS_LIKE, v)))
    verify(result)
    assert not any(operation.regions for operation in result.body.operations)
    np.testing.assert_array_equal(run(result, 2, 3), np.zeros(3))
