"""Which values may be undefined: what merges, loops and containers hand on."""

from gradscribe.ir.core import Block, Function, LoopShape
from gradscribe.ir.trees import LEAF, Node
from gradscribe.ir.types import BOOL, FLOAT, INT, Collected, Never
from gradscribe.primitives.control import CONSTANT, ITEM, TUPLE, UNDEF
from gradscribe.transforms.analyses.definedness import possibly_undefined
from tests.handmade import Hand


def function_of(ir, *results, undefined=()):
    parameters = tuple(leaf for parameter in ir.parameters for leaf in parameter.leaves)
    return Function(
        "f",
        tuple(ir.parameters),
        Block(parameters, tuple(ir.builder.operations), results),
        Node(tuple, (LEAF,) * len(results)),
        ir.builder.facts,
        undefined=frozenset(undefined),
    )


def names(function):
    return {value.name for value in possibly_undefined(function) if value.name}


def merged(ir, type_=FLOAT, name="m"):
    """A value that one side of a branch leaves undefined."""
    builder = ir.builder
    flag, x = ir.parameter("flag", BOOL), ir.parameter("x", FLOAT)
    with builder.block() as nothing:
        undefined = builder.call(UNDEF, {"type": type_})
    result = builder.named(FLOAT, name)
    builder.emit_if(flag, Block((), (), (x,)), Block((), tuple(nothing), (undefined,)), [result])
    return result


def test_a_merge_with_nothing_is_possibly_undefined():
    ir = Hand()
    assert names(function_of(ir, merged(ir))) == {"m"}


def test_a_path_that_raises_leaves_nothing_undefined():
    ir = Hand()
    assert names(function_of(ir, merged(ir, Never()))) == set()


def test_containers_hand_it_on_and_arithmetic_does_not():
    ir = Hand()
    m = merged(ir)
    pair = ir.builder.call(TUPLE, {"items": (m, m)}, name="pair")
    item = ir.builder.call(ITEM, {"x": pair, "position": 0}, name="item")
    square = ir.op(abs, item, name="square")
    assert names(function_of(ir, square)) == {"m", "pair", "item"}


def test_loops_hand_it_from_iteration_to_iteration_and_to_their_records():
    ir = Hand()
    m, n = merged(ir), ir.parameter("n", INT)
    builder = ir.builder
    start, step = (builder.call(CONSTANT, {"value": value}) for value in (0, 1))
    index, a, b = (builder.named(t, name) for t, name in ((INT, "i"), (FLOAT, "a"), (FLOAT, "b")))
    x = ir.parameters[1].leaves[0]
    results = [builder.named(FLOAT, "a"), builder.named(FLOAT, "b")]
    record = builder.named(Collected(FLOAT), "steps")
    shape = LoopShape(("range",), 2, collects=1)
    body = Block((index, a, b), (), (b, x, a))
    builder.emit_loop(shape, (start, n, step, x, m), [body], [*results, record])
    assert names(function_of(ir, *results, record)) == {"m", "a", "b", "steps"}


def test_an_entry_of_a_record_may_be_undefined():
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    assert names(function_of(ir, x, undefined=[x])) == {"x"}
