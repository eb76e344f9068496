"""The programs whose generated source is kept as text, and the files that keep it.

`python -m tests.programs.golden` writes the files anew; read the difference before you
commit it.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gradscribe as gs
from tests.programs.targets import arrays, control_flow, inplace

FOLDER = pathlib.Path(__file__).parent / "golden"
_RNG = np.random.default_rng(7)


def _random(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape)


@dataclass(frozen=True)
class Program:
    """A target: the user's function, arguments, what is differentiated, the expert's text.

    expert: the functions an expert wrote for the same derivatives, forward and adjoint or one
    joined gradient.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: int | tuple[int, ...] | None
    expert: tuple[Callable[..., Any], ...]

    @property
    def name(self) -> str:
        return self.function.__name__

    def specialization(self) -> Any:
        return gs.differentiable(self.function).specialize(*self.args, argnums=self.argnums)

    def source(self) -> str:
        found = self.specialization()
        return "\n".join([found.forward_source, found.adjoint_source, found.gradient_source])


_SYMMETRIC = _random(6, 6)

PROGRAMS = [
    Program(
        control_flow.absolute,
        (1.5,),
        0,
        (control_flow.absolute_forward, control_flow.absolute_adjoint),
    ),
    Program(
        control_flow.product,
        (np.arange(-2.0, 4.0),),
        0,
        (control_flow.product_forward, control_flow.product_adjoint),
    ),
    Program(
        control_flow.newton_sqrt,
        (2.0, 1e-3),
        0,
        (control_flow.newton_sqrt_forward, control_flow.newton_sqrt_adjoint),
    ),
    Program(
        arrays.mlp_loss,
        (
            ((_random(4, 5), _random(5)), (_random(5, 3), _random(3))),
            _random(7, 4),
            _random(7, 3),
        ),
        0,
        (arrays.mlp_loss_gradient,),
    ),
    Program(
        arrays.logistic_loss,
        (_random(4), _random(9, 4), _RNG.integers(0, 2, 9)),
        0,
        (arrays.logistic_loss_gradient,),
    ),
    Program(
        arrays.rnn_loss,
        (_random(4, 4), _random(4, 3), _random(4), _random(4), list(_random(6, 3)), _random(4)),
        (0, 1, 2, 3),
        (arrays.rnn_loss_gradient,),
    ),
    Program(inplace.seidel, (_random(7, 7), 3), 0, (inplace.seidel_gradient,)),
    Program(
        inplace.cholesky_logdet,
        (_SYMMETRIC @ _SYMMETRIC.T + 6 * np.eye(6),),
        0,
        (inplace.cholesky_logdet_gradient,),
    ),
]


def main() -> None:
    for program in PROGRAMS:
        (FOLDER / f"{program.name}.txt").write_text(program.source())


if __name__ == "__main__":
    main()
