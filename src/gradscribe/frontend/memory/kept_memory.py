"""Memory that code which cannot be read may have kept: each call of such code may use it again.

In the IR an array is a value, and a store makes a new one; unread code has pointers. So an array
that such code is given, and may keep, gets a *handle*: an array of the running program which the
code sees in its place, whichever call shows it. Before each further call of unread code the handle
takes what the program holds, if that has changed, and at the end; after the call the program reads
it anew:

    c_kept = c.copy()                    np.copyto(c_kept, c)
    remember(c_kept)                     scale_remembered(0.5)
    c = c_kept.copy()                    c = c_kept.copy()

A handle stands in the block in which its array was made, so that all branches and iterations in it
use the same one. What a branch or loop has made, and leaves behind under another name, has no
handle that could be seen after it (`Storage.kept`), unless that is handed on (see
`joins.joined_memory`), which is done where a call was found that may use it. What is in a list, or
not made on each path, is refused then.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.memory import sharing
from gradscribe.frontend.memory.carried_parts import is_memory
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.flow import CHANGING, may_be_undefined
from gradscribe.frontend.state.knowledge import Handle, State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Ref, Storage
from gradscribe.ir import flow
from gradscribe.ir.core import (
    CALL,
    Block,
    Function,
    Operand,
    Operation,
    Parameter,
    Value,
    substituted,
    walk,
)
from gradscribe.ir.types import Opaque
from gradscribe.primitives.control import COPY, EFFECT, LENT, LENT_ITSELF, RENEW, REREAD
from gradscribe.primitives.indexing import ACCUMULATE, STORE

_NEVER = Value(Opaque())


def before_call(
    lowering: Lowering, node: Any, name: str, given: Collection[Storage]
) -> dict[Storage, Value]:
    """The handles of all memory that a call of unread code may use, holding what the program
    holds. given: the arrays that it is given, and may keep."""
    lowering.kept.calls += 1
    lowering.kept.gives |= bool(given)
    _refuse_without_handle(lowering, node, name, given)
    handles = handle(lowering, given)
    _renew(lowering, handles)
    return {storage: kept.array for storage, kept in handles.items()}


def current(lowering: Lowering, array: Ref) -> Value:
    """The handle of an array, or a view of one, which holds what the program holds."""
    refuse_lost(lowering, lowering.frame.statement, "a function", [array.storage])
    kept = handle(lowering, [array.storage])[array.storage]
    _renew(lowering, {array.storage: kept})
    return lowering.along(array.path, kept.array)


def take(lowering: Lowering, storage: Storage, array: Value) -> None:
    """Let an array that comes out of a branch or loop have this handle, which holds it."""
    lowering.kept.handles[storage] = Handle(array, lowering.kept.calls, is_found=True)
    lowering.kept.held[storage] = lowering.value_in(storage)
    storage.kept = False


def seen_through(lowering: Lowering, storage: Storage) -> list[Storage]:
    """The memory in whose handles is seen what unread code writes to this one: where the later made
    of both handles is memory of the other."""
    found = lowering.kept.handles
    return [
        other for other in found if found[max(storage, other, key=lambda one: one.serial)].is_found
    ]


def at_the_end(lowering: Lowering, but: Container[Storage] = ()) -> None:
    """Where a part of the program ends, let whoever has kept memory find in it what the program has
    stored since. but: the memory that is there after this part, too. (In unsettled memory it has
    stored nothing.)"""
    unsettled = lowering.kept.unsettled
    left = handle(lowering, ()).items()
    _renew(lowering, {s: kept for s, kept in left if s not in but and s not in unsettled})


@contextmanager
def shown(lowering: Lowering, given: Collection[Storage]) -> Iterator[None]:
    """While these arrays are given away: they are what unread code sees in their place."""
    handles = {
        storage: kept for storage, kept in handle(lowering, given).items() if storage in given
    }
    _renew(lowering, handles)
    held = {storage: lowering.contents[storage] for storage in handles}
    lowering.contents.update((storage, kept.array) for storage, kept in handles.items())
    yield
    lowering.contents.update(held)


def _renew(lowering: Lowering, handles: Mapping[Storage, Handle]) -> None:
    held = lowering.kept.held
    unsettled = next((storage for storage in handles if storage in lowering.kept.unsettled), None)
    if unsettled is not None:
        name = wording.quoted(unsettled.name, "an array")
        raise UnsupportedError(
            f"code that cannot be read may have kept {name}, and a `try` may have changed that "
            "before an exception came",
            "change it before or after the `try`",
            lowering.builder.location,
        )
    for storage, kept in handles.items():
        contents = lowering.value_in(storage)
        if held.get(storage) is not contents:
            lowering.plain(RENEW, {"x": kept.array, "value": contents})
            held[storage] = contents


def bring_into_step(lowering: Lowering) -> None:
    """Let whoever has kept memory find in it what the program has stored since."""
    _renew(lowering, handle(lowering, ()))


def after_call(lowering: Lowering, storage: Storage, call: Value) -> Value:
    """What the program holds in this memory after a call that may have written to it."""
    kept = lowering.kept.handles[storage]
    tree = {"x": kept.array, "call": call}
    found = lowering.plain(REREAD, tree, name=_name(lowering, storage))
    lowering.kept.held[storage] = found
    return found


def returned(lowering: Lowering, array: Value) -> Ref:
    """An array that unread code has returned, and may have: its handle is that array itself. It may
    be any that such code may have."""
    contents = lowering.plain(REREAD, {"x": array, "call": array})
    item = lowering.array(contents)
    known = handle(lowering, ())

    def shares(base: Storage) -> Value | None:
        return sharing.overlap(lowering, array, known[base].array) if base in known else None

    sharing.link(lowering, item, lowering.kept.handles, shares)
    lowering.kept.handles[item.storage] = Handle(array, lowering.kept.calls, is_found=True)
    lowering.kept.held[item.storage] = contents
    return item


def enter_call(lowering: Lowering, node: Any, name: str) -> None:
    """Note a call of a function of the program that is not inlined and calls unread code: there are
    no handles in it of what is kept here, and none here of what is kept in it."""
    lowering.kept.calls += 1
    handles = handle(lowering, ())
    for variable, storage in _live(lowering):
        if storage in handles or storage in lowering.kept.lists or _is_lost(lowering, storage):
            _refuse(lowering, node, f"what `{name}` calls", variable, "another call")


def renew_carried(lowering: Lowering, carried: Collection[Storage]) -> None:
    """Before a loop, and at the end of each iteration: what it carries is what the handles hold."""
    _renew(lowering, {s: kept for s, kept in handle(lowering, ()).items() if s in carried})


def begin_iteration(lowering: Lowering, carried: Collection[Storage]) -> None:
    """So it is in the beginning of an iteration, and after the loop."""
    held = {s: lowering.value_in(s) for s in handle(lowering, ()) if s in carried}
    lowering.kept.held.update(held)


def merge(lowering: Lowering, states: Collection[State]) -> None:
    """After a branch, the handles hold what they hold after both of its sides."""
    for storage in lowering.kept.handles.keys() & lowering.contents.keys():
        lowering.kept.held.pop(storage, None)
        if all(s.held.get(storage, _NEVER) is s.contents.get(storage) for s in states):
            lowering.kept.held[storage] = lowering.value_in(storage)


def leave_call(lowering: Lowering, given: Collection[Storage], results: Sequence[Value]) -> None:
    """Note that unread code in such a call may have kept what that was given."""
    lowering.kept.gives = True
    for storage in given:
        lowering.kept.lost[storage] = results[0] if results else None


def refuse_store(lowering: Lowering, node: Any, storage: Storage) -> None:
    """Refuse a store that code which has kept the memory in such a call could not see."""
    if storage in lowering.kept.lost and _is_lost(lowering, storage):
        lowering.unsupported(
            node,
            f"this stores to {wording.quoted(_name(lowering, storage))}, which a recursive call "
            "may have given to code that cannot be read",
            "store to a copy of it",
        )


def _is_lost(lowering: Lowering, storage: Storage) -> bool:
    """Whether unread code may have kept memory in a way that has left no handle."""
    call = lowering.kept.lost.get(storage, _NEVER)
    return storage.kept or call is None or lowering.builder.has_made(call)


def has_met(lowering: Lowering, before: State, calls: int) -> bool:
    """Whether the body of a loop may use in its next iteration what it has given away in this one:
    memory from before the loop, for which there was no handle then. calls: how many calls of unread
    code there were before the body."""
    found = {s: kept.call for s, kept in lowering.kept.handles.items()}
    found |= {s: kept.call for s, kept in lowering.kept.lists.items()}
    given = (call for storage, call in found.items() if storage in before.contents)
    return lowering.kept.calls > calls and any(call > calls for call in given)


def handled(lowering: Lowering, state: State) -> list[Storage]:
    """What there is in a state, on every path to it, of the memory that has a handle."""
    there = [storage for storage in lowering.kept.handles if storage in state.contents]
    return [
        storage
        for storage in there
        if isinstance(held := state.contents[storage], Value)
        and not may_be_undefined(lowering, held)
    ]


def handle(lowering: Lowering, given: Collection[Storage]) -> dict[Storage, Handle]:
    """The handles that can be used here; also of memory that may be given away later."""
    found = lowering.kept.handles
    for storage in given:
        if storage not in found or not lowering.builder.is_made(found[storage].array):
            found[storage] = _handle(lowering, storage)
    return {
        storage: kept
        for storage, kept in found.items()
        if storage in lowering.contents and lowering.builder.is_made(kept.array)
    }


def _handle(lowering: Lowering, storage: Storage) -> Handle:
    """A handle in the block in which the array was made."""
    contents = lowering.value_in(storage)
    made, block = _origin(lowering, storage, contents)
    name = _name(lowering, storage)
    is_partial = may_be_undefined(lowering, made)  # it is not made on each path
    storage.kept |= is_partial
    if is_partial or block is lowering.builder.operations:
        array = lowering.plain(LENT, {"x": contents}, name=f"{name}_kept" if name else "")
        lowering.kept.held[storage] = contents
        return Handle(array, lowering.kept.calls)
    with lowering.builder.resume(block):
        array = lowering.plain(LENT, {"x": made}, name=f"{name}_kept" if name else "")
    lowering.kept.held.pop(storage, None)
    return Handle(array, lowering.kept.calls)


def lent_themselves(function: Function, own: Collection[Value]) -> Function:
    """The function that lends arrays from outside, and no copies: code that has kept the address of
    one may use it when the function has returned. The program computes with a copy of what such an
    array holds at the start, and reads it anew after each call. own: the arrays from outside."""
    body = function.body
    made = {result: operation for operation in body.operations for result in operation.results}

    def origin(value: Value) -> Value:
        operation = made.get(value)
        if operation is None or operation.primitive not in (STORE, ACCUMULATE):
            return value
        return origin(operation.operands[0])

    kept = {o.operands[0] for o in walk(body) if o.primitive is REREAD}
    lent: dict[Operation, Value] = {}
    for operation in body.operations:
        array = origin(operation.operands[0]) if operation.primitive is LENT else None
        if array is not None and array in own and operation.result in kept:
            lent[operation] = array
        elif any(o.primitive in (EFFECT, CALL) for o in walk(Block((), (operation,), ()))):
            break  # which may have written to the array before it was lent
    if not lent:
        return function
    copies = {array: Value(array.type, array.name) for array in lent.values()}
    operations = [
        Operation(COPY, (array,), (copy,), {"x": Operand(0)}, location=next(iter(lent)).location)
        for array, copy in copies.items()
    ]
    for old, new in zip(body.operations, substituted(body, copies).operations, strict=True):
        if old not in lent:
            operations.append(new)
            continue
        operations.append(replace(new, primitive=LENT_ITSELF, operands=(lent[old],)))
        if old.operands[0] is not lent[old]:
            operands = (new.result, new.operands[0])
            tree = {"x": Operand(0), "value": Operand(1)}
            renewed = Operation(RENEW, operands, (Value(Opaque()),), tree, (), new.location)
            operations.append(replace(renewed, callee=RENEW.callee))
    yields = tuple(copies.get(value, value) for value in body.yields)
    return replace(function, body=Block(body.parameters, tuple(operations), yields))


def themselves(function: Function, captures: Sequence[Parameter]) -> Iterator[int]:
    """The captures that are lent themselves."""
    lent = {o.operands[0] for o in function.body.operations if o.primitive is LENT_ITSELF}
    return (n for n, parameter in enumerate(captures) if not lent.isdisjoint(parameter.leaves))


def _origin(lowering: Lowering, storage: Storage, value: Value) -> tuple[Value, list[Operation]]:
    """The value that an array was when it was made, and the block in which that was."""
    builder, carried = lowering.builder, lowering.loops.carried
    while True:
        made = builder.definition(value)
        if value in carried and is_memory(carried[value][0].key):
            value = carried[value][2]
        elif value in carried:  # what a name is bound to when the iteration begins
            return value, _iteration_of(lowering, storage)
        elif made is not None and made.primitive in CHANGING:
            value = made.operands[0]
        elif made is not None:
            found = [_origin(lowering, storage, source) for source in flow.sources(made, value)]
            is_one = bool(found) and all(one is found[0][0] for one, _ in found)
            return found[0] if is_one else (value, builder.block_of(value))
        elif not lowering.loops.iterations or _is_before(lowering, storage):
            return value, builder.block_given(value)
        else:  # an item of what a loop runs over
            return value, builder.operations


def _iteration_of(lowering: Lowering, storage: Storage) -> list[Operation]:
    """The body of the loop at whose beginning there is new memory."""
    around = (each for each in lowering.loops.iterations if each.serial > storage.serial)
    iteration = next(around, None)
    return lowering.builder.operations if iteration is None else iteration.operations


def _is_before(lowering: Lowering, storage: Storage) -> bool:
    """Whether memory was there before all loops around."""
    return (
        storage in lowering.outside.entered or storage.serial < lowering.loops.iterations[0].serial
    )


def _name(lowering: Lowering, storage: Storage) -> str:
    return storage.name or lowering.value_in(storage).name


def _refuse_without_handle(
    lowering: Lowering, node: Any, name: str, given: Collection[Storage]
) -> None:
    """Refuse a call that may use memory of which the program could not see what became of it."""
    handles = handle(lowering, ())
    for variable, storage in _live(lowering):
        if storage not in handles and _is_lost(lowering, storage):
            _refuse(lowering, node, f"`{name}`", variable, _ELSEWHERE)
    refuse_lost(lowering, node, f"`{name}`", given)


def refuse_lost(lowering: Lowering, node: Any, who: str, given: Collection[Storage]) -> None:
    """Refuse to give away memory that another call may have in a handle which is not seen here."""
    handles = handle(lowering, ())
    for storage in given:
        if storage not in handles and _is_lost(lowering, storage):
            _refuse(lowering, node, who, _name(lowering, storage), _ELSEWHERE)


_ELSEWHERE = "another call in a branch or loop"


def _refuse(lowering: Lowering, node: Any, who: str, variable: str, other: str) -> NoReturn:
    error = RunTimeKeyError(
        f"{who}, whose code cannot be read, may use {wording.quoted(variable)}, which {other} may "
        "have kept",
        "hold such arrays in variables that have a value on every path, not in lists; or declare "
        "what these functions do: `gs.primitive(…, pure=True)`",
        lowering.location(node),
    )
    error.place = HANDING_ON
    raise error


HANDING_ON = ("handing on", 0, 0)
"""Stands among the places for which a function is lowered once more, where branches and loops are
to hand on the handles of the arrays that come out of them (see `joins.joined_memory`)."""


def hands_on(lowering: Lowering) -> bool:
    """Whether they are."""
    return HANDING_ON in lowering.keyed


def _live(lowering: Lowering) -> Iterator[tuple[str, Storage]]:
    """The memory that names lead to which are read later, or in this statement: also by way of
    functions of these names."""
    for frame in lowering.frames:
        for variable, bound in frame.names.items():
            innermost = frame is lowering.frame
            if frame.is_read_later(variable, innermost=innermost, by_functions=False):
                yield from ((variable, storage) for storage in storages(lowering, bound))
