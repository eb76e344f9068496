"""Pushes that move into the sides of branches: what else reads a value keeps it."""

from __future__ import annotations

from collections import Counter

from gradscribe.codegen.pushes import sink_pushes
from gradscribe.ir.core import IF, Block, Operand, Operation, Value, walk
from gradscribe.ir.types import BOOL, FLOAT, Collected, Opaque
from gradscribe.primitives.control import PUSH, UNDEF


def undefined() -> Operation:
    return Operation(UNDEF, (), (Value(FLOAT),), {"type": FLOAT})


def branch(flag: Value, then: Block, otherwise: Block, count: int) -> Operation:
    return Operation(IF, (flag,), tuple(Value(FLOAT) for _ in range(count)), {}, (then, otherwise))


def push(stack: Value, value: Value) -> Operation:
    attributes = {"stack": Operand(0), "value": Operand(1)}
    return Operation(PUSH, (stack, value), (Value(Opaque()),), attributes)


def test_inner_branch_keeps_what_the_outer_one_yields() -> None:
    outer_flag, inner_flag, x = Value(BOOL), Value(BOOL), Value(FLOAT)
    stack = Value(Collected(FLOAT))
    missing, absent = undefined(), undefined()
    inner = branch(inner_flag, Block((), (), (x, x)), Block((), (missing,), (x, missing.result)), 2)
    then = Block((), (inner,), inner.results)
    otherwise = Block((), (absent,), (x, absent.result))
    outer = branch(outer_flag, then, otherwise, 2)
    kept, recorded = outer.results
    operations = [outer, push(stack, kept), push(stack, recorded)]
    reads = Counter(
        [*(v for o in walk(Block((), tuple(operations), ())) for v in o.operands), kept]
        + [v for o in (outer, inner) for region in o.regions for v in region.yields]
    )
    (sunk,) = sink_pushes(operations, reads)
    defined = {x} | {r for o in walk(Block((), (sunk,), ())) for r in o.results}
    yielded = {v for o in walk(Block((), (sunk,), ())) for r in o.regions for v in r.yields}
    assert sunk.results == (kept,)
    assert yielded <= defined
