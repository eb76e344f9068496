"""Examples of the values that the frontend has at hand: what Python does with them tells what it
does in the program.

`Examples(lowering)` have the lengths of the specializing call; `Examples(lowering, certain=True)`
are of the types alone, whatever the lengths: what Python raises for them it raises in each call.
Of what may be a Tensor there is none, but for `complex` and functions of `math`, which make
a number of it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradscribe.frontend.prelude.example_types import MOST_REPEATED, example, smallest_example
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    ListRef,
    LocalFunction,
    OneShot,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.core import SliceOf, Value
from gradscribe.ir.probing import module_of_class
from gradscribe.ir.types import Array, Scalar, Type

_NUMBERS = (bool, int, float, complex, np.generic)
_PLAIN = (*_NUMBERS, str, bytes, type(None), type(Ellipsis), range)


class UnknownError(Exception):
    """There is no example of a value, or it is not known what is done to it."""


class RaisedError(Exception):
    """Python raises this."""

    def __init__(self, error: Exception) -> None:
        self.error = error


_WRITING = frozenset({"dump", "tofile"})
"""Methods of arrays that do more than to change these, or to give something."""


class Examples:
    """Makes values like those that items of the frontend stand for."""

    def __init__(self, lowering: Lowering, certain: bool = False, callee: Any = None) -> None:
        self.lowering, self.certain = lowering, certain
        self.converts = callee is complex or getattr(callee, "__module__", None) == "math"

    def of(self, item: Any) -> Any:
        """A value like the one that an item stands for."""
        if isinstance(item, Static):
            return self._plain(item.value)
        if isinstance(item, Value):
            return self._of_type(item)
        if isinstance(item, Ref):
            return self._of_type(self.lowering.load(item))
        if isinstance(item, (TupleOf, tuple, list)):
            if isinstance(item, TupleOf) and item.cls is not tuple:
                raise UnknownError
            items = item.items if isinstance(item, TupleOf) else item
            made = map(self.of, items)
            return list(made) if isinstance(item, list) else tuple(made)
        if isinstance(item, (ListRef, DictRef)) and item.storage.derived:
            raise UnknownError
        if isinstance(item, ListRef):
            contents = self.lowering.contents[item.storage]
            if isinstance(contents, Value):
                return self._of_type(contents)
            return [self.of(one) for one in contents]
        if isinstance(item, DictRef):
            contents = self.lowering.contents[item.storage]
            if not isinstance(contents, Mapping):
                raise UnknownError
            return {key: self.of(one) for key, one in contents.items()}
        return self._other(item)

    def _other(self, item: Any) -> Any:
        if isinstance(item, (slice, SliceOf)):
            return slice(*(self.of(part) for part in (item.start, item.stop, item.step)))
        if isinstance(item, BoundMethod) and item.function is None:
            if item.name in _WRITING:
                raise UnknownError
            return attribute(self.of(item.receiver), item.name)
        if isinstance(item, LocalFunction) and not self.certain:
            return lambda: None
        if isinstance(item, OneShot):
            return iter(())
        return self._plain(item)

    def _plain(self, value: Any) -> Any:
        """A known object, if nothing of the user's happens when something is done to it."""
        if type(value) in (tuple, list, set, frozenset):
            return type(value)(map(self._plain, value))
        if type(value) is slice or isinstance(value, np.dtype):
            return value
        if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "_operator":
            return value
        if self.certain and isinstance(value, int) and abs(value) > MOST_REPEATED:
            raise UnknownError
        if isinstance(value, types.ModuleType):
            return _module_like(value)
        home = value if isinstance(value, type) else type(value)
        if isinstance(value, (*_PLAIN, type)) and module_of_class(home) in ("builtins", "numpy"):
            return value
        raise UnknownError

    def _of_type(self, value: Value) -> Any:
        may_be_tensor = self.lowering.has_tensors and not _is_no_tensor(value.type)
        if may_be_tensor and not (self.converts and isinstance(value.type, Scalar)):
            raise UnknownError
        try:
            if self.certain:
                return smallest_example(value.type)
            return example(self.lowering.builder.facts, value.type)
        except (LookupError, ValueError):  # NumPy makes no array of such lengths, or of so many
            raise UnknownError from None


def _module_like(module: types.ModuleType) -> types.SimpleNamespace:
    """What has the attributes of a module, and may get others. A module may make some up."""
    if "__getattr__" in vars(module) and module is not np:
        raise UnknownError
    return types.SimpleNamespace(**vars(module))


def _is_no_tensor(type_: Type) -> bool:
    if isinstance(type_, Array):
        return type_.spelling == "numpy"
    return isinstance(type_, Scalar) and type_.weak


def attribute(owner: Any, name: str) -> Any:
    """An attribute of an example."""
    try:
        return getattr(owner, name)
    except AttributeError as error:
        raise RaisedError(error) from None
