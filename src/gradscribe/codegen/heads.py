"""The heads of `for` loops: what is iterated, and what is bound on each iteration."""

from __future__ import annotations

import ast

from gradscribe.codegen.expressions import Expressions
from gradscribe.codegen.plan import Plan
from gradscribe.codegen.rewriting import name
from gradscribe.ir.core import LoopShape, Operation, Value
from gradscribe.ir.flow import Iterated, Loop
from gradscribe.ir.types import Array, Scalar, Sequence, Tuple
from gradscribe.primitives.control import LEN


def target(plan: Plan, value: Value) -> ast.expr:
    """What a value is bound to: its variable, a tuple of variables, or `_`."""
    pattern = plan.patterns.get(value)
    if pattern is not None and pattern:
        assert isinstance(value.type, Tuple)
        nobody, count = name(plan.names.nobody), len(value.type.items)
        items = [target(plan, pattern[n]) if n in pattern else nobody for n in range(count)]
        return ast.Tuple(items, ast.Store())
    return name(plan.names.of[value] if plan.is_used(value) else plan.names.nobody)


class ForHead:
    """The target and the iterable of a loop over iterables."""

    def __init__(self, plan: Plan, write: Expressions, loop: Operation) -> None:
        self._plan = plan
        self._write = write
        self._shape: LoopShape = loop.attributes["shape"]
        self._parts = self._needed(Loop(loop).iterated)

    def _needed(self, parts: list[Iterated]) -> list[Iterated]:
        """Without iterables whose items nobody reads, where all are equally long."""
        needed = [
            part
            for part in parts
            if self._plan.is_used(part.item)
            or not (self._shape.reversed or part.kind == "collected")
        ]
        return needed or parts[:1]

    def make(self) -> tuple[ast.expr, ast.expr]:
        """The target and the iterable."""
        if self._counts_along():
            targets, iterable = self._zipped(self._parts[1:])
            index = target(self._plan, self._parts[0].item)
            return self._pair([index, targets]), self._call("enumerate", iterable)
        return self._zipped(self._parts)

    def _zipped(self, parts: list[Iterated]) -> tuple[ast.expr, ast.expr]:
        targets = [target(self._plan, item) for _, _, item in parts]
        iterables = [self._iterable(*part) for part in parts]
        if len(parts) == 1:
            return targets[0], iterables[0]
        return self._pair(targets), self._call("zip", *iterables)

    def _pair(self, items: list[ast.expr]) -> ast.expr:
        return ast.Tuple(items, ast.Store())

    def _counts_along(self) -> bool:
        """Whether the loop is `for i, x in enumerate(xs)`."""
        if self._shape.reversed or len(self._parts) < 2 or self._parts[0].kind != "range":
            return False
        start, stop, step = self._parts[0].operands
        if not (_is(self._write.value(start), 0) and _is(self._write.value(step), 1)):
            return False
        over = self._parts[1].operands[0]
        made = self._plan.uses.producer.get(stop)
        if made is not None and made.primitive is LEN and made.operands[0] is over:
            return True
        other, length = over.type, None
        if isinstance(other, Array):
            length = other.dims[0]
        elif isinstance(other, Sequence):
            length = other.length
        return isinstance(stop.type, Scalar) and length is not None and stop.type.value == length

    def _iterable(self, kind: str, operands: tuple[Value, ...], item: Value) -> ast.expr:
        values = [self._write.value(operand) for operand in operands]
        iterable = self._range(values) if kind == "range" else values[0]
        only_counts = kind == "range" and not self._plan.is_used(item)
        if self._shape.reversed and not only_counts:
            return self._call("reversed", iterable)
        return iterable

    def _range(self, values: list[ast.expr]) -> ast.expr:
        start, stop, step = values
        if not _is(step, 1):
            return self._call("range", start, stop, step)
        return self._call("range", stop) if _is(start, 0) else self._call("range", start, stop)

    def _call(self, function: str, *arguments: ast.expr) -> ast.expr:
        return ast.Call(self._write.scope.builtin(function), list(arguments), [])


def _is(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == value
