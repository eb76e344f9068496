"""Classes that a compiled function defines."""

from __future__ import annotations

import abc
import enum
import functools
import math
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import check


def methods(x):
    class Point:
        scale = 2.0
        weights = (1.0, 3.0)

        def __init__(self, a):
            self.a = a

        def squared(self):
            return self.a * self.a * x + self.scale * Point.weights[1]

    return Point(x).squared() + Point(2 * x).squared()


def accessors(x):
    class Box:
        @staticmethod
        def square(v):
            return v * v

        @classmethod
        def holding(cls, v):
            box = cls()
            box.v = v
            return box

        @property
        def double(self):
            return self.v * 2

        @double.setter
        def double(self, v):
            self.v = v / 2

        @functools.cached_property
        def cube(self):
            return self.v**3

    box = Box.holding(x)
    box.double = 6 * x
    return box.double + Box.square(x) + box.cube + box.cube


def operators(x):
    class Vector:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __add__(self, other):
            return Vector(self.a + other.a, self.b + other.b)

        def __mul__(self, factor):
            return Vector(self.a * factor, self.b * factor)

        __rmul__ = __mul__

        def __iter__(self):
            return iter((self.a, self.b))

    a, b = 2 * Vector(x, 1.0) + Vector(1.0, x)
    return a * b


def dataclasses_and_their_fields(x):
    @dataclass(frozen=True)
    class State:
        a: float
        b: float = 3.0
        items: list = field(default_factory=list)
        pair: list = field(default_factory=lambda: [1.0, 2.0])
        factor: ClassVar[float] = 4.0

        def value(self):
            return self.a * self.b + len(self.items) + self.pair[1] * self.factor

    state = State(x)
    return state.value() + replace(state, b=x).value()


def what_follows_init(x):
    @dataclass
    class Scaled:
        a: float
        product: float = field(init=False)

        def __post_init__(self):
            self.product = self.a * x

    return Scaled(x).product


def inheritance(x):
    class Base(abc.ABC):
        def __init__(self, a):
            self.a = a

        @abc.abstractmethod
        def f(self): ...

        def twice(self):
            return self.f() * 2

    class Middle(Base):
        def __init__(self, a, b):
            super().__init__(a)
            self.b = b

        def f(self):
            return self.a * self.b

    class Last(Middle):
        def f(self):
            return super().f() + 1

    return Last(x, 2 * x).twice()


def enumerations(x):
    class Kind(enum.Enum):
        FIRST = enum.auto()
        SECOND = enum.auto()

    total = 0.0
    for kind in Kind:
        total += x if kind is Kind.FIRST else x * x
    return total * Kind.SECOND.value


def named_tuples(x):
    Pair = namedtuple("Pair", "a b")
    Point = namedtuple("Point", ["a", "b"], defaults=[2.0])

    class Typed(NamedTuple):
        a: float
        b: float = 3.0

        def product(self):
            return self.a * self.b

    total = Typed(x).product() + Point(x).b * len(Pair(1.0, 2.0))
    for k in range(3):
        pair = Pair(x * k, b=x + k)
        total += pair.a * pair._replace(b=x).b
    return total


def one_in_each_iteration(x):
    total = 0.0
    for k in range(3):

        class Times:
            def of(self, t):
                return t * k

        total += Times().of(x)
    return total


def one_on_each_path(x):
    if x > 1:

        class Square:
            def of(self):
                return x * x
    else:

        class Square:
            def of(self):
                return x

    return Square().of()


def called_objects(x):
    class Layer:
        def __init__(self, w):
            self.w = w

        def __call__(self, h):
            return math.tanh(self.w * h)

    h = x
    for layer in [Layer(x), Layer(0.5), Layer(x * x)]:
        h = layer(h)
    return h


def recursion(x):
    class Terms:
        def __init__(self, a):
            self.a = a

        def product(self, k):
            return self.a if k == 0 else k * self.product(k - 1)

    def total(k, a):
        return 0.0 if k == 0 else Terms(a).product(k) + total(k - 1, a)

    return total(3, x)


def private_names(x):
    class Hidden:
        def __init__(self, v):
            self.__v = v

        def value(self):
            return self.__v**2

    return Hidden(x).value()


def names_of_its_own(x):
    n, s = 0, 2.0

    class Counter:
        n = 5
        s = 3.0

        def count(self):
            nonlocal n
            n += 1
            return self.n * self.s + s

    counter = Counter()
    return counter.count() * x + counter.count() + n * x


def exceptions(x):
    class BadValueError(Exception):
        pass

    try:
        if x > 1:
            raise BadValueError
        y = x
    except BadValueError:
        y = x * x
    return y


PROGRAMS = [
    methods,
    accessors,
    operators,
    dataclasses_and_their_fields,
    what_follows_init,
    inheritance,
    enumerations,
    named_tuples,
    one_in_each_iteration,
    one_on_each_path,
    called_objects,
    recursion,
    private_names,
    names_of_its_own,
    exceptions,
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_a_class_means_what_it_says(function) -> None:
    check(function, 1.5)


REGISTRY: list[str] = []
COUNT = 2.0


class Registers:
    def __init_subclass__(cls):
        REGISTRY.append(cls.__name__)


class Reads:
    def __init_subclass__(cls):
        cls.count = COUNT


class Registering(type):
    def __init__(cls, name, bases, items):
        super().__init__(name, bases, items)
        REGISTRY.append(name)


class Configured:
    def __init_subclass__(cls, scale=1.0, **options):
        super().__init_subclass__(**options)
        cls.scale = float(scale)


def registered(x):
    class Part(Registers):
        weight = 2.0

    return len(REGISTRY) * Part.weight * x


def reading(x):
    class Part(Reads):
        pass

    return Part.count * x


def of_a_metaclass(x):
    class Part(metaclass=Registering):
        weight = 2.0

    return len(REGISTRY) * Part.weight * x


def called_metaclass(x):
    Registering("Part", (), {})
    return len(REGISTRY) * x


@pytest.mark.parametrize("f", [registered, reading, of_a_metaclass, called_metaclass])
def test_code_that_runs_where_a_class_is_made_is_refused(f):
    for run in (
        lambda: gs.value_and_grad(f)(2.0),
        lambda: gs.jvp(f, (2.0,), (1.0,)),
        lambda: gs.differentiable(f)(gs.tensor(2.0, requires_grad=True)),
    ):
        with pytest.raises(UnsupportedError, match=r"making this class runs|both read and changed"):
            run()
    assert not REGISTRY


def test_code_that_sets_the_class_alone_runs():
    def f(x):
        class Part(Configured, scale=3):
            def of(self, x):
                return self.scale * x**2

        return Part().of(x)

    check(f, 2.0)


def named_locally(x):
    def inside():
        class Part:
            def of(self):
                class Inner:
                    pass

                return Inner

        return Part

    class Kind(enum.Enum):
        ONE = 1

    names = [cls.__qualname__ for cls in (inside(), inside()().of(), Kind)]
    SEEN.append(names)
    return x * len("".join(names)) * len(Kind.__qualname__)


SEEN: list[list[str]] = []


def test_a_class_has_the_name_that_python_gives_it():
    SEEN.clear()
    expected = named_locally(2.0)
    assert gs.value_and_grad(named_locally)(2.0) == (expected, expected / 2)
    assert SEEN[0] == SEEN[1]
