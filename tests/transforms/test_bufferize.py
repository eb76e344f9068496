"""Bufferize: stores in place agree with stores that copy, and copies stand where they must."""

import copy
import operator

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    LOOP,
    Block,
    Function,
    Location,
    LoopShape,
    Parameter,
    SliceOf,
    walk,
)
from gradscribe.ir.lengths import Facts
from gradscribe.ir.printer import print_function
from gradscribe.ir.trees import LEAF, Node
from gradscribe.ir.types import FLOAT, INT, Collected
from gradscribe.ir.verifier import verify
from gradscribe.primitives.control import APPEND, CONSTANT, COPY, GET, LIST, UNDEF, ZEROS_LIKE
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, STORE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.passes.bufferize import bufferize
from tests.interpreter import run
from tests.sampling import RUN, examples
from tests.transforms.random_programs import (
    BROADCAST_TO,
    LIST_OF_VECTORS,
    VECTOR,
    random_arguments,
    random_function,
)

# -- generated programs: the old and the new way must agree exactly ----------------------------


@seed(RUN.seed)
@settings(max_examples=examples(300, 60), database=None)
@given(st.randoms(use_true_random=False))
def test_stores_in_place_agree_with_stores_that_copy(random):
    function = random_function(random)
    verify(function)
    check(function, *random_arguments())


def check(function, *arguments):
    """Run in value semantics, bufferize, run in place; the bufferized function."""
    given_arguments = copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        expected = copy.deepcopy(run(function, *arguments))
        bufferized = bufferize(function)
        verify(bufferized)
        found = run(bufferized, *arguments, in_place=True)
        as_values = run(bufferized, *arguments)
    assert same(list(arguments), list(given_arguments)), "an argument was changed"
    assert same(found, expected)
    assert same(as_values, expected)
    assert_disjoint(found, arguments)
    return bufferized


def same(a, b):
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and np.array_equal(a, b, equal_nan=True)


def assert_disjoint(results, arguments):
    arrays, given_arrays = parts(list(results), np.ndarray), parts(arguments, np.ndarray)
    for number, array in enumerate(arrays):
        for other in arrays[:number] + given_arrays:
            assert not np.shares_memory(array, other), "a result shares memory"
    lists = [id(found) for found in parts(results, list) + parts(arguments, list)]
    assert len(set(lists)) == len(lists), "a list is shared"


def parts(value, cls):
    found = [value] if isinstance(value, cls) else []
    if isinstance(value, (list, tuple)):
        found += [part for item in value for part in parts(item, cls)]
    return found


# -- where the copies stand --------------------------------------------------------------------


class Program:
    """A function of vectors `a`, `b` and a list `xs`, written operation by operation."""

    def __init__(self, role="primal"):
        self.builder = Builder(Facts())
        self.builder.location = Location("f.py", 1, 0, 1, "", role)
        self.parameters = [
            self.builder.named(type_, name)
            for name, type_ in {"a": VECTOR, "b": VECTOR, "xs": LIST_OF_VECTORS}.items()
        ]
        self.a, self.b, self.xs = self.parameters

    def number(self, value=0):
        return self.builder.call(CONSTANT, {"value": value})

    def new(self, like=None, name=""):
        return self.builder.call(ZEROS_LIKE, {"x": like or self.a}, name=name)

    def view(self, x, start=1, stop=3, name=""):
        index = (SliceOf(start, stop),)
        return self.builder.call(GETITEM, {"x": x, "index": index}, name=name)

    def store(self, x, value=None, name="", primitive=STORE):
        path = ((GETITEM, {"index": (1,)}),)
        arguments = {"x": x, "value": value or self.number(7.0), "path": path}
        return self.builder.call(primitive, arguments, name=name or x.name)

    def add(self, x, y, name="", callee=operator.add):
        arguments = {"x": x, "y": y}
        return self.builder.call(PRIMITIVES[callee], arguments, name=name, callee=callee)

    def loop(self, inits, body, collects=0, over=None):
        """`body(item, *carried)` gives the next carried values, then what is collected."""
        builder = self.builder
        operands = [self.number(0), self.number(3), self.number(1)] if over is None else [over]
        item = builder.named(INT if over is None else over.type.item, "i")
        carried = [builder.named(value.type, value.name) for value in inits]
        with builder.block() as operations:
            yields = body(item, *carried)
        results = [builder.named(value.type, value.name) for value in inits]
        records = [builder.named(Collected(v.type), "steps") for v in yields[len(inits) :]]
        kind = "range" if over is None else "collected"
        builder.emit_loop(
            LoopShape((kind,), len(inits), collects, reversed=over is not None),
            [*operands, *inits],
            [Block((item, *carried), tuple(operations), tuple(yields))],
            [*results, *records],
        )
        return [*results, *records]

    def function(self, *results):
        return Function(
            "f",
            tuple(Parameter(value.name, LEAF, (value,)) for value in self.parameters),
            Block(tuple(self.parameters), tuple(self.builder.operations), results),
            Node(tuple, (LEAF,) * len(results)),
            self.builder.facts,
        )

    def checked(self, *results):
        function = self.function(*results)
        verify(function)
        a, b, _, xs = random_arguments()
        return check(function, a, b, xs)


