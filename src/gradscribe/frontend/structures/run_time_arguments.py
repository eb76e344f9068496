"""What a call at run time is given: frontend values as trees of static objects and IR values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import function_objects
from gradscribe.frontend.structures.inputs import captured_object
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import SliceOf, Value
from gradscribe.ir.types import Opaque
from gradscribe.primitives.control import EFFECT


def argument_of(
    lowering: Lowering, item: FrontendValue, made: Mapping[Storage, Value] | None = None
) -> Any:
    """A value as an argument of such a call: a tree of static objects and IR values. made: the
    objects that some of the containers in it are."""
    if isinstance(item, Static):
        if isinstance(item.value, type) and item.value in dependencies.LOCAL_CLASSES:
            lowering.unsupported(
                lowering.frame.statement,
                f"`{item.value.__name__}`, a class that the function defines, is given away",
                "define the class outside",
            )
        lowering.outside.show(item.value)
        return item.value

    def below(part: FrontendValue) -> Any:
        return argument_of(lowering, part, made)

    if isinstance(item, slice):
        return SliceOf(
            *(None if p is None else below(p) for p in (item.start, item.stop, item.step))
        )
    if isinstance(item, TupleOf) and item.cls is tuple:
        return tuple(map(below, item.items))
    if isinstance(item, TupleOf) and hasattr(item.cls, "_fields"):
        tree = {"args": tuple(map(below, item.items)), "keywords": {}, "type": Opaque(item.cls)}
        return lowering.emit(EFFECT, tree, item.cls)
    if isinstance(item, (ListRef, DictRef, InstanceRef)) and made and item.storage in made:
        return made[item.storage]
    if isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        if isinstance(contents, tuple):
            return [below(part) for part in contents]
        if isinstance(contents, dict):
            parts = {key: below(part) for key, part in contents.items()}
            if item.storage.derived is not OrderedDict:
                return parts
            tree = {"args": (parts,), "keywords": {}, "type": Opaque(OrderedDict)}
            return lowering.emit(EFFECT, tree, OrderedDict)
    if isinstance(item, ObjectRef):
        return captured_object(lowering, item)
    found = function_objects.made_object(lowering, item, below)
    return lowering.value(item) if found is None else found
