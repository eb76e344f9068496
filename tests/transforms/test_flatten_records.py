"""Records of mirrored loop nests become stacks, popped in the reverse order of the pushes."""

import operator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Function, LoopShape, Parameter, walk
from gradscribe.ir.lengths import Facts
from gradscribe.ir.printer import print_function
from gradscribe.ir.trees import LEAF, Node
from gradscribe.ir.types import FLOAT, INT, Array, Collected
from gradscribe.ir.verifier import verify
from gradscribe.primitives import elementwise  # noqa: F401  (fills the table)
from gradscribe.primitives.control import CONSTANT, COPY, PUSH, STACK, STACK_POP
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.passes.bufferize import bufferize
from gradscribe.transforms.passes.records.flatten_records import flatten_pair, flatten_records
from tests.interpreter import run
from tests.sampling import RUN, examples

VECTOR = Array("float64", (Affine.of(2),))


class Nest:
    """A forward loop nest that collects, and its mirror, which consumes what was collected.

    A plan says what an iteration does, in order: "s" updates and collects a number, "v" a vector,
    and a plan within the plan is an inner loop. order(n): the order in which the mirror of a
    iteration does the mirrors of these n things.
    """

    def __init__(self, plan, order=lambda n: range(n - 1, -1, -1), bare=False):
        self.builder = Builder(Facts())
        self.plan = plan
        self.order = order
        self.bare = bare  # the innermost mirrors run over their records alone
        self.parameters = self.named({"n": INT, "s": FLOAT, "v": VECTOR})
        self.ends = self.forward(plan, *self.parameters)
        self.records = self.ends[2:]

    def named(self, types):
        return [self.builder.named(type_, name) for name, type_ in types.items()]

    def number(self, value):
        return self.builder.call(CONSTANT, {"value": value})

    def op(self, callee, x, y, name=""):
        return self.builder.call(PRIMITIVES[callee], {"x": x, "y": y}, callee=callee, name=name)

    def range(self, length):
        return [self.number(0), length, self.number(1)]

    def forward(self, plan, length, s, v):
        builder = self.builder
        index, a, b = (
            builder.named(t, name) for t, name in ((INT, "i"), (FLOAT, "s"), (VECTOR, "v"))
        )
        items, operands = (index, a, b), [*self.range(length), s, v]
        with builder.block() as operations:
            collected = []
            for step in plan:
                if step == "s":
                    collected.append(a)
                    a = self.op(
                        operator.add, self.op(operator.mul, a, self.number(0.5)), index, "s"
                    )
                elif step == "v":
                    collected.append(b)
                    b = self.op(operator.sub, self.op(operator.mul, b, a), a, "v")
                else:
                    longer = self.op(operator.add, index, self.number(1))
                    a, b, *inner = self.forward(step, longer, a, b)
                    collected += inner
        results = [builder.named(FLOAT, "s"), builder.named(VECTOR, "v")]
        results += [builder.named(Collected(value.type), "steps") for value in collected]
        shape = LoopShape(("range",), 2, len(collected))
        body = Block(items, tuple(operations), (a, b, *collected))
        builder.emit_loop(shape, operands, [body], results)
        return results

    def mirror(self, plan, length, s, v, records):
        builder = self.builder
        index, a, b = (
            builder.named(t, name) for t, name in ((INT, "i"), (FLOAT, "d_s"), (VECTOR, "d_v"))
        )
        items = [builder.named(record.type.item, "item") for record in records]
        carried = (a, b)
        alone = self.bare and not any(isinstance(step, list) for step in plan)
        with builder.block() as operations:
            of_step = self.items_of_steps(plan, items)
            for number in self.order(len(plan)):
                step, found = plan[number], of_step[number]
                if step == "s":
                    a = self.op(operator.sub, self.op(operator.mul, a, self.number(0.9)), found[0])
                elif step == "v":
                    b = self.op(operator.sub, self.op(operator.mul, b, a), found[0])
                else:
                    longer = (
                        self.number(1) if alone else self.op(operator.add, index, self.number(1))
                    )
                    a, b = self.mirror(step, longer, a, b, found)
        results = [builder.named(FLOAT, "d_s"), builder.named(VECTOR, "d_v")]
        kinds = ("collected",) * len(records)
        shape = LoopShape(kinds if alone else ("range", *kinds), 2, reversed=True)
        first = [] if alone else [index]
        body = Block((*first, *items, *carried), tuple(operations), (a, b))
        ranges = [] if alone else self.range(length)
        builder.emit_loop(shape, [*ranges, *records, s, v], [body], results)
        return results

    def items_of_steps(self, plan, items):
        found, rest = [], list(items)
        for step in plan:
            count = 1 if isinstance(step, str) else leaves(step)
            found.append(rest[:count])
            rest = rest[count:]
        return found

    def function(self, *more):
        """Both nests in one function, which returns these values besides."""
        s, v, *records = self.ends
        results = self.mirror(self.plan, self.parameters[0], s, v, records)
        return function_of("f", self.builder, self.parameters, (*results, *more))

    def pair(self):
        """The nests in two functions: (n, s, v) -> (ends, record), (record, n, s, v) -> ends."""
        forward = function_of("f_forward", self.builder, self.parameters, self.ends)
        tree = Node(tuple, (LEAF,) * len(self.records))
        result = Node(tuple, (Node(tuple, (LEAF, LEAF)), tree))
        forward = replace(forward, result=result, record=len(self.records))
        self.builder = Builder(Facts())
        record = self.records
        parameters = self.named({"n": INT, "d_s": FLOAT, "d_v": VECTOR})
        results = self.mirror(self.plan, *parameters, record)
        adjoint = function_of("f_adjoint", self.builder, parameters, results)
        first = Parameter("record", tree, tuple(record))
        body = replace(adjoint.body, parameters=(*record, *parameters))
        return forward, replace(adjoint, parameters=(first, *adjoint.parameters), body=body)


