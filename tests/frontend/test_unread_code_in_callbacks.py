"""Functions that SciPy and Python call may call C themselves, which has addresses and views of
arrays of the program: what is read there is what the program has stored, or that is refused."""

from __future__ import annotations

import ctypes as ct
import enum
import functools
import itertools
import math
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.integrate as si
import scipy.optimize as so
from scipy.interpolate import CubicSpline

import gradscribe as gs
from gradscribe.errors import GradscribeError, UnsupportedError
from tests.sampling import one_in

X = np.array([1.0, 2.0, 3.0])
W, START = np.ones(3), np.ones(3)
P = W.ctypes.data
TABLE = {"rate": 1.0}

NUMBER = ct.CFUNCTYPE(ct.c_double, ct.c_double)
read = ct.CFUNCTYPE(ct.c_double, ct.c_void_p)(lambda p: ct.c_double.from_address(p).value)
TYPES = ct.CFUNCTYPE(ct.c_double, ct.c_int, ct.POINTER(ct.c_double), ct.c_void_p)
with_data = TYPES(lambda n, xs, data: xs[0] * ct.c_double.from_address(data).value)
DATA = scipy.LowLevelCallable(with_data, ct.c_void_p(P))
hook = NUMBER(lambda t: t * TABLE["rate"])
HOOKS = {"read": read}
VECTOR, UFUNC = np.vectorize(lambda t: t * read(P)), np.frompyfunc(lambda t: t * read(P), 1, 1)
SHOWN = memoryview(W)


class Base:
    reading = staticmethod(read)

    def of(self, t):
        return t * self.reading(self.place)


class Model(Base):
    def __init__(self, place):
        self.place, self.hook = place, read

    def __call__(self, t):
        return self.of(t)

    def __mul__(self, t):
        return t * self.hook(P)

    @property
    def weight(self):
        return read(P)


class Plain:
    def __init__(self):
        self.rate, self.hook = 2.0, read

    def of_rate(self, t):
        return self.rate * t

    def of_address(self, t):
        return t * self.hook(P)


class Held:
    def __init__(self, reading):
        self.reading = reading

    def of(self, t):
        return t * self.reading(P)


class Slots:
    __slots__ = ("hook",)

    def __init__(self):
        self.hook = read


MODEL, PLAIN, SLOTS = Model(P), Plain(), Slots()
SPACE = types.SimpleNamespace(hook=read, rate=2.0)


def of_address(t):
    return t * read(P)


def helper(t):
    return of_address(t)


def imports(t):
    from ctypes import c_double

    return t * c_double.from_address(P).value


@functools.lru_cache
def remembered(t, place):
    return t * read(place)


VIEW = "by a view"
INTEGRANDS: dict[str, Callable[[Any], Any]] = {
    "by a name": lambda t: t * read(P),
    "by a function": lambda t: helper(t),
    "by an item": lambda t: t * HOOKS["read"](P),
    "by a module": lambda t: t * ct.c_double.from_address(P).value,
    "by an import": imports,
    "by a default": lambda t, of=read: t * of(P),
    "by a method": MODEL.of,
    "by an object": MODEL,
    "by an inherited method": lambda t: MODEL.of(t),
    "by an operator": lambda t: MODEL * t,
    "by a property": lambda t: t * MODEL.weight,
    "by a slot": lambda t: t * SLOTS.hook(P),
    "by a text": lambda t: t * getattr(SPACE, "ho" + "ok")(P),
    "by a partial": functools.partial(lambda p, t: t * read(p), P),
    "by what is remembered": lambda t: remembered(t, P),
    "by a vectorized function": VECTOR,
    "by a ufunc": lambda t: UFUNC(t),
    "by an attribute": lambda t: PLAIN.of_address(t),
    VIEW: lambda t: t * SHOWN[0],
    "of C": DATA,
}


def stored_before(integrand):
    def integrated(x):
        W[0] += 1.0
        return si.quad(integrand, 0.0, 1.0)[0] * np.sum(x**2)

    return integrated


def stored_after(integrand):
    def integrated(x):
        found = si.quad(integrand, 0.0, 1.0)[0] * np.sum(x**2)
        W[0] += 1.0
        return found

    return integrated


def made_inside(x):
    hooks = [read]
    W[0] += 1.0
    return si.quad(lambda t: t * hooks[0](P), 0.0, 1.0)[0] * np.sum(x**2)