def copies(function):
    """For each copy, what is copied, by name, and how many loops it stands in."""

    def inside(block, depth):
        for operation in block.operations:
            if operation.primitive is COPY:
                yield operation.operands[0].name, depth
            for region in operation.regions:
                yield from inside(region, depth + (operation.primitive is LOOP))

    return list(inside(function.body, 0))


def test_a_parameter_is_copied_once_before_its_first_store():
    program = Program()
    first = program.store(program.a)
    bufferized = program.checked(program.store(program.store(first)))
    assert copies(bufferized) == [("a", 0)]


def test_what_was_made_here_needs_no_copy():
    program = Program()
    z = program.new(name="z")
    assert copies(program.checked(program.store(program.store(z)))) == []


def test_the_old_value_is_copied_if_it_is_read_later():
    program = Program()
    z = program.new(name="z")
    later = program.store(z)
    assert copies(program.checked(program.add(z, later))) == [("z", 0)]


def test_a_view_is_copied_where_it_is_taken_not_its_base():
    program = Program()
    z = program.new(name="z")
    part = program.view(z, name="v")
    bufferized = program.checked(program.store(z), program.add(part, part))
    (view, copied) = [
        operation
        for operation in walk(bufferized.body)
        if operation.primitive is COPY or operation.primitive is GETITEM
    ]
    assert copied.operands == (view.result,)
    assert copied.result.name == "v"


def test_a_number_read_before_a_store_is_no_view():
    program = Program()
    z = program.new(name="z")
    number = program.builder.call(GETITEM, {"x": z, "index": (0,)})
    assert copies(program.checked(program.store(z), number)) == []


def test_a_view_dead_at_the_store_is_not_copied():
    program = Program()
    z = program.new(name="z")
    part = program.view(z)
    total = program.add(part, part)
    assert copies(program.checked(program.store(z), total)) == []


def test_storing_to_a_view_copies_the_part_if_the_base_is_read_later():
    program = Program()
    z = program.new(name="z")
    part = program.view(z, name="v")
    assert copies(program.checked(program.store(part), program.add(z, z))) == [("v", 0)]


def test_a_parameter_carried_by_a_loop_is_copied_before_it():
    program = Program()
    (stored,) = program.loop([program.a], lambda i, a: [program.store(a)])
    assert copies(program.checked(stored)) == [("a", 0)]


def test_a_parameter_is_copied_before_the_outermost_loop():
    program = Program()

    def outer(i, a):
        return program.loop([a], lambda j, a: [program.store(a)])

    (stored,) = program.loop([program.a], outer)
    assert copies(program.checked(stored)) == [("a", 0)]


def test_what_every_iteration_starts_from_is_copied_in_every_iteration():
    program = Program()
    z = program.new(name="z")
    t = program.new(name="t")
    (total,) = program.loop([t], lambda i, t: [program.add(t, program.store(z), "t")])
    assert copies(program.checked(total)) == [("z", 1)]


def test_permuted_arrays_stay_disjoint():
    program = Program()
    u, un = program.new(name="u"), program.new(name="un")

    def swap(i, u, un):
        return [program.store(un, name="un"), u]

    assert copies(program.checked(*program.loop([u, un], swap))) == []


def test_permuted_parameters_are_copied_before_the_loop():
    program = Program()

    def swap(i, u, un):
        return [program.store(un), u]

    results = program.loop([program.a, program.b], swap)
    assert copies(program.checked(*results)) == [("a", 0), ("b", 0)]


def test_one_array_carried_twice_is_copied_once():
    program = Program()
    z = program.new(name="z")

    def swap(i, u, un):
        return [program.store(un), u]

    assert copies(program.checked(*program.loop([z, z], swap))) == [("z", 0)]


