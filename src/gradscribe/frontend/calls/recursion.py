"""Recursive functions: a function that is met again while it is being lowered.

It becomes an IR function of its own, which is called (`call`), never inlined. It is lowered
for the types of its arguments, of which lengths and integers are not known; what it reads of
the functions and variables around it comes as further parameters. A call with other types
makes another function.

The type of its result is found by iteration: at first a call of it gives nothing, so that only
the paths without one return; then a call gives what those returned, until that stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.boundary.results import result_tree
from gradscribe.frontend.calls.general_types import (
    General,
    bounds_of,
    general_result,
    instances,
    symbols,
)
from gradscribe.frontend.calls.recursive_stores import Stores, take_over
from gradscribe.frontend.containers import run_time_sets
from gradscribe.frontend.interface import STATE, AccessPath
from gradscribe.frontend.joins.splitting import without_none
from gradscribe.frontend.kinds.structure_parts import Kept, Slot
from gradscribe.frontend.memory import kept_memory, outside_state
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.opaque import lent_containers
from gradscribe.frontend.state.definitions import Definition, NotYetKnownError, Result
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.interruptions import EverOtherTypesError, StoredListError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.instances import new_instance
from gradscribe.frontend.structures.structures import Opened, TooLargeError, opened, rebuilt
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    LocalFunction,
    Ref,
    Static,
    Storage,
    TupleOf,
    may_hold,
    may_overlap,
)
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import CALL, Block, Function, Location, Operation, Parameter, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF, Constant, Leaf, Node, Tree
from gradscribe.ir.types import Type
from gradscribe.primitives.control import LIST

_PASSES = 12
"""How often the type of a result may change before it is taken to grow for ever."""

_VARIANTS = 40
"""For how many kinds of arguments a function may call itself."""


_LEAVES = 500
"""Of how many numbers and arrays these may be made."""


def call(lowering: Lowering, node: Any, frame: Frame) -> FrontendValue:
    """Call the function of a new frame, which is known to be recursive; its return value."""
    given = Given(lowering, node, frame, frozenset(), {})
    if lowering.nesting.enclosed is not None:
        lowering.nesting.enclosed.stores.check()
    while True:
        less = lowering.recursion.less.get(given.key)
        if less is not None:
            growing, items = given.growing | less.growing, {**given.items, **less.items}
            given = Given(lowering, node, frame, growing, items)
            continue
        try:
            return _call(lowering, node, frame, given)
        except StoredListError as found:
            if found.key != given.key:
                raise
            lowering.recursion.forget(found)


def _call(lowering: Lowering, node: Any, frame: Frame, given: Given) -> FrontendValue:
    definitions = lowering.recursion.definitions
    definition = definitions.get(given.key)
    if definition is None:
        same = sum(known[0] is frame.source.node for known in definitions)
        if same >= _VARIANTS:
            refuse_other_types(lowering, node, frame)
        definition = _defined(lowering, node, frame, given)
    if definition.result is None:
        raise NotYetKnownError(definition, _location(lowering, node, frame))
    lowering.nesting.holds_none |= definition.holds_none
    for leaf in filter(run_time_sets.is_set, given.leaves):
        run_time_sets.enter(lowering, node, leaf, [None])
    return given.call(definition, definition.result)


def opened_arguments(
    lowering: Lowering, node: Any, frame: Frame, growing: frozenset[int] = frozenset()
) -> Opened:
    """What a function is called with, taken apart (see `structures.opened`)."""
    closure = LocalFunction(frame.source.node, frame.outer) if frame.outer else Static(None)
    arguments = TupleOf(tuple(frame.names.values()))
    try:
        return opened(lowering, node, TupleOf((arguments, closure)), _LEAVES, growing)
    except TooLargeError:
        refuse_other_types(lowering, node, frame)


def refuse_other_types(lowering: Lowering, node: Any, frame: Frame) -> NoReturn:
    """Refuse a recursion that finds no end among the types."""
    raise EverOtherTypesError(frame.source.name, _location(lowering, node, frame))


class Given:
    """The arguments of one call: their structure, and the IR values in it."""

    def __init__(
        self,
        lowering: Lowering,
        node: Any,
        frame: Frame,
        growing: frozenset[int],
        items: dict[int, Type],
    ) -> None:
        self.lowering = lowering
        self.node = node
        self.frame = frame
        self.growing, self.items = growing, items
        given = opened_arguments(lowering, node, frame, growing)
        self.structure, self.leaves, self.storages = given.structure, given.leaves, given.storages
        self.owners = given.owners
        general = General(lowering.builder.facts, "n")
        for number, item in items.items():
            (own,) = instances([item], general.bounds)
            self.leaves[number] = lowering.emit(LIST, {"items": (), "item": own})
        self.types = tuple([general.of(leaf.type) for leaf in self.leaves])
        self.bounds = general.bounds
        self.names = self._names_of_leaves()
        cells = tuple(id(cell) for cell in frame.function.__closure__ or ())
        none = lowering.nesting.holds_none
        self.key = (frame.source.node, cells, self.structure, self.types, none)

    def _names_of_leaves(self) -> list[str]:
        """What the parameters are called: as the function's own, where those are one leaf."""
        names = [leaf.name or "x" for leaf in self.leaves]
        parts = self.structure.root.parts[0].parts
        for name, part in zip(self.frame.names, parts, strict=True):
            part = part.part if isinstance(part, Kept) else part
            if isinstance(part, Slot):
                names[part.number] = name
        return names

    @property
    def location(self) -> Location | None:
        return _location(self.lowering, self.node, self.frame)

    def call(self, definition: Definition, result: Result) -> FrontendValue:
        """Emit the call."""
        lowering, bounds = self.lowering, dict(self.bounds)
        captured = _captured(lowering, definition.captured.values())
        if result.keeps:
            outside_state.refuse_pending(
                lowering, self.node, self.frame.source.name, lowering.kept.handles
            )
            lent_containers.at_the_end(lowering)
            kept_memory.enter_call(lowering, self.node, self.frame.source.name)
        leaves = [leaf for variable in captured for leaf in variable.leaves]
        for known, leaf in zip(definition.captured_types, leaves, strict=True):
            bounds |= bounds_of(known, leaf.type)
        types = instances(result.types, bounds)
        for position, number in enumerate(result.stored, len(types) - len(result.stored)):
            if isinstance(self.owners[number], Ref):
                types[position] = self.leaves[number].type
        results = tuple(lowering.builder.named(type_) for type_ in types)
        operands = (*self.leaves, *leaves)
        attributes = {"function": definition.callee}
        location = lowering.builder.location or self.frame.source.location(self.frame.source.node)
        lowering.builder.append(Operation(CALL, operands, results, attributes, location=location))
        outside = frozenset[Storage]().union(*(variable.storages for variable in captured))
        made = iter(results)
        item = _item(lowering, result.tree, made, self._shared(result, outside))
        for number, contents, levels in zip(result.stored, made, result.levels, strict=True):
            take_over(self, number, contents, levels, outside)
        if result.gives:
            kept_memory.leave_call(lowering, self.storages | outside, results)
        if result.keeps:
            outside_state.ask_again(lowering, f"`{self.frame.source.name}`")
        return item

    def _shared(self, result: Result, captured: frozenset[Storage]) -> frozenset[Storage]:
        """The memory that the result may share."""
        if None in result.shares:
            return self.storages | captured
        owners = (self.owners[number] for number in result.shares if number is not None)
        return frozenset().union(*(owner.storage.reached for owner in owners if owner))


