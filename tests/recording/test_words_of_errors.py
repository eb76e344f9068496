"""Exceptions that a program handles in a recorded run have the words that NumPy and Python give
them; compiled code is given plain arrays."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import gradscribe as gs
from gradscribe.errors import NoDerivativeError

X = np.array([1.0, 2.0])


def stored(x, index, value):
    x[index] = value


def increased(x, value):
    x += value


RAISING = {
    "shapes": lambda x: x + np.ones(3),
    "shapes of a function": lambda x: np.maximum(np.ones(3), x),
    "shapes in place": lambda x: increased(x, np.ones(3)),
    "a product": lambda x: x @ np.ones(3),
    "a product by name": lambda x: np.dot(x, np.ones(3)),
    "joined": lambda x: np.concatenate([x, x[:, None]]),
    "stacked": lambda x: np.stack([x, np.ones(3)]),
    "chosen": lambda x: np.where(x > 1, x, np.ones(3)),
    "an axis": lambda x: np.sum(x, axis=3),
    "a shape": lambda x: x.reshape(3),
    "an index": lambda x: x[7],
    "a sequence for a number": lambda x: stored(x, 0, np.ones(3)),
    "a part": lambda x: stored(x, slice(None), x[[0, 1, 0]]),
    "a text": lambda x: x + "a",
    "a text and a number": lambda x: x[0] * "a",
    "None": lambda x: x - None,
}


@pytest.mark.parametrize("raising", RAISING.values(), ids=RAISING)
def test_exceptions_have_the_words_of_numpy(raising):
    said = []

    def function(x):
        y = x * 1.0
        try:
            raising(y)
        except (IndexError, TypeError, ValueError) as error:
            said.append(str(error))
            return len(said[-1]) * np.sum(x)

    expected = function(X)
    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert said[1] == said[0]
    assert value == expected
    np.testing.assert_array_equal(gradient, [len(said[0])] * 2)


LU = scipy.sparse.linalg.splu(scipy.sparse.csc_matrix(np.diag([1.0, 2.0])))


def test_objects_of_compiled_code_are_given_plain_arrays():
    value, gradient = gs.value_and_grad(lambda x: np.sum(LU.solve(np.ones(2)) * x), compile=False)(
        X
    )
    assert value == 2.0
    np.testing.assert_array_equal(gradient, [1.0, 0.5])
    with pytest.raises(NoDerivativeError, match=r"must be a numpy.ndarray that does not record"):
        gs.grad(lambda x: np.sum(LU.solve(x)), compile=False)(X)


class Counting:
    """What Python asks for a text of it, changes it."""

    def __init__(self):
        self.count = 1.0

    def __repr__(self):
        self.count += 1
        return "counting"


class OwnError(Exception):
    count = 1.0

    def __str__(self):
        OwnError.count += 1
        return "own"


def carried(x):
    held = Counting()
    for carries in (held, [held], (held, x)):
        try:
            raise ValueError(carries)
        except ValueError:
            pass
    return x * held.count


def carried_from_a_function(x):
    held = Counting()

    def raising():
        try:
            raise KeyError(held)
        except KeyError as error:
            raise TypeError(held, "text") from error

    try:
        raising()
    except TypeError:
        pass
    return x * held.count


def missed_in_a_dict(x):
    held = Counting()
    try:
        {}[held]
    except KeyError:
        pass
    return x * held.count


def of_a_class_with_its_own_text(x):
    OwnError.count = 1.0
    try:
        raise OwnError("text")
    except OwnError:
        pass
    return x * OwnError.count


@pytest.mark.parametrize("options", [{"compile": False}, {"compile": "auto"}], ids=str)
@pytest.mark.parametrize(
    "function", [carried, carried_from_a_function, missed_in_a_dict, of_a_class_with_its_own_text]
)
def test_no_text_is_made_of_what_an_exception_carries(function, options):
    assert gs.value_and_grad(function, **options)(2.0) == (2.0, 1.0)


def test_the_text_of_what_an_exception_carries_is_made_where_it_is_asked_for():
    def function(x):
        held = Counting()
        try:
            raise ValueError(held)
        except ValueError as error:
            length = len(str(error))
        return x * held.count * length

    assert gs.value_and_grad(function, compile=False)(2.0) == (32.0, 16.0)
