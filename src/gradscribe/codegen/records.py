"""Values that are packed into a record without being looked at, or asked for the shape of their
derivative where it is zero.

On a path where such a value is not defined, its variable must be bound all the same: None.
Elsewhere an undefined variable stays unbound, and reading it raises as in the user's program.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradscribe.codegen.uses import carried
from gradscribe.ir.core import IF, LOOP, Function, Value, walk
from gradscribe.primitives.control import PUSH, TUPLE, ZEROS_LIKE


def recorded(function: Function, names: Mapping[Value, str]) -> frozenset[Value]:
    """Values that are pushed or returned in the record, moved to another variable, or like which
    the zeros of a derivative are, with those that they are merged from."""
    sources = _merged_from(function)
    yields = function.body.yields
    pending = list(yields[len(yields) - function.record :])
    for operation in walk(function.body):
        location = operation.location
        is_zeros = operation.primitive is ZEROS_LIKE and location and location.role != "primal"
        if is_zeros or operation.primitive in (PUSH, TUPLE):
            pending += operation.operands
    for merged, values in sources.items():
        pending += [v for v in values if v in names and names[v] != names.get(merged)]
    found: set[Value] = set()
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += sources.get(value, ())
    return frozenset(found)


def _merged_from(function: Function) -> dict[Value, tuple[Value, ...]]:
    sources: dict[Value, tuple[Value, ...]] = {}
    for operation in walk(function.body):
        if operation.primitive is IF:
            sides = (region.yields for region in operation.regions)
            for result, *values in zip(operation.results, *sides, strict=True):
                sources[result] = tuple(values)
        elif operation.primitive is LOOP:
            for initial, parameter, value, result in carried(operation):
                sources[result] = (parameter,)
                sources[parameter] = (initial, value)
    return sources
