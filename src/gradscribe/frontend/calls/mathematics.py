"""Functions of `math` and `statistics` that are composed of others, or take many numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from gradscribe.frontend.containers import reducing
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import ListRef, Ref, Static, TupleOf, is_number
from gradscribe.ir.core import Value
from gradscribe.primitives import samples
from gradscribe.primitives.registry import PRIMITIVES

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]


def _product(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`math.prod(items, start=1)`."""
    (source,) = arguments
    total = keywords.get("start", Static(1))
    items = reducing.items_of(lowering, source)
    if items is None:
        return lowering.inline(node, prelude.product, (source, total))
    if total == Static(1) and items and isinstance(items[0], Value) and is_number(items[0]):
        total, items = items[0], items[1:]
    for item in items:
        total = lowering.operate(node, operator.mul, total, item)
    return total


def _hypotenuse(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`math.hypot(*coordinates)`: the distance from the origin."""
    if len(arguments) == 1:
        return _apply(lowering, node, math.fabs, arguments)
    if len(arguments) == 2:
        return _apply(lowering, node, math.hypot, arguments)
    origin = TupleOf((Static(0.0),) * len(arguments))
    return _apply(lowering, node, math.dist, (TupleOf(arguments), origin))


def _mantissa_and_exponent(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`math.frexp(x)`: the mantissa, which has a derivative, is `x / 2**exponent`."""
    exponent = _apply(lowering, node, math.frexp, arguments).items[1]
    scale = lowering.operate(node, operator.neg, exponent)
    return TupleOf((_apply(lowering, node, math.ldexp, (*arguments, scale)), exponent))


def _fraction_and_whole(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`math.modf(x)`: the fraction, which has a derivative, is the remainder by one."""
    whole = _apply(lowering, node, math.modf, arguments).items[1]
    return TupleOf((_apply(lowering, node, math.fmod, (*arguments, Static(1.0))), whole))


def _of_items(callee: Any) -> Handler:
    """A function of `statistics`, which takes anything that has items."""

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        first, *others = arguments
        if not isinstance(first, (ListRef, TupleOf, Ref)):
            first = lowering.listed(node, (first,), {})
        return lowering.apply_primitive(
            node, PRIMITIVES[callee], callee, (first, *others), keywords
        )

    return handler


def _apply(lowering: Lowering, node: Any, callee: Any, operands: Any) -> Any:
    return lowering.apply_primitive(node, PRIMITIVES[callee], callee, operands, {})


MATHEMATICS: dict[Any, Handler] = {
    math.prod: _product,
    math.hypot: _hypotenuse,
    math.frexp: _mantissa_and_exponent,
    math.modf: _fraction_and_whole,
    **{callee: _of_items(callee) for callee in samples.FUNCTIONS},
}
