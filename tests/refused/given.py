"""What functions and transforms are given: arguments, types, tangents."""

from __future__ import annotations

import collections
import ctypes
import dataclasses
import struct

import numpy as np

import gradscribe as gs
from gradscribe.errors import (
    AliasingError,
    ArgumentError,
    NonScalarError,
    NotSpecializedError,
    ReadOnlyError,
    ShapeError,
    SourceNotFoundError,
    UnsupportedDtypeError,
)
from tests.refused import refused, refused_when_run

VECTOR = np.array([0.5, 1.5])


def square(x):
    return x * x


# -- functions and their arguments ---------------------------------------------------------------


@refused_when_run("3.0 is not callable", ArgumentError)
def gradient_of_a_number():
    gs.grad(3.0)(1.0)


@refused_when_run("has_aux=1", ArgumentError)
def has_aux_of_a_number():
    gs.grad(square, has_aux=1)


@refused_when_run("jit=None", ArgumentError)
def jit_of_none():
    gs.grad(square, jit=None)


@refused_when_run("pure=1", ArgumentError)
def pure_of_a_number():
    gs.primitive(square, pure=1)


@refused_when_run("writes=3", ArgumentError)
def writes_of_a_number():
    gs.primitive(square, writes=3)


@refused_when_run("an array of dtype <U1 as a cotangent, where numbers are expected", ArgumentError)
def cotangent_of_texts():
    gs.vjp(square, VECTOR)[1](np.array(["a", "b"]))


@refused_when_run(
    "`len` is no Python function, so there is no source to differentiate", SourceNotFoundError
)
def gradient_of_a_builtin():
    gs.grad(len)(VECTOR)


def fill(out, value):
    out[...] = value


def double(x):
    x *= 2
    return x


def rest(x):
    return x[1:]


def twice(x):
    y = x + 1
    return y, y[1:]


def fill_both(out, other):
    out[...] = other[...] = 1.0


@refused_when_run("`writes` is one string", ArgumentError)
def primitive_that_writes_to_one_string():
    gs.primitive(fill, writes="out")


@refused_when_run("`fill` has no parameter 'output'", ArgumentError)
def primitive_that_writes_to_what_it_has_not():
    gs.primitive(fill, writes=("output",))


@refused_when_run("a function that writes is not pure", ArgumentError)
def primitive_that_writes_and_is_pure():
    gs.primitive(fill, pure=True, writes=("out",))


@refused_when_run("`fill` writes to its arguments, and so has no derivative", ArgumentError)
def rule_of_a_primitive_that_writes():
    gs.primitive(fill, writes=("out",)).adjoint(square)


@refused_when_run("the parameters of `pack_into`, which is compiled, cannot be read", ArgumentError)
def primitive_of_compiled_code():
    gs.primitive(struct.pack_into, pure=True)


@refused_when_run(
    "the primitive `double` wrote to an argument, which its derivatives do not show", ArgumentError
)
def primitive_that_writes_without_saying_so():
    gs.primitive(double)(VECTOR.copy())


@refused_when_run(
    "the primitive `rest`, which is said to be pure, returned memory of its argument `x`",
    ArgumentError,
)
def pure_primitive_that_returns_a_view():
    gs.primitive(rest, pure=True)(VECTOR)


@refused_when_run(
    "the primitive `twice`, which is said to be pure, returned arrays that share memory",
    ArgumentError,
)
def pure_primitive_that_returns_one_array_twice():
    gs.primitive(twice, pure=True)(VECTOR)


@refused_when_run(
    "the primitive `fill_both` wrote to its argument `other`, which its `writes` does not name",
    ArgumentError,
)
def primitive_that_writes_to_more_than_it_says():
    gs.primitive(fill_both, writes=("out",))(np.zeros(2), np.zeros(2))


@refused_when_run("argnums is 0.5", ArgumentError)
def half_an_argument():
    gs.grad(square, argnums=0.5)(2.0)


