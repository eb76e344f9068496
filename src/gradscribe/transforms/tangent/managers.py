"""Tangents under managers that make exceptions, or what a program takes down, of invalid values.

The tangents of operations stand among them. Under `np.errstate(all="raise")`, or where warnings are
recorded, what a tangent meets would be taken for the program's own: the other branch of a `try`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operation
from gradscribe.primitives.control import ENTER, EXIT
from gradscribe.primitives.raising import is_strict, may_raise


class Managers:
    """The managers around what is appended now."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._entered: list[Operation] = []

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block, after which those are left that were entered in it."""
        outer = list(self._entered)
        yield
        self._entered = outer

    def note(self, operation: Operation) -> None:
        """An operation of the program was appended."""
        if operation.primitive is ENTER:
            self._entered.append(operation)
        elif operation.primitive is EXIT and self._entered:
            self._entered.pop()

    @contextmanager
    def ignoring_invalid_values(self) -> Iterator[None]:
        """What is appended in the block raises, and warns of, nothing that the program would take
        for its own."""
        operations = self._builder.operations
        before = len(operations)
        yield
        made = operations[before:]
        if any(map(is_strict, self._entered)) and any(map(_may_meet_invalid_values, made)):
            ignoring = {"args": (), "keywords": {"all": "ignore"}}
            self._builder.call(ENTER, ignoring, callee=np.errstate)
            operations.insert(before, operations.pop())
            self._builder.call(EXIT, ignoring, callee=np.errstate)


def _may_meet_invalid_values(operation: Operation) -> bool:
    return may_raise(operation, (FloatingPointError,))
