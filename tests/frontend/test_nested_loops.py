"""Loops in loops in loops: how often they are lowered, and that they mean the same."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

from gradscribe.frontend.control import loop_operation
from tests.frontend.oracles import check
from tests.frontend.test_programs import lowered

x3 = np.array([0.3, 0.4, 0.5])
DEPTH = 6

LEVELS = {
    "numbers": "for i{d} in range(n):\n+ t = t + x[0] * i{d}",
    "arrays made anew": "z{d} = x * (t + 1)\nfor i{d} in range(n):\n"
    "+ z{d}[0] = z{d}[1] * t\n+ w{d} = x * t\n+ w{d}[1] = t\n+ t = t + z{d}[0] * w{d}[1]",
    "stores to the array that is run over": "for v{d} in y:\n+ y[0] = y[1] * v{d}\n+ t = t + v{d}",
    "lists that grow": "l{d} = []\n"
    "for i{d} in range(n):\n+ l{d}.append(t * x[0])\n+ t = t + l{d}[-1]",
    "tests that bind": "k{d} = 0\nwhile (k{d} := k{d} + 1) < n + 1:\n+ t = t + x[0] * k{d}",
    "exits": "for i{d} in range(n):\n+ t = t + x[0] * i{d}\n+ if t > 100:\n+  break",
}


def nested(level, depth):
    """A function of loops, each in the one before: `+` is one level deeper."""
    lines, margin = ["def f(x, n):", " t, y = x[2], x.copy()"], " "
    for d in range(depth):
        for line in level.format(d=d).split("\n"):
            lines.append(
                margin + line.replace("+", " ", 1) if line.startswith("+") else margin + line
            )
        margin += "  "
    lines.append(" return t + y[0]")
    name, namespace = f"<{depth} of {level}>", {}
    linecache.cache[name] = len(lines), None, [line + "\n" for line in lines], name
    exec(compile("\n".join(lines), name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("kind", LEVELS)
def test_loops_are_not_lowered_twice_as_often_with_each_level(kind, monkeypatch) -> None:
    function, attempts = nested(LEVELS[kind], DEPTH), []
    attempt = loop_operation._Attempt

    def counted(*given):
        attempts.append(given)
        return attempt(*given)

    monkeypatch.setattr(loop_operation, "_Attempt", counted)
    lowered(function, x3, 1)
    assert len(attempts) <= 2 * DEPTH**2, "2**DEPTH attempts are many more"


@pytest.mark.parametrize("kind", LEVELS)
def test_loops_in_loops_mean_the_same(kind) -> None:
    check(nested(LEVELS[kind], 2), x3, 2, order=1)
