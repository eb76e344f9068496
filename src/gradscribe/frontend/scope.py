"""Names: locals, enclosing functions, captured variables, globals and built-ins.

What is found outside the function is either resolved now, and then a `Dependency` of the
specialization (functions, modules, flags), or an implicit input, read anew at each call
(arrays, numbers, and the attributes of objects that hold them).
"""

from __future__ import annotations

import builtins
import enum
import types
from typing import Any

import numpy as np

from gradscribe.frontend import recursion
from gradscribe.frontend.interface import Argument, Capture, Dependency, Path
from gradscribe.frontend.lowering import PLAIN_NUMBERS, Frame, Lowering
from gradscribe.frontend.values import (
    BoundMethod,
    DictRef,
    ListRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.core import Parameter, Value
from gradscribe.ir.trees import Constant, Leaf, Node, Tree, flatten

_RESOLVED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    np.ufunc,
    type(np.sum),
    type,
)
_BY_VALUE = (bool, str, bytes, slice, range, enum.Enum, np.dtype)


def lookup(lowering: Lowering, node: Any, name: str) -> Any:
    """The frontend value of a name that is read."""
    frame: Frame | None = lowering.frame
    while frame is not None:
        if name in frame.names:
            found = frame.names[name]
            if isinstance(found, Unbound):
                lowering.unsupported(node, found.reason, "give the name a value on every path")
            return found
        if name in frame.source.local_names:
            lowering.unsupported(
                node,
                f"`{name}` is read before it has a value",
                "assign it first (before the loop, if a loop assigns it)",
            )
        if frame.outer is None:
            break
        frame = frame.outer
    assert frame is not None
    return _outside(lowering, node, frame.function, name)


def _outside(lowering: Lowering, node: Any, function: types.FunctionType, name: str) -> Any:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    if name in cells:
        try:
            value = cells[name].cell_contents
        except ValueError:
            lowering.unsupported(node, f"`{name}` has no value yet", "call the function later")
        return external(lowering, value, Path(cells[name], (("attribute", "cell_contents"),)), name)
    if name in function.__globals__:
        value = function.__globals__[name]
        return external(lowering, value, Path(function.__globals__, (("item", name),)), name)
    if hasattr(builtins, name):
        return Static(getattr(builtins, name))
    return lowering.unsupported(node, f"the name `{name}` is not defined", "define it")


def external(lowering: Lowering, value: Any, path: Path, name: str) -> Any:
    """The frontend value of an object found at a path outside the function."""
    if isinstance(value, _RESOLVED) or _is_transformed(value):
        _depend(lowering, path, value, "identity")
        return Static(value)
    if value is None or isinstance(value, (str, bytes, bool, np.dtype)) or value is Ellipsis:
        _depend(lowering, path, value, "equality")
        return Static(value)
    if _is_input(value):
        return captured_variable(lowering, value, path, name)
    if callable(value) and not hasattr(value, "__dict__"):
        _depend(lowering, path, value, "identity")
        return Static(value)
    _depend(lowering, path, type(value), "class")
    return ObjectRef(value, path)


def attribute_of_object(lowering: Lowering, node: Any, owner: ObjectRef, name: str) -> Any:
    """`owner.name`: an implicit input, a method, a property or a static object."""
    kind = getattr(type(owner.target), name, None)
    if isinstance(kind, (types.FunctionType, property, classmethod)):
        return kind
    if not hasattr(owner.target, name):
        lowering.unsupported(node, f"`{type(owner.target).__name__}` has no attribute `{name}`")
    path = Path(owner.path.root, (*owner.path.steps, ("attribute", name)))
    prefix = [str(step) for _, step in owner.path.steps if step != "cell_contents"]
    root = (
        [(*lowering.below, *lowering.frames)[0].source.parameters[owner.path.root]]
        if isinstance(owner.path.root, int)
        else []
    )
    full_name = "_".join([*root, *prefix, name])
    return external(lowering, getattr(owner.target, name), path, full_name)


def item_of_object(lowering: Lowering, node: Any, owner: ObjectRef, key: Any) -> Any:
    """`owner[key]` of a container that is read at each call (`CONFIG["rate"]`)."""
    try:
        value = owner.target[key]
    except (TypeError, LookupError) as error:
        lowering.unsupported(node, f"this item cannot be read: {error}", "pass it as an argument")
    path = Path(owner.path.root, (*owner.path.steps, ("item", key)))
    steps = [str(step) for _, step in path.steps if step != "cell_contents"]
    return external(lowering, value, path, "_".join(filter(str.isidentifier, steps)) or "item")


