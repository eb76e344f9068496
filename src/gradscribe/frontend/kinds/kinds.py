"""Kinds of values: what has to agree for two paths to leave one value behind.

A number and an array, `None` and a dict, arrays of two dtypes are of different kinds. A name
that holds either is an `Either`, and the kind of that is a `Choice`: a flag, and the leaves of
both alternatives, those of the one that is not there being undefined.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from gradscribe.frontend.kinds.trees import Contents, Shape, parts_of, step_to
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    Choice,
    DictRef,
    Either,
    FrontendValue,
    InstanceRef,
    Kind,
    ListRef,
    LocalFunction,
    ObjectRef,
    PartialOf,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
    ViewOf,
    is_number,
)
from gradscribe.ir.core import SliceOf, Value
from gradscribe.ir.types import Array, Opaque, Scalar, Sequence, Tuple, Type
from gradscribe.primitives.indexing import path_type

_CONTAINERS = ("list", "dict", "items", "object")
_FORMS = {
    TupleOf: "tuple",
    PartialOf: "partial",
    ListRef: "items",
    DictRef: "dict",
    InstanceRef: "object",
}
_STRUCTURES = frozenset(_FORMS.values())

ABSENT = Unbound.on_one_path()
"""Stands for the alternative that a path does not provide."""


def kind_of(
    lowering: Lowering,
    item: FrontendValue,
    contents: Contents,
    around: frozenset[Storage] = frozenset(),
) -> Kind | Choice | None:
    """The kind of a frontend value in a state with these contents; None of what has none. around:
    what holds it."""
    if isinstance(item, Either):
        first, second = (kind_of(lowering, i, contents, around) for i in (item.first, item.second))
        return None if first is None or second is None else Choice(first, second)
    if is_number(item) and isinstance(item, Static):
        return Kind("number", isinstance(item.value, np.bool_))
    if isinstance(item, (Static, LocalFunction, ObjectRef)):
        return Kind("static", item)
    if isinstance(item, Unbound):
        return None if item.mixed else Kind("unbound")
    if isinstance(item, Value):
        return _kind_of_type(item.type)
    if isinstance(item, (Ref, ListRef)):
        held = contents[item.storage]
        if isinstance(held, Value):
            path = tuple((step, arguments) for step, arguments, _ in getattr(item, "path", ()))
            return _kind_of_type(path_type(lowering.builder.facts, held.type, _types(path)))
    storage = getattr(item, "storage", None)
    parts = None if storage in around or isinstance(item, ViewOf) else parts_of(item, contents)
    if parts is None:
        return None
    if storage is not None:
        around |= {storage}
    below = tuple(kind_of(lowering, part, contents, around) for part in parts.items)
    name = _FORMS[parts.shape.form]
    if name == "items" and len({*below}) == 1 and _is_item(below[0]):
        return Kind("list", below[0])
    return None if None in below else Kind(name, (parts.shape, below))


def _is_item(kind: Kind | Choice | None) -> bool:
    """Whether items of this kind, and of no other, make a list of unknown length."""
    if not isinstance(kind, Kind) or kind.name == "static":
        return False
    return not any(name in _CONTAINERS and name != "list" for name in _names(kind))


def holds_containers(kind: Kind) -> bool:
    """Whether it is a list, a dict or an object, or has one in it."""
    return any(name in _CONTAINERS for name in _names(kind))


def _names(kind: Kind | Choice) -> Iterator[str]:
    for one in alternatives(kind):
        yield one.name
        for below in one.detail[1] if one.name in _STRUCTURES else ():
            yield from _names(below)


def _types(path: Any) -> Any:
    """A path with the types of values in their place."""
    if isinstance(path, Value):
        return path.type
    if isinstance(path, SliceOf):
        return SliceOf(_types(path.start), _types(path.stop), _types(path.step))
    if isinstance(path, (tuple, list)):
        return type(path)(map(_types, path))
    if isinstance(path, dict):
        return {key: _types(item) for key, item in path.items()}
    return path


def _kind_of_type(type_: Type) -> Kind | None:
    if isinstance(type_, Scalar):
        return Kind("number", type_.dtype == "bool" and not type_.weak)
    if isinstance(type_, Array):
        return Kind("array", (type_.dtype, type_.rank, type_.module))
    if isinstance(type_, Sequence):
        item = _kind_of_type(type_.item)
        return None if item is None else Kind("list", item)
    if isinstance(type_, Tuple):
        below = tuple(map(_kind_of_type, type_.items))
        shape = Shape(TupleOf, tuple, tuple(range(len(below))))
        return None if None in below else Kind("tuple", (shape, below))
    return Kind("opaque") if isinstance(type_, Opaque) else None


def alternatives(kind: Kind | Choice) -> Iterator[Kind]:
    """The kinds that a value of this kind may have."""
    if isinstance(kind, Choice):
        yield from alternatives(kind.first)
        yield from alternatives(kind.second)
    else:
        yield kind


def either(first: Kind | Choice, second: Kind | Choice) -> Choice:
    """What is one of these. The alternatives come one after the other: a flag for each tells
    whether it is that one."""
    if isinstance(first, Choice):
        return Choice(first.first, either(first.second, second))
    return Choice(first, second)


def last(kind: Kind | Choice) -> Kind:
    """The last of the alternatives."""
    return last(kind.second) if isinstance(kind, Choice) else kind


def covers(general: Kind | Choice, special: Kind | Choice) -> bool:
    """Whether each alternative of `special` is one of `general`."""
    return set(alternatives(special)) <= set(alternatives(general))


def _has_place(general: Kind | Choice, special: Kind | Choice) -> bool:
    """Whether it covers the other, and is no single kind where that is one of several objects."""
    return covers(general, special) and isinstance(general, Choice) >= isinstance(special, Choice)


def aligned(
    lowering: Lowering, item: FrontendValue, choice: Choice, contents: Contents
) -> tuple[Static | Value, FrontendValue, FrontendValue] | None:
    """A value as an Either of this kind: its flag (static where known) and alternatives; None
    if it is not one. Emits at most the negation of its own flag."""
    kind = kind_of(lowering, item, contents)
    if kind is None:
        return None
    if kind != choice:  # also where one alternative covers the other
        if _has_place(choice.first, kind):
            return Static(True), item, ABSENT
        if _has_place(choice.second, kind):
            return Static(False), ABSENT, item
    if not isinstance(item, Either) or not isinstance(kind, Choice):
        return None
    if covers(choice.first, kind.first) and covers(choice.second, kind.second):
        return item.flag, item.first, item.second
    if covers(choice.first, kind.second) and covers(choice.second, kind.first):
        return negated(lowering, item.flag), item.second, item.first
    return None


def negated(lowering: Lowering, flag: Value) -> Value:
    """The opposite of a flag."""
    return lowering.value(lowering.operate(None, operator.not_, flag))


def leaves(
    lowering: Lowering, item: FrontendValue, kind: Kind | Choice
) -> list[Value | None] | None:
    """The IR values that a value of this kind consists of, None for each that is absent; None if
    the value is not of this kind."""
    if item is ABSENT:
        return [None] * leaf_count(kind)
    if isinstance(kind, Choice):
        parts = aligned(lowering, item, kind, lowering.contents)
        if parts is None:
            return None
        flag, one, other = parts
        first = leaves(lowering, one, kind.first)
        second = leaves(lowering, other, kind.second)
        if first is None or second is None:
            return None
        return [lowering.value(flag), *first, *second]
    if kind_of(lowering, item, lowering.contents) != kind:
        return None
    if kind.name in _STRUCTURES:
        found = parts_of(item, lowering.contents)
        assert found is not None
        below = [leaves(lowering, i, k) for i, k in zip(found.items, kind.detail[1], strict=True)]
        return [leaf for part in below for leaf in part or ()]
    return [lowering.value(item)] if leaf_count(kind) else []


def leaf_count(kind: Kind | Choice) -> int:
    """The number of IR values in a value of this kind."""
    if isinstance(kind, Choice):
        return 1 + leaf_count(kind.first) + leaf_count(kind.second)
    if kind.name in _STRUCTURES:
        return sum(map(leaf_count, kind.detail[1]))
    return 0 if kind.name in ("static", "unbound") else 1


Path = tuple[Any, ...]


class Wrapping(Protocol):
    """Makes parts of a value of two kinds. path: where they are in the whole."""

    def wrap(self, value: Value, path: Path) -> FrontendValue:
        """A number, array or list of unknown length."""

    def assembled(
        self, shape: Shape, items: tuple[FrontendValue, ...], path: Path
    ) -> FrontendValue:
        """A tuple, dict, list, object or partial that has these parts."""


def rebuilt(
    kind: Kind | Choice, values: Iterator[Value], wrapping: Wrapping, reason: str, path: Path = ()
) -> FrontendValue:
    """A value of this kind, its leaves taken from values. reason: why a name may be unbound."""
    if isinstance(kind, Choice):
        flag = next(values)
        first = rebuilt(kind.first, values, wrapping, reason, path)
        return Either(flag, first, rebuilt(kind.second, values, wrapping, reason, path))
    if kind.name in _STRUCTURES:
        shape, below = kind.detail
        pairs = zip(shape.keys, below, strict=True)
        items = [
            rebuilt(b, values, wrapping, reason, (*path, *step_to(shape, k))) for k, b in pairs
        ]
        return wrapping.assembled(shape, tuple(items), path)
    if kind.name == "unbound":
        return Unbound(reason, raises=True)
    return kind.detail if kind.name == "static" else wrapping.wrap(next(values), path)
