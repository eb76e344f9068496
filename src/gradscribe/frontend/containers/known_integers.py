"""Arguments that say which axis, or how many parts: integers that have to be known.

What the specializing call gives for them is taken, and becomes a guard of the specialization.
"""

from __future__ import annotations

import inspect
import operator
from typing import Any, NoReturn

import numpy as np

from gradscribe.frontend.containers import subscripts
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import outside
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state import known_inputs
from gradscribe.frontend.state.flow import resolved
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import protocols
from gradscribe.frontend.values.iterations import Iteration
from gradscribe.frontend.values.values import (
    FrontendValue,
    ListRef,
    Ref,
    Static,
    TupleOf,
    is_number,
    scalar_type,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import INT, Array, Opaque, Scalar, is_differentiable

NAMES = frozenset(
    {"axis", "axes", "axis1", "axis2", "axisa", "axisb", "axisc", "source", "destination"}
    | {"keepdims", "ddof", "correction"}
)
"""Parameters of NumPy's functions that are such arguments."""


def static_integer(lowering: Lowering, node: Any, item: FrontendValue) -> int:
    """The value of an integer that has to be known."""
    if isinstance(item, Static):
        try:
            return operator.index(item.value)
        except TypeError as error:
            lowering.raises(node, error)
    type_ = scalar_type(item)
    known_value = None if type_ is None else lowering.builder.facts.sampled(type_.value)
    if known_value is None:
        known_inputs.demand(lowering, item)
        _refuse_unknown(lowering, node)
    return known_value


def _refuse_unknown(lowering: Lowering, node: Any) -> NoReturn:
    lowering.unsupported(
        node,
        "this value must be known when the function is compiled",
        "write it as a literal, or take it from a variable outside of the function",
    )


def integer(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """What `operator.index` makes of a value, where Python asks for an integer."""
    item = outside.opened(lowering, resolved(lowering, item))
    found = protocols.call(lowering, node, item, "__index__")
    if found is not None:
        return found
    if isinstance(item, Static):
        try:
            return Static(operator.index(item.value))
        except TypeError as error:
            lowering.raises(node, error)
    value = lowering.load(item) if isinstance(item, Ref) else item
    type_ = value.type if isinstance(value, Value) else None
    if isinstance(type_, (Array, Scalar)) and not getattr(type_, "rank", 0) and _is_integer(type_):
        return (
            subscripts.read_item(lowering, node, item, TupleOf(()))
            if isinstance(item, Ref)
            else item
        )
    if isinstance(type_, Opaque):
        return unknown.emit(lowering, operator.index, (item,), {}, INT)
    return lowering.raises(node, TypeError("this value cannot be interpreted as an integer"))


def _is_integer(type_: Array | Scalar) -> bool:
    """Python's own flags are integers, NumPy's are not."""
    return type_.dtype.startswith(("int", "uint")) or (
        type_.dtype == "bool" and isinstance(type_, Scalar) and type_.weak
    )


def settled(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """The argument with the integers known that are in it, as Python's own."""
    if stands_for(item, np.generic):
        return Static(item.value.item())
    if isinstance(item, Value) and is_number(item):
        return Static(static_integer(lowering, node, item))
    is_data = isinstance(item, Ref) and is_differentiable(lowering.load(item).type)
    if is_data or isinstance(item, Iteration):
        _refuse_unknown(lowering, node)
    items = item.items if isinstance(item, TupleOf) else None
    if isinstance(item, ListRef):
        contents = lowering.contents[item.storage]
        items = contents if isinstance(contents, tuple) else None
        if isinstance(contents, Value):
            known_inputs.demand(lowering, contents)
    if items is None or all(_is_plain(below) for below in items):
        return item
    return TupleOf(tuple(settled(lowering, node, below) for below in items))


def _is_plain(item: FrontendValue) -> bool:
    return isinstance(item, Static) and not isinstance(item.value, np.generic)


def settle_arguments(
    lowering: Lowering,
    node: Any,
    signature: inspect.Signature,
    known: frozenset[str],
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of a function with this signature, those of these names known."""
    positional = [p for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = [parameter.name for parameter in positional] + [""] * len(arguments)
    return (
        tuple(
            settled(lowering, node, item) if name in known else item
            for name, item in zip(names, arguments, strict=False)
        ),
        {
            name: settled(lowering, node, item) if name in known else item
            for name, item in keywords.items()
        },
    )
