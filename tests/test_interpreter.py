"""The test interpreter itself, on IR written by hand, against the same thing in Python."""

import math
import operator
from dataclasses import replace
from inspect import Signature

import numpy as np
import pytest

from gradscribe.ir.core import CALL, Callee, LoopShape, Method, Operation, Primitive, SliceOf, Value
from gradscribe.ir.trees import LEAF, Constant, Node
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
from gradscribe.ir.verifier import verify
from gradscribe.primitives.control import (
    ADD_ITEMS,
    APPEND,
    ASSERT,
    COPY,
    EFFECT,
    FORMAT,
    GET,
    ITEM,
    LEN,
    LIST,
    POP,
    PUSH,
    RAISE,
    SET,
    STACK,
    STACK_POP,
    TUPLE,
    UNDEF,
    ZEROS_LIKE,
)
from gradscribe.primitives.indexing import ACCUMULATE, LENGTH, STORE
from gradscribe.primitives.registry import PRIMITIVES
from tests.handmade import Hand, at, vector
from tests.interpreter import run

FLOAT64 = Scalar("float64", weak=False)


@pytest.fixture
def ir():
    return Hand()


@pytest.fixture
def x(ir):
    return ir.parameter("x", vector(ir.length("n")))


def result_of(ir, *results, args=(), **keywords):
    function = ir.function("f", *results)
    verify(function)
    return run(function, *args, **keywords)


class TestCalls:
    def test_the_users_callee_is_called(self, ir):
        x = ir.parameter("x", FLOAT)
        numpys, maths = ir.op(np.tanh, x), ir.op(math.tanh, x)
        results = result_of(ir, numpys, maths, args=(0.3,))
        assert [type(r) for r in results] == [np.float64, float]
        assert results == (np.tanh(0.3), math.tanh(0.3))

    def test_statics_that_are_not_the_default_go_by_keyword(self, ir, x):
        seen = []

        def callee(*args, **keywords):
            seen.append((args, keywords))
            return 0.0

        def parameters(x, axis, order="K", where=None, *, strict=False): ...

        primitive = Primitive("probe", lambda *_, **__: FLOAT, Signature.from_callable(parameters))

        def probe(**arguments):
            ir.builder.call(primitive, arguments, callee=callee)

        probe(x=x, axis=0, order="K", where=None, strict=False)
        probe(x=x, axis=0, order="C", where=None, strict=True)
        probe(x=x, axis=0, order="K", where=x, strict=False)
        result_of(ir, args=(1.0,))
        assert seen == [
            ((1.0, 0), {}),
            ((1.0, 0, "C"), {"strict": True}),
            ((1.0, 0), {"where": 1.0}),
        ]

    def test_variadic_parameters(self, ir, x):
        def parameters(*args, **keywords): ...

        primitive = Primitive("probe", lambda *_, **__: FLOAT, Signature.from_callable(parameters))
        r = ir.builder.call(
            primitive,
            {"args": (x, 2), "keywords": {"key": x}},
            callee=lambda *args, **keywords: (args, keywords),
        )
        assert result_of(ir, r, args=(1.0,)) == ((1.0, 2), {"key": 1.0})

    def test_methods_and_attributes(self, ir, x):
        primitive = Primitive("probe", lambda *_, **__: FLOAT, Signature.from_callable(lambda x: 0))
        total = ir.builder.call(primitive, {"x": x}, callee=Method("sum"))
        size = ir.builder.call(primitive, {"x": x}, callee=Method("size"))
        assert result_of(ir, total, size, args=(np.ones(3),)) == (3.0, 3)

    def test_an_operation_of_the_compiler_calls_the_first_registered_callee(self, ir):
        x = ir.parameter("x", FLOAT)
        y = Value(FLOAT)
        negative = ir.op(operator.neg, x)
        made = ir.builder.operations.pop()
        ir.builder.append(Operation(made.primitive, (x,), (y,), made.attributes))
        assert run(ir.function("f", y), 2.0) == -2.0
        assert negative.type == FLOAT

    def test_a_function_calls_itself_by_name(self, ir):
        n = ir.parameter("n", INT)
        one = ir.constant(1)

        def recurse():
            result = Value(INT)
            ir.builder.append(
                Operation(CALL, (ir.op(operator.sub, n, one),), (result,), {"function": "f"})
            )
            return ir.op(operator.mul, n, result)

        (r,) = ir.branch(ir.op(operator.gt, n, one), recurse, lambda: one, [("r", INT)])
        assert result_of(ir, r, args=(5,)) == 120

    def test_a_function_calls_another(self, ir):
        inner = Hand()
        negate = inner.function("negate", inner.op(operator.neg, inner.parameter("x", FLOAT)))
        x = ir.parameter("x", FLOAT)
        y = Value(FLOAT)
        ir.builder.append(
            Operation(CALL, (x,), (y,), {"function": Callee("negate", lambda: negate)})
        )
        assert result_of(ir, y, x, args=(2.0,)) == (-2.0, 2.0)


