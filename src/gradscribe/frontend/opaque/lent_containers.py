"""Lists, dicts and objects of the program that code which cannot be read may change.

Such code is given an object of the running program, which holds what the program's own one does.
What it may keep, it finds again in later calls: the object is one and the same for all of them, as
the handle of an array is (see `kept_memory`). What holds of both:

- Before each call of unread code, and where a part of the program ends in which something was made
  (an iteration, a side of a branch, a function), all that such code may see is brought into step:
  what it has kept, and what was put into that since, whether or not the program reads it again.
- After the call, all is read again that the program may read, by any name or by way of memory that
  may be the same, or that may have to be brought into step once more.

    held_kept = []
    held_kept[:] = [1.0, 2.0]
    fill(held_kept, 3.0)
    held = list(held_kept)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any

from gradscribe.frontend.memory import aliasing, kept_memory
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.opaque import placing
from gradscribe.frontend.opaque.lent_kinds import KINDS, Container, Lent, call, is_container
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    Cell,
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    Storage,
    TupleOf,
    may_overlap,
)
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Array, Opaque


def kept(lowering: Lowering) -> list[Container]:
    """The containers that unread code may have, and use in each of its calls."""
    return [lent.item for lent in _present(lowering)]


def before_call(
    lowering: Lowering, node: Any, name: str, items: Sequence[FrontendValue], keeps: bool
) -> list[Lent[Container]]:
    """The containers that a call may change, as the objects that it sees. items: what it is given,
    what functions among that lead to, and what was kept."""
    made: dict[Storage, Lent[Container]] = {}
    for lent in _present(lowering) if keeps else ():
        if not lowering.builder.is_made(lent.made):
            if not lowering.builder.is_open(lent.block):
                if not _is_read(lowering, lent.item.storage):
                    continue  # its part of the program has ended, and brought it into step
                _refuse(lowering, node, name, lent.item)
            lent = _new(lowering, lent.item)
        if not lent.is_possible(lowering, lent.item):
            _refuse(lowering, node, name, lent.item)
        made[lent.item.storage] = lent
    found, twice = _reached(lowering, items)
    given = [i for i in found if i.storage in twice or is_lent(lowering, node, i)]
    new = {
        item.storage: _new(lowering, item)
        for item in reached(lowering, [*given, *(lent.item for lent in made.values())])
        if item.storage not in made and is_possible(lowering, item)
    }
    made |= new
    if keeps:
        lowering.kept.lists.update(made)
        for storage in new:
            aliasing.check_store(lowering, node, storage, memory=False)
    objects = objects_of(made.values())
    for lent in made.values():
        lent.bring_into_step(objects)
    for lent in made.values():
        lent.note_objects()
    return list(made.values())


def met_twice(lowering: Lowering, items: Sequence[FrontendValue]) -> dict[Storage, Value]:
    """The containers that a call which only reads is given at two places or more, as the objects
    that it sees there: each is one, as in the program."""
    found, twice = _reached(lowering, items)
    given = [i for i in found if i.storage in twice and is_possible(lowering, i)]
    lents = [_new(lowering, item) for item in reached(lowering, given)]
    objects = objects_of(lents)
    for lent in lents:
        lent.bring_into_step(objects)
    return objects


def objects_of(lents: Iterable[Lent[Container]]) -> dict[Storage, Value]:
    return {lent.item.storage: lent.made for lent in lents}


def after_call(lowering: Lowering, node: Any, name: str, lents: Sequence[Lent[Container]]) -> None:
    """Let the containers hold what the call has left in the objects: but for those which nothing
    leads to any more, on no path."""
    is_everywhere = lowering.builder.operations is lowering.builder.body
    for lent in lents:
        if not is_everywhere or _is_read(lowering, lent.item.storage):
            lent.read_back(node, name)


def make_again(lowering: Lowering) -> None:
    """Make the objects, after what a loop was lowered to is given up, for the next attempt."""
    for lent in _present(lowering):
        if not lowering.builder.is_made(lent.made) and lowering.builder.is_open(lent.block):
            lowering.kept.lists[lent.item.storage] = _new(lowering, lent.item)


def leave(lowering: Lowering, before: State) -> None:
    """Do the same where an iteration ends, or a side of a branch, for what was made in it."""
    at_the_end(lowering, before.contents.keys() | lowering.outside.entered.keys())


def at_the_end(lowering: Lowering, but: Set[Storage] = frozenset()) -> None:
    """Where a part of the program ends, let whoever has kept memory find in it what the program has
    put there since. but: the memory that is there after this part, too."""
    kept_memory.at_the_end(lowering, but)
    is_made = lowering.builder.is_made
    lents = [lent for lent in _present(lowering) if is_made(lent.made)]
    objects = objects_of(lents)
    changed = [e for e in lents if e.item.storage not in but and not e.is_in_step()]
    arrays = [s for lent in changed for s in _arrays(lowering, lent.item)]
    own = placing.found_outside(lowering, arrays)
    others = [storage for storage in arrays if storage not in own]
    with kept_memory.shown(lowering, others), placing.themselves(lowering, own):
        for lent in changed:
            lent.bring_into_step(objects)


def _arrays(lowering: Lowering, item: FrontendValue) -> Iterator[Storage]:
    for storage in storages(lowering, item):
        contents = lowering.contents[storage]
        is_array = isinstance(contents, Value) and isinstance(contents.type, Array)
        if is_array and not storage.read_only:
            yield storage


def _present(lowering: Lowering) -> list[Lent[Container]]:
    return [lent for storage, lent in lowering.kept.lists.items() if storage in lowering.contents]


def reached(lowering: Lowering, items: Sequence[FrontendValue]) -> list[Container]:
    """The containers that values lead to, those that are in others before these."""
    return _reached(lowering, items)[0]


def _reached(
    lowering: Lowering, items: Sequence[FrontendValue]
) -> tuple[list[Container], set[Storage]]:
    """These, and which of them are met more than once."""
    found: dict[Storage, Container] = {}
    seen, twice = set[Storage](), set[Storage]()

    def visit(item: FrontendValue) -> None:
        if isinstance(item, TupleOf):
            for below in item.items:
                visit(below)
        if not is_container(item):
            return
        if item.storage in seen:
            twice.add(item.storage)
            return
        seen.add(item.storage)
        for below in parts_of(lowering, item):
            visit(below)
        found[item.storage] = item

    for item in items:
        visit(item)
    return list(found.values()), twice


def parts_of(lowering: Lowering, item: Container) -> list[FrontendValue]:
    """What is in a container, if that is known one by one."""
    return list(KINDS[type(item)].parts_of(lowering, item).values())


def is_possible(lowering: Lowering, item: Container) -> bool:
    """Whether there can be an object in the place of this container."""
    return KINDS[type(item)].is_possible(lowering, item)


def is_read_anew(lowering: Lowering, item: Container) -> bool:
    """Whether there are numbers in a container, which it is read for after a call."""
    return KINDS[type(item)].is_read_anew(lowering, item)


def is_lent(lowering: Lowering, node: Any, item: Container) -> bool:
    """Whether a call is given an object in the place of this container, with which the program goes
    on: it is read later, and can be made."""
    if not is_possible(lowering, item):
        return False
    is_kept = isinstance(item, InstanceRef) or item.storage in lowering.kept.lists
    return is_kept or _is_read(lowering, item.storage, node)


def _new(lowering: Lowering, item: Container) -> Lent[Container]:
    """An empty object: where the iteration begins, or the function, that the container was made in,
    so that all branches and iterations in that use the same one."""
    kind = KINDS[type(item)]
    callee, given, cls = kind.empty(item)
    block = _block_of(lowering, item.storage)
    with lowering.builder.resume(block):
        made = call(lowering, callee, given, Opaque(cls))
    return kind(lowering, item, made, block, lowering.kept.calls)


def _block_of(lowering: Lowering, storage: Storage) -> list[Operation]:
    if storage not in lowering.outside.entered:
        for iteration in reversed(lowering.loops.iterations):
            if iteration.serial < storage.serial:
                return iteration.operations
    return lowering.builder.body


def _refuse(lowering: Lowering, node: Any, name: str, item: Container) -> None:
    lowering.unsupported(
        node,
        f"`{name}`, whose code cannot be read, may change "
        f"{wording.quoted(item.storage.name, 'an object')}, which another call may have kept",
        "declare what these functions do, if they do not: `gs.primitive(…, pure=True)`",
    )


def _is_read(lowering: Lowering, wanted: Storage, node: Any = None) -> bool:
    """Whether a name leads to this that is read later, or it comes from outside, or is in what
    does. node: a call in which what is read does not count."""
    if wanted in lowering.outside.entered or wanted in _held_outside(lowering):
        return True
    return name_read_later(lowering, {wanted}, node) is not None


def _held_outside(lowering: Lowering) -> set[Storage]:
    """What is in the containers from outside now."""
    found: list[Container] = []
    for storage in lowering.outside.entered:
        contents = lowering.contents.get(storage)
        if isinstance(contents, (dict, tuple)) and not isinstance(storage, Cell):
            is_dict = isinstance(contents, dict)
            found.append(DictRef(storage) if is_dict else ListRef(storage))
    return {item.storage for item in reached(lowering, found)}


def name_read_later(
    lowering: Lowering, given: Set[Storage], node: Any = None, among: Set[str] | None = None
) -> str | None:
    """A name that is read later, or besides in this call, and leads to what may be one of these.
    among: those that are read of the function that is being lowered."""
    for frame in lowering.frames if given else ():
        for name, bound in frame.names.items():
            is_innermost = frame is lowering.frame
            if is_innermost and among is not None:
                is_read = name in among
            elif is_innermost and node is not None:
                is_read = frame.is_read_besides(name, node)
            else:
                is_read = frame.is_read_later(name, innermost=is_innermost)
            if is_read and _may_meet(storages(lowering, bound), given):
                return name
    return None


def _may_meet(found: Iterable[Storage], given: Set[Storage]) -> bool:
    return any(may_overlap(storage, one) for storage in found for one in given)
