"""What is checked at each call of the arguments that are stored to.

A compiled function knows its arguments by type only. Where it stores to one, that has to be
writeable, and no other argument may share its memory: the store would be seen there, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.errors import AliasingError, ReadOnlyError
from gradscribe.frontend.interface import Lowered

_MAX_WORK: Any = 10_000
"""How hard `np.shares_memory` may try (its stub knows only the two special values)."""


def refuse_read_only(names: Sequence[str], leaves: Sequence[Any], lowered: Lowered) -> None:
    """Refuse a call in which an argument that is stored to cannot be."""
    for target in lowered.stored:
        leaf = leaves[target]
        for piece in _pieces(leaf) if target in lowered.distinct else [leaf]:
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
    pieces = [list(_pieces(leaf)) for leaf in leaves]
    for target in sorted(targets):
        if target in lowered.distinct and _repeats(pieces[target]):
            raise AliasingError(
                f"`{names[target]}` is stored to, and two of its items share memory",
                "pass copies of them",
            )
        for other, parts in enumerate(pieces):
            if other != target and any(_overlap(a, b) for a in pieces[target] for b in parts):
                raise AliasingError(
                    f"`{names[target]}` is stored to, and shares memory with `{names[other]}`",
                    "pass a copy of one of them",
                )


def _pieces(leaf: Any) -> Iterator[Any]:
    """The arrays and lists in an argument. The items of a list are of one type."""
    if isinstance(leaf, (np.ndarray, list)):
        yield leaf
    is_nested = isinstance(leaf, list) and leaf and isinstance(leaf[0], (np.ndarray, list, tuple))
    if is_nested or isinstance(leaf, tuple):
        yield from itertools.chain.from_iterable(map(_pieces, leaf))


def _repeats(pieces: Sequence[Any]) -> bool:
    """Whether two of these share memory: sorted by where they begin, those that do are near each
    other."""
    if len(set(map(id, pieces))) < len(pieces):
        return True
    extents = sorted(_extent(piece) for piece in pieces if isinstance(piece, np.ndarray))
    ends = itertools.accumulate((end for _, end in extents), max)
    if all(start >= end for (start, _), end in zip(extents[1:], ends, strict=False)):
        return False
    return any(_overlap(a, b) for a, b in itertools.combinations(pieces, 2))


def _extent(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The first byte of an array, and the one after its last."""
    start: int = array.__array_interface__["data"][0]
    if not array.size:
        return start, start
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    low, high = sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)
    return start + low, start + high + array.itemsize


def _overlap(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return False
    try:
        return np.shares_memory(a, b, max_work=_MAX_WORK)
    except RuntimeError:  # NumPy's TooHardError: who cannot tell must refuse
        return True
