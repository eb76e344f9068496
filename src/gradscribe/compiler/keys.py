"""Fast keys: what of a call's arguments decides which specialization it gets.

`key_of(value)` is a hashable summary: dtype and axis classes (0, 1 or many) of arrays, the
class of a number, the value of a flag, the structure of a container. Equal keys mean equal
argument types (`signatures` builds those, once per key). This is on the path of
every call: one dictionary look-up by class and one small function for each argument.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import operator
import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gradscribe.ir.probing import is_dataclass
from gradscribe.ir.trees import attributes_beside

Key = Hashable
KeyFunction = Callable[[Any], Key]

MANY = 2
"""The class of all axes longer than one."""


class _AxisClasses(dict[tuple[int, ...], tuple[int, ...]]):
    """Shape to the class of each axis; remembered, because shapes repeat."""

    def __missing__(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(self) >= 1 << 14:
            self.clear()
        classes = self[shape] = tuple(min(length, MANY) for length in shape)
        return classes


AXIS_CLASSES = _AxisClasses()


def _array_key(array: Any) -> Key:
    return array.dtype, AXIS_CLASSES[array.shape]


def _same(value: Hashable) -> Key:
    return value


def _tuple_key(value: Any) -> Key:
    return tuple, *[KEYS[item.__class__](item) for item in value]


def _list_key(value: list[Any]) -> Key:
    """Lists of one item type differ only in being empty or not."""
    if not value:
        return list, 0
    if is_uniform(value):
        return list, 1, KEYS[value[0].__class__](value[0])
    return list, MANY, *[KEYS[item.__class__](item) for item in value]


def _dict_key(value: dict[Any, Any]) -> Key:
    """Keys that are equal may be of other classes: 1, 1.0 and True are."""
    return (
        dict,
        tuple(value),
        tuple(map(type, value)),
        *[KEYS[item.__class__](item) for item in value.values()],
    )


def _slice_key(value: slice) -> Key:
    return slice, value.start, value.stop, value.step


_OF_BASES: dict[type, KeyFunction] = {dict: _dict_key, list: _list_key, tuple: _tuple_key}


def _value_key(value: Any) -> Key:
    return value.__class__, value


def _range_key(value: range) -> Key:
    """Equal ranges may have other ends."""
    return range, value.start, value.stop, value.step


def _partial_key(value: functools.partial[Any]) -> Key:
    return functools.partial, key_of(value.func), key_of(value.args), key_of(value.keywords)


def _function_key(function: Any, within: tuple[Any, ...] = ()) -> Key:
    """Code, the types in the cells, and the defaults: closures made by one `def` share a key."""
    if function in within:
        return "itself"
    within = (*within, function)
    cells = tuple(_cell_key(contents_of(cell), within) for cell in function.__closure__ or ())
    keyword_defaults = (function.__kwdefaults__ or {}).values()
    defaults = (*(function.__defaults__ or ()), *keyword_defaults)
    namespace = id(function.__globals__)
    return id(function.__code__), namespace, cells, tuple(map(_default_key, defaults))


def _cell_key(value: Any, within: tuple[Any, ...]) -> Key:
    is_function = isinstance(value, types.FunctionType)
    return _function_key(value, within) if is_function else key_of(value)


def _default_key(value: Any) -> Key:
    """Defaults are compiled in, so that they count by value."""
    by_value = isinstance(value, (int, float, complex, str, type(None)))
    return (value.__class__, value) if by_value else id(value)


def contents_of(cell: types.CellType) -> Any:
    """What is in a closure cell; None where the variable is not bound yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _method_key(method: types.MethodType) -> Key:
    return method.__func__, key_of(method.__self__)


class _Keys(dict[type, KeyFunction]):
    """The key function of each class; those of new classes are found when first met."""

    def __missing__(self, cls: type) -> KeyFunction:
        function = self[cls] = _key_function(cls)
        return function


def _key_function(cls: type) -> KeyFunction:
    if issubclass(cls, np.generic):
        return type
    if issubclass(cls, np.memmap):
        return _array_key
    if is_structure(cls):
        names = field_names(cls)
        return _fields_key(names) if issubclass(cls, tuple) else _dataclass_key(names)
    for base, key in _OF_BASES.items():
        if issubclass(cls, base):
            return _of_subclass(key)
    return _value_key if issubclass(cls, _BY_VALUE) else type


def _of_subclass(key: KeyFunction) -> KeyFunction:
    """The key of a container of a class of its own."""
    return lambda value: (value.__class__, key(value))


