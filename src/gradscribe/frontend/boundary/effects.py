"""What a function leaves changed of what it was given, and which of its results are that itself.

In the IR nothing is changed: a store makes a new value. Whoever runs the function on a caller's
own arrays and lists needs to know which of them plain Python would have changed, and what they
hold in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.boundary.container_changes import ChangedContainer
from gradscribe.frontend.boundary.results import (
    held,
    leaves_held,
    leaves_of,
    objects_shown,
    refuse_joined,
    result_tree,
)
from gradscribe.frontend.interface import (
    AccessPath,
    AttributeChange,
    Change,
    ContainerChange,
    Origin,
    Step,
)
from gradscribe.frontend.kinds.trees import Contents, parts_of
from gradscribe.frontend.memory import aliasing, kept_memory, outside_state
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    Cell,
    DictRef,
    FrontendValue,
    Held,
    InstanceRef,
    ListRef,
    Ref,
    Storage,
    Unbound,
    may_overlap,
)
from gradscribe.ir.core import Parameter, SliceOf, Value
from gradscribe.ir.trees import LEAF, Leaf, Node, Tree
from gradscribe.ir.types import Scalar, Type, is_differentiable
from gradscribe.ir.types import Sequence as ListOf
from gradscribe.primitives.control import KEPT, LEFT, STOP_GRADIENT


@dataclass(frozen=True, slots=True)
class Effects:
    """changes: what the function changes; attributes: those of objects; containers: those from
    outside. leaves: the values of the leaves of all at the end. origins: for each leaf of the
    result, then of these, the argument leaf that it is, or is a view of (None: a new one). stored:
    the numbers of the changed argument leaves. distinct: those of the lists whose items are
    changed, each for itself. unclear: those that a store under a name of one of several arrays may
    change, and numbers that `op=` changes if they are Tensors. own_origins: for each leaf of these
    alone, the argument leaf, or other leaf of these, that it is."""

    changes: tuple[Change, ...]
    attributes: tuple[AttributeChange, ...]
    containers: tuple[ContainerChange, ...]
    leaves: tuple[Value, ...]
    origins: tuple[Origin | None, ...]
    stored: tuple[int, ...]
    distinct: tuple[int, ...]
    unclear: tuple[int, ...]
    own_origins: tuple[Origin | None, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """An array, list or dict as it was given. leaf: its number, if it is one leaf."""

    storage: Storage
    argument: int
    steps: tuple[Step, ...]
    contents: Held
    leaf: int | None


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an object from outside that may be stored to. before: as it was given."""

    cell: Cell
    owner: AccessPath
    before: FrontendValue


def attributes_of(
    root: AccessPath, parameter: Parameter, item: FrontendValue, contents: Contents
) -> Iterator[Attribute]:
    """The attributes of the objects in an argument or capture, which is found at this place."""
    for steps, _, below in _walk(parameter.tree, item, (), contents):
        if isinstance(below, InstanceRef):
            owner = AccessPath(root.root, (*root.steps, *steps))
            for cell in below.cells.values():
                yield Attribute(cell, owner, _held_by(cell, contents))


def given_by(
    parameters: Sequence[Parameter], items: Sequence[FrontendValue], contents: Contents
) -> Iterator[Given]:
    """All arrays, lists and dicts in arguments that are bound to these frontend values.

    contents: of each storage, as it was given.
    """
    leaf = 0
    for number, (parameter, item) in enumerate(zip(parameters, items, strict=True)):
        for steps, tree, below in _walk(parameter.tree, item, (), contents):
            is_leaf = isinstance(tree, Leaf)
            if isinstance(below, (Ref, ListRef, DictRef)):
                storage = below.storage
                yield Given(storage, number, steps, contents[storage], leaf if is_leaf else None)
            leaf += is_leaf


def _walk(
    tree: Tree, item: FrontendValue, steps: tuple[Step, ...], contents: Contents
) -> Iterator[tuple[tuple[Step, ...], Tree, FrontendValue]]:
    yield steps, tree, item
    parts = parts_of(item, contents)
    if parts is None or not isinstance(tree, Node):
        return
    items = parts.items
    if parts.shape.form is InstanceRef:
        attributes = parts.by_key()
        items = tuple(attributes[name] for name in tree.keys or ())
    is_object = tree.keys is not None and tree.cls is not dict
    keys = tree.keys if tree.keys is not None else range(len(items))
    for key, child, below in zip(keys, tree.children, items, strict=True):
        step: Step = ("attribute" if is_object else "item", key)
        yield from _walk(child, below, (*steps, step), contents)


