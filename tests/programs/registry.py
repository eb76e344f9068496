"""The programs of the library, by name: plain Python functions with example arguments.

A program is written as its users write it, knowing nothing of derivatives:

    @program(np.array([1.0, 2.0]), 3)
    def decay(x, steps): ...

`python -m tests.programs.registry decay` checks one and prints its gradient.
"""

from __future__ import annotations

import copy
import importlib
import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

import gradscribe as gs

F = TypeVar("F", bound=Callable[..., Any])

FOLDER = pathlib.Path(__file__).parent / "library"
PROGRAMS: dict[str, Program] = {}


@dataclass(frozen=True)
class Program:
    """A function, and arguments at which it is smooth.

    order: the highest order of derivatives that is checked.
    """

    function: Callable[..., Any]
    example: tuple[Any, ...]
    order: int

    @property
    def name(self) -> str:
        return self.function.__name__

    def args(self) -> tuple[Any, ...]:
        """The example arguments, fresh: a program may change them."""
        return copy.deepcopy(self.example)

    def check_value(self) -> None:
        """The compiled primal returns what plain Python returns, to the last bit, and leaves
        the caller's arrays alone."""
        expected = self.function(*self.args())
        args = self.args()
        found, _ = gs.differentiable(self.function).specialize(*self.args()).forward(*args)
        assert same(found, expected), f"compiled: {found!r}\nplain Python: {expected!r}"
        assert same(args, self.example), f"the arguments were changed to {args!r}"

    def check_derivatives(self, order: int) -> None:
        """Both modes agree with each other and with differences, to this order; the caller's
        arrays are left alone."""
        args = self.args()
        gs.testing.check_grad(self.function, *args, order=order)
        assert same(args, self.example), f"the arguments were changed to {args!r}"

    def gradient_source(self) -> str:
        source: str = gs.differentiable(self.function).specialize(*self.args()).gradient_source
        return source


def program(*example: Any, order: int = 2) -> Callable[[F], F]:
    """Register a function with arguments to try it at."""

    def register(function: F) -> F:
        name = function.__name__
        assert name not in PROGRAMS, f"two programs are called {name}"
        PROGRAMS[name] = Program(function, example, order)
        return function

    return register


def load() -> dict[str, Program]:
    """All programs of the library."""
    for path in sorted(FOLDER.glob("*.py")):
        importlib.import_module(f"tests.programs.library.{path.stem}")
    return PROGRAMS


def same(a: Any, b: Any) -> bool:
    """Are two values equal to the last bit, in structure, type and dtype?"""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and (a.dtype, a.shape) == (b.dtype, b.shape)
            and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        )
    return type(a) is type(b) and bool(a == b or (a != a and b != b))


def main() -> None:
    """Check the programs that are named on the command line, and print their gradients."""
    programs = load()
    for name in sys.argv[1:]:
        programs[name].check_value()
        programs[name].check_derivatives(programs[name].order)
        print(programs[name].gradient_source())


if __name__ == "__main__":
    # under its own name, under which the programs import it
    importlib.import_module("tests.programs.registry").main()
