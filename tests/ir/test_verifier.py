"""What the verifier accepts, and what it refuses with which words."""

import operator
from dataclasses import replace

import numpy as np
import pytest

from gradscribe.ir.core import (
    CALL,
    IF,
    Block,
    Callee,
    LoopShape,
    Operand,
    Operation,
    Parameter,
    Value,
)
from gradscribe.ir.trees import LEAF, Node
from gradscribe.ir.types import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Collected,
    Never,
    Opaque,
    Scalar,
    Sequence,
    Tuple,
    Undefined,
)
from gradscribe.ir.verifier import VerificationError, verify
from gradscribe.primitives.control import CONSTANT, RAISE, UNDEF
from gradscribe.primitives.registry import PRIMITIVES
from tests.handmade import Hand, vector

FLOAT64 = Scalar("float64", weak=False)


@pytest.fixture
def ir():
    return Hand()


def refuses(function, text):
    with pytest.raises(VerificationError) as caught:
        verify(function)
    message = str(caught.value)
    assert text in message
    assert f"function {function.name}(" in message, "the function is shown"


def test_straight_code_passes(ir):
    x = ir.parameter("x", vector(ir.length("n")))
    verify(ir.function("f", ir.op(operator.add, x, ir.op(np.tanh, x))))


def test_use_before_definition(ir):
    x = ir.parameter("x", FLOAT)
    y = ir.op(operator.neg, x, name="y")
    z = ir.op(operator.neg, y, name="z")
    ir.builder.operations.reverse()
    refuses(ir.function("f", z), "%y: float is used before its definition, by %z = negative")


def test_use_outside_the_block(ir):
    c, x = ir.parameter("c", BOOL), ir.parameter("x", FLOAT)
    inner = []

    def then():
        inner.append(ir.op(operator.neg, x, name="inner"))
        return []

    ir.branch(c, then, lambda: [], [])
    refuses(ir.function("f", inner[0]), "%inner: float is used outside its block, by a yield")


def test_a_value_of_one_branch_is_not_seen_in_the_other(ir):
    c, x = ir.parameter("c", BOOL), ir.parameter("x", FLOAT)
    inner = []

    def then():
        inner.append(ir.op(operator.neg, x, name="inner"))
        return inner

    (y,) = ir.branch(c, then, lambda: inner, [("y", FLOAT)])
    refuses(ir.function("f", y), "outside its block")


def test_a_value_is_defined_once(ir):
    x = ir.parameter("x", FLOAT)
    y = ir.op(operator.neg, x, name="y")
    ir.builder.append(ir.builder.operations[-1])
    refuses(ir.function("f", y), "%y: float is defined again")


def test_parameters_are_the_leaves_of_their_trees(ir):
    x = ir.parameter("x", FLOAT)
    function = ir.function("f", x)
    pair = Parameter("x", Node(tuple, (LEAF, LEAF)), (x,))
    refuses(replace(function, parameters=(pair,)), "leaves of parameter x: expected 2, found 1")
    refuses(replace(function, parameters=()), "not the leaves of the function's parameters")
    refuses(replace(function, result=pair.tree), "leaves of the result: expected 2, found 1")


def test_the_result_has_the_type_of_the_rule(ir):
    x = ir.parameter("x", FLOAT)
    ir.builder.append(
        Operation(
            PRIMITIVES[np.tanh],
            (x,),
            (Value(INT, "y"),),
            {"x": Operand(0)},
            callee=np.tanh,
        )
    )
    y = ir.builder.operations[-1].result
    refuses(ir.function("f", y), "%y = tanh makes float64, not int")


def test_known_lengths_must_agree(ir):
    x = ir.parameter("x", vector(3))
    y = ir.op(np.tanh, x, name="y")
    operation = ir.builder.operations.pop()
    wrong = Value(vector(4), "y")
    ir.builder.append(replace(operation, results=(wrong,)))
    assert y.type == x.type
    refuses(ir.function("f", wrong), "makes float64[3], not float64[4]")


def test_unknown_lengths_may_be_named_otherwise(ir):
    x = ir.parameter("x", vector(ir.length("n")))
    ir.op(np.tanh, x)
    operation = ir.builder.operations.pop()
    renamed = Value(vector(ir.length("m")))
    ir.builder.append(replace(operation, results=(renamed,)))
    verify(ir.function("f", renamed))


def test_operands_are_numbered_by_the_attributes(ir):
    x = ir.parameter("x", FLOAT)
    ir.op(np.tanh, x)
    operation = ir.builder.operations.pop()
    ir.builder.append(replace(operation, operands=(x, x)))
    refuses(ir.function("f", operation.result), "has 2 operands; its attributes use those of [0]")


@pytest.mark.parametrize("hide", [lambda x: x, lambda x: [x] * 2, lambda x: {"a": (1, x)}])
def test_a_value_among_the_attributes(ir, hide):
    x = ir.parameter("x", FLOAT)
    result = Value(Opaque())
    ir.builder.append(Operation(CONSTANT, (), (result,), {"value": hide(x)}))
    refuses(ir.function("f", result), "has %x: float among its attributes, not its operands")


