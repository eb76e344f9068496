"""Arguments of a recorded run lie in memory as the caller's arrays, and are read-only as these."""

import ctypes
import io
import struct

import numpy as np
import pytest

import gradscribe as gs

A = np.arange(24.0).reshape(4, 6) / 7 + 0.3


def first_of_ravel(x):
    flat = x.ravel()
    flat[0] = 9.0
    return np.sum(x * x)


def after_a_store(x):
    x[..., -1] = 2.0 * x[..., 0]
    flat = x.reshape(-1)
    flat[1] = 9.0
    return np.sum(x * x)


def of_strides(x):
    return np.sum(x * x) * (x.strides[-1] + 2 * x.flags.c_contiguous + x.flags.f_contiguous)


LAYOUTS = {
    "every second": lambda: A.copy()[0, ::2],
    "a column": lambda: A.copy()[:, 1],
    "backward": lambda: A.copy()[0, ::-1],
    "a part": lambda: A.copy()[1:3, 1:4],
    "every second row": lambda: A.copy()[::2],
    "transposed": lambda: A.copy().T,
    "by columns": lambda: np.asfortranarray(A),
    "whole": A.copy,
}


@pytest.mark.parametrize("function", [first_of_ravel, after_a_store, of_strides])
@pytest.mark.parametrize("made", LAYOUTS.values(), ids=LAYOUTS)
def test_arguments_lie_as_the_callers_arrays(function, made):
    given = made()
    expected = function(made())
    value, gradient = gs.value_and_grad(function, compile=False)(given)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_array_equal(given, made())
    along = np.cos(np.arange(given.size)).reshape(given.shape)
    out, tangent = gs.jvp(function, (given,), (along,), compile=False)
    np.testing.assert_allclose(out, expected)
    np.testing.assert_allclose(tangent, np.sum(gradient * along))

    def moved(step):
        x = made()
        x += step * along
        return function(x)

    np.testing.assert_allclose(tangent, (moved(1e-6) - moved(-1e-6)) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("made", LAYOUTS.values(), ids=LAYOUTS)
def test_so_do_arguments_that_are_not_differentiated(made):
    def function(x, w):
        return np.sum(x * x) * first_of_ravel(w) + x[0] * w.strides[0]

    x = np.array([1.0, 2.0])
    expected = function(x, made())
    value, gradient = gs.value_and_grad(function, compile=False)(x, made())
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(gradient[1], 4 * first_of_ravel(made()))


def tried(x, w):
    try:
        w[0] = 5.0
    except ValueError:
        return np.sum(x**2)
    return np.sum(w * x)


def test_what_is_read_only_stays_so():
    x, w = np.array([1.0, 2.0]), np.ones(2)
    np.testing.assert_array_equal(gs.grad(tried, compile=False)(x, w.copy()), [5.0, 1.0])
    w.flags.writeable = False
    np.testing.assert_array_equal(gs.grad(tried, compile=False)(x, w), [2.0, 4.0])
    np.testing.assert_array_equal(
        gs.grad(lambda w, x: tried(x, w) + np.sum(w**3), compile=False)(w, x), [3.0, 3.0]
    )

    def nested(x):
        return np.sum(gs.grad(tried, compile=False)(x, w))

    np.testing.assert_array_equal(gs.grad(nested, compile=False)(x), [2.0, 2.0])


def wide_again(fixed):
    part = fixed[1:]
    part.flags.writeable = True


@pytest.mark.parametrize(
    "write",
    [
        lambda fixed: struct.pack_into("d", fixed, 0, 2.0),
        lambda fixed: struct.pack_into("d", fixed[1:], 0, 2.0),
        lambda fixed: io.BytesIO(bytes(32)).readinto(fixed),
        lambda fixed: (ctypes.c_double * 4).from_buffer(fixed),
        lambda fixed: fixed.data.__setitem__(0, 2.0),
        lambda fixed: fixed.view(np.int64).__setitem__(0, 2),
        lambda fixed: np.asarray(fixed).__setitem__(0, 2.0),
        lambda fixed: np.random.default_rng(1).random(out=fixed),
        wide_again,
    ],
)
def test_code_in_c_does_not_store_to_what_is_read_only(write):
    def f(x):
        fixed = np.ones(4)
        fixed.setflags(write=False)
        write(fixed)
        return np.sum(fixed * x)

    x = np.ones(4)
    with pytest.raises((ValueError, TypeError)) as plain:
        f(x)
    with pytest.raises(plain.type) as recorded:
        gs.grad(f, compile=False)(x)
    assert not isinstance(recorded.value, gs.errors.GradscribeError)


def test_what_is_left_outside_stays_read_only():
    kept = []

    def f(x):
        fixed = 2.0 * x
        fixed.flags.writeable = False
        kept.append(fixed)
        return np.sum(fixed)

    gs.grad(f, compile=False)(np.ones(4))
    assert not kept[0].flags.writeable


@pytest.mark.parametrize(
    "swapped",
    [
        lambda x: x.astype(">f8"),
        lambda x: np.asarray(x, ">f8"),
        lambda x: np.array(x, dtype=x.dtype.newbyteorder()),
        lambda x: np.require(x, ">f8"),
    ],
)
def test_no_other_byte_order_is_recorded(swapped):
    def f(x):
        y = swapped(x)
        return np.sum(y) + x[0] * y.dtype.isnative

    with pytest.raises(gs.errors.UnsupportedError, match="of another byte order"):
        gs.grad(f, compile=False)(np.ones(4))
