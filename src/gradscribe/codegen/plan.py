"""All decisions about a function's text, made before the first statement is written."""

from __future__ import annotations

from dataclasses import dataclass

from gradscribe.codegen.copies import read_copies
from gradscribe.codegen.folding import Folded, fold
from gradscribe.codegen.interference import Interference
from gradscribe.codegen.names import Names, name_variables
from gradscribe.codegen.normalize import normalize
from gradscribe.codegen.records import recorded
from gradscribe.codegen.uses import Pattern, Uses, carried, destructured, uses_of
from gradscribe.ir.core import LOOP, Block, Function, Operation, Value
from gradscribe.primitives.control import UNDEF


@dataclass(frozen=True)
class Plan:
    """function: in normal form. folded: values written where they are read. conditionals:
    branches that are one expression. patterns: tuples that are bound item by item (bound: the
    items). names: of all other values. carried: what loops need a variable for. recorded:
    values that must be bound on every path."""

    function: Function
    uses: Uses
    folded: set[Value]
    conditionals: set[Operation]
    patterns: dict[Value, Pattern]
    bound: frozenset[Value]
    names: Names
    carried: set[Value]
    recorded: frozenset[Value]

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


def plan(function: Function) -> Plan:
    """The plan for a bufferized function."""
    function = normalize(read_copies(function))
    uses = uses_of(function)
    patterns = destructured(uses)
    returned = _only_derivative(function, uses)
    folded = fold(function, uses, patterns, returned)
    interference, names = _named(function, uses, patterns, folded)
    late = set(_late(function.body, uses, names))
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
    )


def _named(
    function: Function, uses: Uses, patterns: dict[Value, Pattern], folded: Folded
) -> tuple[Interference, Names]:
    interference = Interference(function, uses, folded, patterns)
    unnamed = folded.values.union(patterns)
    return interference, name_variables(function, uses, unnamed, interference)


def _only_derivative(function: Function, uses: Uses) -> set[Value]:
    """The derivative that is all that a function returns: `return x.T @ d_z`."""
    if len(function.body.yields) != 1:
        return set()
    producer = uses.producer.get(function.body.yields[0])
    location = None if producer is None else producer.location
    return set() if location is None or location.role == "primal" else set(function.body.yields)


def _late(block: Block, uses: Uses, names: Names) -> list[Value]:
    """The user's values that a loop carries on in a variable of another name, so that they
    had better be computed at the end of the trip: `a, b = b, a + b`."""
    found: list[Value] = []
    for operation in block.operations:
        for region in operation.regions:
            found += _late(region, uses, names)
        if operation.primitive is LOOP:
            found += [
                value
                for _, parameter, value, _ in carried(operation)
                if value.name
                and value.name == parameter.name
                and names.of.get(value) != names.of.get(parameter)
                and len(uses.of(value)) == 1
            ]
    return found
