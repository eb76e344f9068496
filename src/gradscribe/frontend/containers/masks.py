"""What is given as `where=`: NumPy takes an array of truth values as it is, and each number, alone
or in a list, as true or false."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.frontend.containers import known_integers
from gradscribe.frontend.containers.array_likes import counted, takes_arrays
from gradscribe.frontend.memory import outside
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.indices import as_array
from gradscribe.frontend.values.values import FrontendValue, ListRef, Ref, Static, TupleOf
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Scalar, is_integer
from gradscribe.primitives.numpy_arguments import counts_by_value


def with_mask(
    lowering: Lowering, node: Any, callee: Any, keywords: dict[str, FrontendValue]
) -> dict[str, FrontendValue]:
    """The keyword arguments of a call, `where` among them as a mask if NumPy is called."""
    if "where" not in keywords or not takes_arrays(callee):
        return keywords
    return {**keywords, "where": _mask(lowering, node, callee, keywords["where"])}


def _mask(lowering: Lowering, node: Any, callee: Any, where: FrontendValue) -> FrontendValue:
    where = outside.opened(lowering, where)
    if counts_by_value(callee) and not isinstance(where, Ref):
        where = _of_truths(lowering, node, where)
    if isinstance(where, Static):
        return where if isinstance(where.value, np.ndarray) else Static(bool(where.value))
    item = as_array(lowering, node, counted(lowering, node, where))
    type_ = lowering.value(item).type
    if not isinstance(type_, (Array, Scalar)) or type_.dtype == "bool":
        return item
    if isinstance(where, Ref) and isinstance(type_, Array):
        kind = "array data" if type_.rank else "scalar"
        what = f"Cannot cast {kind} from {np.dtype(type_.dtype)!r} to dtype('bool') according to"
        lowering.raises(node, TypeError(f"{what} the rule 'safe'"))
    return lowering.call(node, Static(np.not_equal), (item, Static(0)), {})


def _of_truths(lowering: Lowering, node: Any, where: FrontendValue) -> FrontendValue:
    """A mask that NumPy adds up; refused where there are numbers in it other than 0 and 1."""
    type_ = lowering.value(where).type if isinstance(where, (Value, ListRef)) else None
    if "bool" in (
        getattr(type_, "dtype", None),
        getattr(getattr(type_, "item", None), "dtype", None),
    ):
        return where
    if isinstance(where, (ListRef, TupleOf)) or (type_ and is_integer(type_)):
        where = known_integers.settled(lowering, node, where)
    items = known_items(lowering, where) if isinstance(where, (ListRef, TupleOf)) else None
    if items is not None:
        return TupleOf(tuple(_of_truths(lowering, node, item) for item in items))
    if not isinstance(where, Static) or where.value not in (0, 1):
        lowering.unsupported(
            node,
            "NumPy adds up the numbers that are given as `where`, which may be others than 0 and 1",
            "make a mask of them: `np.array(where, dtype=bool)`",
        )
    return where
