"""Liveness: straight code, branches, loops."""

import operator

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Function, LoopShape, Parameter
from gradscribe.ir.lengths import Facts
from gradscribe.ir.liveness import liveness
from gradscribe.ir.trees import LEAF
from gradscribe.ir.types import BOOL, FLOAT, INT
from gradscribe.primitives import elementwise  # noqa: F401  (fills the table)
from gradscribe.primitives.control import CONSTANT
from gradscribe.primitives.registry import PRIMITIVES


def add(builder, x, y, name=""):
    return builder.call(PRIMITIVES[operator.add], {"x": x, "y": y}, callee=operator.add, name=name)


def function_of(builder, parameters, result):
    return Function(
        "f",
        tuple(Parameter(value.name, LEAF, (value,)) for value in parameters),
        Block(tuple(parameters), tuple(builder.operations), (result,)),
        LEAF,
        builder.facts,
    )


def names(values):
    return {value.name for value in values if value.name}


def test_a_value_is_live_until_its_last_use():
    builder = Builder(Facts())
    x, y = builder.named(FLOAT, "x"), builder.named(FLOAT, "y")
    a = add(builder, x, y, "a")
    b = add(builder, a, x, "b")
    c = add(builder, b, b, "c")
    function = function_of(builder, (x, y), c)
    live = liveness(function)
    after = [names(live.live_after(operation)) for operation in function.body.operations]
    assert after == [{"a", "x"}, {"b"}, {"c"}]
    assert names(live.live_into(function.body)) == {"x", "y"}


def test_a_value_read_in_one_branch_is_dead_in_the_other():
    builder = Builder(Facts())
    x, flag = builder.named(FLOAT, "x"), builder.named(BOOL, "flag")
    t = add(builder, x, x, "t")
    with builder.block() as then:
        u = add(builder, t, t, "u")
        v = add(builder, u, t, "v")
    with builder.block() as otherwise:
        w = add(builder, x, x, "w")
    result = builder.named(FLOAT, "r")
    builder.emit_if(flag, Block((), tuple(then), (v,)), Block((), tuple(otherwise), (w,)), [result])
    function = function_of(builder, (x, flag), result)
    live = liveness(function)
    assert [names(live.live_after(operation)) for operation in then] == [{"u", "t"}, {"v"}]
    assert [names(live.live_after(operation)) for operation in otherwise] == [{"w"}]
    assert names(live.live_after(function.body.operations[0])) == {"t", "x", "flag"}


def test_what_a_loop_reads_from_outside_is_live_in_every_iteration():
    builder = Builder(Facts())
    x, n = builder.named(FLOAT, "x"), builder.named(INT, "n")
    scale = add(builder, x, x, "scale")
    start = builder.call(CONSTANT, {"value": 0}, name="start")
    step = builder.call(CONSTANT, {"value": 1}, name="step")
    index, carried = builder.named(INT, "i"), builder.named(FLOAT, "h")
    with builder.block() as body:
        t = add(builder, carried, scale, "t")
        u = add(builder, t, t, "u")
    result = builder.named(FLOAT, "r")
    builder.emit_loop(
        LoopShape(("range",), 1),
        (start, n, step, x),
        [Block((index, carried), tuple(body), (u,))],
        [result],
    )
    last = add(builder, result, n, "last")
    function = function_of(builder, (x, n), last)
    live = liveness(function)
    assert [names(live.live_after(operation)) for operation in body] == [
        {"t", "scale", "n"},
        {"u", "scale", "n"},
    ]
    loop = function.body.operations[-2]
    assert names(live.live_after(loop)) == {"r", "n"}
    assert names(live.reads(loop)) == {"start", "n", "step", "x", "scale"}


def test_condition_parameters_live_through_the_condition():
    builder = Builder(Facts())
    x = builder.named(FLOAT, "x")
    flag = builder.named(BOOL, "flag")
    carried, tested = builder.named(FLOAT, "h"), builder.named(FLOAT, "tested")
    with builder.block() as body:
        u = add(builder, carried, carried, "u")
    with builder.block() as condition:
        add(builder, tested, tested, "s")
    result = builder.named(FLOAT, "r")
    builder.emit_loop(
        LoopShape((), 1, condition=True),
        (x,),
        [Block((carried,), tuple(body), (u,)), Block((tested,), tuple(condition), (flag,))],
        [result],
    )
    function = function_of(builder, (x, flag), result)
    live = liveness(function)
    assert names(live.live_after(condition[0])) == {"tested", "flag"}
    assert names(live.live_after(body[0])) == {"u", "flag"}
