"""Names that are one array or another from iteration to iteration of a loop, as in `p, q = q, p`;
or one list, dict or object.

What a loop carries is memory of its own in the IR, of which it is not known which array it was
before. Where that has to be known (see `data.aliasing`), the arrays stay where they are, and what
is carried is which of them the names are. All names of this kind make one tuple: it is one of a few
(`(p, q)` or `(q, p)`). Flags tell which, and are all that is carried, besides arrays that an
iteration makes anew:

    swapped = False
    for k in range(n):
        if swapped:
            q[k] = p[k]
        else:
            p[k] = q[k]
        swapped = not swapped

In the body, each of the names is an `Either`, and what reads it is split on the flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeGuard

from gradscribe.frontend.joins.branches import conditional
from gradscribe.frontend.joins.merge_planning import values_in
from gradscribe.frontend.kinds import kinds
from gradscribe.frontend.kinds.kinds import ABSENT, kind_of
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import aliasing
from gradscribe.frontend.memory.carried_parts import bound, is_memory
from gradscribe.frontend.memory.reach import is_kept, is_read_only, storages
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    Cell,
    Choice,
    DictRef,
    Either,
    FrontendValue,
    InstanceRef,
    Kind,
    ListRef,
    Ref,
    Reference,
    Static,
    Storage,
    TupleOf,
    Unbound,
    possibilities,
)
from gradscribe.ir.core import Value
from gradscribe.ir.known import all_known
from gradscribe.ir.types import BOOL, Type

WHICH = "which arrays"
"""The name (that no program can have) to which the tuple is bound where an iteration begins or
ends."""

Of = Callable[[Any], FrontendValue]
"""What is made of each of what an `Either` may be."""

_MOST_KINDS, _MOST_PATHS = 6, 64
_REFERENCES = (Ref, ListRef, DictRef, InstanceRef)


class ToldApart:
    """The names and attributes of one loop that are told apart. before: the state before it. live:
    the names that are read after an iteration, before they are bound anew; None if that is not
    known.

    kinds: what their tuple may be, and the types of its leaves. keys: all
    that hold arrays from before the loop are tried once, to see what an iteration makes of them.
    """

    def __init__(self, lowering: Lowering, before: State, live: frozenset[str] | None) -> None:
        self._lowering = lowering
        self._before = before
        self._live = live
        self._made = lowering.builder.made
        self._arrays: list[Static] = []
        self._excluded: set[Any] = set()
        self._tried: set[Any] = set()
        self.keys: list[Any] = []
        self.kinds: dict[Kind, list[Type]] = {}

    @property
    def choice(self) -> Kind | Choice | None:
        """The kind of the tuple."""
        found: Kind | Choice | None = None
        for kind in reversed(self.kinds):
            found = kind if found is None else Choice(kind, found)
        return found

    @property
    def types(self) -> list[Type]:
        """The types of its leaves, as they were found first."""
        *others, last = self.kinds.values()
        return [type_ for types in others for type_ in (BOOL, *types)] + last

    # -- before and after an iteration
    # -------------------------------------------------------------------

    def enter(self, keys: Iterable[Any], state: State) -> None:
        """Bind the tuple before the loop. keys: what that carries. state: what is before it."""
        if not aliasing.tells_apart(self._lowering):
            return
        self._before = state
        new = [key for key in keys if key not in self._tried and self._may_be(key)]
        self._tried.update(new)
        if found := [key for key in new if self._starts_with_array(key)]:
            self.keys, self.kinds = self.keys + found, {}
        self._bind()
        self._join(keys)
        state.names.pop(WHICH, None)
        state.names.update(self._lowering.frame.names)
        state.contents.update(self._lowering.contents)

    def end(self, keys: Iterable[Any]) -> bool:
        """At the end of an iteration; whether what its names are could be foreseen."""
        if not aliasing.tells_apart(self._lowering):
            return True
        found = self._chosen([*self.keys, *(key for key in keys if key not in self.keys)])
        if found != self.keys:
            self.keys, self.kinds = found, {}
            self._join(keys)
            return False
        before = self.kinds
        self._bind()
        self._join(keys)
        return before == self.kinds

    def take(self) -> None:
        """Where an iteration begins, or after the loop: let the names be what the tuple tells."""
        tree = self._lowering.frame.names.pop(WHICH, None)
        if tree is None:
            return
        for number, key in enumerate(self.keys):
            self._rebind(key, _each(tree, partial(_part, number)))

    def _starts_with_array(self, key: str | Cell) -> bool:
        start = self._start(key)
        return start is not None and _has_array(start)

    def _rebind(self, key: Any, item: FrontendValue) -> None:
        if isinstance(key, str):
            self._lowering.frame.names[key] = item
        else:
            self._lowering.contents[key] = {key.name: item}

    # -- which names -------------------------------------------------------------------------------

    def _chosen(self, keys: list[Any]) -> list[Any]:
        """Those that hold arrays from before the loop after an iteration, or have held one that it
        stores to; and those that have held one of these before it, which the others have now."""
        found: dict[Any, tuple[FrontendValue, FrontendValue]] = {}
        for key in filter(self._may_be, keys):
            start, end = self._start(key), self._own(self._end(key))
            if start is not None and end is not None:
                found[key] = start, end
        chosen = {
            key
            for key, (start, end) in found.items()
            if _has_array(end) or any(map(self._is_changed, _leaves_of(start)))
        }
        while True:
            met = {a for key in chosen for item in found[key] for a in _arrays_of(item)}
            wider = {
                key for key, (start, _) in found.items() if not met.isdisjoint(_arrays_of(start))
            }
            if wider <= chosen:
                return [key for key in found if key in chosen]
            chosen |= wider

    def _is_changed(self, item: FrontendValue) -> bool:
        """Whether an iteration stores to what was there before the loop."""
        now, before = self._lowering.contents, self._before.contents
        return any(now[s] is not before.get(s) for s in storages(self._lowering, item))

    def _may_be(self, key: Any) -> bool:
        is_name = not is_memory(key) and (not isinstance(key, str) or key.isidentifier())
        is_live = self._live is None or not isinstance(key, str) or key in self._live
        return is_name and is_live and key not in self._excluded

    def _start(self, key: str | Cell) -> FrontendValue | None:
        return self._own(bound(self._before.names, self._before.contents, key))

    def _end(self, key: str | Cell) -> FrontendValue:
        return bound(self._lowering.frame.names, self._lowering.contents, key)

    def _own(self, item: FrontendValue) -> FrontendValue | None:
        """A value in which arrays from before the loop stand for themselves; None if it is nothing
        that is told apart."""
        if isinstance(item, Either):
            first, second = self._own(item.first), self._own(item.second)
            return None if first is None or second is None else Either(item.flag, first, second)
        if isinstance(item, Unbound):
            return None if item.mixed or item.loop is not None else ABSENT
        if isinstance(item, Static):
            return None if isinstance(item.value, PLAIN_NUMBERS) else item
        return self._array(item) or item if _is_reference(item) else None

    def _array(self, array: Reference) -> Static | None:
        """What stands for an array or container from before the loop."""
        if array.storage not in self._before.contents:
            return None
        path = getattr(array, "path", ())
        inside = (value for _, arguments, _ in path for value in values_in(arguments))
        if not all(self._lowering.builder.is_older(value, self._made) for value in inside):
            return None
        for known in self._arrays:
            same = known.value.storage is array.storage
            if same and getattr(known.value, "path", ()) == path:
                return known
        self._arrays.append(Static(array))
        return self._arrays[-1]

    # -- the tuple ---------------------------------------------------------------------------------

    def _bind(self) -> None:
        """Bind the tuple of what the names hold, and note new kinds of it; where there are too
        many, nothing is told apart."""
        if not self.keys:
            return
        items: list[FrontendValue] | None = all_known(
            [self._own(self._end(key)) for key in self.keys]
        )
        tree = None if items is None else self._jointly(tuple(items))
        pairs = [] if tree is None else [(self._kind(leaf), leaf) for leaf in possibilities(tree)]
        found = {kind: leaf for kind, leaf in pairs if isinstance(kind, Kind)}
        new = {kind: self._types(found[kind], kind) for kind in found if kind not in self.kinds}
        self.kinds = {**new, **self.kinds}
        is_known = all(kind in found for kind, _ in pairs) and len(self.kinds) <= _MOST_KINDS
        arranged = self._arranged(tree) if tree is not None and is_known else None
        if arranged is not None:
            self._lowering.frame.names[WHICH] = arranged
        else:
            self._excluded.update(self.keys)
            self.keys, self.kinds = [], {}

    def _types(self, item: FrontendValue, kind: Kind) -> list[Type]:
        leaves = kinds.leaves(self._lowering, item, kind)
        return [leaf.type for leaf in leaves or () if leaf is not None]

    def _jointly(
        self, items: tuple[FrontendValue, ...], paths: int = _MOST_PATHS
    ) -> FrontendValue | None:
        """The tuple of values as an `Either` of tuples; None if there are too many."""
        either = next((item for item in items if isinstance(item, Either)), None)
        if either is None:
            return TupleOf(items)
        if paths < 2:
            return None
        sides = [
            self._jointly(tuple(self._under(item, either.flag, outcome) for item in items), half)
            for outcome, half in ((True, paths // 2), (False, paths // 2))
        ]
        found: list[FrontendValue] | None = all_known(sides)
        return None if found is None else _either(either.flag, *found)

    def _under(self, item: FrontendValue, flag: Value, outcome: bool) -> FrontendValue:
        """What a value is where a flag has this outcome."""
        if not isinstance(item, Either):
            return item
        first, second = (self._under(i, flag, outcome) for i in (item.first, item.second))
        number = self._lowering.numbering.of
        if item.flag is flag or number(item.flag) == number(flag):
            return first if outcome else second
        return _either(item.flag, first, second)

    def _arranged(self, tree: FrontendValue) -> FrontendValue | None:
        """The same with the kinds in their order, each of them once; None if that cannot be."""
        present = set(map(self._kind, possibilities(tree)))
        ordered = [kind for kind in self.kinds if kind in present]
        tuples: list[FrontendValue] | None = all_known(
            [self._tuple(self._of_kind(tree, kind)) for kind in ordered]
        )
        if tuples is None:
            return None
        *_, result = tuples
        for number, kind in reversed(list(enumerate(ordered[:-1]))):
            flag = self._emitted(self._is_of_kind(tree, kind, ordered[:number]))
            result = Either(self._lowering.value(flag), tuples[number], result)
        return result

    def _of_kind(self, tree: FrontendValue, kind: Kind) -> FrontendValue:
        """The tuple where it is of this kind."""
        return _each(tree, lambda leaf: leaf if self._kind(leaf) == kind else _NOWHERE)

    def _is_of_kind(self, tree: FrontendValue, kind: Kind, others: list[Kind]) -> FrontendValue:
        """Whether it is of this kind, where it is of none of those others."""

        def of(leaf: FrontendValue) -> FrontendValue:
            found = self._kind(leaf)
            return _NOWHERE if found in others else Static(found == kind)

        return _each(tree, of, Static(False))

    def _tuple(self, tree: FrontendValue) -> FrontendValue | None:
        """A tuple of one kind that is made on several paths, as one; None of containers."""
        if not isinstance(tree, Either):
            return tree
        items = [_each(tree, partial(_item, number)) for number in range(len(self.keys))]
        joined = [item for item in items if isinstance(item, Either)]
        if not all(
            _are_arrays([i for i in possibilities(one) if i is not ABSENT]) for one in joined
        ):
            return None
        return TupleOf(tuple(self._joined(i) if isinstance(i, Either) else i for i in items))

    def _join(self, keys: Iterable[Any]) -> None:
        """Let names that are not told apart be one array, of which it is not known which it is."""
        for key in keys:
            item = self._end(key)
            arrays = list(possibilities(item))
            if key in self.keys or not isinstance(item, Either) or not _are_arrays(arrays):
                continue
            if len(set(map(self._kind, arrays))) == 1:
                self._rebind(key, self._joined(item))

    def _joined(self, item: Either) -> Ref:
        """One array that is one of several."""
        arrays = [array for array in possibilities(item) if _is_array(array)]
        merged = self._lowering.value(self._emitted(item, self._loaded))
        overlaps = frozenset(s for array in arrays for s in array.storage.reached)
        found = self._lowering.array(merged, overlaps)
        found.storage.read_only = any(map(is_read_only, arrays))
        found.storage.kept = any(is_kept(self._lowering, array) for array in arrays)
        return found

    def _loaded(self, array: FrontendValue) -> FrontendValue:
        return self._lowering.load(array) if _is_array(array) else array

    def _emitted(self, tree: FrontendValue, of: Of = lambda leaf: leaf) -> FrontendValue:
        """The array, or flag, that is one of several, as one value. of: gives each of them."""
        if not isinstance(tree, Either):
            return of(tree)
        if isinstance(tree.first, Static) and isinstance(tree.second, Static):
            return tree.flag if tree.first.value else kinds.negated(self._lowering, tree.flag)
        sides = (partial(self._emitted, item, of) for item in (tree.first, tree.second))
        return conditional(self._lowering, None, tree.flag, *sides)

    def _kind(self, item: FrontendValue) -> Kind | Choice | None:
        return kind_of(self._lowering, item, self._lowering.contents)


def _arrays_of(item: FrontendValue) -> set[Storage]:
    """The memory of the arrays from before the loop that a value may be."""
    return {leaf.storage for leaf in _leaves_of(item)}


def _leaves_of(item: FrontendValue) -> list[Reference]:
    """The arrays and containers from before the loop that a value may be."""
    return [leaf.value for leaf in possibilities(item) if _stands_for_memory(leaf)]


def _stands_for_memory(item: FrontendValue) -> TypeGuard[Static]:
    return stands_for(item, _REFERENCES)


def _has_array(item: FrontendValue) -> bool:
    return bool(_arrays_of(item))


def _are_arrays(items: list[FrontendValue]) -> bool:
    return all(map(_is_array, items))


def _is_array(item: FrontendValue) -> TypeGuard[Ref]:
    return type(item) is Ref


def _is_reference(item: FrontendValue) -> TypeGuard[Reference]:
    return type(item) in _REFERENCES


_NOWHERE = Unbound("")


def _each(tree: FrontendValue, of: Of, absent: FrontendValue = ABSENT) -> FrontendValue:
    """What `of` makes of each of what an `Either` may be. Where it is `_NOWHERE`, there is what
    there is elsewhere, or `absent` if flags tell that: they may not be told there."""
    if not isinstance(tree, Either):
        return of(tree)
    first, second = (_each(item, of, absent) for item in (tree.first, tree.second))
    if first is _NOWHERE or second is _NOWHERE:
        found = second if first is _NOWHERE else first
        if not isinstance(found, Either):
            return found
        first, second = (absent if item is _NOWHERE else item for item in (first, second))
    return _either(tree.flag, first, second)


def _item(number: int, of: FrontendValue) -> FrontendValue:
    return of.items[number] if isinstance(of, TupleOf) else _NOWHERE


def _part(number: int, of: TupleOf) -> FrontendValue:
    """The item, which is an array itself where one stands for it."""
    item = of.items[number]
    found: FrontendValue = item.value if _stands_for_memory(item) else item
    return found


def _either(flag: Value, first: FrontendValue, second: FrontendValue) -> FrontendValue:
    return first if _same(first, second) else Either(flag, first, second)


def _same(a: FrontendValue, b: FrontendValue) -> bool:
    """Whether two of these values are one."""
    if isinstance(a, TupleOf) and isinstance(b, TupleOf):
        return all(_same(x, y) for x, y in zip(a.items, b.items, strict=True))
    return a is b or (isinstance(a, Static) and a == b)
