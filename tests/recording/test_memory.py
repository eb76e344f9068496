"""Which arrays of a recorded run share memory, and how they lie in it: as those of plain NumPy."""

from __future__ import annotations

import gc
import struct
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import gradscribe as gs
from gradscribe.recording import operations

ROW = np.array([0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 0.0])
TABLE = np.arange(1.0, 7.0).reshape(2, 3)
SQUARE = np.arange(1.0, 10.0).reshape(3, 3)
CUBE = np.arange(1.0, 9.0).reshape(2, 2, 2)
FRAMED = np.pad(SQUARE, 1)

PARTS: list[tuple[np.ndarray, Callable[[np.ndarray], Any]]] = [
    (ROW, lambda y: np.trim_zeros(y)),
    (ROW, lambda y: np.trim_zeros(y, "f")),
    (ROW, lambda y: np.trim_zeros(y[::-1], trim="b")),
    (ROW, lambda y: np.diff(y, 0)),
    (ROW, lambda y: np.polyder(y, 0)),
    (ROW, lambda y: np.polyint(y, 0)),
    (ROW, lambda y: np.poly1d(y).coeffs),
    (ROW, lambda y: np.array_split(y, 3)[1]),
    (ROW, lambda y: np.ix_(y)[0]),
    (ROW, lambda y: np.meshgrid(y, copy=False)[0]),
    (SQUARE, lambda y: np.linalg.matrix_power(y, 1)),
    (SQUARE, lambda y: np.diag(y)),
    (SQUARE, lambda y: np.einsum("ii->i", y)),
    (SQUARE, lambda y: np.rot90(y, 2)[:2]),
    (SQUARE, lambda y: np.matrix_transpose(y)[0]),
    (TABLE, lambda y: np.flip(y)[0]),
    (TABLE, lambda y: np.hsplit(y, 3)[1]),
    (TABLE, lambda y: np.array(y, copy=None, ndmin=3)[:, 0]),
    (TABLE, lambda y: y.astype(float, copy=False)[1]),
    (TABLE, lambda y: y.astype(np.double, "K", "unsafe", True, False)[1]),
    (TABLE, lambda y: y.astype(np.double, "K", "unsafe", True, True)[1]),
    (TABLE, lambda y: np.ravel(y)[:2]),
    (TABLE, lambda y: np.squeeze(np.expand_dims(y, 0))[0]),
    (CUBE, lambda y: np.moveaxis(y, 0, 2)[0]),
    (CUBE, lambda y: np.rollaxis(y, 2)[1]),
    (TABLE, lambda y: np.tile(y, (1, 1))[0]),
    (ROW, lambda y: np.concatenate([y])),
    (ROW, lambda y: np.roll(y, 0)),
    (ROW, lambda y: np.delete(y, [])),
    (ROW, lambda y: np.clip(y, None, None)),
]
"""Functions of NumPy that give views, or may, and some that give copies."""


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_a_store_to_a_part_is_seen_in_the_array_where_numpy_shows_it(number: int) -> None:
    x, part = PARTS[number]
    weights = np.arange(1.0, 1.0 + x.size).reshape(x.shape)
    y = np.copy(x)

    def loss(x: np.ndarray) -> Any:
        y = np.copy(x)
        found = part(y)
        if found.flags.writeable:
            found[...] = 7.5
        return np.sum(weights * y**2)

    found = part(y)
    if found.flags.writeable:
        found[...] = 7.5
    value, gradient = gs.value_and_grad(loss, compile=False)(x)
    assert value == np.sum(weights * y**2)
    np.testing.assert_array_equal(gradient, np.where(y == 7.5, 0.0, 2 * weights * x))


def stored(array: np.ndarray, x: np.ndarray) -> np.ndarray:
    array[...] = x[: array.size].reshape(array.shape)
    return array


def in_place(array: np.ndarray, x: np.ndarray) -> np.ndarray:
    array += x.reshape(array.shape)
    return array


LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda x: x.reshape(2, 3).T * 1.0,
    lambda x: np.sin(x.reshape(2, 3).T) + x.reshape(3, 2),
    lambda x: x.reshape(2, 3).T.copy(),
    lambda x: np.copy(x.reshape(2, 3).T),
    lambda x: x.reshape(2, 3).copy(order="F"),
    lambda x: x.reshape(2, 3).T.copy("K"),
    lambda x: x.reshape(2, 3).T.astype(np.float32),
    lambda x: x.reshape(2, 3).T.astype(np.float32, order="C"),
    lambda x: x.reshape((2, 3), order="F"),
    lambda x: np.array(x.reshape(2, 3).T),
    lambda x: np.array(x.reshape(2, 3).T, order="C"),
    lambda x: np.array(x.reshape(2, 3), order="F"),
    lambda x: np.asarray(x.reshape(2, 3), order="F"),
    lambda x: np.ascontiguousarray(x.reshape(2, 3).T),
    lambda x: np.multiply(x.reshape(2, 3), 2, order="F"),
    lambda x: np.multiply(x.reshape(2, 3).T, 2, order="C"),
    lambda x: stored(np.zeros_like(x.reshape(2, 3).T), x),
    lambda x: stored(np.zeros((3, 2), order="F"), x),
    lambda x: in_place(x.reshape(2, 3).T * 1, x),
    lambda x: np.delete(x.reshape(2, 3).T, 1, 0),
    lambda x: np.cumsum(x.reshape(2, 3).T, 0),
    lambda x: x.reshape(2, 3).T[[2, 0, 1]],
    lambda x: np.where(x.reshape(2, 3).T > 2, x.reshape(2, 3).T, 0.0),
    lambda x: np.tile(x.reshape(2, 3).T, (1, 1)),
    lambda x: np.take(x.reshape(2, 3), [2, 0], axis=-1),
    lambda x: np.pad(x.reshape(2, 3).T, 1, mode="edge"),
    lambda x: np.meshgrid(x[:2], x[:3])[0],
    lambda x: np.meshgrid(x[:2], x[:3], indexing="ij")[1],
    lambda x: np.vander(x, 3),
    lambda x: np.vander(x, 3, increasing=True),
    lambda x: np.delete(x.reshape(2, 3), 1, 1),
    lambda x: np.linalg.qr(np.eye(3) + x[:3])[0],
    lambda x: np.linalg.qr(np.eye(3) + x[:3])[1],
    lambda x: scipy.linalg.cho_factor(np.eye(3) * 9 + x[0])[0],
    lambda x: np.array([x.reshape(2, 3).T, x.reshape(3, 2)])[0],
    lambda x: np.roll(x.reshape(2, 3).T, 1, axis=0),
    lambda x: np.repeat(x.reshape(2, 3).T, 2, axis=1),
    lambda x: np.linalg.inv(np.eye(3) * 9 + x[:3]),
    lambda x: np.tensordot(x.reshape(2, 3), x.reshape(3, 2), 1),
    lambda x: np.cross(x.reshape(2, 3), x[3:]),
    lambda x: np.gradient(x.reshape(2, 3))[0],
    lambda x: np.einsum("ij->ji", x.reshape(2, 3) + 1, optimize=True) * 1.0,
    lambda x: np.outer(x[:2], x[3:]).T,
]


@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_a_result_lies_in_memory_as_that_of_numpy(number: int) -> None:
    make = LAYOUTS[number]
    seen = []

    def loss(x: np.ndarray) -> Any:
        y = make(x)
        seen.append(y.strides)
        flat, turned = y.reshape(-1), y.T.reshape(-1)
        flat[0] = 10.0
        turned[1] = 20.0
        return np.sum(y) + np.sum(flat) + np.sum(turned)

    x = np.arange(1.0, 7.0)
    value = gs.value_and_grad(loss, compile=False)(x)[0]
    assert value == loss(x)
    assert seen[0] == seen[1]