class TestArguments:
    tree = Node(dict, (Node(tuple, (LEAF, LEAF)), Constant("mean"), LEAF), ("w", "mode", "b"))

    def test_structures_in_and_out(self, ir):
        a, b, c = ir.structured("params", self.tree, [FLOAT] * 3)
        function = ir.function("f", c, a, b, tree=self.tree)
        args = {"w": (1.0, 2.0), "mode": "mean", "b": 3.0}
        assert run(function, args) == {"w": (3.0, 1.0), "mode": "mean", "b": 2.0}

    def test_arguments_by_name(self, ir):
        x, y = ir.parameter("x", FLOAT), ir.parameter("y", FLOAT)
        function = ir.function("f", ir.op(operator.sub, x, y))
        assert run(function, 3.0, y=1.0) == run(function, y=1.0, x=3.0) == 2.0

    def test_defaults(self, ir):
        function = ir.function("f", ir.parameter("x", FLOAT), ir.parameter("y", FLOAT))
        x, y = function.parameters
        function = replace(function, parameters=(x, replace(y, default=2.0, keyword_only=True)))
        assert run(function, 1.0) == (1.0, 2.0)
        assert run(function, 1.0, y=3.0) == (1.0, 3.0)
        with pytest.raises(TypeError, match="too many positional"):
            run(function, 1.0, 3.0)

    @pytest.mark.parametrize(("args", "keywords"), [((), {}), ((1, 2), {}), ((1,), {"y": 1})])
    def test_wrong_arguments(self, ir, args, keywords):
        function = ir.function("f", ir.parameter("x", FLOAT))
        with pytest.raises(TypeError, match="argument"):
            run(function, *args, **keywords)

    def test_a_structure_of_other_size(self, ir):
        a, b = ir.structured("pair", Node(tuple, (LEAF, LEAF)), [FLOAT] * 2)
        with pytest.raises(AssertionError, match="has not the structure"):
            run(ir.function("f", a, b), (1, 2, 3))


