"""Functions that take functions or iterate: `map`, `filter`, `reduce`, `sum`, `itertools`.

What has known items is computed item by item; otherwise the loops of the `iteration_prelude` are
lowered. Where a `for` runs over a `map`, the function is called iteration by iteration, as Python
does.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.frontend.containers import in_turns, iteration_items, known_integers, run_time_sets
from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.containers.shapes import shape_of
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import at_once
from gradscribe.frontend.memory.iterators import computed, iterator, taking
from gradscribe.frontend.memory.sequences import is_empty, new_list
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import iteration_prelude as prelude
from gradscribe.frontend.prelude import itertools_prelude as tools
from gradscribe.frontend.state.handlers import Handler, enter, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.structures.indices import as_array
from gradscribe.frontend.values.iterations import (
    ItemsByNext,
    ItemsOf,
    Iteration,
    KnownItems,
    Mapped,
    Range,
)
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Value
from gradscribe.primitives.registry import PRIMITIVES

_FEW = 64
"""So many combinations of known items are followed one by one."""


def known_items(lowering: Lowering, node: Any, item: FrontendValue) -> tuple[Any, ...] | None:
    """The items of an iterable of known structure; None where only run time tells."""
    iteration = iterations.over(lowering, node, item)
    if _is_known(iteration):
        return iteration_items.unrolled(lowering, node, iteration)
    return None


def _one_by_one(lowering: Lowering, node: Any, item: FrontendValue) -> Iterator[Any] | None:
    """The same for functions that do something between two items: each is computed when it is
    asked for."""
    iteration = iterations.over(lowering, node, item)
    if not _is_known(iteration):
        return None
    plain, mapped = iteration_items.without_maps(iteration)
    return map(mapped, iteration_items.unrolled(lowering, node, plain))


def _is_known(iteration: Iteration) -> bool:
    return all(isinstance(leaf, KnownItems) for leaf in iteration.leaves)


@handles(map)
@iterator
def _map(
    lowering: Lowering, node: Any, function: FrontendValue, /, *iterables: FrontendValue
) -> FrontendValue:
    parts = tuple(iterations.over(lowering, node, item) for item in iterables)
    if any(map(iterations.is_by_next, parts)):
        return _mapped_by_next(lowering, node, function, parts)
    over = parts[0] if len(parts) == 1 else iterations.zipped(lowering, node, parts)

    def mapped(item: FrontendValue) -> FrontendValue:
        given = (item,) if len(parts) == 1 else lowering.unpacked(node, item)
        return lowering.call(node, function, tuple(given), {})

    found = Mapped.of(over, mapped)
    if node is lowering.loops.iterable or found.is_endless:
        return found
    items = known_items(lowering, node, found)
    if items is not None:
        return new_list(lowering, items)
    one = prelude.mapped if len(parts) == 1 else prelude.star_mapped
    return lowering.inline(node, one, (function, over))


def _mapped_by_next(
    lowering: Lowering, node: Any, function: FrontendValue, parts: tuple[Iteration, ...]
) -> FrontendValue:
    if len(parts) > 1:
        made: FrontendValue = in_turns.made(lowering, node, function, parts)
        return made
    return lowering.inline(node, prelude.mapped, (function, *parts))


@handles(itertools.starmap)
@iterator
def _starmap(
    lowering: Lowering, node: Any, function: FrontendValue, iterable: FrontendValue, /
) -> FrontendValue:
    iterable = iterations.begun(lowering, node, iterable)
    if node is lowering.loops.iterable and not iterations.is_by_next(iterable):

        def mapped(row: Any) -> FrontendValue:
            given = lowering.unpacked(node, row)
            return lowering.call(node, function, given, {})

        return Mapped.of(iterations.over(lowering, node, iterable), mapped)
    items = known_items(lowering, node, iterable)
    if items is None:
        return lowering.inline(node, prelude.star_mapped, (function, iterable))
    rows = (lowering.unpacked(node, item) for item in items)
    return new_list(lowering, tuple(lowering.call(node, function, row, {}) for row in rows))


@handles(filter)
@iterator
def _filter(
    lowering: Lowering, node: Any, function: FrontendValue, iterable: FrontendValue, /
) -> FrontendValue:
    iterable = iterations.begun(lowering, node, iterable)
    items = _one_by_one(lowering, node, iterable)
    if isinstance(function, Static) and function.value is None:
        function = Static(bool)
    if items is not None:
        trial = lowering.trial()
        kept = [(item, _holds(lowering, node, function, item)) for item in items]
        if all(isinstance(flag, bool) for _, flag in kept):
            return new_list(lowering, tuple(item for item, flag in kept if flag))
        trial.take_back()
    return lowering.inline(node, prelude.filtered, (function, iterable))


def _holds(lowering: Lowering, node: Any, function: Any, item: FrontendValue) -> bool | Value:
    if isinstance(function, Static) and function.value is bool:
        return lowering.truth(item)
    return lowering.truth(lowering.call(node, function, (item,), {}))


@handles(functools.reduce)
@taking(in_turns=True)
def _reduce(
    lowering: Lowering,
    node: Any,
    function: FrontendValue,
    iterable: FrontendValue,
    initial: FrontendValue | None = None,
    /,
) -> FrontendValue:
    iterable = iterations.begun(lowering, node, iterable)
    items = _one_by_one(lowering, node, iterable)
    if items is not None:
        result = next(items, None) if initial is None else initial
        if result is None:
            error = TypeError("reduce() of empty iterable with no initial value")
            lowering.raises(node, error)
        for item in items:
            result = lowering.call(node, function, (result, item), {})
        return result
    iteration = iterations.over(lowering, node, iterable)
    if initial is None:
        initial, iteration = _divided(lowering, node, iteration)
    return lowering.inline(node, prelude.reduced, (function, iteration, initial))


def _divided(lowering: Lowering, node: Any, iteration: Iteration) -> tuple[Any, Iteration]:
    """The first item and the others, of an iterable that is known to have one."""
    count = iteration_items.length(lowering, iteration)
    if count is None or not lowering.builder.facts.at_least(count, 1):
        lowering.unsupported(
            node, "this may have no items", "give the value to start from, as a further argument"
        )
    return iteration_items.first_and_rest(lowering, node, iteration)


@handles(itertools.accumulate)
@iterator
def _accumulate(
    lowering: Lowering,
    node: Any,
    /,
    iterable: FrontendValue,
    func: FrontendValue = Static(None),
    *,
    initial: FrontendValue = Static(None),
) -> FrontendValue:
    function = Static(operator.add) if func == Static(None) else func
    starts = [] if initial == Static(None) else [initial]
    iterable = iterations.begun(lowering, node, iterable)
    items = _one_by_one(lowering, node, iterable)
    if items is not None:
        items = itertools.chain(starts, items)
        made = list(itertools.islice(items, 1))
        for item in items:
            made.append(lowering.call(node, function, (made[-1], item), {}))
        return new_list(lowering, tuple(made))
    iteration = iterations.over(lowering, node, iterable)
    if not starts:
        first, iteration = _divided(lowering, node, iteration)
        starts = [first]
    return lowering.inline(node, prelude.accumulated, (function, iteration, starts[0]))


@handles(builtins.sum)
@taking()
def _sum(
    lowering: Lowering, node: Any, iterable: FrontendValue, /, start: FrontendValue = Static(0)
) -> FrontendValue:
    """The primitive, for lists and tuples of numbers and arrays, from a number on."""
    if stands_for(start, str):
        what = "sum() can't sum strings [use ''.join(seq) instead]"
        lowering.raises(node, TypeError(what))
    if instances.is_object(iterable) or run_time_sets.is_set(iterable):
        iterable = iterations.over(lowering, node, iterable)
    match iterable:
        case ItemsOf(ListRef() as owner, reversed=False):
            iterable = owner
    if isinstance(iterable, (Iteration, DictRef, Static)):
        items = known_items(lowering, node, iterable)
        iterable = lowering.listed(node, iterable) if items is None else TupleOf(items)
    if isinstance(iterable, ListRef) and is_empty(lowering, iterable):
        return start
    items = None if isinstance(iterable, Ref) else known_items(lowering, node, iterable)
    structured = (TupleOf, ListRef)
    others = any(instances.is_object(i) or isinstance(i, structured) for i in items or ())
    if items and (others or not is_number(start)):
        for item in items:
            start = lowering.operate(node, operator.add, start, item)
        return start
    if not is_number(start):
        iteration = iterations.over(lowering, node, iterable)
        added = (Static(operator.add), iteration, start)
        return lowering.inline(node, prelude.reduced, added)
    given = (iterable,) if isinstance(start, Static) and start.value == 0 else (iterable, start)
    return lowering.apply_primitive(node, PRIMITIVES[builtins.sum], builtins.sum, given, {})


@handles(itertools.chain)
@iterator
def _chain(lowering: Lowering, node: Any, /, *iterables: FrontendValue) -> FrontendValue:
    return _chained(lowering, node, iterables)


def _chained(lowering: Lowering, node: Any, given: tuple[FrontendValue, ...]) -> FrontendValue:
    if any(map(instances.is_object, given)):  # each is begun where the one before has ended
        return lowering.inline(node, prelude.chained, (TupleOf(given),))
    iterables = given
    columns = [known_items(lowering, node, item) for item in iterables]
    if all(column is not None for column in columns):
        return new_list(lowering, tuple(item for column in columns for item in column or ()))
    return lowering.inline(node, prelude.chained, (TupleOf(iterables),))


@handles(itertools.chain.from_iterable)
@iterator
def _chain_of(lowering: Lowering, node: Any, iterable: FrontendValue, /) -> FrontendValue:
    iterable = iterations.begun(lowering, node, iterable)
    items = known_items(lowering, node, iterable)
    if items is not None:
        return _chained(lowering, node, items)
    return lowering.inline(node, prelude.chained, (iterable,))


@handles(itertools.product)
@computed
def _product(
    lowering: Lowering, node: Any, /, *iterables: FrontendValue, repeat: FrontendValue = Static(1)
) -> FrontendValue:
    iterables = tuple(_all_at_once(lowering, node, item) for item in iterables)
    iterables *= known_integers.static_integer(lowering, node, repeat)
    columns = [_few(lowering, node, item) for item in iterables]
    rows = list(itertools.product(*(c for c in columns if c is not None)))
    if None not in columns and len(rows) <= _FEW:
        return new_list(lowering, tuple(TupleOf(row) for row in rows))
    loops = {2: prelude.pairs, 3: prelude.triples}.get(len(iterables))
    if loops is None:
        lowering.unsupported(node, "`product` of so many iterables", "write nested loops")
    return lowering.inline(node, loops, iterables)


def _all_at_once(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """What has these items itself, in the place of what code of the user gives one by one."""
    begun = iterations.begun(lowering, node, item)
    return lowering.listed(node, begun) if iterations.is_by_next(begun) else begun


def _few(lowering: Lowering, node: Any, item: FrontendValue) -> tuple[Any, ...] | None:
    """The items, if they are known, those of a range included."""
    iteration = iterations.over(lowering, node, item)
    numbers = iteration.known if isinstance(iteration, Range) else None
    if not _is_known(iteration) and (numbers is None or len(numbers) > _FEW):
        return None
    return iteration_items.unrolled(lowering, node, iteration)


def _chosen(callee: Any) -> Handler:
    """`combinations` and the like: row by row, of few known items, else by nested loops; where
    those are not written here, of as many items as there are in the specializing call."""

    def handler(
        lowering: Lowering, node: Any, /, iterable: FrontendValue, r: FrontendValue = Static(None)
    ) -> FrontendValue:
        iterable = _all_at_once(lowering, node, iterable)
        is_whole = r == Static(None)  # of permutations
        sizes = [] if is_whole else [known_integers.static_integer(lowering, node, r)]
        known_rows = _rows(callee, _few(lowering, node, iterable), sizes)
        loops = _NESTED.get((callee, *sizes))
        if known_rows is None and loops is not None:
            if isinstance(iterable, Iteration):
                iterable = lowering.listed(node, iterable)
            return lowering.inline(node, loops, (iterable,))
        if known_rows is None:
            iteration = iterations.over(lowering, node, iterable)
            count = lowering.builder.facts.sampled(iteration_items.length(lowering, iteration))
            if count is not None and _rows(callee, range(count), sizes) is not None:
                items = iteration_items.unrolled(lowering, node, iteration)
                known_rows = _rows(callee, items, sizes)
        if known_rows is None:
            lowering.unsupported(node, f"`{callee.__name__}` of so many items", "write loops")
        return new_list(lowering, tuple(map(TupleOf, known_rows)))

    return handler


def _rows(callee: Any, items: Sequence[Any] | None, sizes: list[int]) -> list[Any] | None:
    """What `itertools` makes of these items, if they are known, and it is not too much."""
    if items is None:
        return None
    rows = list(itertools.islice(callee(items, *sizes), _FEW + 1))
    return rows if len(rows) <= _FEW else None


_NESTED: dict[Any, Any] = {
    (itertools.combinations, 2): prelude.combined,
    (itertools.combinations, 3): tools.combined_threes,
    (itertools.combinations_with_replacement, 2): tools.combined_with_replacement,
    (itertools.permutations, 2): tools.permuted,
}


@handles(itertools.pairwise)
@iterator
def _pairwise(lowering: Lowering, node: Any, iterable: FrontendValue, /) -> FrontendValue:
    iterable = _all_at_once(lowering, node, iterable)
    items = known_items(lowering, node, iterable)
    if items is not None:
        return new_list(lowering, tuple(map(TupleOf, itertools.pairwise(items))))
    if isinstance(iterable, Iteration):
        iterable = lowering.listed(node, iterable)
    at_once.note(lowering, "`pairwise`", (iterable,))  # each is read as the second of a pair
    return lowering.inline(node, prelude.pairwise, (iterable,))


@handles(itertools.islice)
@iterator
def _islice(
    lowering: Lowering, node: Any, iterable: FrontendValue, /, *bounds: FrontendValue
) -> FrontendValue:
    parts = [None if isinstance(b, Static) and b.value is None else b for b in bounds]
    iterable = iterations.begun(lowering, node, iterable)
    if isinstance(iterable, ItemsByNext) and len(parts) == 1 and parts[0] is not None:
        return lowering.inline(node, prelude.first_in_turns, (iterable.owner, parts[0]))
    if isinstance(iterable, Iteration):
        iterations.check_partly_taken(lowering, node, iterable, "`islice`")
        start, stop, step = [None, *parts, None][:3] if len(parts) == 1 else [*parts, None][:3]
        taken = iteration_items.slice_of(iterable, start or Static(0), stop, step or Static(1))
        if taken is not None:
            return taken
        iterable = lowering.listed(node, iterable)
    return read_item(lowering, node, iterable, slice(*parts))


@handles(np.ndindex)
@iterator
def _indices(lowering: Lowering, node: Any, /, *shape: FrontendValue) -> Mapped:
    """`np.ndindex(n, m)`, and of a shape: `divmod` of a number that counts."""
    if any(map(unknown.is_opaque, shape)):
        unknown.refuse(lowering, node)
    is_whole = len(shape) == 1 and isinstance(shape[0], (TupleOf, ListRef))
    lengths = lowering.unpacked(node, shape[0]) if is_whole else shape
    return _numbered(lowering, node, tuple(lengths), lambda index: index)


@handles(np.ndenumerate)
@iterator
def _enumerated(lowering: Lowering, node: Any, /, arr: FrontendValue) -> Mapped:
    array = as_array(lowering, node, arr)

    def pair(index: TupleOf) -> TupleOf:
        return TupleOf((index, read_item(lowering, node, array, index)))

    return _numbered(lowering, node, shape_of(lowering, array).items, pair)


def _numbered(
    lowering: Lowering,
    node: Any,
    lengths: tuple[Any, ...],
    item: Callable[[TupleOf], FrontendValue],
) -> Mapped:
    """What is made of each index into an array of this shape, in order."""
    if not lengths:
        lowering.unsupported(node, "an array without axes has no indices", "use its one item")
    count = lengths[0]
    for length in lengths[1:]:
        count = lowering.operate(node, operator.mul, count, length)

    def mapped(number: Any) -> FrontendValue:
        index: list[Any] = []
        for length in lengths[:0:-1]:
            index.insert(0, lowering.operate(node, operator.mod, number, length))
            number = lowering.operate(node, operator.floordiv, number, length)
        return item(TupleOf((number, *index)))

    return Mapped(Range(Static(0), count), mapped)


@handles(np.fromiter)
def _from_iterator(
    lowering: Lowering, node: Any, /, iter: FrontendValue, dtype: FrontendValue
) -> FrontendValue:
    given = lowering.listed(node, iter), dtype
    return lowering.call(node, Static(np.array), given, {})


_OF_ROWS = (
    itertools.combinations,
    itertools.combinations_with_replacement,
    itertools.permutations,
)
enter({callee: computed(_chosen(callee)) for callee in _OF_ROWS})
