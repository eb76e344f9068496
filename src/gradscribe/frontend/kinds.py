"""Kinds of values: what has to agree for two paths to leave one IR value behind.

A number and an array, `None` and an array, arrays of two dtypes are of different kinds. A name
that holds either is an `Either`, and the kind of that is a `Choice`: a flag, and the leaves of
both alternatives, those of the one that is not there being undefined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import (
    PLAIN_NUMBERS,
    Either,
    ListRef,
    LocalFunction,
    ObjectRef,
    PartialOf,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Opaque, Scalar, Sequence, Tuple, Type
from gradscribe.primitives.indexing import path_type

_STRUCTURES = ("tuple", "partial")

ABSENT = Unbound.on_one_path()
"""Stands for the alternative that a path does not provide."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value is: a run-time "number", "array" or "opaque" value; "static", one object;
    "tuple"; "partial", a function and what it is given; "list", of items of one kind. detail: the
    dtype and rank, the object, the class (or what tells the arguments apart) and the kinds of the
    items, the kind of all items."""

    name: str
    detail: Any = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The kind of an `Either`."""

    first: Kind | Choice
    second: Kind | Choice


def kind_of(lowering: Lowering, item: Any, contents: dict[Storage, Any]) -> Kind | Choice | None:
    """The kind of a frontend value in a state with these contents; None of what has none."""
    if isinstance(item, Either):
        first = kind_of(lowering, item.first, contents)
        second = kind_of(lowering, item.second, contents)
        return None if first is None or second is None else Choice(first, second)
    if isinstance(item, Static) and isinstance(item.value, PLAIN_NUMBERS):
        return Kind("number", isinstance(item.value, np.bool_))
    if isinstance(item, (Static, LocalFunction, ObjectRef)):
        return Kind("static", item)
    if isinstance(item, Unbound):
        return Kind("unbound")
    if isinstance(item, TupleOf):
        below = tuple(kind_of(lowering, i, contents) for i in item.items)
        return None if None in below else Kind("tuple", (item.cls, below))
    if isinstance(item, PartialOf):
        below = tuple(kind_of(lowering, i, contents) for i in item.parts)
        names = (len(item.arguments), *item.keywords)
        return None if None in below else Kind("partial", (names, below))
    if isinstance(item, Value):
        return _kind_of_type(item.type)
    if isinstance(item, Ref):
        type_ = contents[item.storage].type
        path = tuple((primitive, arguments) for primitive, arguments, _ in item.path)
        return _kind_of_type(path_type(lowering.builder.facts, type_, _types(path)))
    if isinstance(item, ListRef):
        return _kind_of_list(lowering, contents[item.storage], contents)
    return None


def _kind_of_list(lowering: Lowering, held: Any, contents: dict[Storage, Any]) -> Kind | None:
    """The kind of a list of these contents, if its items are of one."""
    if isinstance(held, Value):
        return _kind_of_type(held.type)
    kinds = {kind_of(lowering, item, contents) for item in held}
    kind = kinds.pop() if len(kinds) == 1 else None
    return Kind("list", kind) if isinstance(kind, Kind) and kind.name != "static" else None


def _types(path: Any) -> Any:
    """A path with the types of values in their place."""
    from gradscribe.ir.core import SliceOf

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
        return None if None in below else Kind("tuple", (tuple, below))
    return Kind("opaque") if isinstance(type_, Opaque) else None


def alternatives(kind: Kind | Choice) -> Iterator[Kind]:
    """The kinds that a value of this kind may have."""
    if isinstance(kind, Choice):
        yield from alternatives(kind.first)
        yield from alternatives(kind.second)
    else:
        yield kind


def covers(general: Kind | Choice, special: Kind | Choice) -> bool:
    """Whether each alternative of `special` is one of `general`."""
    return set(alternatives(special)) <= set(alternatives(general))


def aligned(
    lowering: Lowering, item: Any, choice: Choice, contents: dict[Storage, Any]
) -> tuple[Any, Any, Any] | None:
    """A value as an Either of this kind: its flag (static where known) and alternatives; None
    if it is not one. Emits at most the negation of its own flag."""
    kind = kind_of(lowering, item, contents)
    if kind is None:
        return None
    if kind == choice:  # also where one alternative covers the other
        return item.flag, item.first, item.second
    if covers(choice.first, kind):
        return Static(True), item, ABSENT
    if covers(choice.second, kind):
        return Static(False), ABSENT, item
    if not isinstance(kind, Choice):
        return None
    if covers(choice.first, kind.first) and covers(choice.second, kind.second):
        return item.flag, item.first, item.second
    if covers(choice.first, kind.second) and covers(choice.second, kind.first):
        return negated(lowering, item.flag), item.second, item.first
    return None


def negated(lowering: Lowering, flag: Value) -> Any:
    """The opposite of a flag."""
    import operator

    from gradscribe.frontend.operators import operate

    return operate(lowering, None, operator.not_, flag)


def leaves(lowering: Lowering, item: Any, kind: Kind | Choice) -> list[Value | None] | None:
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
        items = item.parts if kind.name == "partial" else item.items
        below = [leaves(lowering, i, k) for i, k in zip(items, kind.detail[1], strict=True)]
        return [leaf for part in below for leaf in part or ()]
    return [lowering.value(item)] if leaf_count(kind) else []


def leaf_count(kind: Kind | Choice) -> int:
    """The number of IR values in a value of this kind."""
    if isinstance(kind, Choice):
        return 1 + leaf_count(kind.first) + leaf_count(kind.second)
    if kind.name in _STRUCTURES:
        return sum(map(leaf_count, kind.detail[1]))
    return 0 if kind.name in ("static", "unbound") else 1


def rebuilt(kind: Kind | Choice, values: Iterator[Value], wrap: Any, reason: str) -> Any:
    """A value of this kind, its leaves taken from values. wrap: makes a value of an IR value;
    reason: why a name may be unbound."""
    if isinstance(kind, Choice):
        flag = next(values)
        first = rebuilt(kind.first, values, wrap, reason)
        return Either(flag, first, rebuilt(kind.second, values, wrap, reason))
    if kind.name == "tuple":
        cls, below = kind.detail
        return TupleOf(tuple(rebuilt(k, values, wrap, reason) for k in below), cls)
    if kind.name == "partial":
        (count, *names), below = kind.detail
        like = PartialOf(None, (None,) * count, dict.fromkeys(names))
        return like.with_parts([rebuilt(k, values, wrap, reason) for k in below])
    if kind.name == "unbound":
        return Unbound(reason, raises=True)
    return kind.detail if kind.name == "static" else wrap(next(values))
