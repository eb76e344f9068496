"""Calls of NumPy that mean different operations, or several: `np.diag`, `np.split`, `np.array`.

`np.diag` of a vector makes a matrix, of a matrix it is a view. The parts that `np.split` gives are
the slices that they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.frontend.calls import application, inlining, prelude
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.data.sequences import known_items, new_list
from gradscribe.frontend.data.subscripts import read_item
from gradscribe.frontend.lowering import Lowering, is_number
from gradscribe.frontend.values import Ref, Static
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array
from gradscribe.primitives.registry import PRIMITIVES


def _diag(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`np.diag(v, k)`: what NumPy calls `diagflat` or `diagonal`."""
    given = {**dict(zip("vk", arguments, strict=False)), **keywords}
    if set(given) - {"v", "k"} or "v" not in given:
        lowering.unsupported(node, "`np.diag` takes `v` and `k`", "call it as `np.diag(v, k)`")
    vector = given["v"]
    if not isinstance(vector, (Ref, Value)):
        vector = calls.call(lowering, node, Static(np.asarray), (vector,), {})
    type_ = lowering.value(vector).type
    is_vector = isinstance(type_, Array) and type_.rank == 1
    function = np.diagflat if is_vector else np.diagonal
    operands = (vector, given.get("k", Static(0)))
    return application.apply_primitive(lowering, node, PRIMITIVES[function], function, operands, {})


def _split(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`np.split(ary, sections, axis)`."""
    names = ("ary", "indices_or_sections", "axis")
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    axis = given.get("axis", Static(0))
    parts = given.get("indices_or_sections")
    if set(given) - set(names) or parts is None or not isinstance(axis, Static):
        lowering.unsupported(
            node,
            "this call of `split` is not supported",
            "call it as `np.split(array, parts, axis)`, the axis a literal",
        )
    array = given["ary"]
    if isinstance(parts, Static) and isinstance(parts.value, int):
        count = parts.value
        bounds: list[Any] = [
            inlining.inline(lowering, node, prelude.end_of_part, (array, Static(i), parts, axis))
            for i in range(1, count)
        ]
    elif (items := _items(lowering, parts)) is not None:
        bounds = list(items)
    else:
        lowering.unsupported(
            node,
            "the parts must be known when the function is compiled",
            "write them as a literal, or slice the array",
        )
    ends = [Static(None), *bounds, Static(None)]
    slices = itertools.pairwise(ends)
    return new_list(
        lowering,
        tuple(
            inlining.inline(lowering, node, prelude.part, (array, start, stop, axis))
            for start, stop in slices
        ),
    )


def _items(lowering: Lowering, item: Any) -> tuple[Any, ...] | None:
    if isinstance(item, Static) and isinstance(item.value, (tuple, list)):
        return tuple(map(Static, item.value))
    return known_items(lowering, item)


def _array(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`np.array(…, copy=True)`."""
    copy = keywords.get("copy")
    if isinstance(copy, Static) and copy.value is True:
        keywords = {name: item for name, item in keywords.items() if name != "copy"}
    return application.apply_primitive(
        lowering, node, PRIMITIVES[np.array], np.array, arguments, keywords
    )


def _diff(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`np.diff(a, n, axis, prepend, append)`."""
    names = ("a", "n", "axis", "prepend", "append")
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    ends = tuple(given.pop(name, Static(None)) for name in ("prepend", "append"))
    if ends != (Static(None), Static(None)) and "a" in given:
        operands = (given["a"], given.get("axis", Static(-1)), *ends)
        given["a"] = inlining.inline(lowering, node, prelude.extended, operands)
    return application.apply_primitive(lowering, node, PRIMITIVES[np.diff], np.diff, (), given)


def _size(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`np.size(a, axis)`: of a number, 1; along an axis, a length."""
    given = {**dict(zip(("a", "axis"), arguments, strict=False)), **keywords}
    array, axis = given["a"], given.get("axis", Static(None))
    if isinstance(axis, Static) and axis.value is None:
        if is_number(array):
            return Static(1)
        return application.apply_primitive(
            lowering, node, PRIMITIVES[np.size], np.size, (array,), {}
        )
    lengths = calls.call(lowering, node, Static(np.shape), (array,), {})
    return read_item(lowering, node, lengths, axis)


DIVIDING: dict[Any, Callable[..., Any]] = {
    np.diag: _diag,
    np.split: _split,
    np.diff: _diff,
    np.array: _array,
    np.size: _size,
}