def effects_of(
    lowering: Lowering,
    given: Sequence[Given],
    attributes: Sequence[Attribute],
    containers: Sequence[ChangedContainer],
    parameters: Sequence[Value],
    result: FrontendValue,
) -> Effects:
    """The effects of a function that was lowered, and returned this frontend value.

    parameters: the leaves of its arguments and captures.
    """
    items: list[FrontendValue | None] = [*leaves_of(lowering, result)]
    results = len(items)
    changes: list[Change] = []
    leaves: list[Value] = []
    for change, values, below in _changes(lowering, given):
        changes.append(change)
        leaves += values
        items += below
    of_objects = []
    for attribute, held_now in _stored(lowering, attributes):
        name = attribute.cell.name
        structure, values = held(lowering, held_now, f"to the attribute `{name}`")
        of_objects.append(AttributeChange(attribute.owner, name, structure))
        leaves += values
        items += leaves_held(lowering, held_now)
    for container in containers:
        leaves += container.values
        items += container.items
    known: dict[object, int] = {item.storage: item.leaf for item in given if item.leaf is not None}
    known |= {leaf: number for number, leaf in enumerate(parameters)}
    bases = list(_bases(items[results:], known))
    leaves += map(lowering.value, bases)
    items += bases
    stored = tuple(c.leaf for c in changes if c.leaf is not None)
    distinct = tuple(leaf for memory, leaf in known.items() if memory in lowering.changes.distinct)
    unclear = tuple(_unclear(lowering, given, parameters))
    given_away = _arguments_given_away(lowering, known)
    whole = enumerate(zip(items, _origins(items, known), strict=True))
    origins = tuple(
        None if n >= results and _identity(item) in given_away else origin
        for n, (item, origin) in whole
    )
    found = tuple(changes), tuple(of_objects), tuple(c.change for c in containers)
    own = tuple(
        None if _identity(item) in given_away else origin
        for item, origin in zip(items[results:], _origins(items[results:], known), strict=True)
    )
    new = [item for item, origin in zip(items[results:], own, strict=True) if origin is None]
    shared = set() if lowering.has_tensors else _shared(new) | _held_by_lists(lowering, given)
    _refuse_arguments_elsewhere(lowering, items[results:], own)
    left = [
        _itself(lowering, value, item, shared) if origin is None else value
        for value, item, origin in zip(leaves, items[results:], own, strict=True)
    ]
    return Effects(*found, tuple(left), origins, stored, distinct, unclear, own)


def _arguments_given_away(lowering: Lowering, known: Iterable[object]) -> set[object]:
    """The arguments that unread code has, as copies: what is left of them outside is these. (With
    Tensors, and of what is outside already, it is that itself.)"""
    kept = {} if lowering.has_tensors else kept_memory.handle(lowering, ())
    return {one for one in known if one in kept and one not in lowering.outside.entered}


def _bases(items: Sequence[FrontendValue | None], known: Collection[object]) -> Iterator[Ref]:
    """The new arrays of which several parts are left outside, and not they themselves. known: the
    memory of what was given."""
    arrays = [item for item in items if isinstance(item, Ref) and item.storage not in known]
    parts = Counter(item.storage for item in arrays if item.path)
    wholes = {item.storage for item in arrays if not item.path}
    return (Ref(one) for one, number in parts.items() if number > 1 and one not in wholes)


def _shared(items: Iterable[FrontendValue | None]) -> set[Storage]:
    """The memory of which several of these may be, or show a part."""
    arrays = [item for item in items if isinstance(item, Ref)]
    count = Counter(one for item in arrays for one in item.storage.reached)
    return {storage for storage, number in count.items() if number > 1}


def _held_by_lists(lowering: Lowering, given: Sequence[Given]) -> set[Storage]:
    """The memory that lists from outside hold in the end which have got other items. It must not
    be what unread code has: the lists hold what the program computes with."""
    lists = {item.storage for item in given if item.storage in lowering.changes.rearranged}
    left = [one for one in lists if isinstance(lowering.contents[one], Value)]
    held = {one for storage in left for one in storage.holds if one not in lists}
    for kept in kept_memory.handle(lowering, ()):
        if any(may_overlap(kept, one) for one in held):
            _refuse_kept(lowering)
    return held


