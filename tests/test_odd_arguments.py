"""Arguments that nobody means to give: what leaves is an error that says so, or Python's own."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

Pair = namedtuple("Pair", "a b")

LIST: list[Any] = [1.0]
LIST.append(LIST)
DICT: dict[str, Any] = {}
DICT["a"] = DICT
DEEP: list[Any] = [1.0]
for _ in range(3000):
    DEEP = [DEEP]


def itself(x):
    return x


def first(x):
    a, _ = x
    return a


@pytest.mark.parametrize("item", [LIST, DICT, DEEP], ids=["list", "dict", "deep"])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: gs.grad(itself)(x),
        lambda x: gs.vjp(itself, x),
        lambda x: gs.jvp(itself, (x,), (x,)),
        lambda x: gs.jacobian(itself)(x),
        lambda x: gs.hvp(itself, (x,), (x,)),
        lambda x: gs.grad(itself, compile=False)(x),
        lambda x: gs.grad(itself, compile="auto")(x),
        lambda x: gs.differentiable(itself)(x),
        lambda x: gs.stop_gradient(x),
    ],
)
def test_what_contains_itself_is_refused(call: Any, item: Any) -> None:
    with pytest.raises(gs.errors.ArgumentError, match="contains itself or is nested too deeply"):
        call(item)


def test_a_program_that_calls_itself_for_ever_raises_what_python_raises() -> None:
    def endless(x):
        return endless(x)

    with pytest.raises(RecursionError):
        gs.differentiable(endless)(1.0)


@pytest.mark.parametrize("compile", [True, False, "auto"])
def test_namedtuples_stay_namedtuples_in_results(compile: Any) -> None:
    out, pullback = gs.vjp(first, Pair(1.0, np.ones(3)), compile=compile)
    (gradient,) = pullback(out)
    assert gradient.a == 1.0
    np.testing.assert_array_equal(gradient.b, np.zeros(3))


def test_a_sum_over_no_rows_is_a_number() -> None:
    def program(x, t):
        return sum(x), t * 2.0

    number, _ = gs.differentiable(program)(np.zeros((0, 3)), gs.tensor(1.0, requires_grad=True))
    assert number == 0


def test_float_of_several_numbers_raises_as_in_python() -> None:
    with pytest.raises(TypeError, match="can be converted to Python scalars"):
        gs.grad(lambda x: float(x), compile=False)(np.ones(3))


def test_the_gradient_of_an_array_without_axes_has_a_hessian() -> None:
    def program(x):
        y = x
        y += 1.0
        return y * y

    assert gs.hvp(program, (np.array(1.5),), (np.array(1.0),)) == (2.0,)


def test_a_metaclass_gives_nothing_to_objects() -> None:
    class Meta(type):
        def size(cls):
            return 2.0

    class Model(metaclass=Meta):
        pass

    def program(x):
        model = Model()
        return x * x * (3.0 if hasattr(model, "size") else Model.size())

    assert gs.grad(program)(1.0) == 4.0
    with pytest.raises(AttributeError, match="has no attribute `size`"):
        gs.grad(lambda x: x * Model().size())(1.0)


def test_arrays_of_objects_are_handed_through_a_recorded_run() -> None:
    objects = np.array([1.0, 2.0], object)
    out, _ = gs.vjp(lambda x: {"a": x, "b": [x]}, objects, compile=False)
    assert out["b"][0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: gs.grad(np.sum, argnums=np.array([0, 1])),
        lambda x: gs.grad(np.sum, has_aux=[]),
        lambda x: gs.grad(np.sum, compile=np.array([0, 1])),
        lambda x: gs.grad(np.sum, jit=np.array([0, 1])),
        lambda x: gs.jacobian(np.sum, mode=np.array([0, 1])),
        lambda x: gs.vjp(1.5, x, compile=False),
        lambda x: gs.vjp(itself, x)[1](np.array(["a", "b", "c"])),
        lambda x: gs.primitive(itself, writes=3),
        lambda x: gs.primitive(itself, pure=np.zeros(2)),
    ],
)
def test_options_of_another_kind_are_refused(call: Any) -> None:
    with pytest.raises(gs.errors.ArgumentError):
        call(np.ones(3))
