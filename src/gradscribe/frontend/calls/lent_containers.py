"""Lists, dicts and objects of the program that code which cannot be read may change.

Such code is given an object of the running program, which holds what the program's own one does.
What it may keep, it finds again in later calls: the object is one and the same for all of them, and
is brought into step before each. After a call, numbers are read anew if they are constants; all
else in it must be what it was, or the program is refused at run time.

    held_kept = []
    held_kept[:] = [1.0, 2.0]
    fill(held_kept, 3.0)
    held = list(held_kept)
"""

from __future__ import annotations

import itertools
import operator
import types
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradscribe.frontend import dependencies, wording
from gradscribe.frontend.calls.run_time_arguments import argument_of
from gradscribe.frontend.calls.varying import may_vary
from gradscribe.frontend.data import aliasing, instances
from gradscribe.frontend.data.construction import can_instantiate
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.memory import storages
from gradscribe.frontend.values import (
    DictRef,
    InstanceRef,
    ListRef,
    Static,
    Storage,
    TupleOf,
    Unbound,
    is_number,
)
from gradscribe.ir.core import Method, SliceOf, Value
from gradscribe.ir.probing import in_class, probe
from gradscribe.ir.types import BOOL, Opaque, Scalar, Type
from gradscribe.ir.types import Sequence as ListType
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.typing import type_of

Container = ListRef | DictRef | InstanceRef


@dataclass(eq=False, slots=True)
class Lent:
    """A container that unread code has: the object that it is there, the number of the call that it
    was made for, what the program held when that was last brought into step, and by which call;
    which objects were in it then, of those that are compared."""

    item: Container
    made: Value
    call: int
    state: Any = None
    step: Value | None = None
    objects: dict[Any, Value] = field(default_factory=dict)


def before_call(
    lowering: Lowering, node: Any, name: str, items: Sequence[Any], keeps: bool
) -> list[Lent]:
    """The containers that a call may change, as the objects that it sees. items: what it is given,
    and what functions among that lead to."""
    kept = lowering.kept.lists if keeps else {}
    made: dict[Storage, Lent] = {}
    for storage, lent in list(kept.items()):
        if storage in lowering.contents and _is_read(lowering, storage):
            if not lowering.builder.is_made(lent.made):
                if not _is_before(lowering, storage):
                    _refuse(lowering, node, name, storage)
                lent = kept[storage] = _new(lowering, node, name, lent.item, keeps)
            made[storage] = lent
    given = [item for item in reached(lowering, items) if is_lent(lowering, node, item)]
    for item in given:
        if item.storage not in made:
            made[item.storage] = kept[item.storage] = _new(lowering, node, name, item, keeps)
    objects = {storage: lent.made for storage, lent in made.items()}
    for lent in made.values():
        _bring_into_step(lowering, lent, objects)
    for lent in made.values():
        lent.objects = dict(_compared(lowering, lent))
    return list(made.values())


def objects_of(lents: Sequence[Lent]) -> dict[Storage, Value]:
    return {lent.item.storage: lent.made for lent in lents}


def make_again(lowering: Lowering) -> None:
    """Make the objects, after what a loop was lowered to is given up, for the next attempt."""
    for storage, lent in list(lowering.kept.lists.items()):
        if storage in lowering.contents and not lowering.builder.is_made(lent.made):
            lowering.kept.lists[storage] = _new(lowering, None, "", lent.item, keeps=False)


def at_the_end(lowering: Lowering) -> None:
    """Let whoever has kept a container find in it what the program has put there since."""
    found = {
        storage: lent
        for storage, lent in lowering.kept.lists.items()
        if storage in lowering.contents and lowering.builder.is_made(lent.made)
    }
    objects = {storage: lent.made for storage, lent in found.items()}
    for lent in found.values():
        _bring_into_step(lowering, lent, objects)


def after_call(lowering: Lowering, node: Any, name: str, lents: Sequence[Lent]) -> None:
    """Let the containers hold what the call has left in the objects."""
    for lent in lents:
        _read_back(lowering, node, name, lent)
        lent.state = _state(lowering, lent.item)


