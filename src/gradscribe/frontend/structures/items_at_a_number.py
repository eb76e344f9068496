"""Items of known structure at a place that a number says (`parts[number]`).

Where the number is an input, what it is in the specializing call may become a guard, so that the
place is known. So it does where it has to: no one IR value holds items of several types. And where
it is a captured variable (a wrapper that differentiates by one argument of several): the other
items are then known not to be meant, and may be what has no derivative.
"""

from __future__ import annotations

from functools import reduce

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    FrontendValue,
    Static,
    TupleOf,
    is_number,
    scalar_type,
)
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.types import JoinError, Never, Type, join_items

_FEW = 16
"""Among so few items a captured number becomes a constant (and one specialization is made each)."""


def place_among(
    lowering: Lowering,
    owner: FrontendValue,
    items: tuple[FrontendValue, ...],
    index: FrontendValue,
) -> FrontendValue:
    """The index, or slice, of items of known structure: constant where it has to be."""
    parts = (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)
    is_slice = len(parts) > 1
    given = [number for number in map(_told_by_call, parts) if number is not None]
    if not given or not (
        (is_slice and isinstance(owner, TupleOf))
        or (len(items) <= _FEW and all(_is_captured(lowering, number) for number in given))
        or not _are_even(lowering, items)
    ):
        return index
    settled = [_settled(lowering, part) for part in parts]
    return slice(*settled) if is_slice else settled[0]


def _told_by_call(index: FrontendValue) -> Affine | None:
    """The integer that this is, where arguments may tell it."""
    type_ = scalar_type(index)
    return None if type_ is None else type_.value


def _is_captured(lowering: Lowering, number: Affine) -> bool:
    """Whether only captured variables tell this integer."""
    leaves = (leaf for _, parameter in lowering.outside.captures for leaf in parameter.leaves)
    captured = {
        symbol
        for told in map(_told_by_call, leaves)
        if told is not None
        for symbol in _symbols(told)
    }
    return _symbols(number) <= captured


def _symbols(number: Affine) -> set[Symbol]:
    return {symbol for symbol, _ in number.terms}


def _settled(lowering: Lowering, index: FrontendValue) -> FrontendValue:
    known = lowering.builder.facts.sampled(_told_by_call(index))
    return index if known is None else Static(known)


def _are_even(lowering: Lowering, items: tuple[FrontendValue, ...]) -> bool:
    """Whether a run-time list holds these items."""
    if any(isinstance(item, Static) and not is_number(item) for item in items):
        return False
    nothing: Type = Never()
    try:
        reduce(join_items, [lowering.value(item).type for item in items], nothing)
    except (UnsupportedError, JoinError):
        return False
    return True
