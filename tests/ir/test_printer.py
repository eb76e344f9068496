"""The text form of the IR."""

import math
import operator
from textwrap import dedent

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import IF, LoopShape, Method, SliceOf
from gradscribe.ir.printer import print_function
from gradscribe.ir.trees import LEAF, Constant, Node
from gradscribe.ir.types import BOOL, FLOAT, INT, Array, Collected, Scalar, Sequence
from gradscribe.primitives.control import EFFECT, LIST
from gradscribe.primitives.indexing import LENGTH, STORE
from gradscribe.primitives.registry import PRIMITIVES
from tests.handmade import Hand, at, vector


def assert_text(function, expected):
    assert print_function(function) == dedent(expected).strip()


def test_operations_show_names_types_and_operands():
    ir = Hand()
    n, m = ir.length("n"), ir.length("m")
    x = ir.parameter("x", Array("float64", (n, m)))
    h = ir.op(np.tanh, x, name="h")
    y = ir.op(operator.mul, h, ir.constant(2.0), name="y")
    assert_text(
        ir.function("f", y),
        """
        function f(%x: float64[n, m])
          %h: float64[n, m] = tanh(%x)
          %0: float = constant(value=2.0)
          %y: float64[n, m] = multiply(%h, %0)
          return %y
        """,
    )


def test_values_of_one_name_are_numbered():
    ir = Hand()
    h = ir.parameter("h", FLOAT)
    taken = ir.parameter("h_1", FLOAT)
    h = ir.op(np.tanh, h, name="h")
    h = ir.op(operator.add, h, taken, name="h")
    assert_text(
        ir.function("f", h),
        """
        function f(%h: float, %h_1: float)
          %h_2: float64 = tanh(%h)
          %h_3: float64 = add(%h_2, %h_1)
          return %h_3
        """,
    )


def test_lengths_of_one_name_are_told_apart():
    ir = Hand()
    ir.parameter("x", vector(Affine.of(Symbol("n"))))
    y = ir.parameter("y", vector(Affine.of(Symbol("n")) - 2))
    assert_text(
        ir.function("f", y),
        """
        function f(%x: float64[n], %y: float64[n_1 - 2])
          return %y
        """,
    )


def test_callees_are_named_where_they_are_not_numpy_or_operators():
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    y = ir.op(math.tanh, x)
    z = ir.builder.call(PRIMITIVES[np.exp], {"x": y}, callee=np.exp)
    ir.builder.call(EFFECT, {"args": (z, "done"), "keywords": {"end": ""}}, callee=print)
    ir.builder.call(EFFECT, {"args": (z,), "keywords": {}}, callee=Method("item"))
    assert_text(
        ir.function("f", z),
        """
        function f(%x: float)
          %0: float = tanh<math.tanh>(%x)
          %1: float64 = exp(%0)
          %2: opaque = effect<print>(args=(%1, 'done'), keywords={'end': ''})
          %3: opaque = effect<.item>(args=(%1,), keywords={})
          return %1
        """,
    )


def test_slices_and_paths():
    ir = Hand()
    x = ir.parameter("x", Array("float64", (ir.length("n"), ir.length("m"))))
    i = ir.parameter("i", INT)
    row = ir.item(x, i, SliceOf(None, i, 2), name="row")
    y = ir.op(STORE, x, row, at(..., None, SliceOf(None, i, 2)), name="y")
    whole = ir.op(STORE, y, i, ())
    assert_text(
        ir.function("f", whole),
        """
        function f(%x: float64[n, m], %i: int(i))
          %row: float64[length] = getitem(%x, index=(%i, :%i:2))
          %y: float64[n, m] = store(%x, %row, path=(getitem(index=(..., None, :%i:2)),))
          %0: float64[n, m] = store(%y, %i, path=())
          return %0
        """,
    )


def test_a_branch_shows_both_blocks():
    ir = Hand()
    x, zero = ir.parameter("x", FLOAT), ir.constant(0.0)
    positive = ir.op(operator.gt, x, zero)
    (y,) = ir.branch(positive, lambda: x, lambda: ir.op(operator.neg, x, name="y"), [("y", FLOAT)])
    assert_text(
        ir.function("absolute", y),
        """
        function absolute(%x: float)
          %0: float = constant(value=0.0)
          %1: bool = gt(%x, %0)
          %y_1: float = if %1
            yield %x
          else
            %y: float = negative(%x)
            yield %y
          return %y_1
        """,
    )


