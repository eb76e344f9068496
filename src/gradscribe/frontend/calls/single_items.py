"""`x.item()`: the one item of an array; of a Tensor, outside of the derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.frontend.calls import application
from gradscribe.frontend.containers.subscripts import cut, read_item
from gradscribe.frontend.kinds import tensors
from gradscribe.frontend.kinds.varying import may_vary
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Ref, Static, TupleOf
from gradscribe.ir.affine import Affine
from gradscribe.ir.types import Array
from gradscribe.primitives.registry import PRIMITIVES


def number_of(
    lowering: Lowering, node: Any, array: FrontendValue, index: tuple[Any, ...] = ()
) -> FrontendValue:
    """The item as a number of the array's dtype. index: of an item of more, one integer for each
    axis."""
    if isinstance(array, Ref):
        type_ = lowering.load(array).type
        assert isinstance(type_, Array)
        if not index and _has_one(lowering, type_):
            index = (Static(0),) * type_.rank
        if index and len(index) == type_.rank:
            array = read_item(lowering, node, array, TupleOf(index))
    kinds = tensors.on_paths(lowering, array)
    if len(kinds) > 1 and may_vary(lowering, array):
        lowering.unsupported(
            node,
            "this takes a number out of the derivative if it is a Tensor, and it is one on some "
            "paths only",
            "call `float(…)`, or make it a Tensor, or a number, on every path",
        )
    return cut(lowering, array) if True in kinds else array


def item(
    lowering: Lowering, node: Any, array: FrontendValue, index: tuple[Any, ...]
) -> FrontendValue:
    """The item as a number of Python. index: integers, or a tuple of them."""
    if len(index) == 1 and isinstance(index[0], TupleOf):
        index = index[0].items
    if index and not isinstance(array, Ref):  # which raises for all but the first
        array = lowering.apply_primitive(node, PRIMITIVES[np.array], np.array, (array,), {})
    number = number_of(lowering, node, array, index)
    rest = index if isinstance(number, Ref) else ()
    return application.apply_method(lowering, node, number, "item", rest, {})


def _has_one(lowering: Lowering, type_: Array) -> bool:
    equal = lowering.builder.facts.equal
    return all(equal(length, Affine.of(1)) is True for length in type_.dims)
