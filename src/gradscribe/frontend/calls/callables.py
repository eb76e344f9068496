"""Functions as values: `partial`, decorators, `operator` and its getters."""

from __future__ import annotations

import functools
import operator
from typing import Any

import gast

from gradscribe.frontend.calls.operators import BINARY, COMPARE, UNARY, compare
from gradscribe.frontend.containers import known_integers
from gradscribe.frontend.containers.stores import store_item
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import iteration_prelude
from gradscribe.frontend.state.handlers import Handler, ObjectsOf, enter, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import protocols
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    PartialOf,
    Ref,
    Static,
    TupleOf,
    is_number,
    known_objects,
    scalar_type,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import BOOL, INT, is_integer
from gradscribe.primitives.control import RUN
from gradscribe.primitives.registry import PRIMITIVES

_KNOWN = (Static, InstanceRef, Ref, TupleOf, ListRef, DictRef)
"""Values of which it is known whether they can be called."""


@handles(functools.partial)
def _partial(
    lowering: Lowering,
    node: Any,
    function: FrontendValue,
    /,
    *first: FrontendValue,
    **named: FrontendValue,
) -> PartialOf:
    is_known = isinstance(function, _KNOWN) or is_number(function)
    is_range = isinstance(function, Range)
    if is_range or (
        is_known and lowering.call(node, Static(callable), (function,), {}) == Static(False)
    ):
        lowering.raises(node, TypeError("the first argument must be callable"))
    return PartialOf(function, first, named)


@handles(functools.wraps)
def _wraps(
    lowering: Lowering, node: Any, /, wrapped: FrontendValue, *rest: Any, **options: Any
) -> Static:
    return Static(iteration_prelude.same)


@handles(functools.update_wrapper)
def _update_wrapper(
    lowering: Lowering, node: Any, /, wrapper: FrontendValue, *rest: Any, **options: Any
) -> FrontendValue:
    return wrapper


@handles(ObjectsOf(functools.partial))
def _call_partial(
    lowering: Lowering, node: Any, callee: Static, /, *rest: FrontendValue, **named: FrontendValue
) -> FrontendValue:
    """A partial that is static, its arguments too."""
    partial: functools.partial[Any] = callee.value
    given = (*map(static_values.value_of, partial.args), *rest)
    first = {name: static_values.value_of(item) for name, item in partial.keywords.items()}
    return lowering.call(node, Static(partial.func), given, first | named)


def _operator(callee: Any) -> Handler:
    def handler(lowering: Lowering, node: Any, /, *operands: FrontendValue) -> FrontendValue:
        return lowering.operate(node, callee, *operands)

    return handler


@handles(operator.index)
def _index(lowering: Lowering, node: Any, a: FrontendValue, /) -> FrontendValue:
    """An integer of Python's is its own index."""
    number = known_integers.integer(lowering, node, a)
    type_ = scalar_type(number)
    if isinstance(number, Static) or (type_ and type_.weak and type_.dtype == INT.dtype):
        return number
    return lowering.apply_primitive(node, PRIMITIVES[int], int, (number,), {})


@handles(pow)
def _power(
    lowering: Lowering,
    node: Any,
    /,
    base: FrontendValue,
    exp: FrontendValue,
    mod: FrontendValue | None = None,
) -> FrontendValue:
    """The operator, but for powers of integers by a modulus."""
    if mod is None:
        return lowering.operate(node, operator.pow, base, exp)
    operands = base, exp, mod
    known = known_objects(operands)
    if known is not None:
        try:
            return Static(pow(*known))
        except Exception as error:  # of a class of numbers
            lowering.raises(node, error)
    if all(map(_is_integer, operands)):
        return unknown.emit(lowering, pow, operands, {}, INT, RUN)
    return lowering.apply_primitive(node, PRIMITIVES[pow], pow, (base, exp, mod), {})


def _is_integer(item: FrontendValue) -> bool:
    type_ = scalar_type(item)
    is_known = isinstance(item, Static) and isinstance(item.value, int)
    return is_known or (type_ is not None and type_.weak and (type_ == BOOL or is_integer(type_)))


@handles(operator.truth)
def _truth(lowering: Lowering, node: Any, a: FrontendValue, /) -> FrontendValue:
    found = lowering.truth(a)
    return Static(found) if isinstance(found, bool) else _as_bool(lowering, node, found)


@handles(operator.not_)
def _negation(lowering: Lowering, node: Any, a: FrontendValue, /) -> FrontendValue:
    return protocols.negated(lowering, node, a)


@handles(bool)
def _bool(lowering: Lowering, node: Any, object: FrontendValue = Static(False), /) -> FrontendValue:
    return _truth(lowering, node, object)


def _as_bool(lowering: Lowering, node: Any, found: Value) -> FrontendValue:
    return lowering.apply_primitive(node, PRIMITIVES[bool], bool, (found,), {})


@handles(operator.getitem)
def _getitem(
    lowering: Lowering, node: Any, owner: FrontendValue, index: FrontendValue, /
) -> FrontendValue:
    return read_item(lowering, node, owner, index)


@handles(operator.setitem)
def _setitem(
    lowering: Lowering,
    node: Any,
    owner: FrontendValue,
    index: FrontendValue,
    item: FrontendValue,
    /,
) -> Static:
    store_item(lowering, node, owner, index, item)
    return Static(None)


@handles(operator.contains)
def _contains(
    lowering: Lowering, node: Any, container: FrontendValue, item: FrontendValue, /
) -> FrontendValue:
    return lowering.membership(node, True, item, container)


@handles(operator.is_)
def _is(lowering: Lowering, node: Any, a: FrontendValue, b: FrontendValue, /) -> FrontendValue:
    return compare(lowering, node, gast.Is(), a, b)


@handles(operator.is_not)
def _is_not(lowering: Lowering, node: Any, a: FrontendValue, b: FrontendValue, /) -> FrontendValue:
    return compare(lowering, node, gast.IsNot(), a, b)


@handles(ObjectsOf(operator.itemgetter))
def _call_itemgetter(
    lowering: Lowering, node: Any, callee: Static, owner: FrontendValue, /
) -> FrontendValue:
    _, keys = callee.value.__reduce__()
    items = tuple(read_item(lowering, node, owner, Static(key)) for key in keys)
    return items[0] if len(items) == 1 else TupleOf(items)


@handles(ObjectsOf(operator.attrgetter))
def _call_attrgetter(
    lowering: Lowering, node: Any, callee: Static, owner: FrontendValue, /
) -> FrontendValue:
    _, names = callee.value.__reduce__()
    items = []
    for dotted in names:
        item = owner
        for name in dotted.split("."):
            item = lowering.attribute(node, item, name)
        items.append(item)
    return items[0] if len(items) == 1 else TupleOf(tuple(items))


@handles(ObjectsOf(operator.methodcaller))
def _call_methodcaller(
    lowering: Lowering, node: Any, callee: Static, owner: FrontendValue, /
) -> FrontendValue:
    made, given = callee.value.__reduce__()
    named: dict[str, Any] = {}
    if isinstance(made, functools.partial):
        given, named = (*made.args, *given), made.keywords
    name, *rest = given
    method = lowering.attribute(node, owner, name)
    items = {key: static_values.value_of(item) for key, item in named.items()}
    return lowering.call(node, method, tuple(map(static_values.value_of, rest)), items)


_OPERATORS = {*BINARY.values(), *COMPARE.values(), *UNARY.values()} - {operator.not_}
enter({callee: _operator(callee) for callee in _OPERATORS})
