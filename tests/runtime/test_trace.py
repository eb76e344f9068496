"""`gs.trace` and `grad_fn.run()`: what one run did."""

import numpy as np
import pytest

import gradscribe as gs


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


def test_the_run_of_a_compiled_node_prints_branches_and_trips():
    y = mixed(gs.tensor([1.0, 2.0, -0.5], requires_grad=True), 3)
    assert str(y.grad_fn.run()) == (
        "run of mixed\n"
        "total = 0.0                               float\n"
        "for i in range(n):                        3 trips\n"
        "    trips 1 to 2\n"
        "        t = x[i]                          float64\n"
        "        if t > 0:                         taken\n"
        "            total = total + np.sin(t)     float64\n"
        "    trip 3\n"
        "        t = x[i]                          float64\n"
        "        if t > 0:                         not taken\n"
        "        else:\n"
        "            total -= 1                    float64\n"
        "while total > 1:                          0 trips\n"
        "return total                              float64"
    ).replace("total = total + np.sin(t) ", "total += np.sin(t)        ")
    assert y.grad_fn.run().loops[0].trips == 3


def test_trace_runs_a_function_once():
    graph = gs.trace(mixed, np.array([3.0, 1.0]), 2)
    assert [branch.taken for branch in graph.branches] == [True, True]
    assert [(loop.text, loop.trips) for loop in graph.loops] == [
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
    with pytest.raises(TypeError, match="the node of a single operation"):
        (x * 2).grad_fn.run()
    y = mixed(x, 3)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.grad_fn.run()


def test_a_run_after_a_change_in_place_is_refused():
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = mixed(x, 3)
    with gs.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
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
    assert "    trips 2 to 3\n" in str(graph)


@pytest.mark.parametrize("generator", [np.random, np.random.default_rng(0)])
def test_the_run_of_a_node_uses_no_random_numbers_up(generator):
    draw = generator.randn if generator is np.random else generator.standard_normal
    y = gs.differentiable(lambda x: x * draw())(gs.tensor(2.0, requires_grad=True))
    state = np.random.get_state()[2] if generator is np.random else generator.bit_generator.state
    run = str(y.grad_fn.run())
    assert run.startswith("run of function, of random numbers drawn anew\n")
    after = np.random.get_state()[2] if generator is np.random else generator.bit_generator.state
    assert after == state
