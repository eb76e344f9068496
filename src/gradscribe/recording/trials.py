"""What a function of a library does to the arrays that it is given, tried on copies of them.

Some functions of NumPy and SciPy write to what they are given, where they are told to
(`overwrite_input=True`, `copy=False`), and may give it, or a part of it, as their result. Which
arrays these are depends on their layout and dtype; so the function is called on copies that share
memory as the arrays do. Where no derivative goes through them, what it has written is stored.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.overlaps import copied
from gradscribe.ir.probing import probe
from gradscribe.primitives.argument_trees import is_same
from gradscribe.primitives.contract_kinds import parameters
from gradscribe.recording.arrays import Memory, RecordedArray, constant, shown
from gradscribe.recording.containers import Containers
from gradscribe.recording.levels import Traced, opened, plain, refused, values_in

Function = Callable[..., Any]


def options_in_place(function: Function, args: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a call by which it may write to what it is given."""
    options = _options(probe(function, "__func__", function))
    if not options:
        return {}
    named = dict(zip(positional(function), args, strict=False)) | dict(kwargs)
    given = {name: named[name] for name in options if name in named}
    return {
        name: value
        for name, value in given.items()
        if (value is not None and not value if name == "copy" else value)
    }


def name_of(function: Function) -> str:
    """What a function is called; of a method of a class, the class."""
    owner = probe(function, "__self__")
    return str(probe(owner if isinstance(owner, type) else function, "__name__"))


def positional(function: Function) -> list[str]:
    """The names of the parameters that a call may give by their place."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled code may have none
        return parameters(function)
    starts = [p.name for p in given if p.kind is inspect.Parameter.VAR_POSITIONAL]
    names = parameters(function)
    return names[: names.index(starts[0])] if starts and starts[0] in names else names


@functools.cache
def _options(function: Function) -> list[str]:
    names = parameters(function)
    return [name for name in names if name == "copy" or name.startswith("overwrite_")]


def named_first(name: str, function: Function) -> Function:
    """A function whose first argument may be given by its name."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not args and name in kwargs:
            args = (kwargs.pop(name),)
        return function(*args, **kwargs)

    return call


def _is_close(array: Any, other: Any) -> bool:
    if array.dtype.kind not in "fc":
        return bool(np.array_equal(array, other))
    rtol = float(np.sqrt(np.finfo(array.dtype).eps))
    return np.allclose(array, other, rtol=rtol, atol=0.0, equal_nan=True)


class Trial:
    """A call on copies. result: what it has given. is_only: it is all that there will be of the
    call, and arrays that do not record, or whose memory other code has, are given themselves."""

    def __init__(
        self, function: Function, args: Any, kwargs: Mapping[str, Any], *, is_only: bool = False
    ) -> None:
        self._is_only = is_only
        self._copies: dict[int, tuple[Any, Any, Any]] = {}
        self._standing: dict[int, tuple[Any, Any]] = {}
        self._function = function
        self._containers = Containers(self._stand_in, keeps_lists=is_only)
        given = [self._stand_in(arg) for arg in args]
        named = {name: self._stand_in(value) for name, value in kwargs.items()}
        try:
            self.result = function(*given, **named)
        except Exception:
            self._store_written()  # what it had written by then
            raise

    def _stand_in(self, value: Any) -> Any:
        if isinstance(value, (tuple, list, dict)):
            return self._containers.of(value)
        if type(value) is RecordedArray:
            memory = value._memory
            memory.check()
            array = self._copy(memory, plain(opened(memory.value)))
            for step in value._steps:
                array = step.plainly(array)
            if not value._writeable:
                array = array.view()
                array.flags.writeable = False
        elif type(value) is np.ndarray:
            array = self._copy(value, value)
        else:
            return constant(value)
        self._standing[id(array)] = array, value
        return array

    def _copy(self, owner: Any, array: Any) -> Any:
        if id(owner) not in self._copies:
            is_itself = self._is_only and (type(owner) is not Memory or owner.is_shared)
            copy = array if is_itself else copied(array)
            self._copies[id(owner)] = owner, array, copy
        return self._copies[id(owner)][2]

    def argument(self, result: Any) -> Any:
        """The argument that a result is; None for any other."""
        found = self._standing.get(id(result))
        return None if found is None else found[1]

    def written(self) -> list[Any]:
        """The memories, and arrays that do not record, that the function has written to."""
        return [o for o, array, copy in self._copies.values() if not is_same(array, copy)]

    def given_back(self) -> list[Any]:
        """The memories, and arrays that do not record, of which it has given views."""
        return self._owners(v for v in values_in(self.result) if self.argument(v) is None)

    def _owners(self, results: Iterable[Any]) -> list[Any]:
        """The memories, and arrays that do not record, that results share memory with."""
        arrays = [result for result in results if isinstance(result, np.ndarray)]
        return [
            owner
            for owner, _, copy in self._copies.values()
            if any(np.may_share_memory(copy, array) for array in arrays)
        ]

    def agrees(self) -> bool:
        """Whether the function has left in the memories what stands there now, but for rounding."""
        return all(
            _is_close(copy, plain(opened(owner.value)))
            for owner, _, copy in self._copies.values()
            if type(owner) is Memory
        )

    def _store_written(self) -> None:
        """Store what the function has written to memory that no derivative goes through."""
        for owner, array, copy in list(self._copies.values()):
            if copy is array or is_same(array, copy):
                continue
            if type(owner) is not Memory:
                owner[...] = copy
                continue
            if type(opened(owner.value)) is Traced:
                error = UnsupportedError(
                    f"`{name_of(self._function)}` has written to an array that is differentiated, "
                    "and then raised an exception",
                    "check what it is given before it is called",
                )
                raise refused(error)
            owner.check_overlap()
            owner.value = copy
            owner.version += 1

    def store(self) -> Any:
        """Store what the function has written; its results, which share memory with the arrays as
        those with the copies. No derivative goes through them."""
        self._containers.check(name_of(self._function))
        for owner in self.written():
            if type(owner) is Memory:
                owner.check_overlap()
        given_back = {id(owner) for owner in self.given_back()}
        for key, (owner, array, copy) in self._copies.items():
            if copy is not array:
                owner.value = copy
                owner.version += 1
                owner.is_shared = key in given_back
        return self._shown(self.result)

    def _shown(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            items = [self._shown(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        argument = self.argument(value)
        if argument is not None or not isinstance(value, np.ndarray):
            return shown(value) if argument is None else argument
        copies = (copy for _, _, copy in self._copies.values())
        is_own = not any(np.may_share_memory(value, copy) for copy in copies)
        return shown(value) if is_own else value

    def forget(self, function: Function) -> None:
        """What the function has written to, or given as it is or views of, is not known from now
        on."""
        for owner in (*self.written(), *self._owners(values_in(self.result))):
            error = UnsupportedError(
                f"`{probe(function, '__name__')}` has overwritten an array that is used again",
                "leave `overwrite_…` out, or pass a copy",
            )
            if type(owner) is not Memory:
                raise refused(error)
            owner.refusal = error
