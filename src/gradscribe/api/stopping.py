"""What `gs.stop_gradient` means inside compiled code.

Of a number, an array or a run-time list it is an operation; tuples, lists, dicts and dataclasses of
known structure are made anew, of what no derivative passes through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.frontend.memory import outside, sequences
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    Ref,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Value
from gradscribe.primitives.control import STOP_GRADIENT


def enter(stop_gradient: Callable[..., Any]) -> None:
    """Make the function known to the frontend."""

    def cut(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
        item = outside.opened(lowering, item)
        if isinstance(item, TupleOf):
            return TupleOf(tuple(cut(lowering, node, below) for below in item.items), item.cls)
        if isinstance(item, InstanceRef):
            held = lowering.attributes(item).items()
            fields = {name: cut(lowering, node, below) for name, below in held}
            return instances.new_instance(lowering, item.cls, fields)
        contents = lowering.contents[item.storage] if isinstance(item, (ListRef, DictRef)) else None
        if isinstance(contents, tuple):
            return sequences.new_list(lowering, tuple(cut(lowering, node, i) for i in contents))
        if isinstance(contents, dict):
            storage = Storage()
            lowering.contents[storage] = {k: cut(lowering, node, i) for k, i in contents.items()}
            return DictRef(storage)
        if isinstance(item, (Value, Ref, ListRef)):
            return lowering.apply_primitive(node, STOP_GRADIENT, stop_gradient, (item,), {})
        return item

    def handler(lowering: Lowering, node: Any, /, x: FrontendValue) -> FrontendValue:
        return cut(lowering, node, x)

    handlers.enter({stop_gradient: handler})
