"""What the compiler itself costs: a call, compiling, importing."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

import gradscribe as gs
from benchmarks.timing import interleaved, milliseconds
from gradscribe.compiler.program import Program
from gradscribe.ir.trees import flatten

LIMITS = {"call": 5.0, "compile": 50.0, "import": 150.0}


def loss(w, x, y):
    z = x @ w
    return np.sum(np.log(1 + np.exp(-z)) + (1 - y) * z)


def call_overhead() -> float:
    """Microseconds of this process that `gs.grad(loss)` adds to the generated code, for three
    array arguments."""
    w, x, y = np.ones(4), np.ones((5, 4)), np.ones(5)
    gradient = gs.grad(loss)
    gradient(w, x, y)
    namespace: dict[str, Any] = {"np": np}
    exec(gradient.source, namespace)
    generated = namespace["loss_gradient"]
    times = interleaved(
        {"gs.grad": lambda: gradient(w, x, y), "generated": lambda: generated(w, x, y, 1.0)},
        rounds=31,
        clock=time.process_time,
    )
    return (times["gs.grad"] - times["generated"]) * 1e6


def thirty_lines(x, w1, w2, steps):
    n = x.shape[0]
    hidden = np.tanh(x @ w1)
    scale = 1.0
    total = 0.0
    for step in range(steps):
        gate = 1 / (1 + np.exp(-hidden))
        update = gate * hidden
        if step > 1:
            update = update * scale
        elif step > 0:
            update = update + 0.1
        else:
            update = update - 0.1
        hidden = np.tanh(update @ w2)
        norm = np.sqrt(np.sum(hidden * hidden) + 1e-6)
        if norm > 1e3:
            break
        scale = scale / (1 + norm)
        total = total + np.mean(hidden)
    centred = hidden - np.mean(hidden, axis=0)
    spread = np.sum(centred**2, axis=0) / n
    logits = np.log(spread + 1e-3)
    top = np.max(logits)
    shifted = logits - top
    weights = np.exp(shifted)
    weights = weights / np.sum(weights)
    entropy = -np.sum(weights * np.log(weights + 1e-9))
    penalty = 0.0
    for row in hidden:
        penalty += np.dot(row, row)
    penalty = 0.01 * penalty / n
    margin = np.maximum(0.0, 1 - logits)
    return entropy + penalty + np.sum(margin) + total


def compile_time(program: Callable[..., Any], *args: Any) -> float:
    """Milliseconds from the function to a gradient that is ready to run, all caches of rules
    and parsed files being warm."""
    function = program
    assert isinstance(function, FunctionType)

    def compile_gradient() -> None:
        primal, _ = Program(function).find((function, *args))
        primal.specialization(primal.active_leaves((0, 1, 2))).generated_gradient.callable  # noqa: B018

    compile_gradient()
    return milliseconds(compile_gradient)


_IMPORT = """
import time, numpy
start = time.perf_counter()
import gradscribe
{}
print((time.perf_counter() - start) * 1e3)
"""


def import_time(use: str = "", rounds: int = 7) -> float:
    """Milliseconds that importing gradscribe takes beyond NumPy, bytecode being cached.

    use: a statement after the import, which may load more.
    """
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)

        def run() -> float:
            command = [sys.executable, "-c", _IMPORT.format(use)]
            return float(subprocess.check_output(command, env=environment, text=True))

        run()
        return statistics.median(run() for _ in range(rounds))


def main() -> None:
    x, w1, w2 = np.ones((5, 4)), np.ones((4, 6)) * 0.1, np.ones((6, 6)) * 0.1
    gradient = gs.grad(thirty_lines, (0, 1, 2))(x, w1, w2, 4)
    assert all(np.all(np.isfinite(leaf)) for leaf in flatten(gradient)[1])
    rows = [
        ("a call with three array arguments adds", call_overhead(), "us", LIMITS["call"]),
        (
            "compiling the gradient of 30 lines, warm",
            compile_time(thirty_lines, x, w1, w2, 4),
            "ms",
            LIMITS["compile"],
        ),
        ("importing, beyond NumPy", import_time(), "ms", LIMITS["import"]),
        ("importing, and naming gs.grad", import_time("gradscribe.grad"), "ms", None),
    ]
    print("Costs\n")
    for name, value, unit, limit in rows:
        goal = "" if limit is None else f"   (goal: {limit:.0f} {unit})"
        print(f"{name:<46}{value:>8.1f} {unit}{goal}")


if __name__ == "__main__":
    main()
