"""Each call of a `gs.primitive` in a program is one call, whatever is derived."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([1.0, 2.0, 3.0])
COUNT = [0]


def counted(k: int = 0) -> float:
    COUNT[0] += 1
    return float(COUNT[0])


step = gs.primitive(counted)


@step.like
def _like(k: int = 0) -> float:
    return 0.0


def linear_in_a_loop(x):
    s = 0.0
    for k in range(3):
        s = s + step() * x[k]
    return s * step()


def curved_in_a_loop(x):
    s = 0.0
    for k in range(3):
        s = s + step() * x[k] ** 3
    return s * step()


def in_a_branch(x):
    s = 0.0
    if x[0] > 0:
        s = s + step() * x[1] ** 2
    return s * step()


def stored(x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = step(k) * x[k]
    return np.sum(y)


def while_it_is_small(x):
    s, k = 1.0, 0
    while s < 20 and k < 5:
        s = s + step() * x[0] ** 2
        k += 1
    return s


def nested(x):
    s = 0.0
    for k in range(3):
        for _ in range(2):
            s = s + step() * np.sin(x[k])
        if s > 1:
            s = s * step()
    return s


def for_its_effect(x):
    step()
    s = np.sum(x**2)
    for _ in range(2):
        step()
    return s


PROGRAMS = [
    *(linear_in_a_loop, curved_in_a_loop, in_a_branch),
    *(stored, while_it_is_small, nested, for_its_effect),
]
for program in PROGRAMS:
    program.count = COUNT  # what the primitive changes is reached by way of the function, too

DERIVATIVES = {
    "grad": lambda f: gs.grad(f)(X),
    "hessian": lambda f: gs.hessian(f)(X),
    "jacfwd": lambda f: gs.jacfwd(gs.grad(f))(X),
    "jacrev": lambda f: gs.jacrev(gs.grad(f))(X),
    "hvp": lambda f: gs.hvp(f, (X,), (X,)),
    "third": lambda f: gs.jacfwd(gs.hessian(f))(X),
}


def gradient(function: Any, x: Any) -> Any:
    COUNT[0] = 0
    return gs.grad(function)(x)


@pytest.mark.parametrize("derive", DERIVATIVES.values(), ids=DERIVATIVES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_called_as_often_as_the_program_says(program: Any, derive: Any) -> None:
    COUNT[0] = 0
    program(X)
    expected = COUNT[0]
    for _ in range(2):
        COUNT[0] = 0
        derive(program)
        assert COUNT[0] == expected


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_hessian_is_that_of_the_numbers_it_gave(program: Any) -> None:
    expected = [
        (gradient(program, X + 1e-5 * unit) - gradient(program, X - 1e-5 * unit)) / 2e-5
        for unit in np.eye(3)
    ]
    COUNT[0] = 0
    np.testing.assert_allclose(gs.hessian(program)(X), expected, rtol=1e-6, atol=1e-6)


def test_a_result_for_another_number_than_a_known_one_is_not_compared() -> None:
    op = gs.primitive(lambda k=0: float(k))
    op.like(lambda k=0: 0.0)
    gs.grad(lambda x: np.sum(x) * op())(X)
    assert op(2) == 2.0