def test_an_opaque_value_does_not_start_a_carried_number(ir):
    x = ir.parameter("x", Opaque())
    item, carried, result = Value(INT), Value(FLOAT), Value(FLOAT)
    bounds = [ir.constant(number) for number in (0, 3, 1)]
    body = Block((item, carried), (), (carried,))
    shape = LoopShape(("range",), 1)
    ir.builder.emit_loop(shape, [*bounds, x], [body], [result])
    refuses(ir.function("f", result), "initial values of loop")


def test_operands_that_do_not_fit(ir):
    x = ir.parameter("x", Opaque())
    result = Value(FLOAT)
    ir.builder.append(
        Operation(PRIMITIVES[np.tanh], (x,), (result,), {"x": Operand(0)}, callee=np.tanh)
    )
    refuses(ir.function("f", result), "tanh: expected a number or an array")


def test_verifying_adds_no_guards():
    ir = Hand()
    x, y = (ir.parameter(name, vector(ir.length(name, minimum=0))) for name in "xy")
    facts = ir.builder.facts
    facts.samples.update({x.type.dims[0].terms[0][0]: 4, y.type.dims[0].terms[0][0]: 4})
    z = ir.op(operator.add, x, y)
    guards = list(facts.guards)
    verify(ir.function("f", z))
    assert facts.guards == guards


class TestIf:
    def test_yields_may_be_narrower(self, ir):
        c, x, i = (ir.parameter(n, t) for n, t in (("c", BOOL), ("x", FLOAT), ("i", INT)))
        results = ir.branch(
            c,
            lambda: (x, ir.op(UNDEF, Undefined()), ir.op(UNDEF, Never())),
            lambda: (i, i, x),
            [("a", FLOAT), ("b", INT), ("d", FLOAT)],
        )
        verify(ir.function("f", *results))

    def test_yields_may_not_be_wider(self, ir):
        c, x, i = (ir.parameter(n, t) for n, t in (("c", BOOL), ("x", FLOAT), ("i", INT)))
        (y,) = ir.branch(c, lambda: x, lambda: i, [("y", INT)])
        refuses(ir.function("f", y), "yields of %y = if: %x: expected int(y), found float")

    def test_arrays_and_scalars_do_not_mix(self, ir):
        c, x = ir.parameter("c", BOOL), ir.parameter("x", FLOAT)
        v = ir.parameter("v", vector(3))
        (y,) = ir.branch(c, lambda: x, lambda: v, [("y", v.type)])
        refuses(ir.function("f", y), "expected float64[3], found float")

    def test_each_block_yields_all_results(self, ir):
        c, x = ir.parameter("c", BOOL), ir.parameter("x", FLOAT)
        (y,) = ir.branch(c, lambda: x, lambda: [], [("y", FLOAT)])
        refuses(ir.function("f", y), "yields of %y = if: expected 1, found 0")

    def test_blocks_have_no_parameters(self, ir):
        c = ir.parameter("c", BOOL)
        blocks = (Block((Value(FLOAT),), (), ()), Block((), (), ()))
        ir.builder.append(Operation(IF, (c,), (), {}, blocks))
        refuses(ir.function("f", c), "block parameters of if: expected 0, found 1")

    def test_the_condition_is_a_truth_value(self, ir):
        c = ir.parameter("c", Tuple((BOOL,)))
        ir.branch(c, lambda: [], lambda: [], [])
        refuses(ir.function("f", c), "if has a condition of type (bool)")

    def test_a_block_that_raises_yields_never(self, ir):
        c, x = ir.parameter("c", BOOL), ir.parameter("x", FLOAT)

        def then():
            ir.op(RAISE, ir.constant("error"), None)
            return ir.op(UNDEF, Never())

        verify(ir.function("f", *ir.branch(c, then, lambda: x, [("y", FLOAT)])))


