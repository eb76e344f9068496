"""`F.apply(…)` of an `autograd.Function` in compiled code: eager mode gives the same gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import Function, forward_ad
from gradscribe.autograd.function import once_differentiable

X = np.array([0.3, -0.7, 1.2])


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class Exponential(Function):
    """It saves its result."""

    @staticmethod
    def forward(ctx, x):
        y = np.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Product(Function):
    """Inputs that are no Tensors, attributes of ctx, gradients that are None, and one too many."""

    @staticmethod
    def forward(ctx, a, b, k, label="none"):
        ctx.save_for_backward(a, b)
        ctx.k, ctx.label = k, label
        return a * b * k

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        d_a = g * b * ctx.k if ctx.needs_input_grad[0] else None
        d_b = g * a * ctx.k if ctx.needs_input_grad[1] else None
        return d_a, d_b, None, None


class SinCos(Function):
    """Two results; each is read by the derivative of the other."""

    @staticmethod
    def forward(ctx, x):
        s, c = np.sin(x), np.cos(x)
        ctx.save_for_backward(s, c)
        return s, c

    @staticmethod
    def backward(ctx, g_s, g_c):
        s, c = ctx.saved_tensors
        return g_s * c - g_c * s


class Power(Function):
    """A forward without ctx."""

    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


class WithRank(Function):
    """A result without derivative."""

    @staticmethod
    def forward(ctx, x):
        rank = np.argsort(x)
        ctx.mark_non_differentiable(rank)
        return x * 2.0, rank

    @staticmethod
    def backward(ctx, g, _):
        return g * 2.0


class InTensors(Function):
    """Methods that mean another thing for Tensors than for arrays."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        spread = x.std()
        return (g.clone() * 3 * x * x * spread / spread).clone()


