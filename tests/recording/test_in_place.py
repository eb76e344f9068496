"""Calls that write to arrays of a recorded run: followed, or refused where what is written is used
again."""

from __future__ import annotations

import contextlib
import functools
import pickle
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError, GradscribeError, NoDerivativeError, UnsupportedError

X = np.array([0.7, -1.3, 2.1, 0.4])
W = np.array([1.0, -2.0, 3.0, 0.5])
STEPS = 1e-6 * np.eye(4)


def active(x: Any) -> Any:
    return np.outer(x, x[::-1])


def constant(x: Any) -> Any:
    return np.outer(W, W[::-1]).copy()


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


FOLLOWED: dict[str, Callable[[Any], Any]] = {
    "shuffled rows": lambda y: rng().shuffle(y),
    "shuffled columns": lambda y: rng().shuffle(y, axis=1),
    "a shuffled part": lambda y: rng().shuffle(y[1:, ::2]),
    "rows shuffled the old way": lambda y: np.random.RandomState(3).shuffle(y),
    "a shuffle that is handed on": lambda y: functools.partial(rng().shuffle, y)(),
    "a method of the class": lambda y: np.ndarray.sort(y, 0),
    "sorted masked arrays": lambda y: np.ma.sort(y),
    "a column as an array that is required": lambda y: np.require(y, None, ["W", "A"])[0].fill(2.0),
    "a median of a copy": lambda y: np.median(y.copy(), overwrite_input=True),
    "a median that leaves it": lambda y: np.median(y, overwrite_input=False),
    "items taken into itself": lambda y: np.take(y, [1, 0, 3, 2], axis=0, out=y),
    "items that are repeated": lambda y: setattr(y, "flat", [5.0, X[0], 6.0]),
    "a part filled with more than it has": lambda y: y.flat.__setitem__(
        slice(2, 7), np.outer(X, X)
    ),
    "items repeated at some places": lambda y: y.T.flat.__setitem__([0, 2, 3], np.array([X[:2]])),
    "no items": lambda y: setattr(y, "flat", []),
    "joined parts that do not meet": lambda y: np.concatenate([y[2:3], y[3:]], out=y[:2]),
}
CONSTANTS: dict[str, Callable[[Any], Any]] = {
    "a median": lambda y: np.median(y, overwrite_input=True),
    "medians of rows": lambda y: np.median(y, 1, None, True),
    "a quantile": lambda y: np.quantile(y, 0.3, axis=0, overwrite_input=True),
    "nan_to_num": lambda y: np.nan_to_num(np.divide(y, 0, out=y), copy=False, posinf=2.0, neginf=1),
    "joined with itself": lambda y: np.concatenate([y[2:], y[:2]], out=y),
    "numbers rounded into a row": lambda y: (W + 0.3).round(out=y[0]),
    "items taken into a row": lambda y: W.take([1, 2, 0, 3], 0, y[1]).fill(2.0),
    "a number rounded": lambda y: np.float64(1.4).round(out=y[0, :1].reshape(())),
    "a product of matrices": lambda y: np.eye(4)[::-1].copy().dot(np.eye(4), y),
    "numbers of another kind": lambda y: np.add(W, 1j, out=y[0], casting="unsafe"),
    "what a function of objects gives": lambda y: np.frompyfunc(lambda v: v * 2, 1, 1)(
        W, out=y[0], casting="unsafe"
    ),
    "a range stored in a row": lambda y: np.ptp(y, 0, out=y[1]),
    "a view of another class": lambda y: y.view(np.matrix).fill(2.0),
    "a masked array": lambda y: np.ma.array(y, copy=False).__setitem__(0, 2.0),
    "memory as that of an array": lambda y: np.ndarray(16, float, y).__setitem__(3, 4.0),
    "memory to be pickled": lambda y: struct.pack_into("d", pickle.PickleBuffer(y), 8, 2.5),
}


if np.lib.NumpyVersion(np.__version__) < "2.3.0":  # it takes arrays of its own class alone
    del CONSTANTS["a product of matrices"]


def differences(loss: Callable[[Any], Any]) -> Any:
    return np.array([(loss(X + step) - loss(X - step)) / 2e-6 for step in STEPS])