def _refuse_arguments_elsewhere(
    lowering: Lowering, left: Iterable[FrontendValue | None], origins: Iterable[Origin | None]
) -> None:
    """Refuse to leave an array outside that was given, where something else that is left there, or
    that unread code has, may be that, under another name."""
    pairs = [(i, origin) for i, origin in zip(left, origins, strict=True) if isinstance(i, Ref)]
    given = {i.storage for i, origin in pairs if origin is not None and not origin.among_results}
    others = {item.storage for item, _ in pairs} - given
    copied = () if lowering.has_tensors else given - lowering.outside.entered.keys()
    found = any(may_overlap(one, other) for one in copied for other in others)
    for kept in kept_memory.handle(lowering, ()) if given else ():
        found |= any(one is not kept and may_overlap(kept, one) for one in given)
    left_there = [one for one in (*given, *others) if not aliasing.is_carried(one)]
    if found or any(may_overlap(r, one) for r in lowering.kept.renamed for one in left_there):
        _refuse_kept(lowering)


def _refuse_kept(lowering: Lowering) -> NoReturn:
    raise UnsupportedError(
        "what this function leaves outside may be what it leaves elsewhere, on some paths",
        "leave a copy there",
        lowering.builder.location,
    )


def _itself(
    lowering: Lowering, value: Value, item: FrontendValue | None, shared: Collection[Storage]
) -> Value:
    """What is left outside, where it may be an array or list from there, is what unread code has,
    or may be shared with something else that is left: that itself, no copy. (Nothing is copied of
    what Tensors are made of.)"""
    if lowering.has_tensors and _is_of_numbers(value.type):
        value = lowering.plain(STOP_GRADIENT, {"x": value}, name=value.name)
    if not isinstance(item, (Ref, ListRef)):
        return value
    reached = item.storage.reached
    if isinstance(item, Ref) and not lowering.has_tensors:
        kept = kept_memory.handle(lowering, ())
        memory = [one for one in reached if isinstance(lowering.contents.get(one), Value)]
        kept_memory.refuse_lost(lowering, None, "what is stored outside", memory)
        if item.storage in kept:
            array = lowering.along(item.path, kept[item.storage].array)
            value = lowering.plain(KEPT, {"value": array, "x": value}, name=value.name)
            return lowering.plain(LEFT, {"x": value}, name=value.name)
        if any(may_overlap(item.storage, one) for one in kept):
            _refuse_kept(lowering)
    found = [one for one in reached if one in lowering.outside.entered]
    _refuse_changed(lowering, [one for one in found if one is not item.storage])
    is_itself = found or lowering.has_tensors or not reached.isdisjoint(shared)
    return lowering.plain(LEFT, {"x": value}, name=value.name) if is_itself else value


def _is_of_numbers(type_: Type) -> bool:
    """Whether it is that of a number of Python's, such as `float(t)`, or of a list. Outside,
    they belong to no graph."""
    if isinstance(type_, ListOf):
        return _is_of_numbers(type_.item)
    return isinstance(type_, Scalar) and type_.weak and is_differentiable(type_)


def _refuse_changed(lowering: Lowering, found: Iterable[Storage]) -> None:
    """Refuse to leave outside what may be one of these arrays or lists from there, if that is
    stored to: what is left is the value that it had."""
    entered = lowering.outside.entered
    for one in found:
        if one in entered and not outside_state.is_as_found(lowering, one, entered[one]):
            raise UnsupportedError(
                f"what this function leaves outside may be `{one.name}`, which it stores to",
                "leave a copy there",
                lowering.builder.location,
            )


def _changes(
    lowering: Lowering, given: Sequence[Given]
) -> Iterator[tuple[Change, Sequence[Value], Sequence[FrontendValue | None]]]:
    """The changes of what was given, each with the values that are there at the end and what they
    are in the frontend."""
    for item in given:
        contents = lowering.contents[item.storage]
        is_as_found = outside_state.is_as_found(lowering, item.storage, item.contents)
        if is_as_found and item.storage not in lowering.changes.stored:
            continue
        if isinstance(contents, Value):
            _refuse_regrouped(lowering, item.storage, contents.type)
            rearranged = item.storage in lowering.changes.rearranged
            if rearranged and item.storage in lowering.outside.entered:
                _refuse_changed(lowering, item.storage.holds - {item.storage})
                contents = lowering.plain(LEFT, {"x": contents}, name=item.storage.name)
            change = Change(item.argument, item.steps, LEAF, item.leaf, rearranged)
            yield change, (contents,), (None,)
            continue
        container = (DictRef if isinstance(contents, dict) else ListRef)(item.storage)
        made = objects_shown(lowering, item.storage)
        items = contents.values() if isinstance(contents, dict) else contents
        for below in items:
            refuse_joined(lowering, below)
        tree, values = result_tree(lowering, container, made)
        change = Change(item.argument, item.steps, tree, item.leaf, True)
        yield change, values, tuple(leaves_of(lowering, container, made))


