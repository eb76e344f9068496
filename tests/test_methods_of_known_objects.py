"""Methods of the user's that a class, a module, a member of an enumeration or an object of a class
derived from `str` is asked by: they run at each call, as plain Python runs them, and not before."""

from __future__ import annotations

import abc
import collections.abc
import enum
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([1.0, 3.0])
STATE = [2.0]


class Registry(type):
    def __len__(cls) -> int:
        return int(STATE[0])

    def __bool__(cls) -> bool:
        return STATE[0] > 3

    def __getitem__(cls, key: Any) -> Any:
        return STATE[0]

    def __contains__(cls, key: Any) -> bool:
        return STATE[0] > 3

    def __eq__(cls, other: object) -> bool:
        return STATE[0] > 3

    __hash__ = type.__hash__

    def __lt__(cls, other: Any) -> bool:
        return STATE[0] > 3

    def __neg__(cls) -> float:
        return STATE[0]

    def __add__(cls, other: Any) -> float:
        return STATE[0]

    def __iter__(cls) -> Any:
        return iter([STATE[0]])

    def __str__(cls) -> str:
        return f"{STATE[0]:.0f}"

    def __getattr__(cls, name: str) -> float:
        return STATE[0]

    @property
    def computed(cls) -> float:
        return STATE[0]


class Registered(metaclass=Registry):
    pass


class Parametrized:
    def __class_getitem__(cls, key: Any) -> Any:
        return STATE[0]


class ClassProperty:
    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, owner: Any, cls: Any) -> Any:
        return self.function(cls)


class Described:
    @ClassProperty
    def computed(cls) -> float:
        return STATE[0]


class Colour(enum.Enum):
    RED = 1
    BLUE = 2

    @property
    def scale(self) -> float:
        return STATE[0] * self.value

    @classmethod
    def _missing_(cls, value: object) -> Colour:
        return cls.BLUE if STATE[0] > 3 else cls.RED

    def __bool__(self) -> bool:
        return STATE[0] > 3

    def __len__(self) -> int:
        return int(STATE[0])

    def __str__(self) -> str:
        return f"{STATE[0]:.0f}"

    def __lt__(self, other: Any) -> bool:
        return STATE[0] > 3


class Name(str):
    def __eq__(self, other: object) -> bool:
        return STATE[0] > 3

    __hash__ = str.__hash__

    def __len__(self) -> int:
        return int(STATE[0])

    def __getitem__(self, index: Any) -> str:
        return f"{STATE[0]:.0f}"

    def __iter__(self) -> Any:
        return iter(range(int(STATE[0])))

    def __add__(self, other: str) -> str:
        return f"{STATE[0]:.0f}"

    def __format__(self, form: str) -> str:
        return f"{STATE[0]:.0f}"


class Module(types.ModuleType):
    def __bool__(self) -> bool:
        return STATE[0] > 3

    def __getitem__(self, key: Any) -> float:
        return STATE[0]


NAME, MODULE, LAZY = Name("name"), Module("module"), types.ModuleType("lazy")
vars(LAZY)["__getattr__"] = lambda name: STATE[0]


