"""The state of lowering one function: frames, storage, and the way from values to IR.

`Lowering` is what all modules of the frontend share. It holds the builder, the stack of
frames (a call of a helper opens one), and `State`, the part that forks at a branch and is
joined after it: the names of the current frame, the contents of storages, and the views
that were already taken of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from gradscribe.errors import GradscribeError, UnsupportedError
from gradscribe.frontend.definitions import Definition, Recursion
from gradscribe.frontend.interface import Capture, CaptureCallback, Dependency
from gradscribe.frontend.source import Source
from gradscribe.frontend.values import (
    DictRef,
    Iteration,
    ListRef,
    LocalFunction,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operation, Parameter, Primitive, Value
from gradscribe.ir.types import Array, Never, Scalar, Sequence, Tuple, Type, Undefined
from gradscribe.primitives.control import CONSTANT, ITEM, LIST, TUPLE, UNDEF

# Names that no Python program can have: the exits of the current frame and loop, each a
# flag that is true as long as the exit was not taken, and the value returned.
NOT_RETURNED, NOT_BROKEN, NOT_CONTINUED = "not returned", "not broken", "not continued"
RETURN_VALUE = "return value"
EXITS = (NOT_RETURNED, NOT_BROKEN, NOT_CONTINUED)

PLAIN_NUMBERS = (bool, int, float, complex, np.generic)


@dataclass(eq=False, slots=True)
class Frame:
    """One function that is being lowered: its source and its names.

    end: where the current statement ends (line, column). loops: the first lines of the loops
    around it. outer: the frame that a nested function closes over.
    """

    source: Source
    function: FunctionType
    names: dict[str, Any]
    outer: Frame | None = None
    end: tuple[int, int] = (0, 0)
    loops: list[int] = field(default_factory=list)

    def is_read_later(self, name: str) -> bool:
        """Whether a statement after the current one (or in a loop around it) reads the name."""
        first = (self.loops[0], 0) if self.loops else self.end
        return any(place >= first for place in self.source.reads.get(name, ()))


class Lowering:
    """The context that all handlers of the frontend are given.

    entered: the contents of captured variables when they were met: they are there in every state,
    also in one before that. below: the frames that call the recursive function which is being
    lowered, its `definition`.
    """

    def __init__(self, builder: Builder, capture: CaptureCallback | None = None) -> None:
        self.builder = builder
        self.capture = capture
        self.frames: list[Frame] = []
        self.contents: dict[Storage, Any] = {}
        self.views: dict[Any, tuple[Value, Value]] = {}
        self.captures: list[tuple[Capture, Parameter]] = []
        self.captured: dict[Any, Any] = {}
        self.entered: dict[Storage, Any] = {}
        self.dependencies: dict[Any, Dependency] = {}
        self.stored: set[Storage] = set()
        self.below: tuple[Frame, ...] = ()
        self.definition: Definition | None = None
        self.recursion = Recursion()

    # -- errors ------------------------------------------------------------------------

    def unsupported(
        self, node: Any, what: str, advice: str = "", kind: type[GradscribeError] = UnsupportedError
    ) -> NoReturn:
        """Refuse, with the place of `node` in the user's source."""
        raise kind(what, advice, self.frame.source.location(node) if self.frames else None)

    # -- frames and state ----------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def fork(self) -> State:
        """The state now, to return to."""
        return State(dict(self.frame.names), dict(self.contents), dict(self.views))

    def restore(self, state: State) -> None:
        """Make a (copied) state the current one."""
        self.complete(state)
        self.frame.names = dict(state.names)
        self.contents = dict(state.contents)
        self.views = dict(state.views)

    def complete(self, state: State) -> None:
        """Enter in a state the variables that were captured after it."""
        for storage, contents in self.entered.items():
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
        """Append an operation; a type error of its rule is shown at the current statement."""
        try:
            return self.builder.call(primitive, arguments, callee=callee, name=name)
        except GradscribeError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise UnsupportedError(
                f"`{primitive.name}` cannot be compiled here: {error}", "", self.builder.location
            ) from None

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
            value = self.emit(primitive, {first: value, **arguments}, callee)
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
        reference = {Array: Ref, Sequence: ListRef}.get(type(value.type))
        if reference is None:
            return value
        storage = Storage(value.name, overlaps, family, tokens)
        self.contents[storage] = value
        return reference(storage)

    def hold(self, storage: Storage, items: Iterable[Any]) -> None:
        """Note that the list in this storage holds the very objects that these values are."""
        for item in items:
            for held in self.storages(item):
                if held is not storage:
                    storage.holds |= held.reached

    def undefined(self, type_: Type) -> Value:
        """A value that is never read, of this type."""
        operation = Operation(UNDEF, (), (self.builder.named(type_),), {"type": type_})
        self.builder.append(operation)
        return operation.result

    def named(self, item: Any, name: str) -> Any:
        """The same value, carrying the user's name if it was made by the current statement."""
        if isinstance(item, Value):
            return self.builder.rename(item, name)
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

    def storages(self, item: Any) -> Iterator[Storage]:
        """All storages that a value reaches."""
        if isinstance(item, Ref):
            yield item.storage
        elif isinstance(item, (ListRef, DictRef)):
            yield item.storage
            contents = self.contents[item.storage]
            if not isinstance(contents, Value):
                for below in contents.values() if isinstance(contents, dict) else contents:
                    yield from self.storages(below)
        elif isinstance(item, TupleOf):
            for below in item.items:
                yield from self.storages(below)
        elif isinstance(item, Iteration):
            for below in item.parts:
                yield from self.storages(below)
        elif isinstance(item, LocalFunction):
            for below in item.frame.names.values():
                if not isinstance(below, LocalFunction):
                    yield from self.storages(below)


@dataclass(frozen=True, slots=True)
class State:
    """What forks at a branch."""

    names: dict[str, Any]
    contents: dict[Storage, Any]
    views: dict[Any, tuple[Value, Value]]


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
    "ObjectRef": "object",
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
