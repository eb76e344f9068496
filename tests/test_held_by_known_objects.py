"""What members of enumerations, fields, slices and other known objects hold is what it is at each
call: stores of the function itself, of C and of the user between calls are seen."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import struct
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([1.0, 2.0])

Program = tuple[Callable[[Any], Any], Callable[[], Any]]
"""A function, and what changes something of what it reads."""

PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[make.__name__] = make
    return make


def setting(owner: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(owner, name, value)


def members(**values: Any) -> Any:
    return enum.Enum("Members", values)  # type: ignore[misc]


# -- what members of enumerations hold -------------------------------------------------------------


@program
def length_of_a_list() -> Program:
    held = members(A=[1.0])
    return lambda x: np.sum(x**2) * len(held.A.value), lambda: held.A.value.append(1.0)


@program
def item_of_a_list_by_name() -> Program:
    held = members(A=[1.0])
    return lambda x: np.sum(x) * held["A"].value[0], lambda: held.A.value.insert(0, 5.0)


@program
def item_of_a_dict() -> Program:
    held = members(FAST={"rate": 0.1})
    return (
        lambda x: np.sum(x) * held.FAST.value["rate"],
        lambda: held.FAST.value.update(rate=0.3),
    )


@program
def array() -> Program:
    held = members(A=np.ones(2))
    return lambda x: np.sum(x * held.A.value), lambda: held.A.value.fill(4.0)


@program
def attribute_of_an_object() -> Program:
    held = members(A=types.SimpleNamespace(k=2.0))
    return lambda x: np.sum(x) * held.A.value.k, setting(held.A.value, "k", 5.0)


@program
def argument_of_a_partial() -> Program:
    # In lists: from 3.13 on an enumeration takes a bare partial for a method, not for a member.
    scale, power = functools.partial(np.multiply, 2.0), functools.partial(pow, exp=2.0)
    held = members(A=[scale], B=[power])

    def f(x: Any) -> Any:
        return np.sum(held.B.value[0](held.A.value[0](x)))

    return f, lambda: power.keywords.update(exp=3.0)


@program
def list_in_a_tuple() -> Program:
    held = members(A=(1, [1.0]))
    return lambda x: np.sum(x) * len(held.A.value[1]), lambda: held.A.value[1].append(1.0)


@program
def lists_of_all_members() -> Program:
    held = members(A=[1.0], B=[2.0, 3.0])

    def f(x: Any) -> Any:
        return np.sum(x) * sum(len(member.value) for member in held)

    return f, lambda: held.B.value.append(1.0)


@program
def list_by_way_of_the_table_of_members() -> Program:
    held = members(A=[1.0])

    def f(x: Any) -> Any:
        return np.sum(x) * len(held.__members__["A"].value) * len(held._member_map_["A"].value)

    return f, lambda: held.A.value.append(1.0)


@program
def list_of_a_default() -> Program:
    held = members(A=[1.0])

    def helper(x: Any, member: Any = held.A) -> Any:
        return x * len(member.value)

    return lambda x: np.sum(helper(x)), lambda: held.A.value.append(1.0)


@program
def value_of_a_member() -> Program:
    held = members(A=2.0, B="fast", C=(1.0, 2.0))

    def f(x: Any) -> Any:
        return np.sum(x) * held.A.value * held.C.value[1] * (2.0 if held.B.value == "fast" else 3.0)

    def change() -> None:
        held.A._value_, held.B._value_, held.C._value_ = 3.0, "slow", (1.0, 7.0)

    return f, change


@program
def list_of_a_member_that_is_an_integer() -> Program:
    class Held(enum.IntEnum):
        A = 2

        def __init__(self, number: int) -> None:
            self.items = [number]

    return lambda x: np.sum(x) * len(Held.A.items) * Held.A.value, lambda: Held.A.items.append(1)


# -- methods of their classes ----------------------------------------------------------------------


class Kinds(enum.Enum):
    A = 3.0

    def method(self) -> Any:
        return 2.0 * self.value

    @staticmethod
    def static() -> Any:
        return 2.0

    @classmethod
    def of_class(cls) -> Any:
        return cls.A.value

    @types.DynamicClassAttribute
    def computed(self) -> Any:
        return self.value + 1.0


class Flags(enum.Flag):
    A = 1
    B = 2

    def method(self) -> Any:
        return 2.0 * self.value


class Texts(str, enum.Enum):
    A = "ab"

    def method(self) -> Any:
        return 2.0 * len(self.value) * len(self.upper())


class Name(str):
    def method(self) -> Any:
        return 2.0 * len(self)


NAME = Name("abc")


@pytest.mark.parametrize(
    ("f", "cls", "name", "other"),
    [
        (lambda x: x[0] * Kinds.A.method(), Kinds, "method", lambda self: 5.0),
        (lambda x: x[0] * Kinds.A.static(), Kinds, "static", staticmethod(lambda: 5.0)),
        (lambda x: x[0] * Kinds.A.of_class(), Kinds, "of_class", classmethod(lambda cls: 5.0)),
        (
            lambda x: x[0] * Kinds.A.computed,
            Kinds,
            "computed",
            types.DynamicClassAttribute(lambda self: 9.0),
        ),
        (lambda x: x[0] * (Flags.A | Flags.B).method(), Flags, "method", lambda self: 5.0),
        (lambda x: x[0] * Texts.A.method(), Texts, "method", lambda self: 5.0),
        (lambda x: x[0] * NAME.method(), Name, "method", lambda self: 5.0),
    ],
)
def test_a_method_that_is_replaced(f: Any, cls: Any, name: str, other: Any) -> None:
    before = vars(cls)[name]
    gradient = gs.value_and_grad(f, compile=True)
    try:
        assert gradient(X)[0] == f(X)
        setattr(cls, name, other)
        assert gradient(X)[0] == f(X)
    finally:
        setattr(cls, name, before)
    assert gradient(X)[0] == f(X)


# -- defaults --------------------------------------------------------------------------------------


@program
def array_that_is_a_default() -> Program:
    given = np.ones(3)

    class Point(typing.NamedTuple):
        a: float
        w: Any = given

    return lambda x: x[0] * Point(1.0).w[1], lambda: given.fill(9.0)


@program
def list_that_is_a_default() -> Program:
    given = [1.0]
    pair = collections.namedtuple("pair", "a b", defaults=[given])
    return lambda x: x[0] * len(pair(1.0).b), lambda: given.append(1.0)


@program
def defaults_of_a_namedtuple() -> Program:
    pair = collections.namedtuple("pair", "a b", defaults=[2.0])
    return lambda x: x[0] * pair(1.0).b, setting(pair.__new__, "__defaults__", (7.0, 9.0))


@program
def defaults_of_a_dataclass() -> Program:
    @dataclasses.dataclass
    class Held:
        n: float = 2.0
        items: list[float] = dataclasses.field(default_factory=list)

    def f(x: Any) -> Any:
        return x[0] * Held().n * (1 + len(Held().items))

    return f, setting(Held.__init__, "__defaults__", (3.0, [1.0]))


@program
def default_of_a_field_that_is_no_parameter() -> Program:
    @dataclasses.dataclass
    class Held:
        a: float
        n: float = dataclasses.field(default=2.0, init=False)

    def f(x: Any) -> Any:
        held = Held(x[0])
        for _ in range(2):
            held.n = held.n * 2
        return held.n * held.a

    return f, setting(Held, "n", 7.0)


@program
def default_that_a_derived_class_has() -> Program:
    @dataclasses.dataclass
    class Base:
        n: float = dataclasses.field(default=2.0, init=False)

    class Held(Base):
        n = 3.0

    return lambda x: x[0] * Held().n, setting(Held, "n", 7.0)


# -- other known objects ---------------------------------------------------------------------------


@program
def metadata_of_a_field() -> Program:
    held, given = [1.0], {"unit": "m"}

    @dataclasses.dataclass
    class Held:
        n: float = dataclasses.field(default=2.0, metadata={"held": held})
        m: float = dataclasses.field(default=2.0, metadata=given)

    def f(x: Any) -> Any:
        first, second = dataclasses.fields(Held)
        factor = 2.0 if second.metadata["unit"] == "m" else 3.0
        return x[0] * len(first.metadata["held"]) * factor * len(second.metadata)

    def change() -> None:
        held.append(1.0)
        given.update(unit="s", name="time")

    return f, change


@program
def default_of_a_field() -> Program:
    @dataclasses.dataclass
    class Held:
        n: float = 2.0

    field: Any = dataclasses.fields(Held)[0]
    return lambda x: x[0] * dataclasses.fields(Held)[0].default, setting(field, "default", 5.0)


@program
def part_of_a_slice() -> Program:
    held = [1.0]
    part: Any = slice(held, None)
    return lambda x: x[0] * len(part.start), lambda: held.append(1.0)


@program
def attributes_of_a_function_that_remembers_its_results() -> Program:
    @functools.lru_cache
    def helper(x: Any) -> Any:
        return x

    helper.k, helper.items = 2.0, [1.0]  # type: ignore[attr-defined]

    def change() -> None:
        helper.k = 3.0  # type: ignore[attr-defined]
        helper.items.append(1.0)  # type: ignore[attr-defined]

    held: Any = helper
    return lambda x: x[0] * held.k * len(held.items), change


@program
def function_that_is_vectorized() -> Program:
    vectorized = np.vectorize(lambda t: t * 2)
    return lambda x: np.sum(vectorized(x)), setting(vectorized, "pyfunc", lambda t: t * 5)


@program
def function_of_a_cached_property() -> Program:
    class Held:
        @functools.cached_property
        def n(self) -> float:
            return 2.0

    return lambda x: x[0] * Held().n, setting(vars(Held)["n"], "func", lambda self: 7.0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_changed_between_calls(name: str) -> None:
    f, change = PROGRAMS[name]()
    gradient = gs.value_and_grad(f, compile=True)
    before = f(X)
    assert gradient(X)[0] == gradient(X)[0] == before
    change()
    assert gradient(X)[0] == f(X) != before
    np.testing.assert_array_equal(gradient(X)[1], gs.grad(f, compile=False)(X))


# -- stores of the function itself, and of C -------------------------------------------------------


def _storing() -> Iterator[Any]:
    held, arrays = members(A=[1.0], C=types.SimpleNamespace(k=2.0)), members(B=np.ones(2))
    given = np.ones(2)

    class Point(typing.NamedTuple):
        a: float
        w: Any = given

    pair = collections.namedtuple("pair", "a b", defaults=[[1.0]])

    def to_a_list(x: Any) -> Any:
        held.A.value.append(1.0)
        return np.sum(x) * len(held.A.value)

    def to_an_array(x: Any) -> Any:
        arrays.B.value[0] += 1.0
        return np.sum(x * arrays.B.value)

    def to_an_object(x: Any) -> Any:
        held.C.value.k += 1.0
        return np.sum(x) * held.C.value.k

    def to_a_default(x: Any) -> Any:
        pair(1.0).b.append(2.0)
        return np.sum(x) * len(pair(1.0).b)

    def to_a_default_by_c(x: Any) -> Any:
        struct.pack_into("d", given, 8, float(Point(1.0).w[1]) + 1.0)
        return x[0] * float(Point(1.0).w[1])

    yield from (to_a_list, to_an_array, to_an_object, to_a_default, to_a_default_by_c)


@pytest.mark.parametrize("number", range(5))
def test_stores_of_the_function_are_seen(number: int) -> None:
    plain, compiled = list(_storing())[number], list(_storing())[number]
    gradient = gs.value_and_grad(compiled, compile=True)
    for _ in range(3):
        assert gradient(X)[0] == plain(X)


def test_a_dict_that_is_changed_and_read_by_way_of_metadata() -> None:
    given = {"unit": "m"}

    @dataclasses.dataclass
    class Held:
        n: float = dataclasses.field(default=2.0, metadata=given)

    def f(x: Any) -> Any:
        given["unit"] = "s"
        return x[0] * (2.0 if dataclasses.fields(Held)[0].metadata["unit"] == "m" else 3.0)

    with pytest.raises(UnsupportedError, match="`metadata` from outside is both read and changed"):
        gs.grad(f, compile=True)(X)


def test_a_namedtuple_whose_constructor_is_replaced() -> None:
    pair = collections.namedtuple("pair", "a b", defaults=[2.0])
    gradient = gs.grad(lambda x: x[0] * pair(1.0).b, compile=True)
    assert gradient(X)[0] == 2.0
    pair.__new__ = lambda cls, a, b=7.0: tuple.__new__(cls, (a, b))  # type: ignore[method-assign,assignment]
    with pytest.raises(UnsupportedError, match="is a namedtuple with a `__new__` of its own"):
        gradient(X)


def test_values_that_stay_what_they_are_are_constants() -> None:
    pair = collections.namedtuple("pair", "a b")
    held = members(A=2.0, B=pair(3, 4), C=None)

    def f(x: Any) -> Any:
        return np.sum(x) * held.A.value * held.B.value.b * (held.C.value is None)

    gradient = gs.grad(f, compile=True)
    gradient(X)
    assert "8.0" in gradient.source
    assert "value" not in gradient.source.partition("#")[0]
