"""`F.apply(…)` in compiled code, of a Function that changes its input in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import Function, forward_ad
from gradscribe.errors import NoDerivativeError, UnsupportedError

X = np.array([0.3, -0.7, 1.2])


class Scale(Function):
    """A derivative that tells where it was taken."""

    @staticmethod
    def forward(ctx, x, factor):
        x.mul_(factor)
        ctx.mark_dirty(x)
        ctx.factor = factor
        return x

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.factor + 10), None


class Exponential(Function):
    """It saves the result that the input has become."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        x.exp_()
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Square(Function):
    """It saves what the input was."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        x *= x
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * 3


class Add(Function):
    """Beside the input that it changes, another result."""

    @staticmethod
    def forward(ctx, x, y):
        x += y
        ctx.mark_dirty(x)
        ctx.save_for_backward(y)
        return x, x * 3

    @staticmethod
    def backward(ctx, g, h):
        (y,) = ctx.saved_tensors
        return g + h, g * y + h * 5


class Unmarked(Function):
    """It does not tell that it changes its input."""

    @staticmethod
    def forward(ctx, x):
        x += 1
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 7


class OfArrays(Function):
    """One that plain arrays can be given."""

    @staticmethod
    def forward(ctx, x):
        x[...] = np.exp(x)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


def all_names(x):
    y = x * 3
    part, turned = y[1:], y.reshape(3, 1)
    z = Scale.apply(y, 2.0)
    return (z * y).sum() + (part * part).sum() * 100 + (turned**3).sum()


def without_the_result(x):
    y = x * 3
    for i in range(3):
        Scale.apply(y, i + 1.0)
    return (y * y).sum()


def stored_to_in_between(x):
    y = x * 3
    for _ in range(3):
        y = Square.apply(y * 0.3)
        y[0] = y[1] * 2
        y = y + y.sin()
    return (y * y).sum()


def on_one_path(x):
    y = x * 3
    z = y[:2]
    if x[0] > 0:
        Exponential.apply(y)
    if x[1] > 0:
        Scale.apply(y, 5.0)
    return (y * y).sum() + z.sum()


def of_a_view(x):
    y = x * 3
    part = y[1:]
    z = Scale.apply(part, 2.0)
    return (y * y).sum() + z.sum() * 10 + (part**3).sum()


def of_rows(x):
    m = gs.stack([x, x * 2, x * 3])
    for i in range(3):
        Scale.apply(m[i], i + 2.0)
    return (m * m).sum()


def beside_another_result(x):
    y = x * 3
    a, b = Add.apply(y, x)
    c, d = Add.apply(y, b * x)
    return (a * b).sum() + (c * d * y).sum()


def in_containers(x):
    y = x * 0.5
    held = {"a": y, "b": [y, y.view(3, 1)]}
    Exponential.apply(held["a"])
    return (held["b"][0] * held["b"][1].sum()).sum()


def summed_up(x):
    total = gs.zeros(3)
    for i in range(4):
        Add.apply(total, x * i)
    return (total * total).sum()


def items_of_a_list(x):
    rows = [x * 1.0, x * 2]
    n = 0
    while rows[0].sum() < 5:
        for row in rows:
            Scale.apply(row, 2.0)
        n += 1
    return (rows[0] * rows[1]).sum() * n


def unmarked_where_nothing_is_recorded(x):
    c = gs.ones(3)
    Unmarked.apply(c)
    Scale.apply(c, 4.0)
    return (c * x).sum()


PROGRAMS = [
    all_names,
    without_the_result,
    stored_to_in_between,
    on_one_path,
    of_a_view,
    of_rows,
    beside_another_result,
    in_containers,
    summed_up,
    items_of_a_list,
    unmarked_where_nothing_is_recorded,
]


@pytest.mark.parametrize("point", [X, -X], ids=str)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_derivatives_are_those_of_eager_mode(function: Any, point: Any) -> None:
    if function is items_of_a_list:
        point = abs(point)
    found = []
    for called in (function, gs.differentiable(function)):
        x = gs.tensor(point, requires_grad=True)
        value = called(x)
        (gradient,) = gs.autograd.grad(value, x, create_graph=True)
        found.append([value.item(), gradient.detach().numpy()])
        if gradient.requires_grad:
            (gradient * gradient).sum().backward()
            found[-1].append(x.grad.numpy())
    for eager, compiled in zip(*found, strict=False):
        np.testing.assert_allclose(compiled, eager, rtol=1e-13)


def test_the_caller_sees_the_change():
    def f(y):
        return (Scale.apply(y, 2.0) * y).sum()

    found = []
    for called in (f, gs.differentiable(f)):
        x = gs.tensor(X, requires_grad=True)
        y = x * 3
        part = y[:2]
        (called(y) + part.sum() * 2).backward()
        found.append((y.tolist(), part.tolist(), x.grad.tolist()))
    assert found[0] == found[1]
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        gs.differentiable(f)(gs.tensor(X, requires_grad=True))


def test_the_tangent_is_what_jvp_says():
    class Pushed(Scale):
        @staticmethod
        def jvp(ctx, d_x, _):
            d_x.mul_(ctx.factor * 10)
            return d_x

    def f(x):
        y = x * 3
        Pushed.apply(y, 2.0)
        return (y * x).sum()

    found = []
    for called in (f, gs.differentiable(f)):
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(gs.tensor(X), gs.ones(3))
            found.append(forward_ad.unpack_dual(called(dual)).tangent.item())
    assert found[0] == pytest.approx(found[1])


class NotReturned(Scale):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.mark_dirty(x)
        return x * factor


class NoInput(Scale):
    @staticmethod
    def forward(ctx, x, factor):
        y = (x * factor)[:]
        ctx.mark_dirty(y)
        return y


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: NotReturned.apply(x * 1, 2.0).sum(), "were not returned as output"),
        (lambda x: NoInput.apply(x * 1, 2.0).sum(), "received a tensor that was not an input"),
        (lambda x: Add.apply((x * 1)[1:], x[1:])[0].sum(), "cannot return more than one Tensor"),
    ],
)
def test_what_eager_mode_refuses(function: Any, message: str) -> None:
    for called in (function, gs.differentiable(function)):
        with pytest.raises(RuntimeError, match=message):
            called(gs.tensor(X, requires_grad=True))


@pytest.mark.parametrize(
    "run",
    [
        lambda f: f(gs.tensor(X, requires_grad=True)),
        lambda f: gs.differentiable(f)(gs.tensor(X, requires_grad=True)).backward(),
        lambda f: gs.grad(f)(X),
        lambda f: gs.jvp(f, (X,), (X,)),
    ],
    ids=["eager", "compiled", "grad", "jvp"],
)
def test_a_change_that_is_not_marked_is_refused(run):
    def f(x):
        y = x * 3
        z = Unmarked.apply(y)
        return (z * y).sum()

    with pytest.raises(NoDerivativeError, match=r"`Unmarked\.forward` changed in place") as caught:
        run(f)
    assert "ctx.mark_dirty" in str(caught.value)


@pytest.mark.parametrize("function", [Unmarked, OfArrays])
def test_a_recorded_call_of_a_function_that_changes_its_input_is_refused(function):
    def f(x):
        y = x * 3
        return (function.apply(y) * y).sum()

    with pytest.raises(UnsupportedError, match=f"`{function.__name__}` changes what it is given"):
        gs.grad(f, compile=False)(X)


def test_generated_code_has_the_change_alone():
    source = gs.differentiable(of_a_view).specialize(gs.tensor(X)).gradient_source
    assert source.count("y[1:] = ") == 1
    assert "y = y" not in source


@pytest.mark.parametrize("order", [1, 2])
def test_of_plain_arrays(order):
    def f(x):
        y = x * 0.5
        OfArrays.apply(y)
        for i in range(2):
            OfArrays.apply(y[i : i + 1])
        return (y * x).sum()

    gs.testing.check_grad(f, X, order=order)
