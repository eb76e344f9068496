"""`gs.trace` and `grad_fn.run()`: what one run did."""

import random

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike


@gs.differentiable
def mixed(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 0:
            total = total + np.sin(x[i])
        else:
            total = total - 1
    while total > 1:
        total = total / 2
    return total


def test_the_run_of_a_compiled_node_prints_branches_and_iterations():
    y = mixed(gs.tensor([1.0, 2.0, -0.5], requires_grad=True), 3)
    assert str(y.grad_fn.run()) == (
        "run of mixed\n"
        "total = 0.0                               float\n"
        "for i in range(n):                        3 iterations\n"
        "    iterations 1 to 2\n"
        "        t = x[i]                          float64\n"
        "        if t > 0:                         taken\n"
        "            total = total + np.sin(t)     float64\n"
        "    iteration 3\n"
        "        t = x[i]                          float64\n"
        "        if t > 0:                         not taken\n"
        "        else:\n"
        "            total -= 1                    float64\n"
        "while total > 1:                          0 iterations\n"
        "return total                              float64"
    ).replace("total = total + np.sin(t) ", "total += np.sin(t)        ")
    assert y.grad_fn.run().loops[0].iterations == 3


def test_trace_runs_a_function_once():
    graph = gs.trace(mixed, np.array([3.0, 1.0]), 2)
    assert [branch.taken for branch in graph.branches] == [True, True]
    assert [(loop.text, loop.iterations) for loop in graph.loops] == [
        ("for i in range(n):", 2),
        ("while total > 1:", 0),
    ]
    assert graph.operations[-1] == "return total"


def test_a_trace_can_be_drawn():
    def product(x, y):
        z = np.sin(x)
        w = np.cos(z)
        return w * y * z

    text = gs.trace(product, 2.0, 3.0).to_dot()
    assert text.startswith('digraph "product" {')
    assert 'label="z = np.sin(x)' in text
    assert '-> n1 [label="z"]' in text


def test_a_trace_follows_recursive_calls():
    def countdown(x, n):
        if n == 0:
            return x
        return countdown(x * 2, n - 1)

    graph = gs.trace(countdown, 1.0, 2)
    assert [branch.taken for branch in graph.branches] == [False, False, True]


def test_a_trace_changes_nothing():
    def clear(x):
        x[0] = 0.0
        return np.sum(x)

    x = np.ones(2)
    gs.trace(clear, x)
    assert x.tolist() == [1, 1]


def test_a_node_without_a_run_says_so():
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.raises(TypeError, match="MulBackward0 is not the node of a compiled function"):
        (x * 2).grad_fn.run()
    (gradient,) = gs.autograd.grad(mixed(x, 3), x, create_graph=True)
    with pytest.raises(TypeError, match="MixedBackwardBackward0 is not the node of a compiled"):
        gradient.grad_fn.run()


@pytest.mark.parametrize("length", [3, 3000])
def test_a_run_can_be_shown_after_backward(length):
    x = gs.ones(length, requires_grad=True)
    y = mixed(x, 3)
    before = str(y.grad_fn.run())
    y.backward()
    assert str(y.grad_fn.run()) == before


def test_a_backward_frees_large_arguments_that_are_in_use_nowhere_else():
    y = mixed(gs.ones(3000, requires_grad=True) * 2, 3)
    y.backward()
    with pytest.raises(RuntimeError, match="argument 0 of the call was freed by the backward"):
        y.grad_fn.run()


@pytest.mark.parametrize("is_freed", [False, True])
def test_a_run_after_a_change_in_place_is_refused(is_freed):
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = mixed(x, 3)
    if is_freed:
        y.backward()
    with gs.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="argument 0 has been modified by an inplace operation"):
        y.grad_fn.run()


def test_what_a_recursive_call_did_stands_below_the_statement_that_calls():
    def power(x, n):
        if n == 0:
            return 1.0
        return x * power(x, n - 1)

    run = str(gs.trace(lambda x: power(x, 2) + 1.0, 3.0))
    lines = [line.rstrip() for line in run.splitlines()]
    depths = [(len(line) - len(line.lstrip())) // 4 for line in lines if "power_1(" in line]
    assert depths == [0, 2, 4]
    assert [line.split("  ")[-1].strip() for line in lines if "power_1(" in line] == ["float"] * 3


def test_conditional_expressions_are_branches():
    def signed(x):
        total = 0.0
        for i in range(3):
            total = total + (x if i < 1 else -x)
        return total

    graph = gs.trace(signed, 2.0)
    assert [branch.taken for branch in graph.branches] == [True, False, False]
    assert "        ... if i < 1 else ...:            taken\n" in str(graph)
    assert "    iterations 2 to 3\n" in str(graph)


class Noisy:
    def __init__(self, generator):
        self.draw = generator

    @gs.differentiable
    def __call__(self, x):
        if self.draw.uniform(0.0, 1.0) < 0.5:
            return x * 2
        return x * 3


@gs.differentiable
def noisy(x):
    return x * 2 if np.random.rand() < 0.5 else x * 3


@gs.differentiable
def noisy_by_the_package(xs):
    return xs[0] * 2 if gs.rand(()).item() < 0.5 else xs[0] * 3


@pytest.mark.parametrize(
    ("function", "state"),
    [
        (noisy, np.random.get_state),
        (Noisy(generator := np.random.default_rng(0)), lambda: generator.bit_generator.state),
        (Noisy(python := random.Random(0)), python.getstate),
        (lambda x: noisy_by_the_package([x]), torchlike.get_rng_state),
    ],
    ids=["numpy.random", "Generator", "random.Random", "gradscribe"],
)
def test_a_run_is_shown_with_the_random_numbers_of_the_call_and_uses_none_up(function, state):
    x = gs.tensor(1.0, requires_grad=True)
    for _ in range(10):
        y = function(x)
        before = str(state())
        assert y.grad_fn.run().branches[0].taken == (y.item() == 2)
        assert str(state()) == before


def test_a_run_prints_nothing_and_names_functions_of_numpy_as_the_user_does(capsys):
    def told(x):
        print("told")
        return x * np.random.rand()

    y = gs.differentiable(told)(gs.tensor(2.0, requires_grad=True))
    assert capsys.readouterr().out == "told\n"
    assert y.grad_fn.run().operations == ("print('told')", "return x * np.random.rand()")
    assert capsys.readouterr().out == ""


def test_what_cannot_be_drawn_again_is_told():
    def unseeded(x):
        return x * np.random.default_rng().normal()

    y = gs.differentiable(unseeded)(gs.tensor(2.0, requires_grad=True))
    assert str(y.grad_fn.run()).startswith("run of unseeded, of random numbers drawn anew\n")
