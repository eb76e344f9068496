"""Items that are computed all at once, though Python computes each when it is asked for.

That is the same as long as nothing that they are computed of changes between the first item and the
last, and computing them changes nothing. Who takes items beside other code (a `for`, `next`, an
iterator of an iterator) asks here, before and after; what is not the same is refused.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import gast

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.kinds.trees import captured, reached
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state.dependencies import is_library
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.knowledge import Early
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.trial import Trial
from gradscribe.frontend.syntax.function_texts import names_in
from gradscribe.frontend.values.values import (
    BoundMethod,
    Cell,
    FrontendValue,
    InstanceRef,
    LocalFunction,
    ObjectRef,
    OneShot,
    PartialOf,
    Static,
    Storage,
    TupleOf,
    Turn,
)
from gradscribe.ir.core import Operation, walk
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.raising import makes_exception

_ADVICE = "make a list of the items first, as in `list(…)`, if that means the same"


def computed(lowering: Lowering, node: Any, item: OneShot) -> FrontendValue:
    """The items of an iterator; where they are computed at once, that is noted."""
    before, made = dict(lowering.contents), len(lowering.builder.operations)
    mark = Storage().serial
    found = item.items(node)
    if any(s.serial > mark and not isinstance(s, Turn) for s in lowering.contents):
        changed = frozenset(s for s in _changed(lowering, before) if not isinstance(s, Turn))
        has_effects = _has_effects(lowering.builder.operations[made:])
        note(lowering, _named(item), item.holds, changed, has_effects)
    return found


def without_effects(
    lowering: Lowering, node: Any, make: Callable[[], FrontendValue], taker: str
) -> FrontendValue:
    """The items that this makes, of which `taker` leaves some out: they change nothing."""
    refuse_to_leave_out(lowering, node, make, taker)
    return make()


def refuse_to_leave_out(
    lowering: Lowering, node: Any, make: Callable[[], object], taker: str
) -> None:
    """Refuse to leave out items if what makes them changes memory that was there before, or has
    other effects. It is lowered on trial."""
    trial = lowering.trial()
    try:
        make()
    except UnsupportedError:  # it is refused where it is lowered to stay, if that needs it
        trial.take_back()
        return
    is_changing = changes_something(lowering, trial)
    trial.take_back()
    if is_changing:
        lowering.unsupported(
            node,
            f"items that change something when they are taken are left out by {taker}",
            _ADVICE,
        )


def changes_something(lowering: Lowering, trial: Trial) -> bool:
    """Whether what was lowered since changes memory that was there before, or has other effects."""
    return _has_effects(trial.operations) or any(_changed(lowering, trial.before.contents))


def _changed(lowering: Lowering, before: Mapping[Storage, Any]) -> Iterator[Storage]:
    """The memory that holds something else than before, or, where it is outside and was not met
    before, than when it was met."""
    entered = lowering.outside.entered
    for storage in before.keys() | entered.keys():
        if lowering.contents.get(storage) is not before.get(storage, entered.get(storage)):
            yield storage


def note(
    lowering: Lowering,
    what: str,
    reads: tuple[FrontendValue, ...],
    changed: frozenset[Storage] = frozenset(),
    has_effects: bool = False,
) -> None:
    """Note items that are computed at once of these values."""
    held, fields = _read(lowering, reads), len(lowering.outside.fields)
    early = Early(what, reads, held, _variables(reads), fields, changed, has_effects)
    lowering.generators.early.append(early)


def since(lowering: Lowering, depth: int) -> tuple[Early, ...]:
    """What was noted after the first `depth`."""
    found = tuple(lowering.generators.early[depth:])
    del lowering.generators.early[depth:]
    return found


@contextmanager
def taking(lowering: Lowering, node: Any) -> Iterator[None]:
    """Check what is computed at once for what takes items in here."""
    depth = len(lowering.generators.early)
    yield
    check_unchanged(lowering, node, since(lowering, depth), "this call changes")


def check_unchanged(
    lowering: Lowering, node: Any, taken: Sequence[Early], changes: str = "this loop changes"
) -> None:
    """Refuse what has changed what the items are computed of."""
    for one in taken:
        now = _read(lowering, one.reads)
        is_same = all(lowering.contents.get(s) is held for s, held in one.held.items())
        is_same &= not any(isinstance(s, Cell) and s not in one.held for s in now)
        is_same &= all(frame.names.get(name) is item for frame, name, item in one.variables)
        if not is_same or len(lowering.outside.fields) > one.fields:
            lowering.unsupported(node, f"{changes} what {one.what} reads", _ADVICE)


def refuse_effects(
    lowering: Lowering, node: Any, taken: Sequence[Early], body: Sequence[Any] | None = None
) -> None:
    """Refuse items that change something where they are computed, beside other code. body: that
    code, where it is known, and takes all of them."""
    seen = None if body is None else _read_by(lowering, body)
    for one in taken:
        if one.has_effects or (one.changed if seen is None else one.changed & seen):
            what = f"{one.what} changes what others read, or has effects"
            lowering.unsupported(node, what, "write the loop in its place")


def _read_by(lowering: Lowering, body: Sequence[Any]) -> set[Storage]:
    """The memory that statements may read."""
    function = LocalFunction(gast.Module(list(body), []), lowering.frame)
    own = {name: held for _, name, held in captured(function)}
    given, around = tuple(own.values()), lowering.frame.function
    names, variables = names_in(function.node) - own.keys(), around.__globals__
    leads = not names.isdisjoint(around.__code__.co_freevars)
    leads = leads or not all(_is_known(variables[name]) for name in names & variables.keys())
    if leads or any(map(_may_lead_outside, reached(lowering, *given))):
        return set(_read(lowering, given))
    return set(storages(lowering, *given))


def _may_lead_outside(item: FrontendValue) -> bool:
    """Whether this is code, or an object that may have some, and not of a library."""
    if isinstance(item, Static):
        return callable(item.value) and not _is_known(item.value)
    return isinstance(
        item, (BoundMethod, InstanceRef, LocalFunction, ObjectRef, OneShot, PartialOf)
    )


def _is_known(value: Any) -> bool:
    """Whether this is code of a library, or all of a library."""
    return isinstance(value, _CODE) and is_library(value)


_CODE = (types.BuiltinFunctionType, types.FunctionType, types.ModuleType, type)


def _has_effects(operations: Sequence[Operation]) -> bool:
    every = [*operations, *(o for own in operations for r in own.regions for o in walk(r))]
    return any(o.primitive is EFFECT and not makes_exception(o.callee) for o in every)


def _named(item: OneShot) -> str:
    """What computes the items, in words."""
    callee = None if item.origin is None else item.origin.callee
    if isinstance(callee, LocalFunction):
        if isinstance(callee.node, gast.GeneratorExp):
            return "the generator expression"
        return f"the generator `{callee.node.name}`"
    name = getattr(callee, "__qualname__", None) or getattr(callee, "__name__", None)
    if name is None:
        return "this iterator"
    is_generator = isinstance(callee, types.FunctionType)
    return f"the generator `{name}`" if is_generator else f"`{name}`"


def _read(lowering: Lowering, reads: tuple[FrontendValue, ...]) -> dict[Storage, Any]:
    """The memory that may be read through these values, and from outside, with what it holds."""
    found = [*storages(lowering, TupleOf(reads))]
    found += [*lowering.outside.entered, *lowering.outside.fields.values()]
    return {s: lowering.contents[s] for s in found if s in lowering.contents}


def _variables(reads: tuple[FrontendValue, ...]) -> list[tuple[Frame, str, FrontendValue]]:
    """The variables of functions that nested functions among these values read."""
    pending, seen, found = list(reads), set[int](), list[tuple[Frame, str, FrontendValue]]()
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, TupleOf):
            pending += item.items
        elif isinstance(item, PartialOf):
            pending += item.parts
        elif isinstance(item, OneShot):
            pending += item.holds
        elif isinstance(item, LocalFunction):
            own = list(captured(item))
            pending += [*(held for _, _, held in own), *item.defaults.values()]
            found += own
    return found
