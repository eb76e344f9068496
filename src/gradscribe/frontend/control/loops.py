"""Lowering of `for` and `while`.

The body is lowered with parameters in place of everything that it may change: the names it
assigns and the storages it stores to. The types of the parameters are found by iterating to
a fixed point of the join; each attempt that changes them is thrown away. Loops over
structures of known items are unrolled; ranges, arrays and lists never are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast

from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.frontend.calls import builtins as known
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.calls.definitions import EverOtherTypesError, NotYetKnownError
from gradscribe.frontend.control import first_and_rest, list_lengths
from gradscribe.frontend.control.bounds import bounds_of, matched_lengths
from gradscribe.frontend.control.branches import RAISED, branch
from gradscribe.frontend.control.carried import Carried, FirstTripError, LateReadError
from gradscribe.frontend.data import sequences
from gradscribe.frontend.data.subscripts import read_item
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.lowering import (
    NOT_BROKEN,
    NOT_CONTINUED,
    NOT_RETURNED,
    Lowering,
)
from gradscribe.frontend.source import assigned_names
from gradscribe.frontend.splitting import split_expression
from gradscribe.frontend.values import (
    Either,
    Iteration,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.core import Block, LoopShape, Operation, Value
from gradscribe.ir.lengths import Affine, Symbol
from gradscribe.ir.types import Array, Scalar, Sequence, Type

_HAS_RUN = "has run"
"""The name, which no program can have, of the flag that there was a trip."""


def for_loop(lowering: Lowering, node: Any) -> None:
    """A `for` statement."""
    from gradscribe.frontend.expressions import expression

    lowering.iterable = node.iter
    over = expression(lowering, node.iter)
    iteration = known.iteration(lowering, node.iter, over)
    depth, sliced = len(lowering.iterated), len(lowering.sliced)
    lowering.iterated += [over] if isinstance(over, ListRef) else first_and_rest.arrays(iteration)
    try:
        _run_over(lowering, node, iteration)
    finally:
        del lowering.iterated[depth:]
        del lowering.sliced[sliced:]


def _run_over(lowering: Lowering, node: Any, iteration: Iteration) -> None:
    if iteration.kind == "map" and _is_static(iteration):
        inner, mapped = iteration.parts
        _unroll(lowering, node, known.unrolled(lowering, node.iter, inner), mapped)
        return
    if _is_static(iteration):
        _unroll(lowering, node, known.unrolled(lowering, node.iter, iteration))
        return
    if _is_empty(lowering, iteration):
        from gradscribe.frontend.statements import statements

        statements(lowering, node.orelse)
        return
    _run_counted(lowering, node, iteration, _MAX_PEELED)


def _run_counted(lowering: Lowering, node: Any, iteration: Iteration, peels: int) -> None:
    """Run over an iteration, as it is if that is possible. Where the body stores to the array that
    the loop runs over, or to a row of it, the rows are taken by index, as the views they are. Where
    a name has no value, or one of another kind, before the first trip, that is lowered by itself,
    if there is one."""
    before, made = lowering.fork(), len(lowering.builder.operations)
    depth, location = len(lowering.frame.loops), lowering.builder.location

    def take_back() -> None:
        lowering.restore(before)
        del lowering.builder.operations[made:]
        del lowering.frame.loops[depth:]
        lowering.builder.location = location

    def may_peel() -> bool:
        return peels > 0 and _is_peelable(lowering, node, iteration)

    arrays = list(first_and_rest.arrays(iteration))
    try:
        run_loop(lowering, node, _columns(lowering, node, iteration, node.target), may_peel)
    except FirstTripError:
        take_back()
        _peel(lowering, node, iteration, peels)
        return
    except EverOtherTypesError:
        raise
    except UnsupportedError as error:
        if not (arrays and isinstance(error, AliasingError)):
            take_back()
            _unroll_instead(lowering, node, iteration, error)
            return
    else:
        storages = [array.storage for array in arrays]
        if all(lowering.contents[s] is before.contents[s] for s in storages):
            return
    take_back()
    _run_counted(lowering, node, first_and_rest.by_index(lowering, node, iteration), peels)


_FEW = 16


def _unroll_instead(
    lowering: Lowering, node: Any, iteration: Iteration, error: UnsupportedError
) -> None:
    """Unroll a loop over a short, known range that is no loop in the IR: one whose trips make
    functions, or values of different types."""
    is_known = iteration.kind == "range" and all(isinstance(p, Static) for p in iteration.parts)
    if not is_known or len(range(*(p.value for p in iteration.parts))) > _FEW:
        raise error
    try:
        _unroll(lowering, node, known.unrolled(lowering, node.iter, iteration))
    except UnsupportedError as later:
        raise (later if isinstance(error, RunTimeKeyError) else error) from None


def _is_empty(lowering: Lowering, iteration: Iteration) -> bool:
    """Whether this runs over a list that is known to have no items."""
    return iteration.kind == "sequence" and sequences.is_empty(lowering, iteration.parts[0])


_MAX_PEELED = 4
_EXITS = (gast.Break, gast.Continue, gast.Return)


def _is_peelable(lowering: Lowering, node: Any, iteration: Iteration) -> bool:
    """Whether it is known if there is a first trip, and no exit can be taken in it."""
    if any(isinstance(n, _EXITS) for b in node.body for n in gast.walk(b)):
        return False
    trips = None if iteration.reversed else first_and_rest.trips(lowering, iteration)
    return trips is not None and lowering.builder.facts.at_least(trips, 1) is not None


def _peel(lowering: Lowering, node: Any, iteration: Iteration, peels: int) -> None:
    """Lower the first trip by itself, and then a loop over the rest."""
    from gradscribe.frontend.statements import assign, statements

    trips = first_and_rest.trips(lowering, iteration)
    assert trips is not None
    if not lowering.builder.facts.at_least(trips, 1):
        statements(lowering, node.orelse)
        return
    first, rest = first_and_rest.divide(lowering, node, iteration)
    assign(lowering, node.target, first)
    lowering.frame.loops.append(node.lineno)
    statements(lowering, node.body)
    lowering.frame.loops.pop()
    if RAISED not in lowering.frame.names:
        _run_counted(lowering, node, rest, peels - 1)


def while_loop(lowering: Lowering, node: Any) -> None:
    """A `while` statement."""
    run_loop(lowering, node, None, lambda: False)


# -- what the loop runs over -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Columns:
    """The iterables of a counted loop, and how their items are bound to the target."""

    kinds: tuple[str, ...]
    operands: tuple[Value, ...]
    items: tuple[tuple[Type, str, frozenset[Storage]], ...]
    bind: Callable[[Any], Any]
    iteration: Iteration
    trip: Symbol

    @property
    def reversed(self) -> bool:
        return self.iteration.reversed and len(self.kinds) == 1

    def rows(self, items: list[Value]) -> dict[Value, Value]:
        """The arrays that the items are rows of."""
        shape = LoopShape(self.kinds, 0)  # type: ignore[arg-type]
        columns = zip(self.kinds, items, shape.iterable_slices(), strict=True)
        return {i: self.operands[where][0] for kind, i, where in columns if kind == "array"}


def _is_static(iteration: Iteration) -> bool:
    if iteration.kind in ("zip", "enumerate", "map"):
        return any(_is_static(p) for p in iteration.parts if isinstance(p, Iteration))
    return iteration.kind == "static"


def _columns(lowering: Lowering, node: Any, iteration: Iteration, target: Any) -> _Columns:
    trip = Symbol("i")
    kinds: list[str] = []
    operands: list[Value] = []
    items: list[tuple[Type, str, frozenset[Storage]]] = []

    def add(part: Iteration, name: Any) -> Callable[[Any], Any]:
        if part.kind == "zip":
            names = name.elts if isinstance(name, gast.Tuple) else []
            below = [add(p, names[i] if i < len(names) else None) for i, p in enumerate(part.parts)]
            return lambda values: TupleOf(tuple(take(values) for take in below))
        if part.kind == "enumerate":
            return add(_enumerated(lowering, node, part), name)
        if part.kind == "map":
            below_map = add(part.parts[0], None)
            return lambda values: part.parts[1](below_map(values))
        if part.kind == "items":
            index = add(part.parts[0], None)
            return lambda values: read_item(lowering, node, part.parts[1], index(values))
        kind, values, item = _simple(
            lowering, node, part, trip, nested=bool(kinds) or part is not iteration
        )
        kinds.append(kind)
        operands.extend(values)
        items.append((item[0], name.id if isinstance(name, gast.Name) else "", item[1]))
        return next

    bind = add(iteration, target)
    if iteration.reversed and len(kinds) > 1:
        lowering.unsupported(node.iter, "`reversed` of several iterables is not supported")
    return _Columns(tuple(kinds), tuple(operands), tuple(items), bind, iteration, trip)


def _enumerated(lowering: Lowering, node: Any, part: Iteration) -> Iteration:
    """`enumerate(xs, start)` as a zip with a range, at least as long as xs."""
    inner, start = part.parts
    first = inner
    while first.kind in ("zip", "enumerate"):
        first = first.parts[0]
    count = _trips(lowering, node, first)
    from gradscribe.frontend.operators import operate

    from_zero = isinstance(start, Static) and start.value == 0
    stop = count if from_zero else operate(lowering, node, operator.add, start, count)
    return Iteration("zip", (Iteration("range", (start, stop, Static(1))), inner))


def _trips(lowering: Lowering, node: Any, part: Iteration) -> Any:
    if part.kind == "items":
        part = part.parts[0]
    if part.kind == "range":
        start, stop, step = part.parts
        if not (isinstance(step, Static) and step.value == 1):
            lowering.unsupported(node.iter, "`enumerate` of a range with steps is not supported")
        from gradscribe.frontend.operators import operate

        if isinstance(start, Static) and start.value == 0:
            return stop
        return operate(lowering, node, operator.sub, stop, start)
    return calls.length(lowering, part.parts[0])


def _simple(
    lowering: Lowering, node: Any, part: Iteration, trip: Symbol, nested: bool
) -> tuple[str, list[Value], tuple[Type, frozenset[Storage]]]:
    """The kind, operands and item of one iterable."""
    none: frozenset[Storage] = frozenset()
    if part.kind == "range":
        values = [lowering.value(p) for p in part.parts]
        if part.reversed and nested:
            lowering.unsupported(node.iter, "`reversed(range)` inside `zip` is not supported")
        number = Symbol("i") if part.reversed else trip
        return "range", values, (_range_item(lowering, values, number), none)
    owner = part.parts[0]
    if part.kind == "array":
        if part.reversed and nested:
            owner = read_item(lowering, node, owner, slice(None, None, Static(-1)))
        value = lowering.value(owner)
        assert isinstance(value.type, Array)
        dims = value.type.dims[1:]
        lowering.builder.facts.bound(trip, value.type.dims[0] - Affine.of(trip) - 1)
        item: Type = (
            replace(value.type, dims=dims) if dims else Scalar(value.type.dtype, weak=False)
        )
        return "array", [value], (item, _shared(owner))
    if part.reversed and nested:
        owner = read_item(lowering, node, owner, slice(None, None, Static(-1)))
    value = lowering.value(owner)
    assert isinstance(value.type, Sequence)
    return "sequence", [value], (value.type.item, _shared(owner))


def _shared(owner: Any) -> frozenset[Storage]:
    return owner.storage.reached if isinstance(owner, (Ref, ListRef)) else frozenset()


def _range_item(lowering: Lowering, parts: list[Value], trip: Symbol) -> Type:
    """The type of a range's index: what follows for it from start, stop, step and the trip."""
    start, stop, step = (part.type for part in parts)
    assert isinstance(start, Scalar) and isinstance(stop, Scalar) and isinstance(step, Scalar)
    if start.value is None or step.value is None or not step.value.known:
        return Scalar("int64", True, Affine.of(Symbol("i", None)))
    value = start.value + Affine.of(trip) * step.value.known
    if stop.value is not None:
        rest = stop.value - value if step.value.known > 0 else value - stop.value
        lowering.builder.facts.bound(trip, rest - 1)
    return Scalar("int64", True, value)


