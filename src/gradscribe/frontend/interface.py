"""What the compiler driver hands to the frontend, and what it gets back.

In: for each parameter of the user's function an `Argument`: the structure of its value and
the types of its leaves. Out: a `Lowered`: the IR function, and everything besides the
arguments that it depends on, said as `AccessPath`s that the driver reads again at every call.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Literal

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import Function
from gradscribe.ir.trees import Tree, count_leaves
from gradscribe.ir.types import Type
from gradscribe.primitives.observed import Form
from gradscribe.primitives.recorded_functions import Machine, Site


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of the user's function.

    tree: the structure of its value. A `Leaf` is a run-time value. A `Constant` is static:
        None, a bool, a str, a callable, a module, or any other object, whose attributes are
        then read through `AccessPath`s.
    types: one for each leaf of the tree, in order. contiguous: the numbers of the leaves that are
        arrays in C order in the specializing call (none where that may not be assumed). otherwise:
        likewise, of those that are not.
    has_tensor: whether there is a Tensor in it; one without axes is a number for its type. values:
        of the leaves, in the specializing call (None: not known, or too large to be looked at).
    """

    name: str
    tree: Tree
    types: tuple[Type, ...]
    contiguous: frozenset[int] = frozenset()
    otherwise: frozenset[int] = frozenset()
    has_tensor: bool = False
    values: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class RunTimeObject:
    """An object that the compiled code is given as it is, though nothing is known of its inside
    (given to a `CaptureCallback` in place of the object)."""

    target: Any


SourcePlace = tuple[str, int, int]
"""Where in the source a dict, or the statement that makes a set, is: file, line and column."""


SHARING = ("shared memory", 0, 0)
"""Stands among the places for which a function is lowered once more, where the running program is
to tell which arrays share memory (see `frontend.memory.sharing`)."""


STATE = ("outside state", 0, 0)
"""Likewise, where the running program is to ask whether what it has found outside is what it was;
and the root of the path to what tells that (see `frontend.memory.outside_state`)."""


class RunTimeKeyError(UnsupportedError):
    """A dict of known keys is given one that is computed, or a set an object. place: where it is
    made, if the function can be lowered with another kind of dict or set for it."""

    place: SourcePlace | None = None


class KnownListError(Exception):
    """The integers in a list among the inputs have to be known: the function has to be lowered
    with that list item by item. leaf: its number among the leaves of the inputs."""

    def __init__(self, leaf: int) -> None:
        self.leaf = leaf


class KnownNumberError(Exception):
    """A number from outside of the function has to be known: the function has to be lowered for
    this number alone. place: that of its path."""

    def __init__(self, place: tuple[Any, ...]) -> None:
        self.place = place


Step = tuple[Literal["attribute", "item", "entry"], Any]


@dataclass(frozen=True, eq=False, slots=True)
class AccessPath:
    """Where a value is found at each call: a root, then attributes and items of it.

    root: the number of an argument (an int), or an object that lives as long as the function:
    the namespace of a module (`function.__globals__`), a closure cell, a class, a function.
    `self.W` is AccessPath(0).attribute("W"); a global `np` AccessPath(globals).item("np"); a
    captured variable AccessPath(cell).attribute("cell_contents").
    """

    root: Any
    steps: tuple[Step, ...] = ()

    def attribute(self, name: str) -> AccessPath:
        """The path to an attribute of what this one leads to."""
        return AccessPath(self.root, (*self.steps, ("attribute", name)))

    def item(self, key: Any) -> AccessPath:
        """The path to an item of what this one leads to."""
        return AccessPath(self.root, (*self.steps, ("item", key)))

    def entry(self, key: Any) -> AccessPath:
        """The path to an item that is there, of a dict that makes others when they are read."""
        return AccessPath(self.root, (*self.steps, ("entry", key)))

    @property
    def place(self) -> tuple[Any, ...]:
        """What tells paths apart (roots by identity)."""
        return (self.root if isinstance(self.root, int) else id(self.root), self.steps)


@dataclass(frozen=True, eq=False, slots=True)
class Capture:
    """An implicit input: an extra parameter of the IR function after the user's own."""

    name: str
    path: AccessPath


DependencyKind = Literal[
    "identity",
    "function",
    "equality",
    "class",
    "code",
    "length",
    "keys",
    "names",
    "same",
    "other",
    "distinct",
    "present",
    "absent",
    "without",
    "shows",
    "subclass",
    "alike",
]


