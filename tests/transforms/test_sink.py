"""What only one branch needs is computed in that branch."""

from __future__ import annotations

import operator

import numpy as np

from gradscribe.ir.core import Block, Function
from gradscribe.ir.printer import print_function
from gradscribe.ir.types import BOOL, Scalar
from gradscribe.ir.verifier import verify
from gradscribe.primitives.control import EFFECT
from gradscribe.transforms.passes.sink import sink
from tests.handmade import Hand

FLOAT = Scalar("float64", weak=False)


def sunk(function: Function) -> str:
    result = sink(function)
    verify(result)
    return print_function(result)


def branch_reading(ir: Hand, condition, then, otherwise):
    """An `if` that doubles one value on one side, and hands on another on the other."""
    result = ir.builder.named(FLOAT, "z")
    with ir.builder.block() as operations:
        doubled = ir.op(operator.add, then, then)
    blocks = Block((), tuple(operations), (doubled,)), Block((), (), (otherwise,))
    ir.builder.emit_if(condition, *blocks, [result])
    return result


def test_an_operation_moves_into_the_branch_that_reads_it() -> None:
    ir = Hand()
    x, c = ir.parameter("x", FLOAT), ir.parameter("c", BOOL)
    y = ir.op(np.exp, ir.op(np.sin, x), name="y")
    text = sunk(ir.function("f", branch_reading(ir, c, y, x)))
    assert text.splitlines()[1:6] == [
        "  %z: float64 = if %c",
        "    %0: float64 = sin(%x)",
        "    %y: float64 = exp(%0)",
        "    %1: float64 = add(%y, %y)",
        "    yield %1",
    ]


def test_what_both_sides_or_others_read_stays() -> None:
    ir = Hand()
    x, c = ir.parameter("x", FLOAT), ir.parameter("c", BOOL)
    y = ir.op(np.exp, x, name="y")
    both = ir.function("f", branch_reading(ir, c, y, y))
    assert sink(both) is both
    ir = Hand()
    x, c = ir.parameter("x", FLOAT), ir.parameter("c", BOOL)
    y = ir.op(np.exp, x, name="y")
    read = ir.function("f", branch_reading(ir, c, y, x), y)
    assert sink(read) is read


def test_an_effect_stays_where_it_is() -> None:
    ir = Hand()
    x, c = ir.parameter("x", FLOAT), ir.parameter("c", BOOL)
    ir.builder.call(EFFECT, {"args": (x,), "keywords": {}}, callee=print)
    function = ir.function("f", branch_reading(ir, c, x, x))
    assert sink(function) is function
