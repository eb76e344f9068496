"""What stands between the brackets, as a step of a path: a basic or an advanced index.

A basic index makes a view. One with masks, integer arrays or lists gathers items; how many a
mask takes is not known, but equal masks, which are found by what they were computed from, take
equally many.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import outside, sequences
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import FrontendValue, ListRef, Ref, Static, TupleOf
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Operand, Operation, Primitive, SliceOf, Value
from gradscribe.ir.types import Array, Scalar, Sequence, Tuple, Type, is_integer
from gradscribe.primitives.control import CONSTANT, ITEM
from gradscribe.primitives.indexing import GATHER, GETITEM, is_mask
from gradscribe.primitives.nonzero import NONZERO
from gradscribe.primitives.registry import PRIMITIVES

Step: TypeAlias = tuple[Primitive, dict[str, Any], Any]
Part: TypeAlias = Value | SliceOf | int | list[Any] | EllipsisType | None
"""What an item of an index is in the IR; a list as NumPy takes it, but for IR values in it."""


def step_of(lowering: Lowering, node: Any, index: FrontendValue) -> Step:
    """The step of a path that `[index]` is."""
    index = outside.opened(lowering, index)
    given = index.items if isinstance(index, TupleOf) else (index,)
    if isinstance(index, Static) and type(index.value) is tuple:
        given = tuple(map(Static, index.value))
    items = tuple(_item(lowering, node, item) for item in given)
    if not any(map(_is_advanced, items)):
        return GETITEM, {"index": items}, None
    arrays = [item for item in items if isinstance(item, Value) and not _is_basic(item)]
    counted = [a for a in arrays if is_mask(a.type) or isinstance(a.type, Sequence)]
    lists = [item for item in items if isinstance(item, list) and is_mask(item)]
    if lists and counted:
        lowering.unsupported(
            node,
            "masks and lists of flags in one index are not supported",
            "make arrays of the lists: `np.array(flags)`",
        )
    counts = tuple(count_of(lowering, mask) for mask in counted)
    counts += tuple(Affine.of(int(np.count_nonzero(flags))) for flags in lists)
    arguments = {"index": items, "counts": counts, "distinct": _is_distinct(lowering, items)}
    return GATHER, arguments, None


def _item(lowering: Lowering, node: Any, item: FrontendValue) -> Part:
    if isinstance(item, slice):
        return SliceOf(*(_bound(lowering, node, p) for p in (item.start, item.stop, item.step)))
    if isinstance(item, Static):
        if item.value is None or item.value is Ellipsis:
            return item.value
        if isinstance(item.value, slice):
            return SliceOf(item.value.start, item.value.stop, item.value.step)
        if isinstance(item.value, (int, np.integer)) and not isinstance(item.value, bool):
            return int(item.value)
    if isinstance(item, Value) and is_integer(item.type):
        return item
    if isinstance(item, (ListRef, TupleOf)):
        return _list(lowering, node, item)
    if isinstance(item, Range) and not item.reversed:
        return lowering.value(_as_arange(lowering, node, item))
    if isinstance(item, Ref):
        value = lowering.load(item)
        if _indexes(value.type):
            return value
    return lowering.unsupported(
        node,
        "only integers, slices, None, `...`, masks and integer arrays are supported as index",
        "convert it, as in `x[idx.astype(int)]`",
    )


def _as_arange(lowering: Lowering, node: Any, item: Range) -> FrontendValue:
    """The array that NumPy makes of a range."""
    start, stop, step = item.parts
    bounds: tuple[FrontendValue, ...] = item.parts
    if isinstance(step, Static) and step.value == 1:
        from_zero = isinstance(start, Static) and start.value == 0
        bounds = (stop,) if from_zero else (start, stop)
    return lowering.apply_primitive(node, PRIMITIVES[np.arange], np.arange, bounds, {})


def _list(lowering: Lowering, node: Any, item: ListRef | TupleOf) -> Value | list[Any]:
    """A list of integers (or flags) in an index: as it is displayed, or a run-time value."""
    items = sequences.known_items(lowering, item)
    if items is not None:
        return [_list_item(lowering, node, below) for below in items]
    contents = lowering.value(item)
    if isinstance(contents.type, Sequence) and is_integer(contents.type.item):
        return contents
    return lowering.unsupported(
        node,
        "only lists of integers are supported as index",
        "make an integer array of it: `np.array(indices)`",
    )


def _list_item(lowering: Lowering, node: Any, item: FrontendValue) -> Part:
    if stands_for(item, (bool, int, np.integer)):
        return item.value if isinstance(item.value, bool) else int(item.value)
    if isinstance(item, (ListRef, TupleOf)):
        return _list(lowering, node, item)
    if isinstance(item, Value) and is_integer(item.type):
        return item
    return lowering.unsupported(
        node,
        "only lists of integers are supported as index",
        "make an integer array of it: `np.array(indices)`",
    )


def _bound(lowering: Lowering, node: Any, part: FrontendValue | None) -> Value | int | None:
    if part is None or (isinstance(part, Static) and part.value is None):
        return None
    if stands_for(part, (int, np.integer)):
        return int(part.value)
    if isinstance(part, Value) and is_integer(part.type):
        return part
    return lowering.unsupported(
        node,
        "the bounds of a slice must be integers",
        "convert them: `int(n)`, or divide with `//`",
    )


def _indexes(type_: Type) -> bool:
    """Whether arrays of this type index others: masks, and integers."""
    if not isinstance(type_, Array):
        return False
    kind = np.dtype(type_.dtype).kind
    return kind in "iu" or (kind == "b" and type_.rank > 0)


def _is_basic(item: Value) -> bool:
    return isinstance(item.type, Scalar)


def _is_advanced(item: Part) -> TypeGuard[Value | list[Any]]:
    return isinstance(item, list) or (isinstance(item, Value) and not _is_basic(item))


# -- repeated items ------------------------------------------------------------------------------


def _is_distinct(lowering: Lowering, items: tuple[Part, ...]) -> bool:
    """Whether no element is taken twice: one array of the index alone tells all apart, and is not
    broadcast against the others."""
    advanced = [item for item in items if _is_advanced(item)]
    if len(advanced) > 1 and len({_length_of(item) for item in advanced} | {None}) > 2:
        return False
    if any(_tells_apart(lowering, item) for item in advanced):
        return True
    return _is_whole_nonzero(lowering, items)


def _is_whole_nonzero(lowering: Lowering, items: tuple[Part, ...]) -> bool:
    """Whether these are all the indices that one `np.nonzero` gave, in order."""
    parts = [lowering.builder.definition(i) if isinstance(i, Value) else None for i in items]
    made = [part for part in parts if part is not None and part.primitive is ITEM]
    if len(made) != len(items) or len({part.operands[0] for part in made}) != 1:
        return False
    source = lowering.builder.definition(made[0].operands[0])
    positions = [part.attributes["position"] for part in made]
    indices = made[0].operands[0].type
    whole = isinstance(indices, Tuple) and positions == list(range(len(indices.items)))
    return whole and source is not None and source.primitive is NONZERO


def open_mesh(lowering: Lowering, node: Any, arguments: tuple[FrontendValue, ...]) -> TupleOf:
    """`np.ix_(i, j)`: arrays that, broadcast, pair each index with each of the others."""
    parts: list[FrontendValue] = []
    for axis, given in enumerate(arguments):
        item = as_array(lowering, node, given)
        if is_mask(lowering.value(item).type):
            item = nonzero(lowering, node, np.flatnonzero, item)
        lengths = (1,) * axis + (-1,) + (1,) * (len(arguments) - axis - 1)
        shape = TupleOf(tuple(map(Static, lengths)))
        parts.append(
            lowering.apply_primitive(node, PRIMITIVES[np.reshape], np.reshape, (item, shape), {})
        )
    return TupleOf(tuple(parts))


def nonzero(lowering: Lowering, node: Any, callee: Any, x: FrontendValue) -> FrontendValue:
    """`np.nonzero(x)` and its likes."""
    value = lowering.value(as_array(lowering, node, x))
    arguments = {"x": value, "count": count_of(lowering, value)}
    return lowering.wrap(lowering.emit(NONZERO, arguments, callee))


def _length_of(item: Value | list[Any]) -> object:
    """The length of an array with one axis; of what is not known to be one, something else."""
    type_ = item.type if isinstance(item, Value) else None
    if isinstance(type_, Array) and type_.rank == 1 and type_.dtype != "bool":
        return type_.dims[0]
    if isinstance(item, list) and not any(isinstance(i, (list, bool)) for i in item):
        return Affine.of(len(item))
    return object()


def _tells_apart(lowering: Lowering, item: Value | list[Any]) -> bool:
    if is_mask(item.type if isinstance(item, Value) else item):
        return True
    if isinstance(item, list):
        known = [i for i in item if isinstance(i, int)]
        same_sign = all(i >= 0 for i in known) or all(i < 0 for i in known)
        return len(known) == len(item) and same_sign and len(set(known)) == len(known)
    made = lowering.builder.definition(item)
    if made is None:
        return False
    if made.primitive is PRIMITIVES[np.arange]:
        return _rises(lowering, made)
    return made.primitive is NONZERO and made.callee is np.flatnonzero


def _rises(lowering: Lowering, arange: Operation) -> bool:
    """Whether a range begins at zero or above, and goes up."""
    arguments = arange.attributes
    if arguments["step"] is not None:
        return False
    if arguments["stop"] is None:
        return True
    start = arguments["start"]
    if isinstance(start, Operand):
        made = lowering.builder.definition(arange.operands[start.index])
        start = made.attributes["value"] if made and made.primitive is CONSTANT else -1
    return bool(start >= 0)


# -- equal masks ---------------------------------------------------------------------------------


def count_of(lowering: Lowering, mask: Value) -> Affine:
    """How many items a mask takes (or a list of indices has): the same for equal masks."""
    if isinstance(mask.type, Sequence) and mask.type.length is not None:
        return mask.type.length
    number = lowering.numbering.of(mask)
    if number not in lowering.counts:
        lowering.counts[number] = Affine.of(Symbol("count"))
    return lowering.counts[number]


def as_array(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """What is stored in an array: a number or an array; of a tuple or list, NumPy makes one."""
    if isinstance(item, (TupleOf, ListRef)):
        return lowering.apply_primitive(node, PRIMITIVES[np.array], np.array, (item,), {})
    if isinstance(item, (Static, Value, Ref)):
        return item
    return lowering.unsupported(
        node, "only numbers and arrays can be stored in an array", "make it an array first"
    )
