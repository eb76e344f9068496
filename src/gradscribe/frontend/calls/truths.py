"""The truth of a value, as `if`, `while`, `not`, `and` and `bool` ask it.

Comes in: a value of the frontend. Goes out: whether it is true, where that is known, or the IR
value that Python tests. An object of code that cannot be read is asked where, and as often as, the
program asks it.
"""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.containers import lengths
from gradscribe.frontend.joins.branches import as_flag
from gradscribe.frontend.joins.splitting import for_each_kind
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import outside, outside_kinds
from gradscribe.frontend.opaque import foreign, unknown
from gradscribe.frontend.state.dependencies import depend, is_library
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances, protocols
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    Either,
    FrontendValue,
    InstanceRef,
    ListRef,
    LocalFunction,
    ObjectRef,
    OneShot,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.probing import in_class, probe
from gradscribe.ir.types import BOOL, Array
from gradscribe.primitives.contract_kinds import UNKNOWN
from gradscribe.primitives.contracts import is_immutable
from gradscribe.primitives.control import RUN


def truth(lowering: Lowering, item: FrontendValue) -> bool | Value:
    """The truth value: known, or as an IR value that Python tests at run time."""
    if isinstance(item, Either):
        found = for_each_kind(lowering, None, (item,), lambda one: _flag(lowering, one))
        return truth(lowering, found)
    item = outside.opened(lowering, item)
    if lowering.frames and lowering.frame.is_rule and not _is_flag(lowering, item):
        lowering.unsupported(
            None, "a list or an array, where a flag is meant", "give `True` or `False`"
        )
    if isinstance(item, TupleOf):
        return bool(item.items)
    if isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        return (
            truth(lowering, lengths.length(lowering, item))
            if isinstance(contents, Value)
            else bool(contents)
        )
    if instances.is_object(item) or isinstance(item, Static):
        return _truth_of_object(lowering, item)
    if isinstance(item, (BoundMethod, LocalFunction, OneShot)):
        return True
    if unknown.may_run(item):
        item = unknown.emit(lowering, bool, (item,), {}, BOOL)
    return lowering.value(item)


def _is_flag(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether Python and C agree on the truth of a value: of one that is in no container."""
    if isinstance(item, (Value, Ref)):
        type_ = lowering.value(item).type
        return not (isinstance(type_, Array) and type_.rank)
    return not isinstance(item, (TupleOf, ListRef)) and not stands_for(item, (tuple, list))


def _flag(lowering: Lowering, item: FrontendValue) -> FrontendValue:
    known = truth(lowering, item)
    return Static(known) if isinstance(known, bool) else as_flag(lowering, known)


def _truth_of_object(lowering: Lowering, item: instances.Object | Static) -> bool | Value:
    """What the first of these methods says that the class has; True without any."""
    for name in ("__bool__", "__len__"):
        found = protocols.call(lowering, None, item, name)
        if found is not None:
            return truth(lowering, found)
        kind = in_class(instances.class_of(item), name)
        if kind is not None and not isinstance(item, InstanceRef):
            return _asked(lowering, item, name, kind)
    return bool(item.value) if isinstance(item, Static) else True


def _asked(lowering: Lowering, item: ObjectRef | Static, name: str, kind: Any) -> bool | Value:
    """The truth of an object whose class tells it in C."""
    if isinstance(item, Static):
        if not outside_kinds.has_own_truth(item.value):
            return bool(item.value)
    elif name == "__len__" and is_library(probe(kind, "__objclass__")):
        depend(lowering, item.path, len(item.target), "length")
        return bool(item.target)
    if is_immutable(instances.class_of(item)):
        return lowering.value(unknown.emit(lowering, bool, (item,), {}, BOOL, RUN))
    node = lowering.frame.statement
    return lowering.value(foreign.call(lowering, node, bool, ((item,), {}), BOOL, UNKNOWN))