@refused_when_run("argnums says 1, but `square` has 1 argument", ArgumentError)
def argument_that_is_not_there():
    gs.grad(square, argnums=1)(2.0)


@refused(
    "argnums says -1, from the last of 2 parameters, of which this call gives 1",
    2.0,
    kind=ArgumentError,
)
def default_counted_from_the_last(x):
    def scaled(x, by=3.0):
        return x * x * by

    return gs.grad(scaled, argnums=-1)(x)


@refused_when_run("a gradient by argnums=(1, 0) is differentiated itself", ArgumentError)
def gradient_in_another_order():
    gradient = gs.grad(lambda x, y: np.sum(x * y), argnums=(1, 0))
    gs.vjp(gradient, VECTOR, VECTOR)


@refused("argnums says 1, but this call has 1 argument", 2.0, kind=ArgumentError)
def inner_argument_that_is_not_there(x):
    return gs.grad(square, argnums=1)(x)


@refused_when_run("`words` has dtype <U1, which is not a numeric one", UnsupportedDtypeError)
def array_of_words():
    gs.vjp(lambda x, words: x, 2.0, np.array(["a", "b"]))


@refused_when_run(
    "`words` has dtype >f8, of another byte order than this machine's", UnsupportedDtypeError
)
def array_of_another_byte_order():
    gs.vjp(lambda x, words: x, 2.0, np.ones(2, ">f8"))


@refused_when_run("`x` is a MaskedArray, whose operators need not mean what NumPy's do")
def masked_array():
    gs.vjp(square, np.ma.array(VECTOR))


@refused_when_run(
    "`table['rows'][0]` has dtype datetime64[D], which is not a numeric one", UnsupportedDtypeError
)
def dates_in_a_list_in_a_dict():
    gs.vjp(lambda x, table: x, 2.0, {"rows": [np.array(["2024-02-29"], "datetime64")]})


@refused(
    "assignment destination is read-only: `x` is stored to",
    np.broadcast_to(1.0, 2),
    VECTOR,
    kind=ReadOnlyError,
)
def read_only_array(x, y):
    x[0] = 1.0
    return np.sum(x * y)


@refused(
    "`x` is stored to, and two of its elements are one in memory",
    np.lib.stride_tricks.as_strided(VECTOR, (3, 2), (8, 8)),
    kind=AliasingError,
)
def of_elements_that_are_one(x):
    x[0, 1] = 2.0
    return np.sum(x)


@refused("`x` is stored to, and shares memory with `y`", VECTOR, VECTOR[::-1], kind=AliasingError)
def array_given_twice(x, y):
    x[0] = 1.0
    return np.sum(x * y)


@dataclasses.dataclass
class Settings:
    rate: float


SETTINGS = Settings(0.5)


@refused(
    "an object is found under two names, of which one is an argument",
    VECTOR,
    SETTINGS,
    kind=AliasingError,
)
def object_from_outside_as_an_argument(x, settings):
    return np.sum(x) if settings is SETTINGS else x[0]


POINT = (ctypes.c_double * 2)(1.0, 2.0)


@refused(
    "`x` may share memory with `POINT`, which is read or changed by code that is not compiled",
    np.frombuffer(POINT),
    VECTOR,
    kind=AliasingError,
)
def array_in_memory_of_ctypes(x, y):
    x[0] = 1.0
    return np.sum(y) * POINT[0]


@refused("`rows` is stored to, and two of its items share memory", [VECTOR] * 2, kind=AliasingError)
def items_given_twice(rows):
    for row in rows:
        row[0] = 1.0
    return np.sum(rows[0])


@refused_when_run("`op` has a variable number of arguments", ArgumentError)
def primitive_of_any_number():
    @gs.primitive
    def op(*items):
        return items[0]

    gs.grad(lambda x: op(x, x))(2.0)


# -- specializations -----------------------------------------------------------------------------


