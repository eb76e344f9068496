"""`match`: what types decide is decided when compiling, values are compared at run time."""

from __future__ import annotations

import collections
import dataclasses
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees

x5 = np.linspace(0.5, 2.0, 5)
Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Circle:
    radius: float
    name: str = "circle"


@dataclasses.dataclass
class Box:
    width: float
    height: float


def by_rank(x):
    match x.ndim:
        case 1:
            return (x * x).sum()
        case _:
            return x.sum()


def by_value(x, n):
    match n:
        case 0 | 1:
            y = x * 2
        case k if k > 5:
            y = x * k
        case _:
            y = x * x
    return y.sum()


def by_class(x, shape):
    match shape:
        case Circle(radius=r):
            return r * r * x.sum()
        case Box(a, b):
            return a * b * x.sum()


def by_string(x, mode):
    match mode:
        case "sin":
            f = np.sin
        case "cos" | "kos":
            f = np.cos
        case None:
            f = np.tanh
        case _:
            raise ValueError(mode)
    return f(x).sum()


def by_mapping(x, settings):
    match settings:
        case {"scale": s, "kind": "mul", **rest}:
            return (x * s).sum() + rest["shift"]
        case {"scale": s}:
            return (x / s).sum()


def by_structure(p):
    match p:
        case Point(x=5.0, y=y):
            return y
        case Point(x=x, y=y) if x > y:
            return x * x * y
        case (x, y):
            return x * y


def by_length(items):
    match items:
        case []:
            return 0.0
        case [a]:
            return a * a
        case [a, b] | [a, _, b]:
            return a * b
        case _:
            return items[0]


def by_tuple(pair):
    match pair:
        case (a, *rest) if len(rest) == 2:
            return a * rest[0] * rest[1]
        case [a, *_, z]:
            return a * z * z


def by_type(v):
    match v:
        case bool():
            return 0.0
        case int(n):
            return n * 1.0
        case float(f):
            return f * f
        case np.ndarray():
            return v.sum()


def leaving_a_loop(x, code):
    total = 0.0
    for i in range(4):
        match code % 3, i:
            case 0, _:
                total = total + x[i]
            case (1, 0):
                continue
            case (1, j) if j > 2:
                break
            case (a, b):
                total = total + x[i] * x[b] * a
    return total


def failed_pattern_binds_nothing(x, n):
    j = 2
    match n, n + 1:
        case (j, 7):
            x = x * 3
    return (x * j).sum()


def number_bound_by_a_guard(x):
    match x[0] * 2:
        case a if a > 10:
            return a
        case a if (b := a * x[1]) > 10:
            return b
        case a:
            return a * a


def parts_bound_by_a_guard(x):
    match (x[0] * 3, {"k": x[1] * 2, "r": Circle(x[2] * x[2])}):
        case [a, _] if a > 10:
            return a
        case [a, {"k": k, "r": Circle(r)}] as whole if k * r < 100:
            return a * k * r + whole[1]["k"] * whole[1]["r"].radius
        case [a, {"k": k}]:
            return a * k


def array_bound_by_guards_in_a_loop(x):
    total = 0.0
    for i in range(5):
        match x[i:] * x[i]:
            case v if v[0] > 3:
                total = total + v[0]
                break
            case v if len(v) > 2:
                v[0] = v[1] * v[2]
                total = total + (v * v).sum()
            case v as w:
                total = total + v[0] * w[-1]
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (number_bound_by_a_guard, (x5,)),
        (parts_bound_by_a_guard, (x5,)),
        (array_bound_by_guards_in_a_loop, (x5,)),
        (by_rank, (x5,)),
        (by_rank, (np.outer(x5, x5),)),
        *[(by_value, (x5, n)) for n in (0, 1, 3, 7)],
        (by_class, (x5, Circle(2.0))),
        (by_class, (x5, Box(2.0, 3.0))),
        *[(by_string, (x5, mode)) for mode in ("sin", "kos", None)],
        (by_mapping, (x5, {"scale": 2.0, "kind": "mul", "shift": 3.0})),
        (by_mapping, (x5, {"scale": 2.0})),
        (by_structure, (Point(5.0, 1.0),)),
        (by_structure, (Point(3.0, 1.0),)),
        (by_structure, (Point(1.0, 3.0),)),
        *[(by_length, ([1.5, 2.0, 4.0, 3.0][:n],)) for n in (1, 2, 3, 4)],
        (by_tuple, ((1.5, 2.0, 4.0),)),
        (by_tuple, ((1.5, 2.0),)),
        (by_type, (2.5,)),
        (by_type, (x5,)),
        *[(leaving_a_loop, (x5, code)) for code in (3, 4, 5)],
        *[(failed_pattern_binds_nothing, (x5, n)) for n in (5, 6)],
    ],
)
def test_match_means_what_python_says(function: Any, args: Any) -> None:
    at_equality = isinstance(args[0], Point) and args[0].x == 5.0
    agrees(function, *args, differences=not at_equality)


def test_cases_are_branches_in_the_emitted_code() -> None:
    source = gs.differentiable(by_value).specialize(x5, 3).forward_source
    assert source.splitlines()[1:8] == [
        "    branch = n == 0 or n == 1",
        "    if branch:",
        "        y = x * 2",
        "    elif n > 5:",
        "        y = x * n",
        "    else:",
        "        y = x * x",
    ]


def test_value_that_matches_no_string_pattern_raises_as_in_python() -> None:
    with pytest.raises(ValueError, match="tan"):
        gs.grad(by_string)(x5, "tan")


MIXED = [np.sin, 2.0]
NAMED = {"function": np.cos, "rate": 1.0}


def list_from_outside(x):
    match MIXED:
        case [function, rate]:
            return function(x[0]) * rate
    return x[1]


def dict_from_outside(x):
    match NAMED:
        case {"function": function}:
            return function(x[0])
    return x[1]


def keys_of_a_dict(x):
    match {"rate": x[1]}.keys():
        case [_]:
            return x[0]
    return x[2] * x[1]


@pytest.mark.parametrize("function", [list_from_outside, dict_from_outside, keys_of_a_dict])
def test_what_is_a_sequence_or_mapping(function: Any) -> None:
    agrees(function, x5)


@pytest.mark.parametrize(
    "made",
    [
        lambda x: range(2),
        lambda x: collections.deque([x[0], x[1]]),
        lambda x: collections.Counter(["a", "b"]),
        lambda x: {int(v): v for v in x},
    ],
)
def test_what_python_takes_apart_and_we_do_not_is_refused(made: Any) -> None:
    def taken_apart(x):
        match made(x):
            case [a, _]:
                return x[0] * a
            case {1: v}:
                return x[1] * v
        return x[2]

    with pytest.raises(
        gs.errors.UnsupportedError, match="than a list, tuple or dict of known keys"
    ):
        gs.grad(taken_apart)(x5)
