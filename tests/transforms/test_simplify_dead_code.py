"""What nobody reads goes: through carried values, results of `if`, records and iterables."""

from __future__ import annotations

import operator
from textwrap import dedent

import numpy as np

from gradscribe.ir.core import Function, LoopShape
from gradscribe.ir.printer import print_function
from gradscribe.ir.types import FLOAT, INT, Collected, Scalar
from gradscribe.ir.verifier import verify
from gradscribe.primitives.control import EFFECT, RAISE
from gradscribe.transforms.passes.simplify import simplify
from tests.handmade import Hand, vector

STRONG = Scalar("float64", weak=False)


def check(function: Function, text: str) -> None:
    """The simplified function prints as expected, and is correct IR."""
    verify(function)
    result = simplify(function)
    verify(result)
    assert print_function(result) == dedent(text).strip()


def test_unread_operations_go():
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    ir.op(np.exp, ir.op(np.tanh, x))
    check(
        ir.function("f", ir.op(np.sin, x)),
        """
        function f(%x: float)
          %0: float64 = sin(%x)
          return %0
        """,
    )


def test_effects_stay():
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    y = ir.op(np.exp, x)
    ir.builder.call(EFFECT, {"args": (y,), "keywords": {}}, callee=print)
    check(
        ir.function("f", x),
        """
        function f(%x: float)
          %0: float64 = exp(%x)
          %1: opaque = effect<print>(args=(%0,), keywords={})
          return %x
        """,
    )


def test_a_branch_that_raises_stays():
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    negative = ir.op(operator.lt, x, ir.constant(0))

    def raises():
        ir.op(RAISE, ir.constant("negative"), None)
        return ()

    ir.branch(negative, raises, lambda: (), [])
    result = simplify(ir.function("f", x))
    assert [operation.primitive.name for operation in result.body.operations] == [
        "constant",
        "lt",
        "if",
    ]


def test_a_carried_value_that_only_feeds_itself_goes():
    ir = Hand()
    x, steps = ir.parameter("x", FLOAT), ir.parameter("steps", INT)
    zero, one = ir.constant(0), ir.constant(1)
    ir.loop(
        LoopShape(("range",), 2),
        [zero, steps, one, x, x],
        [("i", INT), ("y", FLOAT), ("z", FLOAT)],
        lambda i, y, z: (ir.op(operator.mul, y, x), ir.op(operator.add, z, z)),
        [("y", FLOAT), ("z", FLOAT)],
    )
    y, _ = ir.builder.operations[-1].results
    check(
        ir.function("f", y),
        """
        function f(%x: float, %steps: int(steps))
          %0: int(0) = constant(value=0)
          %1: int(1) = constant(value=1)
          %y_1: float = loop
            for %i: int(i) in range(%0, %steps, %1)
            carry %y: float = %x
            do
              %2: float = multiply(%y, %x)
              yield %2
          return %y_1
        """,
    )


def test_carried_values_that_feed_a_live_one_stay():
    ir = Hand()
    x, steps = ir.parameter("x", FLOAT), ir.parameter("steps", INT)
    (a, _) = ir.loop(
        LoopShape(("range",), 2),
        [ir.constant(0), steps, ir.constant(1), x, ir.constant(1.0)],
        [("i", INT), ("a", FLOAT), ("b", FLOAT)],
        lambda i, a, b: (b, ir.op(operator.add, a, b)),
        [("a", FLOAT), ("b", FLOAT)],
    )
    (loop,) = (o for o in simplify(ir.function("f", a)).body.operations if o.regions)
    assert len(loop.results) == 2


def test_a_loop_without_live_results_goes():
    ir = Hand()
    x, steps = ir.parameter("x", FLOAT), ir.parameter("steps", INT)
    ir.loop(
        LoopShape(("range",), 1),
        [ir.constant(0), steps, ir.constant(1), x],
        [("i", INT), ("y", FLOAT)],
        lambda i, y: ir.op(operator.mul, y, y),
        [("y", FLOAT)],
    )
    check(
        ir.function("f", x),
        """
        function f(%x: float, %steps: int(steps))
          return %x
        """,
    )


