"""The state of lowering one function: frames, storage, and the way from values to IR.

`Lowering` is what all modules of the frontend share. It holds the builder, the stack of
frames (a call of a helper opens one), and `State`, the part that forks at a branch and is
joined after it: the names of the current frame, the contents of storages, and the views
that were already taken of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradscribe.errors import GradscribeError, UnsupportedError
from gradscribe.frontend import wording
from gradscribe.frontend.calls.definitions import AlwaysRaisesError, Recursion
from gradscribe.frontend.control.carried_entry import Entry
from gradscribe.frontend.data.places import Place
from gradscribe.frontend.frame import Frame
from gradscribe.frontend.interface import Capture, CaptureCallback, Dependency, Path
from gradscribe.frontend.interface import Place as DictPlace
from gradscribe.frontend.numbering import Numbering
from gradscribe.frontend.values import (
    Cell,
    Either,
    InstanceRef,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Location, Operation, Parameter, Primitive, Value
from gradscribe.ir.types import (
    NONE,
    Array,
    Never,
    Scalar,
    Sequence,
    Tuple,
    Type,
    Undefined,
    is_differentiable,
)
from gradscribe.primitives.control import (
    APPEND,
    CONSTANT,
    GET,
    ITEM,
    LIST,
    POP,
    SET,
    STOP_GRADIENT,
    TUPLE,
    UNDEF,
)
from gradscribe.primitives.lists import OPERATIONS

if TYPE_CHECKING:
    from gradscribe.frontend.calls.recursion import Enclosed

# Names that no Python program can have: the exits of the current frame and loop, each a
# flag that is true as long as the exit was not taken, and the value returned.
NOT_RETURNED, NOT_BROKEN, NOT_CONTINUED = "not returned", "not broken", "not continued"
RETURN_VALUE = "return value"
EXITS = (NOT_RETURNED, NOT_BROKEN, NOT_CONTINUED)

_HANDING_ON = frozenset({CONSTANT, TUPLE, ITEM, LIST, APPEND, POP, GET, SET, STOP_GRADIENT})
"""Operations that compute nothing: under `no_grad`, what they hand on keeps its derivative."""

PLAIN_NUMBERS = (bool, int, float, complex, np.generic)


_AS_IN_PYTHON = "correct it: plain Python raises here, too"


class MisfitError(UnsupportedError):
    """The arguments of an operation do not fit it, as its type rule says."""


class SplitError(Exception):
    """A value is of one kind where the flag is true, and of another where it is not: what reads
    it has to be lowered for each."""

    def __init__(self, flag: Value, location: Location | None) -> None:
        self.flag = flag
        self.location = location


class Lowering:
    """The context that all handlers of the frontend are given.

    parameters: the names of the arguments of the whole function.
    keyed: the places in the source that make dicts whose keys are known at run time only.
    stored: the memory that is stored to. distinct: lists whose items are stored to, each for
    itself. rearranged: lists that get other items. roots: the memory that is stored to, and for
    items of lists the list. augmented: the numbers to which `op=` is applied.
    entered: the contents of captured variables when they were met: they are there in every state,
    also in one before that.
    added: attributes that were stored after their object was made, as (the object, the contents
    before): they are there in every state that has the object.
    fields: the attributes of objects from outside that are stored to; owners: where these are.
    met: the objects from outside, by identity, with the paths to each. compared: those of which it
    matters which they are.
    opened, grown: containers from outside whose items are known, and those to which items are only
    added, by identity.
    below: the frames that call the recursive function which is being lowered. enclosed: that
    function, as it stands in the one that calls it.
    counts: how many items the masks take, by the number of the mask.
    cutting: whether what is computed passes no derivative on.
    contiguous: the arguments that lie in C order in the specializing call; assumed_contiguous:
    those of which that is assumed. carried, rows: of the parameters of the loops being lowered,
    what carries them (with its initial value), and the arrays that they are the rows of.
    assumed: the conditions under which the current path is taken, by key. has_alternatives:
    whether there are values of two kinds (`Either`).
    discarded: the expression whose value nobody uses, for it is a statement. iterable: the one
    that a `for` runs over. iterated: the arrays and lists that are run over now. sliced: the
    lists of which a slice is run over now, item by item. as_objects: whether
    containers from outside are taken as the objects that they are, not as inputs. attempts: of
    each `try` around, in how many blocks it stands, and what it catches. handled: the exception
    that is being handled. remembered: the contents of what local functions read that remember
    their results, by function and name. protected: the lists that such functions returned.
    generated: what the generators have read whose items are taken (see `generators`). yielded: the
    memory of what those have yielded that are being lowered. leaving: whether the loop that takes
    the items may leave before their end.
    set_items: the types of what is entered in sets of the running program; listed_sets: of what is
    taken from them.
    """

    def __init__(
        self,
        builder: Builder,
        capture: CaptureCallback | None = None,
        keyed: frozenset[DictPlace] = frozenset(),
    ) -> None:
        self.builder = builder
        self.keyed = keyed
        self.capture = capture
        self.parameters: tuple[str, ...] = ()
        self.frames: list[Frame] = []
        self.contents: dict[Storage, Any] = {}
        self.views: dict[Any, tuple[Value, Value]] = {}
        self.captures: list[tuple[Capture, Parameter]] = []
        self.captured: dict[Any, Any] = {}
        self.entered: dict[Storage, Any] = {}
        self.added: dict[Cell, tuple[Storage, Any]] = {}
        self.fields: dict[Any, Cell] = {}
        self.owners: dict[Cell, Path] = {}
        self.met: dict[int, dict[Any, ObjectRef]] = {}
        self.compared: set[int] = set()
        self.opened: dict[int, Any] = {}
        self.grown: set[int] = set()
        self.dependencies: dict[Any, Dependency] = {}
        self.stored: set[Storage] = set()
        self.roots: set[Storage] = set()
        self.augmented: set[Value] = set()
        self.distinct: set[Storage] = set()
        self.rearranged: set[Storage] = set()
        self.numbering = Numbering(builder.definition)
        self.counts: dict[int, Affine] = {}
        self.contiguous: set[Value] = set()
        self.assumed_contiguous: set[Value] = set()
        self.carried: dict[Value, tuple[Entry, int, Value]] = {}
        self.rows: dict[Value, Value] = {}
        self.assumed: dict[int, bool] = {}
        self.places: dict[Storage, Place] = {}
        self.trips: list[int] = []
        self.iterated: list[Ref | ListRef] = []
        self.sliced: list[Storage] = []
        self.has_alternatives = False
        self.below: tuple[Frame, ...] = ()
        self.enclosed: Enclosed | None = None
        self.cutting = False
        self.holds_none = False
        self.discarded: Any = None
        self.as_objects = False
        self.iterable: Any = None
        self.attempts: list[tuple[int, tuple[type[BaseException], ...]]] = []
        self.handled: Any = None
        self.remembered: dict[Any, Any] = {}
        self.protected: set[Storage] = set()
        self.generated: list[Any] = []
        self.yielded: list[dict[Storage, Any]] = []
        self.leaving = False
        self.set_items: dict[Value | None, list[Type | None]] = {}
        self.listed_sets: dict[Value, Type | None] = {}
        self.recursion = Recursion()

    # -- errors ------------------------------------------------------------------------

    def unsupported(
        self, node: Any, what: str, advice: str, kind: type[GradscribeError] = UnsupportedError
    ) -> NoReturn:
        """Refuse, with the place of `node` in the user's source and what to write there."""
        raise kind(what, advice, self.location(node) if self.frames else None)

    def location(self, node: Any) -> Location:
        """The place of `node`; inside of this package's functions, of the user's call of them."""
        return self.frame.called_at or self.frame.source.location(node)

    def raises(
        self, node: Any, error: Exception, what: str = "", advice: str = _AS_IN_PYTHON
    ) -> NoReturn:
        """Say that Python itself raises this here; refused, unless a `try` handles it."""
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        what = what or f"this always raises {said}"
        location = self.frame.source.location(node) if self.frames else None
        raise AlwaysRaisesError(what, advice, location, type(error), Static(error))

    def meet(self, ref: ObjectRef, *, compared: bool = False) -> None:
        """Note where an object from outside was found, and whether it matters which one it is."""
        self.met.setdefault(id(ref.target), {}).setdefault(ref.path.place, ref)
        if compared:
            self.compared.add(id(ref.target))

    # -- frames and state ----------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def fork(self) -> State:
        """The state now, to return to."""
        names, contents, views = dict(self.frame.names), dict(self.contents), dict(self.views)
        return State(names, contents, views, self.assumed, dict(self.places))

    def restore(self, state: State) -> None:
        """Make a (copied) state the current one."""
        self.complete(state)
        self.frame.names = dict(state.names)
        self.contents = dict(state.contents)
        self.views = dict(state.views)
        self.assumed = state.assumed
        self.places = dict(state.places)

    def complete(self, state: State) -> None:
        """Enter in a state the variables that were captured, and the attributes that were added,
        after it."""
        for storage, contents in self.entered.items():
            state.contents.setdefault(storage, contents)
        for storage, (owner, contents) in self.added.items():
            if owner in state.contents:
                state.contents.setdefault(storage, contents)

    @contextmanager
    def inside(self, operations: list[Operation]) -> Iterator[None]:
        """Append to a block that was opened before."""
        with self.builder.resume(operations):
            yield

    # -- from frontend values to IR values and back ----------------------------------------

    def emit(
        self, primitive: Primitive, arguments: Mapping[str, Any], callee: Any = None, name: str = ""
    ) -> Value:
        """Append an operation, whose derivative is cut under `no_grad`."""
        if not self.cutting or primitive in _HANDING_ON:
            return self.plain(primitive, arguments, callee, name)
        value = self.plain(primitive, arguments, callee)
        if is_differentiable(value.type):
            return self.builder.call(STOP_GRADIENT, {"x": value}, name=name)
        return self.builder.rename(value, name) if name else value

    def plain(
        self, primitive: Primitive, arguments: Mapping[str, Any], callee: Any = None, name: str = ""
    ) -> Value:
        """Append an operation; a type error of its rule is shown at the current statement."""
        if primitive in OPERATIONS and not self.holds_none:
            given = wording.values_in(arguments)
            self.holds_none = any(_is_or_holds_none(value.type) for value in given)
        try:
            return self.builder.call(primitive, arguments, callee=callee, name=name)
        except GradscribeError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise self._misfit(primitive, callee, arguments, error) from None

    def _misfit(
        self, primitive: Primitive, callee: Any, arguments: Mapping[str, Any], error: Exception
    ) -> MisfitError:
        """The refusal for what the type rule of a primitive says of its arguments."""
        given = wording.operands(self.builder.facts, wording.values_in(arguments))
        advice = getattr(error, "advice", "") or f"correct what it is given{given and ': '}{given}"
        what = f"{wording.operation(primitive, callee)} cannot be compiled here: {error}"
        return MisfitError(what, advice, self.builder.location)

    def constant(self, number: Any) -> Value:
        return self.emit(CONSTANT, {"value": number})

    def value(self, item: Any) -> Value:
        """The IR value that a frontend value is, or holds."""
        if isinstance(item, Value):
            return item
        if isinstance(item, Static):
            return self.constant(item.value)
        if isinstance(item, Ref):
            return self.load(item)
        if isinstance(item, TupleOf):
            return self.emit(TUPLE, {"items": tuple(map(self.value, item.items))})
        if isinstance(item, ListRef):
            contents = self.contents[item.storage]
            if isinstance(contents, Value):
                return contents
            items = tuple(map(self.value, contents))
            return self.emit(LIST, {"items": items, "item": Never()})
        if isinstance(item, Either):
            known = self.assumed.get(self.numbering.of(item.flag))
            if known is None:
                raise SplitError(item.flag, self.builder.location)
            return self.value(item.first if known else item.second)
        if isinstance(item, Unbound) and item.reason:
            advice = "give the name a value on every path"
            raise UnsupportedError(item.reason, advice, self.builder.location)
        kind = type(item).__name__
        raise UnsupportedError(
            f"this {_DESCRIPTIONS.get(kind, kind)} cannot be a run-time value here",
            "use it where it is made, or pass it as an argument",
            self.builder.location,
        )

    def load(self, ref: Ref) -> Value:
        """The contents of an array now: its storage's contents, seen along the path."""
        base: Value = self.contents[ref.storage]
        if not ref.path:
            return base
        key = (ref.storage, *(_path_key(step) for step in ref.path))
        cached = self.views.get(key)
        if cached is not None and cached[0] is base:
            return cached[1]
        value = base
        for primitive, arguments, callee in ref.path:
            first = next(iter(primitive.signature.parameters))
            value = self.plain(primitive, {first: value, **arguments}, callee)
        if isinstance(value.type, Array):
            self.views[key] = (base, value)
        return value

    def wrap(
        self,
        value: Value,
        overlaps: frozenset[Storage] = frozenset(),
        family: Any = None,
        tokens: frozenset[int] = frozenset(),
    ) -> Any:
        """The frontend value for a new IR value (see `Storage` for what it may share)."""
        if isinstance(value.type, Tuple):
            items = [
                self.emit(ITEM, {"x": value, "position": i}) for i in range(len(value.type.items))
            ]
            return TupleOf(tuple(self.wrap(i, overlaps, family, tokens) for i in items))
        if value.type == NONE:
            return Static(None)
        reference = {Array: Ref, Sequence: ListRef}.get(type(value.type))
        if reference is None:
            return value
        storage = Storage(value.name, overlaps, family, tokens)
        self.contents[storage] = value
        return reference(storage)

    def undefined(self, type_: Type) -> Value:
        """A value that is never read, of this type."""
        operation = Operation(UNDEF, (), (self.builder.named(type_),), {"type": type_})
        self.builder.append(operation)
        return operation.result

    def named(self, item: Any, name: str) -> Any:
        """The same value, carrying the user's name if it was made by the current statement."""
        if isinstance(item, Value):
            return self._renamed(item, name)
        if isinstance(item, (Ref, ListRef)) and not getattr(item, "path", ()):
            contents = self.contents[item.storage]
            if not isinstance(contents, Value):
                return item
            renamed = self.builder.rename(contents, name)
            if renamed is not contents:
                self.contents[item.storage] = renamed
                item.storage.name = item.storage.name or name
        elif isinstance(item, Ref):
            key = (item.storage, *(_path_key(step) for step in item.path))
            base = self.contents[item.storage]
            self.views[key] = (base, self.builder.rename(self.load(item), name))
        return item

    def _renamed(self, value: Value, name: str) -> Value:
        """The value under this name, also where it is known as an item of an array."""
        renamed = self.builder.rename(value, name)
        if renamed is not value:
            for key, (base, known) in self.views.items():
                if known is value:
                    self.views[key] = (base, renamed)
        return renamed

    def cells(self, item: InstanceRef) -> list[Cell]:
        """The storages of the attributes that an object has in the present state."""
        return [cell for cell in item.cells.values() if cell in self.contents]


