"""Definedness: which values may be undefined at run time.

A name that is bound on one path only is, on the other, a value made by `undef`; merging, passing
through loops, packing and recording hand it on without reading it. Whatever computes with it
reads it, and raises there as the user's program does; so a transform may not read it earlier.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradscribe.ir.core import IF, LOOP, Block, Function, LoopShape, Operation, Value
from gradscribe.ir.types import Never
from gradscribe.primitives import control, lists

_HANDING_ON = frozenset({control.TUPLE, control.ITEM} | lists.OPERATIONS)


def possibly_undefined(function: Function) -> set[Value]:
    """The values that may be undefined, or hold items that may be; among the parameters, those
    that `function.undefined` names."""
    undefined = set(function.undefined)
    size = -1
    while size != len(undefined):
        size = len(undefined)
        _walk(function.body, undefined)
    return undefined


def _walk(block: Block, undefined: set[Value]) -> None:
    for operation in block.operations:
        if operation.primitive is LOOP:
            _loop(operation, undefined)
        elif operation.primitive is IF:
            for region in operation.regions:
                _walk(region, undefined)
                _merge(region.yields, operation.results, undefined)
        elif operation.primitive is control.UNDEF:
            undefined.update(r for r in operation.results if not isinstance(r.type, Never))
        elif operation.primitive in _HANDING_ON and not undefined.isdisjoint(operation.operands):
            undefined.update(operation.results)


def _loop(operation: Operation, undefined: set[Value]) -> None:
    shape: LoopShape = operation.attributes["shape"]
    body = operation.regions[0]
    for where, item in zip(shape.iterable_slices(), body.parameters, strict=False):
        _merge(operation.operands[where][:1], (item,), undefined)
    results = operation.results[: shape.carried]
    collected = body.yields[shape.carried + shape.exits :]
    for given in (operation.operands[shape.iterable_operands :], body.yields[: shape.carried]):
        for region in operation.regions:
            first = len(region.parameters) - shape.carried
            _merge(given, region.parameters[first:], undefined)
        _merge(given, results, undefined)
    for region in operation.regions:
        _walk(region, undefined)
    _merge(collected, operation.results[shape.carried :], undefined)


def _merge(given: Iterable[Value], taken: Iterable[Value], undefined: set[Value]) -> None:
    undefined.update(t for g, t in zip(given, taken, strict=False) if g in undefined)
