"""What runs as it is (`compile=False`), and what of that has no derivative."""

import functools
import sys

import numpy as np
import scipy.stats

import gradscribe as gs
from gradscribe.errors import AliasingError, ArgumentError, NonScalarError, NotSpecializedError
from tests.refused import refused, refused_when_run

VECTOR = np.array([0.3, 0.7, 1.1])
as_it_is = functools.partial(gs.grad, compile=False)


@refused_when_run("compile='no'", ArgumentError)
def option_that_is_none():
    gs.grad(np.sum, compile="no")


@refused_when_run(
    "`jit=True` runs generated code, and with `compile='auto'` some calls are recorded",
    ArgumentError,
)
def native_code_in_part():
    gs.grad(np.sum, jit=True, compile="auto")


@refused_when_run(
    "`jit=True` runs generated code, and with `compile=False` there is none", ArgumentError
)
def native_code_as_it_is():
    gs.hessian(np.sum, jit=True, compile=False)


@refused_when_run(
    "`grad_norm` runs its function as it is, and so has no source", NotSpecializedError
)
def source_of_what_is_not_compiled():
    return as_it_is(np.linalg.norm).source


@refused_when_run(
    "a distribution is made of what is differentiated, in a function that runs as it is"
)
def distribution_that_is_made():
    as_it_is(lambda x: scipy.stats.norm(x[0]).logpdf(x[1]))(VECTOR)


@refused_when_run("`add` stores what is differentiated in an array of another kind")
def cast_of_what_is_differentiated():
    as_it_is(lambda x: np.add(x, 1j, out=np.zeros(3), casting="unsafe")[0])(VECTOR)


@refused("`compile` that is computed", VECTOR)
def option_that_is_computed(x):
    return gs.grad(np.sum, compile=bool(x[0] > 0))(x)


@refused_when_run("`gradient` does not return a pair", ArgumentError)
def no_pair():
    as_it_is(np.gradient, has_aux=True)(VECTOR)


@refused_when_run(
    "there is nothing to differentiate in argument 0 of `norm`, of type int", ArgumentError
)
def gradient_by_an_integer():
    as_it_is(np.linalg.norm)(3)


@refused_when_run(
    "the gradient of `sin` needs one real number as its result, not an array of shape (3,)",
    NonScalarError,
)
def gradient_of_an_array():
    as_it_is(np.sin)(VECTOR)


@refused_when_run(
    "the gradient of `frexp` needs one real number as its result, not a nested result",
    NonScalarError,
)
def gradient_of_several_results():
    as_it_is(np.frexp)(2.0)


@refused_when_run(
    "the gradient of `conjugate` needs one real number as its result, not a complex number",
    NonScalarError,
)
def gradient_of_a_complex_number():
    as_it_is(np.conjugate)(1j)


@refused_when_run(
    "the gradient of `argmax` needs one real number as its result, not a value of type int64",
    NonScalarError,
)
def gradient_of_an_integer():
    as_it_is(np.argmax)(VECTOR)


@refused_when_run(
    "an array among the arguments is stored to under another name, outside of the function's "
    "arguments",
    AliasingError,
)
def argument_stored_to_under_its_outside_name():
    total = VECTOR.copy()

    def added(x):
        total[0] = 1.0
        return np.sum(x * x)

    as_it_is(added)(total)


@refused_when_run(
    "an argument is stored to that the function may read by another name, too (as part of a "
    "`bytearray`)",
    AliasingError,
)
def argument_in_memory_of_another_object():
    memory = bytearray(16)

    def scaled(x, y):
        y[0] = 1.0
        return np.sum(x * y) + memory[1]

    as_it_is(scaled)(VECTOR[:2], np.frombuffer(memory))


NAMES = [1.0, 2.0]


@refused_when_run(
    "the function asks by `is` which object something is, and finds an argument by another name, "
    "too, of which it is given a copy",
    AliasingError,
)
def argument_compared_with_what_is_outside():
    def compared(x, names):
        return np.sum(x) if names is NAMES else x[0]

    as_it_is(compared)(VECTOR, NAMES)


_of_a_dict = gs.primitive(lambda table: table["a"] * 2.0)


@refused_when_run(
    "a dict, given to `<lambda>`, that holds what is differentiated",
)
def primitive_of_a_dict():
    as_it_is(lambda x: np.sum(_of_a_dict({"a": x})))(VECTOR)


@refused_when_run("`getrefcount` is not supported: what it gives differs from run to run")
def references_that_are_counted():
    as_it_is(lambda x: sys.getrefcount(x) * np.sum(x))(VECTOR)
