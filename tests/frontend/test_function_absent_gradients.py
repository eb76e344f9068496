"""`F.apply(…)` in compiled code, where a result gets no gradient on the path that is taken: as in
eager mode, `backward` is not run, or gets None for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import Function


class Normed(Function):
    """Of a gradient of zeros, it makes NaN."""

    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        return g / np.sqrt((g * g).sum())


def in_one_branch(x):
    y = Normed.apply(x)
    if x[0] > 0:
        return (x * x).sum()
    return y.sum() + x.sum()


def by_condition_of_an_iteration(x):
    total = (x * x).sum()
    for i in range(3):
        y = Normed.apply(x * (i + 1.0))
        if x[i] > 0:
            total = total + y.sum() * 2
    return total


def where_a_loop_runs(x):
    y = Normed.apply(x)
    total = (x * x).sum()
    n = 0
    while n < x[0]:
        total = total + y.sum()
        n += 1
    return total


def before_an_exit(x):
    y = Normed.apply(x)
    for i in range(3):
        if x[i] > 1:
            return (x * x).sum()
    return y.sum()


def in_the_last_iteration(x):
    y, last = x, x * 0
    for i in range(4):
        z = Normed.apply(y)
        if y.sum() > 4:
            break
        last = z
        y = y * 2
    return last.sum() + (y * y).sum()


def where_nothing_is_raised(x):
    y = Normed.apply(x)
    try:
        if x[0] > 0:
            raise ValueError
        total = y.sum()
    except ValueError:
        total = (x * x).sum()
    return total


def stored_on_one_path(x):
    y = Normed.apply(x * 2)
    z = x * 3
    if x[0] > 0:
        z[1:] = y[1:]
    return (z * z).sum()


def of_another(x):
    y = Normed.apply(x)
    z = Normed.apply(y * y)
    return z.sum() if x[1] > 0 else (x * x).sum() + y[0]


class Several(Function):
    """Gradients that may be None."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.set_materialize_grads(False)
        return x * 2, x * 3, x.sum()

    @staticmethod
    def backward(ctx, g, h, total):
        (x,) = ctx.saved_tensors
        gradient = 100 * x if g is None else g
        gradient = gradient + (10000 if h is None else 10 * h * x)
        return gradient + (1000000 if total is None else total)


def only_the_second(x):
    return (Several.apply(x)[1] * x).sum()


def by_two_conditions(x):
    a, b, _ = Several.apply(x)
    total = (x * x).sum()
    if x[0] > 0:
        total = total + (a * x).sum()
    if x[1] > 0:
        total = total + (b * b).sum()
    return total


def carried(x):
    """The second result is used in each iteration but the last, the third after the loop."""
    total = x.sum()
    aux = x
    for _ in range(3):
        x, aux, total = Several.apply(x * aux)
    return total + (x * x).sum()


def one_of_another(x):
    a, b, total = Several.apply(x)
    c, d, _ = Several.apply(a)
    if x[0] > 0:
        return (d * b).sum() if x[1] > 0 else (c * c).sum()
    return b.sum() + total


class Exchanged(Function):
    """Each result is of one argument, and so is the gradient."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return y * 2, x * 3

    @staticmethod
    def backward(ctx, g, h):
        assert g is None or h is None
        return None if h is None else h * 30, None if g is None else g * 20


def exchanged(x):
    a, b = x, x * 2
    for _ in range(3):
        a, b = Exchanged.apply(a, b)
    return a.sum()


PROGRAMS = [
    exchanged,
    in_one_branch,
    by_condition_of_an_iteration,
    where_a_loop_runs,
    before_an_exit,
    in_the_last_iteration,
    where_nothing_is_raised,
    stored_on_one_path,
    of_another,
    only_the_second,
    by_two_conditions,
    carried,
    one_of_another,
]
POINTS = [np.array([i, j, 0.7]) for i in (-0.3, 1.4) for j in (-0.6, 0.9)]


@pytest.mark.parametrize("point", POINTS, ids=str)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_gradients_are_those_of_eager_mode(function: Any, point: Any) -> None:
    eager, compiled = (gs.tensor(point, requires_grad=True) for _ in range(2))
    function(eager).backward()
    gs.differentiable(function)(compiled).backward()
    assert eager.grad is not None
    assert eager.grad.isfinite().all()
    np.testing.assert_allclose(compiled.grad.numpy(), eager.grad.numpy(), rtol=1e-13)
    np.testing.assert_allclose(gs.grad(function)(point), eager.grad.numpy(), rtol=1e-13)


def test_the_condition_is_asked_once_more_and_loops_are_free_of_flags():
    source = gs.differentiable(in_one_branch).specialize(np.ones(3)).gradient_source
    assert "if not branch:" in source or "if not x[0] > 0:" in source

    def repeated(x):
        for _ in range(3):
            x = Normed.apply(x)
        return x.sum()

    assert " if " not in gs.differentiable(repeated).specialize(np.ones(3)).gradient_source
