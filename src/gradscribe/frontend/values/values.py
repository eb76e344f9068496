"""What names stand for while a function is lowered: the abstract values of the frontend.

IR values are numbers and (contents of) arrays; around them stand the things that only the
frontend knows: static objects, structures, references to storage.

An array is a `Ref`: a `Storage`, whose contents are an IR value that changes with each
store, and a path of view steps. Two names that share storage share contents; that is how a
store through one is seen through all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.values.families import Family
from gradscribe.ir.core import SliceOf, Value
from gradscribe.ir.statics import CONSTANTS, same_static
from gradscribe.ir.types import Opaque, Scalar

FrontendValue: TypeAlias = (
    "Value | Static | Ref | TupleOf | ListRef | DictRef | InstanceRef | ObjectRef | LocalFunction"
    " | BoundMethod | PartialOf | Super | Manager | OneShot | Iteration | Rest | Either"
    " | Unbound | slice"
)
"""What a name may stand for; the parts of a slice are frontend values, too."""

Items: TypeAlias = "tuple[FrontendValue, ...] | dict[Any, FrontendValue]"
"""What a storage holds that is no IR value: the items of a list, or of a dict."""

Held: TypeAlias = "Value | Items"
"""What a storage holds."""

Step: TypeAlias = tuple[Any, dict[str, Any], Any]
"""A view of an array: the primitive, its arguments besides the array, and the callee."""

Reference: TypeAlias = "Ref | ListRef | DictRef | InstanceRef"
"""What stands for memory."""


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object that is known when the function is compiled."""

    value: Any

    def __hash__(self) -> int:
        if isinstance(self.value, slice):
            return hash(slice)
        return hash(self.value) if isinstance(self.value, CONSTANTS) else id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and same_static(self.value, other.value)


ALL = 99
"""More levels than lists have."""


@dataclass(eq=False, slots=True, repr=False)
class Storage:
    """A piece of memory.

    overlaps: other storages that may be (part of) the same memory. holds: of a list, the storages
    of the very objects that it holds (besides the items that are known one by one). levels: of
    a list (of lists …), in how many levels of it no object is twice, for certain. read_only:
    whether it cannot be stored to; of a list, whether it may hold what cannot be. kept: whether
    code that cannot be read may have kept it, under another name (see `kept_memory`). part_of: of a
    list that is a slice of another, that one and the slice. of_dict: whether it is the list of the
    "keys", or of the "items", of a dict. place: of a dict, where in the source it is made. derived:
    its class, if that is one derived from list or dict, which may have attributes of its own.
    serial: storages are numbered as they are made.
    """

    name: str = ""
    overlaps: frozenset[Storage] = frozenset()
    family: Family | None = None
    tokens: frozenset[int] = frozenset()
    holds: frozenset[Storage] = frozenset()
    levels: int = 0
    read_only: bool = False
    kept: bool = False
    place: tuple[str, int, int] | None = None
    part_of: tuple[ListRef, SliceOf] | None = None
    of_dict: str = ""
    derived: type | None = None
    serial: int = field(default_factory=itertools.count().__next__)

    def __repr__(self) -> str:  # storages lead to one another: a defect shows this one
        return f"{type(self).__name__}({self.name!r}, serial={self.serial})"

    @property
    def reached(self) -> frozenset[Storage]:
        """What an item that is read from it may be."""
        return frozenset({self}) | self.overlaps | self.holds


@dataclass(eq=False, slots=True, repr=False)
class Turn(Storage):
    """The storage of an iterator, which tells whether its items have been taken."""


@dataclass(eq=False, slots=True, repr=False)
class Cell(Storage):
    """The storage of an attribute of an object: its contents are a dict of this one item."""


def may_overlap(a: Storage, b: Storage) -> bool:
    """Whether two storages may be (part of) the same memory."""
    if a is b:
        return True
    if a.family is not None and a.family is b.family:
        return bool(a.tokens & b.tokens)
    return any(
        one is other or (one.family is not None and bool(one.tokens & other.tokens))
        for one in (a, *a.overlaps)
        for other in (b, *b.overlaps)
        if one is other or one.family is other.family
    )


def may_hold(container: Storage, item: Storage) -> bool:
    """Whether a list may hold (a view of) this piece of memory."""
    return not container.holds.isdisjoint({item} | item.overlaps)


