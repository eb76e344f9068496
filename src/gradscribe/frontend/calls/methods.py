"""Calls of methods that no Python function of the user defines.

Those of arrays and numbers are primitives, compositions of such, or changes of an array; those of
lists, dicts and namedtuples have handlers in tables.
"""

from __future__ import annotations

import collections
import inspect
import operator
from typing import Any

import numpy as np

from gradscribe.frontend.calls import application, fitting, randomness, single_items
from gradscribe.frontend.containers import dicts, out_arguments, run_time_sets, subscripts
from gradscribe.frontend.kinds import tensors, varying
from gradscribe.frontend.kinds.static_values import object_of
from gradscribe.frontend.memory import at_once, iterators, outside
from gradscribe.frontend.objects import construction
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude.array_changes import METHODS as CHANGES
from gradscribe.frontend.state.handlers import handler_of
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, instances
from gradscribe.frontend.structures.indices import nonzero
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Method, Value
from gradscribe.ir.generators import RandomGenerator
from gradscribe.ir.probing import in_class
from gradscribe.primitives.registry import COMPOSITIONS, METHODS, PRIMITIVES

_KEEPING = frozenset({"append", "insert", "setdefault"})
"""Methods of lists and dicts that keep an iterator, and do not take its items."""


def call_method(
    lowering: Lowering,
    node: Any,
    method: BoundMethod,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """`receiver.name(...)`."""
    with at_once.taking(lowering, node):
        return _called(lowering, node, method, arguments, keywords)


def _called(
    lowering: Lowering,
    node: Any,
    method: BoundMethod,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    receiver, name = outside.opened(lowering, method.receiver), method.name
    names = (*arguments, *keywords)
    if method.function is None:
        own = class_attributes.of_derived(lowering, receiver, name)
        if own is not None:
            return lowering.call(node, own, arguments, keywords)
    if name not in _KEEPING:
        arguments = iterators.taken_into(lowering, node, receiver, arguments)
    if isinstance(receiver, ObjectRef) and receiver.grown and lowering.has_tensors:
        _refuse_tensors(lowering, node, receiver, (*arguments, *keywords.values()))
    if isinstance(receiver, ObjectRef) and name not in ("__init__", "__setattr__"):
        if method.function not in (None, in_class(type(receiver.target), name)):
            given = (receiver, *arguments)  # of a base class
            return unknown.call(lowering, node, method.function, given, keywords)
        return unknown.method(lowering, node, receiver, name, arguments, keywords)
    if instances.is_object(receiver):
        return construction.call_builtin_method(lowering, node, receiver, name, arguments)
    if unknown.is_opaque(receiver):
        return _of_opaque(lowering, node, receiver, name, arguments, keywords)
    if tensors.spelling_of(lowering, receiver) == "either" and not tensors.agrees(
        name, names, tensors.class_of(lowering).cls
    ):
        return lowering.unsupported(
            node,
            f"the method `{name}` of what is an array on one path and a Tensor on the other",
            "use the function of that name (`np.…`), which means the same for both",
        )
    for kind in (_of_namedtuple, _of_tensor, _of_array, _of_container):
        found = kind(lowering, node, receiver, name, arguments, keywords)
        if found is not None:
            return found
    return lowering.unsupported(
        node,
        f"the method `{name}` is not supported on this value",
        "write it with operators and NumPy functions, or call it outside and pass the result in",
    )


def _refuse_tensors(
    lowering: Lowering, node: Any, owner: ObjectRef, given: tuple[FrontendValue, ...]
) -> None:
    """Refuse to add a Tensor to a container from outside that takes what the running program has:
    an array."""
    if any(isinstance(item, Ref) or varying.may_vary(lowering, item) for item in given):
        cls = type(owner.target).__name__
        lowering.unsupported(
            node,
            f"a Tensor is added to a `{cls}` from outside",
            "collect Tensors in a list, or add numbers: `x.item()`",
        )


def _of_opaque(
    lowering: Lowering,
    node: Any,
    receiver: Value,
    name: str,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """A method of an object of the running program: a random generator, a set, any other."""
    cls = getattr(receiver.type, "cls", None)
    if cls is not None and issubclass(cls, RandomGenerator):
        callee, given = Method(name), (receiver, *arguments)
        return randomness.draw(lowering, node, cls, callee, given, keywords)
    if run_time_sets.is_set(receiver):
        found = run_time_sets.method(lowering, node, receiver, name, arguments)
        if found is not None:
            return found
    return unknown.method(lowering, node, receiver, name, arguments, keywords)


def _of_namedtuple(
    lowering: Lowering, node: Any, receiver: FrontendValue, name: str, arguments: Any, keywords: Any
) -> FrontendValue | None:
    """A method that makes another namedtuple, or one of the class; None if there is none."""
    if not isinstance(receiver, TupleOf):
        return None
    handler = handler_of(Method(name))
    if handler is not None:
        return handler(lowering, node, receiver, *arguments, **keywords)
    function = in_class(receiver.cls, name, None)
    if not inspect.isfunction(function):
        return None
    return lowering.call(node, Static(function), (receiver, *arguments), keywords)


def _of_tensor(
    lowering: Lowering, node: Any, receiver: FrontendValue, name: str, arguments: Any, keywords: Any
) -> FrontendValue | None:
    """A method that Tensors have as a Python function; None if it is not one."""
    function = tensors.attribute_of(lowering, receiver, name)
    if inspect.isfunction(function):
        if name in CHANGES and node is lowering.statement.discarded:
            what = f"`{name}` changes an array, but gives another Tensor, which is not used here"
            lowering.unsupported(node, what, f"store the result: `x[...] = np.{name}(x)`")
        return lowering.call(node, Static(function), (receiver, *arguments), keywords)
    return None


def _of_array(
    lowering: Lowering, node: Any, receiver: FrontendValue, name: str, arguments: Any, keywords: Any
) -> FrontendValue | None:
    """A method of an array or number that is an operation; None if it is not one."""
    if not (isinstance(receiver, (Ref, Value)) or is_number(receiver)):
        return None
    given = (receiver, *arguments)
    if (
        is_number(receiver)
        and name in _OF_NUMBERS
        and not tensors.attribute_of(lowering, receiver, name)
    ):
        return lowering.call(node, Static(_OF_NUMBERS[name]), given, keywords)
    if name == "detach":
        return subscripts.cut(lowering, receiver)
    if name == "item" or (name == "tolist" and is_number(receiver)):
        return single_items.item(lowering, node, receiver, arguments)
    if name in CHANGES and isinstance(receiver, Ref):
        return out_arguments.change(lowering, node, CHANGES[name], given, keywords)
    if name == "nonzero" and isinstance(receiver, Ref):
        return nonzero(lowering, node, np.nonzero, receiver)
    if name == "astype" and "copy" in keywords:
        return _converted(lowering, node, receiver, arguments, keywords)
    if name in METHODS:
        return application.apply_method(lowering, node, receiver, name, arguments, keywords)
    if name in COMPOSITIONS:
        return lowering.inline(node, COMPOSITIONS[name], given, keywords)
    return None


def _of_container(
    lowering: Lowering, node: Any, receiver: FrontendValue, name: str, arguments: Any, keywords: Any
) -> FrontendValue | None:
    """A method of a list, dict or tuple, or of a number as an object; None if there is none."""
    method = getattr(_CLASSES.get(type(receiver)), name, None)
    if method is None and dicts.is_ordered(receiver):
        method = getattr(collections.OrderedDict, name, None)
    if isinstance(receiver, (Ref, ListRef, DictRef, TupleOf)):
        method = _OF_CONTAINERS.get(name, method)
    handler = handler_of(method)
    if name == "popitem" and (arguments or keywords):
        return None  # of an `OrderedDict`
    if handler is not None:
        given = (receiver, *arguments)
        fitting.check(lowering, node, method, handler, given, keywords)
        return handler(lowering, node, *given, **keywords)
    if is_number(receiver):
        return unknown.method_of_number(lowering, receiver, name, arguments)
    return None


def _converted(
    lowering: Lowering,
    node: Any,
    receiver: FrontendValue,
    arguments: Any,
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """`x.astype(dtype, copy=…)`: without a copy, what `np.asarray(x, dtype)` gives."""
    rest = {name: item for name, item in keywords.items() if name != "copy"}
    if object_of(lowering, node, keywords["copy"]):
        return application.apply_method(lowering, node, receiver, "astype", arguments, rest)
    if rest.get("order") in (Static("A"), Static("a")):  # in C order where it lies in neither
        lowering.unsupported(
            node,
            "`astype` with `order='A'` and without a copy, which depends on how the array lies",
            "name the order, or leave `order` out",
        )
    given = (receiver, *arguments)
    return lowering.apply_primitive(node, PRIMITIVES[np.asarray], np.asarray, given, rest)


_CLASSES: dict[type, type] = {ListRef: list, DictRef: dict}

_OF_NUMBERS: dict[str, Any] = {
    "__abs__": operator.abs,
    "__array__": np.array,
    "__neg__": operator.neg,
    "__pos__": operator.pos,
}
"""Special methods of numbers that give an array, or another number."""

_OF_CONTAINERS: dict[str, Any] = {"__getitem__": operator.getitem, "__len__": len}
"""Special methods of arrays, lists, tuples and dicts that programs hand over as functions."""
