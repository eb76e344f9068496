"""Random numbers, clocks, logs and opaque calls: they run once, in order, in the forward part."""

from __future__ import annotations

import contextlib
import logging
import math
import random
import threading
import time
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import NoDerivativeError, UnsupportedError
from tests.frontend.oracles import agrees

x5 = np.linspace(0.5, 2.0, 5)
GENERATOR = np.random.default_rng(3)
HISTORY: list[Any] = []
LOCK = threading.Lock()


def from_generator(x):
    rng = np.random.default_rng(0)
    z = rng.standard_normal((len(x), 3))
    return (x * rng.normal(size=5)).sum() + (x @ z).sum() + (x * rng.uniform(0, 1, x.shape)).sum()


def from_global_state(x):
    np.random.seed(1)
    u = np.random.randn(len(x))
    v = np.random.rand(2, 3)
    w = np.random.normal(0.0, 1.0, size=x.shape)
    return (x * u * w).sum() * v.sum() * np.random.randint(1, 5)


def from_random_module(x):
    random.seed(3)
    a = random.random() * random.uniform(1, 2)
    b = random.randint(1, 3)
    return (x * a * b).sum() * random.gauss(0, 1)


def in_branches_and_loops(x, n):
    rng = np.random.default_rng(4)
    s = 0.0
    for _ in range(n):
        j = rng.integers(0, len(x))
        e = rng.normal()
        if rng.random() < 0.5:
            s = s + x[j] * e * x[0]
        else:
            s = s + np.sin(x[j]) * rng.choice(5)
    return s


def dropout_and_permutations(x):
    rng = np.random.default_rng(4)
    p = rng.permutation(len(x))
    order = np.arange(len(x))
    rng.shuffle(order)
    mask = rng.random(x.shape) < 0.5
    return (x[p] * np.arange(5)).sum() + (x[order] * x).sum() + (x * mask / 0.5).sum()


def metropolis(x, n):
    rng = np.random.RandomState(0)
    at, energy = 0.0, 0.0
    for _ in range(n):
        proposed = at + 0.5 * rng.standard_normal()
        if np.log(rng.uniform()) < x[0] * (at * at - proposed * proposed):
            at = proposed
        energy = energy + x[0] * at * at
    return energy / n


def reparametrized(mean, spread):
    rng = np.random.default_rng(1)
    draws = mean + spread * rng.standard_normal(100)
    return np.maximum(draws - 1.0, 0.0).sum()


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (from_generator, (x5,)),
        (from_global_state, (x5,)),
        (from_random_module, (x5,)),
        (in_branches_and_loops, (x5, 6)),
        (dropout_and_permutations, (x5,)),
        (metropolis, (x5, 20)),
        (reparametrized, (0.5, 2.0)),
    ],
)
def test_draws_are_constants_of_the_run(function: Any, args: Any) -> None:
    agrees(function, *args)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.ones((5, 3))[:, 1],
        lambda: np.ones((5, 5)).T[1],
        lambda: np.ones(5, np.float32),
        lambda: np.ones(5, int),
    ],
    ids=["strided", "row of a transpose", "other numbers", "integers"],
)
def test_an_array_that_numpy_does_not_fill_is_not_filled(make: Any) -> None:
    def f(x):
        out = make()
        np.random.default_rng(1).standard_normal(out=out)
        return np.sum(out * x)

    with pytest.raises((ValueError, TypeError)) as plain:
        f(x5)
    with pytest.raises(type(plain.value), match=str(plain.value)):
        gs.grad(f)(x5)


def weighted(x, rng):
    return (x * rng.normal(size=x.shape)).sum()


def test_generator_argument_advances_once() -> None:
    rng, again = np.random.default_rng(9), np.random.default_rng(9)
    value, gradient = gs.value_and_grad(weighted)(x5, rng)
    assert value == weighted(x5, again)
    assert rng.normal() == again.normal()
    np.testing.assert_array_equal(gradient, np.random.default_rng(9).normal(size=5))


def with_global_generator(x):
    return (x * GENERATOR.normal(size=x.shape)).sum()


def test_captured_generator_is_the_caller_s() -> None:
    state = GENERATOR.bit_generator.state
    gradient = gs.grad(with_global_generator)(x5)
    GENERATOR.bit_generator.state = state
    np.testing.assert_array_equal(gradient, GENERATOR.normal(size=5))


def adjoint_reads_the_draws(x):
    rng = np.random.default_rng(0)
    return np.prod(x * rng.normal(size=5))


def test_adjoint_runs_any_number_of_times_without_drawing() -> None:
    compiled = gs.differentiable(adjoint_reads_the_draws).specialize(x5)
    assert "rng = " not in compiled.adjoint_source
    _, record = compiled.forward(x5)
    first, second = compiled.adjoint(record, 1.0), compiled.adjoint(record, 1.0)
    np.testing.assert_array_equal(first, second)


def located_draw(x):
    rng = np.random.default_rng(0)
    return (x * rng.normal(x, 1.0)).sum()


def drawn_item(x):
    return np.random.default_rng(0).choice(x) * 2


def test_derivative_through_a_draw_is_refused_with_advice() -> None:
    with pytest.raises(NoDerivativeError, match=r"loc \+ scale \* rng.normal"):
        gs.grad(located_draw)(x5)
    with pytest.raises(NoDerivativeError, match=r"x\[rng.permutation"):
        gs.jvp(drawn_item, (x5,), (x5,))


