"""Dead-code elimination that sees through carried values, results of `if`, and records.

Liveness is optimistic: nothing is live but effects, the results of the function, and what those
need. A carried value that only feeds itself is therefore dead, a record that no live loop
consumes is not collected, and a loop or `if` without live results and effects goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, compress
from typing import TypeVar

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Callee,
    Function,
    Operation,
    Value,
    walk,
)
from gradscribe.ir.flow import Iterated, Loop
from gradscribe.ir.roles import is_derived
from gradscribe.ir.types import Array, Collected, Scalar, Type
from gradscribe.ir.types import Sequence as SequenceType
from gradscribe.primitives.control import ENTER, EXIT, LEN, RESUMED
from gradscribe.primitives.raising import is_attempt, may_raise, taken_down

Item = TypeVar("Item")

_FROM_ZERO = (Affine.of(0), Affine.of(1))
"""Where a range starts, and its step."""


def eliminate_dead_code(function: Function, *, keep_ranges: bool = False) -> Function:
    """The function without what neither its results nor its effects need.

    keep_ranges: let loops run over ranges that only count, for the sake of further rewrites.
    """
    liveness = _Liveness(function, keep_ranges)
    body = liveness.live_part(function.body, function.body.yields, function.body.parameters)
    return function if body is function.body else replace(function, body=body)


class _Liveness:
    """Which values and operations of a function are live.

    _sources: for each value that an operation defines, the operation and the values that it is
        made of. _control: what an operation with regions needs besides, whatever is read of it.
    _taken_down: of each block of a manager around, what the program takes down in it.
    """

    def __init__(self, function: Function, keep_ranges: bool) -> None:
        self._facts = function.facts
        self._keep_ranges = keep_ranges
        self._live: set[Value] = set()
        self._alive: set[Operation] = set()
        self._sources: dict[Value, tuple[Operation, Sequence[Value]]] = {}
        self._control: dict[Operation, list[Value]] = {}
        self._parents: dict[Operation, Operation | None] = {}
        self._loops: list[Operation] = []
        self._kept: dict[Operation, set[int]] = {}
        self._taken_down: list[tuple[type[BaseException], ...]] = []
        effects: list[Operation] = []
        self._scan(function.body, None, effects)
        for operation in effects:
            self._mark([*self._revive(operation), *operation.operands])
        self._mark(function.body.yields)
        while any(self._keep_iterations(loop) for loop in reversed(self._loops)):
            pass

    def _scan(self, block: Block, parent: Operation | None, effects: list[Operation]) -> None:
        parents, sources = self._parents, self._sources
        outer = list(self._taken_down)
        for operation in block.operations:
            parents[operation] = parent
            if operation.regions:
                _SCANS[operation.primitive](self, operation)
                if operation.primitive is IF:
                    effects += self._attempted(operation)
                for region in operation.regions:
                    self._scan(region, operation, effects)
            else:
                for result in operation.results:
                    sources[result] = (operation, operation.operands)
                if operation.primitive is ENTER:
                    self._taken_down.append(taken_down(operation))
                elif operation.primitive is EXIT and self._taken_down:
                    self._taken_down.pop()
                if operation.primitive.effect or calls_effect(operation) or self._lasts(operation):
                    effects.append(operation)
        self._taken_down = outer

    def _lasts(self, operation: Operation) -> bool:
        """Whether an operation of the program is done, needed or not."""
        if is_derived(operation):
            return False
        caught = tuple(chain.from_iterable(self._taken_down))
        return operation.primitive.lasting or (bool(caught) and may_raise(operation, caught))

    def _attempted(self, operation: Operation) -> list[Operation]:
        """The operations in a `try` whose exceptions decide what is done: those of the program."""
        if not is_attempt(operation):
            return []
        attempt, _ = self._sources[operation.operands[0]]
        caught, made = attempt.attributes["catches"], list(walk(operation.regions[0]))
        before = [source for source, _ in self._sources.values() if not source.regions]
        around = [*before, *made]
        return [
            o for o in made if not (o.regions or is_derived(o)) and may_raise(o, caught, around)
        ]

    def _scan_if(self, operation: Operation) -> None:
        self._control[operation] = list(operation.operands)
        then, otherwise = operation.regions
        for result, *yields in zip(operation.results, then.yields, otherwise.yields, strict=True):
            self._sources[result] = (operation, yields)

    def _scan_loop(self, operation: Operation) -> None:
        loop = Loop(operation)
        self._loops.append(operation)
        control = list(loop.exits)
        for region in operation.regions[1:]:
            control += region.yields
        self._control[operation] = control
        for _, operands, item in loop.iterated:
            self._sources[item] = (operation, operands)
        for carried in loop.carried:
            for value in carried.names:
                self._sources[value] = (operation, (carried.initial, carried.following))
        for element, record in loop.records:
            self._sources[record] = (operation, (element,))

    def _mark(self, values: Sequence[Value]) -> None:
        """Make values live, and all that they need."""
        live, sources, alive = self._live, self._sources, self._alive
        pending = list(values)
        while pending:
            value = pending.pop()
            if value in live:
                continue
            live.add(value)
            source = sources.get(value)
            if source is not None:
                pending += source[1]
                if source[0] not in alive:
                    pending += self._revive(source[0])

    def _revive(self, operation: Operation | None) -> list[Value]:
        """Make an operation and those around it alive; the values that this needs."""
        needed: list[Value] = []
        while operation is not None and operation not in self._alive:
            self._alive.add(operation)
            needed += self._control.get(operation, ())
            operation = self._parents[operation]
        return needed

    def _keep_iterations(self, loop: Operation) -> bool:
        """Mark the iterables that a live loop needs to make the right number of iterations; whether
        there were any that were not live before."""
        if loop not in self._alive:
            return False
        parts = Loop(loop)
        shape, iterated = parts.shape, parts.iterated
        kept = {
            i
            for i, (kind, _, item) in enumerate(iterated)
            if item in self._live
            or (kind == "range" and (self._keep_ranges or _consumes_nested(parts)))
        }
        dead = [i for i in range(len(iterated)) if i not in kept]
        if dead:
            dead.sort(key=lambda i: self._cost(iterated[i]))
            equally_long = shape.reversed or "collected" in shape.iterables
            iterations = [set() if equally_long else self._iterations(each) for each in iterated]
            for i in dead:
                if not any(equally_long or iterations[i] & iterations[j] for j in kept):
                    kept.add(i)
        before = len(self._live)
        self._kept[loop] = kept
        for i in kept:
            self._mark(iterated[i].operands)
        return len(self._live) != before

    def _cost(self, iterated: Iterated) -> int:
        """What it takes to iterate only for the number of iterations."""
        if iterated.kind == "range":
            return 0
        iterable = iterated.operands[0]
        type_ = iterable.type
        if iterable in self._live or not isinstance(type_, Collected):
            return 1
        return 2 if isinstance(type_.item, Scalar) else 3

    def _iterations(self, iterated: Iterated) -> set[Affine | Value]:
        """The number of items of an iterable, if not negative, or a list that has as many, as far
        as the types or the range tell."""
        kind, operands, _ = iterated
        type_: Type = operands[0].type
        length: Affine | None = None
        found: set[Affine | Value] = set()
        if kind == "array" and isinstance(type_, Array):
            length = type_.dims[0]
        elif kind == "sequence" and isinstance(type_, SequenceType):
            length = type_.length
            found.add(operands[0])
        elif kind == "range":
            start, stop, step = (getattr(value.type, "value", None) for value in operands)
            if start is not None and stop is not None and step is not None and step.known == 1:
                length = stop - start
            made, _ = self._sources.get(operands[1], (None, ()))
            if made is not None and made.primitive is LEN and (start, step) == _FROM_ZERO:
                found.add(made.operands[0])
        return found if length is None else {*found, self._facts.normalize(length)}

    def live_part(
        self, block: Block, yields: tuple[Value, ...], parameters: tuple[Value, ...]
    ) -> Block:
        """The block with its live operations, and these yields and parameters."""
        operations: list[Operation] = []
        for operation in block.operations:
            if operation not in self._alive:
                continue
            if operation.primitive is EXIT and _is_empty_context(operations):
                operations.pop()
                continue
            part = _PARTS.get(operation.primitive)
            operations.append(part(self, operation) if part else operation)
        same = len(operations) == len(block.operations) and all(
            a is b for a, b in zip(operations, block.operations, strict=True)
        )
        if same and yields == block.yields and parameters == block.parameters:
            return block
        return Block(parameters, tuple(operations), yields)

    def _live_if(self, operation: Operation) -> Operation:
        live = [result in self._live for result in operation.results]
        regions = tuple(
            self.live_part(region, _select(region.yields, live), ()) for region in operation.regions
        )
        results = _select(operation.results, live)
        if results == operation.results and _identical(regions, operation.regions):
            return operation
        return replace(operation, results=results, regions=regions)

    def _live_loop(self, operation: Operation) -> Operation:
        loop = Loop(operation)
        shape = loop.shape
        kept = [i in self._kept[operation] for i in range(len(shape.iterables))]
        carried = [any(value in self._live for value in each.names) for each in loop.carried]
        collected = [record in self._live for record in loop.collected]
        body, *condition = operation.regions
        yields = (
            *_select(loop.following, carried),
            *loop.exits,
            *_select(loop.elements, collected),
        )
        regions = [self.live_part(body, yields, _select(body.parameters, kept + carried))]
        for region in condition:
            parameters = _select(region.parameters, carried)
            regions.append(self.live_part(region, region.yields, parameters))
        if all(kept) and all(carried) and all(collected):
            if _identical(regions, operation.regions):
                return operation
            return replace(operation, regions=tuple(regions))
        return replace(
            operation,
            operands=(
                *chain.from_iterable(each.operands for each in compress(loop.iterated, kept)),
                *_select(loop.initial, carried),
            ),
            results=_select(operation.results, carried + collected),
            attributes={
                **operation.attributes,
                "shape": replace(
                    shape,
                    iterables=_select(shape.iterables, kept),
                    carried=sum(carried),
                    collects=sum(collected),
                ),
            },
            regions=tuple(regions),
        )


_SCANS: dict[object, Callable[[_Liveness, Operation], None]] = {
    IF: _Liveness._scan_if,
    LOOP: _Liveness._scan_loop,
}
_PARTS: dict[object, Callable[[_Liveness, Operation], Operation]] = {
    IF: _Liveness._live_if,
    LOOP: _Liveness._live_loop,
}


def _is_empty_context(operations: Sequence[Operation]) -> bool:
    """Whether these operations end where a context begins that only matters to what it holds."""
    last = operations[-1] if operations else None
    return last is not None and last.primitive is ENTER and last.callee in RESUMED


def calls_effect(operation: Operation) -> bool:
    """Whether an operation calls a function that does more than give results."""
    if operation.primitive is not CALL:
        return False
    callee = operation.attributes["function"]
    return not isinstance(callee, Callee) or callee.effect


def _consumes_nested(loop: Loop) -> bool:
    """Whether a loop runs over records of records, which are to become one stack."""
    return any(isinstance(item.type, Collected) for item in loop.items)


def _select(items: tuple[Item, ...], keep: Sequence[bool]) -> tuple[Item, ...]:
    return tuple(compress(items, keep))


def _identical(a: Sequence[object], b: Sequence[object]) -> bool:
    return all(x is y for x, y in zip(a, b, strict=True))
