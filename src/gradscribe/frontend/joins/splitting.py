"""Splitting: statements that read an `Either` are lowered once for each of its kinds.

A statement that reads a name of two kinds is taken back and becomes a branch on the flag that
tells the kinds apart, together with the statements right after it that read the name, too.
Inside, the flag is assumed, and the name has one kind. A side that Python's rules (or ours) do
not allow raises at run time, so that only the path that is taken need make sense.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import gast

from gradscribe.errors import UnsupportedError, UnsupportedPathError
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.joins.branches import branch, conditional, raise_here, refuse_here
from gradscribe.frontend.memory import aliasing
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.interruptions import (
    AlwaysRaisesError,
    EverOtherTypesError,
    SplitError,
    TooManyPathsError,
)
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.bindings import read_places
from gradscribe.frontend.values.values import Either, FrontendValue, Static, Unbound
from gradscribe.ir.core import Value

_EXITS = (gast.Return, gast.Break, gast.Continue)
Lower = Callable[[Lowering, Sequence[Any]], None]
_Result = TypeVar("_Result")

_NOTHING: FrontendValue = Unbound.on_one_path()
"""Stands for the value of a side that raises."""

_MOST = 500
"""So many times statements and expressions of one function are split: each is one more path through
what comes after it."""


@contextmanager
def splitting(
    lowering: Lowering, nodes: Sequence[Any], lower: Lower, lowered: list[int]
) -> Iterator[None]:
    """While the first of these statements is lowered: if it turns out to read a value of two
    kinds, it is lowered for each, and how many statements were is appended to `lowered`."""
    trial = lowering.trial()
    try:
        yield
    except SplitError as split:
        if not trial.is_older(split.flag):
            raise
        trial.take_back()
        count = _extent(lowering, nodes, split.flag)
        _split(lowering, nodes[:count], split.flag, lower)
        lowered.append(count)


def split_expression(
    lowering: Lowering, node: Any, evaluate: Callable[[], FrontendValue]
) -> FrontendValue:
    """The value of an expression that may read values of two kinds."""
    trial = lowering.trial()
    try:
        return evaluate()
    except SplitError as split:
        if not trial.is_older(split.flag):
            raise
        _count(lowering, node)
        trial.take_back()
        refused: list[UnsupportedError] = []
        again = functools.partial(split_expression, lowering, node, evaluate)
        side = functools.partial(_if_allowed, lowering, again, refused, _NOTHING)
        return conditional(lowering, node, split.flag, side, side)


def choose(
    lowering: Lowering,
    node: Any,
    condition: Value,
    then: Callable[[], FrontendValue],
    otherwise: Callable[[], FrontendValue],
) -> FrontendValue:
    """The value of one of two expressions; what reads a value of two kinds is split where it is
    read, so that it raises on no other path."""
    sides = (
        functools.partial(split_expression, lowering, node, side) for side in (then, otherwise)
    )
    return conditional(lowering, node, condition, *sides)


def _extent(lowering: Lowering, nodes: Sequence[Any], flag: Value) -> int:
    """How many statements go into both sides: all, if one of them may leave the block; else the
    first and those right after it that read names of two kinds."""
    names = {n for n, item in lowering.frame.names.items() if _depends(item, flag)}
    count = 1
    while count < len(nodes) and not names.isdisjoint(read_places([nodes[count]])):
        count += 1
    leaves = any(isinstance(n, _EXITS) for node in nodes[:count] for n in gast.walk(node))
    return len(nodes) if leaves else count


def _depends(item: FrontendValue, flag: Value) -> bool:
    return isinstance(item, Either) and (
        item.flag is flag or _depends(item.first, flag) or _depends(item.second, flag)
    )


def _split(lowering: Lowering, nodes: Sequence[Any], flag: Value, lower: Lower) -> None:
    """A branch on the flag with these statements on both sides."""
    _count(lowering, nodes[0])
    refused: list[UnsupportedError] = []

    def side() -> None:
        lowering.builder.begin_statement()
        _if_allowed(lowering, lambda: lower(lowering, nodes), refused, None)

    branch(lowering, flag, side, side)


def _count(lowering: Lowering, node: Any) -> None:
    lowering.variants.splits += 1
    if lowering.variants.splits > _MOST:
        raise TooManyPathsError(lowering.location(node))


def for_each_kind(
    lowering: Lowering,
    node: Any,
    items: tuple[FrontendValue, ...],
    apply: Callable[..., FrontendValue],
) -> FrontendValue:
    """`apply(*items)`; where an item, made by the statement itself, is of two kinds, for each of
    them on a path of its own."""
    either = next((item for item in items if isinstance(item, Either)), None)
    if either is None:
        return apply(*items)
    place, refused = items.index(either), list[UnsupportedError]()

    def side(chosen: FrontendValue) -> Callable[[], FrontendValue]:
        rest = (*items[:place], chosen, *items[place + 1 :])
        again = functools.partial(for_each_kind, lowering, node, rest, apply)
        return lambda: _if_allowed(lowering, again, refused, _NOTHING)

    known = lowering.assumed.get(lowering.numbering.of(either.flag))
    if known is not None:
        return side(either.first if known else either.second)()
    _count(lowering, node)
    return conditional(lowering, node, either.flag, side(either.first), side(either.second))


def note_decider(lowering: Lowering, result: FrontendValue, tested: Value, outcome: bool) -> None:
    """Of `a and b` or `a or b`, where that is of two kinds, note the truth of the operand that was
    tested and has decided: the result has a value for the path on which it does, and for no other.
    """
    if not isinstance(result, Either):
        return
    flag = lowering.builder.definition(result.flag)
    is_truth = flag is not None and flag.callee is bool and flag.operands == (tested,)
    if result.flag is not tested and not is_truth:  # it was merged of several
        return
    decider = result.first if outcome else result.second
    if not isinstance(decider, Value):
        return
    made = lowering.builder.definition(decider)
    if made is not None and made.regions:
        lowering.assumed = {**lowering.assumed, lowering.numbering.of(decider): outcome}


def without_none(lowering: Lowering, frame: Frame, result: FrontendValue) -> FrontendValue:
    """What the function of a frame returns; where that is a value on one path and None on another,
    the latter raises: None has no derivative."""
    node, name = frame.source.node, frame.source.name

    def chosen(item: FrontendValue) -> FrontendValue:
        if isinstance(item, Either):
            sides = (lambda: chosen(item.first)), (lambda: chosen(item.second))
            return conditional(lowering, node, item.flag, *sides)
        if item == Static(None):
            raise_here(lowering, TypeError, f"`{name}` returned None here, which has no derivative")
        return item

    if not isinstance(result, Either):
        return result
    lowering.builder.location = frame.source.location(node)
    lowering.frames.append(frame)
    try:
        return chosen(result)
    finally:
        lowering.frames.pop()


def _if_allowed(
    lowering: Lowering,
    lower: Callable[[], _Result],
    refused: list[UnsupportedError],
    nothing: _Result,
) -> _Result:
    """What one side of a split gives; one that is refused raises at run time, unless both are.
    nothing: what stands for what that gives."""
    trial = lowering.trial()
    try:
        return lower()
    except EverOtherTypesError:
        raise
    except UnsupportedError as error:
        if isinstance(error, RunTimeKeyError) and error.place is not None:
            raise
        if aliasing.may_tell_apart(lowering, error):
            raise
        refused.append(error)
        if len(refused) == 2:
            raise refused[0] from None
        trial.take_back()
        _raise_later(lowering, error)
        return nothing


def _raise_later(lowering: Lowering, error: UnsupportedError) -> None:
    """What cannot be compiled on a path raises when that path is taken: what Python raises there,
    where that is known, else what would have been said of it."""
    if isinstance(error, AlwaysRaisesError) and isinstance(error.value, Static):
        raise_here(lowering, error.cls, *error.value.value.args)
    else:
        refuse_here(lowering, error, UnsupportedPathError)
