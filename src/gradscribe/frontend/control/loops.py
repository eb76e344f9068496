"""Lowering of `for` and `while`: how a loop is run.

Loops over structures of known items are unrolled; ranges, arrays and lists never are, unless
they are short and their trips have nothing in common. A first trip may be taken apart.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.frontend.calls import iteration as iterations
from gradscribe.frontend.calls.definitions import EverOtherTypesError
from gradscribe.frontend.control import first_and_rest
from gradscribe.frontend.control.branches import RAISED
from gradscribe.frontend.control.carried_fixed_point import FirstTripError
from gradscribe.frontend.control.loop_columns import columns_of
from gradscribe.frontend.control.loop_operation import TestWithEffectsError, after, run_loop
from gradscribe.frontend.data import sequences
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.lowering import (
    NOT_BROKEN,
    NOT_CONTINUED,
    Lowering,
)
from gradscribe.frontend.values import (
    Iteration,
    ListRef,
    Static,
    Storage,
    ViewOf,
)


def for_loop(lowering: Lowering, node: Any) -> None:
    """A `for` statement."""
    from gradscribe.frontend.expressions import expression

    lowering.iterable = node.iter
    over = expression(lowering, node.iter)
    iteration = iterations.over(lowering, node.iter, over)
    if iteration.kind == "endless":
        iteration = iteration.parts[1]
    depth, sliced = len(lowering.iterated), len(lowering.sliced)
    lowering.iterated += [over] if isinstance(over, ListRef) else first_and_rest.arrays(iteration)
    try:
        _run_over(lowering, node, iteration)
    finally:
        del lowering.iterated[depth:]
        del lowering.sliced[sliced:]


def _run_over(lowering: Lowering, node: Any, iteration: Iteration) -> None:
    if iteration.kind == "map" and _is_static(iteration):
        _unroll(lowering, node, *iteration.parts)
        return
    if _is_static(iteration):
        _unroll(lowering, node, iteration)
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

    arrays, asked = (
        list(first_and_rest.arrays(iteration)),
        lowering.builder.facts.unknown_broadcasts,
    )
    try:
        run_loop(lowering, node, columns_of(lowering, node, iteration, node.target), may_peel)
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
            if lowering.builder.facts.unknown_broadcasts > asked:
                _unroll_to_decide(lowering, node, iteration, take_back)
            return
    take_back()
    _run_counted(lowering, node, first_and_rest.by_index(lowering, node, iteration), peels)


_FEW = 16


def _unroll_to_decide(
    lowering: Lowering, node: Any, iteration: Iteration, take_back: Callable[[], None]
) -> None:
    """Put the unrolled trips in the place of a loop in which it is unknown what is broadcast, if
    it is known in each of them: they may read lists of which each item has a shape of its own."""
    count = _trips_made(lowering, iteration, may_assume=False)
    if count is None or count > _FEW:
        return
    looped, ended = lowering.fork(), lowering.builder.operations[:]
    take_back()
    asked = lowering.builder.facts.unknown_broadcasts
    try:
        _unroll(lowering, node, iteration)
    except UnsupportedError:
        decides = False
    else:
        decides = lowering.builder.facts.unknown_broadcasts == asked
    if not decides:
        take_back()
        lowering.restore(looped)
        lowering.builder.operations[:] = ended


def _unroll_instead(
    lowering: Lowering, node: Any, iteration: Iteration, error: UnsupportedError
) -> None:
    """Unroll a loop of few trips that is no loop in the IR: one whose trips make functions or
    objects, or values of different types. How many trips the specializing call makes becomes an
    assumption."""
    may_assume = not isinstance(error, RunTimeKeyError)
    count = _trips_made(lowering, iteration, may_assume)
    if count is None or count > _FEW:
        raise error
    try:
        _unroll(lowering, node, iteration)
    except UnsupportedError as later:
        raise (later if isinstance(error, RunTimeKeyError) else error) from None


def _trips_made(lowering: Lowering, iteration: Iteration, may_assume: bool) -> int | None:
    """The number of trips, where that is known; or in the specializing call, where it may be
    assumed."""
    if iteration.kind == "range" and all(isinstance(p, Static) for p in iteration.parts):
        return len(range(*(p.value for p in iteration.parts)))
    if not may_assume:
        return None
    return lowering.builder.facts.sampled(first_and_rest.trips(lowering, iteration))


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
    """A `while` statement. One that is known not to start is passed over. A test that binds names
    or changes what they hold is part of the trip that follows it."""
    from gradscribe.frontend.expressions import condition
    from gradscribe.frontend.operators import truth
    from gradscribe.frontend.statements import statements

    before, made = lowering.fork(), len(lowering.builder.operations)
    depth, location = len(lowering.frame.loops), lowering.builder.location
    if not isinstance(node.test, gast.Constant):
        if truth(lowering, condition(lowering, node.test)) is False:
            statements(lowering, node.orelse)
            return
        lowering.restore(before)
        del lowering.builder.operations[made:]
        before = lowering.fork()
    try:
        run_loop(lowering, node, None, lambda: False)
    except TestWithEffectsError:
        lowering.restore(before)
        del lowering.builder.operations[made:]
        del lowering.frame.loops[depth:]
        lowering.builder.location = location
        run_loop(lowering, _with_test_inside(lowering, node), None, lambda: False)


def _with_test_inside(lowering: Lowering, node: Any) -> Any:
    """`while test: body` as `while True: if not test: break` and the body."""
    if any(isinstance(part, (gast.Break, gast.Continue)) for part in _at_level(node.orelse)):
        lowering.unsupported(
            node,
            "a `while` whose test changes something has a `break` or `continue` in its `else`",
            "make the change in the body of the loop",
        )
    leave = gast.If(gast.UnaryOp(gast.Not(), node.test), [*node.orelse, gast.Break()], [])
    loop = gast.While(gast.Constant(True, None), [leave, *node.body], [])
    for made in (loop, loop.test, leave, leave.test, leave.body[-1]):
        gast.copy_location(made, node)
    return loop


def _at_level(statements: Iterable[Any]) -> Iterator[Any]:
    """The statements of a block that belong to the same loop."""
    for statement in statements:
        yield statement
        if not isinstance(statement, (gast.For, gast.While, gast.FunctionDef, gast.ClassDef)):
            yield from _at_level(gast.iter_child_nodes(statement))


def _dicts(iteration: Iteration) -> list[Storage]:
    """The storages of the dicts of known keys that an iteration runs over."""
    owner = iteration.owner
    own = owner.owner if isinstance(owner, ViewOf) else owner
    below = [s for part in iteration.parts if isinstance(part, Iteration) for s in _dicts(part)]
    return below if own is None else [own.storage, *below]


def _is_static(iteration: Iteration) -> bool:
    if iteration.kind in ("zip", "enumerate", "map"):
        return any(_is_static(p) for p in iteration.parts if isinstance(p, Iteration))
    return iteration.kind == "static"


def _unroll(
    lowering: Lowering,
    node: Any,
    iteration: Iteration,
    mapped: Callable[[Any], Any] = lambda item: item,
) -> None:
    """Run the trips one by one. The items of dicts are what they are in the trip; those may not
    grow."""
    from gradscribe.frontend.statements import _guarded, assign, ended, pending_exits, statements

    names = lowering.frame.names
    outer = {flag: names.pop(flag, None) for flag in (NOT_BROKEN, NOT_CONTINUED)}
    lowering.builder.begin_statement()
    items, dicts = iterations.unrolled(lowering, node.iter, iteration), _dicts(iteration)
    held = [lowering.contents[owner] for owner in dicts]

    def grown() -> bool:
        now = (lowering.contents[owner] for owner in dicts)
        return any(map(operator.ne, map(len, now), map(len, held)))

    def item_of(trip: int) -> Any:
        changed = any(lowering.contents[o] is not h for o, h in zip(dicts, held, strict=True))
        now = iterations.unrolled(lowering, node.iter, iteration) if changed else items
        return mapped(now[trip])

    def trips(trip: int) -> None:
        lowering.frame.names[NOT_CONTINUED] = Static(True)
        if ended(lowering) or not (trip < len(items) or grown()):
            return
        pending = pending_exits(lowering)
        if pending:
            _guarded(lowering, pending, lambda: trips(trip))
            return
        if grown():
            error = RuntimeError("dictionary changed size during iteration")
            what = "this loop changes the size of the dict that it runs over"
            lowering.raises(node.iter, error, what, "loop over a copy: `for key in list(d):`")
        assign(lowering, node.target, item_of(trip))
        statements(lowering, node.body)
        trips(trip + 1)

    lowering.frame.names[NOT_BROKEN] = Static(True)
    lowering.frame.loops.append(node.lineno)
    trips(0)
    lowering.frame.loops.pop()
    after(lowering, node, outer, lowering.frame.names[NOT_BROKEN])
