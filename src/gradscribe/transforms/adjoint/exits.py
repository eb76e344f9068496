"""What a loop carries out of its last iteration alone: the value of a `return` in it.

    for x in xs:                     for x in reversed(xs):
        if x > 1:                        if x > 1:
            return x * x                     d_x = d_result * 2 * x

The cotangent of such a value is the same for all iterations of the mirror, of which only the first
one reads it.
"""

from __future__ import annotations

import operator

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import IF, Operation, Value
from gradscribe.ir.flow import Loop
from gradscribe.primitives.control import CONSTANT, UNDEF
from gradscribe.transforms.analyses.def_use import DefUse


def is_made_at_exit(loop: Operation, position: int, structure: DefUse) -> bool:
    """Whether the carried value at this position is undefined until an iteration that leaves the
    loop makes it."""
    parts = Loop(loop)
    carried = parts.carried[position]
    if not parts.exits or not structure.is_undefined(carried.initial):
        return False
    if any(structure.uses[value] for value in (carried.parameter, *carried.tested)):
        return False
    return _leaves(carried.following, parts.exits[0], structure)


def _leaves(value: Value, again: Value, structure: DefUse) -> bool:
    """Whether, where there is a value, the loop is left."""
    made, decided = structure.definition.get(value), structure.definition.get(again)
    if made is not None and made.primitive is UNDEF:
        return True
    if decided is not None and decided.primitive is CONSTANT:
        return not decided.attributes["value"]
    if decided is not None and decided.callee is operator.and_:
        return any(_leaves(value, flag, structure) for flag in decided.operands)
    if made is None or made is not decided or made.primitive is not IF:
        return False
    number, flag = made.results.index(value), made.results.index(again)
    return all(_leaves(side.yields[number], side.yields[flag], structure) for side in made.regions)


def cotangent_at_exit(cotangent: Value, flags: set[Value], builder: Builder) -> Value:
    """What a cotangent is after a loop that was left: of `if`s on the flags that tell whether it
    ended by itself, the other side. flags: as they are available in the mirror."""
    definition = builder.definition(cotangent)
    if definition is None or definition.primitive is not IF:
        return cotangent
    if definition.operands[0] not in flags:
        return cotangent
    left = definition.regions[1]
    value = left.yields[definition.results.index(cotangent)]
    is_inside = any(value in operation.results for operation in left.operations)
    return cotangent if is_inside else value