def _captured(lowering: Lowering, variables: Iterable[tuple[Any, AccessPath, str]]) -> list[Opened]:
    """Variables from outside that a recursive function reads, as its caller has them."""
    return [opened(lowering, None, lowering.captured_variable(*where)) for where in variables]


def _location(lowering: Lowering, node: Any, frame: Frame) -> Location | None:
    """The place of a call; of the `def` where the call is the user's own."""
    source = lowering.frame.source if lowering.frames else frame.source
    return source.location(node)


# -- the definition ----------------------------------------------------------------------------


def _defined(lowering: Lowering, node: Any, frame: Frame, given: Given) -> Definition:
    """Lower a recursive function until the type of its result is settled."""
    recursion = lowering.recursion
    definition = recursion.tried.get(given.key)
    if definition is None:
        definition = Definition(recursion.unused_name(_identifier(frame)))
        recursion.tried[given.key] = definition
    known = dict(recursion.definitions)
    recursion.definitions[given.key] = definition
    before = {**recursion.definitions}
    try:
        for _ in range(_PASSES):
            recursion.definitions = dict(before)
            captured = len(definition.captured)
            result = _lower(lowering, node, frame, given, definition)
            if result == definition.result and len(definition.captured) == captured:
                return definition
            definition.result = result
    except BaseException:
        recursion.definitions = known
        raise
    recursion.definitions = known
    return refuse_other_types(lowering, node, frame)


