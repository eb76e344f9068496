"""What is checked at each call of the arguments that are stored to.

A compiled function knows its arguments by type only. Where it stores to one, that has to be
writeable, and no other argument may share its memory: the store would be seen there, too.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.compiler.keys import array_of
from gradscribe.errors import AliasingError, ReadOnlyError
from gradscribe.frontend.interface import Lowered
from gradscribe.ir.overlaps import (
    Position,
    extents,
    overlaps_itself,
    owner_of_memory,
    root_of,
    share_memory,
)
from gradscribe.ir.shown import Memory


def refuse_read_only(names: Sequence[str], leaves: Sequence[Any], lowered: Lowered) -> None:
    """Refuse a call in which an argument that is stored to cannot be."""
    for target in lowered.stored:
        leaf = leaves[target]
        for piece in _pieces(leaf) if target in lowered.distinct else [array_of(leaf)]:
            if isinstance(piece, np.ndarray) and not piece.flags.writeable:
                raise ReadOnlyError(
                    f"assignment destination is read-only: `{names[target]}` is stored to",
                    "pass a copy of it",
                )


def refuse_overlap(names: Sequence[str], leaves: Sequence[Any], lowered: Lowered) -> None:
    """Refuse a call in which an argument that is stored to shares memory with another one, or
    holds an array or list twice whose items are stored to."""
    targets = {*lowered.stored, *lowered.unclear}
    if not targets:
        return
    is_read = [number not in lowered.grown for number in range(len(leaves))]
    pieces = [list(_pieces(leaf)) if own else [] for leaf, own in zip(leaves, is_read, strict=True)]
    for target in sorted(targets):
        if any(isinstance(p, np.ndarray) and overlaps_itself(p) for p in pieces[target]):
            raise AliasingError(
                f"`{names[target]}` is stored to, and two of its elements are one in memory",
                "store to the array that it is a view of",
            )
        if target in lowered.distinct and _repeats(pieces[target]):
            raise AliasingError(
                f"`{names[target]}` is stored to, and two of its items share memory",
                "pass copies of them",
            )
    if not any(pieces[target] for target in targets):
        return
    for target, other in sorted({*_same_objects(pieces, targets), *_overlaps(pieces, targets)}):
        raise AliasingError(
            f"`{names[target]}` is stored to, and shares memory with `{names[other]}`",
            "pass a copy of one of them",
        )


def refuse_shown(
    names: Sequence[str], leaves: Sequence[Any], lowered: Lowered, found: Sequence[Any]
) -> None:
    """Refuse a call in which an argument shares memory with an object from outside that code which
    is not read may read where the argument is stored to, or may write to. found: these objects.
    (What leads to many others is followed for a while only: this is asked at each call.)"""
    stored = {*lowered.stored, *lowered.unclear}
    for shown, target in zip(lowered.shown, found, strict=True):
        for leaf in range(len(leaves)) if shown.is_written else stored:
            arrays = [p for p in _pieces(leaves[leaf]) if isinstance(p, np.ndarray)]
            in_doubt = any(owner_of_memory(array) is not None for array in arrays)
            if arrays and Memory(arrays, most=200, in_doubt=in_doubt).is_shown_by(target):
                raise AliasingError(
                    f"`{names[leaf]}` may share memory with `{shown.name}`, which is read or "
                    "changed by code that is not compiled",
                    "pass a copy of it",
                )


def refuse_twice(name: str, containers: Sequence[Any], owners: Sequence[Any]) -> None:
    """Refuse a call that changes a list, dict or object, and is given one twice: as an argument,
    say, and as a variable from outside. owners: the objects of which something is read."""
    found = {*map(id, containers)}
    if len(found) < len(containers) or not found.isdisjoint(map(id, owners)):
        raise AliasingError(
            f"`{name}` changes a list, dict or object, and is given one twice", "pass a copy"
        )


def _same_objects(
    pieces: Sequence[Sequence[Any]], targets: Collection[int]
) -> Iterator[tuple[int, int]]:
    """The targets with the leaves that hold a piece of theirs."""
    holders: dict[int, set[int]] = {}
    for leaf, parts in enumerate(pieces):
        for piece in parts:
            holders.setdefault(id(piece), set()).add(leaf)
    for leaves in holders.values():
        if len(leaves) > 1:
            yield from ((a, b) for a in leaves if a in targets for b in leaves if a != b)


def _overlaps(
    pieces: Sequence[Sequence[Any]], targets: Collection[int]
) -> Iterator[tuple[int, int]]:
    """The targets with the leaves that hold an array which shares memory with one of theirs:
    sorted by where they begin, such arrays are near each other."""
    written: list[tuple[Position, int, Any]] = []
    read: list[tuple[Position, int, Any]] = []
    for start, end, leaf, array in sorted(_extents(pieces), key=lambda found: found[:3]):
        written = [before for before in written if before[0] > start]
        read = [before for before in read if before[0] > start]
        nearby = (*written, *read) if leaf in targets else written
        for _, other, part in nearby:
            if other != leaf and share_memory(array, part):
                if leaf in targets:
                    yield leaf, other
                if other in targets:
                    yield other, leaf
        (written if leaf in targets else read).append((end, leaf, array))


def _extents(pieces: Sequence[Sequence[Any]]) -> Iterator[tuple[Position, Position, int, Any]]:
    """The arrays that may share memory with others, with where they begin and end, and the leaf.
    One that owns its memory shares it with its views alone, unless others have theirs from
    something that is no array."""
    found = [
        (root_of(piece), leaf, piece)
        for leaf, parts in enumerate(pieces)
        for piece in parts
        if isinstance(piece, np.ndarray)
    ]
    count = Counter(id(root) for root, _, _ in found)
    all_own = all(root.flags.owndata for root, _, _ in found)
    for root, leaf, array in found:
        if count[id(root)] > 1 or not all_own:
            yield from ((start, end, leaf, array) for start, end in extents(array))


def _pieces(leaf: Any) -> Iterator[Any]:
    """The arrays (of Tensors, too) and lists in an argument. The items of a list are of one
    type."""
    if isinstance(leaf, list):
        yield leaf
    if isinstance(leaf, tuple) or (isinstance(leaf, list) and leaf and _has_pieces(leaf[0])):
        yield from itertools.chain.from_iterable(map(_pieces, leaf))
    elif isinstance(array := array_of(leaf), np.ndarray):
        yield array


def _has_pieces(item: Any) -> bool:
    return isinstance(array_of(item), (np.ndarray, list, tuple))


def _repeats(pieces: Sequence[Any]) -> bool:
    """Whether two of these share memory: sorted by where they begin, those that do are near each
    other."""
    if len(set(map(id, pieces))) < len(pieces):
        return True
    arrays = (piece for piece in pieces if isinstance(piece, np.ndarray))
    found = sorted(itertools.chain.from_iterable(map(extents, arrays)))
    ends = itertools.accumulate((end for _, end in found), max)
    if all(start >= end for (start, _), end in zip(found[1:], ends, strict=False)):
        return False
    return any(share_memory(a, b) for a, b in itertools.combinations(pieces, 2))