def losses() -> dict[str, Callable[[Any], Any]]:
    rows = [(name, call, active) for name, call in FOLLOWED.items()]
    rows += [(f"{n}, constant", call, constant) for n, call in (FOLLOWED | CONSTANTS).items()]

    def loss(call: Any, make: Any, x: Any) -> Any:
        y = make(x)
        with np.errstate(all="ignore"):
            call(y)
        return np.sum(y @ x**2)

    return {name: functools.partial(loss, call, make) for name, call, make in rows}


@pytest.mark.parametrize("loss", losses().values(), ids=losses())
def test_what_a_call_writes_is_seen(loss: Any) -> None:
    expected = differences(loss)
    value, gradient = gs.value_and_grad(loss, compile=False)(X)
    tangent = gs.jvp(loss, (X,), (W,), compile=False)[1]
    np.testing.assert_allclose(value, loss(X))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(tangent, expected @ W, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "call", [np.median, np.nanmedian, functools.partial(np.percentile, q=30, axis=0)]
)
def test_what_numpy_overwrites_is_not_used_again(call: Any) -> None:
    def once(x: Any) -> Any:
        return np.sum(call(active(x), overwrite_input=True) * x)

    def again(x: Any) -> Any:
        y = active(x)
        return np.sum(call(y, overwrite_input=True)) + y[0, 0]

    gradient = gs.grad(once, compile=False)(X)
    np.testing.assert_allclose(gradient, differences(once), rtol=1e-5, atol=1e-6)
    with pytest.raises(UnsupportedError, match="has overwritten an array that is used again"):
        gs.grad(again, compile=False)(X)


def joined(x: Any) -> Any:
    y = active(x)
    np.concatenate([y[2:], y[:2]], out=y)
    return np.sum(y @ x)


def ranges(x: Any) -> Any:
    y = active(x)
    np.ptp(y, 0, out=y[1])
    return np.sum(y @ x)


@pytest.mark.parametrize("loss", [joined, ranges])
def test_results_stored_before_all_is_read_are_refused(loss: Any) -> None:
    with pytest.raises(UnsupportedError, match="reads what it has stored already"):
        gs.grad(loss, compile=False)(X)


def test_code_in_c_does_not_store_to_what_records() -> None:
    def loss(x: Any) -> Any:
        y = active(x)
        np.random.Generator.shuffle(rng(), y)
        return np.sum(y @ x)

    with pytest.raises(NoDerivativeError, match="code that is not followed, in C, stores"):
        gs.grad(loss, compile=False)(X)


MASKED = np.ma.array(W, mask=[False, True, False, False])


class Named(np.ndarray):
    """An array with a name, which its results have, too."""

    name = "a"


NAMED = W.view(Named)


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: np.sum(x * MASKED),
        lambda x: np.sum(np.maximum(x, MASKED)),
        lambda x: np.sum(np.concatenate([x, MASKED])),
        lambda x: np.sum(x[:, None] * np.asmatrix(W)),
        lambda x: np.sum(x) * ((NAMED - x).name == "a"),
        lambda x: np.sum(x) * (np.concatenate([NAMED, x])[:1] * 2).size,
        lambda x: np.sum(x) * (np.where(x > 1, NAMED, x).size == 4),
    ],
)
def test_arrays_whose_operators_are_others_are_refused(loss: Any) -> None:
    with pytest.raises(GradscribeError, match="need not mean what NumPy's do"):
        gs.grad(loss, compile=False)(X)
    assert MASKED.mask.tolist() == [False, True, False, False]


def test_constants_of_other_classes_are_what_they_are() -> None:
    def loss(x: Any) -> Any:
        y = np.copy(W)
        y[:] = MASKED
        return np.ma.array(W, mask=[0, 1, 0, 0]).sum() * np.sum(x**2) + np.sum(y * MASKED) * x[0]

    gradient = gs.grad(loss, compile=False)(X)
    np.testing.assert_allclose(gradient, differences(loss), rtol=1e-5)


