"""Adjoints of tuples and lists: the cotangent of a list is a list of the same length."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from gradscribe.ir.core import (
    Operand,
    Operation,
    Primitive,
    SliceOf,
    Value,
    item_type,
    map_operands,
)
from gradscribe.ir.types import Scalar, Tuple
from gradscribe.primitives.control import APPEND, GET, ITEM, LEN, LIST, POP, SET, TUPLE, ZEROS_LIKE
from gradscribe.primitives.lists import DELETE, INSERT, JOIN, SECTION, SET_SECTION
from gradscribe.transforms.adjoint.projection import zero
from gradscribe.transforms.adjoint.scopes import Scope
from gradscribe.transforms.derivatives.cotangents import add, call, constant, item_of, name_of


def _tuple(scope: Scope, operation: Operation, d_out: Value) -> None:
    for position, operand in enumerate(operation.attributes["items"]):
        item = operation.operands[operand.index]
        arguments = {"x": d_out, "position": position}
        cotangent = partial(scope.builder.call, ITEM, arguments, name=name_of(item))
        contribute(scope, item, cotangent)


def _item(scope: Scope, operation: Operation, d_out: Value) -> None:
    x, position = operation.operands[0], operation.attributes["position"]
    if x not in scope.context.active:
        return
    assert isinstance(x.type, Tuple)
    zeros = zero(scope, x)
    items = [
        d_out if i == position else scope.builder.call(ITEM, {"x": zeros, "position": i})
        for i in range(len(x.type.items))
    ]
    scope.contribute(x, scope.builder.call(TUPLE, {"items": tuple(items)}))


def _list(scope: Scope, operation: Operation, d_out: Value) -> None:
    for position, operand in enumerate(operation.attributes["items"]):
        item = operation.operands[operand.index]
        contribute(scope, item, partial(_get, scope, d_out, position, item))


def _append(scope: Scope, operation: Operation, d_out: Value) -> None:
    value = _operand(operation, "value")
    contribute(scope, value, lambda: _get(scope, d_out, -1, value))
    x = _operand(operation, "x")
    contribute(scope, x, lambda: scope.builder.call(POP, {"x": d_out}, name=name_of(x)))


def _pop(scope: Scope, operation: Operation, d_out: Value) -> None:
    x = operation.operands[0]
    if x in scope.context.active:
        zeros = _zeros_of_item(scope, operation, -1)
        arguments = {"x": d_out, "value": zeros}
        scope.contribute(x, scope.builder.call(APPEND, arguments, name=name_of(x)))


def _get_item(scope: Scope, operation: Operation, d_out: Value) -> None:
    x = _operand(operation, "x")
    if x not in scope.context.active:
        return
    _add_to_item(scope, x, _static(scope, operation, "index"), d_out, operation.result)


def _add_to_item(scope: Scope, x: Value, index: Any, d_item: Value, item: Value) -> None:
    """Add to the cotangent of an item of the list x; where that is an item itself, in the list
    that it was taken from, if that has a cotangent already."""
    total, owner = scope.cotangent(x), _taken_from(scope, x)
    if total is None and owner is not None:
        lists, place = owner
        total = _get(scope, scope.cotangent(lists), place, x)  # type: ignore[arg-type]
    elif total is None:
        total = zero(scope, x)
    value = add(scope.builder, item_of(scope.builder, total, index, item), d_item, item)
    arguments = {"x": total, "index": index, "value": value}
    changed = scope.builder.call(SET, arguments, name=name_of(x))
    if scope.cotangent(x) is None and owner is not None:
        lists, place = owner
        arguments = {"x": scope.cotangent(lists), "index": place, "value": changed}
        scope.renew(lists, scope.builder.call(SET, arguments, name=name_of(lists)))
    else:
        scope.renew(x, changed)


def _taken_from(scope: Scope, x: Value) -> tuple[Value, Any] | None:
    """The list of lists that x was taken from in this block, and the index, if a cotangent can be
    added to straight away."""
    structure = scope.context.structure
    taken = structure.definition.get(x)
    if taken is None or taken.primitive is not GET or structure.block_of[taken] is not scope.block:
        return None
    owner = _operand(taken, "x")
    if scope.cotangents.get(owner) is None:
        return None
    return owner, _static(scope, taken, "index")


def _set(scope: Scope, operation: Operation, d_out: Value) -> None:
    x, value = _operand(operation, "x"), _operand(operation, "value")
    index = _static(scope, operation, "index")
    contribute(scope, value, lambda: _get(scope, d_out, index, value))
    if x in scope.context.active:
        arguments = {"x": d_out, "index": index, "value": _zeros_of_item(scope, operation, index)}
        scope.contribute(x, scope.builder.call(SET, arguments, name=name_of(x)))


def _insert(scope: Scope, operation: Operation, d_out: Value) -> None:
    x, value = _operand(operation, "x"), _operand(operation, "value")
    index = _static(scope, operation, "index")
    contribute(scope, value, lambda: _get(scope, d_out, index, value))
    arguments = {"x": d_out, "index": index}
    contribute(scope, x, lambda: scope.builder.call(DELETE, arguments, name=name_of(x)))


def _delete(scope: Scope, operation: Operation, d_out: Value) -> None:
    x = _operand(operation, "x")
    if x in scope.context.active:
        index = _static(scope, operation, "index")
        zeros = _zeros_of_item(scope, operation, index)
        arguments = {"x": d_out, "index": _from_start(scope, d_out, index), "value": zeros}
        scope.contribute(x, scope.builder.call(INSERT, arguments, name=name_of(x)))


def _from_start(scope: Scope, shorter: Value, index: Any) -> Any:
    """The index of a deleted item as `insert` counts, given the list without it: a negative index
    counts from the end of the list as it was, which had one item more."""
    builder = scope.builder
    if isinstance(index, int):
        return index if index >= 0 else index + 1
    assert isinstance(index.type, Scalar)
    if index.type.value is not None and builder.facts.is_nonnegative(index.type.value):
        return index
    if not index.type.weak and index.type.dtype != "int64":
        index = call(builder, int, index)  # the length may exceed what a small integer holds
    length = builder.call(LEN, {"x": shorter})
    longer = call(builder, operator.add, length, constant(builder, 1))
    return call(builder, operator.mod, index, longer)


def _join(scope: Scope, operation: Operation, d_out: Value) -> None:
    x, y = operation.operands
    if x in scope.context.active or y in scope.context.active:
        like = scope.primal(x)
        length = scope.builder.call(LEN, {"x": like})
        contribute(scope, x, lambda: _section(scope, d_out, SliceOf(None, length), x))
        contribute(scope, y, lambda: _section(scope, d_out, SliceOf(length, None), y))


def _section_of(scope: Scope, operation: Operation, d_out: Value) -> None:
    x = operation.operands[0]
    if x in scope.context.active:
        index = _static(scope, operation, "index")
        arguments = {"x": zero(scope, x), "index": index, "value": d_out}
        scope.contribute(x, scope.builder.call(SET_SECTION, arguments, name=name_of(x)))


def _set_section(scope: Scope, operation: Operation, d_out: Value) -> None:
    x, value = _operand(operation, "x"), _operand(operation, "value")
    index = _static(scope, operation, "index")
    contribute(scope, value, lambda: _section(scope, d_out, index, value))
    if x in scope.context.active:
        arguments = {"x": d_out, "index": index, "value": _zeros_of_section(scope, x, index, value)}
        scope.contribute(x, scope.builder.call(SET_SECTION, arguments, name=name_of(x)))


def _static(scope: Scope, operation: Operation, name: str) -> Any:
    """An argument of an operation, with its values as they are available in the scope."""
    return map_operands(
        operation.attributes[name],
        lambda operand: scope.primal(operation.operands[operand.index]),
    )


def _operand(operation: Operation, name: str) -> Value:
    operand: Operand = operation.attributes[name]
    return operation.operands[operand.index]


def _get(scope: Scope, x: Value, index: Any, value: Value) -> Value:
    """An item of a list of cotangents, by the name of the one that it is the cotangent of."""
    item = item_of(scope.builder, x, index, value)
    return scope.builder.rename(item, name_of(value))


def _section(scope: Scope, x: Value, index: SliceOf, value: Value) -> Value:
    return scope.builder.call(SECTION, {"x": x, "index": index}, name=name_of(value))


def _zeros_of_item(scope: Scope, operation: Operation, index: Any) -> Value:
    """Zeros like the item that an operation takes out of a list."""
    x = operation.operands[0]
    if isinstance(item_type(x), Scalar):
        return constant(scope.builder, 0.0)
    reads = (o for o in scope.block.operations if o.primitive is GET and o.operands[0] is x)
    for read in reads:
        if _static(scope, read, "index") == index:
            return zero(scope, read.result)
    item = scope.builder.call(GET, {"x": scope.primal(x), "index": index})
    return scope.builder.call(ZEROS_LIKE, {"x": item})


def _zeros_of_section(scope: Scope, x: Value, index: SliceOf, value: Value) -> Value:
    """Zeros of the lengths of the items that were in a slice: as many as there are now."""
    if isinstance(item_type(x), Scalar):
        return zero(scope, value)
    items = scope.builder.call(SECTION, {"x": scope.primal(x), "index": index})
    return scope.builder.call(ZEROS_LIKE, {"x": items})


def contribute(scope: Scope, value: Value, cotangent: Callable[[], Value]) -> None:
    """Add to the cotangent of a value, if that is wanted."""
    if value in scope.context.active:
        scope.contribute(value, cotangent())


ADJOINTS: dict[Primitive, Callable[[Scope, Operation, Value], None]] = {
    TUPLE: _tuple,
    ITEM: _item,
    LIST: _list,
    APPEND: _append,
    POP: _pop,
    GET: _get_item,
    SET: _set,
    INSERT: _insert,
    DELETE: _delete,
    JOIN: _join,
    SECTION: _section_of,
    SET_SECTION: _set_section,
}
