"""Lists, dicts and objects that a function reaches in two ways: a change through one name is seen
through the other, or the call is refused."""

import copy
import dataclasses
import types

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError, UnsupportedError

X = np.array([0.5, 1.5])

RATES = {"rate": 1.0}
SAME_RATES = RATES
STEPS = [1.0, 2.0]
SAME_STEPS = STEPS
TABLE = {"rates": RATES}
FUNCTIONS = {"f": np.sin, "rate": 1.0}
SAME_FUNCTIONS = FUNCTIONS
MODEL = types.SimpleNamespace(rate=1.0)
MODELS = [MODEL]


@dataclasses.dataclass
class Point:
    x: float


def dict_under_two_names(x):
    RATES["rate"] = x[0]
    return SAME_RATES["rate"]


def list_under_two_names(x):
    STEPS[0] = x[0]
    return SAME_STEPS[0]


def list_that_is_as_before_in_the_end(x):
    STEPS.append(x[0])
    last = SAME_STEPS[-1]
    STEPS.pop()
    return last


def dict_in_another(x):
    TABLE["rates"]["rate"] = x[0]
    return RATES["rate"]


ARRAY = np.zeros(2)
SAME_ARRAY = ARRAY
HOLDER = types.SimpleNamespace(array=ARRAY, steps=STEPS, rates=RATES)


def array_under_two_names(x):
    ARRAY[0] = 2.0
    return np.sum(SAME_ARRAY * x)


def array_in_a_loop(x):
    for i in range(2):
        ARRAY[i] += HOLDER.array[0] + 1.0
    return np.sum(SAME_ARRAY * x)


def array_of_an_object(x):
    HOLDER.array[1] = 3.0
    HOLDER.array = ARRAY * 2.0
    return np.sum(SAME_ARRAY * x) + np.sum(HOLDER.array)


def list_of_an_object(x):
    HOLDER.steps[0] = x[0]
    return STEPS[0] * SAME_STEPS[1]


def dict_of_an_object(x):
    HOLDER.rates["rate"] = x[0]
    HOLDER.rates["more"] = 2.0
    return SAME_RATES["rate"] * len(RATES)


@pytest.fixture
def as_before():
    """The module is left as it was."""
    yield
    ARRAY[:] = 0.0
    STEPS[:] = [1.0, 2.0]
    RATES.clear()
    RATES["rate"] = 1.0
    HOLDER.array = ARRAY


def in_each_mode(f):
    yield lambda: gs.grad(f)(X)
    yield lambda: gs.value_and_grad(f)(X)
    yield lambda: gs.jvp(f, (X,), (X,))
    yield lambda: gs.hvp(f, (X,), (X,))
    yield lambda: gs.differentiable(f)(gs.tensor(X, requires_grad=True))


def test_what_is_changed_under_another_name_is_refused():
    for derive in in_each_mode(dict_in_another):
        with pytest.raises(UnsupportedError, match=r"given one twice|shares memory"):
            derive()


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize(
    "f",
    [
        dict_under_two_names,
        list_under_two_names,
        list_that_is_as_before_in_the_end,
        array_under_two_names,
        array_in_a_loop,
        array_of_an_object,
        list_of_an_object,
        dict_of_an_object,
    ],
)
def test_what_is_found_in_two_ways_outside_is_one(f):
    def twice(call):
        found = [call(X), call(X)]
        left = ARRAY.tolist(), [float(s) for s in STEPS], {k: float(v) for k, v in RATES.items()}
        left += (HOLDER.array is ARRAY,)
        ARRAY[:], STEPS[:], HOLDER.array = 0.0, [1.0, 2.0], ARRAY
        RATES.clear()
        RATES["rate"] = 1.0
        return [float(value) for value in found], left

    expected = twice(f)
    assert twice(lambda x: gs.value_and_grad(f)(x)[0]) == expected
    assert twice(lambda x: gs.jvp(f, (x,), (x,))[0]) == expected
    compiled = gs.differentiable(f)
    assert twice(lambda x: compiled(gs.tensor(x, requires_grad=True)).item()) == expected


