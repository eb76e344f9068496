"""The return value of a function as a tree and its leaves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.kinds.trees import Parts, parts_of
from gradscribe.frontend.memory import outside, reach
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.flow import may_be_undefined
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.standard_classes import class_in_python
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    DictRef,
    Either,
    FlatRef,
    FrontendValue,
    InstanceRef,
    PartialOf,
    Static,
    Storage,
    Unbound,
    ViewOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.trees import LEAF, Constant, Node, Tree
from gradscribe.primitives.control import CONSTANT

Made = Mapping[Storage, Value | None]
"""The lists, dicts and objects that are there in the running program; None: as they were given."""

_NOTHING: Made = {}


def result_tree(
    lowering: Lowering,
    item: FrontendValue,
    made: Made = _NOTHING,
    around: frozenset[Storage] = frozenset(),
) -> tuple[Tree, list[Value]]:
    """The structure of a returned value; numbers are leaves even where they are known. around: the
    lists, dicts and objects that hold it."""
    if isinstance(item, Either):
        raise UnsupportedError(
            "the function does not return one type of value: it differs from path to path",
            "return values of the same kind on every path",
            lowering.builder.location,
        )
    if is_constant(item):
        if isinstance(item.value, type) and item.value in dependencies.LOCAL_CLASSES:
            raise UnsupportedError(
                f"`{item.value.__name__}`, a class that the function defines, is returned, or "
                "stored outside",
                "define the class outside",
                lowering.builder.location,
            )
        dependencies.identify(lowering, item.value)
        return Constant(item.value), []
    if isinstance(item, Static):
        return LEAF, [lowering.emit(CONSTANT, {"value": item.value})]
    item = outside.opened(lowering, item)
    what = _not_returned(item)
    if what:
        raise UnsupportedError(
            f"a {what} cannot be returned",
            "return a list of its items, as `list(d.values())`",
            lowering.builder.location,
        )
    storage: Storage | None = getattr(item, "storage", None)
    if storage is not None and storage in made:
        value = made[storage]
        given = Node(list, (), number=storage.serial)
        return (given, []) if value is None else (LEAF, [value])
    parts = parts_of(item, lowering.contents)
    if parts is None or isinstance(item, PartialOf):
        return LEAF, [lowering.value(item)]
    if isinstance(item, InstanceRef) and item.cls in dependencies.LOCAL_CLASSES:
        raise UnsupportedError(
            f"an object of `{item.cls.__name__}`, a class that the function defines, is returned",
            "define the class outside",
            lowering.builder.location,
        )
    if storage in lowering.changes.reordered:
        raise UnsupportedError(
            "an object whose attributes are stored in another order on some paths is returned, or "
            "stored outside",
            "store them in one order, and another value instead of deleting one",
            lowering.builder.location,
        )
    if storage in around:
        raise UnsupportedError(
            "an object, list or dict that contains itself is returned, or stored outside",
            "return its parts",
            lowering.builder.location,
        )
    held = around if storage is None else around | {storage}
    tree, leaves = _node(lowering, parts, made, held)
    return (tree, leaves) if storage is None else (replace(tree, number=storage.serial), leaves)


def _not_returned(item: FrontendValue) -> str:
    """What an item is, if it is an object that the function cannot return; else nothing."""
    if isinstance(item, ViewOf):
        return f"`dict_{item.kind}`"
    cls = np.flatiter if isinstance(item, FlatRef) else class_in_python(item)
    if cls is None:
        return ""
    return "dict whose keys are computed" if cls is dict else f"`{cls.__name__}`"


def is_constant(item: FrontendValue) -> TypeGuard[Static]:
    """Whether a returned value is part of the structure, not a leaf."""
    if not isinstance(item, Static):
        return False
    return isinstance(item.value, bool) or not isinstance(item.value, PLAIN_NUMBERS)


def _node(
    lowering: Lowering, parts: Parts, made: Made, around: frozenset[Storage]
) -> tuple[Node, list[Value]]:
    shape, children, leaves = parts.shape, [], []
    for item in parts.items:
        tree, below = result_tree(lowering, item, made, around)
        children.append(tree)
        leaves += below
    is_keyed = shape.form in (DictRef, InstanceRef)
    keys = shape.keys if is_keyed else getattr(shape.cls, "_fields", None)
    derived = shape.derived if shape.derived is OrderedDict else None
    return Node(shape.cls, tuple(children), keys, derived), leaves


def held(
    lowering: Lowering, item: FrontendValue, where: str, own: Storage | None = None
) -> tuple[Tree, list[Value]]:
    """What an attribute or container holds at the end, as a result of the function. where: the
    words for that. own: the container, if that is the item."""
    why = "it is not there on every path"
    try:
        if not isinstance(item, Unbound):
            refuse_joined(lowering, item)
            tree, values = result_tree(lowering, item, objects_shown(lowering, own))
            if not any(may_be_undefined(lowering, value) for value in values):
                return tree, values
    except UnsupportedError as error:
        why = error.what
    raise UnsupportedError(
        f"this function stores {where} what is not followed: {why}",
        "store numbers, arrays, or lists, tuples and dicts of them, on every path",
        lowering.builder.location,
    )


def refuse_joined(
    lowering: Lowering, item: FrontendValue, around: frozenset[Storage] = frozenset()
) -> None:
    """Refuse a container that may be one from outside, if the items of either are known one by
    one: it would be made anew. around: those that hold it."""
    parts, storage = parts_of(item, lowering.contents), getattr(item, "storage", None)
    if storage in around:
        return
    entered, reached = (
        lowering.outside.entered,
        frozenset[Storage]() if storage is None else storage.overlaps,
    )
    others = [one for one in reached if one in entered and one is not storage]
    if any(parts is not None or isinstance(entered[one], tuple) for one in others):
        raise UnsupportedError(
            "it may be one of several lists, dicts or objects, which is known at run time only",
            "store it on every path, or a copy of it",
            lowering.builder.location,
        )
    if storage is not None:
        reach.refuse_copied(lowering, storage if parts is not None else None, storage.holds)
    for part in parts.items if parts is not None else ():
        refuse_joined(lowering, part, around if storage is None else around | {storage})


def objects_shown(lowering: Lowering, own: Storage | None) -> dict[Storage, Value | None]:
    """The lists, dicts and objects that unread code has, and the lists that were found outside item
    by item and are one value now: what is stored outside is one of these. own: none of them."""
    given: dict[Storage, Value | None] = {
        storage: None
        for storage, before in (lowering.outside.given | lowering.outside.entered).items()
        if isinstance(before, tuple) and isinstance(lowering.contents.get(storage), Value)
        if storage is not own
    }
    if lowering.has_tensors:  # what unread code has holds what belongs to the graph there
        return given
    is_made = lowering.builder.is_made
    lent = lowering.kept.lists.items()
    return given | {s: one.made for s, one in lent if s is not own and is_made(one.made)}


def leaves_held(
    lowering: Lowering, item: FrontendValue, own: Storage | None = None
) -> Iterator[FrontendValue]:
    """The frontend values of the leaves of what `held` gives the structure of."""
    return leaves_of(lowering, item, objects_shown(lowering, own))


def leaves_of(
    lowering: Lowering, item: FrontendValue, made: Made = _NOTHING
) -> Iterator[FrontendValue]:
    """The frontend values of the leaves that `result_tree` finds in a value."""
    item = outside.opened(lowering, item)
    parts = parts_of(item, lowering.contents)
    storage: Storage | None = getattr(item, "storage", None)
    if storage is not None and storage in made:
        value = made[storage]
        yield from () if value is None else (value,)
    elif parts is not None:
        for part in parts.items:
            yield from leaves_of(lowering, part, made)
    elif not is_constant(item):
        yield item