# -- unrolled loops ----------------------------------------------------------------------------


def _unroll(
    lowering: Lowering,
    node: Any,
    items: tuple[Any, ...],
    mapped: Callable[[Any], Any] = lambda item: item,
) -> None:
    from gradscribe.frontend.statements import _guarded, assign, ended, pending_exits, statements

    names = lowering.frame.names
    outer = {flag: names.pop(flag, None) for flag in (NOT_BROKEN, NOT_CONTINUED)}
    lowering.builder.begin_statement()

    def trips(rest: tuple[Any, ...]) -> None:
        lowering.frame.names[NOT_CONTINUED] = Static(True)
        if not rest or ended(lowering):
            return
        pending = pending_exits(lowering)
        if pending:
            _guarded(lowering, pending, lambda: trips(rest))
            return
        assign(lowering, node.target, mapped(rest[0]))
        statements(lowering, node.body)
        trips(rest[1:])

    lowering.frame.names[NOT_BROKEN] = Static(True)
    lowering.frame.loops.append(node.lineno)
    trips(items)
    lowering.frame.loops.pop()
    _after(lowering, node, outer, lowering.frame.names[NOT_BROKEN])


def _after(lowering: Lowering, node: Any, outer: dict[str, Any], not_broken: Any) -> None:
    """Restore the flags of the loop around, and run the `else` clause."""
    from gradscribe.frontend.statements import statements

    names = lowering.frame.names
    for flag, value in outer.items():
        names.pop(flag, None)
        if value is not None:
            names[flag] = value
    if not node.orelse or RAISED in names:
        return
    if isinstance(not_broken, Static):
        if not_broken.value:
            statements(lowering, node.orelse)
        return
    branch(lowering, not_broken, lambda: statements(lowering, node.orelse), lambda: None)


