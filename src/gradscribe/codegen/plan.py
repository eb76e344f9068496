"""All decisions about a function's text, made before the first statement is written."""

from __future__ import annotations

from dataclasses import dataclass

from gradscribe.codegen.folding import fold
from gradscribe.codegen.interference import Interference
from gradscribe.codegen.names import Names, name_variables
from gradscribe.codegen.normalize import normalize
from gradscribe.codegen.uses import Pattern, Uses, carried, destructured, uses_of
from gradscribe.ir.core import IF, LOOP, Function, Operation, Value, walk
from gradscribe.primitives.control import PUSH, TUPLE, UNDEF


@dataclass(frozen=True)
class Plan:
    """function: in normal form. folded: values written where they are read. patterns: tuples
    that are bound item by item. names: of all other values. recorded: values that go into a
    record, and so must be bound on every path."""

    function: Function
    uses: Uses
    folded: set[Value]
    patterns: dict[Value, Pattern]
    bound: frozenset[Value]
    names: Names
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


def plan(function: Function) -> Plan:
    function = normalize(function)
    uses = uses_of(function)
    patterns = destructured(uses)
    folded = fold(function, uses, patterns)
    interference = Interference(function, uses, folded, patterns)
    names = name_variables(function, uses, folded.union(patterns), interference)
    bound = frozenset(v for pattern in patterns.values() for v in pattern.values())
    return Plan(function, uses, folded, patterns, bound, names, _recorded(function))


def _recorded(function: Function) -> frozenset[Value]:
    """The values that are packed up without being looked at, directly or after merges."""
    sources: dict[Value, tuple[Value, ...]] = {}
    pending = list(function.body.yields)
    for operation in walk(function.body):
        if operation.primitive in (PUSH, TUPLE):
            pending += operation.operands
        elif operation.primitive is IF:
            for results in zip(operation.results, *(r.yields for r in operation.regions), strict=True):
                sources[results[0]] = results[1:]
        elif operation.primitive is LOOP:
            for initial, parameter, value, result in carried(operation):
                sources[result] = (parameter,)
                sources[parameter] = (initial, value)
    found: set[Value] = set()
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += sources.get(value, ())
    return frozenset(found)

