"""Arrays of which only the running program can tell whether they share memory.

What may be a view of an array or a copy (`np.ravel(a)`, an array that unread code returns) is
memory of its own in the IR, which may overlap that of the other. A store to one of them is refused
while the other is in use (see `data.aliasing`), unless something tells at run time whether they
are the same. Then the function is lowered once more with that asked for, and the store is checked:

    A = np.ravel(c.T)                    if c.T.flags.c_contiguous:
    A[0] = x[0]                              raise AliasingError('this stores into `A`, …')
                                         A = np.ravel(c.T)
                                         A[0] = x[0]

Arrays are values in the IR, which transforms copy, and compute in the memory of others. So what is
asked is how the array lies of which the view would be taken, where that is as the program has it:
an input, or what unread code has made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

from gradscribe.errors import AliasingError
from gradscribe.frontend.interface import SHARING, RunTimeKeyError
from gradscribe.frontend.kinds import kinds
from gradscribe.frontend.memory.carried_parts import is_memory
from gradscribe.frontend.memory.contiguity import is_contiguous
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.knowledge import Link
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ListRef, Ref, Storage
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import BOOL, Array, Opaque, Type
from gradscribe.primitives.control import COPY, EFFECT, GET, LENT, REREAD, RUN, WRITTEN
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.primitives.registry import PRIMITIVES

_MOST_CHECKS, _MOST_WAYS = 8, 100


def link(
    lowering: Lowering,
    item: FrontendValue,
    bases: Iterable[Storage],
    shares: Callable[[Storage], Value | None],
) -> FrontendValue:
    """An array, or list of some, that has just been made, and may be part of these (and overlaps
    what they do).
    shares: gives the value that tells whether it is, or None."""
    if isinstance(item, (Ref, ListRef)):
        storage = item.storage
        bases = [base for base in bases if base is not storage]
        storage.overlaps |= {one for base in bases for one in (base, *base.overlaps)}
        asked = (
            lowering.sharing.is_told and lowering.nesting.enclosed is None and isinstance(item, Ref)
        )
        lowering.sharing.links[storage] = tuple(
            Link(base, shares(base) if asked else None) for base in bases
        )
    return item


def is_checked(
    lowering: Lowering, node: Any, stored: Storage, other: Storage, names: tuple[str, str]
) -> bool:
    """Refuse at run time a store to one memory that can be seen through the other; False if that
    cannot be told. names: what the program calls them."""
    pair = frozenset({stored, other})
    if pair in lowering.sharing.apart and lowering.builder.is_made(lowering.sharing.apart[pair]):
        return True
    if stored not in lowering.sharing.links and other not in lowering.sharing.links:
        return False
    name = names[1]
    what = f"this stores into {wording.quoted(names[0])}, which shares memory with `{name}`"
    advice = f"make `{name}` a copy (`.copy()`), or a view on every path"
    if not lowering.sharing.is_told:
        error = RunTimeKeyError(what, advice, lowering.location(node))
        error.place = SHARING
        raise error
    ways = _ways(lowering, stored, other)
    if ways is None:
        return False
    for flags in ways:
        condition = _none_of_all(lowering, flags)
        lowering.sharing.apart[pair] = lowering.check(condition, what, advice, AliasingError)
    return True


def _ways(lowering: Lowering, one: Storage, other: Storage) -> list[frozenset[Value]] | None:
    """The ways in which two storages may be the same memory: what has to hold for each. None if
    one of them holds for certain, or is not known."""
    mine, others = _ancestors(lowering, one), _ancestors(lowering, other)
    if mine is None or others is None:
        return None
    found = {
        frozenset(up | down)
        for base in mine.keys() & others.keys()
        for up, down in product(mine[base], others[base])
    }
    found = {way for way in found if not any(less < way for less in found)}
    if not found or frozenset() in found or len(found) > _MOST_CHECKS:
        return None
    return sorted(found, key=lambda way: sorted(value.name for value in way))


def _ancestors(
    lowering: Lowering, storage: Storage
) -> dict[Storage, list[frozenset[Value]]] | None:
    """The memory that a storage may be part of, itself included, with what has to hold for that,
    in one way or another; None if there may be more."""
    found: dict[Storage, list[frozenset[Value]]] = {storage: [frozenset()]}
    pending: list[tuple[Storage, frozenset[Value]]] = [(storage, frozenset())]
    while pending:
        one, way = pending.pop()
        if one.family is not None:
            return None
        for base, shares in _bases(lowering, one):
            is_known = shares is not None and lowering.builder.is_made(shares)
            further = way | {shares} if shares is not None and is_known else way
            if further not in found.setdefault(base, []):
                found[base].append(further)
                pending.append((base, further))
        if sum(map(len, found.values())) > _MOST_WAYS:
            return None
    return found


def _bases(lowering: Lowering, storage: Storage) -> Iterator[tuple[Storage, Value | None]]:
    """What a storage may be part of, and what tells whether it is."""
    links = lowering.sharing.links.get(storage, ())
    yield from ((each.base, each.shares) for each in links)
    linked = {reached for each in links for reached in (each.base, *each.base.overlaps)}
    yield from ((base, None) for base in storage.overlaps - linked)


def _none_of_all(lowering: Lowering, flags: Iterable[Value]) -> Value:
    """Whether one of these does not hold."""
    first, *rest = sorted(flags, key=lambda value: value.name)
    held = first
    for flag in rest:
        held = _run(lowering, np.logical_and, (held, flag), BOOL)
    return kinds.negated(lowering, held)


# -- what tells --------------------------------------------------------------------------------


def overlap(lowering: Lowering, one: Value, other: Value) -> Value:
    """Whether two arrays of the running program share memory."""
    return _run(lowering, np.shares_memory, (one, other), BOOL)


def lies_in_order(lowering: Lowering, array: Ref, order: str) -> Value | None:
    """Whether an array lies in this order of memory, `C` or `F`, without gaps."""
    found = as_it_lies(lowering, array)
    if found is None:
        return None
    flags = _run(lowering, getattr, (found, "flags"), Opaque())
    return _run(lowering, getattr, (flags, f"{order.lower()}_contiguous"), BOOL)


def is_reshaped_in_place(
    lowering: Lowering, array: Ref, type_: Type, shape: Any, order: str
) -> Value | None:
    """Whether `np.reshape` of an array is a view of it."""
    found = as_it_lies(lowering, array)
    if found is None:
        return None
    keywords = {} if order == "C" else {"order": order}
    reshaped = _run(lowering, np.reshape, (found, shape), type_, keywords)
    return overlap(lowering, reshaped, found)


def as_it_lies(lowering: Lowering, array: Ref, changed: bool = True) -> Value | None:
    """An array that lies in memory as this one does in the user's program; None if no such array
    is known. changed: whether it may hold other values."""
    made = _as_made(lowering, lowering.value_in(array.storage), changed)
    if made is None:
        return None
    value = lowering.along(array.path, made)
    return value if isinstance(value.type, Array) else None


def _as_made(lowering: Lowering, value: Value, changed: bool) -> Value | None:
    """The array as it was made, if it lies in compiled code as in the program: an input, what
    unread code makes, or what is in C order (a copy in that order serves for it)."""
    is_stored = False
    start = value
    while True:
        made = lowering.builder.definition(value)
        if value in lowering.loops.carried:
            entry, _, initial = lowering.loops.carried[value]
            if not is_memory(entry.key):  # a name: of what an iteration leaves in it
                return None
            is_stored, value = True, initial
        elif made is None:
            known = value in lowering.outside.leaves and not (is_stored and not changed)
            return value if known else None
        elif made.primitive in _STORING:
            is_stored, value = True, made.operands[0]
        elif made.primitive in _COPYING:
            is_stored, value = False if made.primitive is COPY else is_stored, made.operands[0]
        elif made.primitive is GET and made.operands[0] in lowering.outside.leaves:
            return value if changed or not is_stored else None
        elif made.primitive in _UNREAD:
            return None if is_stored or not _is_found(lowering, made) else value
        elif not is_contiguous(lowering, start):
            return None
        else:
            return _run(lowering, np.ascontiguousarray, (start,), start.type) if changed else start


_STORING = frozenset({STORE, ACCUMULATE})
_COPYING = frozenset({COPY, LENT, REREAD, WRITTEN})
_UNREAD = frozenset({RUN, EFFECT})
_ARRANGING = frozenset({PRIMITIVES[np.ascontiguousarray], WRITTEN})


def _is_found(lowering: Lowering, call: Operation) -> bool:
    """Whether a call is given arrays that lie as in the program: its result may depend on that."""
    arrays = [x for x in call.operands if isinstance(x.type, Array)]
    return all(_lies_as_found(lowering, x) for x in arrays)


def _lies_as_found(lowering: Lowering, value: Value) -> bool:
    """Whether an array, or a view of one, lies in compiled code as in the program."""
    made = lowering.builder.definition(value)
    while made is not None and made.primitive.view and made.primitive not in _ARRANGING:
        value = made.operands[0]
        made = lowering.builder.definition(value)
    return _as_made(lowering, value, False) is not None


def _run(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[Any, ...],
    type_: Type,
    keywords: dict[str, Any] | None = None,
) -> Value:
    tree = {"args": arguments, "keywords": keywords or {}, "type": type_}
    return lowering.plain(RUN, tree, callee)
