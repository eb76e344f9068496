"""`autograd.Function` in a recorded run: what `forward` and `backward` find outside, what they are
given beside arrays; and primitives that are given containers."""

import struct
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([1.0, 2.0])
WEIGHTS = np.array([3.0, 4.0])
TABLE = {"scale": 2.0}
FACTORS = [1.5]
LAYER = SimpleNamespace(bias=0.5)


class Weighted(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * WEIGHTS * TABLE["scale"] * FACTORS[0] + LAYER.bias

    @staticmethod
    def backward(ctx, d_out):
        return d_out * WEIGHTS * TABLE["scale"] * FACTORS[0]


class Saving(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.weights = WEIGHTS * TABLE["scale"]
        return x * ctx.weights

    @staticmethod
    def backward(ctx, d_out):
        return d_out * ctx.weights


class Counting(gs.autograd.Function):
    """A derivative that is not that of `forward`, by which it is told."""

    @staticmethod
    def forward(ctx, x, items):
        return x * (len(items) + 1.0)

    @staticmethod
    def backward(ctx, d_out):
        return d_out * 10.0, None


class Adding(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x, log):
        log.append(1.0)
        return x * 2.0

    @staticmethod
    def backward(ctx, d_out):
        return d_out * 2.0, None


def test_what_forward_and_backward_find_outside_is_read_at_each_call():
    function = gs.value_and_grad(lambda x: np.sum(Weighted.apply(x) ** 2), compile=False)
    for scale in (2.0, 5.0):
        TABLE["scale"] = scale
        factors = WEIGHTS * scale * 1.5
        value, gradient = function(X)
        np.testing.assert_allclose(value, np.sum((X * factors + 0.5) ** 2))
        np.testing.assert_allclose(gradient, 2 * (X * factors + 0.5) * factors)
    TABLE["scale"] = 2.0


def test_an_array_that_is_found_outside_may_change_before_backward():
    weights = np.array([3.0, 4.0])

    class Held(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.weights = weights
            return x * weights

        @staticmethod
        def backward(ctx, d_out):
            return d_out * ctx.weights

    def function(x):
        y = np.sum(Held.apply(x))
        weights[0] += 1.0
        return y

    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert value == 11.0
    np.testing.assert_array_equal(gradient, [3.0, 4.0])
    assert weights.tolist() == [4.0, 4.0]


def test_derivatives_of_what_is_saved_of_outside_values():
    def function(x):
        return np.sum(Saving.apply(x) ** 2)

    factors = WEIGHTS * TABLE["scale"]
    found = gs.jacobian(gs.grad(function, compile=False), compile=False)(X)
    np.testing.assert_allclose(found, np.diag(2 * factors**2))
    out, tangent = gs.jvp(function, (X,), (np.array([1.0, -1.0]),), compile=False)
    np.testing.assert_allclose(out, np.sum((X * factors) ** 2))
    np.testing.assert_allclose(tangent, 2 * (X * factors**2) @ [1.0, -1.0])


@pytest.mark.parametrize("items", [[1, 2], (1, 2), {1, 2}, {"a": 1, "b": 2}])
def test_containers_are_given_to_forward(items):
    value, gradient = gs.value_and_grad(lambda x: np.sum(Counting.apply(x, items)), compile=False)(
        X
    )
    assert value == 9.0
    np.testing.assert_array_equal(gradient, [10.0, 10.0])


@pytest.mark.parametrize("items", [bytearray(2), deque([1, 2])])
def test_what_cannot_be_compiled_is_refused(items):
    with pytest.raises(UnsupportedError):
        gs.grad(lambda x: np.sum(Counting.apply(x, items)), compile=False)(X)


def test_a_list_that_forward_adds_to_is_not_lost():
    def active(x):
        log = []
        return np.sum(Adding.apply(x, log)) * len(log)

    def of_constants(x):
        log = []
        return np.sum(Adding.apply(np.ones(2), log) * x) * len(log)

    with pytest.raises(UnsupportedError, match="`Adding` changes what it is given"):
        gs.grad(active, compile=False)(X)
    value, gradient = gs.value_and_grad(of_constants, compile=False)(X)
    assert value == 6.0
    np.testing.assert_array_equal(gradient, [2.0, 2.0])


def test_a_list_of_values_of_the_run_is_not_added_to():
    def function(x):
        return np.sum(Adding.apply(np.ones(2), [np.ones(2)]) * x)

    with pytest.raises(UnsupportedError, match="`Adding` changes a list or dict"):
        gs.grad(function, compile=False)(X)


def test_random_numbers_that_forward_draws_are_refused():
    class Noisy(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x, source):
            return x * source.normal()

        @staticmethod
        def backward(ctx, d_out):
            return d_out, None

    def function(x):
        return np.sum(Noisy.apply(x, np.random.default_rng(1)))

    with pytest.raises(UnsupportedError, match="`Noisy` draws random numbers"):
        gs.grad(function, compile=False)(X)


class Reading(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * LAYER.held

    @staticmethod
    def backward(ctx, d_out):
        return d_out


def test_what_is_differentiated_is_handed_to_apply():
    def function(x):
        LAYER.held = x * 2.0
        return np.sum(Reading.apply(x))

    def of_numbers(x):
        LAYER.held = x[0] * 2.0
        return np.sum(Reading.apply(x))

    with pytest.raises(UnsupportedError, match="`Reading` reads what is computed in the function"):
        gs.grad(function, compile=False)(X)
    with pytest.raises(UnsupportedError, match="`Reading` reads what is computed in the function"):
        gs.grad(of_numbers, compile=False)(X)


of_a_dict = gs.primitive(lambda table: table["a"] * 2.0, pure=True)
of_both = gs.primitive(lambda table, y: table["a"] * y)
packed = gs.primitive(lambda out, s: struct.pack_into("d", out, 8, s), writes=("out",))


def test_a_primitive_is_given_a_dict():
    value, gradient = gs.value_and_grad(
        lambda x: np.sum(of_a_dict({"a": np.ones(2)}) * x), compile=False
    )(X)
    assert value == 6.0
    np.testing.assert_array_equal(gradient, [2.0, 2.0])
    for function in (
        lambda x: np.sum(of_a_dict({"a": x})),
        lambda x: np.sum(of_both({"a": np.ones(2)}, x)),
    ):
        with pytest.raises(UnsupportedError, match="a dict, given to"):
            gs.grad(function, compile=False)(X)


def test_a_primitive_writes_to_arrays_of_the_run():
    def function(x):
        y = np.ones(4)
        packed(y[1:3], 4.0)
        return np.sum(y[1:3] * x) + y[0] * x[0]

    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert value == function(X) == 10.0
    np.testing.assert_array_equal(gradient, [2.0, 4.0])