def _refuse_regrouped(lowering: Lowering, storage: Storage, type_: Type) -> None:
    """Refuse to leave a list of lists of arrays outside, of which one gets other items: what is
    stored then is the contents of the items."""
    is_nested = isinstance(type_, ListOf) and isinstance(type_.item, ListOf)
    is_left = storage in lowering.outside.entered or lowering.has_tensors
    if storage not in lowering.changes.regrouped or not (is_nested and is_left):
        return
    while isinstance(type_, ListOf):
        type_ = type_.item
    if not isinstance(type_, Scalar):
        raise UnsupportedError(
            f"a list in `{storage.name}`, a list from outside, gets other arrays",
            "store a new list there, or keep the lists in a dict or in attributes of an object",
            lowering.builder.location,
        )


def _unclear(
    lowering: Lowering, given: Sequence[Given], parameters: Sequence[Value]
) -> Iterator[int]:
    """The leaves of which it is not known whether they are stored to, as memory of several names or
    by `op=` to what may be a number or an array."""
    merged = lowering.changes.roots - {item.storage for item in given}
    for item in given:
        overlapping = [other for other in merged if may_overlap(item.storage, other)]
        if item.leaf is not None and not _are_apart(lowering, item.storage, overlapping):
            yield item.leaf
    for number, leaf in enumerate(parameters):
        if leaf in lowering.changes.augmented:
            yield number


def _are_apart(lowering: Lowering, storage: Storage, others: Sequence[Storage]) -> bool:
    """Whether each store to these is checked at run time to be none to that memory: so it is where
    that is captured, and in use as long as the function runs."""
    is_captured = storage in lowering.outside.entered
    return all(
        is_captured and frozenset({storage, other}) in lowering.sharing.apart for other in others
    )


def _stored(
    lowering: Lowering, attributes: Sequence[Attribute]
) -> Iterator[tuple[Attribute, FrontendValue]]:
    """The attributes that hold something else at the end, and what."""
    found = [
        Attribute(cell, owner, _held_by(cell, lowering.outside.entered))
        for cell, owner in lowering.outside.owners.items()
    ]
    for attribute in (*attributes, *found):
        cell, before = attribute.cell, attribute.before
        now = _held_by(cell, lowering.contents) if cell in lowering.contents else before
        if now is not before and not (isinstance(now, Unbound) and isinstance(before, Unbound)):
            yield attribute, now


def _held_by(cell: Cell, contents: Contents) -> FrontendValue:
    held = contents[cell]
    return held.get(cell.name, _NOTHING) if isinstance(held, dict) else _NOTHING


_NOTHING = Unbound("")


def _origins(
    items: Sequence[FrontendValue | None], known: Mapping[object, int]
) -> Iterator[Origin | None]:
    """known: the numbers of the argument leaves by their memory, or the numbers themselves."""
    first: dict[object, int] = {}
    for position, item in enumerate(items):
        if item is not None and not _path(item):
            first.setdefault(_identity(item), position)
    for position, item in enumerate(items):
        memory, path = _identity(item), _path(item)
        is_static = all(_is_static(arguments) for _, arguments, _ in path)
        if is_static and memory in known:
            yield Origin(known[memory], path)
        elif is_static and first.get(memory, position) != position:
            yield Origin(first[memory], path, among_results=True)
        else:
            yield None


def _identity(item: FrontendValue | None) -> object:
    """What equal objects have in common: their memory; of a number, the value itself."""
    return getattr(item, "storage", item)


def _path(item: FrontendValue | None) -> tuple[Any, ...]:
    return item.path if isinstance(item, Ref) else ()


def _is_static(arguments: Any) -> bool:
    if isinstance(arguments, dict):
        return all(map(_is_static, arguments.values()))
    if isinstance(arguments, (tuple, list)):
        return all(map(_is_static, arguments))
    if isinstance(arguments, SliceOf):
        return _is_static((arguments.start, arguments.stop, arguments.step))
    return not isinstance(arguments, Value)