def reached(lowering: Lowering, items: Sequence[Any]) -> list[Container]:
    """The containers that values lead to, those that are in others before these."""
    found: dict[Storage, Container] = {}
    seen = set[Storage]()

    def visit(item: Any) -> None:
        if isinstance(item, TupleOf):
            for below in item.items:
                visit(below)
        if not isinstance(item, (ListRef, DictRef, InstanceRef)) or item.storage in seen:
            return
        seen.add(item.storage)
        for below in _parts(lowering, item).values():
            visit(below)
        found[item.storage] = item

    for item in items:
        visit(item)
    return list(found.values())


def is_lent(lowering: Lowering, node: Any, item: Container) -> bool:
    """Whether a call is given an object in the place of this container, which is compared: it is
    read later, and can be made."""
    if isinstance(item, ListRef) and _is_sequence(lowering, item):
        possible = _numbers_of(lowering, item) is not None
    elif isinstance(item, InstanceRef):
        possible = _can_be_made(lowering, item)
    else:
        possible = not isinstance(lowering.contents[item.storage], Value)
    if isinstance(item, InstanceRef) or item.storage in lowering.kept.lists:
        return possible
    is_outside = item.storage in lowering.outside.entered
    return possible and (is_outside or _is_read(lowering, item.storage, node))


def is_read_anew(lowering: Lowering, item: ListRef | DictRef) -> bool:
    """Whether there are numbers in a container, which it is read for after a call."""
    if isinstance(item, ListRef) and _numbers_of(lowering, item) is not None:
        return True
    return bool(_constants(lowering, item))


def _can_be_made(lowering: Lowering, item: InstanceRef) -> bool:
    """Whether an object is one that the function has made, of nothing but its attributes."""
    cls = item.cls
    is_library = dependencies.is_library(cls) and cls is not types.SimpleNamespace
    if is_library or cls in dependencies.LOCAL_CLASSES or item.storage in lowering.outside.entered:
        return False
    if not can_instantiate(cls) or isinstance(in_class(cls, "__setattr__"), types.FunctionType):
        return False
    parts = _parts(lowering, item)
    if any(isinstance(part, Unbound) for part in parts.values()):
        return False
    kinds = (in_class(cls, name, None) for name in parts)
    return not any(
        probe(type(kind), "__set__") and not isinstance(kind, types.MemberDescriptorType)
        for kind in kinds
    )


def _new(lowering: Lowering, node: Any, name: str, item: Container, keeps: bool) -> Lent:
    """An empty object: where the function begins, so that all branches and trips use the same one;
    of what a trip of a loop has made, there."""
    is_before = _is_before(lowering, item.storage)
    trips = lowering.loops.trips
    if keeps and not is_before and item.storage.serial < trips[-1]:
        _refuse(lowering, node, name, item.storage)
    block = lowering.builder.body if is_before else lowering.builder.operations
    with lowering.builder.resume(block):
        if isinstance(item, InstanceRef):
            is_plain = item.cls is types.SimpleNamespace
            callee, given = (item.cls, ()) if is_plain else (object.__new__, (item.cls,))
            made = _call(lowering, callee, given, Opaque(item.cls))
        else:
            cls = list if isinstance(item, ListRef) else dict
            made = _call(lowering, cls, (), Opaque(cls))
    return Lent(item, made, lowering.kept.calls)


def _is_before(lowering: Lowering, storage: Storage) -> bool:
    """Whether a container was there before all loops around."""
    trips = lowering.loops.trips
    return not trips or storage.serial < trips[0] or storage in lowering.outside.entered


def _refuse(lowering: Lowering, node: Any, name: str, storage: Storage) -> None:
    lowering.unsupported(
        node,
        f"`{name}`, whose code cannot be read, may change {wording.quoted(storage.name)}, which "
        "another call may have kept",
        "declare what these functions do, if they do not: `gs.primitive(…, pure=True)`",
    )


def _bring_into_step(lowering: Lowering, lent: Lent, objects: Mapping[Storage, Value]) -> None:
    """Let the object hold what the program's container holds, unless it does on all paths."""
    state = _state(lowering, lent.item)
    is_filled = lent.step is not None and lowering.builder.is_made(lent.step)
    if is_filled and _is_same(state, lent.state):
        return
    lent.state, lent.step = state, None
    for callee, arguments in _filling(lowering, lent, objects):
        lent.step = _call(lowering, callee, arguments)


