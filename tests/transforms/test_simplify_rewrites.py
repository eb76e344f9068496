"""Rewrites: constants and repeated expressions everywhere, algebra on derived operations alone."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from gradscribe import primitives  # noqa: F401
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Function, Location, Value, walk
from gradscribe.ir.printer import print_function
from gradscribe.ir.types import FLOAT, INT, Array, Scalar, Sequence
from gradscribe.ir.verifier import verify
from gradscribe.primitives.control import (
    APPEND,
    COPY,
    GET,
    ITEM,
    LIST,
    POP,
    SET,
    TUPLE,
    ZEROS_LIKE,
)
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, LENGTH, STORE
from gradscribe.primitives.registry import METHODS
from gradscribe.transforms.passes.simplify import simplify
from tests.handmade import Hand, at, vector

PRIMAL = Location("f.py", 1, 0, 0, "y = …")
ADJOINT = Location("f.py", 1, 0, 0, "y = …", "adjoint")
STRONG = Scalar("float64", weak=False)


@pytest.fixture
def ir() -> Hand:
    hand = Hand()
    hand.builder.location = ADJOINT
    return hand


def simplified(ir: Hand, *results: Value) -> Function:
    function = ir.function("f", *results)
    verify(function)
    result = simplify(function)
    verify(result)
    return result


def body(ir: Hand, *results: Value) -> list[str]:
    """The simplified operations and the result, as text without types."""
    lines = print_function(simplified(ir, *results)).splitlines()[1:]
    return [_untyped(line.strip()) for line in lines]


def _untyped(line: str) -> str:
    name, equals, expression = line.partition(" = ")
    return f"{name.split(':')[0]} = {expression}" if equals else line


# -- constants -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("callee", "operands", "expected"),
    [
        (operator.add, (2, 3), 5),
        (operator.floordiv, (-7, 2), -4),
        (operator.mod, (-7, 2), 1),
        (operator.lt, (1, 2), True),
        (operator.neg, (True,), -1),
    ],
)
def test_integers_are_folded_as_python_does(ir, callee, operands, expected):
    ir.builder.location = PRIMAL
    assert body(ir, ir.op(callee, *map(ir.constant, operands))) == [
        f"%0 = constant(value={expected})",
        "return %0",
    ]


def test_floats_of_the_user_are_not_folded(ir):
    ir.builder.location = PRIMAL
    y = ir.op(operator.mul, ir.constant(0.1), ir.constant(3.0))
    assert body(ir, y)[-2] == "%2 = multiply(%0, %1)"


def test_what_raises_is_left_to_raise(ir):
    y = ir.op(operator.floordiv, ir.constant(1), ir.constant(0))
    assert body(ir, y)[-2] == "%2 = floor_divide(%0, %1)"


def test_a_known_length_is_a_constant(ir):
    x = ir.parameter("x", vector(3))
    assert body(ir, ir.op(LENGTH, x, 0)) == ["%0 = constant(value=3)", "return %0"]


# -- common subexpressions -------------------------------------------------------------------


def test_equal_operations_are_done_once(ir):
    ir.builder.location = PRIMAL
    x = ir.parameter("x", vector(3))
    a, b = ir.op(np.sum, x, axis=0), ir.op(np.sum, x, axis=0)
    c = ir.op(np.sum, x, axis=0, keepdims=True)
    assert body(ir, a, b, c)[-1] == "return (%0, %0, %1)"


def test_zeros_of_either_sign_differ(ir):
    ir.builder.location = PRIMAL
    assert body(ir, ir.constant(0.0), ir.constant(-0.0), ir.constant(0), ir.constant(False)) == [
        "%0 = constant(value=0.0)",
        "%1 = constant(value=-0.0)",
        "%2 = constant(value=0)",
        "%3 = constant(value=False)",
        "return (%0, %1, %2, %3)",
    ]


def test_callees_differ(ir):
    import math

    x = ir.parameter("x", FLOAT)
    assert len(body(ir, ir.op(np.tanh, x), ir.op(math.tanh, x))) == 3


def test_fresh_zeros_are_not_shared(ir):
    x = ir.parameter("x", vector(3))
    assert len(body(ir, ir.op(ZEROS_LIKE, x), ir.op(ZEROS_LIKE, x))) == 3


def test_what_one_branch_computes_is_not_known_in_the_other(ir):
    x = ir.parameter("x", FLOAT)
    positive = ir.op(operator.gt, x, ir.constant(0))
    results = ir.branch(
        positive, lambda: ir.op(np.exp, x), lambda: ir.op(np.exp, x), [("y", STRONG)]
    )
    function = simplified(ir, *results)
    assert sum(operation.primitive.name == "exp" for operation in walk(function.body)) == 2


# -- algebra ---------------------------------------------------------------------------------


def test_the_users_arithmetic_is_not_touched(ir):
    ir.builder.location = PRIMAL
    x = ir.parameter("x", FLOAT)
    assert len(body(ir, ir.op(operator.mul, ir.constant(1.0), x))) == 3


X, Y = "%x", "%y"


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda op, c, x, y: op(operator.mul, c(1), x), []),
        (lambda op, c, x, y: op(operator.mul, x, c(-1)), ["negative(%x)"]),
        (lambda op, c, x, y: op(operator.add, x, c(0)), []),
        (lambda op, c, x, y: op(operator.sub, x, c(0.0)), []),
        (lambda op, c, x, y: op(operator.truediv, x, c(1)), []),
        (lambda op, c, x, y: op(operator.pow, x, c(1)), []),
        (lambda op, c, x, y: op(operator.neg, op(operator.neg, x)), []),
        (lambda op, c, x, y: op(operator.add, x, op(operator.neg, y)), ["subtract(%x, %y)"]),
        (lambda op, c, x, y: op(operator.sub, x, op(operator.neg, y)), ["add(%x, %y)"]),
        (lambda op, c, x, y: op(operator.neg, op(operator.sub, x, y)), ["subtract(%y, %x)"]),
        (
            lambda op, c, x, y: op(operator.sub, x, op(operator.mul, op(operator.neg, y), x)),
            ["multiply(%y, %x)", "add(%x, %0)"],
        ),
        (lambda op, c, x, y: op(operator.add, x, x), ["constant(value=2)", "multiply(%0, %x)"]),
        (
            lambda op, c, x, y: op(operator.mul, x, op(operator.truediv, c(1), y)),
            ["divide(%x, %y)"],
        ),
        (lambda op, c, x, y: op(operator.mul, op(operator.mul, x, c(0.5)), c(2)), []),
    ],
)
def test_algebra(ir, make, expected):
    x, y = ir.parameter("x", FLOAT), ir.parameter("y", FLOAT)
    lines = body(ir, make(ir.op, ir.constant, x, y))
    operations = [line.partition(" = ")[2] for line in lines[:-1]]
    operations = [text for text in operations if "constant" not in text or text in expected]
    assert operations == expected


def test_a_one_that_promotes_stays(ir):
    x = ir.parameter("x", INT)
    assert body(ir, ir.op(operator.mul, ir.constant(1.0), x))[-2] == "%1 = multiply(%0, %x)"


def test_a_negation_that_is_read_twice_stays(ir):
    x, y = ir.parameter("x", FLOAT), ir.parameter("y", FLOAT)
    negated = ir.op(operator.neg, y)
    assert body(ir, ir.op(operator.add, x, negated), negated)[0] == "%0 = negative(%y)"


def test_scalar_factors_are_multiplied_first(ir):
    x, s, t = (ir.parameter(n, type_) for n, type_ in zip("xst", [vector(3), FLOAT, FLOAT]))
    y = ir.op(operator.mul, s, ir.op(operator.mul, t, x))
    assert body(ir, y) == ["%0 = multiply(%s, %t)", "%1 = multiply(%0, %x)", "return %1"]


def test_a_number_is_converted_once(ir):
    ir.builder.location = PRIMAL
    x = ir.parameter("x", FLOAT)
    made = ir.op(complex, x)
    assert body(ir, ir.op(complex, made)) == body(ir, made)
    assert body(ir, ir.op(complex, made, 1.0)) != body(ir, made)
    assert body(ir, ir.op(float, ir.op(int, x))) != body(ir, ir.op(int, x))
    assert body(ir, ir.op(complex, 1.0, made)) != body(ir, made)
    assert body(ir, ir.op(int, 2)) == ["%0 = int<int>(x=2)", "return %0"]


def test_one_condition_chooses_once(ir):
    c, x = ir.parameter("c", vector(3, "bool")), ir.parameter("x", vector(3))
    zero = ir.constant(0)
    outer = ir.op(np.where, c, ir.op(np.where, c, x, zero), zero)
    assert body(ir, outer)[-2:] == ["%1 = where(%c, %x, %0)", "return %1"]
    outer = ir.op(np.where, c, zero, ir.op(np.where, c, zero, x))
    assert body(ir, outer)[-2:] == ["%1 = where(%c, %0, %x)", "return %1"]


def test_a_number_is_chosen_once_of_an_array_of_numbers(ir):
    c, d = ir.parameter("c", vector(3, "bool")), ir.parameter("d", STRONG)
    zero = ir.constant(0)
    outer = ir.op(np.where, c, ir.op(np.where, c, d, zero), zero)
    assert body(ir, outer)[-2:] == ["%1 = where(%c, %d, %0)", "return %1"]


def test_choices_that_differ_stay(ir):
    b, c, x = (
        ir.parameter(name, type_)
        for name, type_ in zip("bcx", [vector(3, "bool"), vector(3, "bool"), vector(3)])
    )
    zero, wide = (
        ir.constant(0),
        ir.parameter("wide", Array("float64", (ir.length("n"), Affine.of(3)))),
    )
    assert len(body(ir, ir.op(np.where, b, ir.op(np.where, c, x, zero), zero))) == 4
    wider = ir.op(np.where, c, x, wide)
    assert len(body(ir, ir.op(np.where, c, wider, zero))) == 4
    narrow = ir.parameter("narrow", vector(3, "float32"))
    promoted = ir.op(np.where, c, narrow, x)
    assert len(body(ir, ir.op(np.where, c, promoted, x))) == 3
    ir.builder.location = PRIMAL
    assert len(body(ir, ir.op(np.where, c, ir.op(np.where, c, x, zero), zero))) == 4


# -- shapes ----------------------------------------------------------------------------------


def matrix(ir: Hand, name: str = "A") -> Value:
    return ir.parameter(name, Array("float64", (ir.length("n"), ir.length("m"))))


def broadcast(ir: Hand, value: Value, like: Value) -> Value:
    shape = tuple(ir.op(LENGTH, like, axis) for axis in range(like.type.rank))
    return ir.op(np.broadcast_to, value, shape)


def test_a_broadcast_operand_is_not_broadcast_before(ir):
    x, d = ir.parameter("x", vector(ir.length("n"))), ir.parameter("d", FLOAT)
    y = ir.op(operator.mul, broadcast(ir, d, x), x)
    assert body(ir, y) == ["%0 = multiply(%d, %x)", "return %0"]


def test_numbers_are_multiplied_before_they_fill_an_array(ir):
    x, d = ir.parameter("x", vector(ir.length("n"))), ir.parameter("d", FLOAT)
    y = ir.op(operator.mul, broadcast(ir, d, x), d)
    assert body(ir, y) == [
        "%0 = multiply(%d, %d)",
        "%1 = full_like(%x, %0, dtype=None)",
        "return %1",
    ]


def test_new_axes_that_broadcasting_makes_are_not_made_before(ir):
    A, row = matrix(ir), ir.parameter("row", vector(ir.length("m")))
    y = ir.op(operator.mul, ir.op(np.expand_dims, row, 0), A)
    assert body(ir, y) == ["%0 = multiply(%row, %A)", "return %0"]


def test_new_axes_after_the_others_stay(ir):
    A, column = matrix(ir), ir.parameter("column", vector(ir.length("n")))
    y = ir.op(operator.mul, ir.op(np.expand_dims, column, 1), A)
    assert body(ir, y) == [
        "%0 = expand_dims(%column, axis=1)",
        "%1 = multiply(%0, %A)",
        "return %1",
    ]


def test_a_number_in_all_of_an_array_is_full_like(ir):
    A, d = matrix(ir), ir.parameter("d", FLOAT)
    assert body(ir, broadcast(ir, d, A)) == ["%0 = full_like(%A, %d, dtype=None)", "return %0"]


def test_lengths_are_taken_of_arguments(ir):
    A = matrix(ir)
    B = ir.op(operator.mul, A, ir.op(STORE, A, ir.constant(0.0), at(0)))
    assert body(ir, ir.op(LENGTH, B, 1)) == ["%0 = length(%A, axis=1)", "return %0"]


def test_zeros_are_made_like_arguments(ir):
    A = matrix(ir)
    B = ir.op(np.tanh, A)
    assert body(ir, ir.op(ZEROS_LIKE, B)) == ["%0 = zeros_like(%A)", "return %0"]


def test_zeros_of_an_array_made_as_zeros_are_made_again(ir):
    n = ir.parameter("n", INT)
    u = ir.op(np.zeros, n)
    v = ir.op(STORE, u, ir.constant(1.0), at(0))
    assert body(ir, ir.op(ZEROS_LIKE, v))[0].startswith("%0 = zeros(")


def test_views_that_cancel(ir):
    A = matrix(ir)
    n, m = (ir.op(LENGTH, A, axis) for axis in range(2))
    flat = ir.op(np.ravel, A)
    assert body(ir, ir.op(np.transpose, ir.op(np.transpose, A))) == ["return %A"]
    assert body(ir, ir.op(np.reshape, flat, (n, m))) == ["return %A"]
    assert body(ir, ir.op(np.squeeze, ir.op(np.expand_dims, A, 0), 0)) == ["return %A"]
    assert body(ir, ir.op(COPY, A)) == ["return %A"]
    astype = ir.builder.call(
        METHODS["astype"], {"x": A, "dtype": np.dtype("float64")}, callee=np.ndarray.astype
    )
    assert body(ir, astype) == ["return %A"]


# -- stores ----------------------------------------------------------------------------------


def test_adding_to_zeros_is_a_store(ir):
    A, v, i = matrix(ir), ir.parameter("v", FLOAT), ir.parameter("i", INT)
    y = ir.op(ACCUMULATE, ir.op(ZEROS_LIKE, A), v, at(i, i))
    assert body(ir, y)[1] == "%1 = store(%0, %v, path=(getitem(index=(%i, %i)),))"


def test_adding_to_an_element_that_was_set_to_zero_is_a_store(ir):
    A, v, i = matrix(ir), ir.parameter("v", FLOAT), ir.parameter("i", INT)
    zeroed = ir.op(STORE, A, ir.constant(0.0), at(i, i))
    y = ir.op(ACCUMULATE, zeroed, v, at(i, i))
    assert body(ir, y)[0] == "%0 = store(%A, %v, path=(getitem(index=(%i, %i)),))"


def test_additions_in_between_come_after_the_store(ir):
    A, v, w = matrix(ir), ir.parameter("v", FLOAT), ir.parameter("w", FLOAT)
    i, j = ir.parameter("i", INT), ir.parameter("j", INT)
    zeroed = ir.op(STORE, A, ir.constant(0.0), at(i, j))
    added = ir.op(ACCUMULATE, zeroed, w, at(j, j))
    assert body(ir, ir.op(ACCUMULATE, added, v, at(i, j))) == [
        "%0 = store(%A, %v, path=(getitem(index=(%i, %j)),))",
        "%1 = accumulate(%0, %w, path=(getitem(index=(%j, %j)),))",
        "return %1",
    ]


def test_zeros_that_are_read_are_not_skipped(ir):
    A, v, i = matrix(ir), ir.parameter("v", FLOAT), ir.parameter("i", INT)
    zeroed = ir.op(STORE, A, ir.constant(0.0), at(i, i))
    y = ir.op(ACCUMULATE, zeroed, v, at(i, i))
    assert "accumulate" in body(ir, y, zeroed)[2]


def test_other_elements_are_other_elements(ir):
    A, v = matrix(ir), ir.parameter("v", FLOAT)
    i, j = ir.parameter("i", INT), ir.parameter("j", INT)
    zeroed = ir.op(STORE, A, ir.constant(0.0), at(i, j))
    assert len(body(ir, ir.op(ACCUMULATE, zeroed, v, at(j, i)))) == 4


def test_a_store_over_a_store_is_the_last(ir):
    A, v, i = matrix(ir), ir.parameter("v", FLOAT), ir.parameter("i", INT)
    y = ir.op(STORE, ir.op(STORE, A, ir.constant(1.0), at(i, i)), v, at(i, i))
    assert body(ir, y) == ["%0 = store(%A, %v, path=(getitem(index=(%i, %i)),))", "return %0"]


def test_putting_back_what_was_there_is_nothing(ir):
    A, i = matrix(ir), ir.parameter("i", INT)
    old = ir.op(GETITEM, A, (i,))
    changed = ir.op(STORE, A, ir.constant(0.0), at(i))
    assert body(ir, ir.op(STORE, changed, old, at(i))) == ["return %A"]


def test_a_stored_number_is_read_back(ir):
    A, i = matrix(ir), ir.parameter("i", INT)
    v = ir.op(GETITEM, A, (i, i))
    B = ir.op(STORE, A, ir.op(np.exp, v), at(i, i))
    lines = body(ir, ir.op(GETITEM, B, (i, i)), B)
    assert lines[-1] == "return (%1, %2)"


def test_a_store_that_converts_is_read(ir):
    A, v = ir.parameter("A", vector(3, "float32")), ir.parameter("v", FLOAT)
    B = ir.op(STORE, A, v, at(0))
    assert len(body(ir, ir.op(GETITEM, B, (0,)))) == 3


def test_adding_to_all_of_an_array_is_an_addition(ir):
    x, y = ir.parameter("x", vector(3)), ir.parameter("y", vector(3))
    assert body(ir, ir.op(ACCUMULATE, x, y, ())) == ["%0 = add(%x, %y)", "return %0"]
    zeros = ir.op(ZEROS_LIKE, x)
    assert body(ir, ir.op(ACCUMULATE, zeros, y, ())) == ["return %y"]


# -- containers ------------------------------------------------------------------------------


def test_items_of_known_containers(ir):
    ir.builder.location = PRIMAL
    x, y, i = ir.parameter("x", FLOAT), ir.parameter("y", FLOAT), ir.parameter("i", INT)
    xs = ir.parameter("xs", Sequence(FLOAT))
    pair = ir.op(TUPLE, (x, y))
    assert body(ir, ir.op(ITEM, pair, 1)) == ["return %y"]
    items = ir.op(LIST, (x, y), FLOAT)
    assert body(ir, ir.op(GET, items, -2)) == ["return %x"]
    assert body(ir, ir.op(GET, ir.op(APPEND, xs, y), -1)) == ["return %y"]
    assert body(ir, ir.op(GET, ir.op(SET, xs, i, y), i)) == ["return %y"]
    assert body(ir, ir.op(POP, ir.op(APPEND, xs, y))) == ["return %xs"]