# -- loops in the IR ---------------------------------------------------------------------------


def run_loop(
    lowering: Lowering, node: Any, columns: _Columns | None, may_peel: Callable[[], bool]
) -> None:
    """Lower a loop to a `loop` operation; columns is None for `while`."""
    names = lowering.frame.names
    outer = {flag: names.pop(flag, None) for flag in (NOT_BROKEN, NOT_CONTINUED, _HAS_RUN)}
    location = lowering.builder.location
    body = [*node.body, *([node.target] if columns else [])]
    assigned = assigned_names(body)
    if any(isinstance(part, gast.Call) for top in (node, *body) for part in gast.walk(top)):
        assigned |= lowering.frame.source.assigned_inside & names.keys()
    first = _bound_first(lowering, node, assigned)
    if first and _tells_trips(lowering, node, columns) is None:
        names[_HAS_RUN] = Static(False)
        assigned.add(_HAS_RUN)
    carried = Carried(
        lowering,
        sorted(assigned),
        in_place=assigned - assigned_names(body, augmented=False),
        live=lowering.frame.source.live.get(node.body[-1]),
        keep_broken=bool(node.orelse),
        may_peel=may_peel,
        trip=columns.trip if columns else Symbol("trip"),
    )
    lowering.frame.loops.append(node.lineno)
    attempt = _settled(lowering, node, columns, carried)
    lowering.frame.loops.pop()
    lowering.restore(carried.entry)
    lowering.builder.location = location
    results = attempt.emit()
    not_broken = carried.leave(results)
    _unbind(lowering, node, columns, first)
    if attempt.endless and not attempt.can_break:
        lowering.frame.names[NOT_RETURNED] = Static(False)
    _after(lowering, node, outer, not_broken)


