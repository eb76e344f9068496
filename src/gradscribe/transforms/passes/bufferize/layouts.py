"""Views that are copied because the adjoint wants them later, and that the primal reads now.

A sum or a product of matrices rounds differently when its operand lies in memory differently.
So that the primal computes what plain Python does to the last bit, such an operation reads the
view, not the copy, as long as nothing has been stored to what the view shows.
"""

from __future__ import annotations

from gradscribe.ir.core import Operation, Value
from gradscribe.transforms.passes.bufferize.aliasing import Aliasing
from gradscribe.transforms.passes.bufferize.buffers import (
    IN_PLACE,
    Buffer,
    alias,
    flows_of,
    origins,
)


class Views:
    """The copied views of a block that still show what their copies hold.

    To be told of the operations of the block one by one, in order.
    """

    def __init__(self, aliasing: Aliasing) -> None:
        self._aliasing = aliasing
        self._view: dict[Value, Value] = {}
        self._base: dict[Value, Buffer] = {}

    def add(self, operation: Operation, view: Value) -> None:
        """The operation took `view`; its result is a copy of that."""
        self._view[operation.result] = view
        self._base[operation.result] = self._aliasing.buffers(operation.operands[0])[()]

    def operands(self, operation: Operation) -> tuple[Value, ...]:
        """What an operation of the block reads, with views for copies where layout matters."""
        if not self._view or not self._depends_on_layout(operation):
            return operation.operands
        return tuple(self._view.get(value, value) for value in operation.operands)

    def _depends_on_layout(self, operation: Operation) -> bool:
        """Whether it computes something of whole operands that holds none of them."""
        if not _is_primal(operation) or operation.primitive.elementwise or operation.regions:
            return False
        if operation.primitive in IN_PLACE:
            return False
        return not any(sources for _, sources in flows_of(self._aliasing, operation))

    def pass_by(self, operation: Operation, reused: int | None) -> None:
        """Forget what this operation may change. reused: an operand that it writes its result
        to."""
        if operation.regions or operation.primitive.effect:
            self._view.clear()
        elif self._view and (reused is not None or operation.primitive in IN_PLACE):
            number = operation.attributes["x"].index if reused is None else reused
            written = self._aliasing.buffers(operation.operands[number])[()]
            changed = [copy for copy, base in self._base.items() if _related(written, base)]
            for copy in changed:
                self._view.pop(copy, None)


def _is_primal(operation: Operation) -> bool:
    return operation.location is not None and operation.location.role == "primal"


def _related(a: Buffer, b: Buffer) -> bool:
    return alias(a, b) or not origins(a).isdisjoint(origins(b))
