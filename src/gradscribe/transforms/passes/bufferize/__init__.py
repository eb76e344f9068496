"""Bufferize: from stores that make new values to stores in place.

In the IR a store makes a new value. After `bufferize`, codegen may run every store,
accumulate, append, set and pop on the Python object of its operand `x`, which thereby becomes
the result; copies stand where that would be seen: by a later read of the old value, through a
view, in a record, or by the caller. Parameters (arguments, records, seeds) are never changed,
and the leaves of the result share memory neither with them nor with each other.

A view that is read after a store to its base is copied where it is taken (only the part is
copied, not the base); otherwise the stored-to array is copied before the store, and before
the loops that carry it where the first iteration alone needs that. `in_place` says which operations
reuse what they own (`d_h *= t`), and which stores make a new array instead.

Assumes a verified function in value semantics; the result is one too, so it can be run and
verified as before.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    LOOP,
    Block,
    Function,
    LoopShape,
    Operand,
    Operation,
    Value,
    substituted,
    walk,
)
from gradscribe.ir.liveness import Liveness, liveness
from gradscribe.ir.types import Array, Tuple, Type
from gradscribe.ir.types import Sequence as ListType
from gradscribe.primitives.control import (
    APPEND,
    CONSTANT,
    COPY,
    ITEM,
    LEFT,
    LENT,
    LENT_ITSELF,
    LIST,
    TUPLE,
    WRITTEN,
)
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.transforms.analyses.definedness import possibly_undefined
from gradscribe.transforms.passes.bufferize.aliasing import Aliasing, Copies, OnWrite
from gradscribe.transforms.passes.bufferize.buffers import WORLD, Buffer, buffer_paths, origins
from gradscribe.transforms.passes.bufferize.in_place import out_of_place, reusable
from gradscribe.transforms.passes.bufferize.layouts import Views
from gradscribe.transforms.passes.bufferize.overlapping_stores import reads_what_it_writes


def bufferize(function: Function, record: Collection[int] = ()) -> Function:
    """The function with the copies that stores in place need.

    record: positions of result leaves that are the record of a forward function. They are
    never written to by anybody, so they may share memory with parameters and results.
    """
    function, left = _without_left(function)
    live = liveness(function)
    aliasing = _place_copies(function, live)
    returned = _copied_leaves(function, aliasing, left, record)
    reused, replaced = reusable(function, aliasing), out_of_place(function, aliasing)
    return _Rewriter(function, aliasing, reused, replaced).rewrite(returned)


def _without_left(function: Function) -> tuple[Function, frozenset[int]]:
    """The function with the arrays and lists themselves for those that are `left`, and the
    positions of these among the results."""
    itself = {o.result: o.operands[0] for o in function.body.operations if o.primitive is LEFT}
    if not itself:
        return function, frozenset()
    left = frozenset(n for n, value in enumerate(function.body.yields) if value in itself)
    operations = tuple(o for o in function.body.operations if o.primitive is not LEFT)
    body = substituted(replace(function.body, operations=operations), itself)
    return replace(function, body=body), left


def _place_copies(function: Function, live: Liveness) -> Aliasing:
    """The alias relation with the copies that are needed.

    Mostly none are, which one relation tells. Otherwise what must be copied inside a loop even if
    the loop starts from fresh arrays is found first; then what loops start from; the last relation
    assumes nothing, so it decides.
    """
    copies = Copies()
    plain = Aliasing(function, live, copies, _abandon)
    if not plain.abandoned:
        return plain
    decide = partial(_decide, possibly_undefined(function), _lent(function))
    if any(operation.primitive is LOOP for operation in walk(function.body)):
        copies = _settle(function, live, copies, decide, clean_inits=True).copies
    return _settle(function, live, copies, decide, clean_inits=False)


def _abandon(
    aliasing: Aliasing,
    operation: Operation,
    number: int,
    buffer: Buffer,
    live: frozenset[Value],
) -> None:
    """Leave a relation in which something is to be copied."""
    if aliasing.conflicts(buffer, live):
        aliasing.decide(Copies(), final=True)


def _settle(
    function: Function, live: Liveness, copies: Copies, decide: OnWrite, *, clean_inits: bool
) -> Aliasing:
    """The relation in which no write needs another copy.

    Where a decision makes void what was found before it, only that decision is kept.
    """
    while True:
        aliasing = Aliasing(function, live, copies, decide, clean_inits=clean_inits)
        if not aliasing.abandoned:
            return aliasing
        copies = aliasing.kept


def _lent(function: Function) -> set[Value]:
    """The lent arrays, and the views of them that unread code is given: that may write to them,
    and what it writes to a copy would be lost."""
    found: set[Value] = set()
    for operation in walk(function.body):
        is_view = operation.primitive.view and operation.primitive is not WRITTEN
        if operation.primitive in (LENT, LENT_ITSELF) or (
            is_view and operation.operands[0] in found
        ):
            found.update(operation.results)
    return found


def _decide(
    undefined: set[Value],
    lent: set[Value],
    aliasing: Aliasing,
    operation: Operation,
    number: int,
    buffer: Buffer,
    live: frozenset[Value],
) -> None:
    """Where to copy, so that this operation may write to the buffer of this operand."""
    conflicts = aliasing.conflicts(buffer, live)
    if not conflicts:
        return
    views = _view_roots(buffer, conflicts, lent)
    if views and not views <= aliasing.copies.results:
        # The views were taken earlier: what was found since then may be void.
        aliasing.decide(Copies(results=views), final=True)
    elif operation.primitive is not LOOP or operation.operands[number] not in undefined:
        # An undefined value cannot be copied before a loop: the stores in it copy, if they run.
        deep = buffer.path != () or aliasing.copies.operands.get((operation, number), False)
        decision = Copies(operands={(operation, number): deep})
        aliasing.decide(decision, final=not aliasing.first_pass)


def _view_roots(buffer: Buffer, conflicts: Sequence[Buffer], lent: Collection[Value]) -> set[Value]:
    """The views whose copies, made where they are taken, would end all these conflicts; none
    if that cannot be, or one of them is lent."""
    written_through = origins(buffer)
    roots: set[Value] = set()
    seen = set(conflicts)
    pending = list(conflicts)
    while pending:
        found = pending.pop()
        if found is WORLD or found in written_through or found.value in lent:
            return set()
        if found.view:
            roots.add(found.value)
        elif found.sources:
            pending += found.sources - seen
            seen |= found.sources
        elif found in buffer.aliases:
            return set()
    return roots


def _copied_leaves(
    function: Function, aliasing: Aliasing, left: frozenset[int], record: Collection[int]
) -> set[int]:
    """The leaves of the result that would share memory with parameters or other leaves. left, and
    record: those that may."""
    copied: set[int] = set()
    kept: set[Buffer] = set()
    for position in left:
        kept.update(aliasing.buffers(function.body.yields[position]).values())
    for position, value in enumerate(function.body.yields):
        if position in record or position in left:
            continue
        buffers = set(aliasing.buffers(value).values())
        seen_elsewhere = any(
            s.repeated or s in kept or WORLD in s.aliases or not kept.isdisjoint(s.aliases)
            for s in buffers
        )
        within = any(not buffers.isdisjoint(s.aliases) for s in buffers)
        if seen_elsewhere or within:
            copied.add(position)
        else:
            kept |= buffers
    return copied


class _Rewriter:
    """Puts into the function what was decided: copies, stores to reused arrays, replacements."""

    def __init__(
        self,
        function: Function,
        aliasing: Aliasing,
        reused: dict[Operation, int],
        replaced: dict[Operation, Operation | None],
    ) -> None:
        self._function = function
        self._aliasing = aliasing
        self._copies = aliasing.copies
        self._reused = reused
        self._replaced = replaced
        self._builder = Builder(function.facts)
        self._makers = {r: o for o in walk(function.body) for r in o.results}
        self._holds_none = any(map(_is_none, walk(function.body)))

    def rewrite(self, returned: set[int]) -> Function:
        body = self._function.body
        with self._builder.block() as operations:
            self._operations(body)
            yields = tuple(
                self._deep_copy(value) if position in returned else value
                for position, value in enumerate(body.yields)
            )
        return replace(self._function, body=Block(body.parameters, tuple(operations), yields))

    def _operations(self, block: Block) -> None:
        views = Views(self._aliasing)
        for operation in block.operations:
            self._builder.location = operation.location
            if operation in self._replaced:
                self._replace(operation, self._replaced[operation])
                continue
            rewritten = self._with_copied_operands(operation, views.operands(operation))
            if operation.regions:
                regions = tuple(map(self._region, operation.regions))
                rewritten = replace(rewritten, regions=regions)
            views.pass_by(operation, self._reused.get(operation))
            if operation in self._reused:
                self._reuse(rewritten, self._reused[operation])
            elif self._copies.results.isdisjoint(operation.results):
                self._builder.append(rewritten)
            else:
                views.add(operation, self._copied_result(rewritten))

    def _replace(self, operation: Operation, replacement: Operation | None) -> None:
        if replacement is None:
            return
        if replacement.attributes is operation.attributes:  # the same, with another result
            rewritten = self._with_copied_operands(operation, operation.operands)
            replacement = replace(rewritten, results=replacement.results)
        self._builder.append(replacement)

    def _region(self, region: Block) -> Block:
        with self._builder.block() as operations:
            self._operations(region)
        return Block(region.parameters, tuple(operations), region.yields)

    def _with_copied_operands(self, operation: Operation, values: Sequence[Value]) -> Operation:
        operands = list(values)
        for number, value in enumerate(operands):
            deep = self._copies.operands.get((operation, number))
            if deep is not None:
                operands[number] = self._deep_copy(value) if deep else self._copy(value)
        if reads_what_it_writes(self._aliasing, self._makers, operation):
            operands[1] = self._copy(operands[1])
        same = operands == list(operation.operands)
        return operation if same else replace(operation, operands=tuple(operands))

    def _copied_result(self, operation: Operation) -> Value:
        """The copy takes the place (and the name) of the result, which is returned."""
        result = operation.result
        taken = Value(result.type)
        self._builder.append(replace(operation, results=(taken,)))
        self._append(COPY, (taken,), result, {"x": Operand(0)})
        return taken

    def _reuse(self, operation: Operation, number: int) -> None:
        """`y = x * t` as the store `x[...] = x * t`, which is written `x *= t`."""
        x, t = operation.operands[number], operation.operands[1 - number]
        if operation.callee is operator.add:
            arguments = {"x": Operand(0), "value": Operand(1), "path": ()}
            self._append(ACCUMULATE, (x, t), operation.result, arguments)
            return
        computed = Value(operation.result.type)
        self._builder.append(replace(operation, operands=(x, t), results=(computed,)))
        arguments = {"x": Operand(0), "value": Operand(1), "path": ()}
        self._append(STORE, (x, computed), operation.result, arguments)

    def _append(
        self, primitive: Any, operands: tuple[Value, ...], result: Value, attributes: dict[str, Any]
    ) -> None:
        location = self._builder.location
        self._builder.append(
            Operation(primitive, operands, (result,), attributes, location=location)
        )

    def _copy(self, value: Value, optional: bool = False) -> Value:
        attributes = {"x": value, "optional": True} if optional else {"x": value}
        return self._builder.call(COPY, attributes, name=value.name)

    def _deep_copy(self, value: Value) -> Value:
        """A copy that shares nothing with the value, whatever that contains."""
        type_ = value.type
        if isinstance(type_, ListType) and _holds_buffer(type_.item):
            return self._copy_list(value, type_)
        if isinstance(type_, Tuple) and _holds_buffer(type_):
            items = [
                self._deep_copy(self._builder.call(ITEM, {"x": value, "position": i}))
                for i in range(len(type_.items))
            ]
            return self._builder.call(TUPLE, {"items": tuple(items)}, name=value.name)
        return self._copy(value) if _holds_buffer(type_) else value

    def _copy_list(self, value: Value, type_: ListType) -> Value:
        builder = self._builder
        empty = builder.call(LIST, {"items": (), "item": type_.item}, name=value.name)
        item, carried = builder.named(type_.item), builder.named(ListType(type_.item), value.name)
        with builder.block() as operations:
            is_array = isinstance(type_.item, Array)
            copy = self._copy(item, self._holds_none) if is_array else self._deep_copy(item)
            grown = builder.call(APPEND, {"x": carried, "value": copy}, name=value.name)
        result = builder.named(type_, value.name)
        shape = LoopShape(("sequence",), 1)
        body = Block((item, carried), tuple(operations), (grown,))
        builder.emit_loop(shape, (value, empty), [body], [result])
        return result


def _is_none(operation: Operation) -> bool:
    return operation.primitive is CONSTANT and operation.attributes["value"] is None


def _holds_buffer(type_: Type) -> bool:
    return bool(buffer_paths(type_))