@dataclass(frozen=True, eq=False, slots=True)
class Ref:
    """An array: a view, along a path, of the contents of a storage."""

    storage: Storage
    path: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class FlatRef(Ref):
    """`a.flat`: stores to it change the array, but what is read of it is a copy. turn: tells, as of
    an iterator, whether its items have been taken. array: `a`, where its memory may not be one
    piece: then the path leads to what is read of it, and a store has to be one to `a`."""

    turn: Turn = field(default_factory=Turn)
    array: Ref | None = None


@dataclass(frozen=True, eq=False, slots=True)
class TupleOf:
    """A tuple of known structure. cls: tuple or a namedtuple class. derived: its class, if that is
    another one derived from tuple, which may have attributes of its own."""

    items: tuple[FrontendValue, ...]
    cls: type = tuple
    derived: type | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False, slots=True)
class ViewOf(TupleOf):
    """`owner.keys()`, `.values()` or `.items()` (kind) of a dict of known keys, as it was where it
    was taken."""

    owner: DictRef = field(kw_only=True)
    kind: str = field(kw_only=True)


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

    target: the object in the specializing call; path: where it is found at each call; name: what
    the program calls it. grown: a container that is only added to, as the object that it is.
    """

    target: Any
    path: AccessPath
    name: str = ""
    grown: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class InstanceRef:
    """An object whose fields the compiler knows: one that the function made, or a dataclass among
    its arguments.

    storage: stands for the object itself. cells: the storages of the attributes that were ever
    stored. lists: those that are named as it is, with what is put behind its name.
    """

    cls: type
    storage: Storage
    cells: dict[str, Cell]
    lists: tuple[tuple[ListRef, str], ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class BoundMethod:
    """`receiver.name`, called like a function. function: the Python function that it is, where
    that is known."""

    receiver: FrontendValue
    name: str
    function: Any = None


@dataclass(frozen=True, eq=False, slots=True)
class Super:
    """`super()` in a method that was found in the class `after`."""

    after: type
    receiver: Any


@dataclass(frozen=True, eq=False, slots=True)
class PartialOf:
    """`functools.partial(function, *arguments, **keywords)`."""

    function: FrontendValue
    arguments: tuple[FrontendValue, ...]
    keywords: dict[str, FrontendValue]

    @property
    def parts(self) -> tuple[FrontendValue, ...]:
        """The function and all that it is given."""
        return self.function, *self.arguments, *self.keywords.values()

    def with_parts(self, parts: Sequence[FrontendValue]) -> PartialOf:
        """The same with other parts, in the order of `parts`."""
        function, *given = parts
        count = len(self.arguments)
        keywords = dict(zip(self.keywords, given[count:], strict=True))
        return PartialOf(function, tuple(given[:count]), keywords)


@dataclass(frozen=True, eq=False, slots=True)
class LocalFunction:
    """A nested function or lambda together with the frame that it closes over."""

    node: Any
    frame: Any
    defaults: dict[str, FrontendValue] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Made:
    """What makes an iterator in the running program: a call of a function, which is a
    `LocalFunction` or an object."""

    callee: Any
    arguments: tuple[FrontendValue, ...] = ()
    keywords: dict[str, FrontendValue] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class OneShot:
    """An iterator (see `memory.iterators`): `zip(…)`, a generator expression.

    items: makes its items, given the node that takes them. storage: tells whether they have been
    taken. holds: the values that they are made of. origin: what makes it, where that is known.
    """

    storage: Storage
    items: Callable[[Any], FrontendValue]
    holds: tuple[FrontendValue, ...]
    origin: Made | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Iteration:
    """What a `for` runs over (see `iterations`)."""

    @property
    def inner(self) -> tuple[Iteration, ...]:
        """The iterations that its items are made of."""
        return ()

    def with_inner(self, inner: Sequence[Iteration]) -> Iteration:
        """The same made of other iterations."""
        return self

    @property
    def leaves(self) -> Iterator[Leaf]:
        """The iterations without inner ones that it is made of, in the end."""
        for one in self.inner:
            yield from one.leaves

    @property
    def parts(self) -> tuple[FrontendValue, ...]:
        """The values that it leads to."""
        return self.inner

    @property
    def is_reversed(self) -> bool:
        """Whether it runs through something from the last item to the first."""
        return any(leaf.reversed for leaf in self.leaves)

    @property
    def computes(self) -> bool:
        """Whether it may run code where an item is taken."""
        return any(one.computes for one in self.inner)

    @property
    def is_endless(self) -> bool:
        """Whether it never comes to an end (after more iterations than a machine makes)."""
        return bool(self.inner) and all(one.is_endless for one in self.inner)


@dataclass(frozen=True, eq=False, slots=True)
class Leaf(Iteration):
    """Takes the items of one thing. reversed: from the last to the first."""

    reversed: bool = field(default=False, kw_only=True)

    @property
    def leaves(self) -> Iterator[Leaf]:
        yield self

    def in_order(self, items: tuple[FrontendValue, ...]) -> tuple[FrontendValue, ...]:
        """Items of what it runs over in the order in which they are taken."""
        return items[::-1] if self.reversed else items


@dataclass(frozen=True, eq=False, slots=True)
class Rest:
    """What is left of an iterator. early: what was computed at once of it (see `at_once`)."""

    iteration: Iteration
    early: tuple[Any, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Manager:
    """A context manager that `with` may enter.

    kind: "kept" (in the emitted code: `callee(*arguments, **keywords)`, or, without callee, the
    one argument), "null" (hands out its one argument), "mode" (gradients on or off).
    """

    kind: str
    arguments: tuple[FrontendValue, ...] = ()
    keywords: dict[str, FrontendValue] = field(default_factory=dict)
    callee: Any = None


@dataclass(frozen=True, eq=False, slots=True)
class Either:
    """A value of one kind or of another: `first` where the flag is true, else `second`.

    What reads it is lowered twice, under the flag and under its negation (see `splitting`).
    """

    flag: Value
    first: FrontendValue
    second: FrontendValue


def possibilities(item: FrontendValue) -> Iterator[FrontendValue]:
    """What a value may be that is of one kind or of another."""
    if isinstance(item, Either):
        yield from possibilities(item.first)
        yield from possibilities(item.second)
    else:
        yield item


@dataclass(frozen=True, eq=False, slots=True)
class Unbound:
    """A name without a value on some path; reading it raises, in Python and here.

    loop: the loop (its `Carried`) that binds it only later in its body, if that is the reason.
    mixed: whether it has a value in Python, of which it is not known which of several kinds it is.
    raises: whether it is the name that is not bound, which Python says by an `UnboundLocalError`.
    """

    reason: str
    loop: Any = None
    mixed: bool = False
    raises: bool = False

    @staticmethod
    def on_one_path(name: str = "", **how: bool) -> Unbound:
        """A name, or something without one, that has a value on the other path."""
        shown = f"`{name}`" if name else "it"
        return Unbound(f"{shown} has no value on one path", **how)


def known_objects(items: Iterable[FrontendValue]) -> list[Any] | None:
    """The Python objects that these are, if all of them are known."""
    given = tuple(items)
    found = [item.value for item in given if isinstance(item, Static)]
    return found if len(found) == len(given) else None


PLAIN_NUMBERS = (bool, int, float, complex, np.generic)


def is_number(item: object) -> TypeGuard[Static | Value]:
    """Whether a frontend value is a scalar (static or not)."""
    value = item.value if isinstance(item, Static) else None
    return isinstance(value, PLAIN_NUMBERS) or scalar_type(item) is not None


def scalar_type(item: object) -> Scalar | None:
    """The type of a number that only the run tells; None of all else."""
    return item.type if isinstance(item, Value) and isinstance(item.type, Scalar) else None


def opaque_type(item: object) -> Opaque | None:
    """The type of an object that only the run tells; None of all else."""
    return item.type if isinstance(item, Value) and isinstance(item.type, Opaque) else None


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value is: a run-time "number", "array" or "opaque" value; "static", one object;
    "tuple"; "partial", a function and what it is given; "list", of items of one kind; "items", a
    list of others; "dict"; "object". detail: the dtype and rank; the object; the shape and the
    kinds of the parts; the kind of all items."""

    name: str
    detail: Any = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The kind of an `Either`."""

    first: Kind | Choice
    second: Kind | Choice