def test_a_collected_array_that_is_stored_to_is_copied_in_every_iteration():
    program = Program()
    z = program.new(name="z")
    stored, steps = program.loop([z], lambda i, z: [program.store(z), z], collects=1)
    (total,) = program.loop(
        [program.new()], lambda item, t: [program.add(t, item, "t")], over=steps
    )
    assert copies(program.checked(stored, total)) == [("z", 1)]


def test_a_collected_view_is_copied_and_its_base_is_not():
    program = Program()
    z, half = program.new(name="z"), program.view(program.new())

    def body(i, z):
        stored = program.store(z)
        return [stored, program.view(stored, name="v")]

    stored, steps = program.loop([z], body, collects=1)
    (total,) = program.loop([half], lambda item, t: [program.add(t, item)], over=steps)
    bufferized = program.checked(stored, total)
    assert [depth for _, depth in copies(bufferized)] == [1]
    assert copies(bufferized)[0][0] == ""


def test_a_store_after_the_collecting_loop_copies_what_the_record_holds():
    program = Program()
    z = program.new(name="z")
    (steps,) = program.loop([], lambda i: [z], collects=1)
    stored = program.store(z)
    (total,) = program.loop(
        [program.new()], lambda item, t: [program.add(t, item, "t")], over=steps
    )
    assert copies(program.checked(stored, total)) == [("z", 0)]


def test_an_array_in_a_list_is_copied_before_a_store():
    program = Program()
    z = program.new(name="z")
    items = program.builder.call(LIST, {"items": (z,), "item": VECTOR})
    stored = program.store(z)
    kept = program.builder.call(GET, {"x": items, "index": 0})
    assert copies(program.checked(stored, program.add(kept, kept))) == [("z", 0)]


def test_a_list_that_grows_in_a_loop_is_copied_before_it_and_not_its_items():
    program = Program()

    def grow(i, xs):
        last = program.builder.call(GET, {"x": xs, "index": -1})
        value = program.add(last, last)
        return [program.builder.call(APPEND, {"x": xs, "value": value}, name="xs")]

    (xs,) = program.loop([program.xs], grow)
    last = program.builder.call(GET, {"x": xs, "index": -1})
    assert copies(program.checked(program.add(last, last))) == [("xs", 0)]


def test_a_broadcast_array_is_copied_before_a_store():
    program = Program()
    wide = program.builder.call(
        BROADCAST_TO, {"x": program.number(1.0), "shape": (4,)}, callee=np.broadcast_to, name="w"
    )
    assert copies(program.checked(program.store(wide))) == [("w", 0)]


def test_a_branch_that_stores_copies_and_the_other_does_not():
    program = Program()
    builder = program.builder
    less = builder.call(
        PRIMITIVES[operator.lt],
        {"x": program.number(1.0), "y": program.number(2.0)},
        callee=operator.lt,
    )
    z = program.new(name="z")
    with builder.block() as then:
        stored = program.store(z)
    result = builder.named(VECTOR, "z")
    builder.emit_if(less, Block((), tuple(then), (stored,)), Block((), (), (z,)), [result])
    assert copies(program.checked(result)) == []


def test_what_is_copied_in_every_iteration_is_not_copied_before_the_loop_too():
    program = Program()
    (steps,) = program.loop([], lambda i: [program.new()], collects=1)
    t = program.new(name="t")

    def body(item, h, t):
        return [item, program.add(t, program.store(h), "t")]

    _, total = program.loop([program.new(name="h"), t], body, over=steps)
    assert copies(program.checked(total)) == [("h", 1)]


def test_a_name_that_may_be_unbound_is_copied_where_it_is_stored_to():
    program = Program()
    builder = program.builder
    less = builder.call(
        PRIMITIVES[operator.lt],
        {"x": program.number(2.0), "y": program.number(1.0)},
        callee=operator.lt,
    )
    with builder.block() as nothing:
        undefined = builder.call(UNDEF, {"type": VECTOR})
    maybe = builder.named(VECTOR, "m")
    otherwise = Block((), tuple(nothing), (undefined,))
    builder.emit_if(less, Block((), (), (program.a,)), otherwise, [maybe])

    def body(i, m):
        with builder.block() as operations:
            stored = program.store(m)
        result = builder.named(VECTOR, "m")
        builder.emit_if(
            less, Block((), tuple(operations), (stored,)), Block((), (), (m,)), [result]
        )
        return [result]

    program.loop([maybe], body)
    assert copies(program.checked(program.new())) == [("m", 1)]


# -- stores to whole arrays ---------------------------------------------------------------------