def function_of(name, builder, parameters, results):
    return Function(
        name,
        tuple(Parameter(value.name, LEAF, (value,)) for value in parameters),
        Block(tuple(parameters), tuple(builder.operations), tuple(results)),
        Node(tuple, (LEAF,) * len(results)),
        builder.facts,
    )


def leaves(plan):
    return sum(1 if isinstance(step, str) else leaves(step) for step in plan)


def check(function):
    """Flatten, run both, compare; the flattened function."""
    verify(function)
    flattened = flatten_records(bufferize(function))
    verify(flattened)
    for n in (0, 1, 3):
        arguments = n, 1.5, np.array([1.0, -2.0])
        assert_equal(run(function, *arguments), run(flattened, *arguments, in_place=True))
    return flattened


def check_pair(forward, adjoint):
    """Flatten, run both, the adjoint twice; the flattened functions."""
    verify(forward)
    verify(adjoint)
    leaves = range(2, len(forward.body.yields))
    flattened = flatten_pair(bufferize(forward, record=leaves), bufferize(adjoint))
    for function in flattened:
        verify(function)
    for n in (0, 1, 3):
        arguments = n, 1.5, np.array([1.0, -2.0])
        (s, v), record = run(forward, *arguments)
        (found_s, found_v), stacks = run(flattened[0], *arguments, in_place=True)
        assert_equal((s, v), (found_s, found_v))
        expected = run(adjoint, record, n, s, v)
        for _ in range(2):
            assert_equal(expected, run(flattened[1], stacks, n, s, v, in_place=True))
    return flattened


def assert_equal(expected, found):
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


def count(function, primitive):
    return sum(operation.primitive is primitive for operation in walk(function.body))


def has_nested_records(function):
    return any(
        isinstance(value.type, Collected) and isinstance(value.type.item, Collected)
        for operation in walk(function.body)
        for value in operation.results
    )


