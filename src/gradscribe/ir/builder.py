"""The one way to make IR: a cursor that appends operations to open blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import (
    IF,
    LOOP,
    Block,
    Location,
    LoopShape,
    Operand,
    Operation,
    Primitive,
    SliceOf,
    Value,
    map_operands,
    walk,
)
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Opaque, Type, is_integer


class Builder:
    """Appends operations to the innermost open block.

    facts: what is known of lengths in the function being built. location: given to each
    operation that does not bring its own. watchers: told of each operation before it is appended.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.location: Location | None = None
        self._open: list[list[Operation]] = [[]]
        self._given: dict[Value, list[Operation]] = {}
        self._fresh: list[int] = [0]
        self._born: dict[Value, int] = {}
        self._definition: dict[Value, Operation] = {}
        self.watchers: list[Callable[[Operation], None]] = []

    def emit(
        self,
        primitive: Primitive,
        operands: Sequence[Value],
        attributes: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        callee: Any = None,
        location: Location | None = None,
    ) -> Value:
        """Append an operation with one result (typed by the primitive's rule); return that."""
        attributes = dict(attributes or {})
        callee = primitive.callee if callee is None else callee
        type_ = self._type_of(primitive, operands, attributes, callee)
        result = self.named(type_, name)
        self.append(
            Operation(
                primitive,
                tuple(operands),
                (result,),
                attributes,
                location=location or self.location,
                callee=callee,
            )
        )
        return result

    def call(
        self,
        primitive: Primitive,
        arguments: Mapping[str, Any],
        *,
        name: str = "",
        callee: Any = None,
        location: Location | None = None,
    ) -> Value:
        """`emit`, with the operands where they stand among the named arguments."""
        operands: list[Value] = []
        attributes = {key: _number_operands(item, operands) for key, item in arguments.items()}
        return self.emit(
            primitive, operands, attributes, name=name, callee=callee, location=location
        )

    def type_of(self, primitive: Primitive, arguments: Mapping[str, Any], callee: Any) -> Type:
        """The type of what `call` would give."""
        operands: list[Value] = []
        attributes = {key: _number_operands(item, operands) for key, item in arguments.items()}
        return self._type_of(primitive, operands, attributes, callee)

    def _type_of(
        self, primitive: Primitive, operands: Sequence[Value], attributes: Any, callee: Any
    ) -> Type:
        arguments = map_operands(attributes, lambda operand: operands[operand.index].type)
        return primitive.type_rule(self.facts, callee, **arguments)

    def append(self, operation: Operation) -> None:
        """Append an operation that is already made (with regions, or moved from elsewhere)."""
        for watch in self.watchers:
            watch(operation)
        self._open[-1].append(operation)
        for result in operation.results:
            self._definition[result] = operation

    @property
    def depth(self) -> int:
        """How many blocks are open."""
        return len(self._open)

    @property
    def values(self) -> Iterable[Value]:
        """All values that operations appended here make."""
        return self._definition

    def definition(self, value: Value) -> Operation | None:
        """The operation, appended here, that makes a value."""
        return self._definition.get(value)

    def emit_if(
        self,
        condition: Value,
        then: Block,
        otherwise: Block,
        results: Sequence[Value],
        location: Location | None = None,
    ) -> None:
        self.append(
            Operation(
                IF, (condition,), tuple(results), {}, (then, otherwise), location or self.location
            )
        )

    def emit_loop(
        self,
        shape: LoopShape,
        operands: Sequence[Value],
        regions: Sequence[Block],
        results: Sequence[Value],
    ) -> None:
        self.append(
            Operation(
                LOOP,
                tuple(operands),
                tuple(results),
                {"shape": shape},
                tuple(regions),
                self.location,
            )
        )

    def is_made(self, value: Value) -> bool:
        """Whether an operation makes a value in a block that is open."""
        return any(value in operation.results for block in self._open for operation in block)

    def has_made(self, value: Value) -> bool:
        """Whether an operation makes a value in a block that is open, or in one within it."""
        blocks = (Block((), tuple(block), ()) for block in self._open)
        return any(value in operation.results for block in blocks for operation in walk(block))

    def is_open(self, block: list[Operation]) -> bool:
        """Whether what is appended now belongs to a block, or to one in it."""
        return any(each is block for each in self._open)

    def blocks_since(self, first: list[Operation] | None) -> list[list[Operation]]:
        """The open blocks from this one on; all of them, where it is None."""
        start = next((i for i, block in enumerate(self._open) if block is first), 0)
        return self._open[start:]

    def block_of(self, value: Value) -> list[Operation]:
        """The open block that a value is made in."""
        for block in self._open:
            if any(value in operation.results for operation in block):
                return block
        return self.operations

    def block_given(self, value: Value) -> list[Operation]:
        """The block of the function that is given a value which no operation makes."""
        return self._given.get(value, self._open[0])

    @property
    def body(self) -> list[Operation]:
        """The block of the function to which what is appended belongs."""
        bodies = {id(block) for block in (self._open[0], *self._given.values())}
        return next(block for block in reversed(self._open) if id(block) in bodies)

    @property
    def is_nested(self) -> bool:
        """Whether what is appended belongs to a branch or loop."""
        return len(self._open) > 1

    @contextmanager
    def block(self, given: Iterable[Value] = ()) -> Iterator[list[Operation]]:
        """Open a nested block: `with builder.block() as operations: …` collects into the list.
        given: the parameters, where it is the body of a function."""
        operations: list[Operation] = []
        self._given.update(dict.fromkeys(given, operations))
        with self.resume(operations):
            yield operations

    @contextmanager
    def resume(self, operations: list[Operation]) -> Iterator[None]:
        """Append to a nested block that was opened, and left, before."""
        self._open.append(operations)
        self._fresh.append(len(operations))
        try:
            yield
        finally:
            self._open.pop()
            self._fresh.pop()

    def insert(self, block: list[Operation], position: int, operation: Operation) -> None:
        """Put an operation into an open block before others."""
        block.insert(position, operation)
        for result in operation.results:
            self._definition[result] = operation

    def begin_statement(self) -> None:
        """What the open block holds so far may be referred to elsewhere; it keeps its names."""
        self._fresh[-1] = len(self._open[-1])

    def rename(self, value: Value, name: str) -> Value:
        """The value, which gets this name if it has none and the current statement has made it, or
        unread code. It stays the same value, wherever it is held."""
        if value.name or not name:
            return value
        if isinstance(value.type, Opaque):
            object.__setattr__(value, "name", name)
            return value
        for operation in reversed(self._open[-1][self._fresh[-1] :]):
            if value in operation.results:
                object.__setattr__(value, "name", name)
                break
            if operation.regions:
                break
        return value

    def relocate(self, start: int, location: Location) -> None:
        """Give a location to all operations of the open block from `start` on, and in them."""
        operations = self._open[-1]
        operations[start:] = [_relocated(o, location) for o in operations[start:]]

    @property
    def operations(self) -> list[Operation]:
        """The operations of the innermost open block so far."""
        return self._open[-1]

    def named(self, type_: Type, name: str = "") -> Value:
        """A new value. An integer of which nothing is known gets a symbol of its own."""
        if is_integer(type_) and type_.value is None:
            symbol = Symbol(name or "n", minimum=None)
            type_ = replace(type_, value=Affine.of(symbol))
        value = Value(type_, name)
        self._born[value] = self.made + 1
        return value

    @property
    def made(self) -> int:
        """The number of values made so far."""
        return len(self._born)

    def is_older(self, value: Value, number: int) -> bool:
        """Whether a value was among the first `number` that were made."""
        return self._born.get(value, 0) <= number


def _relocated(operation: Operation, location: Location) -> Operation:
    regions = tuple(
        replace(region, operations=tuple(_relocated(o, location) for o in region.operations))
        for region in operation.regions
    )
    return replace(operation, location=location, regions=regions)


def _number_operands(tree: Any, operands: list[Value]) -> Any:
    """The tree with each value replaced by an `Operand`, the values appended to operands."""
    if isinstance(tree, Value):
        operands.append(tree)
        return Operand(len(operands) - 1)
    if isinstance(tree, SliceOf):
        parts = (tree.start, tree.stop, tree.step)
        return SliceOf(*(_number_operands(part, operands) for part in parts))
    if isinstance(tree, (tuple, list)):
        return type(tree)(_number_operands(item, operands) for item in tree)
    if isinstance(tree, dict):
        return {key: _number_operands(item, operands) for key, item in tree.items()}
    return tree
