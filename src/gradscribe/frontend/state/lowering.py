"""The state of lowering one function: frames, storage, and the way from values to IR.

`Lowering` is what all modules of the frontend share. It holds the builder, the stack of frames (a
call of a helper opens one), the part that forks at a branch and is joined after it (`State`: the
names of the current frame, the contents of storages, the views that were already taken of them),
and what is known on every path (see `lowering_state`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from gradscribe.errors import GradscribeError, UnsupportedError, raised_as
from gradscribe.frontend.interface import SHARING, CaptureCallback, Recording, SourcePlace
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.definitions import Recursion
from gradscribe.frontend.state.entries import Entries, EntryMethods
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.interruptions import AlwaysRaisesError, SplitError
from gradscribe.frontend.state.knowledge import (
    CachedFunctions,
    Changes,
    Exceptions,
    Generators,
    GradientModes,
    Kept,
    Layouts,
    Loops,
    Nesting,
    Outside,
    ReadItem,
    Sets,
    Sharing,
    State,
    Statement,
    Variants,
)
from gradscribe.frontend.state.lasting import Lasting
from gradscribe.frontend.state.numbering import Numbering
from gradscribe.frontend.state.package import Package
from gradscribe.frontend.state.trial import Trial
from gradscribe.frontend.values.families import Family
from gradscribe.frontend.values.values import (
    Cell,
    Either,
    FrontendValue,
    Held,
    InstanceRef,
    ListRef,
    Ref,
    Static,
    Step,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Location, Operation, Primitive, Value
from gradscribe.ir.types import NONE, Array, Never, Opaque, Sequence, Tuple, Type, is_differentiable
from gradscribe.primitives.control import (
    APPEND,
    CHECK,
    CONSTANT,
    EFFECT,
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
from gradscribe.primitives.typing import hashable

_HANDING_ON = frozenset({CONSTANT, TUPLE, ITEM, LIST, APPEND, POP, GET, SET, STOP_GRADIENT})
"""Operations that compute nothing: under `no_grad`, what they hand on keeps its derivative."""

_REFERENCES: dict[type[Type], type[Ref] | type[ListRef]] = {Array: Ref, Sequence: ListRef}

_ALONE = Package()

_AS_IN_PYTHON = "correct it: plain Python raises here, too"


class Lowering(EntryMethods):
    """The context that all handlers of the frontend are given.

    parameters: the names of the arguments of the whole function.
    keyed: the places in the source that make dicts whose keys are known at run time only.
    added: attributes that were stored after their object was made, as (the object, the contents
    before): they are there in every state that has the object.
    samples: what calls gave on trial, by the arrays that they make in the program.
    inputs: what the leaves of arguments, and what is captured, are in the specializing call.
    counts: how many items the masks take, by the number of the mask.
    assumed: the conditions under which the current path is taken, by key.
    has_tensors: whether a Tensor has come in, so that a number may be one without axes;
    of_tensors: the leaves of the inputs with Tensors.
    recording: which calls are recorded at run time (None: none may be).
    package: what is known of the package around.

    The rest are states of their own, of `knowledge`: see there.
    """

    def __init__(
        self,
        builder: Builder,
        entries: Entries,
        capture: CaptureCallback | None = None,
        keyed: frozenset[SourcePlace] = frozenset(),
        recording: Recording | None = None,
        package: Package = _ALONE,
    ) -> None:
        self.builder = builder
        self.package = package
        self.entries = entries
        self.recording = recording
        self.keyed = keyed
        self.capture = capture
        self.parameters: tuple[str, ...] = ()
        self.frames: list[Frame] = []
        self.contents: dict[Storage, Held] = {}
        self.views: dict[Any, tuple[Value, Value]] = {}
        self.samples: dict[Value, Any] = {}
        self.inputs: dict[Value, Any] = {}
        self.added: dict[Cell, tuple[Storage, Any]] = {}
        self.outside = Outside()
        self.changes = Changes()
        self.loops = Loops()
        self.generators = Generators()
        self.sets = Sets()
        self.numbering = Numbering(builder.definition)
        self.counts: dict[int, Affine] = {}
        self.assumed: dict[int, bool] = {}
        self.places: dict[Storage, ReadItem] = {}
        self.has_tensors = False
        self.of_tensors: set[Value] = set()
        self.kept = Kept()
        self.recursion = Recursion()
        self.nesting = Nesting()
        self.layouts = Layouts()
        self.variants = Variants()
        self.modes = GradientModes()
        self.statement = Statement()
        self.exceptions = Exceptions()
        self.cached = CachedFunctions()
        self.lasting = Lasting()
        self.sharing = Sharing(is_told=SHARING in keyed)

    # -- errors ------------------------------------------------------------------------

    def unsupported(
        self,
        node: Any,
        what: str,
        advice: str,
        kind: type[GradscribeError] = UnsupportedError,
        python: type[Exception] | None = None,
    ) -> NoReturn:
        """Refuse, with the place of `node` in the user's source and what to write there. python:
        the class of what Python raises in any case."""
        kind = kind if python is None else raised_as(kind, python)
        raise kind(what, advice, self.location(node) if self.frames else None)

    def location(self, node: Any) -> Location:
        """The place of `node`; inside of this package's functions, of the user's call of them."""
        if node is None and self.builder.location is not None:
            return self.builder.location
        return self.frame.called_at or self.frame.source.location(node)

    def raises(
        self, node: Any, error: Exception, what: str = "", advice: str = _AS_IN_PYTHON
    ) -> NoReturn:
        """Say that Python itself raises this here; refused, unless a `try` handles it."""
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        what = what or f"this always raises {said}"
        location = self.frame.source.location(node) if self.frames else None
        raise AlwaysRaisesError(what, advice, location, type(error), Static(error))

    def check(
        self,
        condition: Value,
        what: str,
        advice: str = "let it return what is new",
        error: type[UnsupportedError] = UnsupportedError,
    ) -> Value:
        """Refuse at run time what this does not hold for. In the program nothing is raised there,
        so no handler in it applies. The value that is given says that this has been checked."""
        tree = {"condition": condition, "what": what, "advice": advice, "error": error}
        return self.plain(CHECK, tree)

    # -- frames and state ----------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def fork(self) -> State:
        """The state now, to return to."""
        names, contents, views = dict(self.frame.names), dict(self.contents), dict(self.views)
        places, held = dict(self.places), dict(self.kept.held)
        return State(names, contents, views, self.assumed, places, held)

    def trial(self) -> Trial:
        """What is lowered from now on in this block, which can be taken back."""
        return Trial(self)

    def restore(self, state: State) -> None:
        """Make a (copied) state the current one."""
        self.complete(state)
        self.frame.names = dict(state.names)
        self.contents = dict(state.contents)
        self.views = dict(state.views)
        self.assumed = state.assumed
        self.places = dict(state.places)
        self.kept.held = dict(state.held)

    def complete(self, state: State) -> None:
        """Enter in a state the variables that were captured, and the attributes that were added,
        after it."""
        for storage, contents in self.outside.entered.items():
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
        if not self.modes.cutting or primitive in _HANDING_ON or callee in (min, max):
            return self.plain(primitive, arguments, callee, name)
        value = self.plain(primitive, arguments, callee)
        if is_differentiable(value.type):
            return self.builder.call(STOP_GRADIENT, {"x": value}, name=name)
        return self.builder.rename(value, name)

    def plain(
        self, primitive: Primitive, arguments: Mapping[str, Any], callee: Any = None, name: str = ""
    ) -> Value:
        """Append an operation; a type error of its rule is shown at the current statement."""
        if primitive in OPERATIONS and not self.nesting.holds_none:
            given = wording.values_in(arguments)
            self.nesting.holds_none = any(_is_or_holds_none(value.type) for value in given)
        with self._fitting(primitive, arguments, callee):
            made = self.builder.call(primitive, arguments, callee=callee, name=name)
        self.lasting.is_made |= primitive is EFFECT and isinstance(made.type, Opaque)
        return made

    def type_of(self, primitive: Primitive, arguments: Mapping[str, Any], callee: Any) -> Type:
        """The type of what such an operation would give."""
        with self._fitting(primitive, arguments, callee):
            return self.builder.type_of(primitive, arguments, callee)

    @contextmanager
    def _fitting(
        self, primitive: Primitive, arguments: Mapping[str, Any], callee: Any
    ) -> Iterator[None]:
        try:
            yield
        except GradscribeError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise self.misfit(primitive, callee, arguments, error) from None

    def constant(self, number: Any) -> Value:
        return self.emit(CONSTANT, {"value": number})

    def value(self, item: FrontendValue) -> Value:
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
        raise UnsupportedError(
            f"this {wording.kind(item)} cannot be a run-time value here",
            "use it where it is made, or pass it as an argument",
            self.builder.location,
        )

    def load(self, ref: Ref) -> Value:
        """The contents of an array now: its storage's contents, seen along the path."""
        base = self.value_in(ref.storage)
        if not ref.path:
            return base
        key = (ref.storage, *(_path_key(step) for step in ref.path))
        cached = self.views.get(key)
        if cached is not None and cached[0] is base:
            return cached[1]
        value = self.along(ref.path, base)
        if isinstance(value.type, Array):
            self.views[key] = (base, value)
        return value

    def along(self, path: tuple[Step, ...], value: Value) -> Value:
        """The view of an array that a path leads to."""
        for primitive, arguments, callee in path:
            first = next(iter(primitive.signature.parameters))
            value = self.plain(primitive, {first: value, **arguments}, callee)
        return value

    def wrap(
        self,
        value: Value,
        overlaps: frozenset[Storage] = frozenset(),
        family: Family | None = None,
        tokens: frozenset[int] = frozenset(),
    ) -> FrontendValue:
        """The frontend value for a new IR value (see `Storage` for what it may share)."""
        if isinstance(value.type, Tuple):
            items = [
                self.emit(ITEM, {"x": value, "position": i}) for i in range(len(value.type.items))
            ]
            return TupleOf(tuple(self.wrap(i, overlaps, family, tokens) for i in items))
        if value.type == NONE:
            return Static(None)
        reference = _REFERENCES.get(type(value.type))
        return value if reference is None else reference(self._new(value, overlaps, family, tokens))

    def array(self, value: Value, overlaps: frozenset[Storage] = frozenset()) -> Ref:
        """The same of an array."""
        return Ref(self._new(value, overlaps))

    def run_time_list(self, value: Value) -> ListRef:
        """The same of a list."""
        return ListRef(self._new(value))

    def _new(
        self,
        value: Value,
        overlaps: frozenset[Storage] = frozenset(),
        family: Family | None = None,
        tokens: frozenset[int] = frozenset(),
    ) -> Storage:
        storage = Storage(value.name, overlaps, family, tokens)
        self.contents[storage] = value
        return storage

    def undefined(self, type_: Type) -> Value:
        """A value that is never read, of this type."""
        operation = Operation(UNDEF, (), (self.builder.named(type_),), {"type": type_})
        self.builder.append(operation)
        return operation.result

    def named(self, item: FrontendValue, name: str) -> FrontendValue:
        """The same value, carrying the user's name if it was made by the current statement."""
        if isinstance(item, Value):
            self.builder.rename(item, name)
        elif isinstance(item, Ref) and item.path:
            self.builder.rename(self.load(item), name)
        elif isinstance(item, (Ref, ListRef)):
            contents = self.contents[item.storage]
            if not isinstance(contents, Value) or self.builder.rename(contents, name).name == name:
                item.storage.name = item.storage.name or name
        elif isinstance(item, InstanceRef) and name:
            for owner, suffix in item.lists:
                self.named(owner, name + suffix)
        return item

    def value_in(self, storage: Storage) -> Value:
        """The IR value that a storage holds: of an array, or of a list of unknown length."""
        held = self.contents[storage]
        if not isinstance(held, Value):
            raise TypeError(f"{storage} holds known items")
        return held

    def items_in(self, storage: Storage) -> dict[Any, FrontendValue]:
        """The items, by key, that the storage of a dict holds."""
        held = self.contents[storage]
        if not isinstance(held, dict):
            raise TypeError(f"{storage} is of no dict")
        return held

    def attributes(self, item: InstanceRef) -> dict[str, FrontendValue]:
        """The attributes that an object has in the present state."""
        cells = ((name, cell) for name, cell in item.cells.items() if cell in self.contents)
        return {name: self.items_in(cell)[name] for name, cell in cells}

    def cells(self, item: InstanceRef) -> list[Cell]:
        """The storages of the attributes that an object has in the present state."""
        return [cell for cell in item.cells.values() if cell in self.contents]


def _path_key(step: Step) -> Any:
    primitive, arguments, _ = step
    return (primitive, tuple((k, hashable(v)) for k, v in arguments.items()))


def _is_or_holds_none(type_: Type) -> bool:
    items = type_.items if isinstance(type_, Tuple) else ()
    return type_ == NONE or any(map(_is_or_holds_none, items))
