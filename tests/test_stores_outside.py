"""What a differentiated function stores outside of its arguments happens once for each call of a
transform, with plain values, as if the function had been called; its arguments stay as they are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

X = np.array([1.0, 2.0, 3.0])
ONES = np.ones(3)

Transformed = Callable[[Callable[..., Any], Any], Any]


def _grad_in_grad(f: Callable[..., Any], mode: Any) -> Any:
    def inner(x: Any) -> Any:
        return np.sum(gs.grad(f)(x))

    return gs.grad(inner, compile=mode)(X)


def _grad_of_grad(f: Callable[..., Any], mode: Any) -> Any:
    def scaled(t: Any) -> Any:
        return f(X * t)

    return gs.grad(gs.grad(scaled), compile=mode)(1.0)


TRANSFORMS: dict[str, Transformed] = {
    "grad": lambda f, mode: gs.grad(f, compile=mode)(X),
    "value_and_grad": lambda f, mode: gs.value_and_grad(f, compile=mode)(X),
    "vjp": lambda f, mode: gs.vjp(f, X, compile=mode)[1](1.0),
    "jvp": lambda f, mode: gs.jvp(f, (X,), (ONES,), compile=mode),
    "hvp": lambda f, mode: gs.hvp(f, X, ONES, compile=mode),
    "jacrev": lambda f, mode: gs.jacrev(f, compile=mode)(X),
    "jacfwd": lambda f, mode: gs.jacfwd(f, compile=mode)(X),
    "hessian": lambda f, mode: gs.hessian(f, compile=mode)(X),
    "jvp of grad": lambda f, mode: gs.jvp(gs.grad(f), (X,), (ONES,), compile=mode),
    "vjp of grad": lambda f, mode: gs.vjp(gs.grad(f), X, compile=mode)[1](ONES),
    "grad in grad": _grad_in_grad,
    "grad of grad": _grad_of_grad,
}


class Model:
    count = 0

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.table: dict[str, Any] = {"latest": 0.0}
        self.sums: list[Any] = []

    def energy(self, x: np.ndarray) -> Any:
        self.count += 1
        self.twice = x * 2
        self.table["latest"] = x[0]
        self.table["all"] = (x, "text", [x[1:]])
        self.seen.append(x)
        for item in x:
            self.sums.append(item)
        return np.sum(x**3)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_stores_happen_once_in_every_mode(transform: str) -> None:
    plain = Model()
    plain.energy(X)
    for mode in (True, "auto", False):
        model = Model()
        TRANSFORMS[transform](model.energy, mode)
        assert texts(model) == texts(plain), mode


def texts(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: texts(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return list(map(texts, item))
    if isinstance(item, (np.ndarray, np.generic)):
        return type(item).__name__, item.tolist()
    return texts(vars(item)) if isinstance(item, Model) else item


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_arrays_from_outside_are_stored_to(transform: str) -> None:
    total, rows = np.ones(3), np.zeros((2, 3))

    def f(x: np.ndarray) -> Any:
        total[1:] += x[1:]
        np.multiply(x, 2.0, out=rows[1])
        return np.sum(x**3) + total[0] * 0.0

    TRANSFORMS[transform](f, True)
    assert total.tolist() == [1, 3, 4]
    assert rows.tolist() == [[0, 0, 0], [2, 4, 6]]


def test_a_value_that_is_stored_and_read_again_has_its_derivative() -> None:
    cache = {"square": 0.0}

    def f(x: float) -> float:
        cache["square"] = x**2
        return cache["square"] * x

    assert gs.value_and_grad(f)(2.0) == (8, 12)
    assert gs.grad(gs.grad(f))(3.0) == 18
    assert cache == {"square": 9.0}


def test_nothing_is_emitted_for_a_function_that_stores_to_its_arguments_alone() -> None:
    def f(x: np.ndarray, out: np.ndarray) -> Any:
        out[:] = x**2
        return np.sum(out)

    out = np.zeros(3)
    gradient = gs.grad(f)
    assert gradient(X, out).tolist() == [2, 4, 6]
    assert out.tolist() == [0, 0, 0]
    assert gradient.source == "def f_gradient(x, out, d_result=1.0):\n    return d_result * 2 * x\n"


@pytest.mark.parametrize("mode", [True, "auto", False])
def test_lists_dicts_and_arrays_that_are_arguments_never_change(mode: Any) -> None:
    def f(x: np.ndarray, items: list[Any], table: dict[str, Any], model: Model) -> Any:
        items.append(x[0])
        table["x"] = x
        x *= 2
        model.count += 1
        return np.sum(x)

    x, items, table, model = X.copy(), [0.0], {"x": 1.0}, Model()
    gs.grad(f, compile=mode)(x, items, table, model)
    assert (x.tolist(), items, table, model.count) == ([1, 2, 3], [0.0], {"x": 1.0}, 1)


@pytest.mark.parametrize("mode", [True, "auto", False])
def test_what_is_stored_shares_no_memory_with_arguments(mode: Any) -> None:
    seen: list[Any] = []

    def f(x: np.ndarray) -> Any:
        seen.append(x)
        seen.append(x[1:])
        x *= 2
        return np.sum(x)

    x = X.copy()
    gs.grad(f, compile=mode)(x)
    assert [item.tolist() for item in seen] == [[2, 4, 6], [4, 6]]
    assert not any(np.shares_memory(x, item) for item in seen)


def test_what_a_list_was_given_is_seen_in_it_as_it_is_in_the_end() -> None:
    seen: list[Any] = []

    def f(x: np.ndarray) -> Any:
        y = x * 1
        seen.append(y)
        y[0] = 7.0
        return np.sum(y)

    assert gs.grad(f)(X).tolist() == [0, 1, 1]
    assert seen[0].tolist() == [7, 2, 3]


@pytest.mark.parametrize("mode", [True, "auto", False])
def test_defaults_and_what_a_partial_holds_are_outside(mode: Any) -> None:
    def f(x: np.ndarray, kept: list[Any] = []) -> Any:
        kept.append(x[0])
        return np.sum(x)

    def g(held: list[Any], x: np.ndarray, named: dict[str, Any]) -> Any:
        held.append(x[0])
        named["x"] = x[1]
        return np.sum(x)

    held: list[Any] = []
    named: dict[str, Any] = {}
    gs.grad(f, compile=mode)(X)
    gs.grad(functools.partial(g, held, named=named), compile=mode)(X)
    assert f.__defaults__ == ([1.0],)
    assert (held, named) == ([1.0], {"x": 2.0})
    gs.grad(f, compile=mode)(X, held)
    gs.grad(g, argnums=1, compile=mode)(held, X, named)
    assert (held, named) == ([1.0], {"x": 2.0})


def test_an_argument_that_is_stored_to_under_its_outside_name_is_refused() -> None:
    total = np.ones(3)

    def f(x: np.ndarray) -> Any:
        total[0] = 5.0
        return np.sum(x * x)

    with pytest.raises(errors.AliasingError, match="shares memory with `x`"):
        gs.grad(f)(total)
    assert total.tolist() == [1, 1, 1]
    with pytest.raises(errors.AliasingError, match="under another name"):
        gs.grad(f, compile=False)(total)


def test_what_an_error_leaves_unfinished_is_not_stored() -> None:
    table: dict[str, Any] = {}

    def f(x: np.ndarray) -> Any:
        table["x"] = x[0]
        if x[0] > 2:
            raise ValueError("too much")
        return np.sum(x)

    gs.grad(f)(X)
    with pytest.raises(ValueError, match="too much"):
        gs.grad(f)(X * 5)
    assert table == {"x": 1.0}


def test_one_function_is_differentiated_by_way_of_partials_and_itself() -> None:
    def f(w: np.ndarray, x: np.ndarray) -> Any:
        return np.sum(w**2 * x)

    assert gs.grad(functools.partial(f, X))(ONES).tolist() == [1, 4, 9]
    assert gs.grad(f)(X, ONES).tolist() == [2, 4, 6]


def test_prints_and_stores_of_an_inner_transform_happen_once(capsys: Any) -> None:
    seen: list[Any] = []

    def f(x: np.ndarray) -> Any:
        print("running")
        seen.append(x[0])
        return np.sum(x**3)

    gs.hessian(f)(X)
    assert capsys.readouterr().out == "running\n"
    assert seen == [1.0]
