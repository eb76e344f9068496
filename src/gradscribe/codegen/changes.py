"""What moving an expression past an operation would change.

Two relations between values answer that: values that may share an object (views, items of
containers, in-place results), so that a store into one is seen through the other; and values
that will probably share a variable (what a loop carries, what branches merge), so that
assigning one ends the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gradscribe.codegen.uses import IN_PLACE, STACK_STEPS, Pattern, Uses, bound_by
from gradscribe.ir import types
from gradscribe.ir.core import CALL, IF, LOOP, Block, Function, Operation, Value
from gradscribe.ir.flow import Loop, merges
from gradscribe.ir.types import Array
from gradscribe.primitives.control import (
    ADD_ITEMS,
    ASSERT,
    ATTEMPT,
    CAUGHT,
    CHECK,
    CONSTANT,
    COPY,
    EFFECT,
    ENTER,
    EXIT,
    GET,
    ITEM,
    LENT,
    LENT_ITSELF,
    PUSH,
    RAISE,
    RENEW,
    STACK_POP,
    UNDEF,
    ZEROS_LIKE,
)
from gradscribe.primitives.indexing import ACCUMULATE, STORE

_FRESH = frozenset({COPY, LENT, LENT_ITSELF, ZEROS_LIKE, ADD_ITEMS})
_COPYING = frozenset({STORE, ACCUMULATE})
"""What copies the elements that it puts into an array."""

_TAKING_OUT = frozenset({GET, ITEM, STACK_POP, EFFECT, CALL})
"""Operations without regions whose result may be an array that they were given."""

BARRIERS = frozenset({ATTEMPT, CAUGHT, EFFECT, ENTER, EXIT, RAISE, RENEW, ASSERT, CHECK, CALL})
_OBJECTS = (Array, types.Sequence, types.Mapping, types.Tuple, types.Collected)


class Classes:
    """Disjoint sets of values (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}
        self._joined: set[Value] = set()

    def find(self, value: Value) -> Value:
        root = value
        while root in self._parent:
            root = self._parent[root]
        while value is not root:
            self._parent[value], value = root, self._parent[value]
        return root

    def join(self, a: Value, b: Value) -> None:
        a, b = self.find(a), self.find(b)
        if a is not b:
            self._parent[a] = b
            self._joined.update((a, b))

    def alone(self, value: Value) -> bool:
        return value not in self._joined


@dataclass
class Changes:
    """Objects stored to, variables and names assigned by an operation, regions included.

    barrier: it may do more than the IR says (print, raise).
    """

    objects: set[Value] = field(default_factory=set)
    variables: set[Value] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    barrier: bool = False

    def add(self, other: Changes) -> None:
        self.objects |= other.objects
        self.variables |= other.variables
        self.names |= other.names
        self.barrier |= other.barrier

    def touches(self, other: Changes) -> bool:
        return not (
            self.objects.isdisjoint(other.objects)
            and self.variables.isdisjoint(other.variables)
            and self.names.isdisjoint(other.names)
        )


class ChangeAnalysis:
    """kept: the values that are changed in place, and so must be variables."""

    def __init__(self, function: Function, uses: Uses, patterns: dict[Value, Pattern]) -> None:
        self.kept: set[Value] = set()
        self._uses = uses
        self._patterns = patterns
        self._objects, self._variables = Classes(), Classes()
        self._changes: dict[Operation, Changes] = {}
        self._names: Counter[str] = Counter(value.name for value in uses.home)
        self._relate(function.body)
        self._survey(function.body)

    def of(self, operation: Operation) -> Changes:
        return self._changes[operation]

    def read_by(self, operation: Operation) -> Changes:
        """What an operation reads, in the same terms as what others change."""
        values = list(_reads(operation))
        return Changes(
            {self._objects.find(v) for v in values if isinstance(v.type, _OBJECTS)},
            {self._variables.find(v) for v in values},
            {v.name for v in values if v.name},
        )

    def is_constant_variable(self, value: Value) -> bool:
        """Whether nothing else will ever be assigned to the variable that holds a value."""
        return (
            value not in self.kept
            and self._variables.alone(value)
            and (not value.name or self._names[value.name] == 1)
        )

    def _relate(self, block: Block) -> None:
        for operation in block.operations:
            for region in operation.regions:
                self._relate(region)
            if operation.primitive is LOOP:
                self._relate_loop(operation)
            elif operation.primitive is IF:
                for value, result in merges(operation):
                    self._same_variable(result, value)
            elif operation.primitive in IN_PLACE:
                self.kept.add(operation.operands[0])
                self._same_variable(operation.result, operation.operands[0])
                if operation.primitive not in _COPYING:
                    self._share(operation.result, operation.operands[1:])
            elif operation.primitive is PUSH:
                self.kept.add(operation.operands[0])
            else:
                for result in operation.results:
                    self._share(result, _shared(operation, result))

    def _relate_loop(self, loop: Operation) -> None:
        parts = Loop(loop)
        for phi in parts.carried:
            for other in (phi.initial, phi.following, phi.result, *phi.tested):
                self._same_variable(phi.parameter, other)
        for _, operands, item in parts.iterated:
            self._share(item, operands)

    def _same_variable(self, a: Value, b: Value) -> None:
        producer = self._uses.producer.get(b)
        if producer is None or producer.primitive not in (CONSTANT, UNDEF):
            self._variables.join(a, b)
            self._objects.join(a, b)

    def _share(self, value: Value, others: Iterable[Value]) -> None:
        if isinstance(value.type, _OBJECTS):
            for other in others:
                if isinstance(other.type, _OBJECTS):
                    self._objects.join(value, other)

    def _survey(self, block: Block) -> Changes:
        total = Changes()
        for parameter in block.parameters:
            total.names.update(v.name for v in bound_by(parameter, self._patterns))
        for operation in block.operations:
            changes = Changes(barrier=operation.primitive in BARRIERS)
            for region in operation.regions:
                changes.add(self._survey(region))
            if operation.primitive in IN_PLACE or operation.primitive in STACK_STEPS:
                changes.objects.add(self._objects.find(operation.operands[0]))
            for result in operation.results:
                changes.variables.add(self._variables.find(result))
                changes.names.update(v.name for v in bound_by(result, self._patterns))
            changes.names.discard("")
            self._changes[operation] = changes
            total.add(changes)
        total.names.discard("")
        return total


def _shared(operation: Operation, result: Value) -> Sequence[Value]:
    """The operands that a result may share an object with: an array is new, or a view of the
    first operand; what holds objects may hold any of them."""
    primitive = operation.primitive
    if primitive in _FRESH:
        return ()
    if primitive.view:
        return operation.operands[:1]
    if isinstance(result.type, Array) and primitive not in _TAKING_OUT:
        return ()
    return operation.operands


def _reads(operation: Operation) -> Iterable[Value]:
    yield from operation.operands
    for region in operation.regions:
        for inner in region.operations:
            yield from _reads(inner)
        yield from region.yields
