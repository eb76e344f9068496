"""`hasattr` and `getattr` with a default find what Python finds, and no more."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import gradscribe as gs

X = np.array([1.0, 2.0])
READS = [0]
OF_CLASSES = ("__call__", "__name__", "__qualname__", "__mro__", "__ror__", "mro")
VALUES = {
    "array": lambda x: x,
    "number": lambda x: x[0],
    "float": lambda x: float(x[0]),
    "constant": lambda x: 5.0,
    "list": lambda x: [x],
    "tuple": lambda x: (x, 1.0),
    "dict": lambda x: {"a": x},
    "str": lambda x: "text",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("name", OF_CLASSES)
def test_the_metaclass_gives_instances_nothing(value, name) -> None:
    def asked(x):
        item = value(x)
        scale = 2.0 if hasattr(item, name) else 3.0
        return x[1] * scale * (5.0 if getattr(item, name, None) is None else 7.0)

    found, gradient = gs.value_and_grad(asked, compile=True)(X)
    assert found == asked(X)
    assert gradient.tolist() == [0.0, asked(X) / 2]


def test_a_missing_attribute_is_caught() -> None:
    def caught(x):
        n = 0.0
        try:
            x.mro()
        except AttributeError:
            n += 1.0
        try:
            float(x[0]).__ror__(1)
        except AttributeError:
            n += 2.0
        try:
            [x].__name__
        except AttributeError:
            n += 4.0
        return x[0] * n

    assert gs.grad(caught, compile=True)(X).tolist() == [7.0, 0.0]


def test_numbers_of_numpy_are_no_views_and_give_arrays() -> None:
    def asked(x):
        s = x[0]
        array = s.__array__()
        is_own = s.base is None and s.strides == () and type(array) is np.ndarray
        return s * array * (2.0 if is_own else 1.0)

    assert gs.value_and_grad(asked, compile=True)(X) == (asked(X), pytest.approx([4.0, 0.0]))


@pytest.mark.parametrize("name", ["__abs__", "__neg__", "__pos__"])
def test_special_methods_of_python_numbers_give_such(name) -> None:
    def called(x):
        return getattr(float(x[0]), name)()

    found, _ = gs.vjp(called, X)
    assert type(found) is float
    assert found == called(X)


class Model:
    """What is read before it is fitted, or without a scale, is not there."""

    weight: float | None = None
    scale = 0.5

    @property
    def fitted(self):
        if self.weight is None:
            raise AttributeError("not fitted")
        return self.weight

    @functools.cached_property
    def kept(self):
        return self.fitted * 2

    @property
    def scaled(self):
        if self.scale < 1.0:
            raise AttributeError("too small")
        return self.scale * 2

    @property
    def counted(self):
        READS[0] += 1
        return 2.0


class Answering(Model):
    def __getattr__(self, name):
        if name == "nothing":
            raise AttributeError(name)
        return 7.0


class Switched(type):
    state: float | None = None

    @property
    def on(cls):
        if cls.state is None:
            raise AttributeError("on")
        return cls.state

    def __getattr__(cls, name):
        if name == "nothing":
            raise AttributeError(name)
        return 9.0


class Switch(metaclass=Switched):
    pass


MODEL, ANSWERING = Model(), Answering()


def asks_a_property(x):
    return np.sum(MODEL.fitted * x) if hasattr(MODEL, "fitted") else np.sum(x)


def property_or_another_value(x):
    return np.sum(x) * getattr(MODEL, "fitted", 3.0) * getattr(MODEL, "kept", x[0])


def property_that_the_run_decides(x):
    return np.sum(x) * getattr(MODEL, "scaled", 3.0) * (2.0 if hasattr(MODEL, "scaled") else 1.0)


def getattr_behind_a_property(x):
    both = ANSWERING.fitted * ANSWERING.scaled * getattr(ANSWERING, "scaled", 3.0)
    return np.sum(x) * both * ANSWERING.other * (2.0 if hasattr(ANSWERING, "fitted") else 1.0)


def getattr_that_raises(x):
    given = getattr(ANSWERING, "nothing", 4.0)
    return np.sum(x) * given * (2.0 if hasattr(ANSWERING, "nothing") else 1.0)


def attributes_of_a_class(x):
    return np.sum(x) * getattr(Switch, "on", 4.0) * getattr(Switch, "nothing", 2.0) * Switch.other


def object_of_the_function(x):
    model = Answering()
    model.scale, model.weight = x[0], x
    return np.sum(model.fitted) * model.scaled * getattr(model, "scaled", 3.0)


def property_that_counts(x):
    return np.sum(x) * getattr(MODEL, "counted", 3.0) * READS[0]


def pattern_that_reads_a_property(x):
    match MODEL:
        case Model(counted=3.0) | Model(fitted=None):
            return np.sum(x)
        case Model(fitted=w, counted=n) if w * n > 4.0:
            return np.sum(x) * w
        case Model(scale=s, counted=n):
            return np.sum(x) * n * s * READS[0]


def pattern_of_a_property_that_raises(x):
    match MODEL:
        case Model(fitted=w):
            return np.sum(x) * w
    return np.sum(x)


ASKING = [
    asks_a_property,
    property_or_another_value,
    property_that_the_run_decides,
    getattr_behind_a_property,
    getattr_that_raises,
    attributes_of_a_class,
    object_of_the_function,
    property_that_counts,
    pattern_that_reads_a_property,
    pattern_of_a_property_that_raises,
]


@pytest.fixture
def models():
    """Makes the models fitted or not, with a scale, and counts from nothing."""

    def set_up(weight, scale):
        READS[0] = 0
        Switched.state = weight
        for model in (MODEL, ANSWERING):
            vars(model).clear()
            vars(model).update({"scale": scale} if weight is None else vars_of(weight, scale))

    def vars_of(weight, scale):
        return {"scale": scale, "weight": weight}

    yield set_up
    set_up(None, 0.5)


@pytest.mark.parametrize("function", ASKING, ids=lambda f: f.__name__)
def test_code_that_finds_an_attribute_runs_once_and_may_raise(function, models) -> None:
    gradient = gs.value_and_grad(function, compile=True)
    for weight, scale in ((None, 0.5), (1.5, 0.5), (None, 1.5), (3.0, 1.5)):
        models(weight, scale)
        expected, reads = function(X), READS[0]
        models(weight, scale)
        found, slope = gradient(X)
        assert (found, READS[0]) == (expected, reads)
        models(weight, scale)
        moved = function(X + [0.0, 1e-6])
        assert slope[1] == pytest.approx((moved - expected) / 1e-6, rel=1e-4)


@pytest.mark.parametrize("function", ASKING[:6], ids=lambda f: f.__name__)
def test_so_it_is_with_tensors(function, models) -> None:
    models(None, 0.5)
    x = gs.tensor(X, requires_grad=True)
    gs.differentiable(function, compile=True)(x).backward()
    assert x.grad.numpy().tolist() == gs.grad(function, compile=True)(X).tolist()
