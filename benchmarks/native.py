"""Gradients as native code, beside NumPy's tier and adjoints written by hand for Numba.

    python -m benchmarks.native

Each row is a function as its author wrote it. The columns are the time of its gradient with
`jit=True`, and that as a part of the time without, and of the hand-written one where there is one.
Where a row cannot be native, its time is that of the NumPy tier, and the reason is printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gradscribe as gs
from benchmarks.timing import interleaved

try:
    import numba
except ImportError:
    numba = None


def pendulum(theta, steps):
    omega = 0.0
    for _ in range(steps):
        omega = omega - 0.01 * math.sin(theta)
        theta = theta + 0.01 * omega
    return theta


def pendulum_by_hand(theta, steps):
    before = np.empty(steps)
    omega = 0.0
    for k in range(steps):
        before[k] = theta
        omega -= 0.01 * math.sin(theta)
        theta += 0.01 * omega
    d_theta, d_omega = 1.0, 0.0
    for k in range(steps - 1, -1, -1):
        d_omega += 0.01 * d_theta
        d_theta -= 0.01 * math.cos(before[k]) * d_omega
    return d_theta


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def newton_by_hand(a):
    before = []
    x = a
    while abs(x * x - a) > 1e-12 * a:
        before.append(x)
        x = 0.5 * (x + a / x)
    d_x, d_a = 1.0, 0.0
    for k in range(len(before) - 1, -1, -1):
        x = before[k]
        d_a += 0.5 * d_x / x
        d_x = 0.5 * d_x * (1.0 - a / (x * x))
    return d_a + d_x


def predator_prey(a, b, steps):
    x, y = 1.0, 0.5
    for _ in range(steps):
        dx, dy = a * x - x * y, x * y - b * y
        mx, my = x + 0.005 * dx, y + 0.005 * dy
        x, y = x + 0.01 * (a * mx - mx * my), y + 0.01 * (mx * my - b * my)
    return x + y


def recurrence(x):
    total, s = 0.0, 0.0
    for i in range(len(x)):
        s = 0.9 * s + x[i] * x[i]
        total += math.sqrt(1.0 + s)
    return total


def recurrence_by_hand(x):
    n = len(x)
    after = np.empty(n)
    s = 0.0
    for i in range(n):
        s = 0.9 * s + x[i] * x[i]
        after[i] = s
    d_x = np.empty(n)
    d_s = 0.0
    for i in range(n - 1, -1, -1):
        d_s += 0.5 / math.sqrt(1.0 + after[i])
        d_x[i] = 2.0 * x[i] * d_s
        d_s *= 0.9
    return d_x


def lu(a):
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
    total = 0.0
    for k in range(n):
        total += a[k, k]
    return total


def trisolv(a, b):
    x = np.zeros(b.shape)
    for i in range(b.shape[0]):
        s = b[i]
        for j in range(i):
            s = s - a[i, j] * x[j]
        x[i] = s / a[i, i]
    return np.sum(x * x)


def jacobi(a, b, steps):
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )
    return np.sum(a * a)


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def chain(x, y):
    t = np.tanh(x * y + 0.5 * x)
    return np.sum(np.exp(-t * t) * y)


@dataclass(frozen=True)
class Row:
    """A function, its arguments, those to differentiate, and the adjoint by hand."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
    by_hand: Callable[..., Any] | None = None
    of: str = ""


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    square = rng.random((30, 30)) + 30 * np.eye(30)
    small, large = rng.random((2, 30, 30)), rng.random((2, 400, 400))
    return [
        Row(pendulum, (0.5, 1000), by_hand=pendulum_by_hand, of="1,000 steps"),
        Row(newton, (3.7,), by_hand=newton_by_hand),
        Row(predator_prey, (1.1, 0.4, 1000), (0, 1), of="1,000 steps"),
        Row(recurrence, (rng.random(1000),), by_hand=recurrence_by_hand, of="1,000 entries"),
        Row(lu, (square,), of="30 x 30"),
        Row(trisolv, (square, rng.random(30)), (0, 1), of="30 x 30"),
        Row(heat, (rng.random(50), 50), of="50 entries"),
        Row(heat, (rng.random(20_000), 20), of="20,000 entries"),
        Row(jacobi, (*small, 10), (0, 1), of="30 x 30"),
        Row(jacobi, (*large, 3), (0, 1), of="400 x 400"),
        Row(chain, tuple(rng.random((2, 1000))), (0, 1), of="1,000 entries"),
        Row(chain, tuple(rng.random((2, 100_000))), (0, 1), of="100,000 entries"),
    ]


def _parts(gradients: Any) -> tuple[Any, ...]:
    return gradients if isinstance(gradients, tuple) else (gradients,)


def measured(row: Row) -> tuple[dict[str, float], str]:
    """Seconds of each way, and what became of `jit=True`; the ways must agree."""
    native = gs.grad(row.function, row.argnums, jit=True)
    plain = gs.grad(row.function, row.argnums)
    calls = {"native": lambda: native(*row.args), "NumPy": lambda: plain(*row.args)}
    if row.by_hand is not None:
        by_hand = numba.njit(row.by_hand)
        calls["by hand"] = lambda: by_hand(*row.args)
    expected = calls["NumPy"]()
    for call in calls.values():
        for found, right in zip(_parts(call()), _parts(expected), strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-10)
    return interleaved(calls, rounds=7), native.jit_report


def main() -> None:
    if numba is None:
        print("native code: Numba is not installed")
        return
    print(f"{'gradient, as native code':40}{'us':>9}{'/ NumPy':>9}{'/ by hand':>11}")
    for row in rows():
        times, report = measured(row)
        native = times["native"]
        hand = f"{native / times['by hand']:11.2f}" if "by hand" in times else f"{'':11}"
        name = f"{row.function.__name__} {row.of}"
        why = "" if report == "native" else f"  {report}"
        print(f"{name:40}{native * 1e6:9.1f}{native / times['NumPy']:9.3f}{hand}{why}")


if __name__ == "__main__":
    main()