def _bound_first(lowering: Lowering, node: Any, assigned: set[str]) -> set[str]:
    """The names that have their first value from a trip, and are read after the loop; not where an
    `else` clause, which is run if there is no trip, may bind them."""
    live = lowering.frame.source.live.get(node)
    if live is None or node.orelse:
        return set()
    names = lowering.frame.names
    return {n for n in assigned & live if isinstance(names.get(n, _MISSING), Unbound)}


_MISSING = Unbound("")


def _tells_trips(lowering: Lowering, node: Any, columns: _Columns | None) -> Any:
    """Whether the loop makes a trip, where that can be told from what it runs over."""
    return columns and first_and_rest.has_trips(lowering, node, columns.iteration)


def _unbind(lowering: Lowering, node: Any, columns: _Columns | None, first: set[str]) -> None:
    """After a loop, let names that only a trip binds have no value if there was none."""
    names = lowering.frame.names
    counter = names.pop(_HAS_RUN, None)
    for name in sorted(first):
        has_run = _tells_trips(lowering, node, columns)
        has_run = counter if has_run is None else has_run
        if isinstance(has_run, Value) and not isinstance(names[name], (Either, Unbound)):
            reason = f"`{name}` has no value if the loop makes no trip"
            names[name] = Either(has_run, names[name], Unbound(reason, raises=True))
            lowering.has_alternatives = True