def _filling(
    lowering: Lowering, lent: Lent, objects: Mapping[Storage, Value]
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The calls that fill the object: functions and their arguments."""
    item, made = lent.item, lent.made
    parts = {
        key: argument_of(lowering, part, objects) for key, part in _parts(lowering, item).items()
    }
    if isinstance(item, ListRef):
        is_known = not _is_sequence(lowering, item)
        given = list(parts.values()) if is_known else lowering.contents[item.storage]
        yield operator.setitem, (made, SliceOf(None, None, None), given)
    elif isinstance(item, DictRef):
        yield Method("clear"), (made,)
        yield Method("update"), (made, parts)
    else:
        yield from ((setattr, (made, name, part)) for name, part in parts.items())


def _state(lowering: Lowering, item: Container) -> Any:
    if isinstance(item, InstanceRef):
        return {n: lowering.contents[c] for n, c in item.cells.items() if c in lowering.contents}
    return lowering.contents[item.storage]


def _is_same(first: Any, second: Any) -> bool:
    if isinstance(first, dict) and isinstance(second, dict):
        return list(first) == list(second) and all(first[key] is second[key] for key in first)
    return first is second


def _is_sequence(lowering: Lowering, item: ListRef) -> bool:
    return isinstance(lowering.contents[item.storage], Value)


def _parts(lowering: Lowering, item: Container) -> dict[Any, Any]:
    """What is in a container of known structure, by position, key or name."""
    if isinstance(item, InstanceRef):
        held = _state(lowering, item)
        return {name: contents[name] for name, contents in held.items()}
    contents = lowering.contents[item.storage]
    if isinstance(contents, Value):
        return {}
    return contents if isinstance(contents, dict) else dict(enumerate(contents))


def _constants(lowering: Lowering, item: Container) -> dict[Any, Scalar]:
    """The numbers in a container that are read anew after a call, with their types: none if one of
    them may depend on what is differentiated, or the container is one from outside."""
    numbers = {key: part for key, part in _parts(lowering, item).items() if is_number(part)}
    if item.storage in lowering.outside.entered:
        return {}
    if any(may_vary(lowering, part, surely=True) for part in numbers.values()):
        return {}
    return {key: _type_of(part) for key, part in numbers.items()}


def _type_of(part: Any) -> Scalar:
    found = type_of(part.value) if isinstance(part, Static) else part.type
    assert isinstance(found, Scalar)
    return replace(found, value=None)


def _numbers_of(lowering: Lowering, item: ListRef) -> Scalar | None:
    """The type of all items of a list of constants."""
    contents = lowering.contents[item.storage]
    if isinstance(contents, Value):
        number = contents.type.item if isinstance(contents.type, ListType) else None
        is_outside = item.storage in lowering.outside.entered
        if not isinstance(number, Scalar) or is_outside or may_vary(lowering, item, surely=True):
            return None
        return replace(number, value=None)
    found = _constants(lowering, item)
    kinds = set(found.values())
    return kinds.pop() if len(kinds) == 1 and len(found) == len(contents) else None


def _compared(lowering: Lowering, lent: Lent) -> Iterator[tuple[Any, Value]]:
    """Which objects are in a container that have to be there after the call, too."""
    item = lent.item
    if isinstance(item, ListRef) and _numbers_of(lowering, item) is not None:
        return
    constants = _constants(lowering, item)
    if not constants and not isinstance(item, InstanceRef):
        yield None, _identities(lowering, lent)
        return
    for key in _parts(lowering, item):
        if key not in constants:
            yield key, _entry(lowering, lent, key, Opaque())


def _entry(lowering: Lowering, lent: Lent, key: Any, type_: Type) -> Value:
    callee = getattr if isinstance(lent.item, InstanceRef) else operator.getitem
    return _call(lowering, callee, (lent.made, key), type_)


def _identities(lowering: Lowering, lent: Lent) -> Value:
    """A list of which keys and objects are in a container."""
    items = lent.made
    if isinstance(lent.item, DictRef):
        items = _call(lowering, Method("items"), (items,))
        items = _call(lowering, itertools.chain.from_iterable, (items,))
    return _call(lowering, list, (_call(lowering, map, (id, items)),), Opaque(list))


def _read_back(lowering: Lowering, node: Any, name: str, lent: Lent) -> None:
    item = lent.item
    number = _numbers_of(lowering, item) if isinstance(item, ListRef) else None
    if number is not None:
        return _read_list(lowering, node, name, lent, number)
    if None in lent.objects:
        after = _identities(lowering, lent)
        same = _call(lowering, operator.eq, (after, lent.objects[None]), BOOL)
        kind = "list" if isinstance(item, ListRef) else "dict"
        lowering.check(same, f"{name} changed which items a {kind} has, which is not followed")
        return None
    return _read_parts(lowering, node, name, lent)


def _read_list(lowering: Lowering, node: Any, name: str, lent: Lent, number: Scalar) -> None:
    """A list of numbers of one type, of any length."""
    item, made = lent.item, lent.made
    kinds = _call(lowering, list, (_call(lowering, map, (type, made)),), Opaque(list))
    count = _call(lowering, len, (made,))
    wanted = _call(lowering, operator.mul, ([_class_of(number)], count), Opaque(list))
    same = _call(lowering, operator.eq, (kinds, wanted), BOOL)
    lowering.check(
        same, f"{name} put something else than such numbers in a list, which is not followed"
    )
    with aliasing.changing_items(lowering, node, item.storage):
        found = _call(lowering, list, (made,), ListType(number))
        lowering.contents[item.storage] = lowering.builder.rename(found, item.storage.name)


def _read_parts(lowering: Lowering, node: Any, name: str, lent: Lent) -> None:
    """The numbers among what is in a container of known structure."""
    item = lent.item
    constants, parts = _constants(lowering, item), _parts(lowering, item)
    _check_keys(lowering, name, lent, list(parts))
    read = {}
    for key, part in parts.items():
        if key in constants:
            read[key] = _entry(lowering, lent, key, constants[key])
            kind = _call(lowering, type, (read[key],))
            same = _call(lowering, operator.is_, (kind, _class_of(constants[key])), BOOL)
        else:
            read[key] = part
            found = _entry(lowering, lent, key, Opaque())
            same = _call(lowering, operator.is_, (found, lent.objects[key]), BOOL)
        lowering.check(
            same, f"{name} put something of another kind in {key!r}, which is not followed"
        )
    if isinstance(item, InstanceRef):
        for key in constants:
            with aliasing.changing_items(lowering, node, item.cells[key]):
                instances.set_attribute(lowering, item, key, read[key])
        return
    with aliasing.changing_items(lowering, node, item.storage):
        new = tuple(read.values()) if isinstance(item, ListRef) else read
        lowering.contents[item.storage] = new


def _check_keys(lowering: Lowering, name: str, lent: Lent, keys: list[Any]) -> None:
    """Check that a container has these items, and no others."""
    item, held = lent.item, lent.made
    if isinstance(item, InstanceRef):
        if not item.cls.__dictoffset__:
            return
        held = _call(lowering, vars, (held,), Opaque(dict))
        keys = [key for key in keys if not _is_slot(item.cls, key)]
    if isinstance(item, ListRef):
        same = _call(lowering, operator.eq, (_call(lowering, len, (held,)), len(keys)), BOOL)
    else:
        there = _call(lowering, set, (held,), Opaque(set))
        same = _call(lowering, operator.eq, (there, _call(lowering, set, (keys,))), BOOL)
    lowering.check(same, f"{name} changed what there is in a container, which is not followed")


def _is_slot(cls: type, name: str) -> bool:
    return isinstance(in_class(cls, name, None), types.MemberDescriptorType)


_CLASSES = {"float64": float, "int64": int, "complex128": complex, "bool": bool}


def _class_of(number: Scalar) -> type:
    return _CLASSES[number.dtype] if number.weak else np.dtype(number.dtype).type


def _is_read(lowering: Lowering, wanted: Storage, node: Any = None) -> bool:
    """Whether a name leads to this that is read later, or it comes from outside. node: a call in
    which what is read does not count."""
    if wanted in lowering.outside.entered:
        return True
    return name_read_later(lowering, {wanted}, node) is not None


def name_read_later(lowering: Lowering, given: Set[Storage], node: Any = None) -> str | None:
    """A name that is read later, or besides in this call, and leads to one of these."""
    for frame in lowering.frames if given else ():
        for name, bound in frame.names.items():
            is_innermost = frame is lowering.frame
            if is_innermost and node is not None:
                is_read = frame.is_read_besides(name, node)
            else:
                is_read = frame.is_read_later(name, innermost=is_innermost)
            if is_read and not given.isdisjoint(storages(lowering, bound)):
                return name
    return None


def _call(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[Any, ...],
    type_: Type = Opaque(),  # noqa: B008
) -> Value:
    tree = {"args": arguments, "keywords": {}, "type": type_}
    return lowering.plain(EFFECT, tree, callee)
