"""Objects of the running program that may lead to memory which unread code has kept, or to code of
the program."""

from __future__ import annotations

from collections.abc import Iterable

from gradscribe.frontend.kinds import trees
from gradscribe.frontend.state.dependencies import is_library
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    TupleOf,
    opaque_type,
)
from gradscribe.ir.types import Opaque, Type
from gradscribe.primitives.contract_kinds import Contract
from gradscribe.primitives.contracts import is_immutable


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