def draws_around_what_is_detached(x):
    rng = np.random.default_rng(0)
    return (x * rng.normal(gs.stop_gradient(x), 1.0)).sum()


def test_detached_parameters_of_a_draw_are_constants() -> None:
    expected = np.random.default_rng(0).normal(x5, 1.0)
    np.testing.assert_array_equal(gs.grad(draws_around_what_is_detached)(x5), expected)


# -- effects -----------------------------------------------------------------------------------


class Timer:
    def __init__(self, name):
        self.name = name
        self.runs = 0

    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.runs += 1


@contextlib.contextmanager
def section(name):
    print("begin", name)
    yield name
    print("end", name)


def sections(x, path):
    with section("A") as name:
        y = x * x
        print(f"in {name}:", y.sum())
    with open(path, "w") as file:
        file.write(str(y[0]))
    return y.sum()


def timed_by_object(x, timer):
    with timer as t:
        y = (x * x).sum()
    print(t.name, t.runs is None)
    return y


def test_user_s_managers_run_once_in_order(capsys: Any, tmp_path: Any) -> None:
    path = str(tmp_path / "log")
    expected = sections(x5, path)
    plain = capsys.readouterr().out
    value, gradient = gs.value_and_grad(sections)(x5, path)
    assert capsys.readouterr().out == plain
    assert value == expected
    assert open(path).read() == str(x5[0] ** 2)
    np.testing.assert_array_equal(gradient, 2 * x5)


def test_manager_given_as_argument_is_entered(capsys: Any) -> None:
    timer = Timer("t")
    gs.grad(timed_by_object)(x5, timer)
    assert timer.runs == 1
    assert capsys.readouterr().out == "t False\n"
    source = gs.differentiable(timed_by_object).specialize(x5, timer).forward_source
    assert '    y = (x * x).sum()\n    print("t", False)\n' in source


def logs(x, n):
    s = 0.0
    for i in range(n):
        s = s + (x * x).sum() * i
        HISTORY.append(float(s))
        logging.getLogger("test").debug("step %d: %s", i, s)
    return s


class Model:
    def __init__(self):
        self.trace = [0.0]

    def __call__(self, x):
        y = (x * x).sum()
        self.trace.append(y)
        return y


MODEL = Model()


def model_twice(x):
    return MODEL(x) * MODEL(2 * x)


def test_lists_outside_that_are_only_added_to_are_logs() -> None:
    HISTORY.clear()
    agrees(logs, x5, 3)
    HISTORY.clear()
    value, _ = gs.value_and_grad(logs)(x5, 3)
    assert len(HISTORY) == 3
    assert value == HISTORY[-1]
    agrees(model_twice, x5)
    MODEL.trace.clear()
    gs.grad(model_twice)(x5)
    assert MODEL.trace == [(x5 * x5).sum(), (2 * x5 * (2 * x5)).sum()]


def reads_its_log(x):
    s = (x * x).sum()
    HISTORY.append(s)
    return helper(s)


def helper(s):
    return s * len(HISTORY)


def test_log_that_is_read_by_a_helper_is_refused() -> None:
    HISTORY[:] = [1.0]
    with pytest.raises(UnsupportedError, match="`HISTORY` from outside is both read and changed"):
        gs.grad(reads_its_log)(x5)


def library_calls(x, n):
    nodes, weights = np.polynomial.legendre.leggauss(n)
    total = 0.0
    for i in range(n):
        total = total + weights[i] * np.exp(nodes[i] * x[0])
    return total * math.comb(n, 2) * math.factorial(n)


def test_library_functions_of_integers_are_typed_by_trial() -> None:
    agrees(library_calls, x5, 4)


def opaque_number(x, text):
    scale = float(str(text).strip())
    return x.sum() * scale


def unconverted(x):
    return x.sum() * time.strftime("%S")


def test_opaque_values_are_converted_before_they_are_computed_with() -> None:
    agrees(opaque_number, x5, " 2.5 ")
    with pytest.raises(UnsupportedError, match="whose type is not known") as refused:
        gs.grad(unconverted)(x5)
    assert "convert a number where it is made, as in `float(…)`" in str(refused.value)


def one_of_numbers(x):
    chosen = random.Random(1).choice([x[0], 2])
    return chosen * x[1]


def one_of_two_classes(x):
    chosen = random.Random(1).choice([True, 2])
    first = x[0] if chosen is True else 3 * x[0]
    return first + (x[1] if isinstance(chosen, bool) else 5 * x[1])


def one_of_lists(x):
    generator, total = random.Random(2), 0.0
    for _ in range(4):
        total += sum(generator.choice([[x[0], 1.0], [x[1], 2.0]])) * generator.choice((1.0, 2.5))
    return total + generator.random()


def one_of_known_texts(x):
    random.seed(4)
    return x[0] if random.choice(["a", "b"]) == "a" else x[1]


@pytest.mark.parametrize(
    "function", [one_of_numbers, one_of_two_classes, one_of_lists, one_of_known_texts]
)
def test_what_python_chooses_is_one_of_the_items(function: Any) -> None:
    agrees(function, x5)
