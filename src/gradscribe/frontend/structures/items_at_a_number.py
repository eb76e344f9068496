"""Items of known structure at a place that a number says (`parts[number]`).

Where the number is an input, what it is in the specializing call may become a guard, so that the
place is known. So it does where it has to: no one IR value holds items of several types. And where
it is a captured variable (a wrapper that differentiates by one argument of several): the other
items are then known not to be meant, and may be what has no derivative.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static, TupleOf, is_number
from gradscribe.ir.affine import Symbol
from gradscribe.ir.core import Value
from gradscribe.ir.types import JoinError, Never, Scalar, Type, join_items

_FEW = 16
"""Among so few items a captured number becomes a constant (and one specialization is made each)."""


def place_among(lowering: Lowering, owner: Any, items: tuple[Any, ...], index: Any) -> Any:
    """The index, or slice, of items of known structure: constant where it has to be."""
    is_slice = isinstance(index, slice)
    parts = (index.start, index.stop, index.step) if is_slice else (index,)
    given = [part for part in parts if _is_of_call(part)]
    if not given or not (
        (is_slice and isinstance(owner, TupleOf))
        or (len(items) <= _FEW and all(_is_captured(lowering, part) for part in given))
        or not _are_even(lowering, items)
    ):
        return index
    settled = [_settled(lowering, part) for part in parts]
    return slice(*settled) if is_slice else settled[0]


def _is_of_call(index: Any) -> bool:
    """Whether this is an integer that arguments may tell."""
    if not isinstance(index, Value) or not isinstance(index.type, Scalar):
        return False
    return index.type.value is not None


def _is_captured(lowering: Lowering, index: Value) -> bool:
    """Whether only captured variables tell this integer."""
    captured = {
        symbol
        for _, parameter in lowering.outside.captures
        for leaf in filter(_is_of_call, parameter.leaves)
        for symbol in _symbols(leaf)
    }
    return _symbols(index) <= captured


def _symbols(number: Value) -> set[Symbol]:
    assert isinstance(number.type, Scalar) and number.type.value is not None
    return {symbol for symbol, _ in number.type.value.terms}


def _settled(lowering: Lowering, index: Any) -> Any:
    if not _is_of_call(index):
        return index
    known = lowering.builder.facts.sampled(index.type.value)
    return index if known is None else Static(known)


def _are_even(lowering: Lowering, items: tuple[Any, ...]) -> bool:
    """Whether a run-time list holds these items."""
    if any(isinstance(item, Static) and not is_number(item) for item in items):
        return False
    nothing: Type = Never()
    try:
        reduce(join_items, [lowering.value(item).type for item in items], nothing)
    except (UnsupportedError, JoinError):
        return False
    return True
