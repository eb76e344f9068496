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
from gradscribe.frontend.prelude import iteration_prelude
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    DictRef,
    InstanceRef,
    ListRef,
    PartialOf,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.primitives.registry import PRIMITIVES

_KNOWN = (Static, InstanceRef, Ref, TupleOf, ListRef, DictRef)
"""Values of which it is known whether they can be called."""


def _partial(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    function, *first = arguments
    is_known = isinstance(function, _KNOWN) or is_number(function)
    if is_known and lowering.call(node, Static(callable), (function,), {}) == Static(False):
        lowering.raises(node, TypeError("the first argument must be callable"))
    return PartialOf(function, tuple(first), keywords)


def _wraps(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return Static(iteration_prelude.same)


def _update_wrapper(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return arguments[0]


def _call_partial(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """A partial that is static, its arguments too."""
    callee, *rest = arguments
    partial: functools.partial[Any] = callee.value
    given = (*map(static_values.value_of, partial.args), *rest)
    named = {name: static_values.value_of(item) for name, item in partial.keywords.items()}
    return lowering.call(node, Static(partial.func), given, named | keywords)


def _operator(callee: Any) -> handlers.Handler:
    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        return lowering.operate(node, callee, *arguments)

    return handler


def _index(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    number = known_integers.integer(lowering, node, *arguments)
    return lowering.apply_primitive(node, PRIMITIVES[int], int, (number,), {})


def _power(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`pow`: the operator, but for powers of integers by a modulus."""
    named = {"base": 0, "exp": 1}
    if len(arguments) + len(keywords) == 2 and keywords.keys() <= named.keys():
        operands = (*arguments, *(keywords[name] for name in named if name in keywords))
        return lowering.operate(node, operator.pow, *operands)
    given = PRIMITIVES[pow], pow, arguments, keywords
    return lowering.apply_primitive(node, *given)


def _truth(wanted: bool) -> handlers.Handler:
    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        found = lowering.truth(arguments[0])
        if isinstance(found, bool):
            return Static(found is wanted)
        callee = bool if wanted else operator.not_
        return (
            lowering.call(node, Static(callee), (found,), {})
            if wanted
            else lowering.operate(node, callee, found)
        )

    return handler


def _bool(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    found = lowering.truth(arguments[0]) if arguments else False
    if isinstance(found, bool):
        return Static(found)
    return lowering.apply_primitive(node, PRIMITIVES[bool], bool, (found,), {})


def _getitem(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return read_item(lowering, node, *arguments)


def _setitem(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    store_item(lowering, node, *arguments)
    return Static(None)


def _contains(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    container, item = arguments
    return lowering.membership(node, True, item, container)


def _comparison(op: Any) -> handlers.Handler:
    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        return compare(lowering, node, op, *arguments)

    return handler


def _call_itemgetter(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    callee, owner = arguments
    _, keys = callee.value.__reduce__()
    items = tuple(read_item(lowering, node, owner, Static(key)) for key in keys)
    return items[0] if len(items) == 1 else TupleOf(items)


def _call_attrgetter(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    callee, owner = arguments
    _, names = callee.value.__reduce__()
    items = []
    for dotted in names:
        item = owner
        for name in dotted.split("."):
            item = lowering.attribute(node, item, name)
        items.append(item)
    return items[0] if len(items) == 1 else TupleOf(tuple(items))


def _call_methodcaller(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    callee, owner = arguments
    made, given = callee.value.__reduce__()
    named: dict[str, Any] = {}
    if isinstance(made, functools.partial):
        given, named = (*made.args, *given), made.keywords
    name, *rest = given
    method = lowering.attribute(node, owner, name)
    named = {key: static_values.value_of(item) for key, item in named.items()}
    return lowering.call(node, method, tuple(map(static_values.value_of, rest)), named)


_OPERATORS = {*BINARY.values(), *COMPARE.values(), *UNARY.values()} - {operator.not_}

handlers.FUNCTIONS.update({callee: _operator(callee) for callee in _OPERATORS})
handlers.FUNCTIONS.update(
    {
        bool: _bool,
        operator.index: _index,
        pow: _power,
        operator.not_: _truth(False),
        operator.truth: _truth(True),
        operator.getitem: _getitem,
        operator.setitem: _setitem,
        operator.contains: _contains,
        operator.is_: _comparison(gast.Is()),
        operator.is_not: _comparison(gast.IsNot()),
        functools.partial: _partial,
        functools.wraps: _wraps,
        functools.update_wrapper: _update_wrapper,
    }
)
handlers.OBJECTS.update(
    {
        functools.partial: _call_partial,
        operator.itemgetter: _call_itemgetter,
        operator.attrgetter: _call_attrgetter,
        operator.methodcaller: _call_methodcaller,
    }
)