class TestStores:
    def test_a_store_makes_a_new_value(self, ir, x):
        y = ir.op(STORE, x, ir.constant(7.0), at(ir.constant(1)))
        given = np.arange(3.0)
        before, after = result_of(ir, x, y, args=(given,))
        np.testing.assert_array_equal(before, [0, 1, 2])
        np.testing.assert_array_equal(after, [0, 7, 2])
        assert before is given

    def test_in_place_a_store_changes_the_object(self, ir, x):
        y = ir.op(STORE, x, ir.constant(7.0), at(ir.constant(1)))
        given = np.arange(3.0)
        before, after = result_of(ir, x, y, args=(given,), in_place=True)
        assert before is after is given
        np.testing.assert_array_equal(given, [0, 7, 2])

    def test_accumulate_adds(self, ir, x):
        one, three = ir.constant(1), ir.constant(3)
        y = ir.op(ACCUMULATE, x, ir.constant(2.0), at(SliceOf(one, three)))
        z = ir.op(ACCUMULATE, y, y, ())
        np.testing.assert_array_equal(result_of(ir, z, args=(np.arange(4.0),)), [0, 6, 8, 6])

    def test_the_whole_array(self, ir, x):
        y = ir.op(STORE, x, ir.constant(7.0), ())
        np.testing.assert_array_equal(result_of(ir, y, args=(np.arange(3.0),)), [7, 7, 7])

    def test_a_path_of_several_steps(self, ir, x):
        one, zero = ir.constant(1), ir.constant(0)
        path = (*at(SliceOf(one, None)), *at(SliceOf(None, None, one)), *at(zero))
        y = ir.op(STORE, x, ir.constant(7.0), path)
        np.testing.assert_array_equal(result_of(ir, y, args=(np.arange(3.0),)), [0, 7, 2])

    def test_a_path_through_another_view(self, ir):
        x = ir.parameter("x", Array("float64", (ir.length("n"), ir.length("m"))))
        primitive = Primitive(
            "flip", lambda facts, callee, x: x, Signature.from_callable(lambda x: 0), view=True
        )
        PRIMITIVES[np.flipud] = primitive
        try:
            path = ((primitive, {}), *at(ir.constant(0)))
            y = ir.op(STORE, x, ir.constant(7.0), path)
            result = result_of(ir, y, args=(np.zeros((2, 2)),))
        finally:
            del PRIMITIVES[np.flipud]
        np.testing.assert_array_equal(result, [[0, 0], [7, 7]])

    def test_the_memory_order_stays(self, ir):
        x = ir.parameter("x", Array("float64", (ir.length("n"), ir.length("m"))))
        y = ir.op(STORE, x, ir.constant(1.0), ())
        assert result_of(ir, y, args=(np.zeros((2, 3), order="F"),)).flags.f_contiguous

    def test_reading_views_and_lengths(self, ir):
        x = ir.parameter("x", Array("float64", (ir.length("n"), ir.length("m"))))
        one = ir.constant(1)
        view = ir.item(x, ..., SliceOf(one, None), None)
        given = np.arange(6.0).reshape(2, 3)
        got, m = result_of(ir, view, ir.op(LENGTH, x, 1), args=(given,))
        np.testing.assert_array_equal(got, given[..., 1:, None])
        assert m == 3


class TestLists:
    def test_lists_are_values(self, ir):
        xs = ir.parameter("xs", Sequence(FLOAT))
        grown = ir.op(APPEND, xs, ir.constant(3.0))
        changed = ir.op(SET, grown, -1, ir.constant(4.0))
        shorter = ir.op(POP, xs)
        last = ir.op(GET, changed, ir.constant(-1))
        length = ir.op(LEN, grown)
        given = [1.0, 2.0]
        results = result_of(ir, xs, grown, changed, shorter, last, length, args=(given,))
        assert results == ([1, 2], [1, 2, 3], [1, 2, 4], [1], 4, 3)
        assert results[0] is given

    def test_in_place_lists_are_objects(self, ir):
        xs = ir.parameter("xs", Sequence(FLOAT))
        grown = ir.op(APPEND, xs, ir.constant(3.0))
        changed = ir.op(SET, grown, 0, ir.constant(4.0))
        shorter = ir.op(POP, changed)
        given = [1.0, 2.0]
        assert result_of(ir, shorter, args=(given,), in_place=True) is given
        assert given == [4, 2]

    def test_copies(self, ir, x):
        xs = ir.parameter("xs", Sequence(FLOAT))
        given = np.ones(3), [1.0]
        copies = result_of(ir, ir.op(COPY, x), ir.op(COPY, xs), args=given)
        assert copies[0] is not given[0] and copies[1] is not given[1]
        np.testing.assert_array_equal(copies[0], given[0])
        assert copies[1] == given[1]

    def test_tuples(self, ir, x):
        pair = ir.op(TUPLE, (x, ir.constant(1)))
        xs = ir.op(LIST, (pair, pair), Never())
        assert result_of(ir, xs, ir.op(ITEM, pair, 1), args=("x",)) == ([("x", 1)] * 2, 1)

    def test_zeros_and_sums_of_structures(self, ir):
        t = Tuple((FLOAT, Sequence(vector(2)), Scalar("float32", weak=False)))
        x = ir.parameter("x", t)
        zeros, double = ir.op(ZEROS_LIKE, x), ir.op(ADD_ITEMS, x, x)
        given = (1.5, [np.ones(2)], np.float32(2))
        got, doubled = result_of(ir, zeros, double, args=(given,))
        assert (got[0], got[1][0].tolist(), got[2]) == (0.0, [0, 0], 0)
        assert [type(got[0]), type(got[2])] == [float, np.float32]
        assert (doubled[0], doubled[1][0].tolist(), doubled[2]) == (3.0, [2, 2], 4)

    def test_stacks(self, ir):
        stack = ir.op(STACK, FLOAT)
        ir.op(PUSH, stack, ir.constant(1.0))
        ir.op(PUSH, stack, ir.constant(2.0))
        assert result_of(ir, ir.op(STACK_POP, stack), ir.op(STACK_POP, stack)) == (2.0, 1.0)


