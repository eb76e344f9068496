"""Every target program: the generated gradient beside the one that an expert wrote by hand.

The programs and the hand-written gradients are those of `tests/programs/targets`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gradscribe as gs
from benchmarks.timing import interleaved
from gradscribe.ir.trees import flatten
from tests.programs.targets import arrays, control_flow, inplace

RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Target:
    """A program, its arguments at one size, and its gradient by hand. stores: the program
    changes its first argument, so that each run gets a copy."""

    name: str
    size: str
    program: Callable[..., Any]
    by_hand: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
    stores: bool = False


def pair(forward: Callable[..., Any], adjoint: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient that a hand-written forward and adjoint make together."""

    def gradient(*args: Any) -> Any:
        _, record = forward(*args)
        return adjoint(record, 1.0)

    return gradient


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


def array_programs() -> list[Target]:
    """Straight-line array code and a loop over a list, small and large."""
    found = []
    for n in (8, 256):
        params = ((normal(n, n), normal(n)), (normal(n, n), normal(n)))
        args = (params, normal(n, n), normal(n, n))
        found.append(
            Target("mlp_loss", f"{n}x{n}", arrays.mlp_loss, arrays.mlp_loss_gradient, args)
        )
        labels = RNG.integers(0, 2, size=10 * n)
        logistic = (normal(n), normal(10 * n, n), labels)
        found.append(
            Target(
                "logistic_loss",
                f"{10 * n}x{n}",
                arrays.logistic_loss,
                arrays.logistic_loss_gradient,
                logistic,
            )
        )
        W, U, b, h, target = 0.1 * normal(n, n), 0.1 * normal(n, n), normal(n), normal(n), normal(n)
        steps = (W, U, b, h, list(normal(50, n)), target)
        found.append(
            Target(
                "rnn_loss",
                f"50 steps of {n}",
                arrays.rnn_loss,
                arrays.rnn_loss_gradient,
                steps,
                (0, 1, 2, 3),
            )
        )
    return found


def loop_programs() -> list[Target]:
    """Branches, data-dependent loops, stores in place."""
    product = pair(control_flow.product_forward, control_flow.product_adjoint)
    newton = pair(control_flow.newton_sqrt_forward, control_flow.newton_sqrt_adjoint)
    absolute = pair(control_flow.absolute_forward, control_flow.absolute_adjoint)
    A = normal(30, 30)
    S = A @ A.T + 30 * np.eye(30)
    logdet = inplace.cholesky_logdet, inplace.cholesky_logdet_gradient
    return [
        Target("absolute", "1", control_flow.absolute, absolute, (-1.5,)),
        Target("product", "1000", control_flow.product, product, (normal(1000),)),
        Target("newton_sqrt", "6 iterations", control_flow.newton_sqrt, newton, (2000.0, 1e-9)),
        Target("seidel", "30x30, 3", inplace.seidel, inplace.seidel_gradient, (A, 3), stores=True),
        Target("cholesky_logdet", "30x30", *logdet, (S,), stores=True),
    ]


def measure(target: Target) -> dict[str, float]:
    """Times of the program, of the gradient by hand, and of the generated one, all checked."""
    generated = gs.grad(target.program, target.argnums)
    expected, found = target.by_hand(*target.args), generated(*target.args)
    for a, b in zip(flatten(expected)[1], flatten(found)[1], strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-10)
    first, *rest = target.args
    return interleaved(
        {
            "program": lambda: target.program(first.copy() if target.stores else first, *rest),
            "by hand": lambda: target.by_hand(*target.args),
            "generated": lambda: generated(*target.args),
        }
    )


def main() -> None:
    print("Gradients: generated against hand-written (medians; interleaved runs)\n")
    print(f"{'program':<18}{'size':<16}{'program':>10}{'by hand':>12}{'generated':>12}{'ratio':>8}")
    for target in array_programs() + loop_programs():
        times = measure(target)
        ratio = times["generated"] / times["by hand"]
        columns = "".join(
            f"{times[name] * 1e6:>{width}.1f}"
            for name, width in zip(times, (10, 12, 12), strict=True)
        )
        print(f"{target.name:<18}{target.size:<16}{columns}{ratio:>8.2f}")
    print(
        "\n(times in microseconds; `generated` goes through gs.grad, `by hand` is called directly)"
    )


if __name__ == "__main__":
    main()