def test_unread_results_of_a_branch_go():
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    positive = ir.op(operator.gt, x, ir.constant(0))
    y, _ = ir.branch(
        positive,
        lambda: (ir.op(operator.neg, x), ir.op(operator.mul, x, x)),
        lambda: (x, x),
        [("y", FLOAT), ("z", FLOAT)],
    )
    check(
        ir.function("f", y),
        """
        function f(%x: float)
          %0: int(0) = constant(value=0)
          %1: bool = gt(%x, %0)
          %y: float = if %1
            %2: float = negative(%x)
            yield %2
          else
            yield %x
          return %y
        """,
    )


def mirrored(ir: Hand, uses_record: bool, uses_index: bool) -> Function:
    """A loop that records its carried value, and its mirror that may read the record."""
    x, steps = ir.parameter("x", FLOAT), ir.parameter("steps", INT)
    bounds = [ir.constant(0), steps, ir.constant(1)]
    _, record = ir.loop(
        LoopShape(("range",), 1, collects=1),
        [*bounds, x],
        [("i", INT), ("y", FLOAT)],
        lambda i, y: (ir.op(operator.mul, y, x), y),
        [("y", FLOAT), ("steps", Collected(FLOAT))],
    )

    def body(i, y, d_y):
        if uses_record:
            d_y = ir.op(operator.mul, d_y, y)
        return ir.op(operator.mul, d_y, i if uses_index else x)

    (d_x,) = ir.loop(
        LoopShape(("range", "collected"), 1, reversed=True),
        [*bounds, record, ir.constant(1.0)],
        [("i", INT), ("y", FLOAT), ("d_x", FLOAT)],
        body,
        [("d_x", FLOAT)],
    )
    return ir.function("f", d_x)


def test_a_record_that_no_loop_reads_is_not_collected():
    check(
        mirrored(Hand(), uses_record=False, uses_index=True),
        """
        function f(%x: float, %steps: int(steps))
          %0: int(0) = constant(value=0)
          %1: int(1) = constant(value=1)
          %2: float = constant(value=1.0)
          %d_x_1: float = loop reversed
            for %i: int(i) in range(%0, %steps, %1)
            carry %d_x: float = %2
            do
              %3: float = multiply(%d_x, %i)
              yield %3
          return %d_x_1
        """,
    )


def test_a_range_goes_where_a_record_tells_the_iterations():
    result = simplify(mirrored(Hand(), uses_record=True, uses_index=False))
    verify(result)
    loop = result.body.operations[-1]
    assert loop.attributes["shape"].iterables == ("collected",)


def test_the_last_iterable_stays_for_the_number_of_iterations():
    result = simplify(mirrored(Hand(), uses_record=False, uses_index=False))
    verify(result)
    loop = result.body.operations[-1]
    assert loop.attributes["shape"].iterables == ("range",)
    assert sum(bool(operation.regions) for operation in result.body.operations) == 1


def zipped(ir: Hand, xs, ys) -> Function:
    """sum(x for x, y in zip(xs, ys))"""
    (total,) = ir.loop(
        LoopShape(("array", "array"), 1),
        [xs, ys, ir.constant(0.0)],
        [("x", STRONG), ("y", STRONG), ("total", STRONG)],
        lambda x, y, total: ir.op(operator.add, total, x),
        [("total", STRONG)],
    )
    return ir.function("f", total)


def test_the_shortest_of_zipped_arrays_ends_the_loop():
    ir = Hand()
    xs, ys = ir.parameter("xs", vector(ir.length("n"))), ir.parameter("ys", vector(ir.length("m")))
    assert simplify(zipped(ir, xs, ys)).body.operations[-1].operands[:2] == (xs, ys)


def test_one_of_two_equally_long_arrays_is_enough():
    ir = Hand()
    n = ir.length("n")
    xs, ys = ir.parameter("xs", vector(n)), ir.parameter("ys", vector(n))
    loop = simplify(zipped(ir, xs, ys)).body.operations[-1]
    assert loop.attributes["shape"].iterables == ("array",)
    assert loop.operands[0] is xs
