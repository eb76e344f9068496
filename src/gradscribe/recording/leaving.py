"""What a function has stored outside in a recorded run is plain when the run is over: in lists,
dicts, attributes and variables, arrays and numbers take the place of those that recorded. A tuple
that holds some gives way to another one.

Where they cannot be replaced, in a suspended generator or an array of objects, they stay, and are
without derivative from then on.
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Callable, Sequence
from types import CellType, MethodType
from typing import Any
from weakref import ref

from gradscribe.errors import GradscribeError, UnsupportedError
from gradscribe.ir.probing import is_a
from gradscribe.recording import classes
from gradscribe.recording.arrays import RecordedArray, RecordedNumber
from gradscribe.recording.levels import (
    CREATED,
    GIVEN_AWAY,
    KEEPS_NOTHING,
    REFUSED,
    TOLD,
    Level,
    Traced,
    open_runs,
    plain,
)
from gradscribe.runtime.graph.grad_mode import enable_grad


class running:
    """Within the block, a level is open, and functions run recorded."""

    def __init__(self, is_forward: bool) -> None:
        self.level = Level(is_forward)

    def __enter__(self) -> Level:
        classes.open_run()
        self._opened = open_runs.set(open_runs.get() + 1)
        self._created = None if CREATED.get() is not None else CREATED.set([])
        told = TOLD.get()
        self._told = TOLD.set([] if told is None else told)
        given = GIVEN_AWAY.get()
        self._given = GIVEN_AWAY.set([] if given is None else given)
        self._refused = REFUSED.set([])
        self._mode = enable_grad()
        self._mode.__enter__()
        return self.level

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        refused = REFUSED.get()
        REFUSED.reset(self._refused)
        classes.close_run()
        try:
            self._close()
        finally:
            if refused and not isinstance(error, GradscribeError):
                raise refused[0] from error

    def _close(self) -> None:
        self.level.closed = True
        self._mode.__exit__(None, None, None)
        TOLD.reset(self._told)
        GIVEN_AWAY.reset(self._given)
        open_runs.reset(self._opened)
        if self._created is not None:
            created = CREATED.get()
            CREATED.reset(self._created)
            assert created is not None
            keeps = KEEPS_NOTHING.get() and _are_active(created)
            unwrap(created)
            if keeps and sys.exc_info()[1] is None:
                raise UnsupportedError(
                    "a function that runs as it is, called with Tensors, stores outside what is "
                    "differentiated: there it would have no derivative any more",
                    "return it, and pass it in again",
                )


def _are_active(created: Sequence[ref[Any]]) -> bool:
    """Whether a derivative goes through a value of a run that is over, and is held."""

    def check() -> bool:
        left = [value for weak in created if (value := weak()) is not None]
        held = [value._value for value in left]
        held += [value._memory.value for value in left if type(value) is RecordedArray]
        return any(type(value) is Traced for value in held)

    return check() and (gc.collect() >= 0) and check()


def unwrap(created: Sequence[ref[Any]]) -> None:
    """Put plain values in place of what a run has made and is still held somewhere."""
    left = [value for weak in created if (value := weak()) is not None]
    if not left:
        return
    known = {id(value): _unwrapped(value) for value in left}
    fixed = _fixed_holders(left)
    inner = {id(holder): holder for holder in fixed}
    for holder in fixed:
        _renew(holder, inner, known)
    held = [*left, *fixed]
    own = {id(left), id(fixed), id(inner), id(held)}
    for holder in gc.get_referrers(*held):
        if id(holder) not in own:
            _replace(holder, known)


def _fixed_holders(left: Sequence[Any]) -> list[Any]:
    """The tuples and bound methods that hold these, or hold such tuples."""
    found: dict[int, Any] = {}
    pending: Sequence[Any] = left
    mark = object()  # of the tuple of arguments, which is none of these
    while pending:
        holders = [h for h in gc.get_referrers(mark, *pending) if is_a(h, _FIXED)]
        pending = [h for h in holders if id(h) not in found and not _holds(h, mark)]
        found.update({id(holder): holder for holder in pending})
    return list(found.values())


_FIXED = (tuple, MethodType)


def _holds(holder: Any, item: Any) -> bool:
    return is_a(holder, tuple) and any(one is item for one in holder)


def _renew(holder: Any, inner: dict[int, Any], known: dict[int, Any]) -> None:
    """Enter the tuple of plain values, or the method of one, that takes the place of one."""
    if is_a(holder, MethodType):
        owner, found = holder.__self__, vars(type(holder.__self__)).items()
        names = [name for name, function in found if function is holder.__func__]
        known[id(holder)] = (
            getattr(known.get(id(owner), owner), names[0], None) if names else holder
        )
        return
    for item in holder:
        if id(item) in inner and id(item) not in known:
            _renew(item, inner, known)
    items = [known.get(id(item), item) for item in holder]
    new = known[id(holder)] = tuple.__new__(type(holder), items)
    if hasattr(holder, "__dict__"):
        vars(new).update(vars(holder))


def _unwrapped(value: RecordedArray | RecordedNumber) -> Any:
    """A plain value; views of one array are views of one array."""
    if type(value) is RecordedArray:
        return value._shared()
    return plain(value._present())


def _replace(holder: Any, known: dict[int, Any]) -> None:
    """Replace what an object holds."""
    replace = _REPLACING.get(type(holder))
    if replace is not None:
        replace(holder, known)
    elif is_a(holder, (list, deque)):
        _in_sequence(holder, known)
    elif is_a(holder, dict):
        _in_dict(holder, known)
    elif is_a(holder, BaseException) and id(holder.args) in known:
        holder.args = known[id(holder.args)]
    elif not is_a(holder, (RecordedArray, RecordedNumber, tuple)):
        _in_attributes(holder, known)


def _in_sequence(holder: Any, known: dict[int, Any]) -> None:
    cls: Any = list if is_a(holder, list) else deque  # a derived class may do more
    for position, item in enumerate(cls.__iter__(holder)):
        if id(item) in known:
            cls.__setitem__(holder, position, known[id(item)])


def _in_dict(holder: Any, known: dict[int, Any]) -> None:
    found = {k: known[id(item)] for k, item in dict.items(holder) if id(item) in known}
    for cls in filter(lambda one: isinstance(one, type), gc.get_referrers(holder)):
        if any(names is holder for names in gc.get_referents(vars(cls))):
            for name in found:  # a class remembers what its attributes are
                type.__setattr__(cls, name, found[name])
            return
    dict.update(holder, found)  # that of a derived class may add, as that of a Counter


def _in_cell(holder: CellType, known: dict[int, Any]) -> None:
    if id(holder.cell_contents) in known:
        holder.cell_contents = known[id(holder.cell_contents)]


def _in_attributes(holder: Any, known: dict[int, Any]) -> None:
    names = list(getattr(holder, "__dict__", ()))
    names += [name for cls in type(holder).__mro__ for name in _slots(cls)]
    for name in names:
        try:
            value = object.__getattribute__(holder, name)
            if id(value) in known:
                object.__setattr__(holder, name, known[id(value)])
        except (AttributeError, TypeError):
            continue


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


_REPLACING: dict[type, Callable[[Any, dict[int, Any]], None]] = {
    list: _in_sequence,
    dict: _in_dict,
    CellType: _in_cell,
}
