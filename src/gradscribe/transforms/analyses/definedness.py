"""Definedness: which values may be undefined at run time.

A name that is bound on one path only is, on the other, a value made by `undef`; merging, passing
through loops, packing and recording hand it on without reading it. Whatever computes with it
reads it, and raises there as the user's program does; so a transform may not read it earlier.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gradscribe.ir.core import Function, Operation, Value, walk
from gradscribe.ir.flow import flows, reachable
from gradscribe.ir.types import Never
from gradscribe.primitives import control, lists

_HANDING_ON = frozenset({control.TUPLE, control.ITEM} | lists.OPERATIONS)


def possibly_undefined(function: Function) -> set[Value]:
    """The values that may be undefined, or hold items that may be; among the parameters, those
    that `function.undefined` names."""
    undefined, targets = list(function.undefined), dict[Value, list[Value]]()
    for operation in walk(function.body):
        if operation.primitive is control.UNDEF:
            undefined += [r for r in operation.results if not isinstance(r.type, Never)]
        for source, target in _handed_on(operation):
            targets.setdefault(source, []).append(target)
    return reachable(undefined, targets)


def _handed_on(operation: Operation) -> Iterator[tuple[Value, Value]]:
    if operation.primitive in _HANDING_ON:
        return itertools.product(operation.operands, operation.results)
    return flows(operation)