def whole(program, primitive, x, value):
    arguments = {"x": x, "value": value, "path": ()}
    return program.builder.call(primitive, arguments, name=x.name)


def names(function):
    return [operation.primitive.name for operation in function.body.operations]


def test_a_parameter_that_is_overwritten_is_not_copied_first():
    program = Program()
    product = program.add(program.a, program.b, callee=operator.mul)
    bufferized = program.checked(whole(program, STORE, program.a, product))
    assert names(bufferized) == ["multiply"]
    assert bufferized.body.yields[0].name == "a"


def test_an_array_that_is_read_later_is_copied_when_it_overwrites_another():
    program = Program()
    product = program.add(program.a, program.b, callee=operator.mul)
    stored = whole(program, STORE, program.a, product)
    assert names(program.checked(stored, product)) == ["multiply", "copy"]


@pytest.mark.parametrize(("negated", "primitive"), [(False, "add"), (True, "subtract")])
def test_adding_to_a_parameter_makes_a_new_array(negated, primitive):
    program = Program()
    value = program.b
    if negated:
        value = program.builder.call(
            PRIMITIVES[operator.neg], {"x": program.b}, callee=operator.neg
        )
    bufferized = program.checked(whole(program, ACCUMULATE, program.a, value))
    assert names(bufferized) == [primitive]


def test_adding_to_an_array_of_our_own_stays_in_place():
    program = Program()
    z = program.new(name="z")
    bufferized = program.checked(whole(program, ACCUMULATE, z, program.b))
    assert names(bufferized) == ["zeros_like", "accumulate"]


# -- what is returned --------------------------------------------------------------------------


def test_a_returned_parameter_is_copied():
    program = Program()
    assert copies(program.checked(program.a)) == [("a", 0)]


def test_an_array_returned_twice_is_copied_once():
    program = Program()
    z = program.new(name="z")
    assert copies(program.checked(z, z)) == [("z", 0)]


def test_a_returned_list_has_items_of_its_own():
    program = Program()
    bufferized = program.checked(program.xs)
    assert copies(bufferized) == [("", 1)]


def test_the_record_may_share_memory_with_arguments_and_results():
    program = Program()
    z = program.new(name="z")
    bufferized = bufferize(program.function(z, program.a, z), record=(1, 2))
    assert copies(bufferized) == []


# -- reuse -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("callee", "primitive"),
    [(operator.mul, STORE), (operator.sub, STORE), (operator.add, ACCUMULATE)],
)
def test_a_dead_cotangent_is_updated_in_place(callee, primitive):
    program = Program("adjoint")
    d_h = program.add(program.a, program.b, "d_h")
    bufferized = program.checked(program.add(d_h, program.a, "d_h", callee))
    last = bufferized.body.operations[-1]
    assert (last.primitive, last.operands[0]) == (primitive, d_h)


def test_a_scaled_cotangent_that_is_read_later_is_not_updated_in_place():
    program = Program("adjoint")
    d_h = program.add(program.a, program.b, "d_h")
    scaled = program.add(d_h, program.a, "", operator.mul)
    function = program.function(scaled, d_h)
    assert print_function(bufferize(function)) == print_function(function)


def test_the_primal_is_never_done_in_place():
    program = Program("primal")
    h = program.add(program.a, program.b, "h")
    function = program.function(program.add(h, program.a, "h", operator.mul))
    assert print_function(bufferize(function)) == print_function(function)


def test_a_seed_is_not_updated_in_place():
    program = Program("adjoint")
    program.builder.location = Location("f.py", 1, 0, 1, "", "adjoint")
    function = program.function(program.add(program.a, program.b, "a", operator.mul))
    assert print_function(bufferize(function)) == print_function(function)


def test_a_carried_cotangent_is_updated_in_place_if_nothing_else_holds_it():
    program = Program("adjoint")
    d_h = program.add(program.a, program.b, "d_h")

    def body(i, d_h):
        return [program.add(d_h, program.b, "d_h", operator.mul)]

    bufferized = program.checked(*program.loop([d_h], body))
    assert any(operation.primitive is STORE for operation in walk(bufferized.body))
    assert copies(bufferized) == []


def test_the_check_can_fail():
    program = Program()
    function = program.function(program.store(program.a))
    a, b, _, xs = random_arguments()
    run(function, a, b, xs, in_place=True)
    assert not same(a, random_arguments()[0])


def test_scalars_need_nothing():
    program = Program()
    x = program.builder.named(FLOAT, "x")
    program.parameters.append(x)
    function = program.function(x, x)
    assert print_function(bufferize(function)) == print_function(function)
