"""Operations on whole lists, as values: `x * n`, `x + y`, slices, `insert` and `del`.

Those on single items (`append`, `pop`, …) are in `control`. Their derivatives are written by
`transforms.lists`; the cotangent of a list is a list of the same length.
"""

from __future__ import annotations

import bisect
import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Operation, Primitive, SliceOf, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import INT, Array, Opaque, Scalar, Sequence, Tuple, Type, join_items
from gradscribe.primitives.control import APPEND, GET, LIST, POP, SET, check_position, signature
from gradscribe.primitives.indexing import ACCUMULATE, STORE, slice_length
from gradscribe.primitives.registry import LINEAR, PRIMITIVES, adjoint, constant
from gradscribe.primitives.typing import TypeRuleError, dims_of, row_type


def _count(number: Any) -> Affine | None:
    """What is known of an integer, given or of this type."""
    if isinstance(number, int):
        return Affine.of(number)
    if not isinstance(number, Scalar) or not number.dtype.startswith(("int", "uint", "bool")):
        raise TypeRuleError("a list is repeated a whole number of times")
    return number.value


def _repeat_type(facts: Facts, callee: Any, x: Sequence, n: Any) -> Type:
    count, length = _count(n), None
    if x.length is not None and count is not None:
        if x.length.known is not None and count.known is not None:
            length = Affine.of(max(x.length.known * count.known, 0))
        elif x.length.known == 1 and facts.at_least(count, 0):
            length = count
    return Sequence(x.item, length)


def _repeated(out: Any, x: Any, n: Any, *, d_out: Any) -> Any:
    if len(x) == 1:
        return ([sum(d_out)],)
    return ([sum(d_out[i :: len(x)]) for i in range(len(x))],)


REPEAT = Primitive("repeat", _repeat_type, signature("x", "n"), adjoint=_repeated, tangent=LINEAR)
"""`x * n`."""


def _join_type(facts: Facts, callee: Any, x: Sequence, y: Sequence) -> Type:
    known = x.length is not None and y.length is not None
    return Sequence(join_items(x.item, y.item, facts), x.length + y.length if known else None)  # type: ignore[operator]


JOIN = Primitive("join", _join_type, signature("x", "y"), tangent=LINEAR)
"""`x + y`."""


def _section_type(facts: Facts, callee: Any, x: Sequence, index: SliceOf) -> Type:
    return Sequence(x.item, None if x.length is None else slice_length(facts, x.length, index))


SECTION = Primitive("section", _section_type, signature("x", "index"), tangent=LINEAR)
"""`x[index]` for a slice: a new list."""


def _set_section_type(
    facts: Facts, callee: Any, x: Sequence, index: SliceOf, value: Sequence
) -> Type:
    return Sequence(join_items(x.item, value.item, facts), x.length)


SET_SECTION = Primitive(
    "set_section", _set_section_type, signature("x", "index", "value"), tangent=LINEAR
)
"""The list `x` after `x[index] = value`, for a slice that is as long as the value."""


def _insert_type(facts: Facts, callee: Any, x: Sequence, index: Any, value: Type) -> Type:
    check_position(index)
    return Sequence(join_items(x.item, value, facts), None if x.length is None else x.length + 1)


INSERT = Primitive("insert", _insert_type, signature("x", "index", "value"), tangent=LINEAR)
"""The list `x` with `value` before the item at `index`, which is from 0 to the length."""


def _delete_type(facts: Facts, callee: Any, x: Sequence, index: Any) -> Type:
    check_position(index)
    return Sequence(x.item, None if x.length is None else x.length + -1)


DELETE = Primitive("delete", _delete_type, signature("x", "index"), tangent=LINEAR)
"""The list `x` without the item at `index`, which counts from the end where it is negative, and is
not -1 where it is known: that is `POP`."""

