"""Tensors that turn gradients off, legacy: what is computed of one requires no gradient either.

While there is such a Tensor a mode is told of all results; otherwise nothing looks for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

from gradscribe.runtime.arrays.eager_operation import Operation
from gradscribe.runtime.graph.modes import Call, Mode, enter, leave
from gradscribe.runtime.graph.variable import Variable


class _Spreading(Mode):
    """Marks the results of what is marked. (Tensors are known by their identity.)"""

    everywhere = True

    def __init__(self) -> None:
        self._marked: dict[int, ref[Any]] = {}

    def has(self, value: Any) -> bool:
        """Whether a value is such a Tensor."""
        found = self._marked.get(id(value))
        return found is not None and found() is value

    def mark(self, tensor: Variable) -> None:
        """Take a Tensor out of the graph, with all that will be computed of it."""
        tensor._node, tensor._index, tensor._needs_grad = None, 0, False
        tensor._view_of = None
        key = id(tensor)
        if not self._marked:
            enter(self)
        self._marked[key] = ref(tensor, lambda _: self._forget(key))

    def unmark(self, tensor: Variable) -> None:
        """Let a Tensor be as any other again."""
        if self.has(tensor):
            self._forget(id(tensor))

    def _forget(self, key: int) -> None:
        self._marked.pop(key, None)
        if not self._marked:
            leave(self)

    def spread(self, operands: Sequence[Any], results: Sequence[Any]) -> None:
        """Mark results where one of the operands is marked, or stands in a list of operands."""
        if any(map(self._is_in, operands)):
            for result in results:
                self.mark(result)

    def _is_in(self, operand: Any) -> bool:
        if isinstance(operand, (list, tuple)):
            return any(map(self._is_in, operand))
        return self.has(operand)

    def finished(
        self, operation: Operation, operands: Sequence[Any], static: tuple[Any, ...], out: Variable
    ) -> None:
        self.spread(operands, [out])

    def called(self, call: Call, leaves: Sequence[Any], results: Sequence[Any]) -> None:
        self.spread(leaves, results)

    def returned(self, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        self.spread(inputs, results)

    def copied(self, tensor: Variable, copy: Variable) -> None:
        self.spread([tensor], [copy])

    def shared(self, tensor: Variable, other: Variable) -> None:
        self.spread([tensor], [other])

    def stored(self, target: Variable, place: Any, value: Any) -> None:
        base = target if target._view_of is None else target._view_of.base
        self.spread([value], [base])

    def moved(self, tensor: Variable) -> None:
        self.spread([tensor], [tensor])


SPREADING = _Spreading()
