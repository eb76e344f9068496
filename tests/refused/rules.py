"""Rules of users whose results do not fit; the place is that of the rule."""

from __future__ import annotations

import numpy as np

import gradscribe as gs
from gradscribe.errors import ArgumentError, NoDerivativeError, RuleError
from tests.refused import refused, refused_when_run

X = np.linspace(0.5, 2.0, 4)


def ruled(rule, kind="adjoint", function=lambda x: x * 2):
    """A primitive with a rule."""
    op = gs.primitive(function)
    op.__name__ = op._rules.name = "op"
    getattr(op, kind)(rule)
    return op


def pair(x, y):
    return x * y


UNLIKE = ruled(lambda out, x, *, d_out: np.append(d_out, d_out))


@refused(
    "the adjoint of `op` gives a cotangent of shape (8,) for `x`, which has shape (4,)",
    X,
    kind=RuleError,
    by=lambda f, x: gs.grad(f)(x),
)
def cotangent_of_another_shape(x):
    return np.sum(UNLIKE(x))


COMPLEX = ruled(lambda out, x, *, d_out: d_out * 2j)


@refused(
    "the adjoint of `op` gives numbers of complex128 as the cotangent of `x`, which is of float64",
    X,
    kind=RuleError,
    by=lambda f, x: gs.grad(f)(x),
)
def complex_cotangent(x):
    return np.sum(COMPLEX(x))


TEXT = ruled(lambda out, x, *, d_out: "2")


@refused(
    "the adjoint of `op` gives a str as the cotangent of `x`, which is an array",
    X,
    kind=RuleError,
    by=lambda f, x: gs.grad(f)(x),
)
def text_as_cotangent(x):
    return np.sum(TEXT(x))


ONE_OF_TWO = ruled(lambda out, x, y, *, d_out: d_out * y, function=pair)


@refused(
    "the adjoint of `op` gives 1 cotangent for 2 parameters",
    X,
    kind=RuleError,
    by=lambda f, x: gs.grad(f)(x),
)
def one_cotangent_of_two(x):
    return np.sum(ONE_OF_TWO(x, x))


def forgotten(out, x, *, d_out):
    2 * d_out


FORGOTTEN = ruled(forgotten)


@refused("the adjoint of `op` has no `return`", X, kind=RuleError, by=lambda f, x: gs.grad(f)(x))
def forgotten_return(x):
    return np.sum(FORGOTTEN(x))


def in_place(out, x, *, d_out):
    eval("0")
    d_out *= 2
    return d_out


IN_PLACE = ruled(in_place)


@refused(
    "the adjoint of `op` wrote to an argument", X, kind=RuleError, by=lambda f, x: gs.grad(f)(x)
)
def rule_that_writes(x):
    return np.sum(IN_PLACE(x))


def not_compiled(out, x, *, d_out):
    eval("0")
    return 2 * d_out


NOT_COMPILED = ruled(not_compiled)


@refused(
    "the adjoint of `op` would have to be differentiated, and cannot be compiled: `eval` is not "
    "supported: a program in a string has no source to compile",
    X,
    kind=NoDerivativeError,
    by=lambda f, x: gs.hessian(f)(x),
)
def hessian_of_a_rule_that_is_called(x):
    return np.sum(NOT_COMPILED(x) * x)


SCALE = np.ones(3)


def scaling(out, x, *, d_out):
    return SCALE * d_out


SCALED = ruled(scaling)


@refused(
    "the adjoint of `op` would have to be differentiated, and cannot be compiled: it reads `SCALE` "
    "from outside",
    X,
    kind=NoDerivativeError,
    by=lambda f, x: gs.hessian(f)(x),
)
def hessian_of_a_rule_that_reads_an_array_from_outside(x):
    return np.sum(SCALED(x) * x)


class Twice(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, d_out):
        eval("0")
        return d_out * 2


@refused(
    "what `Twice.backward` computes would have to be differentiated here, and it cannot be "
    "compiled: `eval` is not supported: a program in a string has no source to compile",
    X,
    kind=NoDerivativeError,
    by=lambda f, x: gs.hessian(f)(x),
)
def hessian_of_a_function_that_is_called(x):
    return np.sum(Twice.apply(x) * x)


@refused_when_run(
    "the adjoint of `op` cannot be called as it will be: missing a required argument: 'scale'",
    ArgumentError,
)
def rule_of_other_parameters():
    ruled(lambda out, x, *, d_out, scale: d_out * scale)


@gs.primitive
def total_of_pairs(items):
    return sum(value for _, value in items)


@total_of_pairs.tangent
def _(out, items, *, d_items):
    return sum(d for _, d in d_items)


@refused(
    "the tangent of a list that holds integers beside numbers which are differentiated",
    X,
    by=lambda f, x: gs.jvp(f, (x,), (x,)),
)
def integers_beside_what_a_rule_differentiates(x):
    pairs = []
    for number in range(3):
        pairs.append((number, x[number]))
    return total_of_pairs(pairs)
