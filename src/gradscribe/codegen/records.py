"""Values that are packed into a record without being looked at, or asked for the shape of their
derivative where it is zero.

On a path where such a value is not defined, its variable must be bound all the same: None.
Elsewhere an undefined variable stays unbound, and reading it raises as in the user's program.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradscribe.ir.core import LOOP, Function, Value, walk
from gradscribe.ir.flow import Loop, merges, reachable
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
    return frozenset(reachable(pending, sources))


def _merged_from(function: Function) -> dict[Value, list[Value]]:
    """What each variable may have its value from; of what a loop leaves, that it carries."""
    sources: dict[Value, list[Value]] = {}
    for operation in walk(function.body):
        for source, merged in merges(operation):
            sources.setdefault(merged, []).append(source)
        if operation.primitive is LOOP:
            sources.update((c.result, [c.parameter]) for c in Loop(operation).carried)
    return sources
