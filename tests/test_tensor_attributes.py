"""Calls with Tensors leave in the attributes of objects what plain Python leaves there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors


def leaf() -> Any:
    return gs.tensor([1.0, 2.0, 3.0], requires_grad=True)


class Counting:
    def __init__(self) -> None:
        self.calls = 0
        self.weight = 2.0
        self.seen: list[int] = []

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        self.last = x * self.weight
        self.seen.append(self.calls)
        return (x * self.calls).sum()


def test_a_counter_counts() -> None:
    counting = Counting()
    call = gs.differentiable(counting)
    assert [call(leaf()).item() for _ in range(3)] == [6.0, 12.0, 18.0]
    assert (counting.calls, counting.seen) == (3, [1, 2, 3])
    assert counting.last.tolist() == [2.0, 4.0, 6.0]


class Layer:
    def forward(self, x: Any) -> Any:
        self.given, self.z = x, np.tanh(x)
        self.sizes = (len(x), [self.z, 1.5])
        return self.z.sum()


def test_intermediate_results_belong_to_the_graph() -> None:
    layer, x = Layer(), leaf()
    gs.differentiable(layer.forward)(x)
    assert layer.given is x
    assert layer.sizes[0] == 3 and layer.sizes[1][1] == 1.5
    (layer.z * 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * (1 - np.tanh(x.tolist()) ** 2))


def test_transforms_store_plain_values_in_objects() -> None:
    layer, plain = Layer(), Layer()
    plain.forward(np.ones(3))
    gs.grad(layer.forward)(np.ones(3))
    np.testing.assert_equal(vars(layer), vars(plain))
    assert type(layer.z) is type(plain.z)


@dataclass
class Average:
    mean: Any
    count: int = 0


def running(x: Any, state: Average) -> Any:
    state.count += 1
    state.mean = 0.9 * state.mean + 0.1 * x.mean()
    return (x * state.mean).sum()


def test_an_object_among_the_arguments() -> None:
    state, plain = Average(1.0), Average(1.0)
    value = gs.differentiable(running)(leaf(), state)
    assert value.item() == running(np.array([1.0, 2.0, 3.0]), plain)
    assert (state.count, state.mean.item()) == (plain.count, plain.mean)


class Buffers:
    def __init__(self) -> None:
        self.a, self.b = np.zeros(3), np.ones(3)

    def step(self, x: Any) -> Any:
        self.a, self.b = self.b, self.a
        self.a[0] = 5
        return (x * self.a).sum()


def test_exchanged_buffers() -> None:
    buffers = Buffers()
    first, second = buffers.a, buffers.b
    gs.differentiable(buffers.step)(leaf())
    assert buffers.a is second and buffers.b is first
    assert second.tolist() == [5.0, 1.0, 1.0]


class Sometimes:
    def step(self, x: Any) -> Any:
        if x[0] > 0:
            self.positive = x
        return x.sum()


def test_what_is_there_on_some_paths_is_refused() -> None:
    with pytest.raises(errors.UnsupportedError, match="attribute `positive`"):
        gs.differentiable(Sometimes().step)(leaf())


class Always:
    def __init__(self) -> None:
        self.count, self.kept = 0, None

    def step(self, x: Any) -> Any:
        if x[0] > 0:
            self.count += 1
        self.kept = x * self.count
        return x.sum()


def test_what_is_there_on_all_paths_is_stored() -> None:
    always, step = Always(), gs.differentiable(Always.step)
    for first, count in ((1.0, 1), (-1.0, 1), (2.0, 2)):
        step(always, gs.tensor([first, 2.0], requires_grad=True))
        assert (always.count, always.kept.tolist()) == (count, [first * count, 2.0 * count])
