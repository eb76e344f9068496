"""Scopes: the mirror of each block of the primal while the reverse sweep writes it.

A scope holds two maps: the cotangents of primal values so far, and the primal values that are
available in the mirror. Both are filled on demand. A cotangent of an outer value is threaded
into the mirror: accumulated by the mirror of a loop, yielded by the mirror of an `if`. A
primal value is made available, cheapest first, by computing it again, by undoing the stores
that came after it (for versions of an array that is restored), or by exporting it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    Block,
    Operation,
    Primitive,
    Value,
    map_operands,
)
from gradscribe.ir.types import Array, Scalar, Tuple, Type
from gradscribe.primitives.control import COPY, TUPLE
from gradscribe.primitives.indexing import ACCUMULATE, READS, STORE, is_whole, may_repeat
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.adjoint.context import Context
from gradscribe.transforms.adjoint.projection import zero
from gradscribe.transforms.analyses.absence import telling
from gradscribe.transforms.analyses.costs import MOST_EFFORT, effort_of
from gradscribe.transforms.analyses.same_shape import same_shaped
from gradscribe.transforms.building import copied, derived, store_at, view_at
from gradscribe.transforms.derivatives.cotangents import add, any_of, if_there, name_of, of_real

if TYPE_CHECKING:
    from collections.abc import Iterator

_WRITABLE_VIEWS = frozenset(
    {"getitem", "transpose", "matrix_transpose", "swapaxes", "moveaxis", "flip"}
    | {"reshape", "ravel", "expand_dims", "squeeze"}
)
"""Views in which each element of the array has one place."""


class Scope:
    """The mirror of one block. `parent` mirrors the block around it."""

    parent: Scope | None = None

    def __init__(self, context: Context, block: Block, builder: Builder) -> None:
        self.context = context
        self.block = block
        self.builder = builder
        self.cotangents: dict[Value, Value] = {}
        self.presences: dict[Value, Value | None] = {}
        self.imported: dict[Value, Value] = {}

    # -- cotangents -------------------------------------------------------------------------

    def cotangent(self, value: Value) -> Value | None:
        """The cotangent of a value so far; None stands for zero."""
        found = self.cotangents.get(value)
        if found is None and self.context.structure.block_of[value] is not self.block:
            found = self.incoming(value)
        return found

    def incoming(self, value: Value) -> Value | None:
        """The cotangent of an outer value, as it comes into this mirror."""
        assert self.parent is not None
        return self.parent.cotangent(value)

    def contribute(self, value: Value, cotangent: Value) -> None:
        """Add to the cotangent of a value; of a part of an array that is read only once, to that
        of the array straight away."""
        if self.is_absent(value):
            return
        read = self._only_read(value)
        if read is not None:
            self.add_to_source(read, cotangent)
            return
        value = self._original(value)
        cotangent = of_real(self.builder, cotangent, value)
        current, masked = self.cotangent(value), self.context.masked
        unbounded = self.context.unbounded
        if current is not None:
            total = self._sum(current, cotangent, value)
            if current in masked and cotangent in masked:
                masked.add(total)
            if current in unbounded or cotangent in unbounded:
                unbounded.add(total)
            cotangent = total
        self.renew(value, cotangent)

    def _sum(self, a: Value, b: Value, value: Value) -> Value:
        """The sum of two cotangents of a value, where there is one."""
        flags = [] if isinstance(value.type, Scalar) else self.flags_of(value)
        return if_there(self.builder, flags, value, lambda: add(self.builder, a, b, value))

    def renew(self, value: Value, cotangent: Value) -> None:
        """Enter the cotangent of a value after something was added to it."""
        if self.context.asks_presence:
            present = self.context.present
            if present is not None and self.cotangent(value) is not None:
                present = any_of(self.builder, (self.presence(value), present))
            self.presences[value] = present
        self.cotangents[value] = cotangent

    def presence(self, value: Value) -> Value | None:
        """The flag that tells whether the cotangent of a value, which is zero otherwise, has come
        from anywhere on the path that was taken; None where it certainly has."""
        if value in self.cotangents or self.parent is None:
            return self.presences.get(value)
        return self.parent.presence(value)

    def add_to_source(self, read: Operation, cotangent: Value) -> None:
        """Add the cotangent of a part of an array, which `read` takes, to the array's."""
        if read.operands[0] not in self.context.active:
            return
        views = self._views(read)
        if not self._is_settled(views[0].operands[0], self.block):
            views = [read]
        x = self._original(views[0].operands[0])
        path = tuple(map(self._step, views))
        total = self.cotangent(x)
        is_cut = not is_whole(path) and (total is None or total in self.context.masked)
        if total is None:
            total = zero(self, x)
        elif isinstance(total.type, Scalar):  # the cotangent of an array without axes
            total = self.builder.call(PRIMITIVES[np.array], {"x": total, "dtype": None})
        changed = store_at(self.builder, ACCUMULATE, total, cotangent, path, name_of(x))
        if is_cut:
            self.context.masked.add(changed)
        self.renew(x, changed)

    def _step(self, read: Operation) -> tuple[Primitive, dict[str, Any]]:
        """A read or view as a step of a path."""
        first = next(iter(read.attributes))
        taken = {name: item for name, item in read.attributes.items() if name != first}
        step = map_operands(taken, lambda operand: self.primal(read.operands[operand.index]))
        return read.primitive, step

    def _views(self, read: Operation) -> list[Operation]:
        """The views of this block that lead from an array to what `read` takes, and `read`: what
        belongs to that may be added to the cotangent of the array straight away."""
        structure, views = self.context.structure, [read]
        while True:
            view = structure.definition.get(self._original(views[0].operands[0]))
            if view is None or view.primitive.name not in _WRITABLE_VIEWS:
                return views
            base = view.operands[0]
            if base not in self.context.active or not isinstance(base.type, Array):
                return views
            if structure.block_of[view] is not self.block:
                return views
            views.insert(0, view)

    def _only_read(self, value: Value) -> Operation | None:
        """The operation that reads `value` from an array, if `value` is used once, and the array
        is not stored to between the reading and the use."""
        structure = self.context.structure
        read = structure.definition.get(value)
        if read is None or read.primitive not in READS or structure.uses[value] != 1:
            return None
        if structure.block_of[read] is not self.block:
            return None
        return read if self._is_settled(self._views(read)[0].operands[0], self.block) else None

    def _original(self, value: Value) -> Value:
        """What `value` is a copy of, if their cotangents may be added up in one place."""
        structure = self.context.structure
        definition = structure.definition.get(value)
        while definition is not None and definition.primitive in _copies():
            x, block = definition.operands[0], structure.block_of[value]
            if x.type != value.type or not self._is_settled(x, block):
                break
            value = x
            definition = structure.definition.get(value)
        return value

    def _is_settled(self, x: Value, block: Block) -> bool:
        """Whether no store to an array in this block is still to be mirrored."""
        after = self.context.structure.store.get((x, block))
        return after is None or after in self.context.swept

    # -- primal values ------------------------------------------------------------------------

    def primal(self, value: Value) -> Value:
        """A value of the primal, as it is available here."""
        found = self.known(value) or self._undone(value)
        if found is None:
            home = self.home(value)
            found = home.imported[value] = home.obtain(value)
        return found

    def known(self, value: Value) -> Value | None:
        """A primal value that was made available before."""
        home = self.context.structure.block_of[value]
        for scope in self._outward():
            found = scope.imported.get(value)
            if found is not None or scope.block is home:
                return found
        return None

    def is_free(self, value: Value) -> bool:
        """Whether a primal value is available, with little effort and without exporting anything
        more."""
        return self.effort(value) <= MOST_EFFORT

    def effort(self, value: Value) -> float:
        """What it takes to make a primal value available without exporting anything more."""
        if self.known(value) is not None:
            return 0
        undo = self._undo(value)
        if undo is not None:
            return undo[0].effort(undo[1].result)
        return self.home(value).effort_here(value)

    def obtain(self, value: Value) -> Value:
        """Make a value of this very block available."""
        definition = self.context.structure.definition.get(value)
        if definition is None:
            return self.parameter(value)
        is_possible = self.context.undoing.isdisjoint(definition.operands)
        if is_possible and self._is_computed_again(definition):
            operands = [self.primal(operand) for operand in definition.operands]
            return copied(definition, operands, self.builder)
        if self._is_made_whole(value):
            return self._of_items(value)
        self.context.want(value)
        return self.export(value)

    def _is_made_whole(self, value: Value) -> bool:
        """Whether a value is a tuple that one call makes (`np.linalg.qr`)."""
        definition = self.context.structure.definition.get(value)
        if definition is None or not isinstance(value.type, Tuple):
            return False
        return not definition.regions and math.isinf(effort_of(definition))

    def _of_items(self, value: Value) -> Value:
        """A tuple, of its items: those are kept, and the rest of it is not."""
        items = tuple(map(self.primal, self.context.exports.items(value)))
        return self.builder.call(TUPLE, {"items": items})

    def effort_here(self, value: Value) -> float:
        """`effort`, for a value of this very block that is not available yet."""
        definition = self.context.structure.definition.get(value)
        if definition is None:
            return 0 if self.parameter_is_free(value) else math.inf
        effort = effort_of(definition)
        for operand in definition.operands:
            if effort <= MOST_EFFORT:
                effort += self.effort(operand)
        return effort

    def parameter(self, value: Value) -> Value:
        """Make a parameter of this block available."""
        raise NotImplementedError

    def parameter_is_free(self, value: Value) -> bool:
        raise NotImplementedError

    def export(self, value: Value) -> Value:
        """Have the primal keep a value of this block, and take it from there."""
        raise NotImplementedError

    def _is_computed_again(self, definition: Operation) -> bool:
        """What takes little effort; views always: to keep a view is to keep its array."""
        effort = effort_of(definition)
        if effort > MOST_EFFORT:
            return False
        if definition.primitive.view and isinstance(definition.result.type, Array):
            return effort == 0
        if definition.result in self.context.recomputed:
            return True
        return self.effort_here(definition.result) <= MOST_EFFORT

    def outcome(self, flag: Value) -> bool | None:
        """What a condition is known to be on the path that this mirrors."""
        for scope in self._outward():
            if isinstance(scope, BranchScope) and scope.operation.operands[0] is flag:
                return not scope.side
        return None

    def is_absent(self, value: Value) -> bool:
        """Whether a value is known to be undefined on the path that this mirrors."""
        absent = self.context.absent
        flags = (*telling(absent, value), *absent.get(value, ()))
        return any(self.outcome(flag) == outcome for flag, outcome in flags)

    def flags_of(self, value: Value) -> list[tuple[Value, bool]]:
        """The flags that tell whether a value is there, as far as the path that this mirrors does
        not decide them, each with the outcome that says that it is not."""
        flags = telling(self.context.absent, value)
        return [(self.primal(flag), no) for flag, no in flags if self.outcome(flag) is None]

    def _outward(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def home(self, value: Value) -> Scope:
        home = self.context.structure.block_of[value]
        return next(scope for scope in self._outward() if scope.block is home)

    # -- versions of arrays --------------------------------------------------------------------

    def _undo(self, value: Value) -> tuple[Scope, Operation] | None:
        """The store that followed a version of a restored array, and the scope to undo it in."""
        if not self.context.is_restored(value) or self.context.is_parameter(value):
            return None
        home = self.context.structure.block_of[value]
        for scope in self._outward():
            store = self.context.structure.store.get((value, scope.block))
            if store is not None and store in self.context.swept and store.attributes["path"]:
                return scope, store
            if scope.block is home:
                break
        return None

    def _undone(self, value: Value) -> Value | None:
        """A version of an array, from the next one, by putting back what was overwritten."""
        undo = self._undo(value)
        if undo is None:
            return None
        scope, store = undo
        after = scope.primal(store.result)
        kept = self.context.exports.overwritten(store)
        old = scope.known(kept)
        if old is None:
            old = scope.imported[kept] = scope.export(kept)
        self.context.undoing.add(value)  # where it was stored to may have been told by it
        path = scope.path(store)
        self.context.undoing.discard(value)
        outer, scope.builder.location = scope.builder.location, derived(store.location)
        before = scope.builder.call(
            STORE, {"x": after, "value": old, "path": path}, name=value.name
        )
        scope.builder.location = outer
        scope.imported[value] = before
        return before

    def path(self, store: Operation) -> tuple[Any, ...]:
        """The path of a store, with its indices as they are available here."""
        path: tuple[Any, ...] = map_operands(
            store.attributes["path"], lambda operand: self.primal(store.operands[operand.index])
        )
        return path

    def read_back(self, store: Operation) -> None:
        """Where a store of a restored array is mirrored: what it stored can be read there."""
        context = self.context
        if not context.is_restored(store.result) or may_repeat(store.attributes["path"]):
            return
        position = store.attributes["value"].index
        stored = store.operands[position]
        if not self.effort(stored) or self.effort(store.result):
            return
        trial = Builder(context.facts)
        trial.location = self.builder.location
        value = view_at(trial, self.primal(store.result), self.path(store), stored.name)
        if _holds(value.type, stored.type):
            for operation in trial.operations:
                self.builder.append(operation)
            self.imported[stored] = value

    def shaped_like(self, value: Value) -> Value:
        """A primal value of the same shape and dtype, the best to keep for those alone."""
        context = self.context
        candidates = list(same_shaped(context.structure, context.facts, value))
        if value in context.undefined and not context.absent.get(value):
            given = [p for p in context.function.body.parameters if p.type == value.type]
            candidates = [c for c in (*candidates, *given) if c not in context.undefined]
        for candidate in candidates:
            named = candidate.name and not self.context.structure.is_stored(candidate)
            if self.context.is_parameter(candidate) or (named and not self.effort(candidate)):
                return candidate
        return next((each for each in candidates if not self.effort(each)), value)


class TopScope(Scope):
    """The mirror of the function's body, where every value of the primal is at hand."""

    def obtain(self, value: Value) -> Value:
        if self._is_made_whole(value):
            return self._of_items(value)
        context = self.context
        if (value, self.block) in context.structure.store and not context.is_parameter(value):
            versions = context.versions.setdefault(context.structure.chain(value), set())
            versions.add(value)
            if len(versions) > 1:
                context.want(value)
        return value

    def effort_here(self, value: Value) -> float:
        return 0

    def export(self, value: Value) -> Value:
        return value


class BranchScope(Scope):
    """The mirror of one side of an `if`."""

    def __init__(self, parent: Scope, operation: Operation, side: int) -> None:
        super().__init__(parent.context, operation.regions[side], Builder(parent.context.facts))
        self.parent: Scope = parent
        self.operation = operation
        self.side = side
        self.builder.location = parent.builder.location

    def export(self, value: Value) -> Value:
        self.context.kept.add(value)
        if value in self.block.yields:
            result = self.operation.results[self.block.yields.index(value)]
        else:
            exports = self.context.exports
            result = exports.out_of_branch(self.operation, self.side, value)
        return self.parent.primal(result)


def _copies() -> tuple[Primitive | None, ...]:
    return COPY, PRIMITIVES.get(np.copy)


def _holds(read: Type, stored: Type) -> bool:
    """Whether a place of an array, read again, gives back what was stored there."""
    if isinstance(read, Array) != isinstance(stored, Array):
        return False
    same_dtype = getattr(read, "dtype", None) == getattr(stored, "dtype", None)
    dims = (getattr(read, "dims", None), getattr(stored, "dims", None))
    return same_dtype and dims[0] == dims[1]