def _settled(lowering: Lowering, node: Any, columns: _Columns | None, carried: Carried) -> _Attempt:
    """The first attempt whose types hold."""
    made, depth = len(lowering.builder.operations), len(lowering.frame.loops)
    while True:
        try:
            attempt = _Attempt(lowering, node, columns, carried)
            if attempt.settled:
                return attempt
        except LateReadError as late:
            if late.carried is not carried:
                raise
            carried.demand(late.entry)
        except NotYetKnownError:
            carried.refuse_probed()
            raise
        lowering.restore(carried.entry)
        del lowering.builder.operations[made:]
        del lowering.frame.loops[depth:]
        carried.restart()
        made = len(lowering.builder.operations)


class _Attempt:
    """One try at lowering the body under the present types of the carried values.

    settled: whether these types hold. The operations are in hand until `emit`.
    """

    def __init__(
        self, lowering: Lowering, node: Any, columns: _Columns | None, carried: Carried
    ) -> None:
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
        lowering.trips.append(Storage().serial)
        try:
            with facts.scope(self._bounds()), lowering.builder.block() as operations:
                self._lower_body()
            self.settled = carried.settle(operations)
        finally:
            lowering.trips.pop()
        self.operations: list[Operation] = operations
        self.exit_flags = carried.exit_flags()
        self.can_break = carried.broken is not True

    def _lower_condition(self) -> None:
        from gradscribe.frontend.expressions import condition
        from gradscribe.frontend.operators import truth

        self._condition_trip = Symbol("trip")
        parameters = self.carried.bind(Affine.of(self._condition_trip))
        with self.lowering.builder.block() as operations:
            self.carried.read_items_again()
            test = self.node.test
            known_truth = truth(
                self.lowering,
                split_expression(self.lowering, test, lambda: condition(self.lowering, test)),
            )
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
        own[self._condition_trip] = Affine.of(self.carried.trip)
        bounds = [bound.substitute(own) for bound in known]
        for bound in bounds:
            for symbol, _ in bound.terms:
                if symbol.serial >= self.carried.trip.serial:
                    self.lowering.builder.facts.bound(symbol, bound)
        return bounds

    def _lower_body(self) -> None:
        from gradscribe.frontend.statements import assign, statements

        lowering = self.lowering
        self.carried.read_items_again()
        lowering.frame.names[NOT_BROKEN] = Static(True)
        lowering.frame.names[NOT_CONTINUED] = Static(True)
        lowering.frame.names[_HAS_RUN] = Static(True)
        if self.columns is not None:
            shared = [overlaps for _, _, overlaps in self.columns.items]
            lowering.rows.update(self.columns.rows(self.items))
            wrapped = [lowering.wrap(v, o) for v, o in zip(self.items, shared, strict=True)]
            assign(lowering, self.node.target, self.columns.bind(iter(wrapped)))
        statements(lowering, self.node.body)

    def _result_types(self, yields: list[Value], exits: bool) -> list[Type]:
        whole = self.columns.iteration if self.columns and not exits else None
        types = [type_ for type_, _ in self.carried.types()]
        types = self.carried.lengths.bound(types, self._trips_made(whole))
        carried = list(zip(types, self.inits, self.parameters, yields, strict=True))
        return list_lengths.grown(self.lowering, whole, self.operations, carried)

    def _trips_made(self, whole: Iteration | None) -> Affine:
        """The number of trips, which is known where the loop runs over all of an iteration."""
        lengths, facts = self.carried.lengths, self.lowering.builder.facts
        if whole is not None and lengths.counts_trips:
            trips = first_and_rest.trips(self.lowering, whole)
            if trips is not None:
                return facts.maximum(trips, Affine.of(0))
        return Affine.of(Symbol("trips"))

    def emit(self) -> list[Value]:
        """Append the loop operation; its results."""
        builder = self.lowering.builder
        yields, again = self.carried.yields(self.operations)
        shape = LoopShape(
            self.columns.kinds if self.columns else (),  # type: ignore[arg-type]
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
        names = [name for _, name in self.carried.types()]
        results = list(map(builder.named, self._result_types(yields, again is not None), names))
        regions = [body] if self.condition is None else [body, self.condition]
        operands = [*(self.columns.operands if self.columns else ()), *self.inits]
        builder.emit_loop(shape, operands, regions, results)
        return results
