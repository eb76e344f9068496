"""Programs that are refused, each with the text that says so: the tests of `docs/refusals.md`.

A program is an ordinary function under a decorator that gives the text, with the names that stand
in the program, and what the function is called with:

    @refused("`next` of what is no iterator", 2.0)
    def next_of_a_list(x):
        return next([x])

It is differentiated (by `gs.vjp`, unless `by=` says how), and the error must show a line of the
program's file. What is refused outside of compiled functions is shown by a program that is run as
it stands:

    @refused_when_run("the primals are a tuple, and not a float", ArgumentError)
    def primals_without_a_tuple():
        gs.jvp(math.sin, 1.0, 1.0)

Both give the class of the error where it is no plain `UnsupportedError`. The advice is not
repeated: it must be the one that stands beside the text in the source.

`tests/test_refused.py` runs all programs, and fails for a text of the source that no program
provokes. A module of this package holds the programs of one theme; it is found by itself.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import gradscribe as gs
from gradscribe.errors import GradscribeError, UnsupportedError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclasses.dataclass(frozen=True)
class Program:
    """A function that is refused. text: what the error says is refused; kind: its class in
    `gradscribe.errors`; run: provokes it; placed: whether the error must show a place; args: what
    plain Python calls it with."""

    function: Callable[..., Any]
    text: str
    kind: type[GradscribeError]
    run: Callable[[], Any]
    placed: bool
    args: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__qualname__}"


_PROGRAMS: list[Program] = []


def refused(
    text: str,
    *args: Any,
    kind: type[GradscribeError] = UnsupportedError,
    by: Callable[..., Any] = gs.vjp,
) -> Decorator:
    """Of a function that is refused when it is differentiated at `args`: `by(function, *args)`."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        def run() -> Any:
            return by(function, *args)

        _PROGRAMS.append(Program(function, text, kind, run, True, args))
        return function

    return add


def refused_when_run(text: str, kind: type[GradscribeError] = UnsupportedError) -> Decorator:
    """Of a function without parameters that is run as it stands, and calls what refuses."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        _PROGRAMS.append(Program(function, text, kind, function, placed=False))
        return function

    return add


def programs() -> list[Program]:
    """All programs, in the order of the modules' names."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return sorted(_PROGRAMS, key=lambda program: program.function.__module__)
