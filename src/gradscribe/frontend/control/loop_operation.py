"""Lowering of one loop to a `loop` operation.

The body is lowered with parameters in place of everything that it may change: the names it
assigns and the storages it stores to. The types of the parameters are found by iterating to
a fixed point of the join; each attempt that changes them is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from gradscribe.errors import AliasingError
from gradscribe.frontend.containers import iteration_items
from gradscribe.frontend.containers.loop_columns import Columns
from gradscribe.frontend.control import list_lengths
from gradscribe.frontend.expressions.booleans import condition
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.joins import attempts
from gradscribe.frontend.joins.branches import branch
from gradscribe.frontend.joins.carried import Carried
from gradscribe.frontend.joins.merged_lengths import matched_lengths
from gradscribe.frontend.joins.splitting import split_expression
from gradscribe.frontend.kinds import presence, tensors
from gradscribe.frontend.memory import aliasing, kept_memory, kept_variables
from gradscribe.frontend.opaque import lent_containers
from gradscribe.frontend.state.definitions import NotYetKnownError
from gradscribe.frontend.state.frame import NOT_BROKEN, NOT_CONTINUED, NOT_RETURNED, RAISED
from gradscribe.frontend.state.interruptions import LateReadError
from gradscribe.frontend.state.knowledge import Attempts, LoopIteration, State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.bindings import assigned_names
from gradscribe.frontend.values.iterations import Iteration
from gradscribe.frontend.values.values import Cell, Either, FrontendValue, Static, Storage, Unbound
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Block, LoopShape, Operation, Value
from gradscribe.ir.types import Sequence as SequenceType
from gradscribe.ir.types import Type
from gradscribe.primitives.conditions import bounds_of

_HAS_RUN = "has run"
"""The name, which no program can have, of the flag that there was an iteration."""


class TestWithEffectsError(Exception):
    """The test of a `while` changes the state."""


def after(
    lowering: Lowering,
    node: Any,
    outer: dict[str, FrontendValue | None],
    not_broken: FrontendValue,
) -> None:
    """Restore the flags of the loop around, and run the `else` clause."""
    names = lowering.frame.names
    for flag, value in outer.items():
        names.pop(flag, None)
        if value is not None:
            names[flag] = value
    if not node.orelse or RAISED in names:
        return
    complete = lowering.truth(not_broken)
    if isinstance(complete, bool):
        if complete:
            lowering.statements(node.orelse)
        return
    branch(lowering, complete, lambda: lowering.statements(node.orelse), lambda: None)


def run_loop(
    lowering: Lowering, node: Any, columns: Columns | None, may_peel: Callable[[], bool]
) -> None:
    """Lower a loop to a `loop` operation; columns is None for `while`."""
    with attempts.at(lowering, node) as own:
        _run(lowering, node, columns, may_peel, own)


def _run(
    lowering: Lowering,
    node: Any,
    columns: Columns | None,
    may_peel: Callable[[], bool],
    own: Attempts,
) -> None:
    names = lowering.frame.names
    outer = {flag: names.pop(flag, None) for flag in (NOT_BROKEN, NOT_CONTINUED, _HAS_RUN)}
    location = lowering.builder.location
    body = [*node.body, *([node.target] if columns else [])]
    assigned = assigned_names(body)
    live = lowering.frame.source.live_or_deleted.get(node)
    first = _bound_first(lowering, node, assigned)
    trial = lowering.trial()
    while True:
        if _HAS_RUN in own.ways:
            lowering.frame.names[_HAS_RUN] = Static(False)
            assigned.add(_HAS_RUN)
        carried = Carried(
            lowering,
            sorted(assigned),
            in_place=assigned - assigned_names(body, augmented=False),
            live=lowering.frame.source.live_or_deleted.get(node.body[-1]),
            keep_broken=bool(node.orelse),
            bound_by_else=assigned_names(node.orelse),
            may_peel=may_peel,
            counter=columns.counter if columns else Symbol("i"),
        )
        attempt = _attempted(lowering, node, columns, carried, own)
        if attempt is None:
            trial.take_back()
            after(lowering, node, outer, Static(True))
            return
        lowering.restore(carried.entry)
        lowering.builder.location = location
        apart = carried.told_apart(live)
        before: dict[Any, FrontendValue] = {**first, **carried.replaced(live), **apart}
        before.update(carried.stored_first())
        if (
            not before
            or _HAS_RUN in assigned
            or _tells_iterations(lowering, node, columns) is not None
        ):
            break
        trial.take_back()
        own.ways.add(_HAS_RUN)
    results = attempt.emit()
    not_broken = carried.leave(results)
    for name in apart:
        carried.after_iterations(name)
    _without_iterations(lowering, node, columns, before)
    if attempt.endless and not attempt.can_break:
        lowering.frame.names[NOT_RETURNED] = Static(False)
    after(lowering, node, outer, not_broken)


def _attempted(
    lowering: Lowering, node: Any, columns: Columns | None, carried: Carried, own: Attempts
) -> _Attempt | None:
    """The loop; None where its iterations need the result of a recursion that makes none."""
    depth = len(lowering.frame.loops)
    lowering.frame.loops.append(node.lineno)
    try:
        attempt = _settled(lowering, node, columns, carried, own)
    except NotYetKnownError as unknown:
        if unknown.definition is None:
            raise
        del lowering.frame.loops[depth:]
        return None
    lowering.frame.loops.pop()
    return attempt


def _bound_first(lowering: Lowering, node: Any, assigned: set[str]) -> dict[str, FrontendValue]:
    """The names that have their first value from an iteration, and are read after the loop, with
    what they are before it; not where an `else` clause, which is run if there is no iteration, may
    bind them."""
    live = lowering.frame.source.live_or_deleted.get(node)
    if live is None or node.orelse:
        return {}
    names = lowering.frame.names
    return {
        name: Unbound(f"`{name}` has no value if the loop makes no iteration", raises=True)
        for name in sorted(assigned & live)
        if isinstance(names.get(name, _MISSING), Unbound)
    }


_MISSING = Unbound("")


def _tells_iterations(
    lowering: Lowering, node: Any, columns: Columns | None
) -> bool | Value | None:
    """Whether the loop makes an iteration, where that can be told from what it runs over."""
    if columns is None:
        return None
    return iteration_items.has_first(lowering, node, columns.iteration)


def _without_iterations(
    lowering: Lowering,
    node: Any,
    columns: Columns | None,
    before: dict[Any, FrontendValue],
) -> None:
    """After a loop, let names and attributes that each iteration binds anew be what they were
    before it, if there was no iteration."""
    names = lowering.frame.names
    counter = names.pop(_HAS_RUN, None)
    for key, item in before.items():
        where, name = (lowering.items_in(key), key.name) if isinstance(key, Cell) else (names, key)
        told = _tells_iterations(lowering, node, columns)
        has_run = counter if told is None else told
        if isinstance(key, Cell):
            presence.note_present(lowering, where[name])
        if has_run in (False, Static(False)):
            where[name] = item
        elif isinstance(has_run, Value) and not isinstance(where[name], (Either, Unbound)):
            where[name] = Either(has_run, where[name], item)
            lowering.variants.exist = True


def _settled(
    lowering: Lowering, node: Any, columns: Columns | None, carried: Carried, own: Attempts
) -> _Attempt:
    """The first attempt whose types hold."""
    names = [entry.key for entry in carried.entries]
    attempts.start(own, carried)
    made, depth = len(lowering.builder.operations), len(lowering.frame.loops)
    renamed = frozenset(lowering.kept.renamed)
    for _ in range(_ATTEMPTS + len(names)):
        own.met = 0
        try:
            attempt = _Attempt(lowering, node, columns, carried, renamed)
            if attempt.settled:
                attempts.note(own, names, carried)
                return attempt
        except AliasingError:
            lowering.kept.renamed = set(renamed)
            raise
        except LateReadError as late:
            if late.carried is not carried:
                raise
            carried.demand(late.entry)
        except NotYetKnownError:
            carried.refuse_probed()
            raise
        kept = kept_memory.handled(lowering, carried.entry)
        lowering.restore(carried.entry)
        lowering.kept.renamed = set(renamed)
        lowering.builder.operations[made:] = carried.joined
        del lowering.frame.loops[depth:]
        carried.restart()
        kept_memory.handle(lowering, kept)
        lent_containers.make_again(lowering)
        made = len(lowering.builder.operations)
    return lowering.unsupported(
        node,
        "what this loop binds its names to is of another kind after each iteration",
        "bind a name to lists of one structure, or to numbers",
    )


_ATTEMPTS = 20
"""So many may be needed beside one for each name: more only where they come to no end."""


def _is_changed(lowering: Lowering, before: State) -> bool:
    """Whether names are bound otherwise than before, or what they hold is changed."""
    lowering.complete(before)
    names, contents = lowering.frame.names, lowering.contents
    return any(before.names.get(name) is not item for name, item in names.items()) or any(
        contents.get(storage) is not item for storage, item in before.contents.items()
    )


def _lists(state: State) -> dict[Storage, tuple[Any, ...]]:
    """What is known of the lists that there are before an iteration: what they hold of what there
    is, and how."""
    there = state.contents.keys()
    return {
        storage: (storage.holds & there, storage.levels, storage.read_only, storage.kept)
        for storage, held in state.contents.items()
        if isinstance(held, Value) and isinstance(held.type, SequenceType)
    }


class _Attempt:
    """One try at lowering the body under the present types of the carried values.

    settled: whether these types hold. The operations are in hand until `emit`.
    """

    def __init__(
        self,
        lowering: Lowering,
        node: Any,
        columns: Columns | None,
        carried: Carried,
        renamed: Collection[Storage],
    ) -> None:
        """renamed: the memory that unread code may have had under another name before the loop."""
        self.lowering, self.node, self.columns, self.carried = lowering, node, columns, carried
        self.endless = False
        self.condition: Block | None = None
        self.inits = carried.enter()
        at_entry = lowering.fork()
        if columns is None:
            self._lower_condition()
        lowering.restore(at_entry)
        self.items = (
            [lowering.builder.named(t, name) for t, name, _ in columns.items] if columns else []
        )
        self.parameters = carried.bind()
        facts = lowering.builder.facts
        calls, variables = lowering.kept.calls, kept_variables.count(lowering)
        lists = _lists(at_entry)
        operations: list[Operation] = []
        lowering.loops.iterations.append(LoopIteration(Storage().serial, operations))
        try:
            with facts.scope(self._bounds()), lowering.inside(operations):
                self._lower_body()
                lowering.leave(at_entry)
            again = kept_memory.has_met(lowering, at_entry, calls)
            again |= kept_variables.count(lowering) > variables
            again |= _lists(at_entry) != lists
            aliasing.refuse_kept_again(lowering, node, at_entry, renamed)
            self.settled = carried.settle(operations) and not again
        finally:
            lowering.loops.iterations.pop()
        self.operations = operations
        self.exit_flags = carried.exit_flags()
        self.can_break = carried.broken is not True

    def _lower_condition(self) -> None:
        self._condition_counter = Symbol("i")
        parameters = self.carried.bind(Affine.of(self._condition_counter))
        with self.lowering.builder.block() as operations:
            self.carried.read_items_again()
            before = self.lowering.fork()
            test = self.node.test
            try:
                known_truth = self.lowering.truth(
                    split_expression(self.lowering, test, lambda: condition(self.lowering, test)),
                )
            except RunTimeKeyError as error:
                if error.place in self.lowering.keyed:  # it needs handles, which the body has
                    raise TestWithEffectsError from None
                raise
            if _is_changed(self.lowering, before):
                raise TestWithEffectsError
            if isinstance(known_truth, bool):
                self.endless = known_truth
                known_truth = self.lowering.constant(known_truth)
        self.condition = Block(tuple(parameters), tuple(operations), (known_truth,))

    def _bounds(self) -> list[Affine]:
        """What follows for the lengths of the body from the condition of a `while`."""
        if self.condition is None:
            return []
        known = bounds_of(self.lowering.builder.definition, self.condition.yields[0], True)
        pairs = zip(self.condition.parameters, self.parameters, strict=True)
        own = matched_lengths([(a.type, b.type) for a, b in pairs])
        own[self._condition_counter] = Affine.of(self.carried.counter)
        bounds = [bound.substitute(own) for bound in known]
        for bound in bounds:
            for symbol, _ in bound.terms:
                if symbol.serial >= self.carried.counter.serial:
                    self.lowering.builder.facts.bound(symbol, bound)
        return bounds

    def _lower_body(self) -> None:

        lowering = self.lowering
        self.carried.read_items_again()
        self.carried.take_handles()
        lowering.frame.names[NOT_BROKEN] = Static(True)
        lowering.frame.names[NOT_CONTINUED] = Static(True)
        lowering.frame.names[_HAS_RUN] = Static(True)
        if self.columns is not None:
            shared = [overlaps for _, _, overlaps in self.columns.items]
            lowering.loops.rows.update(self.columns.rows(self.items))
            wrapped = [lowering.wrap(v, o) for v, o in zip(self.items, shared, strict=True)]
            lowering.assign(self.node.target, self.columns.bind(iter(wrapped)))
        lowering.statements(self.node.body)

    def _result_types(self, yields: list[Value], exits: bool) -> list[Type]:
        whole = self.columns.iteration if self.columns and not exits else None
        types = [type_ for type_, _ in self.carried.types()]
        types = self.carried.lengths.bound(types, self._iterations_made(whole))
        carried = list(zip(types, self.inits, self.parameters, yields, strict=True))
        return list_lengths.grown(self.lowering, whole, self.operations, carried)

    def _iterations_made(self, whole: Iteration | None) -> Affine:
        """The number of iterations, which is known where the loop runs over all of an iteration."""
        lengths, facts = self.carried.lengths, self.lowering.builder.facts
        if whole is not None and lengths.counts_iterations:
            count = iteration_items.length(self.lowering, whole)
            if count is not None:
                return facts.maximum(count, Affine.of(0))
        return Affine.of(Symbol("count"))

    def emit(self) -> list[Value]:
        """Append the loop operation; its results."""
        builder = self.lowering.builder
        yields, again = self.carried.yields(self.operations)
        shape = LoopShape(
            self.columns.kinds if self.columns else (),
            len(self.inits),
            exits=again is not None,
            condition=self.condition is not None,
            reversed=self.columns.reversed if self.columns else False,
        )
        body = Block(
            (*self.items, *self.parameters),
            tuple(self.operations),
            (*yields, *([again] if again is not None else [])),
        )
        tensors.refuse_numbers_shared_by_iterations(
            self.lowering, self.node, self.parameters, yields
        )
        names = [name for _, name in self.carried.types()]
        results = list(map(builder.named, self._result_types(yields, again is not None), names))
        regions = [body] if self.condition is None else [body, self.condition]
        operands = [*(self.columns.operands if self.columns else ()), *self.inits]
        builder.emit_loop(shape, operands, regions, results)
        return results
