"""The return value of a function as a tree and its leaves."""

from __future__ import annotations

from collections import deque
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend import dependencies, outside
from gradscribe.frontend.data.standard_classes import class_in_python
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import (
    PLAIN_NUMBERS,
    DictRef,
    Either,
    InstanceRef,
    ListRef,
    Static,
    TupleOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.trees import LEAF, Constant, Node, Tree
from gradscribe.primitives.control import CONSTANT


def result_tree(lowering: Lowering, item: Any) -> tuple[Tree, list[Value]]:
    """The structure of a returned value; numbers are leaves even where they are known."""
    if isinstance(item, Either):
        raise UnsupportedError(
            "the function does not return one type of value: it differs from path to path",
            "return values of the same kind on every path",
            lowering.builder.location,
        )
    if is_constant(item):
        dependencies.identify(lowering, item.value)
        return Constant(item.value), []
    if isinstance(item, Static):
        return LEAF, [lowering.emit(CONSTANT, {"value": item.value})]
    if isinstance(item, TupleOf):
        keys = getattr(item.cls, "_fields", None)
        return _node(lowering, item.cls, item.items, keys)
    item = outside.opened(lowering, item)
    cls = class_in_python(item)
    if cls is not None:
        what = "dict whose keys are computed" if cls is dict else f"`{cls.__name__}`"
        raise UnsupportedError(
            f"a {what} cannot be returned",
            f"return its items: `list({'d' if cls is deque else 'd.values()'})`",
            lowering.builder.location,
        )
    if isinstance(item, InstanceRef) and item.cls in dependencies.LOCAL_CLASSES:
        raise UnsupportedError(
            f"an object of `{item.cls.__name__}`, a class that the function defines, is returned",
            "define the class outside",
            lowering.builder.location,
        )
    if isinstance(item, InstanceRef):
        cells = {name: cell for name, cell in item.cells.items() if cell in lowering.contents}
        items = tuple(lowering.contents[cell][name] for name, cell in cells.items())
        return _node(lowering, item.cls, items, tuple(cells))
    if isinstance(item, DictRef):
        contents = lowering.contents[item.storage]
        return _node(lowering, dict, tuple(contents.values()), tuple(contents))
    if isinstance(item, ListRef) and isinstance(lowering.contents[item.storage], tuple):
        return _node(lowering, list, lowering.contents[item.storage], None)
    return LEAF, [lowering.value(item)]


def is_constant(item: Any) -> bool:
    """Whether a returned value is part of the structure, not a leaf."""
    if not isinstance(item, Static):
        return False
    return isinstance(item.value, bool) or not isinstance(item.value, PLAIN_NUMBERS)


def _node(
    lowering: Lowering, cls: type, items: tuple[Any, ...], keys: tuple[Any, ...] | None
) -> tuple[Tree, list[Value]]:
    children, leaves = [], []
    for item in items:
        tree, below = result_tree(lowering, item)
        children.append(tree)
        leaves += below
    return Node(cls, tuple(children), keys), leaves