@dataclass(frozen=True, eq=False, slots=True)
class Dependency:
    """Something resolved when compiling, which must still hold at each later call.

    identity: the path leads to `value` itself (helpers, modules). function: to a function with the
    code and the namespace of `value`: paths from that function lead from the one that is found.
    equality: to an equal value (strings, flags, None). class: to an object whose class is `value`.
    code: to a function whose `__code__` is `value`. length, keys: to a container of so many items,
    of these keys. names: to the attributes of a class, which have these names. same, other: to the
    very object, or to another one, than the path `value` does. distinct: the path, and those that
    are `value`, lead to different objects. present, absent: to an object that has, or has not, an
    attribute `value`. without: to a dict without the key `value`. shows: to what shows something to
    the code of the user's that is `value` (see `primitives.users_code`). subclass: to a class which
    is derived from those that are the first part of `value`, or not: the second part. alike: to an
    object of the class of `value` that holds the same.
    """

    path: AccessPath
    value: Any
    kind: DependencyKind = "identity"


@dataclass(frozen=True, eq=False, slots=True)
class Change:
    """An array, list or dict from outside that the function leaves changed.

    argument, steps: where it stands: the number of an argument or (after them) of a capture,
        and the way from there. leaf: its number, if it is one leaf.
    tree: what it holds at the end: a `Leaf` for an array or a list of one item type, otherwise
        the structure of the list or dict.
    rearranged: whether a list gets other items, or the same in another order.
    """

    argument: int
    steps: tuple[Step, ...]
    tree: Tree
    leaf: int | None
    rearranged: bool


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """An attribute of an object from outside that the function leaves changed.

    owner: where the object is found at each call. tree: what the attribute holds at the end.
    """

    owner: AccessPath
    name: str
    tree: Tree


class New(enum.Enum):
    """Stands for the former key of an item that was not there before."""

    NEW = enum.auto()


NEW = New.NEW


@dataclass(frozen=True, slots=True)
class ContainerChange:
    """A list, deque or dict from outside that the function leaves changed.

    owner: where it is found at each call; name: what it is called. tree: what is new in it. keys:
    of a dict, the keys at the end. kept: for each item at the end, the key or position that it had
    before, or `NEW`; then `tree` is a tuple of the new ones. None: `tree` is that of a list, which
    is added at the end if `adds`, otherwise it takes the place of the items.
    """

    owner: AccessPath
    name: str
    tree: Tree
    keys: tuple[Any, ...] | None = None
    kept: tuple[Any, ...] | None = None
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """A result that is an argument leaf, or a view of it. path: the steps to the view, as the
    frontend takes them: (primitive, its other arguments, all static, callee). among_results: the
    leaf is not one of the arguments, but one of the results (then of the changes)."""

    leaf: int
    path: tuple[tuple[Any, dict[str, Any], Any], ...] = ()
    among_results: bool = False


@dataclass(frozen=True, slots=True)
class KnownContainer:
    """A list or dict from outside. number: of the nodes that stand for it in the structure of what
    is stored. owner: where it is found at each call."""

    number: int
    owner: AccessPath


@dataclass(frozen=True, slots=True)
class Shown:
    """An object whose memory code that is not read may read, or write to, if is_written. path:
    where it is found at each call."""

    name: str
    path: AccessPath
    is_written: bool


