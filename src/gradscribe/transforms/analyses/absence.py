"""Absence: which flag tells, for a value that may be undefined, whether it is there.

A name of two kinds is a flag and a value for each kind, one of which is undefined (see
`frontend.kinds.kinds`); a name bound on one path only is undefined on the other. Where the flag
says that a value is absent, its cotangent is not zero, there is none: zeros could not even be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gradscribe.ir.core import IF, LOOP, Block, Function, Operation, Value, walk
from gradscribe.ir.flow import Loop
from gradscribe.ir.types import Scalar
from gradscribe.primitives.control import CONSTANT, UNDEF
from gradscribe.primitives.raising import is_attempt
from gradscribe.transforms.analyses.definedness import possibly_undefined

Pair = tuple[Value, Value, bool]
"""(flag, value, outcome): the value is undefined if and only if the flag has this outcome (or is
undefined itself)."""


def absences(function: Function) -> dict[Value, list[tuple[Value, bool]]]:
    """For values that may be undefined: the flags that tell, each with the outcome that says so;
    first the flags that are always defined, then those of which flags before them tell that."""
    operations = list(walk(function.body))
    if not any(operation.primitive is UNDEF for operation in operations):
        return {}
    undefined = possibly_undefined(function)
    definition = {r: operation for operation in operations for r in operation.results}
    claims = dict(_claims(function.body, undefined, ()))
    holds = True
    while holds:
        known = {_root(pair, definition) for pair in claims}
        false = [
            pair
            for pair, sides in claims.items()
            if not all(_is_right(side, pair[2], known, undefined, definition) for side in sides)
        ]
        for pair in false:
            del claims[pair]
        holds = bool(false)
    found: dict[Value, list[tuple[Value, bool]]] = {}
    waiting = list(claims)
    while ready := {pair: None for pair in waiting if pair[0] not in undefined or pair[0] in found}:
        for flag, value, outcome in ready:
            found.setdefault(value, []).append((flag, outcome))
        waiting = [pair for pair in waiting if pair not in ready]
    return found


def telling(
    absent: Mapping[Value, Sequence[tuple[Value, bool]]], value: Value
) -> list[tuple[Value, bool]]:
    """The flags that tell whether a value is there, each with the outcome that says that it is not;
    before a flag that may be undefined itself, those that tell of that."""
    found: list[tuple[Value, bool]] = []
    while absent.get(value) and absent[value][0] not in found:
        found.insert(0, absent[value][0])
        value = found[0][0]
    return found


_Path = tuple[tuple[Value, bool], ...]
"""The conditions around an operation, with the outcomes that lead to it."""

_Side = tuple[Value | bool, Value, _Path]
"""A flag (or what it is on this side) and a value, as they flow into what is claimed of, and where
they do."""


def _claims(block: Block, undefined: set[Value], path: _Path) -> Iterator[tuple[Pair, list[_Side]]]:
    """All that may be, with what has to be right for it."""
    for operation in block.operations:
        paths = (path,) * len(operation.regions)
        if operation.primitive is IF:
            paths = tuple((*path, (operation.operands[0], outcome)) for outcome in (True, False))
            yield from _claims_of_if(operation, undefined, *paths)
        elif operation.primitive is LOOP:
            yield from _claims_of_loop(operation, undefined, path)
        for region, inside in zip(operation.regions, paths, strict=True):
            yield from _claims(region, undefined, inside)


def _claims_of_if(
    operation: Operation, undefined: set[Value], then: _Path, orelse: _Path
) -> Iterator[tuple[Pair, list[_Side]]]:
    first, second = (region.yields for region in operation.regions)
    for position, value in enumerate(operation.results):
        if value not in undefined:
            continue
        for outcome in (True, False):
            condition = operation.operands[0]
            sides: list[_Side] = [
                (True, first[position], then),
                (False, second[position], orelse),
            ]
            if not is_attempt(operation):
                yield (condition, value, outcome), sides
            for number, flag in enumerate(operation.results):
                if _is_flag(flag):
                    sides = [
                        (first[number], first[position], then),
                        (second[number], second[position], orelse),
                    ]
                    yield (flag, value, outcome), sides


def _claims_of_loop(
    operation: Operation, undefined: set[Value], path: _Path
) -> Iterator[tuple[Pair, list[_Side]]]:
    carried = Loop(operation).carried
    flags = [flag for flag in carried if _is_flag(flag.parameter)]
    for value in carried:
        if value.parameter not in undefined:
            continue
        for flag in flags:
            sides: list[_Side] = [
                (flag.initial, value.initial, path),
                (flag.following, value.following, path),
            ]
            for outcome in (True, False):
                yield (flag.parameter, value.parameter, outcome), sides
                yield (flag.result, value.result, outcome), sides


def _is_flag(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype == "bool"


def _is_right(
    side: _Side,
    outcome: bool,
    claims: set[Pair],
    undefined: set[Value],
    definition: dict[Value, Operation],
) -> bool:
    flag, value, path = side
    around = [_root((condition, value, taken), definition) for condition, taken in path]
    is_absent = _is_undefined(value, definition) or not claims.isdisjoint(around)
    known: bool | None
    if isinstance(flag, bool):
        known = flag
    else:
        root = flag, _, outcome = _root((flag, value, outcome), definition)
        if _is_undefined(flag, definition):
            return is_absent
        known = _constant(definition.get(flag))
        if known is None:
            return root in claims
    if known != outcome:
        return value not in undefined or any(
            (condition, value, not taken) in claims for condition, _, taken in around
        )
    return is_absent


def _root(pair: Pair, definition: dict[Value, Operation]) -> Pair:
    """The same of the condition that a flag repeats, being one constant where that holds and the
    other where it does not."""
    flag, value, outcome = pair
    made = definition.get(flag)
    while made is not None and made.primitive is IF:
        position = made.results.index(flag)
        constants = [_constant(definition.get(r.yields[position])) for r in made.regions]
        if None in constants or constants[0] is constants[1]:
            break
        flag, outcome = made.operands[0], outcome is constants[0]
        made = definition.get(flag)
    return flag, value, outcome


def _is_undefined(value: Value, definition: dict[Value, Operation]) -> bool:
    made = definition.get(value)
    return made is not None and made.primitive is UNDEF


def _constant(definition: Operation | None) -> bool | None:
    if definition is None or definition.primitive is not CONSTANT:
        return None
    return bool(definition.attributes["value"])