@dataclass(frozen=True, slots=True)
class State:
    """What forks at a branch. assumed: the conditions under which the path is taken."""

    names: dict[str, Any]
    contents: dict[Storage, Any]
    views: dict[Any, tuple[Value, Value]]
    assumed: dict[int, bool]
    places: dict[Storage, Place]


def _path_key(step: tuple[Any, ...]) -> Any:
    primitive, arguments, _ = step
    return (primitive, tuple((k, _hashable(v)) for k, v in arguments.items()))


def _hashable(item: Any) -> Any:
    return tuple(map(_hashable, item)) if isinstance(item, (tuple, list)) else item


_DESCRIPTIONS = {
    "Unbound": "unbound name",
    "DictRef": "dict",
    "BoundMethod": "method",
    "LocalFunction": "function",
    "Iteration": "iterator",
    "OneShot": "iterator",
    "Manager": "context manager",
    "ObjectRef": "object",
    "InstanceRef": "object",
    "PartialOf": "function",
    "Super": "object",
}


def is_number(item: Any) -> bool:
    """Whether a frontend value is a scalar (static or not)."""
    if isinstance(item, Static):
        return isinstance(item.value, PLAIN_NUMBERS)
    return isinstance(item, Value) and isinstance(item.type, Scalar)


def is_undefined(item: Any) -> bool:
    return isinstance(item, Unbound) or (
        isinstance(item, Value) and isinstance(item.type, Undefined)
    )


def _is_or_holds_none(type_: Type) -> bool:
    items = type_.items if isinstance(type_, Tuple) else ()
    return type_ == NONE or any(map(_is_or_holds_none, items))
