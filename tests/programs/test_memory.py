"""Memory of gradients: a stencil of T steps whose update is linear keeps nothing that grows with T,
in `gradient` as in `forward`; one that reads what it overwrites keeps what it reads.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

LINE = np.linspace(0.0, 1.0, 2000)
PLANE = np.linspace(0.0, 1.0, 2000).reshape(50, 40)
LINEAR: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
NONLINEAR: list[tuple[Callable[..., Any], tuple[Any, ...], float]] = []


def linear(*args):
    def register(function):
        LINEAR.append((function, args))
        return function

    return register


def keeps(arrays, *args):
    """At most this many arrays like the first argument a step."""

    def register(function):
        NONLINEAR.append((function, args, arrays))
        return function

    return register


@linear(LINE)
def heat(u, T):
    u = u.copy()
    for t in range(T):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


@linear(LINE)
def heat_un(u, T):
    u = u.copy()
    for t in range(T):
        un = u.copy()
        u[1:-1] = un[1:-1] + 0.1 * (un[2:] - 2 * un[1:-1] + un[:-2])
    return np.sum(u**2)


@linear(LINE)
def heat_swap(u, T):
    u = u.copy()
    un = np.zeros_like(u)
    for t in range(T):
        un[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, un = (un, u)
    return np.sum(u**2)


@linear(LINE)
def heat_loop(u, T):
    u = u.copy()
    n = 50
    for t in range(T):
        for i in range(1, n - 1):
            u[i] = u[i] + 0.1 * (u[i + 1] - 2 * u[i] + u[i - 1])
    return np.sum(u**2)


@linear(LINE, 0.3)
def heat_c(u, c, T):
    u = u.copy()
    for t in range(T):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


@linear(LINE)
def wave(u, T):
    u0 = u.copy()
    u1 = u.copy()
    for t in range(T):
        u2 = np.zeros_like(u)
        u2[1:-1] = 2 * u1[1:-1] - u0[1:-1] + 0.2 * (u1[2:] - 2 * u1[1:-1] + u1[:-2])
        u0, u1 = (u1, u2)
    return np.sum(u1**2)


@linear(LINE)
def wave2(u, T):
    u0 = u.copy()
    u1 = u.copy()
    u2 = np.zeros_like(u)
    for t in range(T):
        u2[1:-1] = 2 * u1[1:-1] - u0[1:-1] + 0.2 * (u1[2:] - 2 * u1[1:-1] + u1[:-2])
        u0, u1, u2 = (u1, u2, u0)
    return np.sum(u1**2)


@linear(LINE)
def wave3(u, T):
    u0 = u.copy()
    u1 = u.copy()
    u2 = np.zeros_like(u)
    for t in range(T):
        u2[1:-1] = 2 * u1[1:-1] - u0[1:-1] + 0.2 * (u1[2:] - 2 * u1[1:-1] + u1[:-2])
        u0[:] = u1
        u1[:] = u2
    return np.sum(u1**2)


@linear(LINE)
def advect(u, T):
    u = u.copy()
    for t in range(T):
        u[1:] -= 0.3 * (u[1:] - u[:-1])
        u[0] = 0.0
    return np.sum(u**2)


@linear(LINE)
def advect2(u, T):
    c = 0.3
    for t in range(T):
        u = u - c * (u - np.concatenate([u[-1:], u[:-1]]))
    return np.sum(u**2)


@linear(PLANE)
def rbgs(u, T):
    u = u.copy()
    for t in range(T):
        u[1:-1:2, 1:-1] = 0.25 * (u[0:-2:2, 1:-1] + u[2::2, 1:-1] + u[1:-1:2, :-2] + u[1:-1:2, 2:])
        u[2:-1:2, 1:-1] = 0.25 * (u[1:-2:2, 1:-1] + u[3::2, 1:-1] + u[2:-1:2, :-2] + u[2:-1:2, 2:])
    return np.sum(u**2)


@linear(PLANE)
def jacobi(u, T):
    u = u.copy()
    un = u.copy()
    for t in range(T):
        un[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, un = (un, u)
    return np.sum(u**2)


@linear(PLANE)
def jacobi_loop(u, T):
    u = u.copy()
    n, m = (12, 12)
    for t in range(T):
        un = u.copy()
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (un[i - 1, j] + un[i + 1, j] + un[i, j - 1] + un[i, j + 1])
    return np.sum(u**2)


@linear(PLANE, PLANE * 0.1)
def jacobi_src(u, b, T):
    u = u.copy()
    for t in range(T):
        un = u.copy()
        u[1:-1, 1:-1] = 0.25 * (
            un[:-2, 1:-1] + un[2:, 1:-1] + un[1:-1, :-2] + un[1:-1, 2:] - b[1:-1, 1:-1]
        )
        u[0, :] = 0
        u[-1, :] = u[-2, :]
    return np.sum(u**2)


@keeps(1.1, LINE)
def burgers(u, T):
    u = u.copy()
    for t in range(T):
        u[1:-1] = u[1:-1] - 0.01 * u[1:-1] * (u[1:-1] - u[:-2])
    return np.sum(u**2)


@keeps(1.1, LINE)
def burgers_un(u, T):
    u = u.copy()
    for t in range(T):
        un = u.copy()
        u[1:-1] = un[1:-1] - 0.01 * un[1:-1] * (un[1:-1] - un[:-2])
    return np.sum(u**2)


@keeps(0.1, LINE)
def burgers_half(u, T):
    u = u.copy()
    for t in range(T):
        u[:100] = u[:100] ** 2
    return np.sum(u**2)


@linear(LINE)
def shallow(h, T):
    h = 1 + 0.1 * h
    q = np.zeros_like(h)
    for t in range(T):
        q[1:-1] = q[1:-1] - 0.01 * (h[2:] - h[:-2])
        h[1:-1] = h[1:-1] - 0.01 * (q[2:] - q[:-2])
    return np.sum(h**2)


@keeps(2.1, LINE)
def shallow_nl(h, T):
    h = 1 + 0.1 * h
    u = np.zeros_like(h)
    for t in range(T):
        u[1:-1] = u[1:-1] - 0.01 * (h[2:] - h[:-2]) - 0.01 * u[1:-1] * (u[2:] - u[:-2])
        h[1:-1] = h[1:-1] - 0.01 * (h[2:] * u[2:] - h[:-2] * u[:-2])
    return np.sum(h**2)


@linear(LINE)
def helper(u, T):

    def step(a):
        a[1:-1] += 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2])

    u = u.copy()
    for t in range(T):
        step(u)
    return np.sum(u**2)


@linear(LINE)
def helper2(u, T):

    def step(a):
        b = a.copy()
        b[1:-1] = a[1:-1] + 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2])
        b[0] = b[1]
        b[-1] = b[-2]
        return b

    for t in range(T):
        u = step(u)
    return np.sum(u**2)


@linear(LINE)
def periodic(u, T):
    u = u.copy()
    for t in range(T):
        lap = np.zeros_like(u)
        lap[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        lap[0] = u[1] - 2 * u[0] + u[-1]
        lap[-1] = u[0] - 2 * u[-1] + u[-2]
        u += 0.1 * lap
    return np.sum(u**2)


@linear(LINE)
def cond_heat(u, T):
    u = u.copy()
    for t in range(T):
        if t % 2 == 0:
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        else:
            u[0] = u[1]
    return np.sum(u**2)


@linear(LINE)
def while_heat(u, T):
    u = u.copy()
    t = 0
    while t < T:
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        t += 1
    return np.sum(u**2)


@linear(LINE, 0.1)
def dtheat(u, dt, T):
    u = u.copy()
    t = 0.0
    for k in range(T):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) + np.sin(t)
        t = t + dt
    return np.sum(u**2)


@keeps(1.1, LINE)
def damped(u, T):
    """Many intermediate values, all of one array."""
    for t in range(T):
        slope = u - 0.5
        u = np.sin(u) + 0.1 * slope / (1.0 + u * u)
    return np.sum(u**2)


@keeps(1.1, LINE)
def elements_of_the_last_step(u, T):
    """What an inner loop reads is kept once for all its iterations, as the array that it is read
    of."""
    for t in range(T):
        new = u.copy()
        for i in range(1, 20):
            new[i] = u[i - 1] * u[i + 1]
        u = new
    return np.sum(u**2)


def traced(run: Callable[..., Any], args: tuple[Any, ...]) -> tuple[int, int]:
    """The memory that a call leaves, and its peak; with what other threads take meanwhile."""
    tracemalloc.start()
    kept = run(*args)
    found = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return found


def grown(run: Callable[..., Any], args: tuple[Any, ...], peak: bool) -> float:
    """By how many arrays like the first argument the memory of a call grows with each step."""
    sizes = []
    for steps in (10, 30):
        run(*args, steps)
        sizes.append(min(traced(run, (*args, steps))[peak] for _ in range(3)))
    return (sizes[1] - sizes[0]) / 20 / args[0].nbytes


@pytest.mark.parametrize(("function", "args"), LINEAR, ids=lambda p: getattr(p, "__name__", ""))
def test_linear_update_keeps_nothing_that_grows(function: Any, args: Any) -> None:
    compiled = gs.differentiable(function).specialize(*args, 10, argnums=0)
    assert grown(compiled.gradient, args, peak=True) < 0.05
    assert grown(compiled.forward, args, peak=True) < 0.05
    assert grown(lambda *call: compiled.adjoint(compiled.forward(*call)[1], 1.0), args, True) < 0.05


@pytest.mark.parametrize(
    ("function", "args", "arrays"), NONLINEAR, ids=lambda p: getattr(p, "__name__", "")
)
def test_nonlinear_update_keeps_what_it_reads(function: Any, args: Any, arrays: float) -> None:
    compiled = gs.differentiable(function).specialize(*args, 10, argnums=0)
    assert grown(compiled.gradient, args, peak=True) < arrays
    assert grown(compiled.forward, args, peak=False) < arrays


@pytest.mark.parametrize(
    "case", [*LINEAR, *(c[:2] for c in NONLINEAR)], ids=lambda c: c[0].__name__
)
def test_gradient_of_the_stencil(case: Any) -> None:
    function, args = case
    v = np.cos(np.arange(args[0].size)).reshape(args[0].shape)
    compiled = gs.differentiable(function).specialize(*args, 3, argnums=0)
    value, along = compiled.tangent(*args, 3, v)
    gradient = compiled.gradient(*args, 3)
    assert value == function(*args, 3)
    np.testing.assert_allclose(np.sum(gradient * v), along, rtol=1e-10, atol=1e-10)
