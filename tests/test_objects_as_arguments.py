"""Dataclasses of any kind are arguments that are differentiated; other objects with numbers in them
are refused where nothing would be given for them."""

from __future__ import annotations

import collections
import functools
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import ArgumentError, UnsupportedError

V = np.array([0.3, -0.8])
MODES: list[dict[str, Any]] = [{}, {"compile": "auto"}, {"compile": False}]


@dataclass
class Normalized:
    v: np.ndarray

    def __post_init__(self):
        self.v = self.v / np.sum(self.v)


@dataclass
class Late:
    v: np.ndarray
    w: float = field(init=False, default=3.0)


@dataclass(init=False)
class Tripled:
    v: np.ndarray

    def __init__(self, v):
        self.v = v * 3


@dataclass
class Squares:
    v: np.ndarray

    def __post_init__(self):
        self.squares = self.v**2


@dataclass
class Problem(Exception):
    v: np.ndarray


class Slotted:
    __slots__ = "value"

    def __init__(self):
        self.value = V.copy()

    def __call__(self):
        return self.value


class Options:
    def __init__(self):
        self.v = V.copy()


def loss(item):
    return np.sum(item.v**2)


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("cls", [Normalized, Late, Tripled, Problem])
def test_gradients_of_dataclasses_are_as_they_stand(cls: Any, options: Any) -> None:
    item = cls(V)
    expected = 2 * item.v
    np.testing.assert_allclose(gs.grad(loss, **options)(item).v, expected)
    value, along = gs.jvp(loss, (item,), (item,), **options)
    assert value == pytest.approx(loss(item))
    assert along == pytest.approx(expected @ item.v)
    np.testing.assert_allclose(gs.vjp(loss, item, **options)[1](1.0)[0].v, expected)
    np.testing.assert_allclose(gs.hvp(loss, (item,), (item,), **options)[0].v, 2 * item.v)


def test_a_recorded_run_knows_attributes_that_are_no_fields() -> None:
    item = Squares(V)
    found = gs.grad(lambda item: np.sum(item.v * item.squares), compile=False)(item)
    np.testing.assert_allclose(found.v, item.squares)


OBJECTS = {
    "object": (Options(), loss),
    "callable": (Slotted(), lambda item: np.sum(item.value**2)),
    "namespace": (types.SimpleNamespace(v=V), loss),
    "deque": (collections.deque([V]), lambda d: np.sum(d[0] ** 2)),
    "mapping": (types.MappingProxyType({"v": V}), lambda d: np.sum(d["v"] ** 2)),
}


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize(("item", "function"), OBJECTS.values(), ids=OBJECTS)
def test_objects_with_numbers_have_no_derivative(item: Any, function: Any, options: Any) -> None:
    told = "in which there are numbers that are not differentiated"
    with pytest.raises(ArgumentError, match=told):
        gs.jvp(function, (item,), (item,), **options)
    with pytest.raises(ArgumentError, match=told):
        gs.hvp(function, (item,), (item,), **options)
    assert gs.vjp(function, item, **options)[1](1.0) == (None,)


@pytest.mark.parametrize("options", MODES, ids=str)
def test_objects_by_which_nobody_differentiates_are_no_matter(options: Any) -> None:
    def scaled(v, item):
        return np.sum(v * item.v)

    item, names = Options(), types.SimpleNamespace(kind="a", count=3)
    _, along = gs.jvp(scaled, (V, item), (np.ones(2), None), **options)
    assert along == pytest.approx(np.sum(item.v))
    d_v, _ = gs.vjp(lambda v, names: np.sum(v) * names.count, V, names, **options)[1](1.0)
    np.testing.assert_array_equal(d_v, [3.0, 3.0])


def test_tangents_of_dicts_are_dicts_of_any_class() -> None:
    given = collections.OrderedDict(a=V, b=2 * V)
    tangent = dict(reversed(given.items()))
    found = gs.jvp(lambda d: np.sum(d["a"] * d["b"]), (given,), (tangent,))[1]
    assert found == pytest.approx(4 * V @ V)


@dataclass
class Derived:
    """Holds what it has made of its fields."""

    k: float = 1.0

    def __post_init__(self):
        self.square = self.k**2
        self.name = "derived"

    @functools.cached_property
    def cube(self):
        return self.k**3


def test_what_an_argument_holds_besides_its_fields_is_not_taken_for_missing() -> None:
    def by_square(p, x):
        return p.square * x

    def by_default(p, x):
        return getattr(p, "square", 1.0) * x

    for function in (by_square, by_default):
        with pytest.raises(UnsupportedError, match="`square` is no field of `Derived`"):
            gs.grad(function)(Derived(2.0), 3.0)
        assert gs.grad(function, 1, compile="auto")(Derived(2.0), 3.0) == 4.0
    p, without = Derived(2.0), Derived(2.0)
    del without.square
    compiled = gs.grad(by_default, 1)
    assert compiled(without, 3.0) == 1.0
    with pytest.raises(UnsupportedError):
        compiled(p, 3.0)


@pytest.mark.parametrize("options", [{}, {"compile": False}, {"compile": "auto"}], ids=str)
def test_what_an_argument_has_kept_of_a_property_is_computed_again(options) -> None:
    def by_cube(p, x):
        return p.cube * x

    p = Derived(2.0)
    for _ in range(2):
        assert gs.grad(by_cube, **options)(p, 3.0).k == 36.0
        assert p.cube == 8.0  # which is kept in the object