class InNumPy(Function):
    """A backward that is not compiled, but called."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.shape = x.shape
        return x * x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return gs.tensor(3 * x.detach().numpy() ** 2 * g.numpy())


def square(x):
    return (Square.apply(x) * x).sum()


def exponential(x):
    return (Exponential.apply(x) * x).sum()


def product(x, y):
    return (Product.apply(x, y, 2.0) * x).sum() + (Product.apply(x, y, 3, "label") ** 2).sum()


def sin_cos(x):
    s, c = SinCos.apply(x)
    return (s * c * c).sum() + (SinCos.apply(x * x)[0]).sum()


def power(x):
    return (Power.apply(x, 3) * x).sum()


def with_rank(x):
    doubled, rank = WithRank.apply(x)
    return (doubled * doubled[rank]).sum()


def in_tensors(x):
    return (InTensors.apply(x) * x).sum()


def in_a_loop(x):
    for _ in range(4):
        x = Square.apply(x) * 0.5 + Exponential.apply(x * 0.1)
    return x.sum()


def in_a_branch(x):
    if x[0] > 0:
        y = Square.apply(x)
    else:
        y = Exponential.apply(x)
    return (y * x).sum()


def in_numpy(x):
    return (InNumPy.apply(x) * x).sum()


def tensors_agree(function: Any, *args: Any) -> None:
    gradients = []
    for called in (function, gs.differentiable(function)):
        tensors = [gs.tensor(arg, requires_grad=True) for arg in args]
        called(*tensors).backward()
        gradients.append([tensor.grad.numpy() for tensor in tensors])
    for eager, compiled in zip(*gradients, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (square, (X,)),
        (exponential, (X,)),
        (product, (X, X + 1)),
        (sin_cos, (X,)),
        (power, (X,)),
        (with_rank, (X,)),
        (in_tensors, (X,)),
        (in_a_loop, (X,)),
        (in_a_branch, (X,)),
        (in_a_branch, (-X,)),
    ],
)
def test_derivatives_to_second_order(function: Any, args: Any) -> None:
    value, _ = gs.vjp(function, *args)
    assert value == function(*args)
    gs.testing.check_grad(function, *args)
    tensors_agree(function, *args)


def test_a_backward_that_is_called():
    np.testing.assert_allclose(gs.grad(in_numpy)(X), 4 * X**3)
    tensors_agree(in_numpy, X)
    with pytest.raises(gs.errors.NoDerivativeError):
        gs.jvp(gs.grad(in_numpy), (X,), (X,))


def test_the_derivative_is_what_backward_says():
    class Reversed(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return -5.0 * g

    def f(x):
        return (Reversed.apply(x) * 3.0).sum()

    np.testing.assert_array_equal(gs.grad(f)(X), [-15.0] * 3)
    tensors_agree(f, X)
    Reversed.backward = staticmethod(lambda ctx, g: 2.0 * g)
    np.testing.assert_array_equal(gs.grad(f)(X), [6.0] * 3)


def tensors_agree_that_is(function: Any, wanted: list[float]) -> None:
    """Eager and compiled code give this gradient at [1, 2]."""
    for called in (function, gs.differentiable(function)):
        x = gs.tensor([1.0, 2.0], requires_grad=True)
        called(x).backward()
        assert x.grad.tolist() == wanted


class Returning(Function):
    """The same input, and the same new Tensor, in several places."""

    @staticmethod
    def forward(ctx, x):
        y = x * 2
        return y, x, x, y

    @staticmethod
    def backward(ctx, *gradients):
        a, b, c, d = gradients
        return a + b * 10 + c * 100 + d * 1000


def test_results_that_are_one_tensor():
    def f(x):
        a, b, c, d = Returning.apply(x)
        return (a * 2 + b * 3 + c * 4 + d * 5).sum()

    tensors_agree_that_is(f, [7430.0, 7430.0])


class Constant(Function):
    """An input that is returned without derivative."""

    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(x)
        return x, y

    @staticmethod
    def backward(ctx, _, g):
        return g * 7


@pytest.mark.parametrize("given", [lambda x: x, lambda x: x * 1.0])
def test_an_input_returned_without_derivative(given):
    def f(x):
        a, b = Constant.apply(given(x))
        return (a * b + a * x).sum()

    tensors_agree_that_is(f, [8.0, 16.0])


def test_an_input_returned_where_nothing_is_recorded():
    def f(x):
        with gs.no_grad():
            y, _ = Constant.apply(x)
        return (y * x).sum()

    tensors_agree_that_is(f, [1.0, 2.0])


class Undefined(Function):
    """Gradients that may be None."""

    @staticmethod
    def forward(ctx, x, several):
        ctx.set_materialize_grads(False)
        return (x * 2, x * 3) if several else x * 2

    @staticmethod
    def backward(ctx, g, h=None):
        return (g * 100 if h is None else g + h), None


def test_gradients_that_may_be_none():
    tensors_agree_that_is(lambda x: Undefined.apply(x, False).sum(), [100.0, 100.0])
    tensors_agree_that_is(lambda x: Undefined.apply(x, True)[0].sum(), [100.0, 100.0])


class Pushed(Function):
    """A `jvp` that is not what `backward` implies."""

    @staticmethod
    def forward(ctx, x, y, k=2):
        ctx.save_for_backward(x)
        ctx.save_for_forward(y)
        ctx.k = k
        return x * y, x.sum(), k

    @staticmethod
    def backward(ctx, g, h, _):
        (x,) = ctx.saved_tensors
        return g * 0, g * x * 0

    @staticmethod
    def jvp(ctx, d_x, d_y, d_k=None):
        (y,) = ctx.saved_tensors
        return d_x * y * 10 + d_y * ctx.k, d_x.sum() * 100, None


class PushedAtRunTime(Pushed):
    """One that is not compiled, but called."""

    @staticmethod
    def jvp(ctx, d_x, d_y):
        given = [gs.tensor(d.numpy()) for d in (d_x, d_y, ctx.saved_tensors[0])]
        ctx.saved_tensors = (given[2],)
        return Pushed.jvp(ctx, *given[:2])


@pytest.mark.parametrize("function", [Pushed, PushedAtRunTime])
def test_forward_mode_is_what_jvp_says(function):
    def f(x, y):
        a, b, _ = function.apply(x, y * 3)
        return a.sum() + b

    tangents = (np.ones(3), np.full(3, 2.0))
    value, tangent = gs.jvp(f, (X, X + 1), tangents)
    np.testing.assert_allclose(value, f(X, X + 1))
    np.testing.assert_allclose(tangent, (30 * (X + 1) + 12).sum() + 300)


def test_a_wrong_number_of_tangents():
    class Few(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        def jvp(ctx, d_x):
            return d_x

    with pytest.raises(RuntimeError, match=r"forward gradients \(expected 2 but got 1\)"):
        gs.jvp(lambda x: Few.apply(x)[1].sum(), (X,), (X,))
    with pytest.raises(gs.errors.NoDerivativeError, match=r"either the backward or vjp method"):
        gs.grad(lambda x: Few.apply(x)[1].sum())(X)


def test_a_derivative_named_vjp():
    class Named(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 9

    tensors_agree_that_is(lambda x: Named.apply(x).sum(), [9.0, 9.0])


@pytest.mark.parametrize(("given", "power"), [((), 3), ((2,), 2)])
def test_setup_context_gets_all_arguments_of_forward(given, power):
    class WithDefault(Power):
        @staticmethod
        def forward(x, n=3):
            return x**n

    tensors_agree_that_is(
        lambda x: WithDefault.apply(x, *given).sum(), [power, power * 2.0 ** (power - 1)]
    )
    if given:
        tensors_agree_that_is(
            lambda x: WithDefault.apply(x, n=2).sum() + WithDefault.apply(n=2, x=x).sum(),
            [4.0, 8.0],
        )


def test_a_backward_for_once_says_that_it_is():
    with pytest.raises(gs.errors.NoDerivativeError, match="marked with @once_differentiable"):
        gs.hessian(in_numpy)(X)


def test_a_backward_that_always_raises():
    class Raising(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("not to be differentiated")

    def f(x):
        return Raising.apply(x).sum()

    x = gs.tensor(X, requires_grad=True)
    with pytest.raises(ValueError, match="not to be differentiated"):
        gs.differentiable(f)(x).backward()
    with pytest.raises(ValueError, match="not to be differentiated"):
        gs.grad(f)(X)


class Untrue(Square):
    """A `jvp` that is not the derivative."""

    @staticmethod
    def jvp(ctx, d_x):
        return d_x * 1000


def test_gradients_of_gradients_are_those_of_backward():
    def f(x):
        return (Untrue.apply(x) * x).sum()

    tensor = gs.tensor(X, requires_grad=True)
    (gradient,) = gs.autograd.grad(gs.differentiable(f)(tensor), tensor, create_graph=True)
    gradient.sum().backward()
    np.testing.assert_allclose(tensor.grad.numpy(), 6 * X)
    np.testing.assert_allclose(gs.grad(gs.grad(lambda x: Untrue.apply(x) * x))(2.0), 12.0)
    np.testing.assert_allclose(gs.grad(lambda x: gs.grad(f)(x).sum())(X), 6 * X)


class Times(Function):
    """Methods of the class."""

    factor = 4

    @classmethod
    def forward(cls, ctx, x):
        return x * cls.factor

    @classmethod
    def backward(cls, ctx, g):
        return g * cls.factor * 2


class TimesFive(Times):
    factor = 5


def test_methods_of_the_class():
    def f(x):
        return (Times.apply(x) + TimesFive.apply(x)).sum()

    tensors_agree_that_is(f, [18.0, 18.0])


def test_tangents_of_tensors_are_those_of_jvp():
    @gs.differentiable
    def f(x):
        return (Untrue.apply(x * 2) * x).sum()

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(X), gs.ones(3))
        tangent = forward_ad.unpack_dual(f(dual)).tangent
    np.testing.assert_allclose(tangent.item(), (2000 * X + 4 * X**2).sum())


class WithConstants(Function):
    """Zeros as the gradients of results without derivative, None where there is no array."""

    @staticmethod
    def forward(ctx, x):
        y = x * 3
        ctx.mark_non_differentiable(y)
        return x * 2, y, np.argsort(x), 7

    @staticmethod
    def backward(ctx, g, h, rank, number):
        assert number is None
        return g * 2 + (h + 1) * rank.shape[0] + rank


class WithConstantsAtRunTime(WithConstants):
    @staticmethod
    def backward(ctx, *gradients):
        given = [g if g is None else gs.tensor(g.numpy()) for g in gradients]
        return WithConstants.backward(ctx, *given)


@pytest.mark.parametrize("function", [WithConstants, WithConstantsAtRunTime])
def test_gradients_of_results_without_derivative_are_zeros(function):
    def f(x):
        a, b, rank, number = function.apply(x)
        return (a * number + b[rank]).sum()

    tensors_agree_that_is(f, [16.0, 16.0])
    np.testing.assert_array_equal(gs.grad(f)(X), [17.0] * 3)


@pytest.mark.parametrize(
    "tell",
    [
        lambda ctx, x: ctx.mark_non_differentiable(x),
        lambda ctx, x: ctx.save_for_backward(x),
        lambda ctx, x: ctx.save_for_forward(x, x),
    ],
)
def test_what_is_told_where_only_the_run_decides_is_refused(tell):
    class Telling(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            if x[0] > 0:
                tell(ctx, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with pytest.raises(gs.errors.UnsupportedError, match="condition that only the run decides"):
        gs.grad(lambda x: Telling.apply(x).sum())(X)


class Named(Function):
    """Attributes of names that are those of nodes, or of what `ctx` is told."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.name = ctx.backward = ctx.next_edges = factor
        ctx.saved_for_forward = ctx.non_differentiable = ctx.materializes_grads = factor
        ctx.dirty = factor
        ctx.save_for_backward(x)
        return x * x * factor

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        assert ctx.name == ctx.backward == ctx.next_edges
        assert ctx.saved_for_forward == ctx.non_differentiable == ctx.materializes_grads
        return 2 * x * g * ctx.saved_for_forward, None


def named(x):
    return np.sum(Named.apply(x, 0.5))


def test_attributes_of_any_name_are_the_users():
    np.testing.assert_allclose(gs.grad(named)(X), X)
    x = gs.tensor(X, requires_grad=True)
    named(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), X)


class Asking(Function):
    """It gives NaN for what needs no gradient."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.needed = ctx.needs_input_grad
        return x * y

    @staticmethod
    def backward(ctx, g):
        assert ctx.needed == ctx.needs_input_grad
        return tuple(g * 10 if needed else g * float("nan") for needed in ctx.needed)


def test_an_input_that_is_cut_off_needs_no_gradient():
    def f(x):
        y = Asking.apply(x, x.detach())
        z = Asking.apply(y.detach().reshape(2, 1), y)
        return (Asking.apply(x.detach(), y.data) * x).sum() + z.sum()

    tensors_agree_that_is(f, [201.0, 208.0])