def is_structure(cls: type) -> bool:
    """Whether objects of this class are containers of known fields: namedtuples, dataclasses."""
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields")
    return is_dataclass(cls)


def field_names(cls: Any) -> tuple[str, ...]:
    """The fields of a structure, in order."""
    if issubclass(cls, tuple):
        names: tuple[str, ...] = cls._fields
        return names
    return tuple(field.name for field in dataclasses.fields(cls))


def _fields_key(names: tuple[str, ...]) -> KeyFunction:
    def fields_key(value: Any) -> Key:
        return value.__class__, *[key_of(getattr(value, name)) for name in names]

    return fields_key


def _dataclass_key(names: tuple[str, ...]) -> KeyFunction:
    def dataclass_key(value: Any) -> Key:
        fields = [key_of(getattr(value, name)) for name in names]
        return value.__class__, *fields, *attributes_beside(value)

    return dataclass_key


_BY_VALUE = (
    types.BuiltinFunctionType,
    types.ModuleType,
    type,
    np.ufunc,
    np.dtype,
    enum.Enum,
    str,
    bytes,
    frozenset,
    functools._lru_cache_wrapper,
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
)
"""Classes whose objects are static: a specialization is made for this very value."""

KEYS: dict[type, KeyFunction] = _Keys(
    {
        np.ndarray: _array_key,
        float: type,
        int: type,
        complex: type,
        bool: _same,
        str: _same,
        type(None): _same,
        type(Ellipsis): _same,
        tuple: _tuple_key,
        list: _list_key,
        dict: _dict_key,
        slice: _slice_key,
        range: _range_key,
        types.FunctionType: _function_key,
        types.MethodType: _method_key,
        functools.partial: _partial_key,
    }
)
"""The key function of each class. The runtime enters its own classes here."""


def key_of(value: Any) -> Key:
    """The key of one value."""
    return KEYS[value.__class__](value)


def items_key(value: list[Any]) -> Key:
    """The key of a list whose items are known one by one, though they may be of one type."""
    return tuple(map(key_of, value))


def is_uniform(items: list[Any]) -> bool:
    """Whether a list's items have one type: the same dtype, structure and, exactly, shape."""
    first = _exact_key(items[0])
    return first is not None and all(_exact_key(item) == first for item in items)


def _exact_key(value: Any) -> Key | None:
    """Like `key_of`, with full shapes; None for what is no run-time value."""
    return _EXACT[value.__class__](value)


def _exact_array(value: Any) -> Key:
    return value.dtype, value.shape


def _exact_tuple(value: tuple[Any, ...]) -> Key | None:
    keys = tuple(map(_exact_key, value))
    return None if None in keys else (tuple, keys)


def _exact_list(value: list[Any]) -> Key | None:
    return (list, _exact_key(value[0])) if value and is_uniform(value) else None


class _ExactKeys(dict[type, Callable[[Any], "Key | None"]]):
    def __missing__(self, cls: type) -> Callable[[Any], Key | None]:
        known = type if issubclass(cls, np.generic) else (lambda value: None)
        self[cls] = known
        return known


_WRAPPERS: list[type] = []
"""Classes whose objects wrap an array."""


def array_of(value: Any) -> Any:
    """The array that a value wraps; other values as they are."""
    wraps: Any = isinstance(value, tuple(_WRAPPERS))
    return value.array if wraps else value


def lies_in_order(value: Any) -> bool:
    """Whether this is an array, or wraps one, in C order without gaps."""
    array = array_of(value)
    return isinstance(array, np.ndarray) and array.flags.c_contiguous


def looked_at(value: Any) -> Any:
    """What a number, array or list of numbers is now, for the compiler to look at: a copy; None of
    what is larger, or of another class."""
    array = array_of(value)
    if type(array) is list and len(array) <= _MOST_ITEMS:
        return list(array) if all(type(item) in _NUMBERS for item in array) else None
    if type(array) is np.ndarray and array.size <= _MOST_ITEMS and array.dtype.kind in "biufc":
        return np.array(array, order="K")
    return array if type(array) in _NUMBERS or isinstance(array, np.generic) else None


_MOST_ITEMS = 4096
_NUMBERS = (bool, int, float, complex)


def enter_array_class(cls: type, key: KeyFunction, exact_key: KeyFunction) -> None:
    """Make a class that wraps an array known (the runtime's Tensor)."""
    _WRAPPERS.append(cls)
    KEYS[cls] = key
    _EXACT[cls] = exact_key


_EXACT = _ExactKeys(
    {
        np.ndarray: _exact_array,
        float: type,
        int: type,
        complex: type,
        tuple: _exact_tuple,
        list: _exact_list,
    }
)
