"""Which flags tell that a value is undefined."""

from gradscribe.ir.core import Block, Function
from gradscribe.ir.trees import LEAF, Node
from gradscribe.ir.types import BOOL, FLOAT
from gradscribe.primitives.control import CONSTANT, UNDEF
from gradscribe.transforms.analyses.absence import absences, telling
from tests.handmade import Hand


def branch(builder, condition, then, otherwise, **names):
    """An `if` with a result for each name; then, otherwise: give what their sides yield."""
    sides = []
    for side in (then, otherwise):
        with builder.block() as operations:
            given = side()
        sides.append(Block((), tuple(operations), given))
    results = [builder.named(type_, name) for name, type_ in names.items()]
    builder.emit_if(condition, *sides, results)
    return results


def told(ir, value):
    """What tells of a value of this function, by name."""
    results = (value,)
    parameters = tuple(leaf for parameter in ir.parameters for leaf in parameter.leaves)
    body = Block(parameters, tuple(ir.builder.operations), results)
    tree = Node(tuple, (LEAF,) * len(results))
    function = Function("f", tuple(ir.parameters), body, tree, ir.builder.facts)
    return [(flag.name, outcome) for flag, outcome in telling(absences(function), value)]


def in_a_branch(ir, decided):
    """One of two values, as `flag` tells, both of them made where `decided` holds."""
    builder = ir.builder
    x, chosen = ir.parameter("x", FLOAT), ir.parameter("chosen", BOOL)

    def nothing(*types):
        return tuple(builder.call(UNDEF, {"type": type_}) for type_ in types)

    def made():
        def without():
            return nothing(FLOAT)

        return (chosen, *branch(builder, chosen, without, lambda: (x,), v=FLOAT))

    return branch(builder, decided, made, lambda: nothing(BOOL, FLOAT), flag=BOOL, value=FLOAT)


def test_a_flag_that_may_be_undefined_comes_after_the_one_that_tells_of_it():
    ir = Hand()
    _, value = in_a_branch(ir, ir.parameter("decided", BOOL))
    assert told(ir, value) == [("decided", False), ("flag", True)]


def test_a_flag_and_the_condition_that_it_repeats_tell_the_same():
    ir = Hand()
    builder, stop, outer = ir.builder, ir.parameter("stop", BOOL), ir.parameter("outer", BOOL)

    def constant(value):
        return lambda: (builder.call(CONSTANT, {"value": value}),)

    def inside():
        (goes_on,) = branch(builder, stop, constant(False), constant(True), goes_on=BOOL)
        return (goes_on, *in_a_branch(ir, goes_on))

    def outside():
        return tuple(builder.call(UNDEF, {"type": type_}) for type_ in (BOOL, BOOL, FLOAT))

    *_, value = branch(builder, outer, inside, outside, decided=BOOL, flag=BOOL, value=FLOAT)
    assert told(ir, value) == [("outer", False), ("decided", False), ("flag", True)]


def test_a_flag_that_nothing_tells_of_does_not_tell():
    ir = Hand()
    builder, first, second = ir.builder, ir.parameter("first", BOOL), ir.parameter("second", BOOL)

    def unknown():
        return (builder.call(UNDEF, {"type": BOOL}), builder.call(UNDEF, {"type": FLOAT}))

    def either():
        def inner():
            return tuple(in_a_branch(ir, second))

        return tuple(branch(builder, second, inner, unknown, flag=BOOL, value=FLOAT))

    _, value = branch(builder, first, either, unknown, flag=BOOL, value=FLOAT)
    assert told(ir, value) == []