class TestBranches:
    def test_one_block_is_run(self, ir):
        c = ir.parameter("c", BOOL)
        said = []

        def say(word):
            ir.builder.call(EFFECT, {"args": (word,), "keywords": {}}, callee=said.append)
            return ir.constant(word)

        (r,) = ir.branch(c, lambda: say("then"), lambda: say("else"), [("r", Opaque())])
        function = ir.function("f", r)
        assert [run(function, True), run(function, False)] == said == ["then", "else"]

    def test_an_undefined_value_is_handed_on(self, ir):
        c, x = ir.parameter("c", BOOL), ir.parameter("x", FLOAT)
        undefined = lambda: ir.op(UNDEF, Undefined())
        (r,) = ir.branch(c, lambda: x, undefined, [("r", FLOAT)])
        assert repr(result_of(ir, r, args=(False, 1.0))) == "<undefined>"


def range_loop(ir, bounds, shape, body, carried=(), results=()):
    """The results of a loop over a range."""
    operands = [*map(ir.constant, bounds), *(value for _, value in carried)]
    parameters = [("i", INT), *((name, value.type) for name, value in carried)]
    return ir.loop(shape, operands, parameters, body, results)


class TestLoops:
    @pytest.mark.parametrize("bounds", [(0, 5, 1), (5, 0, -2), (3, 3, 1), (0, 5, 2)])
    @pytest.mark.parametrize("reverse", [False, True])
    def test_ranges_both_ways_and_their_records(self, ir, bounds, reverse):
        order = ir.op(LIST, (), INT)
        xs, record = range_loop(
            ir,
            bounds,
            LoopShape(("range",), 1, collects=1, reversed=reverse),
            lambda i, xs: (ir.op(APPEND, xs, i), i),
            [("xs", order)],
            [("xs", Sequence(INT)), ("record", Collected(INT))],
        )
        expected = list(range(*bounds))
        visited, recorded = result_of(ir, xs, record)
        assert visited == (expected[::-1] if reverse else expected)
        assert recorded == expected, "iteration k collects element k whichever way it runs"

    def test_no_iteration_leaves_the_initial_value(self, ir):
        s = ir.constant(1.5)
        (r,) = range_loop(
            ir, (0, 0, 1), LoopShape(("range",), 1), lambda i, s: s, [("s", s)], [("s", FLOAT)]
        )
        assert result_of(ir, r) == 1.5

    def test_iterables_end_with_the_shortest(self, ir):
        xs, ys = ir.parameter("xs", Sequence(FLOAT)), ir.parameter("ys", vector(3))
        s = ir.constant(0.0)
        (r,) = ir.loop(
            LoopShape(("sequence", "array"), 1),
            (xs, ys, s),
            [("x", FLOAT), ("y", FLOAT64), ("s", FLOAT64)],
            lambda x, y, s: ir.op(operator.add, s, ir.op(operator.mul, x, y)),
            [("s", FLOAT64)],
        )
        assert result_of(ir, r, args=([1.0, 2.0], np.array([10.0, 20.0, 30.0]))) == 50

    def test_reversed_iterables_are_equally_long(self, ir):
        xs, ys = ir.parameter("xs", Sequence(FLOAT)), ir.parameter("ys", Sequence(FLOAT))
        shape = LoopShape(("sequence", "sequence"), 0, reversed=True)
        ir.loop(shape, (xs, ys), [("x", FLOAT), ("y", FLOAT)], lambda x, y: [], [])
        with pytest.raises(AssertionError, match="lengths"):
            result_of(ir, args=([1.0], [1.0, 2.0]))

    def test_rows_of_an_array(self, ir):
        x = ir.parameter("x", Array("float64", (ir.length("n"), ir.length("m"))))
        (last,) = ir.loop(
            LoopShape(("array",), 1, reversed=True),
            (x, ir.item(x, ir.constant(0))),
            [("row", vector(ir.length("m"))), ("last", vector(ir.length("m")))],
            lambda row, last: row,
            [("last", vector(ir.length("m")))],
        )
        given = np.arange(6.0).reshape(3, 2)
        np.testing.assert_array_equal(result_of(ir, last, args=(given[1:],)), [2, 3])

    @pytest.mark.parametrize("reverse", [False, True])
    def test_a_loop_stops_after_the_iteration_that_says_so(self, ir, reverse):
        limit, s = ir.constant(2), ir.constant(-1)
        last, record = range_loop(
            ir,
            (0, 6, 1),
            LoopShape(("range",), 1, collects=1, exits=True, reversed=reverse),
            lambda i, s: (i, ir.op(operator.ne, i, limit), i),
            [("s", s)],
            [("s", INT), ("record", Collected(INT))],
        )
        expected = [2, 3, 4, 5] if reverse else [0, 1, 2]
        assert result_of(ir, last, record) == (2, expected)

    def test_a_while_loop_tests_before_each_iteration(self, ir):
        x, limit = ir.parameter("x", INT), ir.constant(100)
        r, record = ir.loop(
            LoopShape((), 1, collects=1, condition=True),
            (x,),
            [("x", INT)],
            lambda v: (ir.op(operator.add, v, v), v),
            [("x", INT), ("record", Collected(INT))],
            condition=lambda v: ir.op(operator.lt, v, limit),
        )
        function = ir.function("f", r, record)
        verify(function)
        assert run(function, 30) == (120, [30, 60])
        assert run(function, 100) == (100, [])

    def test_consuming_what_was_collected(self, ir):
        record = ir.parameter("record", Collected(FLOAT))
        order = ir.op(LIST, (), FLOAT)
        (xs,) = ir.loop(
            LoopShape(("collected",), 1, reversed=True),
            (record, order),
            [("item", FLOAT), ("xs", Sequence(FLOAT))],
            lambda item, xs: ir.op(APPEND, xs, item),
            [("xs", Sequence(FLOAT))],
        )
        assert result_of(ir, xs, args=([1.0, 2.0, 3.0],)) == [3, 2, 1]

    def test_a_loop_without_end_of_its_own_is_left_by_its_exit(self, ir):
        x, limit = ir.parameter("x", INT), ir.constant(100)

        def body(v):
            v = ir.op(operator.add, v, v)
            return v, ir.op(operator.lt, v, limit)

        shape = LoopShape((), 1, exits=True)
        (r,) = ir.loop(shape, (x,), [("x", INT)], body, [("x", INT)])
        assert result_of(ir, r, args=(30,)) == 120


