"""Which arrays lie in memory in C order, so that a reshape of them is a view.

The question is asked of IR values, and answered from the operations that make them. Of an argument
it is assumed, where it holds in the specializing call, and becomes an entry guard; so does that it
does not hold, where it matters which of both it is. Of what a loop
carries it is assumed from what it starts with, and checked at the end of the body.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.frontend.state import flow
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.ir.core import IF, LOOP, Method, Operation, SliceOf, Value
from gradscribe.ir.flow import Carried, Loop, sources
from gradscribe.ir.types import BOOL, Array, Opaque, Type
from gradscribe.primitives import control, indexing
from gradscribe.primitives.control import EFFECT, RUN
from gradscribe.primitives.registry import PRIMITIVES

_MADE_IN_ORDER = (np.zeros, np.ones, np.full, np.empty, np.eye, np.identity, np.outer)
_ORDER_OF_OPERANDS = (
    *(np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy, np.where, np.clip),
    *(np.sum, np.mean, np.max, np.min, np.prod, np.cumsum, np.concatenate, np.stack),
)
_VIEWS_IN_ORDER = (np.reshape, np.ravel, np.expand_dims, np.squeeze)


def is_contiguous(lowering: Lowering, value: Value) -> bool:
    """Whether an array is known to lie in C order without gaps."""
    return _Layout(lowering).is_contiguous(value)


def is_transposed(lowering: Lowering, value: Value) -> bool:
    """Whether an array is known to lie in Fortran order: it is arranged so, is the transpose of
    one in C order, or has one axis."""
    made = arranged = lowering.builder.definition(value)
    while arranged is not None and arranged.primitive in _KEEPING:
        arranged = lowering.builder.definition(arranged.operands[0])
    if arranged is not None and arranged.callee is np.asfortranarray:
        return True
    if made is not None and made.primitive is PRIMITIVES[np.transpose]:
        return made.attributes["axes"] is None and is_contiguous(lowering, made.operands[0])
    return getattr(value.type, "rank", 0) < 2 and is_contiguous(lowering, value)


_KEEPING = frozenset({indexing.STORE, indexing.ACCUMULATE, control.COPY})


def has_one_order(value: Value) -> bool:
    """Whether an array cannot lie in C order and in Fortran order: two of its axes are longer than
    one."""
    type_ = value.type
    assert isinstance(type_, Array)
    return sum((dim.minimum or 0) > 1 for dim in type_.dims) > 1


def check_shown(lowering: Lowering, node: Any, name: str, value: Value) -> None:
    """Refuse to show to unread code an array that may not lie in memory as the program's own does:
    where an order that the program asks for has been forgotten."""
    type_ = value.type
    if not lowering.layouts.are_forgotten or not isinstance(type_, Array) or type_.rank < 2:
        return
    made = flow.origin(lowering, value)
    if made is not None and made.primitive not in _known(_MADE_AS_ASKED) | {EFFECT, RUN}:
        lowering.unsupported(
            node,
            f"`{name}` may ask how an array lies in memory, which is not known here",
            "make the array in the order that it is to have: `np.zeros(shape, order='F')`, "
            "`np.asfortranarray(…)`",
        )


def check_given(lowering: Lowering, node: Any, name: str, array: str, value: Value) -> None:
    """Refuse to let unread code store to an array from outside that lies in memory with gaps, or
    backwards: it gets a copy without them, and it may depend on that what it does. name: of the
    code; array: what the program calls that."""
    given, layouts = flow.first(lowering, value), lowering.layouts
    if given in layouts.contiguous:
        layouts.assumed_contiguous.add(given)
    if given not in layouts.otherwise:
        return
    layouts.assumed_otherwise.add(given)
    what = f"`{name}`, whose code cannot be read, may store to `{array}`, which lies with gaps"
    advice = f"pass `np.ascontiguousarray({array})`"
    if getattr(given.type, "rank", 0) < 2:
        lowering.unsupported(node, what, advice)
    steps: tuple[tuple[str, Type], ...] = (("flags", Opaque()), ("forc", BOOL))
    for attribute, type_ in steps:
        tree = {"args": (given, attribute), "keywords": {}, "type": type_}
        given = lowering.plain(RUN, tree, getattr)
    lowering.check(given, what, advice)


_MADE_AS_ASKED = (np.zeros, np.ones, np.empty, np.full)


class _Layout:
    """Answers one question, and each of those that it comes down to once: of the ways through a
    program there are too many.

    assumed: for the carried values of finished loops, the bit of the loop, and whether it is
    assumed. answers: by the innermost loop on whose assumptions they depend (first: on none), with
    the bits of all of these. loops: the bits of those on which what is asked now depends.
    """

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._assumed: dict[Value, tuple[int, bool]] = {}
        self._answers: list[dict[Value, tuple[bool, int]]] = [{}]
        self._loops = 0

    def is_contiguous(self, value: Value) -> bool:
        known = (answers[value] for answers in self._answers if value in answers)
        answer = next(known, None)
        if answer is None:
            before, self._loops = self._loops, 0
            found = self._found(value)
            answer = found, self._loops
            self._answers[self._loops.bit_length()][value] = answer
            self._loops = before
        found, loops = answer
        self._loops |= loops
        return found

    def _found(self, value: Value) -> bool:
        lowering = self._lowering
        if value in lowering.layouts.contiguous:
            lowering.layouts.assumed_contiguous.add(value)
            return True
        if value in self._assumed:
            self._loops, is_assumed = self._assumed[value]
            return is_assumed
        if lowering.sharing.is_told and value in lowering.layouts.otherwise:
            lowering.layouts.assumed_otherwise.add(value)
        made = lowering.builder.definition(value)
        if made is None:
            return self._of_parameter(value)
        if made.primitive is IF:
            return all(map(self.is_contiguous, sources(made, value)))
        if made.primitive is LOOP:
            return self._of_loop(made, value)
        return self._of_operation(made)

    def _of_parameter(self, value: Value) -> bool:
        """What a loop that is being lowered carries, or runs over."""
        if value in self._lowering.loops.rows:
            return self.is_contiguous(self._lowering.loops.rows[value])
        entry, number, initial = self._lowering.loops.carried.get(value, (None, 0, value))
        if entry is None or not self.is_contiguous(initial):
            return False
        return entry.contiguous.assume(number)

    def _of_loop(self, loop: Operation, value: Value) -> bool:
        arrays = [c for c in Loop(loop).carried if isinstance(c.parameter.type, Array)]
        kept = self._settled(arrays, [each for each in arrays if self.is_contiguous(each.initial)])
        answers = self._answers[self._loops.bit_length()]
        answers.update((each.result, (each in kept, self._loops)) for each in arrays)
        return any(carried.result is value for carried in kept)

    def _settled(self, arrays: list[Carried], kept: list[Carried]) -> list[Carried]:
        """Those of the carried values that stay in order if they all are at the beginning; kept:
        those that are."""
        outer, bit = self._assumed, 1 << len(self._answers) - 1
        while True:
            before = kept
            self._assumed = outer | {each.parameter: (bit, each in kept) for each in arrays}
            self._answers.append({})
            kept = [each for each in kept if self.is_contiguous(each.following)]
            self._answers.pop()
            self._assumed, self._loops = outer, self._loops & ~bit
            if kept == before:
                return kept

    def _of_operation(self, made: Operation) -> bool:
        primitive, type_ = made.primitive, made.results[0].type
        if primitive in _OF_FIRST or primitive in _known(_VIEWS_IN_ORDER):
            return self.is_contiguous(made.operands[0])
        if primitive is indexing.GETITEM:
            x = made.operands[0].type
            rank = x.rank if isinstance(x, Array) else 0
            in_order = _takes_one_piece(made.attributes["index"], rank)
            return in_order and self.is_contiguous(made.operands[0])
        if primitive.view or primitive in (EFFECT, RUN):  # unread code may give a view, too
            return False
        if isinstance(type_, Array) and type_.rank < 2:
            return True
        if self._lowering.layouts.are_asked:
            return False
        if primitive in _known(_MADE_IN_ORDER):
            return True
        if made.callee == Method("copy"):
            return True
        follows = primitive.elementwise or primitive in _known(_ORDER_OF_OPERANDS)
        matrices = primitive is PRIMITIVES[np.matmul] and getattr(type_, "rank", 0) == 2
        return matrices or (follows and self._all_in_order(made))

    def _all_in_order(self, made: Operation) -> bool:
        arrays = [v for v in made.operands if isinstance(v.type, Array)]
        return all(map(self.is_contiguous, arrays))


_OF_FIRST = frozenset(
    {indexing.STORE, indexing.ACCUMULATE, control.COPY, control.STOP_GRADIENT}
    | {control.GIVEN, control.KEPT}
)


def _known(callees: tuple[Any, ...]) -> set[Any]:
    return {PRIMITIVES[callee] for callee in callees if callee in PRIMITIVES}


def _takes_one_piece(index: tuple[Any, ...], rank: int) -> bool:
    """Whether a basic index takes one piece of memory from an array in C order: integers, then
    at most one slice without steps, then whole axes."""
    items = [item for item in index if item is not None]
    used = len([item for item in items if item is not Ellipsis])
    whole = SliceOf()
    axes: list[Any] = []
    for item in items:
        axes += [whole] * (rank - used) if item is Ellipsis else [item]
    slices = [n for n, item in enumerate(axes) if isinstance(item, SliceOf)]
    if not slices:
        return True
    first, *others = slices
    if first != len(axes) - len(slices):
        return False
    return axes[first].step in (None, 1) and all(axes[n] == whole for n in others)