def interpolated(x: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.Series([x[0], np.nan, x[1]]).interpolate().sum()


def interpolated_if_it_can_be(x: Any) -> Any:
    with contextlib.suppress(TypeError):
        return interpolated(x)
    return x[2]


@pytest.mark.parametrize("loss", [interpolated, interpolated_if_it_can_be])
def test_what_a_package_raises_of_recorded_numbers_is_a_refusal(loss: Any) -> None:
    with pytest.raises(NoDerivativeError, match="TypeError, of what is differentiated"):
        gs.grad(loss, compile=False)(X)


def test_what_a_package_raises_of_constants_the_program_may_handle() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": W})

    def loss(x: Any) -> Any:
        try:
            return table["b"].sum() * x[0]
        except KeyError:
            return pandas.Series([x[0], x[1]]).sum() * x[1]

    np.testing.assert_allclose(gs.grad(loss, compile=False)(X)[0], X[1])


def _of_one_element(x: Any) -> Any:
    made = np.empty(())
    made[()] = 2 * x[0]
    return made


@pytest.mark.parametrize(
    ("index", "stored"),
    [
        (lambda view: view == view, True),
        (lambda view: view != view, False),
        (lambda view: 0, True),
        (lambda view: [0], True),
        (lambda view: slice(1, None), False),
    ],
)
def test_views_of_an_array_without_axes_are_stored_to(index: Any, stored: bool) -> None:
    def by_view(x: Any) -> Any:
        made = _of_one_element(x)
        view = made.reshape(1)
        view[index(view)] = 3 * x[1]
        return made * x[1]

    expected = [0, 6 * X[1]] if stored else [2 * X[1], 2 * X[0]]
    np.testing.assert_allclose(gs.grad(by_view, compile=False)(X)[:2], expected)


def test_a_mask_of_an_array_without_axes() -> None:
    def by_mask(x: Any) -> Any:
        made, other = (array[()] for array in np.broadcast_arrays(_of_one_element(x), 1.0))
        made = np.asarray(made).copy()
        made[made > other], made[made <= other] = x[1], 2 * x[1]
        return np.sum(made)

    assert gs.grad(by_mask, compile=False)(X)[1] in (1.0, 2.0)


def test_one_element_is_not_stored_to_several_times_by_a_view() -> None:
    def twice(x: Any) -> Any:
        made = _of_one_element(x)
        made.reshape(1)[[0, 0]] = np.stack([x[1], x[2]])
        return made

    with pytest.raises(UnsupportedError, match="to one element several times"):
        gs.grad(twice, compile=False)(X)


def test_two_results_are_stored_in_parts_of_one_array_if_these_are_apart():
    def function(x, first, second):
        made = np.zeros(4)
        np.modf(x, out=(made[first], made[second]))
        return np.sum(made * np.arange(4.0))

    def gradient(first, second):
        return gs.grad(lambda x: function(x, first, second), compile=False)(np.array([1.5, 2.25]))

    assert gradient(slice(2), slice(2, 4)).tolist() == [0, 1]
    assert gradient(slice(0, 4, 2), slice(1, 4, 2)).tolist() == [0, 2]
    with pytest.raises(AliasingError, match="two results are stored"):
        gradient(slice(2), slice(1, 3))


@pytest.mark.parametrize("checked", [True, False])
def test_arrays_are_resized_where_nobody_asks_who_refers_to_them(checked):
    def resized(x):
        weights = np.ones(2)
        try:
            weights.resize(3, refcheck=checked)
        except ValueError:
            return 2.0 * np.sum(x)
        return np.sum(weights * x)

    gradient = gs.grad(resized, compile=False)
    if checked:
        with pytest.raises(gs.errors.UnsupportedError, match="whether anything else refers"):
            gradient(np.ones(3))
    else:
        assert gradient(np.ones(3)).tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.add.accumulate(x, out=np.zeros((1, 4))),
        lambda x: np.dot(np.eye(4), x, out=np.zeros(4, np.float32)),
        lambda x: np.argmax(x.reshape(1, 4), axis=0, out=np.zeros((2, 4))),
    ],
)
def test_what_numpy_does_not_store_raises(call: Any) -> None:
    with pytest.raises(ValueError, match="out"):
        gs.grad(lambda x: np.sum(x) + np.sum(call(x)), compile=False)(X)
