"""`compile=False` of the transforms: the derivatives of compiled code, in all compositions."""

import functools
import math

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import ArgumentError, NonScalarError, NotSpecializedError

X = np.array([0.3, 0.7, 1.1])


def f(x):
    return np.sum(np.sin(x) * x**2) + x[0] * x[1]


def g(x):
    return np.outer(x, np.sin(x))


def first_of(gradient):
    return lambda x: gradient(x)[0]


def tangent_along(how):
    return lambda x: gs.jvp(f, (x,), (X,), **how)[1]


@pytest.mark.parametrize(
    "derivative",
    [
        lambda **how: gs.grad(f, **how)(X),
        lambda **how: gs.value_and_grad(f, **how)(X),
        lambda **how: gs.jacobian(g, **how)(X),
        lambda **how: gs.jacfwd(g, **how)(X),
        lambda **how: gs.jacrev(g, **how)(X),
        lambda **how: gs.hessian(f, **how)(X),
        lambda **how: gs.hvp(f, X, X[::-1], **how),
        lambda **how: gs.jvp(f, (X,), (X[::-1],), **how),
        lambda **how: gs.vjp(g, X, **how)[1](np.eye(3)),
        lambda **how: gs.grad(gs.differentiable(f, **how))(X),
        lambda **how: gs.jvp(gs.grad(f, **how), (X,), (X[::-1],)),
        lambda **how: gs.grad(first_of(gs.grad(f, **how)))(X),
        lambda **how: gs.grad(lambda x: gs.grad(f)(x)[0], **how)(X),
        lambda **how: gs.grad(tangent_along(how))(X),
        lambda **how: gs.grad(gs.grad(lambda x: x**3 * np.exp(x), **how), **how)(2.0),
        lambda **how: gs.jacobian(gs.hessian(f, **how), **how)(X),
        lambda **how: gs.grad(lambda x: gs.jacobian(g)(x)[1, 1, 1], **how)(X),
        lambda **how: gs.jacobian(lambda z: z * np.conj(z), **how)(X),
        lambda **how: gs.jacobian(np.fft.fft, **how)(X),
        lambda **how: gs.jacobian(lambda z: np.abs(z) ** 2, **how)(X + 1j),
        lambda **how: gs.jacfwd(lambda z: np.abs(z) ** 2, **how)(X + 1j),
        lambda **how: gs.jacobian(lambda z: z**3, holomorphic=True, **how)(X + 1j),
    ],
)
def test_recorded_derivatives_are_those_of_compiled_code(derivative):
    recorded, compiled = derivative(compile=False), derivative(compile=True)
    recorded, compiled = [d if isinstance(d, tuple) else (d,) for d in (recorded, compiled)]
    for one, other in zip(recorded, compiled, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_arguments_are_counted_as_in_compiled_code():
    def product(x, y=X):
        return np.sum(x * y), "aux"

    for compile in (False, True):
        gradient = gs.grad(product, argnums=1, has_aux=True, compile=compile)
        for args, keywords in [((2 * X,), {}), ((2 * X, X), {}), ((2 * X,), {"y": X})]:
            found, aux = gradient(*args, **keywords)
            assert aux == "aux" and found.tolist() == (2 * X).tolist()
        both = gs.grad(lambda x, y: x * y, argnums=(-1, 0), compile=compile)
        assert both(2.0, 3.0) == (2.0, 3.0)


def test_results_have_the_classes_of_compiled_code():
    for compile in (False, True):
        options = {"compile": compile}
        assert type(gs.grad(lambda x: x * x, **options)(3.0)) is float
        assert type(gs.grad(lambda x: x * x, **options)(np.float32(3))) is np.float32
        assert type(gs.grad(lambda x: x[0] * x[1], **options)([2.0, 3.0])) is list
        assert gs.jvp(lambda x: (x * x, 3, "a"), (2.0,), (1.0,), **options)[0] == (4.0, 3, "a")
        assert gs.jacobian(lambda x: (x * x, 3), **options)(2.0) == (4.0, None)


def test_functions_without_source_are_differentiated():
    namespace = {}
    exec("def norm(x):\n    return (x @ x) ** 0.5", namespace)
    expected = X / math.sqrt(X @ X)
    for function in (namespace["norm"], np.linalg.norm, functools.partial(np.linalg.norm, axis=0)):
        np.testing.assert_allclose(gs.grad(function, compile=False)(X), expected)


class Layer:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(np.tanh(self.w * x))

    __call__ = loss


def test_methods_and_callable_objects_are_differentiated():
    layer = Layer(X)
    expected = gs.grad(layer.loss)(X)
    for function in (layer, layer.loss):
        np.testing.assert_array_equal(gs.grad(function, compile=False)(X), expected)


class Square(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, d_out):
        (x,) = ctx.saved_tensors
        return 3 * x * d_out  # not its derivative


@gs.primitive
def cubes(x):
    return x**3


@cubes.adjoint
def _(out, x, *, d_out):
    return 4 * x * x * d_out


@gs.primitive
def squares(x):
    return x * x, x


@squares.adjoint
def _(out, x, *, d_out):
    return 3 * x * d_out[0] + d_out[1]


def test_own_rules_are_followed():
    for compile in (False, True):
        gradient = gs.grad(lambda x: np.sum(Square.apply(x)), compile=compile)
        assert gradient(X).tolist() == (3 * X).tolist()
        gradient = gs.grad(lambda x: np.sum(squares(x)[0]) + np.sum(squares(x)[1]), compile=compile)
        assert gradient(X).tolist() == (3 * X + 1).tolist()
        second = gs.hessian(lambda x: np.sum(cubes(x)), compile=compile)(X)
        np.testing.assert_allclose(second, np.diag(8 * X))


def test_stop_gradient_gives_plain_values():
    classes = []

    def function(x):
        constant = gs.stop_gradient(x)
        classes[:] = [type(constant), type(gs.stop_gradient(x[0]))]
        return np.sum(constant * x) * math.exp(gs.stop_gradient(x[0]))

    np.testing.assert_allclose(gs.grad(function, compile=False)(X), X * math.exp(X[0]))
    assert classes == [np.ndarray, np.float64]


def test_tensors_flow_through_one_node():
    recorded = gs.differentiable(f, compile=False)
    x = gs.tensor(X, requires_grad=True)
    out = recorded(x)
    assert out.grad_fn.name() == "FBackward" and out.item() == f(X)
    out.backward()
    np.testing.assert_allclose(x.grad.numpy(), gs.grad(f)(X))
    (first,) = gs.autograd.grad(recorded(x), (x,), create_graph=True)
    (second,) = gs.autograd.grad(first @ gs.tensor(X), (x,))
    np.testing.assert_allclose(second.numpy(), gs.hvp(f, X, X))
    np.testing.assert_allclose(
        gs.autograd.functional.jvp(recorded, x, x)[1].item(), gs.grad(f)(X) @ X
    )


def test_options_are_checked():
    with pytest.raises(ArgumentError, match=r'compile=3\nInstead: pass True, False or "auto"'):
        gs.grad(f, compile=3)
    for transform in (gs.grad, gs.hessian, gs.differentiable, gs.jacobian):
        with pytest.raises(ArgumentError, match=r"`jit=True` runs generated code.*`compile=False`"):
            transform(f, jit=True, compile=False)
    with pytest.raises(NotSpecializedError, match=r"runs its function as it is, and so has no sou"):
        gs.grad(f, compile=False).source
    with pytest.raises(NotSpecializedError, match=r"`f` runs its function as it is"):
        gs.differentiable(f, compile=False).specialize(X)


@pytest.mark.parametrize(
    ("function", "args", "kind", "text"),
    [
        (lambda x: x, (X,), NonScalarError, "needs one real number as its result, not an array"),
        (lambda x: (x, x), (X,), NonScalarError, "not a nested result"),
        (lambda x: 1j * x, (2.0,), NonScalarError, "not a complex number"),
        (lambda x: 3, (2.0,), NonScalarError, "not a value of type int"),
        (
            lambda x: x,
            (3,),
            ArgumentError,
            "nothing to differentiate in argument 0 of `<lambda>`, of type int",
        ),
        (lambda: 3.0, (), ArgumentError, "argnums says 0, but `<lambda>` has 0 arguments"),
    ],
)
def test_what_has_no_gradient_is_refused(function, args, kind, text):
    with pytest.raises(kind, match=text):
        gs.grad(function, compile=False)(*args)


def test_where_nothing_is_recorded_the_derivative_is_cut():
    def function(x):
        with gs.no_grad():
            constant = x * x
        with gs.no_grad(), gs.enable_grad():
            y = x * x
        return constant * x + y

    for compile in (False, True):
        assert gs.grad(function, compile=compile)(3.0) == 15.0
        with gs.no_grad():
            assert gs.grad(function, compile=compile)(3.0) == 15.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (np.outer(x, x) - np.outer(x, x).max(1)[0]).sum(),
        lambda x: np.sum(x * np.std(x) + x.std()),
        lambda x: np.sum(x) * x.size,
        lambda x: np.sum(x) if x.sort() is None else np.sum(2 * x),
        lambda x: np.sum(x.repeat(2)),
    ],
)
def test_methods_that_tensors_have_with_another_meaning_are_refused(function):
    with pytest.raises(gs.errors.UnsupportedError, match="means one thing for Tensors"):
        gs.differentiable(function, compile=False)(gs.tensor(X, requires_grad=True))
    assert gs.grad(function, compile=False)(X.copy()).shape == X.shape


def test_methods_that_tensors_and_arrays_have_alike_are_theirs():
    def f(x, scale):
        y = x.reshape(-1, 1)
        return (y.max() + y.sum(0) * scale.mean() + np.max(y, 0) + np.linalg.norm(y)).sum()

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    gs.differentiable(f, compile=False)(x, gs.tensor([1.0, 3.0])).backward()
    assert x.grad.numpy() == pytest.approx([2 + 5**-0.5, 4 + 2 * 5**-0.5])
