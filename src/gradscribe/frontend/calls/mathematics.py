"""Functions of `math` and `statistics` that are composed of others, or take many numbers."""

from __future__ import annotations

import math
import operator
from typing import Any

from gradscribe.frontend.containers import reducing
from gradscribe.frontend.memory.iterators import taking
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.handlers import Handler, enter, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    FrontendValue,
    ListRef,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Value
from gradscribe.primitives import samples
from gradscribe.primitives.registry import PRIMITIVES


@handles(math.prod)
@taking()
def _product(
    lowering: Lowering,
    node: Any,
    iterable: FrontendValue,
    /,
    *,
    start: FrontendValue = Static(1),
) -> FrontendValue:
    items, total = reducing.items_of(lowering, iterable), start
    if items is None:
        return lowering.inline(node, prelude.product, (iterable, total))
    if total == Static(1) and items and isinstance(items[0], Value) and is_number(items[0]):
        total, items = items[0], items[1:]
    for item in items:
        total = lowering.operate(node, operator.mul, total, item)
    return total


@handles(math.hypot)
@taking()
def _hypotenuse(lowering: Lowering, node: Any, /, *coordinates: FrontendValue) -> FrontendValue:
    """The distance from the origin."""
    if len(coordinates) == 1:
        return _apply(lowering, node, math.fabs, *coordinates)
    if len(coordinates) == 2:
        return _apply(lowering, node, math.hypot, *coordinates)
    origin = TupleOf((Static(0.0),) * len(coordinates))
    return _apply(lowering, node, math.dist, TupleOf(coordinates), origin)


@handles(math.frexp)
@taking()
def _mantissa_and_exponent(lowering: Lowering, node: Any, x: FrontendValue, /) -> TupleOf:
    """The mantissa, which has a derivative, is `x / 2**exponent`."""
    _, exponent = lowering.unpacked(node, _apply(lowering, node, math.frexp, x))
    scale = lowering.operate(node, operator.neg, exponent)
    return TupleOf((_apply(lowering, node, math.ldexp, x, scale), exponent))


@handles(math.modf)
@taking()
def _fraction_and_whole(lowering: Lowering, node: Any, x: FrontendValue, /) -> TupleOf:
    """The fraction, which has a derivative, is the remainder by one."""
    _, whole = lowering.unpacked(node, _apply(lowering, node, math.modf, x))
    return TupleOf((_apply(lowering, node, math.fmod, x, Static(1.0)), whole))


def _of_items(callee: Any) -> Handler:
    """A function of `statistics`, which takes anything that has items."""

    def handler(
        lowering: Lowering,
        node: Any,
        /,
        data: FrontendValue,
        *others: FrontendValue,
        **keywords: FrontendValue,
    ) -> FrontendValue:
        if not isinstance(data, (ListRef, TupleOf, Ref)):
            data = lowering.listed(node, data)
        return lowering.apply_primitive(node, PRIMITIVES[callee], callee, (data, *others), keywords)

    return handler


def _apply(lowering: Lowering, node: Any, callee: Any, *operands: FrontendValue) -> FrontendValue:
    return lowering.apply_primitive(node, PRIMITIVES[callee], callee, operands, {})


enter({callee: taking()(_of_items(callee)) for callee in samples.FUNCTIONS})
