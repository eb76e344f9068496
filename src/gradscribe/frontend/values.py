"""What names stand for while a function is lowered: the abstract values of the frontend.

IR values are numbers and (contents of) arrays; around them stand the things that only the
frontend knows: static objects, structures, references to storage.

An array is a `Ref`: a `Storage`, whose contents are an IR value that changes with each
store, and a path of view steps. Two names that share storage share contents; that is how a
store through one is seen through all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradscribe.frontend.interface import Path
from gradscribe.ir.core import Value


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object that is known when the function is compiled."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and same_static(self.value, other.value)


def same_static(a: Any, b: Any) -> bool:
    """Whether two static objects mean the same: one object, or equal plain constants."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return bool(a == b and str(a) == str(b))
    return isinstance(a, (bool, int, complex, str, bytes, slice)) and bool(a == b)


@dataclass(eq=False, slots=True)
class Storage:
    """A piece of memory.

    overlaps: other storages that may be (part of) the same memory. holds: of a list, the storages
    of the very objects that it holds (besides the items that are known one by one). family:
    storages of one family (what a loop carries) are disjoint, unless they share a token.
    """

    name: str = ""
    overlaps: frozenset[Storage] = frozenset()
    family: Any = None
    tokens: frozenset[int] = frozenset()
    holds: frozenset[Storage] = frozenset()

    @property
    def reached(self) -> frozenset[Storage]:
        """What an item that is read from it may be."""
        return frozenset({self}) | self.overlaps | self.holds


def may_overlap(a: Storage, b: Storage) -> bool:
    """Whether two storages may be (part of) the same memory."""
    if a is b:
        return True
    if a.family is not None and a.family is b.family:
        return bool(a.tokens & b.tokens)
    return a in b.overlaps or b in a.overlaps or bool(a.overlaps & b.overlaps)


def may_hold(container: Storage, item: Storage) -> bool:
    """Whether a list may hold (a view of) this piece of memory."""
    return not container.holds.isdisjoint({item} | item.overlaps)


@dataclass(frozen=True, eq=False, slots=True)
class Ref:
    """An array: a view, along a path, of the contents of a storage.

    exact: False where NumPy may or may not have made a copy (reshape), so that a store
    through the view, or to the base while the view lives, is ambiguous.
    """

    storage: Storage
    path: tuple[Any, ...] = ()
    exact: bool = True


@dataclass(frozen=True, eq=False, slots=True)
class TupleOf:
    """A tuple of known structure. cls: tuple or a namedtuple class."""

    items: tuple[Any, ...]
    cls: type = tuple


@dataclass(frozen=True, eq=False, slots=True)
class ListRef:
    """A list. The contents of its storage are a tuple of frontend values where the structure is
    known, or one IR value of type Sequence where the length is not."""

    storage: Storage


@dataclass(frozen=True, eq=False, slots=True)
class DictRef:
    """A dict with static keys; its items (a dict of key to value) are the storage's contents."""

    storage: Storage


@dataclass(frozen=True, eq=False, slots=True)
class ObjectRef:
    """An object (`self`, a module's settings) whose attributes are read at each call.

    target: the object in the specializing call; path: where it is found at each call.
    """

    target: Any
    path: Path


@dataclass(frozen=True, eq=False, slots=True)
class BoundMethod:
    """`receiver.name`, called like a function."""

    receiver: Any
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class LocalFunction:
    """A nested function or lambda together with the frame that it closes over."""

    node: Any
    frame: Any
    defaults: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Iteration:
    """What a `for` runs over: range, array, sequence, zip, enumerate, reversed.

    kind: "range" (parts: start, stop, step), "array", "sequence" (parts: the one value),
    "zip" (parts: iterations), "enumerate" (parts: iteration, start), "static" (parts: the items).
    """

    kind: str
    parts: tuple[Any, ...]
    reversed: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Unbound:
    """A name without a value on some path; reading it raises, in Python and here."""

    reason: str


FrontendValue = (
    Static
    | Value
    | Ref
    | TupleOf
    | ListRef
    | DictRef
    | ObjectRef
    | BoundMethod
    | LocalFunction
    | Iteration
    | Unbound
)
