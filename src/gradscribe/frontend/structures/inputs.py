"""The inputs of a compiled function as frontend values: its arguments, and implicit ones.

An implicit input is an array, a number or an object outside the function that is read anew at each
call; it becomes a parameter after those of the user.
"""

from __future__ import annotations

import collections
import functools
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.frontend.interface import AccessPath, Argument, Capture, Dependency, RunTimeObject
from gradscribe.frontend.memory import outside, outside_state, remembered
from gradscribe.frontend.memory.outside_kinds import BY_VALUE, CALLABLES, RESOLVED, is_transformed
from gradscribe.frontend.state import known_inputs
from gradscribe.frontend.state.dependencies import depend, resolve
from gradscribe.frontend.state.interruptions import ReadsOutsideError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.values.values import (
    ALL,
    PLAIN_NUMBERS,
    BoundMethod,
    DictRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Parameter, Value
from gradscribe.ir.generators import RandomGenerator
from gradscribe.ir.trees import Constant, Leaf, Node, Tree
from gradscribe.ir.types import Opaque


def captured_variable(lowering: Lowering, value: Any, path: AccessPath, name: str) -> FrontendValue:
    """The implicit input for a variable from outside."""
    found = _captured(lowering, value, path, name)
    remembered.note(lowering, found, path)
    return found


def _captured(lowering: Lowering, value: Any, path: AccessPath, name: str) -> FrontendValue:
    key = path.place
    if isinstance(value, (list, dict, collections.deque)):
        if id(value) in lowering.outside.grown:
            outside.refuse_changed(lowering, name)
        lowering.outside.read.add(id(value))
        lowering.outside.meet(ObjectRef(value, path, name))
    if key not in lowering.outside.captured:
        if lowering.nesting.enclosed is not None:
            return lowering.nesting.enclosed.take(key, value, path, name)
        known = _found_before(lowering, value, path)
        if known is not None:
            return known
        if lowering.capture is None:
            if isinstance(value, PLAIN_NUMBERS):
                depend(lowering, path, value, "equality" if value == value else "identity")
            elif not lowering.frame.is_of_package:
                raise ReadsOutsideError(
                    f"it reads `{name}` from outside", "pass that to it as an argument"
                )
            return Static(value)
        taken = {capture.name for capture, _ in lowering.outside.captures}
        taken.update(lowering.parameters)
        numbered = (f"{name}_{number}" for number in itertools.count(1))
        name = next(n for n in itertools.chain([name], numbered) if n not in taken)
        argument = lowering.capture(name, value)
        lowering.has_tensors = lowering.has_tensors or argument.has_tensor
        before = set(lowering.contents)
        parameter, found = bind(lowering, argument)
        new = [storage for storage in lowering.contents if storage not in before]
        entered = {storage: lowering.contents[storage] for storage in new}
        lowering.outside.entered.update(entered)
        outside_state.link(lowering, new)
        lowering.outside.originals.update(
            (storage, value) for storage, value in entered.items() if value in parameter.leaves
        )
        lowering.outside.captures.append((Capture(argument.name, path), parameter))
        lowering.outside.captured[key] = found
        if not argument.has_tensor:
            lowering.outside.constants.update(parameter.leaves)
        if not isinstance(value, RunTimeObject):
            lowering.outside.found[id(value)] = value
        if isinstance(found, (Ref, ListRef, DictRef)):
            lowering.outside.memory[found.storage] = value
        known_inputs.enter_number(lowering, found, value, path)
    found = lowering.outside.captured[key]
    is_object = isinstance(found, Value) and isinstance(found.type, Opaque)
    if is_object is not isinstance(value, (RunTimeObject, RandomGenerator)):
        outside.refuse_changed(lowering, name)
    return found


def _found_before(
    lowering: Lowering, value: Any, path: AccessPath
) -> Ref | ListRef | DictRef | None:
    """What an array, list or dict is inside that was found at another place before; that it is the
    same there is a condition of each call. None of others."""
    outside = lowering.outside
    if id(value) not in outside.found or not isinstance(value, _SHARED):
        return None
    for capture, _ in outside.captures:
        found = outside.captured[capture.path.place]
        if isinstance(found, _REFERENCES) and outside.memory.get(found.storage) is value:
            key = ("same", capture.path.place, path.place)
            outside.dependencies[key] = Dependency(path, capture.path, "same")
            outside.captured[path.place] = found
            return found
    return None


_SHARED = (np.ndarray, list, dict, collections.deque)
_REFERENCES = (Ref, ListRef, DictRef)


def captured_object(lowering: Lowering, item: ObjectRef) -> Any:
    """The run-time value of an object, as an implicit input that is known by its class only."""
    if any(key[0] == id(item.target) for key in lowering.outside.fields):
        outside.refuse_changed(lowering, item.name or type(item.target).__name__)
    depend(lowering, item.path, type(item.target), "class")
    lowering.outside.show(item.target, item.name, item.path)
    name = outside.name_along(lowering, item.path) or type(item.target).__name__.lower()
    if isinstance(item.path.root, int) and not item.path.steps:
        name += "_"
    found = captured_variable(lowering, RunTimeObject(item.target), item.path, name)
    only_grown = lowering.outside.only_grown
    only_grown[found] = item.grown and only_grown.get(found, True)
    return found.value.target if isinstance(found, Static) else found


_OUTSIDE = -1
"""Stands for the number of an argument where a value is none."""


def bind(
    lowering: Lowering, argument: Argument, names: Any = None, position: int = _OUTSIDE
) -> tuple[Parameter, FrontendValue]:
    """The IR parameter for an argument, and the frontend value that it is inside.

    names: the names that the function's own unpacking gives to the leaves, as a nested tuple.
    """
    leaves: list[Value] = []
    types_ = iter(argument.types)

    def build(tree: Tree, name: str, given: Any, path: AccessPath) -> FrontendValue:
        if isinstance(tree, Constant):
            return _constant(lowering, tree.value, path, name)
        if isinstance(tree, Leaf):
            value = lowering.builder.named(next(types_), given if isinstance(given, str) else name)
            if len(leaves) in argument.contiguous:
                lowering.layouts.contiguous.add(value)
            if len(leaves) in argument.otherwise:
                lowering.layouts.otherwise.add(value)
            if len(leaves) < len(argument.values):
                lowering.inputs[value] = argument.values[len(leaves)]
            leaves.append(value)
            lowering.outside.leaves.add(value)
            known_inputs.enter(lowering, value)
            found = lowering.wrap(value)
            if isinstance(found, ListRef):
                found.storage.levels = ALL  # which is checked at each call, where it matters
                found.storage.derived = tree.derived
            return found
        return _structure(lowering, tree, name, given, path, build)

    found = build(argument.tree, argument.name, names, AccessPath(position))
    if argument.has_tensor:
        lowering.of_tensors.update(leaves)
    return Parameter(argument.name, argument.tree, tuple(leaves)), found


def _constant(lowering: Lowering, value: Any, path: AccessPath, name: str) -> FrontendValue:
    """The frontend value of an argument that is no run-time value: static if the key of the
    specialization holds the value itself, otherwise an object whose attributes are read."""
    if isinstance(value, types.MethodType):
        owner = value.__self__
        is_class = isinstance(owner, type)  # which the key holds
        receiver = Static(owner) if is_class else ObjectRef(owner, path.attribute("__self__"))
        return BoundMethod(receiver, value.__func__.__name__, value.__func__)
    if type(value) is functools.partial:
        return outside.partial_of(lowering, value, path, name)
    is_argument = isinstance(path.root, int) and path.root >= 0
    if is_argument and (isinstance(value, types.FunctionType) or is_transformed(value)):
        resolve(lowering, path, value)
    by_value = (*RESOLVED, *CALLABLES, *BY_VALUE)
    if value is None or value is Ellipsis or isinstance(value, by_value):
        return Static(value)
    is_static = is_transformed(value) or type(value) in outside.CONSTANTS
    return Static(value) if is_static else ObjectRef(value, path)


def _structure(
    lowering: Lowering,
    tree: Node,
    name: str,
    given: Any,
    path: AccessPath,
    build: Callable[[Tree, str, Any, AccessPath], FrontendValue],
) -> FrontendValue:
    outside.refuse_nan(lowering, name, tree.keys or ())
    step = path.attribute if tree.keys is not None and tree.cls is not dict else path.item
    keys = tree.keys if tree.keys is not None else range(len(tree.children))
    matched = given if isinstance(given, tuple) and len(given) == len(tree.children) else None
    items = [
        build(
            child,
            f"{name}_{key}" if f"{name}_{key}".isidentifier() else name,
            below,
            step(key),
        )
        for child, key, below in zip(
            tree.children, keys, matched or [None] * len(tree.children), strict=True
        )
    ]
    if tree.cls is list:
        storage = Storage(name, levels=ALL, derived=tree.derived)
        lowering.contents[storage] = tuple(items)
        return ListRef(storage)
    if tree.cls is dict:
        storage = Storage(name, derived=tree.derived)
        lowering.contents[storage] = dict(zip(tree.keys or (), items, strict=True))
        return DictRef(storage)
    if not issubclass(tree.cls, tuple):
        fields = dict(zip(tree.keys or (), items, strict=True))
        owner = instances.new_instance(lowering, tree.cls, fields)
        if path.root != _OUTSIDE:
            lowering.outside.objects[owner.storage] = path
        lowering.outside.beside[owner.storage] = frozenset(tree.beside)
        return owner
    return TupleOf(tuple(items), tree.cls, derived=tree.derived)