def _is_input(value: Any) -> bool:
    """Whether a value is made of numbers and arrays, and at least one of them."""
    _, leaves = flatten(value)
    return bool(leaves) and all(
        isinstance(leaf, (*PLAIN_NUMBERS, np.ndarray)) or hasattr(leaf, "requires_grad")
        for leaf in leaves
    )


def captured_variable(lowering: Lowering, value: Any, path: Path, name: str) -> Any:
    """The implicit input for a variable from outside."""
    key = (id(path.root) if not isinstance(path.root, int) else path.root, path.steps)
    if key not in lowering.captured:
        if lowering.definition is not None:
            recursion.captured(lowering.definition, key, value, path, name)
        if lowering.capture is None:
            return Static(value)
        argument = lowering.capture(name, value)
        known = set(lowering.contents)
        parameter, found = bind(lowering, argument)
        new = [storage for storage in lowering.contents if storage not in known]
        lowering.entered.update({storage: lowering.contents[storage] for storage in new})
        lowering.captures.append((Capture(argument.name, path), parameter))
        lowering.captured[key] = found
    return lowering.captured[key]


def _depend(lowering: Lowering, path: Path, value: Any, kind: Any) -> None:
    key = (id(path.root) if not isinstance(path.root, int) else path.root, path.steps)
    lowering.dependencies[key] = Dependency(path, value, kind)


def bind(
    lowering: Lowering, argument: Argument, names: Any = None, position: int = -1
) -> tuple[Parameter, Any]:
    """The IR parameter for an argument, and the frontend value that it is inside.

    names: the names that the function's own unpacking gives to the leaves, as a nested tuple.
    """
    leaves: list[Value] = []
    types_ = iter(argument.types)

    def build(tree: Tree, name: str, given: Any, path: Path) -> Any:
        if isinstance(tree, Constant):
            return _constant(tree.value, path)
        if isinstance(tree, Leaf):
            value = lowering.builder.named(next(types_), given if isinstance(given, str) else name)
            leaves.append(value)
            return lowering.wrap(value)
        return _structure(lowering, tree, name, given, path, build)

    found = build(argument.tree, argument.name, names, Path(position))
    return Parameter(argument.name, argument.tree, tuple(leaves)), found


def _constant(value: Any, path: Path) -> Any:
    """The frontend value of an argument that is no run-time value: static if the key of the
    specialization holds the value itself, otherwise an object whose attributes are read."""
    if isinstance(value, types.MethodType):
        receiver = ObjectRef(value.__self__, _below(path, "attribute", "__self__"))
        return BoundMethod(receiver, value.__func__.__name__)
    if value is None or value is Ellipsis or isinstance(value, (*_RESOLVED, *_BY_VALUE)):
        return Static(value)
    return Static(value) if _is_transformed(value) else ObjectRef(value, path)


def _is_transformed(value: Any) -> bool:
    """Whether this is a function that gradscribe has wrapped: decorated, or a gradient."""
    is_wrapped = hasattr(value, "__gradscribe_function__")
    return is_wrapped or hasattr(value, "__gradscribe_transform__")


def _below(path: Path, kind: Any, step: Any) -> Path:
    return Path(path.root, (*path.steps, (kind, step)))


def _structure(
    lowering: Lowering, tree: Node, name: str, given: Any, path: Path, build: Any
) -> Any:
    kind = "attribute" if tree.keys is not None and tree.cls is not dict else "item"
    keys = tree.keys if tree.keys is not None else range(len(tree.children))
    matched = given if isinstance(given, tuple) and len(given) == len(tree.children) else None
    items = [
        build(
            child,
            f"{name}_{key}" if str(key).isidentifier() or isinstance(key, int) else name,
            below,
            _below(path, kind, key),
        )
        for child, key, below in zip(
            tree.children, keys, matched or [None] * len(tree.children), strict=True
        )
    ]
    if tree.cls is list:
        storage = Storage(name)
        lowering.contents[storage] = tuple(items)
        return ListRef(storage)
    if tree.cls is dict:
        storage = Storage(name)
        lowering.contents[storage] = dict(zip(tree.keys or (), items, strict=True))
        return DictRef(storage)
    return TupleOf(tuple(items), tree.cls)
