"""Inputs that may have to be known: lists of integers, and numbers from outside of the function.

A list of integers (`axes = [0, 2]` outside of the function) is one IR value, of which only the run
tells the items, as long as that will do. Where its integers have to be known, or one by one (axes,
shapes), the function is lowered once more, with the list item by item (`KnownListError`). Likewise
a number from outside (`order = np.inf`) is a value of the run, until the order of a norm is asked
for: then the function is lowered for this very number (`KnownNumberError`).
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from gradscribe.frontend.interface import AccessPath, KnownListError, KnownNumberError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import PLAIN_NUMBERS, FrontendValue
from gradscribe.ir.core import Value
from gradscribe.ir.types import Scalar, Sequence, Tuple, Type


def enter(lowering: Lowering, leaf: Value) -> None:
    """Note an input, if it is a list of integers."""
    length = leaf.type.length if is_list(leaf.type) else None
    for symbol, _ in length.terms if length is not None else ():
        if symbol.source is not None:
            lowering.outside.integers[leaf] = symbol.source.leaf


def enter_number(lowering: Lowering, found: FrontendValue, value: Any, path: AccessPath) -> None:
    """Note what was found outside of the function, if it is a plain number."""
    if isinstance(found, Value) and isinstance(value, PLAIN_NUMBERS):
        lowering.outside.numbers[found] = path.place


def demand(lowering: Lowering, item: FrontendValue) -> None:
    """Lower once more, if what has to be known here is computed from such an input."""
    open_, seen = [item] if isinstance(item, Value) else [], set()
    while open_:
        value = open_.pop()
        if value in seen or not (isinstance(value.type, Scalar) or _is_of_integers(value.type)):
            continue
        seen.add(value)
        place = lowering.outside.numbers.get(value)
        if place is not None and place not in lowering.outside.known:
            raise KnownNumberError(place)
        if value in lowering.outside.integers:
            raise KnownListError(lowering.outside.integers[value])
        operation = lowering.builder.definition(value)
        open_ += operation.operands if operation is not None else ()


def is_list(type_: Type) -> TypeGuard[Sequence]:
    """Whether this is the type of a list of integers, or of lists or tuples of them."""
    return isinstance(type_, Sequence) and _is_of_integers(type_.item)


def _is_of_integers(type_: Type) -> bool:
    if isinstance(type_, Tuple):
        return all(map(_is_of_integers, type_.items))
    is_integer = isinstance(type_, Scalar) and np.dtype(type_.dtype).kind in "iu"
    return is_integer or is_list(type_)
