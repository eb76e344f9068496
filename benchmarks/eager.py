"""Eager Tensors beside PyTorch's, in one process, with one thread.

Each entry is a function of the module whose Tensors it uses, and gives what is timed. A forward of
Tensors that require gradients records its graph; a backward is what `backward()` adds to that.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gradscribe.torchlike
from benchmarks.timing import interleaved

Run = Callable[[], Any]
Program = Callable[[Any], Run]

SIZES = (10, 100, 1000)
FORWARD, BACKWARD, PROGRAMS, WORST = 1.0, 0.8, 0.8, 1.1


def leaf(module: Any, *shape: int, seed: int = 0, scale: float = 1.0) -> Any:
    """A leaf of this module that requires a gradient."""
    numbers = np.random.default_rng(seed).normal(size=shape) * scale
    return module.tensor(numbers, requires_grad=True)


def operations(module: Any, size: int) -> dict[str, Run]:
    """Single operations on `size` elements."""
    a, b = leaf(module, size, seed=1), leaf(module, size, seed=2)
    side = round(size**0.5)
    m, n = leaf(module, side, side, seed=3), leaf(module, side, side, seed=4)
    places = module.tensor(np.arange(0, size, 2))
    return {
        "mul": lambda: a * b,
        "sum": lambda: a.sum(),
        "matmul": lambda: m @ n,
        "slice": lambda: a[1:-1],
        "index": lambda: a[places],
    }


def with_backward(module: Any, forward: Run) -> Run:
    """A forward and the gradient of its result along one vector."""
    seed = module.ones_like(forward().detach())
    return lambda: forward().backward(seed)


def mlp(module: Any) -> Run:
    x, y = module.tensor(np.linspace(-1, 1, 320).reshape(32, 10)), module.tensor(np.ones((32, 1)))
    parameters = [
        leaf(module, *shape, seed=i, scale=0.3)
        for i, shape in enumerate([(10, 32), (32,), (32, 32), (32,), (32, 1), (1,)])
    ]

    def step() -> None:
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = module.tanh(module.tanh(x @ w1 + b1) @ w2 + b2)
        loss = ((hidden @ w3 + b3 - y) ** 2).mean()
        loss.backward()
        with module.no_grad():
            for parameter in parameters:
                parameter -= 0.01 * parameter.grad
                parameter.grad = None

    return step


def logistic(module: Any) -> Run:
    x, w = module.tensor(np.linspace(-1, 1, 1000).reshape(100, 10)), leaf(module, 10, scale=0.1)
    y = module.tensor(np.arange(100.0) % 2)

    def step() -> None:
        p = module.sigmoid(x @ w)
        loss = -(y * module.log(p) + (1 - y) * module.log(1 - p)).mean()
        loss.backward()
        with module.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None

    return step


def softmax(module: Any) -> Run:
    x, w = module.tensor(np.linspace(-1, 1, 1000).reshape(100, 10)), leaf(module, 10, 5, scale=0.1)
    y = module.tensor(np.arange(100) % 5)
    rows = module.arange(100)

    def step() -> None:
        scores = x @ w
        loss = -module.log_softmax(scores, 1)[rows, y].mean()
        loss.backward()
        w.grad = None

    return step


def chain(module: Any) -> Run:
    a = leaf(module, 100)

    def step() -> None:
        z = a
        for _ in range(10):
            z = module.sin(z) * 2 + module.exp(-z * z)
        z.sum().backward()
        a.grad = None

    return step


def rnn(module: Any) -> Run:
    wx, wh, b = leaf(module, 8, 16, scale=0.3), leaf(module, 16, 16, scale=0.3), leaf(module, 16)
    inputs = [module.tensor(np.linspace(-1, 1, 32).reshape(4, 8) * k) for k in range(50)]

    def step() -> None:
        hidden = module.tensor(np.zeros((4, 16)))
        for x in inputs:
            hidden = module.tanh(x @ wx + hidden @ wh + b)
        (hidden**2).sum().backward()
        wx.grad = wh.grad = b.grad = None

    return step


def heat(module: Any) -> Run:
    start = leaf(module, 100)

    def step() -> None:
        u = start.clone()
        for _ in range(100):
            inner = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
            u = module.cat([u[:1], inner, u[-1:]])
        (u**2).sum().backward()
        start.grad = None

    return step


def pendulum(module: Any) -> Run:
    start = module.tensor(0.5, requires_grad=True, dtype=module.float64)

    def step() -> None:
        angle, speed = start, start * 0
        for _ in range(1000):
            speed = speed - 0.01 * module.sin(angle)
            angle = angle + 0.01 * speed
        angle.backward()
        start.grad = None

    return step


PROGRAM_TABLE: dict[str, Program] = {
    "MLP step": mlp,
    "logistic regression": logistic,
    "softmax regression": softmax,
    "elementwise chain": chain,
    "RNN of 50 steps": rnn,
    "heat equation, 100 steps": heat,
    "pendulum, 1,000 steps": pendulum,
}


def ratio(ours: Run, theirs: Run, rounds: int) -> tuple[float, float]:
    """(our time per call in microseconds, our time over theirs)."""
    times = interleaved({"ours": ours, "theirs": theirs}, rounds, clock=time.process_time)
    return times["ours"] * 1e6, times["ours"] / times["theirs"]


def compare_operations(ours: Any, theirs: Any, rounds: int) -> None:
    """Print the ratios of single operations, forward and (their difference) backward."""
    print(f"{'operation':<24}{'forward':>12}{'of torch':>10}{'backward':>12}{'of torch':>10}")
    for size in SIZES:
        mine, other = operations(ours, size), operations(theirs, size)
        for name in mine:
            calls = {
                "forward": mine[name],
                "forward of torch": other[name],
                "both": with_backward(ours, mine[name]),
                "both of torch": with_backward(theirs, other[name]),
            }
            t = interleaved(calls, rounds, clock=time.process_time)
            there = t["forward"], t["forward of torch"]
            back = t["both"] - t["forward"], t["both of torch"] - t["forward of torch"]
            cells = (
                f"{one * 1e6:>9.2f} us{one / other_time:>10.2f}"
                for one, other_time in (there, back)
            )
            print(f"{f'{name}, {size}':<24}{''.join(cells)}")


def compare_programs(ours: Any, theirs: Any, rounds: int) -> None:
    """Print the ratios of whole programs, and their geometric mean."""
    found = []
    for name, program in PROGRAM_TABLE.items():
        microseconds, of_torch = ratio(program(ours), program(theirs), rounds)
        found.append(of_torch)
        print(f"{name:<34}{microseconds:>12.0f} us{of_torch:>10.2f}")
    mean = statistics.geometric_mean(found)
    print(f"{'geometric mean':<34}{'':>15}{mean:>10.2f}   (goal: {PROGRAMS})")
    print(f"{'worst':<34}{'':>15}{max(found):>10.2f}   (goal: {WORST})")


def main(rounds: int = 15) -> None:
    print("Eager Tensors, beside PyTorch's\n")
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed: nothing to compare with (pip install torch)")
        return
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)
    compare_operations(gradscribe.torchlike, torch, rounds)
    print(f"(goals: forward {FORWARD}, backward {BACKWARD})\n")
    compare_programs(gradscribe.torchlike, torch, rounds)


if __name__ == "__main__":
    main()
