"""Handlers of calls: what they take is what Python's functions do, or less."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from gradscribe.frontend.state import handlers

X = np.array([1.0, 2.0, 3.0])
_OTHERS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _named(parameters: list[inspect.Parameter]) -> list[str]:
    return [p.name for p in parameters if p.kind not in _OTHERS]


def _of_python() -> list[tuple[Any, Any]]:
    """The handlers of functions of which Python tells what they take."""
    gs.grad
    found = []
    for callee, handler in handlers.entered().items():
        try:
            found.append((inspect.signature(callee), handler))
        except (TypeError, ValueError):
            continue
    return found


def test_names_that_a_call_may_use_are_those_of_python() -> None:
    wrong = []
    for signature, handler in _of_python():
        own = list(inspect.signature(handler).parameters.values())[2:]
        by_name = [p.name for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY]
        by_both = [p.name for p in own if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        python = _named(list(signature.parameters.values()))
        takes_any = any(p.kind in _OTHERS for p in signature.parameters.values())
        if not takes_any and not {*by_name, *by_both} <= {*python}:
            wrong.append((handler.__module__, handler.__qualname__, by_name, by_both, python))
    assert not wrong


def test_the_lowering_and_the_node_are_never_given_by_name() -> None:
    for _, handler in _of_python():
        first = list(inspect.signature(handler).parameters.values())[:2]
        takes_names = any(
            p.kind is inspect.Parameter.VAR_KEYWORD
            for p in inspect.signature(handler).parameters.values()
        )
        if takes_names:
            assert all(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in first), handler


def by_name(x):
    return np.sum(np.diag(v=x, k=1)) + np.shape(a=x)[0] * x[0] + np.size(a=x) * x[1]


def named_as_the_parameters_of_handlers(x):
    given = dict(node=x[0], lowering=x[1])
    return given["node"] * given["lowering"]


def deleted_together(x):
    a, items = 1.0, [x[0], x[1]]
    del (a, items[0])
    return items[0]


@pytest.mark.parametrize(
    "program", [by_name, named_as_the_parameters_of_handlers, deleted_together]
)
def test_calls_by_name_are_calls(program: Any) -> None:
    value, gradient = gs.value_and_grad(program)(X)
    assert value == program(X)
    steps = np.eye(3) * 1e-6
    differences = [(program(X + s) - program(X - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(gradient, differences, atol=1e-7)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: sum([x[0]], begin=1.0),
        lambda x: len(obj=x) * x[0],
        lambda x: list(zip(x, x, strictly=True))[0][0],
        lambda x: list(itertools.pairwise(iterable=x))[0][0],
        lambda x: {"a": x[0]}.get("a", default=1.0),
    ],
)
def test_what_python_does_not_take_raises_its_error(program: Any) -> None:
    with pytest.raises(TypeError):
        program(X)
    with pytest.raises(TypeError):
        gs.grad(program)(X)


def test_what_is_taken_by_python_alone_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"`fromiter` is given more than is supported"):
        gs.grad(lambda x: np.sum(np.fromiter((v for v in x), float, count=3)))(X)


def test_the_advice_says_how_to_call_a_method() -> None:
    with pytest.raises(UnsupportedError, match=r"call it as `index\(wanted\)`"):
        gs.grad(lambda x: x[0] * [1, 2, 1].index(1, 1))(X)
