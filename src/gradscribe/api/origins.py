"""Which values of compiled code are one value: what was merged after a branch may be, twice."""

from __future__ import annotations

from collections.abc import Hashable

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import IF, Value
from gradscribe.primitives.control import UNDEF


def origin(builder: Builder, value: Value) -> Hashable:
    """What tells which value this is: equal for values that are one on every path on which both
    are defined."""
    made = builder.definition(value)
    if made is None:
        return value
    if made.primitive is not IF:
        return None if made.primitive is UNDEF else value
    position = made.results.index(value)
    first, second = (origin(builder, region.yields[position]) for region in made.regions)
    if first is None or first == second:
        return second
    return first if second is None else (id(made), first, second)