def made_in_a_list(x):
    hooks = [lambda t: t * read(P)]
    W[0] += 1.0
    return si.quad(lambda t: hooks[0](t), 0.0, 1.0)[0] * np.sum(x**2)


def made_an_object(x):
    model = Held(read)
    W[0] += 1.0
    return si.quad(lambda t: model.of(t), 0.0, 1.0)[0] * np.sum(x**2)


def made_of_c_inside(x):
    called = NUMBER(lambda t: t * read(P))
    W[0] += 1.0
    return si.quad(called, 0.0, 1.0)[0] * np.sum(x**2)


def imported_inside(x):
    def integrand(t):
        import ctypes

        return t * ctypes.c_double.from_address(P).value

    W[0] += 1.0
    return si.quad(integrand, 0.0, 1.0)[0] * np.sum(x**2)


def passed_on(x):
    W[0] += 1.0
    return si.quad(lambda t, of, p: t * of(p), 0.0, 1.0, args=(read, P))[0] * np.sum(x**2)


def of_a_table(x):
    TABLE["rate"] += 1.0
    return si.quad(lambda t: hook(t), 0.0, 1.0)[0] * np.sum(x**2)


def in_a_key(x):
    W[0] += 1.0
    return max([1.0, 2.0], key=lambda t: t * (1.5 - read(P))) * np.sum(x**2)


def _root(find):
    def found(x):
        W[0] += 1.0
        return find(lambda t: t - read(P), 0.0, 9.0) * np.sum(x**2)

    return found


REFUSED: dict[str, Callable[[Any], Any]] = {
    **{name: stored_before(integrand) for name, integrand in INTEGRANDS.items()},
    **{f.__name__: f for f in (made_inside, made_in_a_list, made_an_object)},
    **{f.__name__: f for f in (made_of_c_inside, imported_inside, passed_on)},
    **{f.__name__: f for f in (of_a_table, in_a_key)},
    **{f.__name__: _root(f) for f in (so.bisect, so.brenth, so.brentq, so.ridder, so.toms748)},
}
"""What looks for what the program stores at the end."""


def shows(x):
    w = np.ones(3)
    shown = (ct.c_double * 3).from_buffer(w)
    w[1] = 4.0
    return si.quad(lambda t: t * shown[1], 0.0, 1.0)[0] * np.sum(x**2)


def shows_a_part(x):
    w = np.ones(4)
    part = memoryview(w[1:])
    w[1] = 4.0
    return so.brentq(lambda t: t - part[0], 0.0, 9.0) * np.sum(x**2)


def shows_in_a_loop(x):
    total = 0.0
    for k in range(3):
        w = np.ones(2)
        shown = memoryview(w)
        w[1] = 2.0 + k
        total += so.ridder(lambda t, shown=shown: t - shown[1], 0.0, 9.0)
    return total * np.sum(x**2)


def shows_on_a_path(x):
    w, root = np.ones(2), 0.0
    if x[0] > 0.0:
        shown = memoryview(w)
        w[1] = 2.0
        root = so.toms748(lambda t: t - shown[1], 0.0, 9.0)
    return root * np.sum(x**2) + w[0]


def writes(x):
    w = np.ones(3)
    place = ct.cast(w.ctypes.data, ct.c_void_p)

    def integrand(t):
        ct.memset(place, 0, 8)
        return t

    return si.quad(integrand, 0.0, 1.0)[0] * np.sum(x) + w[0] * x[0]


def writes_in_a_key(x):
    w = np.ones(3)
    place = ct.cast(w.ctypes.data, ct.c_void_p)

    def key(t):
        ct.memset(place, 0, 8)
        return t

    return sorted([3.0, 1.0], key=key)[0] * np.sum(x) + w[0] * x[0]


def writes_to_a_part(x):
    w = np.ones(3)
    part = w[1:]
    place = part.ctypes.data
    part[0] = 4.0

    def integrand(t):
        ct.memset(place, 0, 8)
        return t * read(place + 8)

    return si.quad(integrand, 0.0, 1.0)[0] * np.sum(w * x)


def has_data(x):
    w = np.ones(3)
    called = scipy.LowLevelCallable(with_data, ct.cast(w.ctypes.data, ct.c_void_p))
    w[0] = 4.0
    return si.quad(called, 0.0, 1.0)[0] * np.sum(x**2)


