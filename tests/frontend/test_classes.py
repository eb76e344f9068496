"""What Python itself makes of a class: comparisons of dataclasses, operators of namedtuples,
members of enumerations, attributes of functions."""

from __future__ import annotations

import enum
import functools
import typing
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import agrees

PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = []


def program(*args):
    def enter(function):
        PROGRAMS.append((function, args))
        return function

    return enter


@dataclass(order=True)
class Candidate:
    cost: float
    size: int = 0
    label: str = field(default="", compare=False)


@program(0.7)
def compared_dataclasses(x):
    first, second = Candidate(x, 1, "a"), Candidate(x, 2, "b")
    total = x if first < second else x * x
    if Candidate(x * 2, 1) >= first and first != second:
        total = total * 3
    return total * 2 if first == Candidate(x, 1, "c") else total


@program(0.7, 0.9)
def tuples_in_order(x, y):
    best = (x, y)
    if (y, x) > best:
        best = (y * 2, x)
    return best[0] * (best[1] if (x, 1.0) <= (x, y) else 1.0)


class Pair(typing.NamedTuple):
    a: float
    b: float = 2.0

    def __add__(self, other):
        return Pair(self.a + other.a, self.b + other.b)

    def __mul__(self, factor):
        return Pair(self.a * factor, self.b * factor)

    def __abs__(self):
        return self.a**2 + self.b**2

    def __call__(self, x):
        return self.a + self.b * x

    @classmethod
    def both(cls, a):
        return cls(a, a)


@program(0.7)
def operators_of_a_namedtuple(x):
    pair = (Pair(x) + Pair.both(x)) * x
    a, b = pair
    return a * b + abs(pair) + pair(x)


class Mode(enum.Enum):
    LINEAR = 1
    SQUARE = 2


class Power(enum.IntEnum):
    ONE = 1
    TWO = 2


@program(np.array([[0.5, 0.7, -0.2]]))
def enumerations(x):
    total = np.sum(x**Power.TWO, axis=Power.ONE)[0] + x[0, Power.TWO] * Power.TWO
    for mode in Mode:
        total = total + x[0, 0] ** mode.value * (3.0 if mode is Mode.SQUARE else 1.0)
    return total


def counted(function):
    @functools.wraps(function)
    def wrapper(*args):
        wrapper.calls += 1
        return function(*args)

    wrapper.calls = 0
    return wrapper


@counted
def cube(x):
    return x**3


@program(0.7)
def a_counting_decorator(x):
    return cube(x) + cube(2 * x) + cube(x * x)


@program(0.7)
def an_ordered_dict(x):
    table = OrderedDict(a=x)
    table["b"] = x * 2
    return sum(value * (i + 1) for i, value in enumerate(table.values()))


class Module:
    """Its children are in a list, and in what the subclass keeps of them."""

    def __init__(self):
        self.children = []
        self.training = True

    def add(self, child):
        self.children.append(child)
        return child

    def __call__(self, x):
        return self.forward(x)

    def eval(self):
        self.training = False
        for child in self.children:
            child.eval()


class Scale(Module):
    def __init__(self, w):
        super().__init__()
        self.w = w

    def forward(self, x):
        return np.tanh(x * self.w) if self.training else x * self.w


class Chain(Module):
    def __init__(self, weights):
        super().__init__()
        self.layers = [self.add(Scale(w)) for w in weights]
        self.first = self.layers[0]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.first.w


@program(np.array([0.5, -0.3]), 0.8)
def super_of_what_may_be_no_object_of_the_class(x, w):
    layer = Scale(w) if x[0] > 0 else [w]
    try:
        return np.sum(super(Scale, layer).__call__(x))
    except TypeError:
        return np.sum(x)


class Named(type):
    def weight(cls):
        return 2.0


class Counted(Named):
    def weight(cls):
        return super().weight() + 1.0


class Weighted(metaclass=Counted):
    pass


@program(np.array([0.5, -0.3]))
def super_in_a_metaclass(x):
    return np.sum(Weighted.weight() * x)


@program(np.array([0.5, -0.3]), 0.8)
def modules_that_share_their_children(x, w):
    model = Chain([w, 2.0 * w])
    trained = model(x)
    model.eval()
    return np.sum(trained * model(x))


class Member:
    """A node that knows its parent."""

    def __init__(self, value, parent=None):
        self.value, self.parent, self.below = value, parent, []
        if parent is not None:
            parent.below.append(self)

    def total(self):
        up = self.parent.value if self.parent is not None else 1.0
        return self.value * up + sum(member.total() for member in self.below)


@program(0.7)
def a_tree_whose_nodes_know_their_parents(x):
    root = Member(x)
    left, _ = Member(x * 2, root), Member(3.0, root)
    Member(x * x, left)
    return root.total()


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_program(function: Any, args: Any) -> None:
    agrees(function, *args)


def test_what_a_function_counts_a_gradient_counts_once():
    calls = cube.calls
    a_counting_decorator(0.5)
    counted = cube.calls - calls
    gs.grad(a_counting_decorator)(0.5)
    assert cube.calls == calls + 2 * counted


def test_a_metaclass_that_decides_is_not_asked_while_compiling():
    calls = []

    class Deciding(type):
        def __instancecheck__(cls, item):
            calls.append(item)
            return True

    class Decided(metaclass=Deciding):
        pass

    def function(x):
        return x[0] if isinstance(3, Decided) else x[1]

    with pytest.raises(UnsupportedError, match="decides itself what its instances are"):
        gs.grad(function)(np.ones(2))
    assert calls == []