def _identifier(frame: Frame) -> str:
    return frame.source.name if frame.source.name.isidentifier() else "function"


def _inner(lowering: Lowering, frame: Frame) -> Lowering:
    """A lowering of a function of its own, which knows what the one around it has met."""
    asking = lowering.keyed & {STATE}
    inner = Lowering(Builder(Facts()), lowering.entries, keyed=asking, package=lowering.package)
    inner.nesting.below = (*lowering.nesting.below, *lowering.frames)
    inner.recursion, inner.parameters = lowering.recursion, lowering.parameters
    inner.capture = lowering.capture  # which tells user's code, of Tensors, from rules
    inner.nesting.holds_none, inner.has_tensors = lowering.nesting.holds_none, lowering.has_tensors
    inner.outside.dependencies = lowering.outside.dependencies
    inner.outside.closures = lowering.outside.closures
    inner.outside.met, inner.outside.compared = lowering.outside.met, lowering.outside.compared
    inner.builder.location = frame.source.location(frame.source.node)
    return inner


def _lower(
    lowering: Lowering, node: Any, frame: Frame, given: Given, definition: Definition
) -> Result:
    """One pass: the IR of the function, with what is known of its result so far."""
    inner, parameters = _inner(lowering, frame), _Parameters()
    inner.nesting.enclosed = Enclosed(lowering, inner, definition, parameters)
    leaves = list(map(parameters.add, given.names, given.types))
    made: dict[int, Any] = {}
    arguments, closure = rebuilt(inner, given.structure, leaves, made).items
    names = dict(zip(frame.names, arguments.items, strict=True))
    entered = dict(inner.contents)
    inner.nesting.enclosed.stores = stores = Stores(inner, frame, given, leaves, made)
    inner.nesting.enclosed.take_known()
    outer = closure.frame if isinstance(closure, LocalFunction) else None
    try:
        own = Frame(frame.source, frame.function, names, outer)
        item = inner.inline_frame(node, own)
        if not frame.source.tells_none:
            item = without_none(inner, own, item)
        lent_containers.at_the_end(inner)
    except NotYetKnownError as unknown:
        if unknown.definition is not definition:
            raise
        raise UnsupportedError(
            f"`{frame.source.name}` calls itself on every path, so it never returns",
            "return a value without the call on some path, as in `if n == 0: return 1.0`",
            unknown.location,
        ) from None
    entered |= inner.outside.entered
    stored = stores.made(entered)
    tree, values = result_tree(inner, item)
    values += stored.values()
    definition.holds_none = inner.nesting.holds_none
    definition.function = _function(definition.name, parameters.made, inner.builder, values)
    known = {symbol for type_ in parameters.types for symbol in symbols(type_)}
    shares = _shared(inner, item, entered, leaves)
    types = general_result(values, inner.builder.facts, known)
    levels, kept = stores.levels(entered, stored), inner.kept
    return Result(tree, types, shares, tuple(stored), levels, kept.calls > 0, kept.gives)


