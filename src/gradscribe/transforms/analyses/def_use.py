"""Where the values of a function are defined, and which arrays are versions of one another.

An array that is stored to is, in the IR, a chain of values: `STORE` makes the next version from
the one before, loops carry versions, branches merge them. All versions of one array form a
*chain*; a chain is what can be restored, version by version, by undoing its stores.
"""

from __future__ import annotations

from collections import Counter

from gradscribe.ir.core import IF, Block, Function, Operation, Value
from gradscribe.ir.flow import merges, sources
from gradscribe.ir.types import Array
from gradscribe.primitives.control import UNDEF
from gradscribe.primitives.indexing import ACCUMULATE, STORE

STORES = frozenset({STORE, ACCUMULATE})


class DefUse:
    """Where the values of one function are defined and used.

    parameters: the leaves of its parameters. block_of: the block that defines a value (or holds
    an operation). definition: the operation that makes a value (absent for parameters).
    owner: the operation whose region a block is. uses: how often a value is read.
    store: the store that makes the next version of an array, by (array, block of the store).
    """

    def __init__(self, function: Function) -> None:
        self.parameters = frozenset(function.body.parameters)
        self.block_of: dict[Value | Operation, Block] = {}
        self.definition: dict[Value, Operation] = {}
        self.owner: dict[Block, Operation] = {}
        self.store: dict[tuple[Value, Block], Operation] = {}
        self.uses: Counter[Value] = Counter()
        self._parent: dict[Value, Value] = {}
        self._stores: list[tuple[Value, tuple[Operation, ...]]] = []
        self._scan(function.body, ())
        self.stored: frozenset[Value] = frozenset(self.chain(x) for x, _ in self._stores)
        self._stored_in: dict[Operation, set[Value]] = {}
        for x, regions in self._stores:
            for operation in regions:
                self._stored_in.setdefault(operation, set()).add(self.chain(x))

    def chain(self, value: Value) -> Value:
        """The representative of the chain that an array belongs to."""
        parent = self._parent
        while (above := parent.get(value, value)) is not value:
            parent[value] = parent.get(above, above)
            value = above
        return value

    def is_stored(self, value: Value) -> bool:
        """Whether the value is a version of an array that is stored to."""
        return isinstance(value.type, Array) and self.chain(value) in self.stored

    def stores_to(self, operation: Operation, chain: Value) -> bool:
        """Whether an `if` or loop stores to the array of this chain."""
        return chain in self._stored_in.get(operation, ())

    def is_undefined(self, value: Value) -> bool:
        """Whether the value stands for a name that is not bound yet."""
        definition = self.definition.get(value)
        return definition is not None and definition.primitive is UNDEF

    def define(self, value: Value, operation: Operation) -> None:
        """Enter a value that is made by an operation in addition to its results."""
        self.definition[value] = operation
        self.block_of[value] = self.block_of[operation]

    def entry(self, value: Value, block: Block) -> Value:
        """The version of an array at the start of a block, given the one at its end."""
        while self.block_of[value] is block and value in self.definition:
            operation = self.definition[value]
            before = _before(operation, value)
            if before is None:
                break
            if operation.primitive is IF:
                before = self.entry(before, operation.regions[0])
            value = before
        return value

    def _scan(self, block: Block, around: tuple[Operation, ...]) -> None:
        for parameter in block.parameters:
            self.block_of[parameter] = block
        self.uses.update(block.yields)
        for operation in block.operations:
            self.block_of[operation] = block
            self.uses.update(operation.operands)
            for result in operation.results:
                self.block_of[result] = block
                self.definition[result] = operation
            if operation.primitive in STORES:
                x = operation.operands[0]
                self.store.setdefault((x, block), operation)
                self._stores.append((x, around))
                self._join(x, operation.result)
            for region in operation.regions:
                self.owner[region] = operation
                self._scan(region, (*around, operation))
            for source, target in merges(operation):
                self._join(source, target)

    def _join(self, a: Value, b: Value) -> None:
        if isinstance(a.type, Array) and isinstance(b.type, Array):
            self._parent[self.chain(a)] = self.chain(b)


def _before(operation: Operation, value: Value) -> Value | None:
    """The version that an operation made `value` from (for `if`: what its first side yields)."""
    if operation.primitive in STORES:
        return operation.operands[0]
    if value not in operation.results:
        return None
    return next(iter(sources(operation, value)), None)