@refused_when_run(
    "`square` is not specialized yet: generated code is for given types", NotSpecializedError
)
def source_before_types():
    gs.differentiable(square).gradient_source


@refused_when_run(
    "`grad_square` was not called yet, so it is compiled for no types", NotSpecializedError
)
def source_before_a_call():
    gs.grad(square).source


@refused_when_run(
    "these arguments need another specialization than `square` has here", ArgumentError
)
def arguments_of_other_types():
    gs.differentiable(square).specialize(2.0).gradient(VECTOR)


@refused_when_run("'flota' is not a type", ArgumentError)
def misspelled_type():
    gs.differentiable(square).specialize("list[flota]")


@refused_when_run("'str[:]': there is no numeric dtype 'str'", ArgumentError)
def type_of_texts():
    gs.differentiable(square).specialize("str[:]")


@refused_when_run("'float64[3]': an axis is `:` (longer than one), `1` or `0`", ArgumentError)
def length_in_a_type():
    gs.differentiable(square).specialize("float64[3]")


@refused_when_run(
    "a flag is part of the specialization, so `bool` alone does not say enough", ArgumentError
)
def flag_without_value():
    gs.differentiable(square).specialize("bool")


# -- tangents and cotangents ---------------------------------------------------------------------


@refused_when_run("the primals are a tuple, and not a float", ArgumentError)
def primal_without_a_tuple():
    gs.jvp(square, 2.0, 1.0)


@refused("the primals are a tuple, and not an array", VECTOR, kind=ArgumentError)
def inner_primal_without_a_tuple(x):
    return gs.jvp(square, x, x)[1]


@refused_when_run("1 primals, but 2 tangents were given", ArgumentError)
def tangent_too_many():
    gs.jvp(square, (2.0,), (1.0, 1.0))


@refused("1 primals, but 2 tangents were given", 2.0, kind=ArgumentError)
def inner_tangent_too_many(x):
    return gs.jvp(square, (x,), (x, x))[1]


@gs.primitive
def of_several_kinds(v):
    return 2 * v if v[0] > 0.5 else np.sum(v)


@refused_when_run(
    "the primitive `of_several_kinds` returned a float64, and an array of 1 axis for other "
    "arguments of the same types",
    ArgumentError,
)
def results_of_several_kinds():
    gs.value_and_grad(lambda x: np.sum(x * of_several_kinds(-np.ones(2))))(VECTOR)


@refused_when_run(
    "argument 0 leads to an object of the class `deque`, in which there are numbers that are not "
    "differentiated",
    ArgumentError,
)
def tangent_of_an_object():
    given = [collections.deque([VECTOR])]
    return gs.jvp(lambda items: np.sum(items[0][0]), (given,), (given,))


@refused_when_run("1 primals, but no tuple of tangents were given", ArgumentError)
def tangent_without_a_tuple():
    gs.jvp(square, (2.0,), 1.0)


@refused_when_run(
    "a cotangent does not have the structure of the value that it belongs to", ArgumentError
)
def one_cotangent_of_a_pair():
    gs.vjp(lambda x: (x, x), 2.0)[1](1.0)


@refused(
    "a tangent does not have the structure of the value that it belongs to",
    2.0,
    kind=ArgumentError,
)
def inner_tangent_of_a_pair(x):
    return gs.jvp(lambda pair: pair[0], ((x, x),), (x,))[1]


@refused_when_run("a cotangent of shape () for a value of shape (2,)", ShapeError)
def one_number_as_cotangent():
    gs.vjp(square, VECTOR)[1](1.0)


@refused_when_run("a cotangent of complex numbers for a real value", ArgumentError)
def complex_cotangent_of_real_numbers():
    gs.vjp(square, VECTOR)[1](VECTOR * 1j)


@refused("a tangent of complex numbers for a real value", VECTOR, kind=ArgumentError)
def complex_tangent_of_real_numbers(x):
    return gs.jvp(square, (x,), (x * 1j,))[1]