def _shared(
    lowering: Lowering, item: FrontendValue, entered: dict[Storage, Any], leaves: Sequence[Value]
) -> tuple[int | None, ...]:
    """The leaves that a result may share memory with."""
    numbers = {leaf: number for number, leaf in enumerate(leaves)}
    reached = list(storages(lowering, item))
    shared = [
        numbers.get(contents) if isinstance(contents, Value) else None
        for storage, contents in entered.items()
        if any(may_overlap(own, storage) or may_hold(own, storage) for own in reached)
    ]
    return tuple(dict.fromkeys(shared))


def _function(
    name: str, parameters: Sequence[Parameter], builder: Builder, results: Sequence[Value]
) -> Function:
    leaves = tuple(leaf for parameter in parameters for leaf in parameter.leaves)
    body = Block(leaves, tuple(builder.operations), tuple(results))
    tree = LEAF if len(results) == 1 else Node(tuple, (LEAF,) * len(results))
    return Function(name, tuple(parameters), body, tree, builder.facts)


class _Parameters:
    """The parameters of a recursive function, one for each leaf."""

    def __init__(self) -> None:
        self.made: list[Parameter] = []
        self.types: list[Type] = []
        self._names: set[str] = set()

    def add(self, wanted: str, type_: Type) -> Value:
        name, number = wanted, 1
        while name in self._names:
            name, number = f"{wanted}_{number}", number + 1
        self._names.add(name)
        value = Value(type_, name)
        self.types.append(type_)
        self.made.append(Parameter(name, LEAF, (value,)))
        return value


class Enclosed:
    """A recursive function as it stands in the one that calls it, of which it gets the variables
    from outside that it reads."""

    def __init__(
        self, around: Lowering, inner: Lowering, definition: Definition, parameters: _Parameters
    ) -> None:
        self._around, self._inner = around, inner
        self._definition, self._parameters = definition, parameters
        self._general = General(around.builder.facts, "m")
        self.stores: Stores
        definition.captured_types = ()

    def take_known(self) -> None:
        """Take what earlier passes found that it reads."""
        for key, (value, path, name) in self._definition.captured.items():
            self.take(key, value, path, name)

    def given_lists(self) -> Iterator[tuple[str, ListRef]]:
        """The lists that it is given or reads from outside, with their names."""
        for storage in (*self.stores.lists, *self._inner.outside.entered):
            if isinstance(self._inner.contents.get(storage), Value):
                yield storage.name or "a list", ListRef(storage)

    def take(self, key: Any, value: Any, path: AccessPath, name: str) -> FrontendValue:
        """Have the function get a variable from outside, as a further parameter."""
        self._definition.captured[key] = (value, path, name)
        (given,) = _captured(self._around, [(value, path, name)])
        types = tuple([self._general.of(leaf.type) for leaf in given.leaves])
        self._definition.captured_types += types
        own = [
            self._parameters.add(leaf.name or name, type_)
            for leaf, type_ in zip(given.leaves, types, strict=True)
        ]
        inner, known = self._inner, set(self._inner.contents)
        found: FrontendValue = rebuilt(inner, given.structure, own)
        inner.outside.captured[key] = found
        inner.outside.entered.update({s: c for s, c in inner.contents.items() if s not in known})
        return found


# -- results -----------------------------------------------------------------------------------


def _item(
    lowering: Lowering, tree: Tree, leaves: Iterator[Value], overlaps: frozenset[Storage]
) -> FrontendValue:
    """The frontend value of a result, which may share memory with the arguments."""
    if isinstance(tree, Leaf):
        return lowering.wrap(next(leaves), overlaps)
    if isinstance(tree, Constant):
        return Static(tree.value)
    items = tuple([_item(lowering, child, leaves, overlaps) for child in tree.children])
    if issubclass(tree.cls, tuple):
        return TupleOf(items, tree.cls)
    if tree.cls not in (list, dict):
        return new_instance(lowering, tree.cls, dict(zip(tree.keys or (), items, strict=True)))
    storage = Storage()
    is_dict = tree.cls is dict
    contents = dict(zip(tree.keys or (), items, strict=True)) if is_dict else items
    lowering.contents[storage] = contents
    return DictRef(storage) if is_dict else ListRef(storage)
