"""What a call stores outside of its arguments, where it is lowered into a function of its own.

There such stores are values of that function. The program around it is to hold the same objects,
of values of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    Either,
    InstanceRef,
    ListRef,
    ObjectRef,
    PartialOf,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.core import Block, SliceOf, Value
from gradscribe.ir.probing import module_of_class

Renew = Callable[[Value], Value]


@dataclass(frozen=True, eq=False)
class Stored:
    """The memory that a call has stored to, outside of its arguments, and the values of the call
    that are in it now, each once. node: where the call is."""

    node: Any = None
    memory: tuple[Storage, ...] = ()
    values: tuple[Value, ...] = ()

    @classmethod
    def of(
        cls, lowering: Lowering, node: Any, body: Block, before: Mapping[Storage, Any]
    ) -> Stored:
        """before: the contents of all memory before the call. body: that of the call."""
        held = {**lowering.outside.entered, **before}
        changed = [s for s, c in held.items() if lowering.contents.get(s, c) is not c]
        if not changed:
            return NOTHING
        memory = _memory(lowering, changed)
        made = {*body.parameters}.union(*(operation.results for operation in body.operations))
        found: dict[Value, None] = {}

        def note(value: Value) -> Value:
            if value in made:
                found[value] = None
            return value

        for storage in memory:
            _renewed(lowering, node, lowering.contents[storage], note)
        return cls(node, tuple(memory), tuple(found))

    def renew(self, lowering: Lowering, values: Sequence[Value]) -> None:
        """Let the memory hold these values of the program in place of those of the call."""
        known = dict(zip(self.values, values, strict=True))
        for storage in self.memory:
            held = lowering.contents[storage]
            lowering.contents[storage] = _renewed(
                lowering, self.node, held, lambda value: known.get(value, value)
            )


NOTHING = Stored()


def is_changed(lowering: Lowering, item: Any, held: Mapping[Storage, Any]) -> bool:
    """Whether an argument of a call holds something else than at its start, or one of a call within
    does."""
    return any(
        storage in lowering.changes.handed
        or (storage in held and lowering.contents[storage] is not held[storage])
        for storage in storages(lowering, item)
        if storage in lowering.contents
    )


def _memory(lowering: Lowering, changed: Iterable[Storage]) -> list[Storage]:
    found: dict[Storage, None] = {}
    for storage in changed:
        found[storage] = None
        contents = lowering.contents[storage]
        for item in _items(contents):
            found.update(dict.fromkeys(storages(lowering, item)))
    return [storage for storage in found if storage in lowering.contents]


def _items(contents: Any) -> Iterable[Any]:
    if isinstance(contents, dict):
        return contents.values()
    return contents if isinstance(contents, tuple) else (contents,)


def _renewed(lowering: Lowering, node: Any, item: Any, of: Renew) -> Any:
    """The same contents, or frontend value, of other values."""

    def renewed(part: Any) -> Any:
        return _renewed(lowering, node, part, of)

    if isinstance(item, Value):
        return of(item)
    if isinstance(item, (tuple, list)):
        return type(item)(map(renewed, item))
    if isinstance(item, dict):
        return {key: renewed(part) for key, part in item.items()}
    if isinstance(item, Ref):
        path = tuple((p, renewed(arguments), callee) for p, arguments, callee in item.path)
        return replace(item, path=path)
    if isinstance(item, SliceOf):
        return SliceOf(*map(renewed, (item.start, item.stop, item.step)))
    if isinstance(item, TupleOf):
        return replace(item, items=renewed(item.items))
    if isinstance(item, BoundMethod):
        return replace(item, receiver=renewed(item.receiver))
    if isinstance(item, PartialOf):
        return item.with_parts(renewed(item.parts))
    if isinstance(item, Either):
        return Either(of(item.flag), renewed(item.first), renewed(item.second))
    if isinstance(item, _KNOWN) or not module_of_class(type(item)).startswith("gradscribe"):
        return item
    return lowering.unsupported(
        node,
        "the function that is differentiated here stores a function or an iterator outside of it",
        "let it return what it computes",
    )


_KNOWN = (DictRef, InstanceRef, ListRef, ObjectRef, Static, Unbound)
