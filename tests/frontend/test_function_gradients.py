"""What `backward` of a Function that compiled code calls may return, as in eager mode: how many
gradients, of what, of which shapes and dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import Function

X = np.array([0.3, -0.7, 1.2])


def test_a_wrong_number_of_gradients():
    class Few(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 1\)"):
        gs.grad(lambda x: Few.apply(x, x).sum())(X)


def test_a_complex_gradient_of_a_real_argument():
    class Turned(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 1j

    with pytest.raises(RuntimeError, match="input_is_complex == grad_is_complex"):
        gs.grad(lambda x: Turned.apply(x).sum())(X)


def shaped(gradient):
    """A Function with this gradient and tangent."""

    class Shaped(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return gradient(ctx.x)

        @staticmethod
        def jvp(ctx, t):
            return gradient(ctx.x)

    return lambda x: Shaped.apply(x).sum()


@pytest.mark.parametrize(
    ("gradient", "shape"),
    [(lambda x: gs.ones(2), "2"), (lambda x: x[:1], "1"), (lambda x: x.sum(), "")],
)
def test_a_gradient_of_a_wrong_shape(gradient, shape):
    f = shaped(gradient)
    wrong = rf"^Function ShapedBackward returned an invalid gradient at index 0 - got \[{shape}\]"
    with pytest.raises(RuntimeError, match=wrong):
        gs.grad(f)(X)
    with pytest.raises(RuntimeError, match=rf"of size \[3\] while .* is of size \[{shape}\]"):
        gs.jvp(f, (X,), (X,))


def test_a_gradient_of_a_broadcast_shape():
    np.testing.assert_array_equal(gs.grad(shaped(lambda x: gs.ones(4, 3)))(X), [4.0] * 3)


def test_a_gradient_whose_shape_only_the_run_tells():
    f = shaped(lambda x: x[x > 0] * x[0])
    np.testing.assert_allclose(gs.grad(f)(abs(X)), abs(X) * 0.3)
    np.testing.assert_allclose(gs.jvp(f, (abs(X),), (X,))[1], (abs(X) * 0.3).sum())
    with pytest.raises(RuntimeError, match=r"got \[2\] but expected shape compatible with \[3\]"):
        gs.grad(f)(X)
    with pytest.raises(RuntimeError, match=r"of size \[3\] while .* is of size \[2\]"):
        gs.jvp(f, (X,), (X,))
    np.testing.assert_array_equal(gs.grad(shaped(lambda x: x[x > 0]))(X[:1]), X[:1])


def returning(gradients):
    """A Function of a Tensor and a number that returns these gradients."""

    class Returning(Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return gradients(g)

    return lambda x: Returning.apply(x, 3.0).sum()


@pytest.mark.parametrize(
    ("gradients", "message"),
    [
        (lambda g: (g, g), "a gradient different than None at position 2, but the corresponding"),
        (lambda g: (g, g.clone().numpy()), "a gradient different than None at position 2"),
        (lambda g: (2.0, None), r"expected Variable or None \(got float\)"),
        (lambda g: (g.detach().numpy().tolist(), None), "expected Variable or None"),
    ],
)
def test_a_gradient_that_may_not_be(gradients, message):
    f = returning(gradients)
    for called in (f, gs.differentiable(f)):
        x = gs.tensor(X, requires_grad=True)
        with pytest.raises(RuntimeError, match=message):
            called(x).backward()


def test_complex_numbers():
    class Turned(Function):
        @staticmethod
        def forward(ctx, z, x):
            ctx.save_for_backward(z, x)
            return z * z * x, z * 1j

        @staticmethod
        def backward(ctx, g, h):
            z, x = ctx.saved_tensors
            return 2 * g * (z * x).conj() - 1j * h, (g * (z * z).conj()).real

    def f(z, x):
        a, b = Turned.apply(z, x)
        return (a * b.conj()).real.sum() + abs(a * (1 + 2j)).sum()

    z = np.array([1 + 2j, -0.5 + 1j, 0.3 - 2j])
    found = []
    for called in (f, gs.differentiable(f)):
        arguments = [gs.tensor(given, requires_grad=True) for given in (z, X)]
        called(*arguments).backward()
        found.append([argument.grad.numpy() for argument in arguments])
    for eager, compiled in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-13)
    gs.testing.check_grad(f, z, X)


def test_a_function_that_is_kept_and_not_called_at_run_time():
    class Keeping(Function):
        @staticmethod
        def forward(ctx, x, apply):
            ctx.apply = apply
            return apply(x)

        @staticmethod
        def backward(ctx, g):
            return gs.tensor(g.numpy() * 2), None

    @gs.differentiable
    def f(x):
        return Keeping.apply(x, lambda y: y + 1).sum()

    x = gs.tensor(X, requires_grad=True)
    f(x).backward()
    assert x.grad.tolist() == [2.0] * 3
