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

from gradscribe.frontend import builtins as known
from gradscribe.frontend import calls, first_and_rest
from gradscribe.frontend.branches import RAISED, branch
from gradscribe.frontend.carried import Carried, FirstTripError
from gradscribe.frontend.lowering import (
    NOT_BROKEN,
    NOT_CONTINUED,
    NOT_RETURNED,
    Lowering,
)
from gradscribe.frontend.source import assigned_names
from gradscribe.frontend.subscripts import read_item
from gradscribe.frontend.values import Iteration, ListRef, Ref, Static, Storage, TupleOf
from gradscribe.ir.core import Block, LoopShape, Operation, Value
from gradscribe.ir.types import Array, Never, Scalar, Sequence, Type


def for_loop(lowering: Lowering, node: Any) -> None:
    """A `for` statement."""
    from gradscribe.frontend.expressions import expression

    iteration = known.iteration(lowering, node.iter, expression(lowering, node.iter))
    if _is_static(iteration):
        _unroll(lowering, node, known.unrolled(lowering, node.iter, iteration))
        return
    if _is_empty(lowering, iteration):
        from gradscribe.frontend.statements import statements

        statements(lowering, node.orelse)
        return
    before, made = lowering.fork(), len(lowering.builder.operations)
    depth, location = len(lowering.frame.loops), lowering.builder.location
    try:
        run_loop(lowering, node, _columns(lowering, node, iteration, node.target))
    except FirstTripError as difference:
        lowering.restore(before)
        del lowering.builder.operations[made:]
        del lowering.frame.loops[depth:]
        lowering.builder.location = location
        _peel(lowering, node, iteration, str(difference))


def _is_empty(lowering: Lowering, iteration: Iteration) -> bool:
    """Whether this runs over a list that is known to have no items."""
    if iteration.kind != "sequence":
        return False
    type_ = lowering.value(iteration.parts[0]).type
    return isinstance(type_, Sequence) and isinstance(type_.item, Never)


def _peel(lowering: Lowering, node: Any, iteration: Iteration, difference: str) -> None:
    """Lower the first trip by itself, where a name holds a number before it and an array after
    it, and then a loop over the rest."""
    from gradscribe.frontend.statements import assign, statements

    exits = (gast.Break, gast.Continue, gast.Return)
    trips = None if iteration.reversed else first_and_rest.trips(lowering, iteration)
    some = None if trips is None else lowering.builder.facts.at_least(trips, 1)
    if some is None or any(isinstance(n, exits) for b in node.body for n in gast.walk(b)):
        lowering.unsupported(
            node, difference, "let it be an array from the start, as in `total = np.zeros(n)`"
        )
    if not some:
        statements(lowering, node.orelse)
        return
    first, rest = first_and_rest.divide(lowering, node, iteration)
    assign(lowering, node.target, first)
    lowering.frame.loops.append(node.lineno)
    statements(lowering, node.body)
    lowering.frame.loops.pop()
    if RAISED not in lowering.frame.names:
        run_loop(lowering, node, _columns(lowering, node, rest, node.target))


def while_loop(lowering: Lowering, node: Any) -> None:
    """A `while` statement."""
    run_loop(lowering, node, None)


# -- what the loop runs over -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Columns:
    """The iterables of a counted loop, and how their items are bound to the target."""

    kinds: tuple[str, ...]
    operands: tuple[Value, ...]
    items: tuple[tuple[Type, str, frozenset[Storage]], ...]
    bind: Callable[[Any], Any]
    reversed: bool


def _is_static(iteration: Iteration) -> bool:
    if iteration.kind in ("zip", "enumerate"):
        return any(_is_static(p) for p in iteration.parts if isinstance(p, Iteration))
    return iteration.kind == "static"


def _columns(lowering: Lowering, node: Any, iteration: Iteration, target: Any) -> _Columns:
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
        if part.kind == "items":
            index = add(part.parts[0], None)
            return lambda values: read_item(lowering, node, part.parts[1], index(values))
        kind, values, item = _simple(
            lowering, node, part, nested=bool(kinds) or part is not iteration
        )
        kinds.append(kind)
        operands.extend(values)
        items.append((item[0], name.id if isinstance(name, gast.Name) else "", item[1]))
        return next

    bind = add(iteration, target)
    if iteration.reversed and len(kinds) > 1:
        lowering.unsupported(node.iter, "`reversed` of several iterables is not supported")
    backwards = iteration.reversed and len(kinds) == 1
    return _Columns(tuple(kinds), tuple(operands), tuple(items), bind, backwards)


