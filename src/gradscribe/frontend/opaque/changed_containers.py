"""Lists, dicts and objects of the program that code which cannot be read may change.

Comes in: what a call is given, and the functions that it may call. Refused is what is read later,
where the program could not see what became of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import gast

from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.opaque import lent_containers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.function_objects import captured
from gradscribe.frontend.syntax.source import refilled_by
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    LocalFunction,
    Storage,
)
from gradscribe.ir.core import Method, Value
from gradscribe.ir.types import Array

Items = Sequence[FrontendValue]


def refuse(lowering: Lowering, node: Any, callee: Any, items: Items, called: Items) -> None:
    """Refuse to give a list, dict or object that is read later to code that may change it. called:
    those of them that functions of the program may change, whoever calls these."""
    is_python = inspect.isfunction(callee) or inspect.ismethod(callee)
    given = {
        storage
        for item in items
        if isinstance(item, (ListRef, DictRef, InstanceRef))
        if not is_python or item in called
        for storage in storages(lowering, item)
        if not is_array(lowering.contents.get(storage))
    }
    _refuse_refilled(lowering, node, callee, called)
    for item in lent_containers.reached(lowering, items):
        if lent_containers.is_possible(lowering, item):
            given -= {item.storage, *getattr(item, "cells", {}).values()}
    outside_ones = (one.name for one in given if one in lowering.outside.entered)
    name = next(outside_ones, None) or lent_containers.name_read_later(lowering, given, node)
    if name is not None:
        lowering.unsupported(
            node,
            f"`{name_of(callee)}`, whose code cannot be read, may change `{name}`",
            f"pass a copy of it, or declare the function: `gs.primitive({name_of(callee)}, "
            "pure=True)`",
        )


def _refuse_refilled(lowering: Lowering, node: Any, callee: Any, called: Items) -> None:
    name = lent_containers.name_read_later(lowering, set(_refilled(lowering, called)), node)
    if name is not None:
        lowering.unsupported(
            node,
            f"`{name_of(callee)}`, whose code cannot be read, calls what gives `{name}` other "
            "items",
            "let it hold numbers from the beginning, as in `[0.0]`, or store to an array",
        )


def _refilled(lowering: Lowering, called: Items) -> Iterator[Storage]:
    """The lists and dicts to which functions of the program give other items, of which it is not
    known what they are after unread code has called these."""
    for function in called:
        if isinstance(function, LocalFunction):
            held = captured(lowering, function)
            for node in gast.walk(function.node):
                owner = refilled_by(node)
                item = held.get(owner.id) if isinstance(owner, gast.Name) else None
                if not isinstance(item, (ListRef, DictRef)):
                    continue
                if not lent_containers.is_read_anew(lowering, item):
                    yield item.storage


def is_array(contents: Any) -> TypeGuard[Value]:
    """Whether memory is that of an array."""
    return isinstance(contents, Value) and isinstance(contents.type, Array)


def name_of(callee: Any) -> str:
    """What a function or method is called."""
    return callee.name if isinstance(callee, Method) else getattr(callee, "__name__", str(callee))