def test_unread_code_stores_to_parts_that_are_taken_after_it_was_given_the_whole() -> None:
    def scale(array: np.ndarray) -> None:
        for i in range(len(array)):
            struct.pack_into("d", array, 8 * i, 2.0 * array[i])

    def parts(array: np.ndarray) -> Any:
        for i in range(3):
            scale(array[i:])
            yield array

    def recursive(array: np.ndarray, rest: np.ndarray, x: np.ndarray) -> Any:
        if not len(rest):
            return np.sum(array * x)
        scale(rest)
        return np.sum(array * x) + recursive(array, rest[1:], x)

    def loss(x: np.ndarray) -> Any:
        array = np.ones(3)
        return sum(np.sum(w * x) for w in parts(np.ones(3))) + recursive(array, array, x)

    gradient = gs.grad(loss, compile=False)(np.ones(3))
    assert gradient.tolist() == [6 + 8, 10 + 14, 14 + 22]


def test_what_split_gives_of_an_array_of_the_program_is_a_view_of_it() -> None:
    def loss(x: np.ndarray) -> Any:
        whole = np.zeros(4)
        first, second = np.split(whole, 2)
        second += x
        whole[0] = x[0] ** 2
        return np.sum(whole**2) + first[0]

    gradient = gs.grad(loss, compile=False)(np.array([3.0, 5.0]))
    assert gradient.tolist() == [4 * 27.0 + 6.0 + 6.0, 10.0]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda x: x[:0.5], TypeError),
        (lambda x: x[:: x[0]], TypeError),
        (lambda x: np.add.at(np.zeros(4), [0, 0, 2], x), ValueError),
        (lambda x: np.maximum.at(x * 1, [0, 2], x[:3]), ValueError),
    ],
)
def test_what_numpy_does_not_take_raises_what_it_raises(wrong: Any, error: Any) -> None:
    def loss(x: np.ndarray) -> Any:
        try:
            return np.sum(wrong(x))
        except error:
            return np.sum(x**2)

    assert gs.grad(loss, compile=False)(np.ones(5)).tolist() == [2.0] * 5


TWO: list[Callable[[np.ndarray, np.ndarray], Any]] = [
    np.atleast_2d,
    np.broadcast_arrays,
    np.ix_,
    lambda y, z: np.meshgrid(y, z, copy=False),
    lambda y, z: np.atleast_1d(z, z),
    lambda y, z: np.atleast_1d(z[1:], z[1::-1]),
    lambda y, z: np.atleast_3d(ROW[:2], z),
]
"""Functions of NumPy that give views of more than one array."""


