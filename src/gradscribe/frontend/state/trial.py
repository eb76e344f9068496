"""Lowering something to see whether it can be lowered so, and taking it back if not."""

from __future__ import annotations

from typing import Protocol

from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.knowledge import Kept, Loops, State
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operation, Value


class Undoable(Protocol):
    """What a trial needs of a lowering."""

    builder: Builder
    loops: Loops
    kept: Kept

    @property
    def frame(self) -> Frame: ...

    def fork(self) -> State: ...

    def restore(self, state: State) -> None: ...


class Trial:
    """What is lowered in the current block from now on (made by `lowering.trial()`).

    before: the state at its begin. What was found out meanwhile (captures, dependencies, facts,
    handles of memory) stays known when it is taken back: it is true of the program, and the next
    trial need not find it again.
    """

    def __init__(self, lowering: Undoable) -> None:
        self.before = lowering.fork()
        self._lowering = lowering
        self._operations = len(lowering.builder.operations)
        self._values = lowering.builder.made
        self._location = lowering.builder.location
        self._loops = len(lowering.frame.loops)
        self._attempts = lowering.loops.attempts
        self._met = self._attempts.met
        self._unsettled = set(lowering.kept.unsettled)

    @property
    def operations(self) -> list[Operation]:
        """What was appended to the block since."""
        return self._lowering.builder.operations[self._operations :]

    def is_older(self, value: Value) -> bool:
        """Whether a value was there when the trial began."""
        return self._lowering.builder.is_older(value, self._values)

    def take_back(self) -> None:
        """Return to where it began, as often as is wanted."""
        lowering = self._lowering
        lowering.restore(self.before)
        del lowering.builder.operations[self._operations :]
        del lowering.frame.loops[self._loops :]
        lowering.builder.location = self._location
        self._attempts.met = self._met
        lowering.kept.unsettled = set(self._unsettled)
