"""Objects of the running program that may lead to memory which unread code has kept, or to code of
the program."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from gradscribe.frontend.kinds import trees
from gradscribe.frontend.memory import unread_code
from gradscribe.frontend.opaque import lent_containers
from gradscribe.frontend.opaque.lent_kinds import is_container
from gradscribe.frontend.state.dependencies import is_library
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import function_objects
from gradscribe.frontend.syntax.function_texts import attributes_in, imported_in
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    LocalFunction,
    ObjectRef,
    Static,
    TupleOf,
    opaque_type,
)
from gradscribe.ir.types import Opaque, Type
from gradscribe.primitives.contract_kinds import Contract
from gradscribe.primitives.contracts import is_calling, is_immutable


def leads(type_: Type, contract: Contract) -> bool:
    """Whether a call gives an object that may show the memory of what it was given: a view."""
    is_object = isinstance(type_, Opaque) and not is_immutable(type_.cls)
    return is_object and (contract.connects or not contract.only_reads)


def may_lead_to_memory(lowering: Lowering, items: Iterable[FrontendValue]) -> bool:
    """Whether there is an object of the running program among these, or in them, that may lead to
    memory which unread code has kept."""
    has_kept = bool(lowering.kept.handles or lowering.kept.lists)
    return has_kept and any(_is_leading(lowering, item) for item in items)


def _is_leading(lowering: Lowering, item: FrontendValue) -> bool:
    type_ = opaque_type(item)
    if type_ is not None:
        return not is_immutable(type_.cls)
    if isinstance(item, TupleOf):
        return any(_is_leading(lowering, below) for below in item.items)
    if isinstance(item, (ListRef, DictRef)):
        parts = trees.parts_of(item, lowering.contents)
        return parts is None or any(_is_leading(lowering, part) for part in parts.items)
    return False


def may_run_kept(lowering: Lowering, items: Iterable[FrontendValue]) -> bool:
    """Whether there is an object among these that may hold functions which unread code has kept,
    as a method by which something is written."""
    types_ = filter(None, map(opaque_type, items)) if lowering.kept.has_functions else ()
    return any(type_.cls is None or type_.cls.__dictoffset__ != 0 for type_ in types_)


def has_own_methods(item: FrontendValue) -> bool:
    """Whether an object of the running program is of a class of the user's."""
    type_ = opaque_type(item)
    return type_ is not None and type_.cls is not None and not is_library(type_.cls)


def runs_unread(lowering: Lowering, callee: Any, called: Sequence[FrontendValue]) -> bool:
    """Whether a call may run code of which nothing is known by the functions that it is given.
    called: these, and all that they lead to."""
    if not is_calling(callee):
        return False
    pending, seen = list(called), dict[int, FrontendValue]()
    names, roots = set[str](), list[Any]()
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        pending += function_objects.parts_of(lowering, item)
        pending += lent_containers.parts_of(lowering, item) if is_container(item) else ()
        if isinstance(item, Static):
            roots.append(item.value)
        elif isinstance(item, ObjectRef):
            roots.append(item.target)
        elif isinstance(item, InstanceRef):
            roots.append(item.cls)
        elif isinstance(item, LocalFunction):
            names |= attributes_in(item.node)
            roots += (sys.modules.get(name) for name in imported_in(item.node))
        elif (type_ := opaque_type(item)) and not is_immutable(type_.cls):
            return True
    return unread_code.runs_unread(roots, names)
