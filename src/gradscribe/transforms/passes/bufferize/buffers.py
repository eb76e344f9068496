"""Buffers: the memory behind values, and how operations hand it on.

An array has one buffer; a list has its own (the list object) and one that stands for those of
all its items; a tuple has those of its items. Numbers have none. The table at the end says,
for every operation without regions, which buffers of its result may be those of its operands;
`aliasing` makes the relation between all values of a function from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, singledispatch
from typing import TYPE_CHECKING, Any

from gradscribe.ir import types
from gradscribe.ir.core import CALL, Operand, Operation, Value
from gradscribe.primitives import control, indexing, lists
from gradscribe.primitives.indexing import READ_ONLY

if TYPE_CHECKING:
    from gradscribe.transforms.passes.bufferize.aliasing import Aliasing

Path = tuple[Any, ...]
"""Where in a value a buffer is: positions and field names, ITEMS for the items of a list."""

ITEMS = "*"


@lru_cache(maxsize=1024)
def buffer_paths(type_: types.Type) -> tuple[Path, ...]:
    """Where a value of this type has buffers."""
    return _paths(type_)


@singledispatch
def _paths(type_: types.Type) -> tuple[Path, ...]:
    return ()


@_paths.register
def _(type_: types.Array) -> tuple[Path, ...]:
    return ((),)


@_paths.register
def _(type_: types.RecordOf) -> tuple[Path, ...]:
    return ((),)


@_paths.register(types.Sequence)
@_paths.register(types.Mapping)
def _(type_: types.Sequence | types.Mapping) -> tuple[Path, ...]:
    return ((), *_below(ITEMS, type_.item))


@_paths.register
def _(type_: types.Collected) -> tuple[Path, ...]:
    return _below(ITEMS, type_.item)


@_paths.register
def _(type_: types.Tuple) -> tuple[Path, ...]:
    return tuple(path for i, item in enumerate(type_.items) for path in _below(i, item))


@_paths.register
def _(type_: types.Record) -> tuple[Path, ...]:
    return tuple(path for name, item in type_.fields for path in _below(name, item))


def _below(step: Any, type_: types.Type) -> tuple[Path, ...]:
    return tuple((step, *path) for path in buffer_paths(type_))


@dataclass(eq=False, slots=True)
class Buffer:
    """One place of one value where memory is shared or not.

    order: buffers are numbered in the order in which their values come to exist.
    aliases: the buffers that this one may share memory with. sources: those it was taken
    from. view: it was made by a view operation, so copying it there would separate it.
    repeated: (items of a list) two of the items may be the same.
    """

    value: Value
    path: Path
    order: int
    aliases: set[Buffer] = field(default_factory=set)
    sources: set[Buffer] = field(default_factory=set)
    view: bool = False
    repeated: bool = False

    def __repr__(self) -> str:
        return f"<buffer {self.path} of {self.value!r}>"


WORLD = Buffer(Value(types.Opaque(), "world"), (), -1)
"""All memory that the function did not make, and must not change."""

Buffers = Mapping[Path, Buffer]
Flow = tuple[Buffer, Sequence[Buffer]]
"""A buffer and those that it may be the same as."""


IN_PLACE = frozenset({indexing.STORE, indexing.ACCUMULATE}) | lists.IN_PLACE
"""What changes its operand `x` when executed in place."""

_FRESH = frozenset(
    {control.LENT, control.LENT_ITSELF, control.REREAD, control.ZEROS_LIKE, control.ADD_ITEMS}
)


def origins(buffer: Buffer) -> set[Buffer]:
    """A buffer and all that it may have been taken from."""
    found = {buffer}
    pending = [buffer]
    while pending:
        new = pending.pop().sources - found
        found |= new
        pending += new
    return found


def alias(a: Buffer, b: Buffer) -> bool:
    return a is b or b in a.aliases


def link(a: Buffer, b: Buffer) -> bool:
    if b in a.aliases or a is b:
        return False
    a.aliases.add(b)
    if b is not WORLD:
        b.aliases.add(a)
    return True


def repeats(sources: Sequence[Buffer]) -> bool:
    """Whether two items from these sources may be the same memory."""
    if any(source.repeated for source in sources):
        return True
    return any(alias(s, o) for i, s in enumerate(sources) for o in sources[:i])


def below_step(targets: Buffers, source: Buffers, step: Path) -> list[Flow]:
    """Each buffer of a value that stands at `step` in its source."""
    return [(t, [source[step + path]]) for path, t in targets.items() if step + path in source]


# How buffer flows through operations: what the result may share with the operands.


def _none(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    return []


def _view(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    targets = aliasing.buffers(operation.result)
    sources = list(aliasing.operand(operation, 0).values()) if operation.operands else []
    if operation.primitive.name in READ_ONLY:
        sources.append(WORLD)
    for target in targets.values():
        target.view = isinstance(operation.result.type, types.Array)
        target.repeated = not target.view
    return [(target, sources) for target in targets.values()]


def _written_operand(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    """The operand `x` changed in place; a list takes in `value` besides."""
    targets = aliasing.buffers(operation.result)
    x = aliasing.operand(operation, operation.attributes["x"].index)
    flows = {path: [x[path]] if path in x else [] for path in targets}
    value = operation.attributes.get("value")
    if operation.primitive in lists.IN_PLACE and isinstance(value, Operand):
        if aliasing.puts_back(operation):
            return [(targets[path], sources) for path, sources in flows.items()]
        step = () if operation.primitive is lists.SET_SECTION else (ITEMS,)
        for path, source in aliasing.operand(operation, value.index).items():
            if step or path:
                flows.get((*step, *path), []).append(source)
    return [(targets[path], sources) for path, sources in flows.items()]


def _copy(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    """A copy of a list still shares its items."""
    source = {p: s for p, s in aliasing.operand(operation, 0).items() if p != ()}
    return below_step(aliasing.buffers(operation.result), source, ())


def _items(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    """A new list that shares its items with those it is made of."""
    targets = aliasing.buffers(operation.result)
    for path, target in targets.items():
        target.repeated |= path != () and operation.primitive is lists.REPEAT
    flows: list[Flow] = []
    for number in range(len(operation.operands)):
        source = {p: s for p, s in aliasing.operand(operation, number).items() if p != ()}
        flows += below_step(targets, source, ())
    return flows


def _rows(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    """The rows of an array: views of it, of different parts."""
    source = aliasing.operand(operation, 0)[()]
    targets = aliasing.buffers(operation.result)
    return [(target, [source]) for path, target in targets.items() if path]


def _tuple(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    flows: list[Flow] = []
    for path, target in aliasing.buffers(operation.result).items():
        item = operation.attributes["items"][path[0]]
        source = aliasing.operand(operation, item.index).get(path[1:])
        flows += [] if source is None else [(target, [source])]
    return flows


def _list(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    targets = aliasing.buffers(operation.result)
    flows: dict[Path, list[Buffer]] = {path: [] for path in targets}
    for item in operation.attributes["items"]:
        if isinstance(item, Operand):
            for path, source in aliasing.operand(operation, item.index).items():
                flows.get((ITEMS, *path), []).append(source)
    return [(targets[path], sources) for path, sources in flows.items()]


def _item(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    step = (operation.attributes["position"],)
    source = aliasing.operand(operation, operation.attributes["x"].index)
    return below_step(aliasing.buffers(operation.result), source, step)


def _get(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    source = aliasing.operand(operation, operation.attributes["x"].index)
    return below_step(aliasing.buffers(operation.result), source, (ITEMS,))


def _constant(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    return [(target, [WORLD]) for target in aliasing.buffers(operation.result).values()]


def _call(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    """The results of a called function are its own; its records refer to whatever they may."""
    results = [r for r in operation.results if not isinstance(r.type, types.RecordOf)]
    made = [t for result in results for t in aliasing.buffers(result).values()]
    records = [t for r in operation.results[len(results) :] for t in aliasing.buffers(r).values()]
    for i, record in enumerate(records):
        for other in (*made, *records[:i]):
            link(record, other)
    sources = _all_operands(aliasing, operation)
    return [(target, []) for target in made] + [(record, sources) for record in records]


def _other(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    """Views share with their first operand; other arrays are new; other containers may hold
    any of the operands."""
    if operation.primitive.view:
        return _view(aliasing, operation)
    sources = _all_operands(aliasing, operation)
    targets = [
        target
        for result in operation.results
        if not isinstance(result.type, types.Array)
        for target in aliasing.buffers(result).values()
    ]
    for target in targets:
        target.repeated = bool(sources)
    return [(target, sources) for target in targets]


def _all_operands(aliasing: Aliasing, operation: Operation) -> list[Buffer]:
    numbers: Iterable[int] = range(len(operation.operands))
    return [s for number in numbers for s in aliasing.operand(operation, number).values()]


_FLOWS: dict[Any, Callable[[Aliasing, Operation], list[Flow]]] = {
    **dict.fromkeys(IN_PLACE, _written_operand),
    **dict.fromkeys(_FRESH, _none),
    control.UNDEF: _none,
    control.CONSTANT: _constant,
    control.COPY: _copy,
    control.TUPLE: _tuple,
    control.ITEM: _item,
    control.LIST: _list,
    control.GET: _get,
    lists.ROWS: _rows,
    lists.REPEAT: _items,
    lists.JOIN: _items,
    lists.SECTION: _items,
    CALL: _call,
}


def flows_of(aliasing: Aliasing, operation: Operation) -> list[Flow]:
    """What each buffer of the result of an operation (without regions) may be the same as."""
    return _FLOWS.get(operation.primitive, _other)(aliasing, operation)
