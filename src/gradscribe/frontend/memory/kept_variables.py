"""Variables of the program that functions which unread code may keep have captured.

Python looks such a variable up when the function is called, which may be long after it was handed
over: the variable may have another value by then, and the function may assign it. So what is bound
anew, or assigned by a function (`nonlocal`), lives in an object of the running program besides,
which is made where its function begins. The object takes what the variables hold where they are
bound, or, of lists, before each call of unread code; the program takes what is in it afterwards:

    variables = SimpleNamespace()
    for i in range(n):
        variables.i = i
        call(lambda *, variables=variables: variables.i)
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from gradscribe.frontend.memory import kept_memory
from gradscribe.frontend.memory.reach import is_read_only, storages
from gradscribe.frontend.state.flow import may_be_undefined, resolved
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.knowledge import Shared
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.function_texts import rebound_names
from gradscribe.frontend.syntax.shared_variables import Variables
from gradscribe.frontend.values.values import (
    FrontendValue,
    InstanceRef,
    LocalFunction,
    Ref,
    Static,
    Unbound,
    is_number,
    may_overlap,
    possibilities,
)
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import BOOL, Opaque, Scalar, Type
from gradscribe.primitives.control import EFFECT

Argument = Callable[[FrontendValue], Any]


def owner_of(lowering: Lowering, function: LocalFunction, name: str) -> Value | None:
    """The object in which a variable is looked up that a function has captured; None if it is
    never bound anew while the function can be called. Which it is from here on."""
    frame = function.frame
    while frame is not None and name not in frame.names:
        frame = frame.outer
    if frame is None or frame not in lowering.frames:
        return None
    bound = frame.names[name]
    is_rebound = lowering.kept.keeps and name in rebound_names(frame.source.node)
    if not is_shared(bound) and not is_rebound:
        return None
    shared = lowering.kept.variables.get(frame)
    if shared is None:
        owner = lowering.builder.named(Opaque(types.SimpleNamespace), "variables")
        shared = lowering.kept.variables[frame] = Shared(owner)
    for variable in bound.cells if is_shared(bound) else (name,):
        shared.held.setdefault(variable, None)
        shared.new.add(variable)
    return shared.owner


def is_shared(item: object) -> TypeGuard[InstanceRef]:
    """Whether this stands for the variables of a call that functions in it assign."""
    return isinstance(item, InstanceRef) and item.cls is Variables


def attributes(lowering: Lowering, item: InstanceRef) -> dict[str, FrontendValue]:
    """Such variables, with what they hold."""
    held = lowering.attributes(item).items()
    return {name: value for name, value in held if not isinstance(value, Unbound)}


def count(lowering: Lowering) -> int:
    """How many variables of the functions on the stack there are of this kind."""
    return sum(len(shared.held) for _, shared in _present(lowering))


def current(lowering: Lowering) -> list[FrontendValue]:
    """What the variables hold: functions that were kept can reach it."""
    return [item for frame, shared in _present(lowering) for _, item in _items(lowering, frame)]


def _present(lowering: Lowering) -> list[tuple[Frame, Shared]]:
    found = lowering.kept.variables
    return [(frame, found[frame]) for frame in lowering.frames if frame in found]


def _items(lowering: Lowering, frame: Frame) -> Iterator[tuple[str, FrontendValue]]:
    """The variables of a function that have a value."""
    names = dict(frame.names)
    for owner in filter(is_shared, frame.names.values()):
        names |= attributes(lowering, owner)
    shared = lowering.kept.variables[frame]
    for name in list(shared.held):
        item = names.get(name, Unbound(""))
        if _may_be_undefined(lowering, item):
            item = Unbound("")
        if not _is_plain(item) and not _may_be_unbound(item):
            yield name, resolved(lowering, item)
        elif not _may_be_unbound(item):
            yield name, item
        elif name in shared.pending:
            lowering.unsupported(
                lowering.frame.statement or frame.source.node,
                f"`{name}` may have been bound anew after a function that captures it was given to "
                "code that cannot be read",
                "use another name",
            )


def _may_be_undefined(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether an array may be one that is not made on the path that is taken."""
    contents = [lowering.contents.get(storage) for storage in storages(lowering, item)]
    return any(isinstance(one, Value) and may_be_undefined(lowering, one) for one in contents)


def _may_be_unbound(item: FrontendValue) -> bool:
    return any(isinstance(one, Unbound) for one in possibilities(item))


def bind(
    lowering: Lowering, name: str, item: FrontendValue, owner: FrontendValue | None = None
) -> None:
    """Enter what a variable is bound to. owner: of those that functions assign, what stands for
    them; otherwise it is a variable of the function that is being lowered."""
    for frame, shared in _present(lowering):
        is_own = frame is lowering.frame if owner is None else owner in frame.names.values()
        if not is_own or name not in shared.held:
            continue
        if _is_plain(item):
            _set(lowering, shared, name, item)
        elif isinstance(item, Ref) and not is_read_only(item):
            _show(lowering, shared, name, item)
        else:
            shared.pending[name] = lowering.builder.operations