class TestLoop:
    def loop(self, ir, shape, operands, parameters, body, results, condition=None):
        values = ir.loop(shape, operands, parameters, body, results, condition)
        return ir.function("f", *values)

    def test_all_kinds_of_iterables(self, ir):
        n = ir.length("n")
        xs = ir.parameter("xs", vector(n))
        rows = ir.parameter("rows", Array("float64", (n, ir.length("m"))))
        items = ir.parameter("items", Sequence(FLOAT))
        record = ir.parameter("record", Collected(Tuple((BOOL,))))
        i = ir.parameter("i", INT)
        shape = LoopShape(("range", "array", "array", "sequence", "collected"), 0)
        types = [INT, FLOAT64, vector(ir.length("k")), FLOAT, Tuple((BOOL,))]
        parameters = [(f"item{k}", type_) for k, type_ in enumerate(types)]
        operands = (i, i, i, xs, rows, items, record)
        verify(self.loop(ir, shape, operands, parameters, lambda *_: [], []))

    @pytest.mark.parametrize(
        ("kind", "type_", "text"),
        [
            ("range", FLOAT, "has a range of"),
            ("array", FLOAT, "runs over float"),
            ("array", Array("float64", ()), "runs over float64[]"),
            ("sequence", FLOAT, "runs over float"),
            ("collected", vector(3), "runs over float64[3]"),
        ],
    )
    def test_iterables_are_iterable(self, ir, kind, type_, text):
        x = ir.parameter("x", type_)
        shape = LoopShape((kind,), 0)
        operands = [x] * shape.iterable_operands
        function = self.loop(ir, shape, operands, [("item", FLOAT)], lambda _: [], [])
        refuses(function, text)

    def test_items_fit_their_parameters(self, ir):
        x = ir.parameter("x", vector(3))
        function = self.loop(ir, LoopShape(("array",), 0), [x], [("i", INT)], lambda _: [], [])
        refuses(function, "the item of loop: expected int(i), found float64")

    def test_carried_types(self, ir):
        xs, s = ir.parameter("xs", vector(3)), ir.parameter("s", INT)
        shape = LoopShape(("array",), 1)
        parameters = [("x", FLOAT64), ("s", FLOAT64)]
        verify(self.loop(ir, shape, (xs, s), parameters, lambda x, s: x, [("s", FLOAT64)]))
        other = Hand()
        xs, s = other.parameter("xs", vector(3)), other.parameter("s", INT)
        function = self.loop(
            other, shape, (xs, s), [("x", FLOAT64), ("s", INT)], lambda x, s: x, [("s", INT)]
        )
        refuses(function, "yields of %s = loop: %x: expected int(s), found float64")

    def test_the_number_of_operands(self, ir):
        xs = ir.parameter("xs", vector(3))
        function = self.loop(
            ir, LoopShape(("array",), 1), (xs,), [("x", FLOAT64), ("s", FLOAT64)],
            lambda x, s: x, [("s", FLOAT64)],
        )  # fmt: skip
        refuses(function, "operands of %s = loop: expected 2, found 1")

    def test_the_number_of_yields_counts_again_and_records(self, ir):
        xs, c = ir.parameter("xs", vector(3)), ir.parameter("c", BOOL)
        shape = LoopShape(("array",), 0, collects=1, exits=True)
        results = [("record", Collected(FLOAT64))]
        function = self.loop(ir, shape, (xs,), [("x", FLOAT64)], lambda x: (c, x), results)
        verify(function)
        ir.builder.operations.clear()
        function = self.loop(ir, shape, (xs,), [("x", FLOAT64)], lambda x: x, results)
        refuses(function, "yields of %record = loop: expected 2, found 1")

    def test_the_exit_flag_is_a_bool(self, ir):
        xs = ir.parameter("xs", vector(3))
        shape = LoopShape(("array",), 0, exits=True)
        function = self.loop(ir, shape, (xs,), [("x", FLOAT64)], lambda x: x, [])
        refuses(function, "the exit flag of loop: expected bool, found float64")

    def test_records_have_the_collected_type(self, ir):
        xs = ir.parameter("xs", vector(3))
        shape = LoopShape(("array",), 0, collects=1)
        function = self.loop(
            ir, shape, (xs,), [("x", FLOAT64)], lambda x: x, [("r", Collected(BOOL))]
        )
        refuses(function, "expected collected[bool], found collected[float64]")

    def test_the_condition_region_has_the_carried_values(self, ir):
        x = ir.parameter("x", FLOAT)
        shape = LoopShape((), 1, condition=True)
        carried = [("x", FLOAT)]
        condition = lambda v: ir.op(operator.lt, v, x)
        verify(self.loop(ir, shape, (x,), carried, lambda v: v, carried, condition))
        operation = ir.builder.operations.pop()
        body, _ = operation.regions
        bare = Block((), (), (x,))
        ir.builder.append(replace(operation, regions=(body, bare)))
        refuses(ir.function("f", *operation.results), "condition parameters of %x = loop")

    def test_a_reversed_loop_has_no_condition(self, ir):
        x = ir.parameter("x", FLOAT)
        shape = LoopShape((), 1, condition=True, reversed=True)
        carried = [("x", FLOAT)]
        function = self.loop(ir, shape, (x,), carried, lambda v: v, carried, lambda v: x)
        refuses(function, "is reversed: it needs iterables, and can have no condition")


def test_a_call_passes_what_the_function_takes(ir):
    callee = Hand()
    square = callee.function("half", callee.op(operator.neg, callee.parameter("x", FLOAT)))
    x = ir.parameter("x", FLOAT)
    y = Value(FLOAT, "y")
    ir.builder.append(Operation(CALL, (x,), (y,), {"function": Callee("square", lambda: square)}))
    verify(ir.function("f", y))
    ir.builder.operations[-1] = Operation(
        CALL, (x, x), (y,), {"function": Callee("square", lambda: square)}
    )
    refuses(ir.function("f", y), "arguments of %y = call: expected 1, found 2")


def test_a_region_cannot_read_the_results_of_its_own_operation() -> None:
    ir = Hand()
    x, condition = ir.parameter("x", FLOAT), ir.parameter("c", BOOL)
    result = ir.builder.named(FLOAT, "y")
    ir.builder.emit_if(condition, Block((), (), (result,)), Block((), (), (x,)), [result])
    with pytest.raises(VerificationError, match="used before its definition"):
        verify(ir.function("f", result))
