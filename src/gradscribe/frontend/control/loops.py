"""Lowering of `for` and `while`: how a loop is run.

Loops over structures of known items are unrolled; ranges, arrays and lists never are, unless
they are short and their iterations have nothing in common. A first iteration may be taken apart.
What stays a loop, with its `else`, is lowered by `loop_operation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.containers import iteration_items
from gradscribe.frontend.containers.lists import ChangedInLoopError, refuse_other_size
from gradscribe.frontend.containers.loop_columns import columns_of
from gradscribe.frontend.containers.run_time_sets import is_set
from gradscribe.frontend.control.loop_operation import TestWithEffectsError, after, run_loop
from gradscribe.frontend.control.rewritten_loops import by_next, by_place, with_test_inside
from gradscribe.frontend.expressions.booleans import condition
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.joins import attempts
from gradscribe.frontend.joins.carried_fixed_point import FirstIterationError
from gradscribe.frontend.joins.exits import ended, guarded, pending_exits
from gradscribe.frontend.kinds.trees import reached
from gradscribe.frontend.memory import at_once, sequences
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.opaque.lifetimes import holding
from gradscribe.frontend.state.frame import NOT_BROKEN, NOT_CONTINUED, RAISED
from gradscribe.frontend.state.interruptions import EverOtherTypesError
from gradscribe.frontend.state.knowledge import Attempts, Early
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.trial import Trial
from gradscribe.frontend.structures import instances
from gradscribe.frontend.values.iterations import (
    Endless,
    ItemsByIndex,
    ItemsByNext,
    ItemsOf,
    Iteration,
    KnownItems,
    Range,
)
from gradscribe.frontend.values.values import (
    FrontendValue,
    ListRef,
    OneShot,
    Ref,
    Static,
    Storage,
    ViewOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array


def for_loop(lowering: Lowering, node: Any) -> None:
    """A `for` statement."""
    with attempts.at(lowering, node):
        _run_for(lowering, node)


def _run_for(lowering: Lowering, node: Any) -> None:
    lowering.loops.iterable = node.iter
    over = lowering.expression(node.iter)
    iteration, taken = _iteration(lowering, node, over)
    if isinstance(iteration, ItemsByNext):
        _run_rewritten(lowering, *by_next(lowering, node, iteration.owner))
        return
    if iteration.is_endless and not _ends(node):
        lowering.unsupported(
            node.iter,
            "this loop takes the items of what has no end",
            "take as many as are needed: zip with a range, or `itertools.islice(…, n)`",
        )
    if isinstance(iteration, Endless):
        iteration = iteration.over
    if instances.is_object(over) and isinstance(iteration, ItemsOf):
        over = iteration.owner  # a dict, say, gives the list of its keys
    loops = lowering.loops
    depth, sliced, left, sets = len(loops.iterated), len(loops.sliced), loops.left, loops.sets
    loops.iterated += [over] if isinstance(over, ListRef) else _arrays(iteration)
    if isinstance(over, OneShot):
        loops.iterated += (i for i in reached(lowering, *over.holds) if isinstance(i, Ref))
    if _leaves(node):
        loops.left |= {item.storage for item in loops.iterated[depth:]}
    elif is_set(over):
        loops.sets += (over,)
    trial = lowering.trial()
    try:
        _run_over(lowering, node, iteration)
        at_once.check_unchanged(lowering, node, taken)
        return
    except ChangedInLoopError as error:
        if not isinstance(over, ListRef) or error.storage is not over.storage:
            raise
    finally:
        del lowering.loops.iterated[depth:]
        del lowering.loops.sliced[sliced:]
        lowering.loops.left, lowering.loops.sets = left, sets
    trial.take_back()
    before: FrontendValue | None = None
    if over.storage.of_dict:
        before = lowering.wrap(sequences.run_time_value(lowering, over))
    _run_rewritten(lowering, *by_place(node, over, before))


def _arrays(iteration: Iteration) -> list[Ref | ListRef]:
    """The arrays over whose rows, and the lists over whose items, an iteration runs."""
    return [leaf.owner for leaf in iteration.leaves if isinstance(leaf, ItemsOf)]


def _run_rewritten(lowering: Lowering, names: dict[str, FrontendValue], loop: Any) -> None:
    """Run a `for` as the `while` that it is, for which these names have values."""
    lowering.frame.names.update(names)
    while_loop(lowering, loop)


def _iteration(
    lowering: Lowering, node: Any, over: FrontendValue
) -> tuple[Iteration, tuple[Early, ...]]:
    """What a `for` runs over, and what was computed at once of it."""
    depth, lowering.generators.leaving = len(lowering.generators.early), _leaves(node)
    try:
        iteration = iterations.over(lowering, node.iter, over)
    finally:
        lowering.generators.leaving = False
    taken = at_once.since(lowering, depth)
    body = None if _leaves(node) else node.body
    at_once.refuse_effects(lowering, node.iter, taken, body)
    return iteration, taken


def _leaves(node: Any) -> bool:
    """Whether a loop may be left before its end."""
    below = (part for statement in node.body for part in gast.walk(statement))
    return any(isinstance(part, (gast.Break, gast.Return)) for part in below)


def _ends(node: Any) -> bool:
    """Whether the body of a loop has statements that may end it."""
    below = (part for statement in node.body for part in gast.walk(statement))
    ending = (gast.Break, gast.Return, gast.Raise, gast.Yield)
    return any(isinstance(part, ending) for part in below)


def _run_over(lowering: Lowering, node: Any, iteration: Iteration) -> None:
    if any(isinstance(leaf, KnownItems) for leaf in iteration.leaves):
        _unroll(lowering, node, iteration)
        return
    if isinstance(iteration, ItemsOf) and sequences.is_empty(lowering, iteration.owner):
        lowering.statements(node.orelse)
        return
    _run_counted(lowering, node, iteration, _MAX_PEELED)


def _run_counted(lowering: Lowering, node: Any, iteration: Iteration, peels: int) -> None:
    """Run over an iteration, as it is if that is possible. Where the body stores to the array that
    the loop runs over, or to a row of it, the rows are taken by index, as the views they are. Where
    a name has no value, or one of another kind, before the first iteration, that is lowered by
    itself, if there is one."""
    own = lowering.loops.attempts
    if _BY_INDEX in own.ways:
        iteration = iteration_items.by_index(lowering, node, iteration)
    trial = lowering.trial()

    def may_peel() -> bool:
        return peels > 0 and _is_peelable(lowering, node, iteration)

    way = f"{_PEELED} {peels}"
    if way in own.ways and may_peel():
        _peel(lowering, node, iteration, peels)
        return
    arrays, asked = _arrays(iteration), lowering.builder.facts.unknown_broadcasts
    try:
        run_loop(lowering, node, columns_of(lowering, node, iteration, node.target), may_peel)
    except FirstIterationError:
        own.ways.add(way)
        trial.take_back()
        _peel(lowering, node, iteration, peels)
        return
    except EverOtherTypesError:
        raise
    except UnsupportedError as error:
        if not (arrays and isinstance(error, AliasingError)):
            trial.take_back()
            _unroll_instead(lowering, node, iteration, error)
            return
    else:
        storages = [array.storage for array in arrays]
        if all(lowering.contents[s] is trial.before.contents[s] for s in storages):
            if lowering.builder.facts.unknown_broadcasts > asked:
                _unroll_to_decide(lowering, node, iteration, trial)
            return
    trial.take_back()
    own.ways.add(_BY_INDEX)
    _run_counted(lowering, node, iteration, peels)


_BY_INDEX, _PEELED = "by index", "peeled"
_FEW, _MOST = 16, 64
"""So many iterations are lowered one by one: where the number is assumed, and where it is known."""


def _unroll_to_decide(lowering: Lowering, node: Any, iteration: Iteration, trial: Trial) -> None:
    """Put the unrolled iterations in the place of a loop in which it is unknown what is broadcast,
    if it is known in each of them: they may read lists of which each item has a shape of its
    own."""
    count = _iterations_made(lowering, iteration, may_assume=False)
    if count is None or count > _FEW:
        return
    looped, ended = lowering.fork(), lowering.builder.operations[:]
    trial.take_back()
    asked = lowering.builder.facts.unknown_broadcasts
    try:
        _unroll(lowering, node, iteration)
    except UnsupportedError:
        decides = False
    else:
        decides = lowering.builder.facts.unknown_broadcasts == asked
    if not decides:
        trial.take_back()
        lowering.restore(looped)
        lowering.builder.operations[:] = ended


def _unroll_instead(
    lowering: Lowering, node: Any, iteration: Iteration, error: UnsupportedError
) -> None:
    """Unroll a loop of few iterations that is no loop in the IR: one whose iterations make
    functions or objects, or values of different types. How many iterations the specializing call
    makes becomes an assumption."""
    may_assume = not isinstance(error, RunTimeKeyError)
    count = _iterations_made(lowering, iteration, may_assume)
    if count is None or count > _FEW:
        raise error
    try:
        _unroll(lowering, node, iteration)
    except UnsupportedError as later:
        raise (later if isinstance(error, RunTimeKeyError) else error) from None


def _iterations_made(lowering: Lowering, iteration: Iteration, may_assume: bool) -> int | None:
    """The number of iterations, where that is known; or in the specializing call, where it may be
    assumed."""
    if isinstance(iteration, Range) and iteration.known is not None:
        return len(iteration.known)
    if not may_assume:
        return None
    return lowering.builder.facts.sampled(iteration_items.length(lowering, iteration))


_MAX_PEELED = 4
_EXITS = (gast.Break, gast.Continue, gast.Return)


def _is_peelable(lowering: Lowering, node: Any, iteration: Iteration) -> bool:
    """Whether it is known if there is a first iteration, and no exit can be taken in it."""
    if any(isinstance(n, _EXITS) for b in node.body for n in gast.walk(b)):
        return False
    count = None if iteration.is_reversed else iteration_items.length(lowering, iteration)
    return count is not None and lowering.builder.facts.at_least(count, 1) is not None


def _peel(lowering: Lowering, node: Any, iteration: Iteration, peels: int) -> None:
    """Lower the first iteration by itself, and then a loop over the rest."""
    count = iteration_items.length(lowering, iteration)
    assert count is not None
    if not lowering.builder.facts.at_least(count, 1):
        lowering.statements(node.orelse)
        return
    first, rest = iteration_items.first_and_rest(lowering, node, iteration)
    lowering.assign(node.target, first)
    lowering.frame.loops.append(node.lineno)
    lowering.statements(node.body)
    lowering.frame.loops.pop()
    if RAISED not in lowering.frame.names:
        _run_counted(lowering, node, rest, peels - 1)


def while_loop(lowering: Lowering, node: Any) -> None:
    """A `while` statement. One that is known not to start is passed over. A test that binds names
    or changes what they hold is part of the iteration that follows it."""
    with attempts.at(lowering, node) as own:
        _run_while(lowering, node, own)


def _run_while(lowering: Lowering, node: Any, own: Attempts) -> None:
    trial = lowering.trial()
    known: bool | Value = True
    if not isinstance(node.test, gast.Constant):
        known = lowering.truth(condition(lowering, node.test))
        if known is False:
            lowering.statements(node.orelse)
            return
        trial.take_back()
    try:
        if _TEST_INSIDE in own.ways:
            raise TestWithEffectsError
        run_loop(lowering, node, None, lambda: False)
    except EverOtherTypesError:
        raise
    except UnsupportedError as error:
        trial.take_back()
        if known is not True or isinstance(node.test, gast.Constant):
            raise
        _unroll_while(lowering, node, error)
    except TestWithEffectsError:
        own.ways.add(_TEST_INSIDE)
        trial.take_back()
        run_loop(lowering, with_test_inside(lowering, node), None, lambda: False)


_TEST_INSIDE = "test inside"


def _unroll_while(lowering: Lowering, node: Any, error: UnsupportedError) -> None:
    """Unroll a `while` whose test is known before each iteration (the end of a list of objects
    linked one to the next); `error` is why it is no loop in the IR."""

    def run(number: int) -> bool:
        lowering.builder.begin_statement()
        known = lowering.truth(condition(lowering, node.test))
        if not isinstance(known, bool) or number > _MOST:
            raise error
        if known:
            lowering.statements(node.body)
        return known

    _run_iterations(lowering, node, run)


def _run_iterations(lowering: Lowering, node: Any, run: Callable[[int], bool]) -> None:
    """Run the iterations of a loop one by one, as long as `run` makes another."""
    names = lowering.frame.names
    outer = {flag: names.pop(flag, None) for flag in (NOT_BROKEN, NOT_CONTINUED)}

    def run_from(number: int) -> None:
        lowering.frame.names[NOT_CONTINUED] = Static(True)
        if ended(lowering):
            return
        pending = pending_exits(lowering)
        if pending:
            guarded(lowering, pending, lambda: run_from(number))
        elif run(number):
            run_from(number + 1)

    lowering.frame.names[NOT_BROKEN] = Static(True)
    lowering.frame.loops.append(node.lineno)
    run_from(0)
    lowering.frame.loops.pop()
    after(lowering, node, outer, lowering.frame.names[NOT_BROKEN])


def _owners(lowering: Lowering, iteration: Iteration) -> list[Storage]:
    """The storages of what an iteration runs over."""
    found: list[Storage] = []
    for leaf in iteration.leaves:
        if isinstance(leaf, KnownItems):
            owner = leaf.owner.owner if isinstance(leaf.owner, ViewOf) else leaf.owner
            found += [] if owner is None else [owner.storage]
        elif isinstance(leaf, (ItemsOf, ItemsByIndex)):
            found += storages(lowering, leaf.owner)
    return found


def _check_size(
    lowering: Lowering, node: Any, owner: Storage, before: Any, iteration: Iteration
) -> None:
    """Refuse a dict that has another size than before the loop over it, and a list, of which that
    is not known, or that is walked through backwards."""
    now = lowering.contents[owner]
    if isinstance(now, Value) and isinstance(now.type, Array):
        return
    if isinstance(now, Value):
        raise ChangedInLoopError(owner, lowering.location(node.iter))
    if isinstance(now, dict) and tuple(now) != tuple(before):
        refuse_other_size(lowering, node.iter)
    if len(now) == len(before):
        return
    if iteration.is_reversed:
        raise ChangedInLoopError(owner, lowering.location(node.iter))


def _items_in_iteration(
    lowering: Lowering, node: Any, iteration: Iteration
) -> Callable[[], tuple[FrontendValue, ...]]:
    """Gives the items as they are when it is called."""
    first, owners = (
        iteration_items.unrolled(lowering, node.iter, iteration),
        _owners(lowering, iteration),
    )
    held = {owner: lowering.contents[owner] for owner in owners}

    def items() -> tuple[FrontendValue, ...]:
        if all(lowering.contents[owner] is contents for owner, contents in held.items()):
            return first
        for owner, contents in held.items():
            _check_size(lowering, node, owner, contents, iteration)
        return iteration_items.unrolled(lowering, node.iter, iteration)

    return items


def _unroll(lowering: Lowering, node: Any, iteration: Iteration) -> None:
    """Run the iterations one by one. The items of arrays, lists and dicts are what they are in the
    iteration; lists may grow, dicts may not."""
    lowering.builder.begin_statement()
    plain, mapped = iteration_items.without_maps(iteration)
    items = _items_in_iteration(lowering, node, plain)
    before = items()
    count = len(before)

    def run(number: int) -> bool:
        now = items()
        if number >= len(now):
            return False
        if number > _MOST and len(now) > count:
            lowering.unsupported(node, "this list grows for ever", "end the loop by `break`")
        lowering.assign(node.target, mapped(now[number]))
        lowering.statements(node.body)
        return True

    with holding(lowering, *before):
        _run_iterations(lowering, node, run)