plans = st.recursive(
    st.lists(st.sampled_from(["s", "v"]), min_size=1, max_size=3),
    lambda inner: st.lists(st.one_of(st.sampled_from(["s", "v"]), inner), min_size=1, max_size=3),
    max_leaves=5,
)


@seed(RUN.seed)
@settings(max_examples=examples(100, 25), database=None)
@given(plans, st.randoms(use_true_random=False), st.booleans())
def test_results_are_the_same_whatever_the_order_of_use(plan, random, mirrored):
    def shuffled(n):
        return random.sample(range(n), n)

    nest = Nest(plan) if mirrored else Nest(plan, shuffled)
    flattened = check(nest.function())
    assert not has_nested_records(flattened)


def test_nested_records_in_mirrored_order_share_one_stack():
    flattened = check(Nest([["s", "s"], "s"]).function())
    assert count(flattened, STACK) == 1
    assert (count(flattened, PUSH), count(flattened, STACK_POP)) == (3, 3)
    assert STACK in [operation.primitive for operation in flattened.body.operations]


def test_the_loops_with_a_stack_collect_and_consume_nothing():
    flattened = check(Nest([["s"]]).function())
    text = print_function(flattened)
    assert "collect" not in text.replace("collected[float]", "")


def test_records_used_in_another_order_get_stacks_of_their_own():
    flattened = check(Nest([["s"], ["s"]], lambda n: range(n)).function())
    assert count(flattened, STACK) == 2


def test_items_of_different_types_get_stacks_of_their_own():
    flattened = check(Nest([["s", "v"]]).function())
    assert count(flattened, STACK) == 2


def test_pops_move_up_to_keep_the_order():
    flattened = check(Nest([["s", "s"]], lambda n: range(n)).function())
    assert count(flattened, STACK) == 1


def test_a_record_that_is_not_nested_stays():
    function = Nest(["s", "s"]).function()
    assert print_function(flatten_records(function)) == print_function(function)


def test_a_record_that_is_returned_stays():
    nest = Nest([["s"]])
    function = nest.function(*nest.records)
    assert print_function(flatten_records(function)) == print_function(function)


@pytest.mark.parametrize("plan", [[["s"]], [["s", "s"], "s"]])
def test_a_mirror_without_a_range_keeps_its_record(plan):
    flattened = check(Nest(plan, bare=True).function())
    assert has_nested_records(flattened)


# -- forward and adjoint apart -----------------------------------------------------------------


@seed(RUN.seed)
@settings(max_examples=examples(100, 25), database=None)
@given(plans, st.randoms(use_true_random=False), st.booleans())
def test_a_pair_gives_the_same_results(plan, random, mirrored):
    def shuffled(n):
        return random.sample(range(n), n)

    nest = Nest(plan) if mirrored else Nest(plan, shuffled)
    forward, adjoint = check_pair(*nest.pair())
    assert not has_nested_records(forward)
    assert forward.record == len(adjoint.parameters[0].leaves)


def test_the_forward_function_returns_one_stack_and_the_adjoint_pops_from_a_copy():
    forward, adjoint = check_pair(*Nest([["s", "s"], "s"]).pair())
    assert forward.record == 1
    assert (count(forward, STACK), count(forward, PUSH)) == (1, 3)
    assert count(adjoint, STACK_POP) == 3
    (stack,) = adjoint.parameters[0].leaves
    assert adjoint.parameters[0].tree == LEAF
    readers = [operation for operation in walk(adjoint.body) if stack in operation.operands]
    assert [operation.primitive for operation in readers] == [COPY]


def test_a_pair_without_nested_records_stays():
    pair = Nest(["s", "v"]).pair()
    assert flatten_pair(*pair) == pair


def test_a_pair_whose_mirror_has_no_range_keeps_its_record():
    forward, _ = check_pair(*Nest([["s"]], bare=True).pair())
    assert has_nested_records(forward)
