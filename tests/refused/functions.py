"""What an `autograd.Function` may not do in compiled code."""

from __future__ import annotations

import numpy as np

import gradscribe as gs
from gradscribe.errors import NoDerivativeError
from tests.refused import refused, refused_when_run

VECTOR = np.array([0.5, 1.5])


class Undefined(gs.autograd.Function):
    """Derivatives that may be None."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * y

    @staticmethod
    def jvp(ctx, d_x, d_y):
        return d_x if d_y is None else d_y


class Five(gs.autograd.Function):
    """Results whose gradients may be None."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return tuple(x * i for i in range(5))

    @staticmethod
    def backward(ctx, *gradients):
        return sum(g for g in gradients if g is not None)


class Undecided(gs.autograd.Function):
    """Whether gradients may be None depends on the values."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(x[0] > 0)
        return x * 2


class Marked(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x


class Doubling(gs.autograd.Function):
    """It changes its input, and does not say so."""

    @staticmethod
    def forward(ctx, x):
        x *= 2
        return x + 1

    @staticmethod
    def backward(ctx, d_out):
        return d_out


class Keeping(gs.autograd.Function):
    """Its backward, which is called at run time, calls a function of compiled code."""

    @staticmethod
    def forward(ctx, x, apply):
        ctx.apply = apply
        return apply(x)

    @staticmethod
    def backward(ctx, d_out):
        return ctx.apply(d_out) * gs.tensor(VECTOR), None


class Deciding(gs.autograd.Function):
    """What it saves depends on the values."""

    @staticmethod
    def forward(ctx, x):
        if x[0] > 0:
            ctx.save_for_backward(x)
        return x * 2


@refused(
    "You must implement either the backward or vjp method for your custom autograd.Function to "
    "use it with backward mode AD",
    VECTOR,
    kind=NoDerivativeError,
    by=lambda function, x: gs.grad(function)(x),
)
def function_without_backward(x):
    return Undefined.apply(x, x).sum()


@refused_when_run(
    "`set_materialize_grads(False)` of `Undefined`, which has several arguments: which of their "
    "tangents are None depends on what runs",
    kind=NoDerivativeError,
)
def function_whose_tangents_may_be_none():
    gs.jvp(lambda x: Undefined.apply(x, x), (VECTOR,), (VECTOR,))


@refused(
    "which of more than 4 results of `Five` have no gradient, where it asks for that by "
    "`set_materialize_grads(False)`, depends on the path that is taken",
    VECTOR,
    by=lambda function, x: gs.grad(function)(x),
)
def function_of_which_gradients_may_be_none(x):
    total = x.sum()
    for y in Five.apply(x):
        if y[0] > 1:
            total = total + y[0]
    return total


@refused("`set_materialize_grads` of `Undecided` that only the run decides", VECTOR)
def function_that_decides_about_zeros(x):
    return Undecided.apply(x)


@refused(
    "`Doubling.forward` changed in place what is differentiated, without `mark_dirty`",
    VECTOR,
    kind=NoDerivativeError,
)
def function_that_changes_its_input(x):
    y = x * 1.0
    return Doubling.apply(y) * y


@refused_when_run(
    "`Doubling` changes what it is given, or finds outside, in a call that is differentiated by "
    "itself"
)
def recorded_function_that_changes_its_input():
    gs.vjp(lambda x: Doubling.apply(x * 1.0), VECTOR, compile=False)


@refused("`mark_dirty` of a number: in compiled code, numbers are not changed in place", VECTOR)
def function_that_marks_a_number(x):
    return Marked.apply(x[0] * 2)


@refused_when_run("a function that compiled code has made is called here at run time")
def function_that_calls_one_of_compiled_code():
    def kept(x):
        return Keeping.apply(x, lambda y: y + 1).sum()

    gs.grad(kept)(VECTOR)


@refused("`save_for_backward` of `Deciding` under a condition that only the run decides", VECTOR)
def function_that_decides_what_it_saves(x):
    return Deciding.apply(x)


@refused("the code that this `errors` names is not Python's own, as far as is known", VECTOR)
def handler_of_the_programs_own(x):
    return len("abc".encode("ascii", "own")) * x.sum()