@refused_when_run("`nothing` returns nothing, and so has no gradient", NonScalarError)
def gradient_of_nothing():
    def nothing(x):
        x * 2

    gs.grad(nothing)(2.0)


@refused("a tangent of shape (1,) for a value of shape (2,)", VECTOR, kind=ShapeError)
def shorter_tangent(x):
    return gs.jvp(square, (x,), (x[:1],))[1]


@refused_when_run("a tangent of shape (2,) for a single number", ShapeError)
def array_as_tangent_of_a_number():
    gs.jvp(square, (2.0,), (VECTOR,))


@refused("a cotangent of shape (2,) for a single number", VECTOR, kind=ShapeError)
def array_as_cotangent_of_a_number(x):
    return gs.vjp(square, x[0])[1](x)[0]


@refused_when_run("'a' as a tangent, where a number is expected", ArgumentError)
def text_as_tangent():
    gs.jvp(square, (2.0,), ("a",))


# -- derivatives in compiled functions -----------------------------------------------------------


@refused(
    "the function that is differentiated here stores a function or an iterator outside of it",
    VECTOR,
)
def function_stored_by_the_inner_function(x):
    seen = []

    def noted(y):
        seen.append(lambda: y)
        return np.sum(y * y)

    return gs.grad(noted)(x) * seen[0]()


@refused("argument 0 has nothing to differentiate", VECTOR, kind=ArgumentError)
def jacobian_by_an_integer(x):
    return gs.jacobian(lambda n: n * x)(3)


@refused("the result of the function has nothing to differentiate", VECTOR, kind=ArgumentError)
def jacobian_of_an_integer(x):
    return gs.jacobian(np.argmax)(x)


@refused("the Jacobian of complex results by complex arguments", VECTOR)
def jacobian_of_complex_numbers(x):
    return np.real(gs.jacobian(lambda y: y * 1j)(x + 0j))


@refused("the Jacobian by, or of, lists of complex numbers", VECTOR)
def jacobian_of_lists_of_complex_numbers(x):
    return np.real(gs.jacobian(lambda y: [item * 1j for item in y])(x)[0][0])


@refused("the Jacobian by, or of, nested lists", VECTOR)
def jacobian_of_nested_lists(x):
    return gs.jacobian(lambda y: [[item, item] for item in y])(x)[0][0]


@refused(
    "forward mode through a loop or branch that draws random numbers, reads or calls code that "
    "cannot be read: it runs once for each element of the arguments",
    VECTOR,
)
def forward_jacobian_of_draws_in_a_loop(x):
    def noisy(y):
        for _ in range(3):
            y = y * np.random.rand()
        return y

    return gs.jacfwd(noisy)(x)


@refused_when_run("mode='fast'", ArgumentError)
def jacobian_in_an_unknown_mode():
    gs.jacobian(square, mode="fast")


@refused_when_run(
    "`noisy` stores outside what it draws, or what unread code gives it: a derivative of higher "
    "order computes that in a run of its own"
)
def draws_stored_in_a_second_derivative():
    seen = {"noise": 0.0}

    def noisy(x):
        seen["noise"] = np.random.rand()
        return np.sum(x * x) * seen["noise"]

    gs.jvp(gs.grad(noisy), (VECTOR,), (VECTOR,))


@refused_when_run(
    "`raised` may change `first` in place, under a name that stands for several arrays or lists, "
    "which is not followed",
    AliasingError,
)
def one_of_two_defaults():
    def raised(x, first=np.zeros(2), second=np.zeros(2)):
        chosen = first if x[0] > 0 else second
        chosen[0] = 1.0
        return x.sum()

    gs.grad(raised)(VECTOR)


@refused_when_run(
    "`jacobian_kept` stores to `seen`, a default or what a partial holds: Jacobians do not follow "
    "that"
)
def default_stored_to_in_a_jacobian():
    def kept(x, seen=[]):
        seen.append(x[0])
        return x * 2

    gs.jacobian(kept)(VECTOR)