IN_PLACE = frozenset({APPEND, POP, SET, SET_SECTION, INSERT, DELETE})
"""What changes the list `x` itself when it is executed."""

OPERATIONS = frozenset({LIST, GET, REPEAT, JOIN, SECTION}) | IN_PLACE
"""All that lists are made of, and read by, item by item."""


# -- items that are changed ---------------------------------------------------------------------


def put_back(
    operation: Operation, producer: Callable[[Value], Operation | None]
) -> tuple[Operation, ...] | None:
    """The `get` of the item that a `set` puts back to its place, and what has changed it since;
    None if the `set` stores anything else."""
    owner, value = operation.operands[0], _argument(operation, "value")
    changes: list[Operation] = []
    while True:
        made = producer(value)
        if made is None:
            return None
        if made.primitive is GET:
            same = made.operands[0] is owner and _argument(made, "index") == _argument(
                operation, "index"
            )
            return (made, *reversed(changes)) if same and changes else None
        if made.primitive not in _CHANGES:
            return None
        changes.append(made)
        value = made.operands[made.attributes["x"].index]


def _argument(operation: Operation, name: str) -> Any:
    """An argument of an operation: a value, or what is known of it."""
    found = operation.attributes[name]
    return operation.operands[found.index] if hasattr(found, "index") else found


_CHANGES = IN_PLACE | {STORE, ACCUMULATE}


# -- from and to arrays --------------------------------------------------------------------------


def _tolist_type(facts: Facts, callee: Any, x: Type) -> Type:
    assert isinstance(x, (Array, Scalar))
    result: Type = Scalar(_PLAIN[np.dtype(x.dtype).kind])
    for length in reversed(dims_of(x)):
        result = Sequence(result, length)
    return result


_PLAIN = {"b": "bool", "i": "int64", "u": "int64", "f": "float64", "c": "complex128"}


@adjoint(type=_tolist_type, methods=("tolist",), tangent=LINEAR)
def tolist(out: Any, x: Any, *, d_out: Any) -> Any:
    return np.array(d_out) if np.ndim(x) < 2 else np.array(d_out).reshape(np.shape(x))


def _rows_type(facts: Facts, callee: Any, x: Type) -> Type:
    return Sequence(row_type(x), dims_of(x)[0])


@adjoint(builtins.list, type=_rows_type, tangent=LINEAR)
def rows(out: Any, x: Any, *, d_out: Any) -> Any:
    return np.array(d_out)


ROWS = PRIMITIVES[builtins.list]

# -- sorting ---------------------------------------------------------------------------------------


def order(keys: list[Any], reverse: bool) -> list[int]:
    """The numbers of the items in the order in which `sorted` gives them."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def _order_type(facts: Facts, callee: Any, keys: Any, reverse: Any) -> Type:
    if isinstance(keys, Tuple):
        keys = keys.items
    is_known = not isinstance(keys, Sequence)
    if not all(map(_is_ordered, keys if is_known else [keys.item])):
        advice = "sort by numbers: `sorted(items, key=…)`"
        raise TypeRuleError("only numbers, and tuples of numbers, are sorted", advice)
    return Sequence(INT, Affine.of(len(keys)) if is_known else keys.length)


def _is_ordered(key: Any) -> bool:
    if isinstance(key, Tuple):
        key = key.items
    if isinstance(key, tuple):
        return all(map(_is_ordered, key))
    return isinstance(key, (Scalar, bool, int, float))


ORDER = constant(order, type=_order_type, cheap=False)


def _bisected(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> None:
    """Signature of bisect_left and bisect_right."""


def _bisected_type(facts: Facts, callee: Any, a: Any, x: Any, lo: Any = 0, hi: Any = None) -> Type:
    if isinstance(a, Opaque):  # it may show memory that is stored to
        dims_of(a)
    return INT


for _function in (bisect.bisect_left, bisect.bisect_right):
    constant(_function, type=_bisected_type, signature=_bisected, cheap=False)
