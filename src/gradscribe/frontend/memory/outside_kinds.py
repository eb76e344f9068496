"""The kinds of objects that a function finds outside: those that are resolved when it is compiled,
those that are known by their value, and inputs."""

from __future__ import annotations

import enum
import functools
import inspect
import operator
import types
from typing import Any

import numpy as np

from gradscribe.frontend.values.values import PLAIN_NUMBERS
from gradscribe.ir.generators import RandomGenerator
from gradscribe.ir.probing import (
    has,
    in_class,
    is_a,
    is_dataclass,
    module_of_class,
    probe,
    redefined,
)
from gradscribe.ir.trees import flatten
from gradscribe.primitives.contracts import is_immutable

RESOLVED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    np.ufunc,
    type(np.sum),
    type,
)
"""Objects of these classes are static: a call must find the same ones."""

CALLABLES = (
    functools._lru_cache_wrapper,
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
)
"""Objects that are called, and are static as functions are."""

BY_VALUE = (bool, str, bytes, slice, range, enum.Enum, np.dtype)
"""Objects of these classes are static: a call must find equal ones."""


def is_constant(value: Any) -> bool:
    """Whether this is a plain constant, or a set or tuple of those."""
    if isinstance(value, (set, frozenset, tuple)):
        return all(map(is_constant, value))
    return value is None or isinstance(value, (*BY_VALUE, int, float, complex))


def is_settled(value: Any) -> bool:
    """Whether an object, and what it holds, stays what it is: a constant, a function, a method."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_settled, value))
    if isinstance(value, slice):
        return all(map(is_settled, (value.start, value.stop, value.step)))
    return value is Ellipsis or is_immutable(type(value)) or is_a(value, _CODE)


def has_own_truth(value: Any) -> bool:
    """Whether the truth of an object that is known is told by its class, and may change: that of a
    pointer to a function."""
    is_asked = any(in_class(type(value), name) is not None for name in ("__bool__", "__len__"))
    return is_asked and callable(value) and not is_settled(value)


_CODE = (
    *(*RESOLVED, *CALLABLES, types.CodeType, types.MethodType, types.MethodWrapperType),
    *(types.MethodDescriptorType, types.WrapperDescriptorType, types.GenericAlias),
)


def is_transformed(value: Any) -> bool:
    """Whether this is a function that gradscribe has wrapped: decorated, or a gradient."""
    if type(value) in _OF_C:
        return False
    return any(inspect.getattr_static(value, mark, None) is not None for mark in _MARKS)


_OF_C = (np.ufunc, type(np.sum), types.BuiltinFunctionType)
"""Classes of functions that nobody wraps."""


_MARKS = ("__gradscribe_function__", "__gradscribe_primitive__", "__gradscribe_transform__")
"""Attributes of what gradscribe has wrapped (objects may have a `__getattr__` for any name)."""


def is_of_scipy(value: Any) -> bool:
    """Whether this is an object of SciPy's that is called: a distribution, a transform."""
    modules = (probe(value, "__module__") or "", module_of_class(type(value)))
    return callable(value) and any(module.partition(".")[0] == "scipy" for module in modules)


def is_input(value: Any) -> bool:
    """Whether a value is made of numbers and arrays, and at least one of them."""
    if _is_object(value):
        return False
    _, leaves = flatten(value, _is_object)
    classes = (*PLAIN_NUMBERS, np.ndarray, RandomGenerator)
    return bool(leaves) and all(
        isinstance(leaf, classes) or has(type(leaf), "requires_grad") for leaf in leaves
    )


def _is_object(value: Any) -> bool:
    """Whether this is an object of a dataclass, or a tuple whose class gives it another meaning."""
    if isinstance(value, tuple):
        return redefined(type(value)) is not None
    return is_dataclass(value) or is_dataclass(type(value))
