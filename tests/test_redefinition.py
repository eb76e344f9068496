"""What a compiled function depends on is changed in place, as in a notebook: the next call is of
the program as it is then."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import linecache
import os
import string
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = 1.7


def follows(f: Callable[[float], float], *changes: Callable[[], Any]) -> None:
    """Value and gradient, of plain numbers and of Tensors, are those of f before and after each of
    these changes."""
    gradient, value_and_gradient = gs.grad(f), gs.value_and_grad(f)
    decorated = gs.differentiable(f)
    for change in (lambda: None, *changes):
        change()
        slope = (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
        x = gs.tensor(X, requires_grad=True)
        result = decorated(x)
        result.backward()
        value, again = value_and_gradient(X)
        assert value == result.item() == f(X)
        assert gradient(X) == again == gs.grad(f)(X)
        np.testing.assert_allclose([again, x.grad.item()], slope, rtol=1e-6)


def setting(owner: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(owner, name, value)


def deleting(owner: Any, name: str) -> Callable[[], None]:
    return lambda: delattr(owner, name)


def twice(x):
    return 2.0 * x


def cubed(x):
    return x**3


# -- functions -----------------------------------------------------------------------------------


def test_the_code_of_a_function_or_of_a_helper():
    def helper(x):
        return x * 2.0

    def f(x):
        return helper(x) + x

    follows(helper, setting(helper, "__code__", cubed.__code__))
    follows(f, setting(helper, "__code__", twice.__code__))


def test_defaults():
    def f(x, k=2.0, *, m=3.0, g=np.sin):
        return x * k * m + g(x)

    changes = [
        setting(f, "__defaults__", (5.0,)),
        setting(f, "__kwdefaults__", {"m": 7.0, "g": np.cos}),
        setting(f, "__defaults__", (-1.0,)),
    ]
    follows(lambda x: f(x), *changes)
    follows(f, *changes)


def test_attributes_of_functions():
    def f(x):
        return x * f.scale if getattr(f, "scaled", False) else x * x

    follows(
        f,
        setting(f, "scale", 2.0),
        setting(f, "scaled", True),
        setting(f, "scale", 5.0),
        setting(f, "scaled", False),
    )


def test_a_global_that_hides_a_builtin():
    source = "def f(x):\n    return sum([x, x]) * abs(x)\n"
    linecache.cache["hiding.py"] = (len(source), None, source.splitlines(True), "hiding.py")
    namespace: dict[str, Any] = {}
    exec(compile(source, "hiding.py", "exec"), namespace)
    follows(
        namespace["f"],
        lambda: namespace.update(sum=lambda items: items[0] ** 2),
        lambda: namespace.update(abs=np.sin),
        lambda: namespace.pop("sum"),
    )


def test_variables_of_closures():
    factor, function = 2.0, np.sin

    def f(x):
        return factor * function(x)

    def change(a, b):
        nonlocal factor, function
        factor, function = a, b

    follows(
        lambda x: f(x) * x,
        lambda: change(3.0, np.sin),
        lambda: change(3, np.cos),
        lambda: change(3, cubed),
    )


def test_what_containers_hold():
    table = {"a": 1.0, "f": np.sin, "nested": {"k": 2.0}}
    functions, chosen = [np.cos], {1, 2}

    def f(x):
        total = table["a"] * table["f"](x) * table["nested"]["k"]
        for function in functions:
            total = total + function(x)
        return total if 2 in chosen else total * x

    follows(
        f,
        lambda: table.update(a=3.0),
        lambda: table.update(f=np.tanh),
        lambda: table.update(nested={"k": 5.0, "unused": 1}),
        lambda: functions.append(cubed),
        lambda: functions.__setitem__(0, twice),
        lambda: chosen.discard(2),
        lambda: chosen.add(2),
    )


def test_the_rule_of_a_primitive():
    @gs.primitive
    def square(x):
        return x * x

    @square.adjoint
    def _(out, x, *, d_out):
        return 2.0 * x * d_out

    def f(x):
        return square(x) * x

    assert gs.grad(f)(2.0) == 12.0

    @square.adjoint
    def _(out, x, *, d_out):
        return 100.0 * d_out

    assert gs.grad(f)(2.0) == 204.0


# -- classes and their objects -------------------------------------------------------------------


def test_methods_properties_and_constants():
    class Spring:
        stiffness = 2.0
        kind = "linear"

        def __init__(self):
            self.length = 1.5

        def force(self, x):
            return x * self.length * self.stiffness

        @property
        def double(self):
            return self.length * 2

        @staticmethod
        def law(x):
            return x * 3

        @classmethod
        def scaled(cls, x):
            return x * cls.stiffness

        def chosen(self, x):
            return x if self.kind == "linear" else x * x

        def __call__(self, x):
            return self.force(x) + self.double

        def __add__(self, other):
            return self.length + other

        def __len__(self):
            return 3

        def __getitem__(self, index):
            return self.length * (index + 1)

    class Stiff(Spring):
        def force(self, x):
            return super().force(x) + x

    spring, stiff = Spring(), Stiff()
    follows(
        lambda x: spring(x) * spring.law(x) + spring.scaled(x) + stiff.force(x),
        setting(Spring, "force", lambda self, x: x**3 * self.length),
        setting(Spring, "double", property(lambda self: self.length * 5)),
        setting(Spring, "double", 7.0),
        setting(Spring, "law", staticmethod(cubed)),
        setting(Spring, "stiffness", 5.0),
        setting(Spring, "scaled", classmethod(lambda cls, x: x**2 * cls.stiffness)),
        setting(Stiff, "force", lambda self, x: x**2),
        setting(Spring, "__call__", lambda self, x: x * self.length),
        setting(Stiff, "stiffness", -1.0),
        deleting(Stiff, "force"),
    )
    follows(
        lambda x: (spring + x) * len(spring) * spring[1],
        setting(Spring, "__add__", lambda self, other: self.length * other),
        setting(Spring, "__len__", lambda self: 5),
        setting(Spring, "__getitem__", lambda self, index: 10.0 * index),
    )
    follows(
        lambda x: spring.chosen(x) + spring.force(x),
        setting(Spring, "kind", "square"),
        setting(spring, "kind", "linear"),
        deleting(spring, "kind"),
        setting(spring, "force", lambda x: x * 9),
        deleting(spring, "force"),
        setting(spring, "length", np.float64(4.0)),
        setting(spring, "__class__", Stiff),
    )


def test_what_was_not_there_before():
    class Plain:
        def __init__(self, v=2.0):
            self.v = v

        def keep(self, x):
            self.kept = x
            return self.kept

    class Open:
        def __getattr__(self, name):
            return 3.0

    plain, opened = Plain(), Open()
    follows(
        lambda x: (x * 2 if plain else x) + getattr(plain, "extra", 5.0) * x,
        setting(plain, "extra", 7.0),
        deleting(plain, "extra"),
        setting(Plain, "extra", -1.0),
        setting(Plain, "__bool__", lambda self: False),
    )
    follows(
        lambda x: x * 2 if hasattr(Plain, "flag") else plain.keep(x) * Plain(x).v,
        setting(Plain, "__setattr__", lambda self, n, v: object.__setattr__(self, n, 2 * v)),
        setting(Plain, "flag", True),
    )
    follows(
        lambda x: opened.anything * x,
        setting(Open, "__getattr__", lambda self, name: 4.0),
        setting(opened, "anything", 7.0),
        deleting(opened, "anything"),
        setting(Open, "anything", 9.0),
    )


def test_methods_of_namedtuples_and_descriptors():
    class Point(typing.NamedTuple):
        a: float
        b: float
        scale = 2.0

        def norm(self):
            return (self.a**2 + self.b) * self.scale

        @classmethod
        def diagonal(cls, a):
            return cls(a, a)

    class Two:
        def __get__(self, owner, cls):
            return 2.0

    class Holder:
        two = Two()
        halved = functools.partialmethod(lambda self, k, x: k * x * self.two, 0.5)

    holder = Holder()
    follows(
        lambda x: Point(x, 2.0).norm() + Point.diagonal(x).norm(),
        setting(Point, "norm", lambda self: self.a**3 * self.scale),
        setting(Point, "scale", 4.0),
    )
    follows(
        lambda x: holder.two * x + holder.halved(x),
        setting(Two, "__get__", lambda self, owner, cls: 5.0),
        setting(Holder, "halved", functools.partialmethod(lambda self, k, x: k * x**2, 3.0)),
    )


def test_the_call_of_an_object_that_is_differentiated_itself():
    class Square:
        def __call__(self, x):
            return x * x

    gradient = gs.grad(Square())
    assert gradient(2.0) == 4.0
    Square.__call__ = lambda self, x: x**3
    assert gradient(2.0) == 12.0


def test_two_lambdas_of_one_line_with_conditions():
    pieces = [lambda x: x * 2 if x < 1 else x * 3, lambda x: x and x * 5]
    assert [gs.grad(piece)(1.5) for piece in pieces] == [3.0, 5.0]


def by_environment(x: float) -> float:
    again = 2.0 if "GRADSCRIBE_TEST" in os.environ else 1.0
    return float(os.environ.get("GRADSCRIBE_TEST", "3")) * again * x


def by_item_of_the_environment(x: float) -> float:
    return float(os.environ["GRADSCRIBE_TEST"]) * x


def by_modules(x: float) -> float:
    known = 2.0 if "gradscribe_test" in sys.modules else 1.0
    return len(sys.argv) * known * string.factor * x  # type: ignore[attr-defined, no-any-return]


def test_what_modules_of_python_hold_is_read_at_each_call(monkeypatch: Any) -> None:
    follows(by_environment, lambda: monkeypatch.setenv("GRADSCRIBE_TEST", "5"))
    follows(
        by_item_of_the_environment,
        lambda: monkeypatch.setenv("GRADSCRIBE_TEST", "7"),
        lambda: monkeypatch.setenv("GRADSCRIBE_TEST", "-1"),
    )
    monkeypatch.setattr(string, "factor", 2.0, raising=False)
    follows(
        by_modules,
        lambda: monkeypatch.setattr(sys, "argv", [*sys.argv, "more"]),
        lambda: sys.argv.append("yet more"),
        lambda: monkeypatch.setitem(sys.modules, "gradscribe_test", sys),
        lambda: monkeypatch.setattr(string, "factor", 5.0),
    )


class Lazy:
    def __init__(self) -> None:
        self.w = 1.0

    @functools.cached_property
    def twice(self) -> float:
        return self.w * 2


LAZY = Lazy()


def with_cached_property(x: float) -> float:
    found = LAZY.twice * x
    LAZY.w = LAZY.w + 9.0
    return found


def test_a_cached_property_of_an_object_from_outside_is_stored_in_it() -> None:
    gradient = gs.grad(with_cached_property)
    assert [gradient(X), gradient(X)] == [2.0, 2.0]
    assert vars(LAZY) == {"w": 19.0, "twice": 2.0}


FLAGS = sys.flags


def test_named_items_of_structures_of_c_are_what_they_are() -> None:
    status = os.stat(os.curdir)

    def function(x: float) -> float:
        return x * status.st_nlink + (1.0 if FLAGS.optimize else x)

    assert gs.grad(function)(X) == status.st_nlink + (0.0 if FLAGS.optimize else 1.0)


@functools.singledispatch
def weight(kind: Any) -> float:
    return 1.0


def by_class(x: float) -> float:
    return weight(3) * x


def test_functions_that_are_registered_for_a_class() -> None:
    follows(
        by_class,
        lambda: weight.register(int, lambda kind: 4.0),
        lambda: weight.register(int, lambda kind: 5.0),
    )


def test_a_comparison_that_a_class_gets_later() -> None:
    class Kind:
        pass

    first, second = Kind(), Kind()

    def is_equal(x):
        return x[0] if first == second else x[1]

    def found(x):
        return x[0] * [second, first].index(first)

    x = np.array([0.5, 1.5])
    functions = (is_equal, found)
    gradients = [gs.grad(function) for function in functions]
    assert [gradient(x).tolist() for gradient in gradients] == [[0.0, 1.0], [1.0, 0.0]]
    Kind.__eq__ = lambda self, other: True
    assert [gradient(x).tolist() for gradient in gradients] == [[1.0, 0.0], [0.0, 0.0]]


def _right_operator():
    class Base:
        def __init__(self, v):
            self.v = v

        def __add__(self, other):
            return Base(self.v + other.v)

    class Derived(Base):
        pass

    def gains():
        Derived.__radd__ = lambda self, other: Base(self.v * other.v)

    return lambda x: (Base(x[0]) + Derived(x[1])).v, gains


def _property_of_a_local_object():
    class Held:
        def __init__(self, v):
            self.v = v

    def gains():
        Held.v = property(lambda self: 3.0, lambda self, v: None)

    return lambda x: Held(x[0]).v * x[1], gains


def _step_after_the_fields():
    @dataclasses.dataclass
    class Held:
        v: float

    def gains():
        Held.__post_init__ = lambda self: setattr(self, "v", 7.0)  # which nothing calls

    return lambda x: Held(x[0]).v, gains


def _answers_for_attributes():
    class Held:
        pass

    def gains():
        Held.__getattr__ = lambda self, name: 3.0

    held = Held()
    return lambda x: getattr(held, "v", 2.0) * (x[0] if hasattr(held, "w") else x[1]), gains


@pytest.mark.parametrize(
    "make",
    [
        _right_operator,
        _property_of_a_local_object,
        _step_after_the_fields,
        _answers_for_attributes,
    ],
)
def test_what_a_class_gets_later(make: Any) -> None:
    function, gains = make()
    x = np.array([0.5, 1.5])
    gradient = gs.value_and_grad(function)
    assert gradient(x)[0] == function(x)
    gains()
    assert gradient(x)[0] == function(x)


@pytest.mark.parametrize(
    "name", ["__getattr__", "__deepcopy__", "__reduce_ex__"], ids=lambda name: name.strip("_")
)
def test_what_a_class_gets_later_that_is_refused(name: str) -> None:
    class Held:
        def __init__(self, v):
            self.v = v

    held = Held([2.0])

    def function(x):
        return copy.deepcopy(held).v[0] * x[1]

    gradient = gs.value_and_grad(function)
    assert gradient(np.ones(2))[0] == 2.0
    setattr(Held, name, lambda self, *_: 3.0)
    with pytest.raises(UnsupportedError):
        gradient(np.ones(2))


def test_a_name_that_was_not_there() -> None:
    def function(x):
        try:
            return x[0] * defined_later
        except NameError:
            return x[1]

    x = np.array([0.5, 1.5])
    gradient = gs.grad(function)
    assert gradient(x).tolist() == [0.0, 1.0]
    globals()["defined_later"] = 5.0
    try:
        assert gradient(x).tolist() == [5.0, 0.0]
    finally:
        del globals()["defined_later"]


def test_the_places_of_a_pattern() -> None:
    class Point:
        __match_args__ = ("a", "b")

        def __init__(self, a, b):
            self.a, self.b = a, b

    def function(x):
        match Point(x[0], x[1]):
            case Point(q, r):
                return q * 2.0 + r

    gradient = gs.grad(function)
    assert gradient(np.ones(2)).tolist() == [2.0, 1.0]
    Point.__match_args__ = ("b", "a")
    assert gradient(np.ones(2)).tolist() == [1.0, 2.0]


class Device:
    def __init__(self):
        self.weights = np.ones(2)

    @property
    def parts(self):
        raise RuntimeError("it is not connected")


def test_of_other_objects_nothing_is_read_that_the_program_does_not_read():
    def of_parts(held):
        return lambda x: np.sum(held.parts.a * x) + np.sum(held.parts.b * x)

    def of_weights(held):
        return lambda x: np.sum(held.weights * x)

    def of_first(held):
        return lambda x: np.sum(held[0].a * x) + np.sum(held[0].b * x)

    def of_named(held):
        return lambda x: np.sum(held["weights"] * x)

    x, parts = np.ones(2), types.SimpleNamespace(a=np.ones(2), b=np.ones(2))
    for transform in (gs.jacfwd, gs.hessian, gs.grad):
        transform(of_parts(types.SimpleNamespace(parts=parts)))(x)
        transform(of_weights(Device()))(x)
        made = collections.defaultdict(lambda: np.ones(2), weights=np.ones(2))
        transform(of_first([parts]))(x)
        transform(of_named(made))(x)
        assert list(made) == ["weights"]
