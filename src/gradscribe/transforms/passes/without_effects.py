"""A function without what it does besides computing: what it prints, or tells others.

The derivatives of a call that has run already are computed by code of their own, which is not to
do all that again. A call whose value is read stays: only a function that draws, or reads, gives
such. So does one that moves on an object, or writes to an array, which the run itself has made and
uses: that is another one in each run.
`effect_of` finds what a function does that must not be done twice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from gradscribe.ir.core import Block, Function, Method, Operand, Operation, Value, walk
from gradscribe.ir.flow import flows
from gradscribe.ir.types import Array, Opaque, Sequence
from gradscribe.primitives.call_contracts import contract_of_call
from gradscribe.primitives.contract_kinds import CODE, SHOWN
from gradscribe.primitives.control import (
    ASSERT,
    ATTEMPT,
    CAUGHT,
    CHECK,
    EFFECT,
    ENTER,
    EXIT,
    LENT,
    RAISE,
    RENEW,
    REREAD,
    RESUMED,
    WRITTEN,
    attempted,
    finally_done,
)
from gradscribe.primitives.raising import makes_exception
from gradscribe.primitives.real_numbers import CHECKS
from gradscribe.primitives.users_code import changing_making
from gradscribe.transforms.passes.sink import has_effect


def silenced(function: Function) -> Function:
    """The same function, without the effects whose values nothing reads, and what they alone would
    find in memory that they have kept. Where exceptions are handled, what may say which ones come
    stays."""
    while any(o.primitive in (EFFECT, RENEW) for o in walk(function.body)):
        read = _read(function.body) | _moving(function.body)
        if any(o.primitive is CAUGHT for o in walk(function.body)):
            read.update(v for o in walk(function.body) if _may_set(o) for v in o.results)
        body = _block(function.body, read)
        if body is function.body:
            break
        function = replace(function, body=body)
    return function


def _read(block: Block) -> set[Value]:
    read = {*block.yields}
    for operation in walk(block):
        read.update(operation.operands[operation.primitive is RENEW :])
        for region in operation.regions:
            read.update(region.yields)
    return read


def _moving(block: Block) -> set[Value]:
    """What calls give that may change something which is made here, and which calls read whose
    value is read: of a file that is only written to, none."""
    operations = list(walk(block))
    made = {value: o for o in operations for value in o.results}
    families = _families(operations, made)
    calls = [o for o in operations if o.primitive is EFFECT]
    read = {*block.yields}
    for operation in operations:
        if operation.primitive is not EFFECT:
            read.update(operation.operands[operation.primitive is RENEW :])
        read.update(value for region in operation.regions for value in region.yields)
    live, roots, found = set[Operation](), set[Value](), set[Value]()
    while True:
        new = [
            call
            for call in calls
            if call not in live
            and not (
                read.isdisjoint(call.results)
                and roots.isdisjoint(families(v) for v in _changed(call) if _root(v, made) in made)
            )
        ]
        if not new:
            return found
        for call in new:
            live.add(call)
            if read.isdisjoint(call.results):
                found.update(call.results)
            read.update(call.operands)
            roots.update(families(value) for value in call.operands if _root(value, made) in made)


def _families(
    operations: Iterable[Operation], made: Mapping[Value, Operation]
) -> Callable[[Value], Value]:
    """One of the objects, or arrays, that one leads to or may be: all that calls make of others, as
    a method of an object, and what branches and loops hand on."""
    above: dict[Value, Value] = {}

    def first(value: Value) -> Value:
        value = _root(value, made)
        while value in above:
            value = above[value]
        return value

    def join(one: Value, other: Value) -> None:
        one, other = first(one), first(other)
        if one is not other:
            above[one] = other

    for operation in operations:
        for source, target in flows(operation):
            join(source, target)
        objects = [v for v in operation.results if isinstance(v.type, Opaque)]
        for result in objects if not operation.regions else ():
            for value in operation.operands:
                if isinstance(value.type, Opaque | Array | Sequence):
                    join(value, result)
    return first


def _root(value: Value, made: Mapping[Value, Operation]) -> Value:
    """The object or array that calls and stores have changed since."""
    while value in made and made[value].primitive in _CHANGING:
        value = made[value].operands[0]
    return value


_CHANGING = (LENT, REREAD, WRITTEN)


def _changed(operation: Operation) -> Iterator[Value]:
    """What of its operands a call may change: of a method, the object whose it is."""
    contract = contract_of_call(operation)
    if contract is SHOWN or makes_exception(operation.callee):
        return
    given = operation.attributes["args"]
    if isinstance(operation.callee, Method):
        if given and isinstance(given[0], Operand):
            yield operation.operands[given[0].index]
        return
    if contract.is_pure and not contract.changes:
        return
    for value in operation.operands:
        if isinstance(value.type, Opaque | Array | Sequence):
            yield value


def _block(block: Block, read: set[Value]) -> Block:
    operations = tuple(_operation(o, read) for o in block.operations if not _is_silenced(o, read))
    unchanged = len(operations) == len(block.operations) and all(
        new is old for new, old in zip(operations, block.operations, strict=True)
    )
    return block if unchanged else replace(block, operations=operations)


def _is_silenced(operation: Operation, read: set[Value]) -> bool:
    if operation.primitive is RENEW:
        return operation.operands[0] not in read
    return operation.primitive is EFFECT and read.isdisjoint(operation.results)


def _may_set(operation: Operation) -> bool:
    """Whether this may change what other calls of unread code depend on."""
    is_call = operation.primitive is EFFECT and not makes_exception(operation.callee)
    return is_call and CODE in contract_of_call(operation).changes


def _operation(operation: Operation, read: set[Value]) -> Operation:
    regions = tuple(_block(region, read) for region in operation.regions)
    if all(new is old for new, old in zip(regions, operation.regions, strict=True)):
        return operation
    return replace(operation, regions=regions)


def effect_of(function: Function) -> Operation | None:
    """An operation that is to run once for a call. (An error ends all runs, and what handles one,
    or says how numbers are computed, is over when a run is.)"""
    body = function.body
    is_handled = any(o.primitive is CAUGHT for o in walk(body))
    within = walk(body) if is_handled else _not_raising(body)
    return next((o for o in within if not o.regions and has_effect(o) and not _repeats(o)), None)


def _not_raising(block: Block) -> Iterator[Operation]:
    """All operations but those on the way to an error, such as the making of its text."""
    if any(operation.primitive is RAISE for operation in block.operations):
        return
    for operation in block.operations:
        yield operation
        for region in operation.regions:
            yield from _not_raising(region)


def _repeats(operation: Operation) -> bool:
    """Whether what an operation does besides giving results does not outlast a run, or is a
    warning, of which Python shows the first."""
    callee = operation.callee
    if callee is warnings.warn:
        return True
    if operation.primitive in (ENTER, EXIT):
        return callee in (*RESUMED, attempted, finally_done)
    if isinstance(callee, type) and issubclass(callee, BaseException):
        return not changing_making(callee)
    return operation.primitive in (RAISE, ASSERT, CHECK, ATTEMPT, CAUGHT, *CHECKS)
