"""What arrays and numbers of a recorded run have in common with NumPy's: items, methods, errors."""

import numpy as np
import pytest
import scipy.fft

import gradscribe as gs
from gradscribe.errors import NoDerivativeError

X = np.array([[0.5, 1.5, 1.0], [2.0, 0.25, 3.0]])
W = np.array([1.0, -2.0, 0.5])


def sorted_in_place(x):
    x.sort(axis=1, kind="stable")
    return x @ W


def partitioned(x):
    x.partition(1, kind="introselect")
    return x @ W


def put(x):
    x.put(indices=[0, 2], values=x[1, :2], mode="raise")
    return x @ W


def stored_everywhere(x):
    y = x[0] * 1
    y[np.any(x > 2)] = x[1]
    y[np.any(x > 9)] = 7.0
    return y * y


def stored_where_a_number_is_laid_out(x):
    y = np.array(x[0, 1])
    laid_out = np.ascontiguousarray(y)
    laid_out[0] = x[1, 2]
    return y * x[0]


def of_numpy(items):
    return [isinstance(item, np.floating) for item in items]


def ratio(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return a * 10


OF_ONE_ARRAY = {
    "the item of a number": lambda x: x.sum()[()] * x[0, 1][...],
    "an axis of a number": lambda x: x.sum()[None] * x[0, 1][np.newaxis, None],
    "a number taken or not": lambda x: (x.sum()[x[0, 0] < 1], x.sum()[True]),
    "all or nothing": lambda x: (x[np.array(True)] * x, x[np.any(x > 9)], x[False]),
    "stored everywhere or nowhere": stored_everywhere,
    "places in tuples": lambda x: x[(0, 1), (2, 0)],
    "the namespace": lambda x: x.__array_namespace__().exp(x[0]) * x[1, 1].view(),
    "sorted in place": sorted_in_place,
    "partitioned in place": partitioned,
    "put": put,
    "compared with a text": lambda x: x[0] * (x[0, 1] != "a"),
    "one axis, transposed": lambda x: x[0].transpose(0) * np.transpose(x[1], 0),
    "full of a number": lambda x: np.full_like(np.ones(2, bool), x[0, 1], dtype=float),
    "numbers that are laid out": lambda x: (
        np.ascontiguousarray(x[0, 1]).ndim * np.asfortranarray(x.sum())[:, None],
        len(np.ascontiguousarray(np.array(x[0, 0]))) * x,
    ),
    "stored where a number is laid out": stored_where_a_number_is_laid_out,
    "transposed by an array": lambda x: x.transpose(np.array([1, 0])) * x[0, 0],
    "one axis, transposed by an array": lambda x: x[0].transpose(np.array([0])) * x[1],
    "transposed by a range": lambda x: x.transpose(range(2)) * np.ones(6).reshape(range(2, 4)) * x,
    "a shape that is an array": lambda x: x.reshape(np.array([3, 2])) @ x,
    "an array as objects": lambda x: x[0] * (1 + sum(of_numpy(x[0].astype(object)))),
    "an array of objects": lambda x: x[0] * (1 + sum(of_numpy(np.asarray(x[0], dtype=object)))),
    "numbers as objects": lambda x: (
        x[0] * (1 + sum(of_numpy(np.array([x[0, 0], x[0, 1].item(), 1.0], dtype=object))))
    ),
    "arrays of objects": lambda x: x[0] * (1 + sum(of_numpy(np.array([x, x], object).flat))),
    "a number as an object": lambda x: x[0] * (1 + sum(of_numpy(np.array(x[0, 0], object).flat))),
    "division of all": lambda x: np.vectorize(ratio)(x[0], np.array([1.0, 0.0, 2.0])),
    "classes of all": lambda x: np.vectorize(lambda a: a * isinstance(a, np.floating))(x[0]),
    "a common dtype": lambda x: (
        x[0] * np.result_type(float(x[0, 0]), np.float32).itemsize,
        x[1] * np.result_type(x, x[0, 0], 1, np.float32).itemsize,
    ),
    "a function that is none of Python's": lambda x: scipy.fft.dct(x[0]) * W,
}


@pytest.mark.parametrize("function", OF_ONE_ARRAY.values(), ids=OF_ONE_ARRAY)
def test_what_arrays_and_numbers_do_is_recorded(function):
    def total(x):
        found = function(x * 1.0)
        parts = found if isinstance(found, tuple) else (found,)
        return sum(np.sum(part**2) for part in parts)

    value, gradient = gs.value_and_grad(total, compile=False)(X)
    assert value == total(X)
    steps = 1e-6 * np.eye(X.size).reshape(-1, *X.shape)
    expected = [(total(X + step) - total(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient.ravel(), expected, rtol=1e-6, atol=1e-8)


MISTAKES = {
    "axes that do not fit": (lambda x: x.transpose(np.array([2, 0])), ValueError),
    "no axes": (lambda x: x.transpose(np.array([1.0, 0.0])), TypeError),
    "a cast that is not safe": (
        lambda x: np.add(x, 1.0, out=np.zeros(x.shape, np.float32), casting="safe"),
        TypeError,
    ),
    "a forgotten return": (lambda x: None * x, TypeError),
    "a text": (lambda x: x + "a", TypeError),
    "a number called": (lambda x: x[0, 0](), TypeError),
    "no number of items": (lambda x: len(x[0, 0]), TypeError),
    "no items": (lambda x: list(x[0, 0]), TypeError),
    "no order": (lambda x: x[0, 0] < "a", TypeError),
    "no method": (lambda x: x.foo(), AttributeError),
    "no attribute of a number": (lambda x: x[0, 0].foo, AttributeError),
}


@pytest.mark.parametrize(("function", "cls"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_raise_what_python_raises(function, cls):
    with pytest.raises(cls):
        function(X)
    with pytest.raises(cls) as found:
        gs.grad(function, compile=False)(X)
    assert "Recorded" not in str(found.value)


def test_a_mistake_is_told_in_the_words_of_python():
    with pytest.raises(NoDerivativeError) as found:
        gs.grad(lambda x: np.sum(None * x), compile=False)(X)
    assert found.value.what == (
        "TypeError, of what is differentiated: unsupported operand type(s) for *: 'NoneType' and "
        "'numpy.ndarray'"
    )
    assert found.value.advice == (
        "correct it, if plain Python raises here, too; else use functions of NumPy, or make what "
        "is done here a `gs.primitive`"
    )
    with pytest.raises(AttributeError, match=r"'numpy\.ndarray' object has no attribute 'foo'"):
        gs.grad(lambda x: x.foo, compile=False)(X)


def test_a_number_that_becomes_a_masked_one_is_refused():
    with pytest.raises(NoDerivativeError):
        gs.grad(lambda x: np.ma.inner(x, x), compile=False)(W)


class WithoutComparisons:
    pass


OTHERS = [None, "a", ..., {}, WithoutComparisons()]


@pytest.mark.parametrize("other", OTHERS, ids=[type(other).__name__ for other in OTHERS])
def test_each_element_is_compared_with_an_object(other):
    def compared(x):
        same = (x == other).any() or (other == x[::2]).any() or x[0] == other
        return (np.sum(x != other) + np.sum(other != x * 2.0)) * x[0] + x[1] * same

    x = np.array([0.7, 1.3, 2.1])
    value, gradient = gs.value_and_grad(compared, compile=False)(x)
    assert value == compared(x)
    assert gradient.tolist() == [6, 0, 0]