def _show(lowering: Lowering, shared: Shared, name: str, item: Ref) -> None:
    """Let the object hold an array, by its handle."""
    _call(lowering, setattr, (shared.owner, name, kept_memory.current(lowering, item)))
    shared.held[name] = item
    shared.pending.pop(name, None)


def synchronize(lowering: Lowering, argument: Argument) -> None:
    """Before a call, let the objects hold the arrays that the variables hold, and what functions
    have captured that are given to it. argument: makes an argument of a value."""
    for frame, shared in _present(lowering):
        for name, item in list(_items(lowering, frame)):
            if name in shared.new or not _is_plain(item):
                _call(lowering, setattr, (shared.owner, name, argument(item)))
                shared.held[name] = item
                if shared.pending.get(name) is lowering.builder.operations:
                    del shared.pending[name]
        shared.new.clear()
        assigned = [n for n, item in _assigned(lowering, frame, shared) if not is_number(item)]
        shared.objects = {n: _call(lowering, getattr, (shared.owner, n)) for n in assigned}


def _is_plain(item: FrontendValue) -> bool:
    """Whether what a variable is bound to leads to no memory: a number, an object."""
    return all(isinstance(one, (Value, Static, Unbound)) for one in possibilities(item))


def _set(lowering: Lowering, shared: Shared, name: str, item: FrontendValue) -> None:
    given = item.value if isinstance(item, Static) else lowering.value(item)
    _call(lowering, setattr, (shared.owner, name, given))
    shared.held[name] = item


def read_back(lowering: Lowering) -> None:
    """Let the variables that functions assign hold what the objects hold after a call."""
    for frame, shared in _present(lowering):
        for name, before in _assigned(lowering, frame, shared):
            after = _read(lowering, shared, name, before)
            for item in filter(is_shared, frame.names.values()):
                if name in item.cells:
                    lowering.contents[item.cells[name]] = {name: after}
            shared.held[name] = after


def _assigned(lowering: Lowering, frame: Frame, shared: Shared) -> list[tuple[str, FrontendValue]]:
    """The variables that functions assign, and what they hold."""
    return [
        (name, item)
        for owner in filter(is_shared, frame.names.values())
        for name, item in attributes(lowering, owner).items()
        if name in shared.held
    ]


def _read(lowering: Lowering, shared: Shared, name: str, before: FrontendValue) -> FrontendValue:
    """An attribute after a call: a number may be another one of its type, all else must be the
    object that it was."""
    if not is_number(before):
        found = _call(lowering, getattr, (shared.owner, name))
        same = _call(lowering, operator.is_, (found, shared.objects[name]), BOOL)
        _check(lowering, same, name)
        return before
    type_ = lowering.value(before).type
    assert isinstance(type_, Scalar)
    after = _call(lowering, getattr, (shared.owner, name), replace(type_, value=None))
    cls = _CLASSES[type_.dtype] if type_.weak else np.dtype(type_.dtype).type
    found = _call(lowering, type, (after,))
    _check(lowering, _call(lowering, operator.is_, (found, cls), BOOL), name)
    return after


_CLASSES = {"float64": float, "int64": int, "complex128": complex, "bool": bool}


def _check(lowering: Lowering, condition: Value, name: str) -> None:
    what = f"a function has given `{name}` another object, which is not followed"
    lowering.check(condition, what)


def leave(lowering: Lowering, frame: Frame, block: list[Operation], start: int) -> None:
    """Make the object of a function that was lowered, where it begins. Refuse one whose variables
    hold other lists in the end than the object does."""
    shared = lowering.kept.variables.get(frame)
    if shared is None:
        return
    for name, item in list(_items(lowering, frame)) if len(lowering.frames) > 1 else ():
        if _is_plain(item) or _is_known(lowering, item, shared.held[name]):
            continue
        if isinstance(item, Ref) and not is_read_only(item):
            _show(lowering, shared, name, item)
        else:
            lowering.unsupported(
                frame.statement or frame.source.node,
                f"`{name}` is bound anew after a function that captures it was given to code that "
                "cannot be read",
                "use another name",
            )
    lowering.builder.insert(block, start, _making(shared.owner))


def _is_known(lowering: Lowering, item: FrontendValue, held: FrontendValue | None) -> bool:
    """Whether all memory that a value leads to is that of another one."""
    known = list(storages(lowering, held)) if held is not None else []
    return all(any(may_overlap(s, k) for k in known) for s in storages(lowering, item))


def _making(owner: Value) -> Operation:
    tree = {"args": (), "keywords": {}, "type": owner.type}
    return Operation(EFFECT, (), (owner,), tree, callee=types.SimpleNamespace)


def _call(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[Any, ...],
    type_: Type = Opaque(),  # noqa: B008
) -> Value:
    tree = {"args": arguments, "keywords": {}, "type": type_}
    return lowering.plain(EFFECT, tree, callee)
