"""Absent records: a branch that is not entered leaves none, and the adjoint asks for its length.

The adjoint of a loop that consumes records gives each of them a cotangent, zeros of the same
lengths where nothing reads it. Guarantees the same results: what stands for a container on the
paths that make none of it, and is recorded, is an empty one.
"""

from __future__ import annotations

from dataclasses import replace

from gradscribe.ir.core import Function, Operation, Value, walk
from gradscribe.ir.flow import flows, reachable
from gradscribe.ir.types import Collected, Sequence
from gradscribe.primitives.control import LIST, STACK, UNDEF
from gradscribe.transforms.passes.records.edits import RecordEdits


def with_empty_records(function: Function) -> Function:
    """The function with empty containers in place of the undefined ones that are recorded."""
    recorded = _recorded(function)
    edits = RecordEdits()
    for operation in walk(function.body):
        if operation.primitive is UNDEF and operation.result in recorded:
            empty = _empty(operation)
            if empty is not None:
                edits.instead[operation] = empty
    return replace(function, body=edits.applied(function.body)) if edits.instead else function


def _recorded(function: Function) -> set[Value]:
    """The values that loops collect, on one path or another."""
    sources: dict[Value, list[Value]] = {}
    for operation in walk(function.body):
        for source, merged in flows(operation):
            sources.setdefault(merged, []).append(source)
    records = (r for o in walk(function.body) for r in o.results if isinstance(r.type, Collected))
    return reachable(records, sources)


def _empty(undefined: Operation) -> Operation | None:
    """An empty container in place of an undefined one; None for values of other types."""
    type_ = undefined.result.type
    if isinstance(type_, Collected):
        return replace(undefined, primitive=STACK, attributes={"item": type_.item})
    if isinstance(type_, Sequence):
        return replace(undefined, primitive=LIST, attributes={"items": (), "item": type_.item})
    return None