def either(condition: Any, x: Any) -> Any:
    return np.sum(x**2) if condition else np.sum(x)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "len of a class": lambda x: np.sum(x) * len(Registered),
    "truth of a class": lambda x: either(Registered, x),
    "not of a class": lambda x: np.sum(x**2) if not Registered else np.sum(x),
    "item of a class": lambda x: np.sum(x) * Registered["a"],
    "in a class": lambda x: either(1 in Registered, x),
    "== of a class": lambda x: either(Registered == 1, x),
    "!= of a class": lambda x: either(Registered != 1, x),
    "< of a class": lambda x: either(Registered < 1, x),
    "- of a class": lambda x: np.sum(x) * -Registered,
    "+ of a class": lambda x: np.sum(x) * (Registered + 1),
    "loop over a class": lambda x: np.sum(x) * sum(Registered),
    "text of a class": lambda x: either(str(Registered) == "5", x),
    "f-string of a class": lambda x: either(f"{Registered}" == "5", x),
    "f-string of a class, converted": lambda x: either(f"{Registered!s:>2}" == " 5", x),
    "property of a class": lambda x: np.sum(x) * Registered.computed,
    "attribute that a class makes": lambda x: np.sum(x) * Registered.any_name,
    "descriptor of a class": lambda x: np.sum(x) * Described.computed,
    "class that takes parameters": lambda x: np.sum(x) * Parametrized[int],
    "property of a member": lambda x: np.sum(x) * Colour.RED.scale,
    "member for another value": lambda x: np.sum(x) * Colour(7).value,
    "truth of a member": lambda x: either(Colour.RED, x),
    "len of a member": lambda x: np.sum(x) * len(Colour.RED),
    "text of a member": lambda x: either(str(Colour.RED) == "5", x),
    "f-string of a member": lambda x: either(f"{Colour.RED}" == "5", x),
    "< of a member": lambda x: either(Colour.RED < 5, x),
    "percent of a member": lambda x: either("%s" % Colour.RED == "5", x),
    "percent of members": lambda x: either("%s-%s" % (Colour.RED, 1) == "5-1", x),
    "format of a member": lambda x: either("{}".format(Colour.RED) == "5", x),
    "any of members": lambda x: either(any([Colour.RED]), x),
    "all of members": lambda x: either(all([Colour.RED]), x),
    "min of members": lambda x: np.sum(x) * min(Colour.BLUE, Colour.RED).value,
    "max of members": lambda x: np.sum(x) * max([Colour.RED, Colour.BLUE]).value,
    "count of texts": lambda x: either(["b", "a"].count(NAME) == 2, x),
    "== of a text": lambda x: either(NAME == "a", x),
    "len of a text": lambda x: np.sum(x) * len(NAME),
    "item of a text": lambda x: either(NAME[0] == "5", x),
    "loop over a text": lambda x: sum(np.sum(x) for _ in NAME),
    "+ of a text": lambda x: either(NAME + "a" == "5", x),
    "f-string of a text": lambda x: either(f"{NAME}" == "5", x),
    "truth of a module": lambda x: either(MODULE, x),
    "item of a module": lambda x: np.sum(x) * MODULE[0],
    "attribute that a module makes": lambda x: np.sum(x) * LAZY.any_name,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_methods_of_known_objects_run_at_each_call(program: Any) -> None:
    for options in ({}, {"compile": "auto"}):
        STATE[0] = 2.0
        value_and_grad = gs.value_and_grad(program, **options)
        assert value_and_grad(X)[0] == program(X)
        STATE[0] = 5.0
        assert value_and_grad(X)[0] == program(X)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.sum(x) * sorted([Colour.RED, Colour.BLUE])[0].value,
        lambda x: np.sum(x) * Colour(1 + int(np.argmax(x))).value,
        lambda x: np.sum(x) * Colour(int(x[1])).value,
    ],
)
def test_what_is_not_known_of_members_is_right_or_refused(program: Any) -> None:
    STATE[0] = 2.0
    with pytest.raises(UnsupportedError):
        gs.grad(program)(X)
    assert gs.value_and_grad(program, compile=False)(X)[0] == program(X)


def test_what_is_read_of_a_class_runs_once_a_call() -> None:
    calls: list[str] = []

    class Noted(type):
        def __getattr__(cls, name: str) -> float:
            calls.append(name)
            return 1.0 * len(calls)

        @property
        def computed(cls) -> float:
            calls.append("computed")
            return 1.0 * len(calls)

    class Read(metaclass=Noted):
        pass

    value_and_grad = gs.value_and_grad(lambda x: np.sum(x) * Read.made * Read.computed)
    assert [value_and_grad(X)[0] for _ in range(2)] == [8.0, 48.0]
    assert calls == ["made", "computed"] * 2


def test_an_abstract_class_is_asked_again_which_classes_it_counts() -> None:
    class Kind(abc.ABC):
        pass

    class Pair:
        def __getitem__(self, index: int) -> float:
            return [1.0, 2.0][index]

        def __len__(self) -> int:
            return 2

    @functools.singledispatch
    def power(item: Any, x: Any) -> Any:
        return x * 1.0

    @power.register(Kind)
    def _(item: Any, x: Any) -> Any:
        return x**2

    pair = Pair()

    def by_pattern(x: Any) -> Any:
        match pair:
            case [first, _]:
                return np.sum(x) * first
            case _:
                return np.sum(x**2)

    dispatched = gs.value_and_grad(lambda x: np.sum(power(pair, x)))
    matched = gs.value_and_grad(by_pattern)
    assert (dispatched(X)[0], matched(X)[0]) == (4.0, 10.0)
    Kind.register(Pair)
    collections.abc.Sequence.register(Pair)
    assert dispatched(X)[0] == 10.0
    with pytest.raises(UnsupportedError, match="this pattern is given another object"):
        matched(X)
