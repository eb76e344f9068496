"""All decisions about a function's text, made before the first statement is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradscribe.codegen.copies import read_copies
from gradscribe.codegen.folding import Folded, fold
from gradscribe.codegen.interference import Interference
from gradscribe.codegen.names import Names, name_variables
from gradscribe.codegen.normalize import normalize
from gradscribe.codegen.records import recorded
from gradscribe.codegen.uses import (
    Pattern,
    Uses,
    destructured,
    stored_value,
    uses_of,
)
from gradscribe.ir.core import LOOP, Block, Function, Operation, Value
from gradscribe.ir.flow import Loop, merges
from gradscribe.primitives.control import UNDEF, ZEROS_LIKE


@dataclass(frozen=True)
class Plan:
    """function: in normal form. folded: values written where they are read. conditionals:
    branches that are one expression. patterns: tuples that are bound item by item (bound: the
    items). names: of all other values. carried: what loops need a variable for. recorded:
    values that must be bound on every path. after: what is needed after the operations that let
    go of something."""

    function: Function
    uses: Uses
    folded: set[Value]
    conditionals: set[Operation]
    patterns: dict[Value, Pattern]
    bound: frozenset[Value]
    names: Names
    carried: set[Value]
    recorded: frozenset[Value]
    after: dict[Operation, frozenset[Value]]

    def is_used(self, value: Value) -> bool:
        return bool(self.uses.of(value))

    def is_statement(self, operation: Operation) -> bool:
        """Whether an operation is more than a part of another one's text."""
        results = operation.results
        return not results or not all(r in self.folded or r in self.bound for r in results)

    def is_undefined(self, value: Value) -> bool:
        producer = self.uses.producer.get(value)
        return producer is not None and producer.primitive is UNDEF

    def statements(self, block: Block) -> list[Operation]:
        return [operation for operation in block.operations if self.is_statement(operation)]


def plan(function: Function, *, stepwise: bool = False) -> Plan:
    """The plan for a bufferized function. stepwise: each operation is a statement of its own."""
    function = normalize(read_copies(function))
    uses = uses_of(function)
    patterns = destructured(uses)
    returned = set() if stepwise else _released(function, uses)
    folded = fold(function, uses, patterns, returned, stepwise=stepwise)
    interference, names = _named(function, uses, patterns, folded)
    late = set() if stepwise else set(_late(function.body, uses, names))
    if late:
        folded = fold(function, uses, patterns, returned | late)
        interference, names = _named(function, uses, patterns, folded)
    return Plan(
        function,
        uses,
        folded.values,
        folded.conditionals,
        patterns,
        frozenset(value for pattern in patterns.values() for value in pattern.values()),
        names,
        interference.carried,
        recorded(function, names.of),
        interference.after,
    )


def _named(
    function: Function, uses: Uses, patterns: dict[Value, Pattern], folded: Folded
) -> tuple[Interference, Names]:
    interference = Interference(function, uses, folded, patterns)
    unnamed = folded.values.union(patterns)
    return interference, name_variables(function, uses, unnamed, interference)


def _released(function: Function, uses: Uses) -> set[Value]:
    """Derivatives that are written where they are read, although they have a name: what is only
    added to an array or handed to a variable of another name (`d_x[i] = d_y * y`), and the one
    that is all that a function returns (`return x.T @ d_z`)."""
    found = set()
    yields = function.body.yields
    for value, producer in uses.producer.items():
        location, sites = producer.location, uses.of(value)
        if location is None or location.role == "primal" or not value.name or len(sites) != 1:
            continue
        block, position = sites[0]
        if position == len(block.operations):
            if block is function.body and len(yields) == 1:
                found.add(value)
        elif _takes(block.operations[position], value, producer):
            found.add(value)
    return found


def _takes(reader: Operation, value: Value, producer: Operation) -> bool:
    """Whether an operation stores a value, or starts a variable of another name with it (or with
    zeros, which are best made right there)."""
    if stored_value(reader) is value:
        return True
    if reader.primitive is not LOOP:
        return False
    is_zero = producer.primitive is ZEROS_LIKE
    return any(
        phi.initial is value and (is_zero or phi.parameter.name != value.name)
        for phi in Loop(reader).carried
    )


def _late(block: Block, uses: Uses, names: Names) -> list[Value]:
    """Values that a loop or a branch hands on in a variable of another name, so that they had
    better be computed at its end: `a, b = b, a + b`."""
    found: list[Value] = []
    for operation in block.operations:
        for region in operation.regions:
            found += _late(region, uses, names)
        found += [
            value
            for variable, value in _handed_on(operation)
            if value.name
            and value.name == variable.name
            and names.of.get(value) != names.of.get(variable)
            and len(uses.of(value)) == 1
        ]
    return found


def _handed_on(operation: Operation) -> Iterator[tuple[Value, Value]]:
    """(variable, value) for what the regions of a loop or branch leave in its variables."""
    if operation.primitive is LOOP:
        yield from ((phi.parameter, phi.following) for phi in Loop(operation).carried)
    else:
        yield from ((variable, value) for value, variable in merges(operation))
