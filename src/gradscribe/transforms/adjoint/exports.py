"""Exports: what the adjoint needs of the primal, and the primal rebuilt to provide it.

A value of a nested block is *exported* to the block around it: out of a loop as a record that
the loop collects, out of a branch as one more result of the `if`. An export is a value of the
outer block itself, so that what lies several levels deep is exported level by level. What is
cheap to compute again (`is_cheap`) is not exported.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    Block,
    Callee,
    LoopShape,
    Operand,
    Operation,
    Value,
    map_operands,
)
from gradscribe.ir.flow import Loop
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import BOOL, INT, Collected, RecordOf, Tuple
from gradscribe.primitives.control import CONSTANT, ITEM, UNDEF
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.analyses.def_use import DefUse
from gradscribe.transforms.building import view_at


@dataclass
class _LoopExports:
    """What a loop provides besides its own results: records by collected value, and the number
    of its iterations."""

    records: dict[Value, Value] = field(default_factory=dict)
    iterations: Value | None = None


class Exports:
    """The values asked for so far."""

    def __init__(self, structure: DefUse, facts: Facts) -> None:
        self._structure = structure
        self._facts = facts
        self._loops: dict[Operation, _LoopExports] = {}
        self._branches: dict[Operation, tuple[dict[Value, Value], dict[Value, Value]]] = {}
        self._items: dict[Operation, dict[int, Operation]] = {}
        self._completed: dict[Operation, Value] = {}
        self._overwritten: dict[Operation, tuple[list[Operation], Value]] = {}
        self._calls: dict[Operation, tuple[Callee, Value]] = {}

    def record(self, loop: Operation, value: Value) -> Value:
        """The record of a value of the loop's body, one element an iteration."""
        records = self._loops.setdefault(loop, _LoopExports()).records
        if value not in records:
            is_undo = any(value is old for _, old in self._overwritten.values())
            name = "undo" if is_undo else value.name or "steps"
            records[value] = self._new(loop, Value(Collected(value.type), name))
        return records[value]

    def iterations(self, loop: Operation) -> Value:
        """How many iterations the loop made."""
        exports = self._loops.setdefault(loop, _LoopExports())
        if exports.iterations is None:
            type_ = replace(INT, value=Affine.of(Symbol("iterations", 0)))
            exports.iterations = self._new(loop, Value(type_, "iterations"))
        return exports.iterations

    def out_of_branch(self, operation: Operation, side: int, value: Value) -> Value:
        """A value of one side of an `if`, visible after it (undefined on the other side)."""
        results = self._branches.setdefault(operation, ({}, {}))[side]
        if value not in results:
            results[value] = self._new(operation, Value(value.type, value.name))
        return results[value]

    def items(self, value: Value) -> tuple[Value, ...]:
        """The items of a tuple that an operation makes."""
        assert isinstance(value.type, Tuple)
        made = self._structure.definition[value]
        block = self._structure.block_of[made]
        found = {
            operation.attributes["position"]: operation.result
            for operation in reversed(block.operations)
            if operation.primitive is ITEM and operation.operands[0] is value
        }
        added = self._items.setdefault(made, {})
        for position, type_ in enumerate(value.type.items):
            if position not in found and position not in added:
                attributes = {"x": Operand(0), "position": position}
                item = Operation(
                    ITEM, (value,), (Value(type_),), attributes, location=made.location
                )
                added[position] = item
                self._structure.block_of[item] = block
                self._structure.define(item.result, item)
        found.update({position: item.result for position, item in added.items()})
        return tuple(found[position] for position in range(len(value.type.items)))

    def completed(self, attempt: Operation) -> Value:
        """Whether the first side of a `try` was completed."""
        if attempt not in self._completed:
            self._completed[attempt] = self._new(attempt, Value(BOOL))
        return self._completed[attempt]

    def record_of_call(self, call: Operation, forward: Callee) -> Value:
        """The record of a call, which is then one of `forward`."""
        if call not in self._calls:
            record = self._new(call, Value(RecordOf(forward.name), "record"))
            self._calls[call] = forward, record
        return self._calls[call][1]

    def overwritten(self, store: Operation) -> Value:
        """What was, before a store, where it stores."""
        if store not in self._overwritten:
            builder = Builder(self._facts)
            builder.location = store.location
            path = map_operands(
                store.attributes["path"], lambda operand: store.operands[operand.index]
            )
            old = view_at(builder, store.operands[0], path)
            for operation in builder.operations:
                self._structure.block_of[operation] = self._structure.block_of[store]
                self._structure.define(operation.result, operation)
            self._overwritten[store] = (list(builder.operations), old)
        return self._overwritten[store][1]

    def _new(self, operation: Operation, value: Value) -> Value:
        self._structure.define(value, operation)
        return value

    # -- the primal with its exports --------------------------------------------------------

    def rebuild(self, block: Block) -> Block:
        """The block with everything that was asked for."""
        operations: list[Operation] = []
        for operation in block.operations:
            operations += self._overwritten.get(operation, ([],))[0]
            if operation.regions:
                regions = tuple(self.rebuild(region) for region in operation.regions)
                operation_ = replace(operation, regions=regions)
                if operation in self._loops:
                    operation_, before = self._with_records(operation_, self._loops[operation])
                    operations += before
                elif operation in self._branches:
                    operation_ = self._with_branch_values(operation_, self._branches[operation])
                if operation in self._completed:
                    operation_ = self._with_flag(operation_, self._completed[operation])
                operations.append(operation_)
            elif operation in self._calls:
                forward, record = self._calls[operation]
                results = (*operation.results, record)
                attributes = {"function": forward}
                operations.append(replace(operation, results=results, attributes=attributes))
            else:
                operations.append(operation)
            operations += self._items.get(operation, {}).values()
        if len(operations) == len(block.operations) and all(
            a is b for a, b in zip(operations, block.operations, strict=True)
        ):
            return block
        return Block(block.parameters, tuple(operations), block.yields)

    def _with_records(
        self, loop: Operation, exports: _LoopExports
    ) -> tuple[Operation, list[Operation]]:
        """The loop that collects, and the operations it needs before it."""
        shape: LoopShape = loop.attributes["shape"]
        before: list[Operation] = []
        if exports.iterations is not None:
            loop, before = self._counting(loop, exports.iterations)
            shape = loop.attributes["shape"]
        body = loop.regions[0]
        body = replace(body, yields=(*body.yields, *exports.records))
        shape = replace(shape, collects=shape.collects + len(exports.records))
        loop = replace(
            loop,
            results=(*loop.results, *exports.records.values()),
            attributes={**loop.attributes, "shape": shape},
            regions=(body, *loop.regions[1:]),
        )
        return loop, before

    def _counting(self, loop: Operation, iterations: Value) -> tuple[Operation, list[Operation]]:
        """The loop that carries the number of its iterations besides, and the initial 0."""
        parts = Loop(loop)
        shape = parts.shape
        builder = Builder(self._facts)
        builder.location = loop.location
        zero = builder.call(CONSTANT, {"value": 0})
        before = list(builder.operations)
        counters = [builder.named(INT, "iterations") for _ in loop.regions]
        with builder.block() as counting:
            one = builder.call(CONSTANT, {"value": 1})
            add = PRIMITIVES[operator.add]
            arguments = {"x": counters[0], "y": one}
            after = builder.call(add, arguments, name="iterations", callee=operator.add)
        body, *conditions = loop.regions
        body = Block(
            (*body.parameters, counters[0]),
            (*counting, *body.operations),
            (*parts.following, after, *parts.exits, *parts.elements),
        )
        regions = [body]
        for counter, condition in zip(counters[1:], conditions, strict=True):
            regions.append(replace(condition, parameters=(*condition.parameters, counter)))
        counted = replace(
            loop,
            operands=(*loop.operands, zero),
            results=(*parts.results, iterations, *parts.collected),
            attributes={**loop.attributes, "shape": replace(shape, carried=shape.carried + 1)},
            regions=tuple(regions),
        )
        return counted, before

    def _with_flag(self, attempt: Operation, flag: Value) -> Operation:
        """The `try` with True as one more result of its first side, and False of its second."""
        regions = []
        for region, outcome in zip(attempt.regions, (True, False), strict=True):
            value, attributes = Value(BOOL), {"value": outcome}
            constant = Operation(CONSTANT, (), (value,), attributes, location=attempt.location)
            operations = (*region.operations, constant)
            regions.append(Block(region.parameters, operations, (*region.yields, value)))
        return replace(attempt, results=(*attempt.results, flag), regions=tuple(regions))

    def _with_branch_values(
        self, operation: Operation, exports: tuple[dict[Value, Value], dict[Value, Value]]
    ) -> Operation:
        regions: list[Block] = []
        for side, region in enumerate(operation.regions):
            undefined: list[Operation] = []
            yields = list(region.yields)
            for other, values in enumerate(exports):
                for value in values:
                    if other != side:
                        nothing = Value(value.type)
                        undefined.append(
                            Operation(
                                UNDEF,
                                (),
                                (nothing,),
                                {"type": value.type},
                                location=operation.location,
                            )
                        )
                        value = nothing
                    yields.append(value)
            regions.append(Block((), (*undefined, *region.operations), tuple(yields)))
        results = [*operation.results, *exports[0].values(), *exports[1].values()]
        return replace(operation, results=tuple(results), regions=tuple(regions))


# -- paths -------------------------------------------------------------------------------