@pytest.mark.parametrize("number", range(len(TWO)))
def test_each_part_is_a_view_of_its_own_array(number: int) -> None:
    def loss(x: np.ndarray) -> Any:
        y, z = x * 1.0, x * 2.0
        first, second = TWO[number](y, z)
        second[(0,) * second.ndim] = 9.0 * x[1]
        y[1] = x[0] ** 2
        return np.sum(first * second) + np.sum(y**2) + np.sum(z**3)

    x = np.array([0.5, 1.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of stores to what is broadcast
        value, gradient = gs.value_and_grad(loss, compile=False)(x)
        assert value == loss(x)
        np.testing.assert_allclose(gradient, differences(loss, x), rtol=1e-6)


def differences(loss: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
    steps = 1e-6 * np.eye(x.size)
    return np.array([(loss(x + step) - loss(x - step)) / 2e-6 for step in steps])


def roots_of_some(x):
    y = np.full(3, 2.0)
    np.sqrt(x, out=y, where=x > 0)
    return y.sum()


def quotients_of_some(x):
    y = np.zeros((2, 3))
    np.divide(x[1], x, y, where=[[True], [False]] & (x > 0))
    return (y**2).sum()


def root_in_some_places(x):
    y = x * 1.0
    np.sqrt(x[1], out=y, where=[True, False, True])
    return y.sum()


def nowhere(x):
    y = x * 1.0
    np.log(x, out=y, where=x > 100)
    return (y**2).sum()


@pytest.mark.parametrize(
    "function", [roots_of_some, quotients_of_some, root_in_some_places, nowhere]
)
def test_ufuncs_with_a_mask_have_no_derivative_beside_it(function: Any) -> None:
    x, v = np.array([-1.0, 0.5, 2.0]), np.array([0.5, -1.0, 2.0])
    with np.errstate(all="ignore"):
        value, gradient = gs.value_and_grad(function, compile=False)(x)
        expected = gs.grad(function)(x)
        tangent = gs.jvp(function, (x,), (v,), compile=False)[1]
    assert value == function(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)
    np.testing.assert_allclose(tangent, expected @ v, rtol=1e-14)


def of_a_number(x):
    y = np.broadcast_to(x[0], (3,))
    y[0] = 1.0
    return (y * x).sum()


def imaginary_parts(x):
    y = np.imag(x)
    y += 1.0
    return (y * x).sum()


def view_of_imaginary_parts(x):
    y = x.imag.reshape(3, 1)
    y[0] = 1.0
    return y.sum()


def of_zeros(x):
    y = np.broadcast_to(np.zeros(1), (3,))
    y[0] = x[0]
    return (y * x).sum()


def as_out(x):
    np.multiply(x, 2.0, out=np.broadcast_to(x[0], (3,)))
    return x.sum()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    "function", [of_a_number, imaginary_parts, view_of_imaginary_parts, of_zeros, as_out]
)
def test_arrays_that_numpy_does_not_store_to_are_not(function: Any, compiled: bool) -> None:
    with pytest.raises(ValueError, match="read-only"):
        function(np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        gs.grad(function, compile=compiled)(np.ones(3))


def test_what_may_be_the_array_itself_is_no_new_one():
    plain = np.arange(4.0)

    def stored(y: Any) -> Any:
        np.asarray(np.array(plain, copy=None))[0] = y[0]
        return plain[0] * y[1]

    with pytest.raises(gs.errors.NoDerivativeError):
        gs.grad(stored, compile=False)(ROW)


class Giving:
    """Gives an array, of its own if it is asked for a copy."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array.copy() if copy else self.array


class Keeping(Giving):
    """Gives the same array, whatever it is asked for."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


AGAIN: list[Callable[[Any], Any]] = [
    np.asarray,
    np.ascontiguousarray,
    np.atleast_1d,
    np.array,
    np.ma.getdata,
    np.real_if_close,
    np.require,
    lambda y: np.array(y, copy=False),
    lambda y: np.array(y, copy=None, ndmin=2)[0],
    lambda y: np.array(y, copy=None, dtype=np.float32),
    lambda y: np.array(memoryview(y), copy=None),
    lambda y: np.asarray(y, copy=True),
    lambda y: np.require(y, requirements=["C", "W"]),
    lambda y: np.require(y[:], requirements="O"),
    lambda y: np.lib.stride_tricks.as_strided(y, (4,), (8,)),
    lambda y: np.ndarray.view(y),
    lambda y: np.asarray(y.view(np.recarray)),
    lambda y: y.reshape(4, copy=True),
    lambda y: np.ma.array(y, copy=False).data,
    lambda y: np.array(Giving(y)),
    lambda y: np.array(Giving(y), copy=None),
    lambda y: np.array(Keeping(y)),
    lambda y: np.asarray(Keeping(y), copy=True),
    lambda y: np.nan_to_num(y, copy=False),
]
"""What gives an array itself, or a copy of it."""


@pytest.mark.parametrize("make", [lambda x: ROW[:4] * 1, lambda x: np.copy(ROW[:4])])
@pytest.mark.parametrize("number", range(len(AGAIN)))
def test_a_constant_is_the_same_array_where_numpy_gives_it(number: int, make: Any) -> None:
    def loss(x: np.ndarray) -> Any:
        y = make(x)
        z = AGAIN[number](y)
        z[0] = 7.5
        y[1] += 2.0
        return np.sum(y * x) + np.sum(z * x**2)

    x = np.array([0.5, -1.5, 2.5, 1.0])
    value, gradient = gs.value_and_grad(loss, compile=False)(x)
    assert value == loss(x)
    np.testing.assert_allclose(gradient, differences(loss, x), rtol=1e-6)


def test_a_copy_that_is_forbidden_is_not_made() -> None:
    def loss(x: np.ndarray) -> Any:
        y = x * 1.0
        try:
            return np.sum(np.array(y, dtype=complex, copy=False).real)
        except ValueError:
            return np.sum(x**2)

    assert gs.grad(loss, compile=False)(np.ones(2)).tolist() == [2.0, 2.0]


def read_from_a_buffer(x):
    w = np.ones(3)
    _, (buffer, *_) = w.__reduce_ex__(5)
    w[:] = 2.0
    return struct.unpack_from("d", buffer, 8)[0] * x[0]


def stored_after_a_buffer_was_made(x):
    w = np.ones(3)
    _, (buffer, *_) = w.__reduce_ex__(5)
    w[:] = x
    return struct.unpack_from("d", buffer, 8)[0] * x[0]


def test_the_buffer_of_a_pickle_is_the_memory_of_the_array() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert gs.value_and_grad(read_from_a_buffer, compile=False)(x)[0] == 2.0
    with pytest.raises(gs.errors.UnsupportedError, match="not record has been given"):
        gs.grad(stored_after_a_buffer_was_made, compile=False)(x)


@pytest.mark.parametrize(
    "give",
    [
        lambda y, e: np.histogram(y, bins=e)[1],
        lambda y, e: np.histogram2d(y, y, bins=[e, e])[1],
        lambda y, e: np.histogram_bin_edges(y, e),
        lambda y, e: np.fft.fftn(y, axes=()),
        lambda y, e: np.diff(y, 0),
        lambda y, e: np.atleast_1d(y, e)[0],
        lambda y, e: np.atleast_1d(y, e)[1],
        lambda y, e: np.unstack(y.reshape(2, 2))[1],
        lambda y, e: np.diag(y.reshape(2, 2)).copy(),
        lambda y, e: np.polyder(y, 0),
        lambda y, e: np.asarray(a=y),
        lambda y, e: np.array(object=y, copy=None),
        lambda y, e: np.trim_zeros(filt=y),
    ],
)
def test_what_a_call_gives_of_an_argument_is_seen_in_it(give: Any) -> None:
    def loss(x: np.ndarray) -> Any:
        y, edges = x * 1.0, np.linspace(-1.0, 2.0, 4)
        given = give(y, edges)
        given *= 2.0
        return np.sum(np.abs(y) * x) + np.sum(edges**2) * x[0] + np.sum(np.abs(given))

    x = np.array([0.3, -0.8, 1.1, 0.55])
    try:
        value, gradient = gs.value_and_grad(loss, compile=False)(x)
    except gs.errors.GradscribeError:
        return
    assert value == loss(x)
    np.testing.assert_allclose(gradient, differences(loss, x), rtol=1e-6)


def test_arrays_in_a_tuple_are_the_columns_of_a_histogram() -> None:
    def loss(x: np.ndarray) -> Any:
        return np.sum(np.histogramdd((x, ROW[:4]), bins=3)[0]) * x[0]

    value, gradient = gs.value_and_grad(loss, compile=False)(np.array([0.3, -0.8, 1.1, 0.55]))
    assert value == 4 * 0.3
    np.testing.assert_array_equal(gradient, [4.0, 0.0, 0.0, 0.0])


def test_what_numpy_warns_of_comes_once() -> None:
    def loss(x: np.ndarray) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            np.nanmax(x * np.nan)
            np.std(x[:1], ddof=1)
            np.mean(x[:0])
        return len(caught) * np.sum(x)

    x = np.array([0.5, 1.5])
    before = list(warnings.filters)
    assert gs.value_and_grad(loss, compile=False)(x)[0] == loss(x) > 4.0
    assert list(warnings.filters) == before


@pytest.mark.parametrize(
    "ask",
    [
        lambda: warnings.filterwarnings("error", module="__main__"),
        lambda: warnings.simplefilter("default"),
        lambda: warnings.simplefilter("once"),
    ],
)
def test_where_warnings_come_from_is_not_asked(ask: Any) -> None:
    def loss(x: np.ndarray) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            ask()
            np.log(x - 2.0)
        return (1 + len(caught)) * np.sum(x)

    with pytest.raises(gs.errors.UnsupportedError, match="where warnings come from"):
        gs.grad(loss, compile=False)(np.array([0.5, 1.5]))


def test_a_result_of_another_sign_is_that_which_has_the_derivative(monkeypatch: Any) -> None:
    own = operations._given

    def flipped(callee: Any, args: Any, kwargs: Any) -> Any:
        given = own(callee, args, kwargs)
        return type(given)(*(-item for item in given)) if callee is np.linalg.eigh else given

    monkeypatch.setattr(operations, "_given", flipped)
    matrix = np.array([[2.0, 0.3], [0.3, 1.0]])

    def loss(x: np.ndarray) -> Any:
        values, vectors = np.linalg.eigh(matrix + x[0] * np.eye(2)[::-1])
        return vectors[0, 0] * values[0]

    x = np.array([0.2])
    value, gradient = gs.value_and_grad(loss, compile=False)(x)
    np.testing.assert_allclose(value, loss(x))
    np.testing.assert_allclose(gradient, differences(loss, x), rtol=1e-5)


VIEWS = {
    "split": lambda u: np.split(u, [2])[1],
    "hsplit": lambda u: np.hsplit(u, [2])[0],
    "array_split": lambda u: np.array_split(u, 2)[0],
    "fliplr": lambda u: np.fliplr(u[None])[0],
    "rot90": lambda u: np.rot90(u[None], 2)[0],
    "atleast_1d": np.atleast_1d,
    "atleast_2d": lambda u: np.atleast_2d(u)[0],
    "trim_zeros": np.trim_zeros,
    "meshgrid": lambda u: np.meshgrid(u, u, copy=False)[0][0],
    "expand_dims": lambda u: np.expand_dims(u, 0)[0],
    "swapaxes": lambda u: np.swapaxes(u[None], 0, 1)[:, 0],
    "reshape": lambda u: np.reshape(u, (5, 1)),
    "slice": lambda u: u[1:],
}


@pytest.mark.parametrize("give", [lambda u: memoryview(u), lambda u: u.tobytes(), lambda u: u])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_of_what_c_has_had_are_views(view, give):
    def f(x):
        u = np.zeros(5) + 0.5
        give(u)
        part = view(u)
        part[...] = part * 3
        return np.sum(u * x)

    x = np.arange(1.0, 6.0)
    value, gradient = gs.value_and_grad(f, compile=False)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, [f(row) for row in np.eye(5)])


class Held:
    def square(self, p):
        return np.sum(p**2)


def test_what_a_library_was_given_ends_with_the_run() -> None:
    refs: list[Any] = []

    def function(x):
        held = Held()
        refs.append(weakref.ref(held))
        scipy.optimize.minimize(held.square, 1.0)
        return np.sum(x)

    for _ in range(2):
        gs.value_and_grad(function, compile=False)(np.ones(2))
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


def solved(solve, copied=False):
    def f(x):
        b = x[:2] * 1.0
        z = solve(b.copy() if copied else b)
        b[0] = 5.0
        z[1] = z[1] * 3
        return z[0] * x[0] + z[1] * x[2] + b[1]

    return f


UNIT = np.eye(2)
OVERWRITING = {
    "cho_solve": lambda b: scipy.linalg.cho_solve((UNIT, True), b, overwrite_b=True),
    "cho_solve_scaled": lambda b: scipy.linalg.cho_solve((2 * UNIT, True), b, overwrite_b=True),
    "lu_solve": lambda b: scipy.linalg.lu_solve((UNIT, np.arange(2)), b, overwrite_b=True),
    "solve_triangular": lambda b: scipy.linalg.solve_triangular(UNIT, b, overwrite_b=True),
    "solve_banded": lambda b: scipy.linalg.solve_banded((0, 0), UNIT[:1] + 1, b, overwrite_b=True),
    "of_a_view": lambda b: scipy.linalg.cho_solve((UNIT, True), b[:], overwrite_b=True),
}


@pytest.mark.parametrize("solve", OVERWRITING.values(), ids=OVERWRITING)
def test_a_result_that_is_an_argument_itself_is_that(solve: Any) -> None:
    f, x = solved(solve), np.array([0.6, 0.8, 1.2])
    value, gradient = gs.value_and_grad(f, compile=False)(x)
    steps = np.eye(3) * 1e-6
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(gradient, [(f(x + d) - f(x - d)) / 2e-6 for d in steps], atol=1e-8)


def test_an_argument_among_the_results_is_not_used_again() -> None:
    def f(x):
        a = np.asfortranarray(np.outer(x, x) + np.eye(2))
        factor, _ = scipy.linalg.cho_factor(a, overwrite_a=True)
        a[0, 0] = 5.0
        return np.sum(factor)

    with pytest.raises(gs.errors.UnsupportedError, match="has overwritten an array"):
        gs.grad(f, compile=False)(np.ones(2))


EDGES = {
    "histogramdd": lambda w: np.histogramdd(np.ones((2, 1)), [w])[1][0],
    "histogram2d": lambda w: np.histogram2d(np.ones(2), np.ones(2), [w, w])[2],
    "meshgrid": lambda w: np.meshgrid(np.ones(2), w, copy=False, sparse=True)[1],
    "atleast_1d": lambda w: np.atleast_1d(np.ones(2), w)[1],
}


@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES)
def test_what_is_given_of_an_array_in_a_list_is_seen_in_it(edges: Any) -> None:
    def f(x):
        w = np.arange(3.0)
        given = edges(w)
        given[..., 0] = 7.0
        return np.sum(w) * x[0]

    x = np.array([0.6, 0.8, 1.2])
    value, gradient = gs.value_and_grad(f, compile=False)(x)
    assert (value, *gradient) == (f(x), f(np.ones(3)), 0.0, 0.0)


def test_the_base_of_an_argument_is_not_that_of_its_copy() -> None:
    def is_base(x):
        return np.sum(x) * (2.0 if x.base is None else 3.0)

    def owns(x):
        return np.sum(x) * (2.0 if x.flags.owndata else 3.0)

    def of_a_constant(x, w):
        return np.sum(x) * (2.0 if w.base is None else 3.0)

    def gradient(function, *args):
        return gs.grad(function, compile=False)(*args)[0]

    whole = np.arange(6.0)
    assert gradient(is_base, whole) == gradient(owns, whole) == 2.0
    assert gradient(owns, whole[::2]) == 3.0
    assert gradient(of_a_constant, whole, np.arange(4)) == 2.0
    assert gradient(of_a_constant, whole, np.arange(4)[1:]) == 3.0
    with pytest.raises(gs.errors.UnsupportedError, match="base of an argument that is a view"):
        gradient(is_base, whole[::2])