class Color(enum.Enum):
    RED = 2.0


SPLINE = CubicSpline([0.0, 1.0, 2.0], [1.0, 2.0, 0.0])
COMPUTING: dict[str, Callable[[Any], Any]] = {
    "functions of NumPy": lambda t: np.exp(t) + math.sin(t) + np.interp(t, [0.0, 1.0], [0.0, 2.0]),
    "an attribute": lambda t: PLAIN.rate * t,
    "a method": PLAIN.of_rate,
    "a field": lambda t: SPACE.rate * t,
    "a member": lambda t: Color.RED.value * t,
    "an item": lambda t: TABLE["rate"] * t,
    "an object of SciPy": SPLINE,
    "what an object of SciPy gives": lambda t: t * SPLINE(t),
    "an integral": lambda t: si.quad(lambda s: s * t, 0.0, 1.0)[0],
    "a function of C": math.sin,
}

RIGHT: dict[str, Callable[[Any], Any]] = {
    **{f"{name}, stored after": stored_after(f) for name, f in INTEGRANDS.items() if name != VIEW},
    **{f.__name__: f for f in (shows, shows_a_part, shows_in_a_loop, shows_on_a_path)},
    **{f.__name__: f for f in (writes, writes_in_a_key, writes_to_a_part, has_data)},
    **{f"of {name}": stored_before(f) for name, f in COMPUTING.items()},
}

MODES: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda f: gs.value_and_grad(f)(X),
    "pullback": lambda f: (lambda out, pull: (out, pull(1.0)[0]))(*gs.vjp(f, X)),
    "forward": lambda f: gs.jvp(f, (X,), (np.array([1.0, 0.0, 0.0]),)),
    "in part": lambda f: gs.value_and_grad(f, compile="auto")(X),
    "as it is": lambda f: gs.value_and_grad(f, compile=False)(X),
    "tensors": lambda f: _with_tensors(f),
}


def _with_tensors(function: Any) -> Any:
    x = gs.tensor(X, requires_grad=True)
    out = gs.differentiable(function)(x)
    out.backward()
    return out.item(), x.grad.numpy()


def _reset() -> None:
    W[:] = START
    TABLE["rate"] = 1.0
    remembered.cache_clear()


def _twice(run: Callable[[], Any]) -> list[Any]:
    """What two calls give, and leave outside."""
    _reset()
    found = []
    for _ in range(2):
        remembered.cache_clear()
        value = run()
        found.append((value, W.tolist(), dict(TABLE)))
    return found


def _expected(function: Any, step: Any) -> list[float]:
    return [float(value) for value, *_ in _twice(lambda: function(X + step))]


def _check(function: Any, mode: str) -> None:
    plain = _twice(lambda: function(X))
    found = _twice(lambda: MODES[mode](function))
    for call, (((value, derivative), *left), (expected, *kept)) in enumerate(
        zip(found, plain, strict=True)
    ):
        assert float(value) == pytest.approx(float(expected))
        assert left == kept
        for place in range(3 if np.ndim(derivative) else 1):
            step = np.zeros(3)
            step[place] = 1e-6
            ends = [_expected(function, way)[call] for way in (step, -step)]
            slope = (ends[0] - ends[1]) / 2e-6
            assert float(np.ravel(derivative)[place]) == pytest.approx(slope, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(("name", "mode"), one_in(3, itertools.product(RIGHT, MODES)))
def test_callbacks_find_what_the_program_has_stored(name: str, mode: str) -> None:
    try:
        _check(RIGHT[name], mode)
    except UnsupportedError:
        if name != "of a member" or sys.version_info < (3, 13):
            raise
        pytest.xfail("an enumeration of CPython 3.13 leads to code in C: refused without need")


@pytest.mark.parametrize(("name", "mode"), one_in(3, itertools.product(REFUSED, MODES)))
def test_callbacks_that_look_for_what_is_stored_at_the_end_are_refused(
    name: str, mode: str
) -> None:
    if mode in ("in part", "as it is"):
        _check(REFUSED[name], mode)
        return
    _reset()
    with pytest.raises(GradscribeError, match=r"may look for|may use|is both read and changed"):
        MODES[mode](REFUSED[name])
