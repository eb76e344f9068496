"""The types of IR values: a small lattice of frozen, interned descriptions.

A type says what Python needs to know to give an operation its meaning: is this a Python
float or an array, of which dtype, how many axes and how long. `join` is the one table that
says what becomes of a value that has one type on one path and another on the other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import repeat
from threading import RLock
from types import NoneType
from typing import Any, ClassVar, TypeGuard, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.lengths import Facts


class _Interned(type):
    """Equal types are one object: they are compared, and hashed, by identity."""

    _instances: ClassVar[WeakValueDictionary[Any, Any]] = WeakValueDictionary()
    _lock: ClassVar[RLock] = RLock()

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        instance = super().__call__(*args, **kwargs)
        with _Interned._lock:
            return _Interned._instances.setdefault((cls, *vars(instance).values()), instance)


@dataclass(frozen=True, eq=False)
class Type(metaclass=_Interned):
    """Base of all types."""

    def __reduce__(self) -> tuple[type[Type], tuple[Any, ...]]:
        return type(self), tuple(vars(self).values())


@dataclass(frozen=True, eq=False)
class Scalar(Type):
    """A Python number (weak) or a NumPy scalar (strong); both are immutable.

    dtype: NumPy's name of the dtype ("float64", "int64", "bool", "complex128", …).
    value: what is known of an integer, as an affine expression; None for other kinds.
    """

    dtype: str
    weak: bool = True
    value: Affine | None = None

    def __repr__(self) -> str:
        name = _WEAK_NAMES.get(self.dtype, self.dtype) if self.weak else self.dtype
        return f"{name}({self.value})" if self.value is not None else name


@dataclass(frozen=True, eq=False)
class Array(Type):
    """An ndarray, rank 0 included. dims: the length of each axis.

    module: "numpy" or "cupy". spelling: whether methods mean NumPy's ("numpy") or
    Tensor's ("tensor"); "either" after a join of both, which then has no methods.
    """

    dtype: str
    dims: tuple[Affine, ...]
    module: str = "numpy"
    spelling: str = "numpy"

    @property
    def rank(self) -> int:
        return len(self.dims)

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(repr, self.dims))}]"


@dataclass(frozen=True, eq=False)
class Tuple(Type):
    """A tuple of known structure."""

    items: tuple[Type, ...]

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.items))})"


@dataclass(frozen=True, eq=False)
class Record(Type):
    """An object whose fields are known by name: dataclass, namedtuple, plain object."""

    cls: type
    fields: tuple[tuple[str, Type], ...]

    def __repr__(self) -> str:
        return f"{self.cls.__name__}({', '.join(f'{n}: {t!r}' for n, t in self.fields)})"


@dataclass(frozen=True, eq=False)
class Sequence(Type):
    """A list of one item type, of unknown length. item is Never for an empty list. optional:
    whether it is an item of another list, which may hold None in its place."""

    item: Type
    length: Affine | None = None
    optional: bool = False

    def __repr__(self) -> str:
        return f"list[{self.item!r}]" + " or None" * self.optional


@dataclass(frozen=True, eq=False)
class Mapping(Type):
    """A dict of one item type, with keys of one type."""

    key: Type
    item: Type

    def __repr__(self) -> str:
        return f"dict[{self.key!r}, {self.item!r}]"


@dataclass(frozen=True, eq=False)
class Collected(Type):
    """What a loop collects, one element an iteration, for the loop that mirrors it to consume."""

    item: Type

    def __repr__(self) -> str:
        return f"collected[{self.item!r}]"


@dataclass(frozen=True, eq=False)
class Undefined(Type):
    """A name that is not bound on this path."""

    def __repr__(self) -> str:
        return "undefined"


@dataclass(frozen=True, eq=False)
class Never(Type):
    """The type of a value on a path that raises."""

    def __repr__(self) -> str:
        return "never"


@dataclass(frozen=True, eq=False)
class Opaque(Type):
    """A run-time value that is passed along and never differentiated (strings, objects).

    cls: its class, where it is known.
    """

    cls: type | None = None

    def __repr__(self) -> str:
        return "opaque" if self.cls is None else self.cls.__name__


@dataclass(frozen=True, eq=False)
class RecordOf(Type):
    """The record of a call of an IR function, named to allow recursion."""

    function: str

    def __repr__(self) -> str:
        return f"record_of[{self.function}]"


NONE = Opaque(type(None))
"""The type of None as a run-time value."""

_WEAK_NAMES = {"float64": "float", "int64": "int", "complex128": "complex"}
FLOAT = Scalar("float64")
INT = Scalar("int64")
BOOL = Scalar("bool")


@cache
def _kind(dtype: str) -> str:
    return np.dtype(dtype).kind


def is_differentiable(type_: Type) -> bool:
    """Whether values of this type carry a derivative (floating or complex leaves)."""
    if isinstance(type_, (Scalar, Array)):
        return _kind(type_.dtype) in "fc"
    if isinstance(type_, (Sequence, Mapping, Collected)):
        return is_differentiable(type_.item)
    if isinstance(type_, Tuple):
        return any(map(is_differentiable, type_.items))
    if isinstance(type_, Record):
        return any(is_differentiable(t) for _, t in type_.fields)
    return isinstance(type_, RecordOf)


def holds_opaque(type_: Type) -> bool:
    """Whether values of this type are, or hold, objects that are passed along."""
    return any(isinstance(below, Opaque) for below in _parts(type_))


def is_unknown(type_: Type) -> bool:
    """Whether values of this type are, or hold, objects of which not even the class is known."""
    return any(below == Opaque() for below in _parts(type_))


def _parts(type_: Type) -> Iterator[Type]:
    """A type, and the types of the values that its values hold."""
    yield type_
    if isinstance(type_, (Sequence, Mapping, Collected)):
        yield from _parts(type_.item)
    elif isinstance(type_, Tuple):
        for item in type_.items:
            yield from _parts(item)
    elif isinstance(type_, Record):
        for _, field in type_.fields:
            yield from _parts(field)


def is_complex(type_: Type) -> TypeGuard[Scalar | Array]:
    """Whether this is a complex number, or an array of such."""
    return isinstance(type_, (Scalar, Array)) and _kind(type_.dtype) == "c"


def is_integer(type_: Type) -> TypeGuard[Scalar]:
    """Whether this is an integer scalar (not a bool)."""
    return isinstance(type_, Scalar) and _kind(type_.dtype) in "iu"


def cotangent_type(type_: Type) -> Type:
    """The type of the cotangent (and the tangent) of a value of this type."""
    if isinstance(type_, Scalar):
        return replace(type_, value=None)
    return type_


_Part = TypeVar("_Part")

_NO_LENGTHS = (str, bool, NoneType)
"""Of these classes are most parts of types: they are not looked into."""


def map_lengths(part: _Part, function: Callable[[Affine], Any]) -> _Part:
    """A type (or a part of one) with every length and integer value in it replaced."""
    if isinstance(part, Affine):
        return function(part)  # type: ignore[no-any-return]
    if isinstance(part, Type):
        old = vars(part).values()
        new = [x if isinstance(x, _NO_LENGTHS) else map_lengths(x, function) for x in old]
        is_same = all(map(operator.is_, old, new))
        return part if is_same else type(part)(*new)
    if isinstance(part, tuple):
        items = tuple([map_lengths(item, function) for item in part])
        is_same = all(map(operator.is_, part, items))
        return part if is_same else items  # type: ignore[return-value]
    return part


class JoinError(TypeError):
    """Two types that no single IR value can have."""


def join(a: Type, b: Type) -> Type:
    """The least type that holds both, without a conversion of what is held at run time."""
    if a == b:
        return a
    for gives_way in (Never, Undefined):
        if isinstance(a, gives_way):
            return b
        if isinstance(b, gives_way):
            return a
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return _join_scalars(a, b)
    if isinstance(a, Array) and isinstance(b, Array):
        return _join_arrays(a, b)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return Tuple(tuple(map(join, a.items, b.items)))
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        length = a.length if a.length == b.length else None
        return Sequence(join_items(a.item, b.item), length, a.optional or b.optional)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return Mapping(join(a.key, b.key), join_items(a.item, b.item))
    if isinstance(a, Collected) and isinstance(b, Collected):
        return Collected(join(a.item, b.item))
    if isinstance(a, Record) and isinstance(b, Record) and a.cls is b.cls:
        return _join_records(a, b)
    if isinstance(a, Opaque) and isinstance(b, Opaque):
        return Opaque()
    raise JoinError(f"{a!r} on one path and {b!r} on the other")


def join_items(a: Type, b: Type, facts: Facts | None = None) -> Type:
    """The least type of the items of a list that holds both: lengths in which they differ vary
    from item to item. None in a list is a place that is filled later, and gives way. facts: tells
    which lengths may be taken to be equal."""
    for none, other in ((a, b), (b, a)):
        if none == NONE and _fills(other):
            return replace(other, optional=True) if isinstance(other, Sequence) else other
    joined = join(a, b if facts is None else with_lengths_of(a, b, facts))
    if joined in (a, b):
        return joined
    given = {symbol for type_ in (a, b) for symbol in _symbols(type_)}
    varying: dict[Symbol, Affine] = {}

    def varied(length: Affine) -> Affine:
        ((symbol, _), *_) = length.terms or ((None, 0),)
        if symbol is None or symbol in given:
            return length
        return varying.setdefault(symbol, Affine.of(Symbol("length", varies=True)))

    return map_lengths(joined, varied)


def with_lengths_of(a: Type, b: Type, facts: Facts) -> Type:
    """The type b, where its arrays agree in a length with those of a: with the length as a has
    it."""
    if isinstance(a, Array) and isinstance(b, Array) and a.rank == b.rank:
        pairs = zip(a.dims, b.dims, strict=True)
        return replace(b, dims=tuple(x if facts.agree(x, y) else y for x, y in pairs))
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return Tuple(tuple(map(with_lengths_of, a.items, b.items, repeat(facts))))
    if isinstance(a, (Sequence, Mapping)) and type(a) is type(b):
        return replace(b, item=with_lengths_of(a.item, b.item, facts))
    return b


def _fills(item: Type) -> bool:
    """Whether an item of this type may take the place of None: not where its zero cannot be told
    without it."""
    if isinstance(item, Tuple):
        return all(isinstance(below, Scalar) for below in item.items)
    return isinstance(item, (Scalar, Array, Opaque, Sequence))


def one_of(items: Type) -> Type:
    """The type of one item of a list whose items are of this type: with lengths of its own where
    they vary from item to item."""
    own: dict[Symbol, Affine] = {}

    def opened(length: Affine) -> Affine:
        varying = [symbol for symbol, _ in length.terms if symbol.varies]
        if not varying:
            return length
        return length.substitute(
            {s: own.setdefault(s, Affine.of(Symbol(s.name, s.minimum))) for s in varying}
        )

    return map_lengths(items, opened)


def _symbols(type_: Type) -> set[Symbol]:
    """The symbols in the lengths of a type."""
    found: set[Symbol] = set()
    map_lengths(type_, lambda length: found.update(symbol for symbol, _ in length.terms))
    return found


def _join_records(a: Record, b: Record) -> Record:
    if [name for name, _ in a.fields] != [name for name, _ in b.fields]:
        raise JoinError(f"{a!r} on one path and {b!r} on the other")
    pairs = zip(a.fields, b.fields, strict=True)
    return Record(a.cls, tuple((name, join(t, other)) for (name, t), (_, other) in pairs))


def _join_scalars(a: Scalar, b: Scalar) -> Scalar:
    wide = np.promote_types(a.dtype, b.dtype).name
    numpy_bool = any(s.dtype == "bool" and not s.weak for s in (a, b))
    integers = all(np.dtype(s.dtype).kind in "iu" for s in (a, b))
    if a.dtype != b.dtype and (numpy_bool or (integers and np.dtype(wide).kind == "f")):
        raise JoinError(f"{a!r} on one path and {b!r} on the other")
    return Scalar(wide, a.weak and b.weak, a.value if a.value == b.value else None)


def _join_arrays(a: Array, b: Array) -> Array:
    if (a.dtype, a.rank, a.module) != (b.dtype, b.rank, b.module):
        raise JoinError(f"{a!r} on one path and {b!r} on the other")
    dims = tuple(
        x if x == y else Affine.of(Symbol("length")) for x, y in zip(a.dims, b.dims, strict=True)
    )
    spelling = a.spelling if a.spelling == b.spelling else "either"
    return replace(a, dims=dims, spelling=spelling)