def test_an_empty_else_is_left_out():
    ir = Hand()
    c = ir.parameter("c", BOOL)
    ir.branch(c, lambda: [ir.constant("done")][:0], lambda: [], [])
    assert ir.builder.operations[-1].primitive is IF
    assert_text(
        ir.function("f", c),
        """
        function f(%c: bool)
          if %c
            %0: str = constant(value='done')
          return %c
        """,
    )


def test_a_loop_over_a_range_that_collects():
    ir = Hand()
    x = ir.parameter("x", vector(ir.length("n")))
    zero, one, n = ir.constant(0), ir.constant(1), ir.op(LENGTH, x, 0)
    start = ir.constant(0.0, name="s")

    def body(i, s):
        item = ir.item(x, i)
        return ir.op(operator.add, s, item, name="s"), item

    float64 = Scalar("float64", weak=False)
    s, _ = ir.loop(
        LoopShape(("range",), carried=1, collects=1),
        (zero, n, one, start),
        [("i", INT), ("s", float64)],
        body,
        [("s", float64), ("", Collected(float64))],
    )
    assert_text(
        ir.function("total", s),
        """
        function total(%x: float64[n])
          %0: int(0) = constant(value=0)
          %1: int(1) = constant(value=1)
          %2: int(n) = length(%x, axis=0)
          %s: float = constant(value=0.0)
          %s_3: float64, %4: collected[float64] = loop
            for %i: int(i) in range(%0, %2, %1)
            carry %s_1: float64 = %s
            do
              %3: float64 = getitem(%x, index=(%i,))
              %s_2: float64 = add(%s_1, %3)
              yield %s_2
              collect %3
          return %s_3
        """,
    )


def test_a_while_loop_with_exits():
    ir = Hand()
    x, c = ir.parameter("x", FLOAT), ir.parameter("c", BOOL)
    (r,) = ir.loop(
        LoopShape((), carried=1, exits=True, condition=True),
        (x,),
        [("v", FLOAT)],
        lambda v: (ir.op(operator.neg, v), c),
        [("v", FLOAT)],
        condition=lambda v: ir.op(operator.lt, v, x),
    )
    assert_text(
        ir.function("f", r),
        """
        function f(%x: float, %c: bool)
          %v_2: float = loop
            carry %v: float = %x
            while (%v_1: float)
              %0: bool = lt(%v_1, %x)
              yield %0
            do
              %1: float = negative(%v)
              yield %1
              again %c
          return %v_2
        """,
    )


def test_a_reversed_loop_over_two_iterables():
    ir = Hand()
    xs = ir.parameter("xs", Sequence(FLOAT))
    rs = ir.parameter("record", Collected(BOOL))
    ir.loop(
        LoopShape(("sequence", "collected"), carried=0, reversed=True),
        (xs, rs),
        [("x", FLOAT), ("r", BOOL)],
        lambda x, r: [],
        [],
    )
    assert_text(
        ir.function("f", xs),
        """
        function f(%xs: list[float], %record: collected[bool])
          loop reversed
            for %x: float in sequence %xs
            for %r: bool in collected %record
            do
          return %xs
        """,
    )


def test_structures_of_parameters_and_results():
    ir = Hand()
    tree = Node(dict, (Node(tuple, (LEAF, LEAF)), Constant(None)), ("w", "mode"))
    w, b = ir.structured("params", tree, [FLOAT, FLOAT])
    f = ir.function("f", b, w, tree=Node(list, (LEAF, Node(tuple, (LEAF,)))))
    assert_text(
        f,
        """
        function f(params={'w': (%0: float, %1: float), 'mode': None})
          return [%1, (%0,)]
        """,
    )


def test_static_arguments_show_values_and_types():
    ir = Hand()
    ir.op(LIST, (), vector(ir.length("n")), name="xs")
    s = ir.constant("text", name="s")
    assert_text(
        ir.function("f", s),
        """
        function f()
          %xs: list[float64[n]] = list(items=(), item=float64[n])
          %s: str = constant(value='text')
          return %s
        """,
    )
