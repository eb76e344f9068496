"""Which values may not share a variable: each is assigned while the other is still needed.

One backward walk over the statements that will be written. An expression that was folded into
a statement is read there, so liveness is that of the text, not that of the IR.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from gradscribe.codegen.folding import Folded
from gradscribe.codegen.uses import IN_PLACE, Pattern, Uses, bound_by
from gradscribe.ir.core import IF, LOOP, Block, Function, Operation, Value, walk
from gradscribe.ir.flow import Loop
from gradscribe.primitives.lifetimes import ENDS, read_at_end
from gradscribe.primitives.raising import Classes, is_attempt, may_raise


class Interference:
    """neighbours: for each value, those that it may not share a variable with. carried: the
    parameters of loops that are read, in the loop or after it, so that a variable carries them.
    after: what is live after the operations that let go of something.
    """

    def __init__(
        self, function: Function, uses: Uses, folded: Folded, patterns: dict[Value, Pattern]
    ) -> None:
        self.neighbours: dict[Value, set[Value]] = {}
        self.carried: set[Value] = set()
        self.after: dict[Operation, frozenset[Value]] = {}
        self._uses = uses
        self._folded = folded.values
        self._conditionals = folded.conditionals
        self._patterns = patterns
        self._bound = {v for pattern in patterns.values() for v in pattern.values()}
        self._reads: dict[Value, frozenset[Value]] = {}
        self._handlers: list[tuple[Classes, set[Value]]] = []
        self._handled: Set[Value] = frozenset()
        live = self._block(function.body, self._read_all(function.body.yields))
        for parameter in function.body.parameters:
            self._define(parameter, live)

    def reads(self, value: Value) -> frozenset[Value]:
        """The variables that the text of a value reads."""
        if value not in self._folded:
            return frozenset((value,))
        if value not in self._reads:
            self._reads[value] = frozenset(self._read_by(self._uses.producer[value]))
        return self._reads[value]

    def _read_by(self, operation: Operation) -> set[Value]:
        """The variables that an operation reads which is one expression or simple statement."""
        found = self._read_all(operation.operands)
        for region in operation.regions:
            found |= self._read_all(region.yields)
        return found

    def _read_all(self, values: Iterable[Value]) -> set[Value]:
        return {variable for value in values for variable in self.reads(value)}

    def _define(self, value: Value, live: Set[Value]) -> None:
        """Note that value is assigned where these are live, and what handlers read that a
        statement after it may lead to."""
        neighbours = self.neighbours
        own = neighbours.setdefault(value, set())
        needed = live | self._handled
        own |= needed
        for other in needed:
            if other in neighbours:
                neighbours[other].add(value)
            else:
                neighbours[other] = {value}
        own.discard(value)

    def _block(self, block: Block, live: set[Value]) -> set[Value]:
        """Walk a block, given what is live at its end; what is live where it begins."""
        live = set(live)
        for operation in reversed(block.operations):
            results = operation.results
            if results and all(r in self._folded or r in self._bound for r in results):
                continue
            if operation.primitive is IF and operation not in self._conditionals:
                live = self._if(operation, live)
            elif operation.primitive is LOOP:
                live = self._loop(operation, live)
            else:
                self._simple(operation, live)
            self._note_handlers(operation)
        return live

    def _simple(self, operation: Operation, live: set[Value]) -> None:
        if operation.primitive in IN_PLACE and operation.operands[0] in live:
            message = f"{operation!r} stores into a value that is still needed"
            raise AssertionError(message)
        for result in operation.results:
            for variable in bound_by(result, self._patterns):
                self._define(variable, live)
                live.discard(variable)
        if operation.callee in ENDS:
            self.after[operation] = frozenset(live)
            live |= self._read_all(read_at_end(operation))
            return
        live |= self._read_by(operation)

    def _if(self, operation: Operation, live: set[Value]) -> set[Value]:
        used = [bool(self._uses.of(result)) for result in operation.results]
        for result, is_used in zip(operation.results, used, strict=True):
            if is_used:
                self._define(result, live)
        outside = live.difference(operation.results)
        before = self._read_all(operation.operands)
        handlers, handled = len(self._handlers), self._handled
        for region in reversed(operation.regions):
            yields = [v for v, is_used in zip(region.yields, used, strict=True) if is_used]
            before |= self._block(region, outside | self._read_all(yields))
            if is_attempt(operation):
                attempt = self._uses.producer[operation.operands[0]]
                self._handlers.append((tuple(attempt.attributes["catches"]), set(before)))
        del self._handlers[handlers:]
        self._handled = handled
        return before

    def _note_handlers(self, operation: Operation) -> None:
        """Note what is read by those who handle what a statement may raise."""
        for caught, live in self._handlers:
            if not live <= self._handled and self._may_raise(operation, caught):
                self._handled = self._handled | live

    def _may_raise(self, operation: Operation, caught: Classes) -> bool:
        """Whether the text of an operation may raise, what is folded into it included."""
        if may_raise(operation, caught, self._uses.makers(operation)):
            return True
        inner = (o for region in operation.regions for o in walk(region))
        read = (v for o in (operation, *inner) for v in o.operands if v in self._folded)
        return any(self._may_raise(self._uses.producer[value], caught) for value in read)

    def _loop(self, loop: Operation, live: set[Value]) -> set[Value]:
        parts = Loop(loop)
        body = parts.body
        phis = [phi for phi in parts.carried if any(map(self._uses.of, phi.names))]
        parameters = [phi.parameter for phi in phis]
        self.carried.update(parameters)
        self._note_handlers(loop)
        throughout = live.difference(loop.results)
        for region in loop.regions:
            throughout |= self._free(region)
        iterated = self._read_all(parts.iterables)
        again = self._read_all(parts.exits)
        for phi in phis:
            before = (again - {phi.following}) | (iterated - {phi.initial})
            self._define(phi.result, live)
            self._define(phi.parameter, throughout | before)
        inside = throughout | again | self._read_all(phi.following for phi in phis)
        entry = self._block(body, inside)
        for region in loop.regions[1:]:
            entry.update(parameters)
            at_test = self._block(
                region, throughout.union(region.parameters, self._read_all(region.yields))
            )
            for parameter in region.parameters:
                self._define(parameter, at_test)
        items = parts.items
        for value in (*items, *parameters):
            for variable in bound_by(value, self._patterns):
                if not variable.name and value in items:
                    self._define(variable, {r for o in walk(body) for r in o.results})
                if variable in entry or value in items:
                    self._define(variable, entry | iterated if value in items else entry)
        return throughout | iterated | self._read_all(phi.initial for phi in phis)

    def _free(self, block: Block) -> set[Value]:
        """The variables from outside that a block reads."""
        found = self._read_all(block.yields)
        for operation in block.operations:
            found |= self._read_all(operation.operands)
            for region in operation.regions:
                found |= self._free(region)
        for operation in block.operations:
            found.difference_update(operation.results)
        return found.difference(block.parameters)
