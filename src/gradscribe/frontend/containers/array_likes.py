"""Lists and tuples where NumPy takes arrays: `np.mean([a, b])`, `x * [1, 2, 3]`.

NumPy makes an array of them first, as `np.array` does; so does the compiler.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.frontend.memory.iterators import taken
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.indices import as_array
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import FrontendValue, ListRef, OneShot, Ref, Static, TupleOf
from gradscribe.ir.core import Method, Primitive, Value
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Scalar, Sequence, Tuple

_STRUCTURES = frozenset({"arrays", "operands"})
"""Parameters that are a tuple or list of arrays, not one of their items."""

_PAIRS = frozenset({"c_or_cr"})
"""Parameters that are an array, or a tuple of arrays."""

_LIBRARIES = ("numpy", "scipy")

_COUNTED = (np.choose, np.column_stack, np.linalg.multi_dot)
"""Functions that have to know how many arrays they are given."""


def converted(
    lowering: Lowering,
    node: Any,
    primitive: Primitive,
    callee: Any,
    arguments: dict[str, Any],
    static: frozenset[str],
) -> dict[str, Any]:
    """The bound arguments of a call, arrays in place of lists. static: the parameters that are no
    data, as a shape."""
    if takes_arrays(callee) or callee is np.array:
        arguments = {name: counted(lowering, node, item) for name, item in arguments.items()}
    if not takes_arrays(callee):
        taker = _refuse_iterator if callee is np.array else taken
        return {name: taker(lowering, node, item) for name, item in arguments.items()}
    others = static | primitive.static
    found = dict(arguments)
    of_structure = _counted_arrays if callee in _COUNTED else _items_as_arrays
    for name in arguments.keys() - others:
        is_pair = name in _PAIRS and isinstance(arguments[name], TupleOf)
        convert = of_structure if name in _STRUCTURES or is_pair else _as_array
        found[name] = convert(lowering, node, arguments[name])
    return found


def with_arrays(
    lowering: Lowering, node: Any, operands: tuple[FrontendValue, ...]
) -> tuple[Any, ...] | None:
    """The operands of an operator of which one is an array or a number of NumPy's, arrays in place
    of lists; None if none is."""
    if not any(isinstance(operand, Ref) or is_of_numpy(operand) for operand in operands):
        return None
    return tuple(as_array(lowering, node, operand) for operand in operands)


def is_of_numpy(operand: Any) -> bool:
    """Whether a number computes with lists as an array does: NumPy's do, Python's do not."""
    if isinstance(operand, Static):
        return isinstance(operand.value, np.generic)
    type_ = operand.type if isinstance(operand, Value) else None
    return isinstance(type_, Scalar) and not type_.weak


def counted(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """A range as the array of its numbers."""
    if not isinstance(item, Range):
        return item
    numbers = lowering.call(node, Static(np.arange), item.parts, {})
    return lowering.call(node, Static(np.flip), (numbers,), {}) if item.reversed else numbers


def _as_array(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    if not isinstance(item, (ListRef, TupleOf)):
        return _refuse_iterator(lowering, node, item)
    return as_array(lowering, node, item)


def _refuse_iterator(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    if isinstance(item, OneShot):
        lowering.unsupported(node, "NumPy takes no iterator", "make a list of it: `list(…)`")
    return item


def _items_as_arrays(lowering: Lowering, node: Any, item: FrontendValue) -> Any:
    """A tuple or list of arrays, some of which are given as lists, or an array of them."""
    if isinstance(item, tuple):  # positional arguments
        return tuple(_as_array(lowering, node, below) for below in item)
    items = known_items(lowering, item)
    if items is None:
        if _is_list_of_lists(lowering, item):
            item = as_array(lowering, node, item)
        return lowering.call(node, Static(list), (item,), {}) if isinstance(item, Ref) else item
    if not any(isinstance(below, (ListRef, TupleOf)) for below in items):
        return item
    return TupleOf(tuple(_as_array(lowering, node, below) for below in items))


def _is_list_of_lists(lowering: Lowering, item: FrontendValue) -> bool:
    contents = lowering.contents[item.storage] if isinstance(item, ListRef) else None
    type_ = contents.type if isinstance(contents, Value) else None
    return isinstance(type_, Sequence) and isinstance(type_.item, (Sequence, Tuple))


def _counted_arrays(lowering: Lowering, node: Any, item: FrontendValue) -> Any:
    """A tuple of arrays, as many as there are in the specializing call."""
    if not isinstance(item, (Ref, ListRef)):
        return item
    return _items_as_arrays(lowering, node, TupleOf(lowering.unpacked(node, item)))


def takes_arrays(callee: Any) -> bool:
    """Whether this is a function of NumPy or SciPy that takes arrays, or a method of an array."""
    if callee is np.array:
        return False
    module = probe(callee, "__module__") or ""
    callee = probe(callee, "__self__", callee)  # of a method of a ufunc, the ufunc
    return isinstance(callee, (np.ufunc, Method)) or module.partition(".")[0] in _LIBRARIES