def _enumerated(lowering: Lowering, node: Any, part: Iteration) -> Iteration:
    """`enumerate(xs, start)` as a zip with a range, at least as long as xs."""
    inner, start = part.parts
    first = inner
    while first.kind in ("zip", "enumerate"):
        first = first.parts[0]
    count = _trips(lowering, node, first)
    from gradscribe.frontend.operators import operate

    stop = operate(lowering, node, operator.add, start, count)
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
    lowering: Lowering, node: Any, part: Iteration, nested: bool
) -> tuple[str, list[Value], tuple[Type, frozenset[Storage]]]:
    """The kind, operands and item of one iterable."""
    none: frozenset[Storage] = frozenset()
    if part.kind == "range":
        values = [lowering.value(p) for p in part.parts]
        if part.reversed and nested:
            lowering.unsupported(node.iter, "`reversed(range)` inside `zip` is not supported")
        return "range", values, (_range_item(values), none)
    owner = part.parts[0]
    if part.kind == "array":
        if part.reversed and nested:
            owner = read_item(lowering, node, owner, slice(None, None, Static(-1)))
        value = lowering.value(owner)
        assert isinstance(value.type, Array)
        dims = value.type.dims[1:]
        item: Type = (
            replace(value.type, dims=dims) if dims else Scalar(value.type.dtype, weak=False)
        )
        return "array", [value], (item, _shared(owner))
    value = lowering.value(owner)
    assert isinstance(value.type, Sequence)
    if part.reversed and nested:
        lowering.unsupported(node.iter, "`reversed(list)` inside `zip` is not supported")
    return "sequence", [value], (value.type.item, _shared(owner))


def _shared(owner: Any) -> frozenset[Storage]:
    return owner.storage.reached if isinstance(owner, (Ref, ListRef)) else frozenset()


def _range_item(parts: list[Value]) -> Type:
    """The type of a range's index: with the lower bound that follows from start and step."""
    from gradscribe.ir.lengths import Affine, Symbol

    start, step = parts[0].type, parts[2].type
    assert isinstance(start, Scalar) and isinstance(step, Scalar)
    rising = step.value is not None and step.value.known is not None and step.value.known > 0
    minimum = start.value.minimum if rising and start.value is not None else None
    return Scalar("int64", True, Affine.of(Symbol("i", minimum)))


# -- unrolled loops ----------------------------------------------------------------------------


def _unroll(lowering: Lowering, node: Any, items: tuple[Any, ...]) -> None:
    from gradscribe.frontend.statements import _guarded, assign, ended, pending_exits, statements

    names = lowering.frame.names
    outer = {flag: names.pop(flag, None) for flag in (NOT_BROKEN, NOT_CONTINUED)}

    def trips(rest: tuple[Any, ...]) -> None:
        lowering.frame.names[NOT_CONTINUED] = Static(True)
        if not rest or ended(lowering):
            return
        pending = pending_exits(lowering)
        if pending:
            _guarded(lowering, pending, lambda: trips(rest))
            return
        assign(lowering, node.target, rest[0])
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


def run_loop(lowering: Lowering, node: Any, columns: _Columns | None) -> None:
    """Lower a loop to a `loop` operation; columns is None for `while`."""
    names = lowering.frame.names
    outer = {flag: names.pop(flag, None) for flag in (NOT_BROKEN, NOT_CONTINUED)}
    location = lowering.builder.location
    assigned = assigned_names([*node.body, *([node.target] if columns else [])])
    carried = Carried(
        lowering, sorted(assigned), keep_broken=bool(node.orelse), counted=columns is not None
    )
    lowering.frame.loops.append(node.lineno)
    while True:
        attempt = _Attempt(lowering, node, columns, carried)
        if attempt.settled:
            break
        lowering.restore(carried.entry)
    lowering.frame.loops.pop()
    lowering.restore(carried.entry)
    lowering.builder.location = location
    results = attempt.emit()
    not_broken = carried.leave(results, attempt.exit_flags)
    if attempt.endless and not attempt.can_break:
        lowering.frame.names[NOT_RETURNED] = Static(False)
    _after(lowering, node, outer, not_broken)


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
        with lowering.builder.block() as operations:
            self._lower_body()
        self.operations: list[Operation] = operations
        self.settled = carried.settle(operations)
        self.exit_flags = carried.exit_flags()
        self.can_break = carried.broken is not True

    def _lower_condition(self) -> None:
        from gradscribe.frontend.expressions import expression
        from gradscribe.frontend.operators import truth

        parameters = self.carried.bind()
        with self.lowering.builder.block() as operations:
            known_truth = truth(self.lowering, expression(self.lowering, self.node.test))
            if isinstance(known_truth, bool):
                self.endless = known_truth
                known_truth = self.lowering.constant(known_truth)
        self.condition = Block(tuple(parameters), tuple(operations), (known_truth,))

    def _lower_body(self) -> None:
        from gradscribe.frontend.statements import assign, statements

        lowering = self.lowering
        lowering.frame.names[NOT_BROKEN] = Static(True)
        lowering.frame.names[NOT_CONTINUED] = Static(True)
        if self.columns is not None:
            shared = [overlaps for _, _, overlaps in self.columns.items]
            wrapped = [lowering.wrap(v, o) for v, o in zip(self.items, shared, strict=True)]
            assign(lowering, self.node.target, self.columns.bind(iter(wrapped)))
        statements(lowering, self.node.body)

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
        results = [builder.named(self.carried.fresh(t), n) for t, n in self.carried.types()]
        regions = [body] if self.condition is None else [body, self.condition]
        operands = [*(self.columns.operands if self.columns else ()), *self.inits]
        builder.emit_loop(shape, operands, regions, results)
        return results
