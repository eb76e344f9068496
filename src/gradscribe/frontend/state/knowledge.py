"""What a lowering knows so far, by what it is about.

`State` is the part that forks at a branch and is joined after it. All else holds on every path.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gradscribe.frontend.interface import AccessPath, Capture, Dependency
from gradscribe.frontend.state.carried_entry import Entry, Part
from gradscribe.frontend.state.carried_entry import Path as PartPath
from gradscribe.frontend.state.entries import Enclosing
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    Cell,
    FrontendValue,
    Held,
    ListRef,
    ObjectRef,
    Ref,
    Storage,
)
from gradscribe.ir.core import Location, Operation, Parameter, Value
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Type

Index: TypeAlias = int | Value


@dataclass(frozen=True, slots=True)
class ReadItem:
    """Where an item was read: the list, what its contents were then and their IR value, and an
    index, which is a number or an IR value."""

    owner: Storage
    contents: Held
    value: Value
    index: Index


@dataclass(frozen=True, slots=True)
class State:
    """What forks at a branch. assumed: the conditions under which the path is taken. held: what
    code that cannot be read finds in memory that it may have kept."""

    names: dict[str, FrontendValue]
    contents: dict[Storage, Held]
    views: dict[Any, tuple[Value, Value]]
    assumed: dict[int, bool]
    places: dict[Storage, ReadItem]
    held: dict[Storage, Value]


@dataclass(eq=False, slots=True)
class Changes:
    """stored: the memory that is stored to. roots: that, and for items of lists the list.
    augmented: numbers to which `op=` is applied. distinct: lists whose items are stored to, each
    for itself. rearranged: lists that get other items. regrouped: lists whose items do. reordered:
    objects whose attributes are stored in several orders. handed: what a transform is given."""

    stored: set[Storage] = field(default_factory=set)
    roots: set[Storage] = field(default_factory=set)
    augmented: set[Value] = field(default_factory=set)
    distinct: set[Storage] = field(default_factory=set)
    rearranged: set[Storage] = field(default_factory=set)
    regrouped: set[Storage] = field(default_factory=set)
    reordered: set[Storage] = field(default_factory=set)
    handed: set[Storage] = field(default_factory=set)


@dataclass(eq=False, slots=True)
class Outside:
    """captures: the implicit inputs, with their parameters; captured: by place, what each is.
    entered: the contents of captured variables when they were met: they are there in every state,
    also in one before that. given: likewise of the arguments. first: the number of the first
    storage that the function makes itself.
    fields: the attributes of objects from outside that are stored to; owners: where these are.
    objects: where dataclasses among the inputs are found; beside: their attributes but fields.
    read_in_c, stored_in_c: the objects of which fields that are kept in C are read, or stored.
    met: the objects from outside, by identity, with the paths to each. compared: those of which it
    matters which they are.
    closures: the functions from outside that others of the same code may stand for, by identity,
    with the paths to each.
    opened, grown: containers from outside whose items are known, and those to which items are only
    added, by identity; exposed: objects that unread code may change; read: those among the
    captures; read_through: dicts that read-only mappings show. containers: where those are found
    whose items are known, and those for which a list stands of what is added to them. as_objects:
    whether containers are taken as the objects that they are, not as inputs.
    found: the captures, by identity; memory: the arrays, lists and dicts among them, by storage.
    only_grown: of the objects among them, whether they are but added to.
    originals: the leaves that arrays and lists among them are; placed: of those that the program
    has put in containers from outside.
    shown: the objects whose memory code that is not read is given, with their names and where they
    are found, by identity; written: those to which it may write.
    reaching: the functions from outside that unread code was given (see `outside_reach`); reached:
    the objects that these may change; noted: those of which that has been found; rebound: the
    places of variables that they assign; renewed: the names of attributes that they store, or
    any, if renews_any; seen: the arrays that they find; hidden: how many calls there were of code
    that may change anything outside; tainted: the latest such call, if it, or one before, was given
    what may vary; linked: the values that depend on such a call for no other reason.
    dependencies: what was resolved, and must be the same at each call. leaves: the inputs.
    integers: those that are lists of integers, with their numbers among the leaves. numbers: the
    numbers among the captures, with the places of their paths; known: the places of those that the
    function is lowered for. constants: the inputs of no Tensors, by which nobody differentiates.
    """

    captures: list[tuple[Capture, Parameter]] = field(default_factory=list)
    captured: dict[Any, FrontendValue] = field(default_factory=dict)
    entered: dict[Storage, Held] = field(default_factory=dict)
    first: int = 0
    given: dict[Storage, Any] = field(default_factory=dict)
    only_grown: dict[Any, bool] = field(default_factory=dict)
    originals: dict[Storage, Value] = field(default_factory=dict)
    placed: dict[Storage, Value] = field(default_factory=dict)
    fields: dict[Any, Cell] = field(default_factory=dict)
    owners: dict[Cell, AccessPath] = field(default_factory=dict)
    objects: dict[Storage, AccessPath] = field(default_factory=dict)
    beside: dict[Storage, frozenset[str]] = field(default_factory=dict)
    met: dict[int, dict[Any, ObjectRef]] = field(default_factory=dict)
    read_in_c: dict[int, Any] = field(default_factory=dict)
    stored_in_c: dict[int, Any] = field(default_factory=dict)
    compared: set[int] = field(default_factory=set)
    closures: dict[int, tuple[Any, dict[Any, AccessPath]]] = field(default_factory=dict)
    opened: dict[int, FrontendValue] = field(default_factory=dict)
    grown: set[int] = field(default_factory=set)
    exposed: set[int] = field(default_factory=set)
    found: dict[int, Any] = field(default_factory=dict)
    memory: dict[Storage, Any] = field(default_factory=dict)
    shown: dict[int, tuple[Any, str, AccessPath]] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    reaching: dict[int, Any] = field(default_factory=dict)
    reached: dict[int, Any] = field(default_factory=dict)
    noted: dict[int, Any] = field(default_factory=dict)
    rebound: set[Any] = field(default_factory=set)
    renewed: set[str] = field(default_factory=set)
    renews_any: bool = False
    seen: dict[int, Any] = field(default_factory=dict)
    hidden: int = 0
    tainted: Value | None = None
    linked: set[Value] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    read_through: set[int] = field(default_factory=set)
    containers: dict[Storage, ObjectRef] = field(default_factory=dict)
    as_objects: bool = False
    dependencies: dict[Any, Dependency] = field(default_factory=dict)
    leaves: set[Value] = field(default_factory=set)
    integers: dict[Value, int] = field(default_factory=dict)
    numbers: dict[Value, tuple[Any, ...]] = field(default_factory=dict)
    constants: set[Value] = field(default_factory=set)
    known: frozenset[tuple[Any, ...]] = frozenset()

    def is_seen(self, storage: Storage) -> bool:
        """Whether the caller, or code outside, may see what is in this memory afterwards."""
        reached = {storage, *storage.reached}
        return any(one.serial < self.first or one in self.entered for one in reached)

    def show(
        self, target: Any, name: str = "", path: AccessPath | None = None, *, written: bool = False
    ) -> None:
        """Note what unread code is given (None as its path: this very object, at each call)."""
        if isinstance(target, (*PLAIN_NUMBERS, str, bytes)):
            return
        found = name or probe(target, "__name__") or type(target).__name__
        self.shown[id(target)] = target, str(found), path or AccessPath(target)
        if written:
            self.written.add(id(target))

    def meet(self, ref: ObjectRef, *, compared: bool = False) -> None:
        """Note where an object was found, and whether it matters which one it is."""
        self.met.setdefault(id(ref.target), {}).setdefault(ref.path.place, ref)
        if compared:
            self.compared.add(id(ref.target))


@dataclass(eq=False, slots=True)
class LoopIteration:
    """An iteration of a loop. serial: what is made in it has a storage of a greater number.
    operations: the block of the loop."""

    serial: int
    operations: list[Operation]


@dataclass(eq=False)
class Attempts:
    """The attempts at one loop, or at one way to run it.

    place: where it stands. below: the attempts in its body, in the order in which they are met;
    met: how many of them the present attempt has met. ways: how the loop has to be run.
    entries: what it carries besides the names that it assigns, with the modes; types: those that
    may be assumed; parts: what memory they refer to; tokens: how many are in those; opened: the
    lists that become run-time values. (A storage is known by its number among all that there are
    before the loop, and by its name: each attempt at the loop around it makes new ones.)
    """

    place: Any = None
    below: list[Attempts] = field(default_factory=list)
    met: int = 0
    ways: set[str] = field(default_factory=set)
    entries: list[tuple[Any, str]] = field(default_factory=list)
    types: dict[Any, list[Type]] = field(default_factory=dict)
    parts: dict[Any, dict[PartPath, Part]] = field(default_factory=dict)
    tokens: int = 0
    opened: list[Any] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Loops:
    """The loops that are being lowered.

    carried: of their parameters, what carries them (with its initial value); rows: the arrays that
    they are the rows of. iterations: those that are being lowered, the innermost one last.
    iterable: the expression that takes items one by one, as a `for` does. iterated: the arrays and
    lists that are run over now; sliced: the lists of which a slice is, item by item; left: those
    over which a loop runs that may be left before its end; sets: the sets over which others do.
    attempts: those at the innermost loop.
    told: the attributes that loops have left, where it is known, or a flag tells, whether they
    have.
    """

    carried: dict[Value, tuple[Entry, int, Value]] = field(default_factory=dict)
    rows: dict[Value, Value] = field(default_factory=dict)
    iterations: list[LoopIteration] = field(default_factory=list)
    iterable: Any = None
    iterated: list[Ref | ListRef] = field(default_factory=list)
    sliced: list[Storage] = field(default_factory=list)
    left: frozenset[Storage] = frozenset()
    sets: tuple[Value, ...] = ()
    attempts: Attempts = field(default_factory=Attempts)
    told: set[Value] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Early:
    """Items that were computed at once, by `what`.

    reads: what they are made of, with the memory and the variables that this may have been read
    from, and what these held. fields: how many attributes of objects from outside were stored.
    changed: the memory that computing them changed; has_effects: whether it did more than that.
    """

    what: str
    reads: tuple[FrontendValue, ...]
    held: dict[Storage, Any]
    variables: list[tuple[Frame, str, FrontendValue]]
    fields: int
    changed: frozenset[Storage] = frozenset()
    has_effects: bool = False


@dataclass(eq=False, slots=True)
class Generators:
    """The generators that are being lowered (see `generators`).

    early: the items that were computed at once (see `at_once`). yielded: the memory of what those
    have yielded that are being lowered. leaving: whether the loop that takes the items may leave
    before their end.
    """

    early: list[Early] = field(default_factory=list)
    yielded: list[dict[Storage, Any]] = field(default_factory=list)
    leaving: bool = False


@dataclass(eq=False, slots=True)
class Sets:
    """The types of what is in sets of the running program. items: of what is entered in each;
    listed: of what is taken from them."""

    items: dict[Value | None, list[Type | None]] = field(default_factory=dict)
    listed: dict[Value, Type | None] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Handle:
    """An array that unread code may have.

    array: what it is in the IR. call: the number of the call that it was made for. is_found:
    whether it is memory that such code has already, perhaps as part of another handle.
    """

    array: Value
    call: int
    is_found: bool = False


class Shared:
    """The variables of one call that functions have captured.

    owner: the object in which they are. held: what that holds of each as far as is known. new:
    those that it does not hold yet. pending: those that were bound to arrays, with the block in
    which that was, until it holds them. objects: before a call, what is in it of what may be
    assigned, but for numbers.
    """

    def __init__(self, owner: Value) -> None:
        self.owner = owner
        self.held: dict[str, FrontendValue | None] = {}
        self.new: set[str] = set()
        self.pending: dict[str, list[Operation]] = {}
        self.objects: dict[str, Value] = {}


@dataclass(frozen=True, slots=True)
class Link:
    """That an array may be, or be part of, an older one, of which it is new memory otherwise.
    shares: tells at run time whether it is; None where nothing does."""

    base: Storage
    shares: Value | None


@dataclass(eq=False, slots=True)
class Kept:
    """The arrays that code which cannot be read was given, and may still have, with their handles
    (see `kept_memory`). held: what those hold, as far as the program knows. lost: those without,
    with what the call made that gave them away. renamed: those that it may have under another name;
    carried: what loops carry that is in its containers. calls: how many calls of such code there
    were; gives: whether one was given arrays that it may keep. keeps: whether the one that is
    lowered may keep what it is given. has_functions: whether one was given functions of the program
    that it may keep. variables: those of functions on the stack that it may look up (see
    `kept_variables`). lists: the containers that it may keep, with the objects that it sees in
    their place (see `lent_containers`). unsettled: what was stored to in a `try` when an exception
    came; no other code may see it."""

    handles: dict[Storage, Handle] = field(default_factory=dict)
    held: dict[Storage, Value] = field(default_factory=dict)
    lost: dict[Storage, Value | None] = field(default_factory=dict)
    renamed: set[Storage] = field(default_factory=set)
    carried: set[Storage] = field(default_factory=set)
    calls: int = 0
    gives: bool = False
    keeps: bool = True
    has_functions: bool = False
    variables: dict[Frame, Shared] = field(default_factory=dict)
    lists: dict[Storage, Any] = field(default_factory=dict)
    unsettled: set[Storage] = field(default_factory=set)


@dataclass(eq=False, slots=True)
class Layouts:
    """Which arrays lie in memory in C order. contiguous: the arguments that do in the specializing
    call; assumed_contiguous: those of which that is assumed. otherwise, assumed_otherwise:
    likewise, of those that do not. are_asked: whether arrays are asked for that need not lie so;
    are_forgotten: whether some of them lie in another order than that."""

    contiguous: set[Value] = field(default_factory=set)
    assumed_contiguous: set[Value] = field(default_factory=set)
    otherwise: set[Value] = field(default_factory=set)
    assumed_otherwise: set[Value] = field(default_factory=set)
    are_asked: bool = False
    are_forgotten: bool = False


@dataclass(eq=False, slots=True)
class Variants:
    """Values of two kinds (`Either`). exist: whether there are some. splits: how many times
    something was split into the kinds of what it reads."""

    exist: bool = False
    splits: int = 0


@dataclass(eq=False, slots=True)
class GradientModes:
    """cutting: whether what is computed passes no derivative on. exist: whether some gradient mode
    of the program says so."""

    cutting: bool = False
    exist: bool = False


@dataclass(eq=False, slots=True)
class Statement:
    """The statement that is lowered. discarded: its expression, whose value nobody uses. entering:
    the expression that makes the manager of a `with`."""

    discarded: Any = None
    entering: Any = None


@dataclass(eq=False, slots=True)
class Exceptions:
    """attempts: of each `try` around, in how many blocks it stands, and what it catches. handled:
    the exception that is being handled. partly: how many calls are being lowered that have stored
    a part, or all, of what they store when they raise. warned: whether this is in the block of a
    `warnings.catch_warnings`, or of an `np.errstate` that makes errors of invalid values."""

    attempts: list[tuple[int, tuple[type[BaseException], ...]]] = field(default_factory=list)
    handled: FrontendValue | None = None
    partly: int = 0
    warned: bool = False

    @property
    def heeds_warnings(self) -> bool:
        """Whether the program catches, or takes down, the warnings that come here."""
        caught = [cls for _, classes in self.attempts for cls in classes]
        return self.warned or any(issubclass(cls, Warning) for cls in caught)

    @contextmanager
    def storing_partly(self) -> Iterator[None]:
        """Around the lowering of such a call."""
        self.partly += 1
        try:
            yield
        finally:
            self.partly -= 1


@dataclass(eq=False, slots=True)
class Nesting:
    """The recursive function that is lowered. below: the frames that call it. enclosed: it, as it
    stands in the one that calls it. holds_none: whether lists of it hold None."""

    below: tuple[Frame, ...] = ()
    enclosed: Enclosing | None = None
    holds_none: bool = False


@dataclass(eq=False, slots=True)
class CachedFunctions:
    """Functions that remember their results. contents: of what local ones read, by function and
    name, and of what they are given. keys: the arguments, as far as they are known, for which each
    remembers one. lists: those that they have returned. called_at: where one is called; read,
    attributes: the memory from outside, and the attributes, that they read, with the place of the
    call."""

    contents: dict[Any, Any] = field(default_factory=dict)
    keys: dict[Any, dict[Any, list[Any]]] = field(default_factory=dict)
    lists: set[Storage] = field(default_factory=set)
    called_at: Location | None = None
    read: dict[Storage, Location] = field(default_factory=dict)
    attributes: dict[str, Location] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Sharing:
    """Which arrays share memory (see `memory.sharing`). is_told: whether the running program is to
    tell. links: of arrays that may be part of others, what tells that. apart: of two that are not,
    what has checked it."""

    is_told: bool
    links: dict[Storage, tuple[Link, ...]] = field(default_factory=dict)
    apart: dict[frozenset[Storage], Value] = field(default_factory=dict)