@dataclass(frozen=True, eq=False, slots=True)
class Lowered:
    """The frontend's result.

    function: parameters are the arguments in order, then the captures in order.
    stored: numbers of the leaves that are stored into; their memory must not overlap that of
        any other leaf of the call. distinct: lists among those whose items are stored into; no two
        items may share memory. unclear: leaves that a store under a name of one of several arrays
        may change, and numbers that `op=` changes if they are Tensors. contiguous: leaves
        assumed to be C-contiguous. otherwise: those assumed to lie otherwise in memory.
    attributes, containers: the attributes, lists and dicts that are changed besides. has_modes:
        whether gradient modes are set, which forward mode on Tensors does not heed.
    origins: for each leaf of the result, then of all changes, of the attributes and the
        containers, the argument leaf that it is, or is a view of (None: it is a new one).
        effectful: the function that returns just the new ones, as one tuple.
    storing: the function that returns a pair: the result, and a tuple of what is new in the
        changes. stored_origins: for each leaf of the changes, the argument leaf, or other leaf of
        the changes, that it is, or is a view of (None: it is a new one). handed: the arguments that
        are given to a transform, whose function stores to a copy of them. known: the lists and
        dicts from outside that are stored elsewhere, too. placed: the leaves that are put in
        containers from outside themselves; grown: containers that are but added to. changes_moved:
        whether an item of a list from outside is stored to, and may be at another place of that
        afterwards, or at none. shown: the objects from outside, with whose memory that of an array
        must have nothing in common, if the array is stored to, or the object written. lent: the
        captures that code which is not read may write to itself.
    """

    function: Function
    effectful: Function
    changes: tuple[Change, ...] = ()
    attributes: tuple[AttributeChange, ...] = ()
    containers: tuple[ContainerChange, ...] = ()
    origins: tuple[Origin | None, ...] = ()
    captures: tuple[Capture, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    stored: tuple[int, ...] = ()
    distinct: tuple[int, ...] = ()
    unclear: tuple[int, ...] = ()
    contiguous: tuple[int, ...] = ()
    otherwise: tuple[int, ...] = ()
    has_modes: bool = False
    storing: Function | None = None
    stored_origins: tuple[Origin | None, ...] = ()
    handed: frozenset[int] = frozenset()
    known: tuple[KnownContainer, ...] = ()
    placed: tuple[int, ...] = ()
    grown: frozenset[int] = frozenset()
    changes_moved: bool = False
    shown: tuple[Shown, ...] = ()
    lent: tuple[int, ...] = ()

    @property
    def stores(self) -> bool:
        """Whether the function stores, or may store, into an argument."""
        return bool(self.stored or self.unclear)

    @property
    def has_effects(self) -> bool:
        """Whether the function changes anything that it is given, or finds outside."""
        return bool(self.changes or self.attributes or self.containers)

    @property
    def new_results(self) -> int:
        """How many leaves of the result are new; in `effectful`, those of the changes follow."""
        return self.origins[: len(self.function.body.yields)].count(None)

    @property
    def changed_leaves(self) -> dict[int, int]:
        """The argument leaf that each leaf of the result of `effectful` is the new contents of."""
        results = len(self.function.body.yields)
        leaves: list[int | None] = [None] * results
        leaves += [c.leaf for c in self.changes for _ in range(count_leaves(c.tree))]
        leaves += [None] * (len(self.origins) - len(leaves))
        new = [leaf for leaf, o in zip(leaves, self.origins, strict=True) if o is None]
        return {position: leaf for position, leaf in enumerate(new) if leaf is not None}


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """A call of a Python function that is, or was to be, compiled with its caller.

    caller: the call in which it stands (None: the function that is compiled). from_library: whether
    its caller belongs to Python or an installed numerical library. lines: the file of the function
    that is called, and the first and last line of it. is_remembered: whether it stands in, or is,
    the call of a function that remembers its results, which need not run. is_noted: whether runs
    note what it returns.
    """

    function: FunctionType
    site: Site
    caller: Call | None
    from_library: bool
    lines: tuple[str, int, int]
    is_remembered: bool = False
    is_noted: bool = True


@dataclass(eq=False, slots=True)
class Recording:
    """Which calls are recorded when the program runs, and not compiled; see `recorded_calls`.

    machine: runs them. form: what such a call returns (None: it is no such call); seen: what any
    call returned in a recorded run, if it was one thing; keeping: those that may have kept what
    they were given. compiled: the other calls, in the order in which they are met. around: those
    that are being compiled now, the innermost last. made: the recorded ones. kept: the memory that
    those may have kept, and what was in it then. remembering: how many calls of functions are being
    compiled that remember their results.
    """

    machine: Machine
    form: Callable[[Site], Form | None]
    seen: Callable[[Site], Form | None]
    keeping: Collection[Site] = ()
    compiled: list[Call] = field(default_factory=list)
    around: list[Call] = field(default_factory=list)
    made: list[Call] = field(default_factory=list)
    kept: dict[Any, Any] = field(default_factory=dict)
    remembering: int = 0

    def again(self) -> Recording:
        """The same for another attempt."""
        return Recording(self.machine, self.form, self.seen, self.keeping)


CaptureCallback = Callable[[str, Any], Argument]
"""Called by the frontend with a name and the value that a captured path has now; returns the
typed implicit input (a Tensor is typed as its array) and numbers its leaves after all others."""