def test_whether_it_is_one_is_a_condition(monkeypatch):
    value = gs.value_and_grad(array_under_two_names)
    assert value(X)[0] == 2.0 * X[0]
    monkeypatch.setitem(globals(), "SAME_ARRAY", np.ones(2))
    assert value(X)[0] == X.sum()
    ARRAY[:] = 0.0


def store(x, a, b):
    a["rate"] = x[0]
    return b["rate"]


def test_an_argument_that_is_given_twice():
    same, other = {"rate": 1.0}, {"rate": 2.0}
    np.testing.assert_array_equal(gs.grad(store)(X, same, other), [0.0, 0.0])
    with pytest.raises(AliasingError, match="`store` changes a list, dict or object"):
        gs.grad(store)(X, same, same)


def test_a_dataclass_that_is_given_twice():
    def f(x, a, b):
        a.x = x[0]
        return b.x

    np.testing.assert_array_equal(gs.grad(f)(X, Point(1.0), Point(2.0)), [0.0, 0.0])
    point = Point(1.0)
    with pytest.raises(AliasingError):
        gs.grad(f)(X, point, point)


def test_a_dict_of_functions_is_one_dict_under_all_its_names():
    def f(x):
        FUNCTIONS["rate"] = x[0]
        return SAME_FUNCTIONS["rate"]

    np.testing.assert_array_equal(gs.grad(f)(X), [1.0, 0.0])


def test_an_object_is_one_object_wherever_it_is_found():
    def f(x):
        MODEL.rate = x[0]
        return MODELS[0].rate

    np.testing.assert_array_equal(gs.grad(f)(X), [1.0, 0.0])


def through_the_dict(x):
    MODEL.__dict__["rate"] = x[0]
    return MODEL.rate


def in_the_dict(x):
    MODEL.rate = x[0]
    return MODEL.__dict__["rate"]


def of_a_changed_object(x):
    MODEL.rate = x[0]
    return float(repr(MODEL)[len("namespace(rate=") : -1])


@pytest.mark.parametrize("f", [through_the_dict, in_the_dict, of_a_changed_object])
def test_other_ways_to_the_attributes_of_an_object_are_refused(f):
    for derive in in_each_mode(f):
        with pytest.raises(UnsupportedError):
            derive()


FIRST: list[float] = [1.0]
SECOND: list[float] = [1.0]


def grown_and_read(x):
    FIRST.append(2.0)
    return sum(SECOND) * np.sum(x)


def test_a_list_that_grows_is_another_one_than_those_that_are_read(monkeypatch):
    x = np.array([1.0, 2.0])
    compiled = gs.differentiable(grown_and_read)
    calls = (
        lambda: gs.vjp(grown_and_read, x)[0],
        lambda: gs.jvp(grown_and_read, (x,), (x,))[0],
        lambda: compiled(gs.tensor(x, requires_grad=True)).item(),
    )
    assert [call() for call in calls] == [3.0, 3.0, 3.0]
    monkeypatch.setitem(globals(), "SECOND", FIRST)
    for call in calls:
        with pytest.raises(gs.errors.GradscribeError):
            call()
    assert FIRST == [1.0, 2.0, 2.0, 2.0]


TIED = np.array([3.0, 4.0])
LAYERS = [TIED, TIED]


class Tied:
    def __init__(self, weights):
        self.encoder = self.decoder = weights


TIED_MODEL = Tied(TIED)


def copied_list(x):
    layers = copy.deepcopy(LAYERS)
    layers[0] += 1.0
    return layers[1] @ x


def copied_model(x):
    model = copy.deepcopy(TIED_MODEL)
    model.encoder[0] = 7.0
    return model.decoder @ x


@pytest.mark.parametrize("function", [copied_list, copied_model])
def test_a_deep_copy_holds_one_array_where_the_original_does(function):
    x = np.array([1.0, 2.0])
    for options in ({}, {"compile": "auto"}, {"compile": False}):
        try:
            value, gradient = gs.value_and_grad(function, **options)(x)
        except gs.errors.AliasingError:
            assert function is copied_list and not options
            continue
        assert (value, gradient @ x) == (function(x), function(x))