class TestEffects:
    def test_prints_in_order(self, ir, capsys):
        x = ir.parameter("x", FLOAT)
        for word in ("one", "two"):
            ir.builder.call(EFFECT, {"args": (word, x), "keywords": {"end": ";"}}, callee=print)
        result_of(ir, args=(1.5,))
        assert capsys.readouterr().out == "one 1.5;two 1.5;"

    def test_a_method_with_an_effect(self, ir):
        log = ir.parameter("log", Opaque())
        ir.builder.call(EFFECT, {"args": (log, 1), "keywords": {}}, callee=Method("append"))
        given = []
        result_of(ir, args=(given,))
        assert given == [1]

    def test_raise_with_a_cause(self, ir):
        error, cause = ir.parameter("error", Opaque()), ir.parameter("cause", Opaque())
        ir.op(RAISE, error, cause)
        with pytest.raises(ValueError, match="wrong") as caught:
            result_of(ir, args=(ValueError("wrong"), KeyError("why")))
        assert isinstance(caught.value.__cause__, KeyError)

    def test_raise_without_a_cause(self, ir):
        ir.op(RAISE, ir.parameter("error", Opaque()), None)
        with pytest.raises(ZeroDivisionError):
            result_of(ir, args=(ZeroDivisionError,))

    def test_assert(self, ir):
        c = ir.parameter("c", BOOL)
        ir.op(ASSERT, c, ir.constant("must hold"))
        function = ir.function("f")
        assert run(function, True) == ()
        with pytest.raises(AssertionError, match="must hold"):
            run(function, False)

    def test_formatted_strings(self, ir):
        x = ir.parameter("x", FLOAT)
        text = ir.op(FORMAT, ("x=", (x, None, ".2f"), " ", (x, ord("r"), None), (x, -1, "")))
        assert result_of(ir, text, args=(1.5,)) == "x=1.50 1.51.5"
