"""Generators of random numbers that a generated function draws from: to run it once more on the
numbers that a call of it drew, and leave the generators as they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from gradscribe.ir.core import Method, Operation
from gradscribe.ir.generators import RandomGenerator, made_by
from gradscribe.runtime.tensors.randomness import Generator, default_generator, source


class Drawing:
    """Where a function draws from; false where it cannot draw.

    effects: its calls of what the compiler does not look into.
    """

    def __init__(self, effects: Sequence[Operation]) -> None:
        named = [
            value
            for effect in effects
            for value in (getattr(effect.callee, "__self__", None), *effect.attributes["args"])
        ]
        self._named: list[Any] = [value for value in named if isinstance(value, RandomGenerator)]
        if any(effect.callee is source for effect in effects):
            self._named.append(default_generator)
        has_methods = any(isinstance(effect.callee, Method) for effect in effects)
        self._is_possible = has_methods or bool(self._named)
        self.is_unrepeatable = any(
            made_by(effect.callee) is not None
            and not effect.attributes["args"]
            and not effect.attributes["keywords"]
            for effect in effects
        )

    def __bool__(self) -> bool:
        return self._is_possible

    def states(self, leaves: Sequence[Any]) -> States:
        """What the generators are before a call with these leaves."""
        found = [*self._named, *leaves]
        given = (g.numpy if isinstance(g, Generator) else g for g in found)
        reached = {id(g): g for g in given if isinstance(g, RandomGenerator)}
        return [(generator, _state(generator)) for generator in reached.values()]


States = list[tuple[Any, Any]]
"""Generators, each with a copy of its state."""


@contextlib.contextmanager
def drawn_again(states: States) -> Iterator[None]:
    """Within the block, generators are in these states; afterwards, as they were before."""
    before = [(generator, _state(generator)) for generator, _ in states]
    _restore(states)
    try:
        yield
    finally:
        _restore(before)


def _state(generator: Any) -> Any:
    if hasattr(generator, "bit_generator"):
        return generator.bit_generator.state
    return generator.get_state() if hasattr(generator, "get_state") else generator.getstate()


def _restore(states: States) -> None:
    for generator, state in states:
        if hasattr(generator, "bit_generator"):
            generator.bit_generator.state = state
        elif hasattr(generator, "set_state"):
            generator.set_state(state)
        else:
            generator.setstate(state)
