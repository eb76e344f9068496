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


class UndefinedPair(Undefined):
    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x, x * y


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
    "`set_materialize_grads(False)` of `UndefinedPair`, which has several results: which of their "
    "gradients are None depends on what runs",
    VECTOR,
)
def function_whose_gradients_may_be_none(x):
    return UndefinedPair.apply(x, x)[1]


@refused("`save_for_backward` of `Deciding` under a condition that only the run decides", VECTOR)
def function_that_decides_what_it_saves(x):
    return Deciding.apply(x)
