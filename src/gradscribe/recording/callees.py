"""What a callee is in a recorded run, for calls that NumPy's protocols do not tell of.

Functions of the user's and of libraries are followed, and functions with rules recorded; some have
`replacements`. Any other code is given arrays of one memory with those of the program.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
from collections.abc import Callable, Hashable
from numbers import Number
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.probing import COMPILERS, is_a, probe
from gradscribe.primitives import optional
from gradscribe.primitives.backends import BACKENDS
from gradscribe.primitives.registry import COMPOSITIONS, DISTRIBUTIONS, PRIMITIVES
from gradscribe.recording import (
    builtin_types,
    classes,
    methods,
    operations,
    protocol,
    replacements,
    shuffles,
    stores,
    texts,
    threads,
    unfollowed,
)
from gradscribe.recording.arrays import (
    Memory,
    RecordedArray,
    holds_active,
    is_recorded,
)
from gradscribe.recording.following import as_written, followed
from gradscribe.recording.foreign import guarded
from gradscribe.recording.levels import is_running, refused, values_in
from gradscribe.recording.replacements import apart, reading_texts, telling
from gradscribe.recording.trials import Trial

Callee = Any


def callee_of(function: Callee) -> Callee:
    """What is called in place of a callee of the user's program."""
    if not is_running():
        return function
    if isinstance(function, type):
        classes.watching(callee_of)(function)
    replacement = _REPLACED.get(id(function))  # its class may say what its hash is
    if replacement is not None:
        return replacement[1]
    for is_one, replace in _BY_KIND:
        if is_one(function):
            return replace(function)
    if any(function is each for each in unfollowed.ITERATING):
        return unfollowed.of_memory_alone(function)
    if any(function is each for each in unfollowed.TAKING_BUFFERS) or not unfollowed.is_innocent(
        function
    ):
        return unfollowed.with_shared(function)
    return unfollowed.refusing(function) if unfollowed.is_of_c(function) else function


_DISPATCHED = type(np.sum)
_OF_TEXT = {"logging": replacements.logging_, "warnings": telling}
"""Modules that make texts of values; a text has no derivative."""

_OF_MEMORY = frozenset({"array", "csv", "decimal", "fractions", "json", "pickle", "statistics"})
"""Modules of Python's that take values as they are in memory."""


def _is_of_compiler(function: Callee) -> bool:
    """Whether it is a compiler's own, or an object that calls what that has compiled."""
    return builtin_types.module_of(function).partition(".")[0] in COMPILERS


def _of_compiler(function: Callee) -> Callee:
    """What compiles the code of functions: that which they were written with."""
    run = unfollowed.with_shared(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        named = {name: as_written(value) for name, value in kwargs.items()}
        return run(*map(as_written, args), **named)

    return call


def _is_of_python(function: Callee) -> bool:
    if type(function) is MethodType:
        return type(function.__func__) is FunctionType
    return type(function) in (FunctionType, functools.partial)


def _of_python(function: Callee) -> Callee:
    """A function of the user's, of a library, or one with a rule."""
    caller = str(sys._getframe(2).f_globals.get("__name__"))
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    if module in _OF_TEXT:
        return _OF_TEXT[module](function)
    if module in _OF_MEMORY:
        return unfollowed.with_shared(function)
    if module == "scipy" and _overwritten(function):
        return functools.partial(_call_overwriting, function)
    found = followed(function, callee_of)
    called = guarded(found, caller)
    is_read = found is not function or texts.is_handing_on(function)
    return called if is_read else functools.partial(_call_unread, called)


def _is_known(function: Callee) -> bool:
    """Whether it is a function of SciPy's with a rule; those of `scipy.fft` are no functions of
    Python's."""
    module = probe(function, "__module__")
    if isinstance(function, np.ufunc) or str(module).partition(".")[0] != "scipy":
        return False
    if not isinstance(function, Hashable):  # an object
        return False
    optional.enter_imported()
    return function in PRIMITIVES or function in COMPOSITIONS


def _overwritten(function: Callee) -> frozenset[str]:
    """The parameters of a function of SciPy's that say whether it may write to an argument."""
    function = inspect.unwrap(probe(function, "__func__", function))
    code = probe(function, "__code__")
    if code is None:
        return _overwritten_by(function)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return frozenset(name for name in names if name.startswith("overwrite_"))


@functools.lru_cache(maxsize=4096)
def _overwritten_by(function: Callee) -> frozenset[str]:
    """Those of a function in C."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of code in C that does not tell
        return frozenset()
    return frozenset(name for name in names if name.startswith("overwrite_"))


def _is_overwriting(function: Callee, args: Any, kwargs: Any) -> bool:
    """Whether it is told that it may write to an argument."""
    names = _overwritten(function)
    if not names:
        return False
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    return any(given.get(name) for name in names)


def _call_overwriting(function: Callee, *args: Any, **kwargs: Any) -> Any:
    """A call of a function of SciPy's without rule that may write to what it is given: of what
    records no derivative, to that itself."""
    if not holds_active((args, kwargs)) and _is_overwriting(function, args, kwargs):
        return unfollowed.with_shared(function)(*args, **kwargs)
    return followed(function, callee_of)(*args, **kwargs)


def _is_method_of_array(function: Callee) -> bool:
    owner = probe(function, "__self__")
    return type(function) is BuiltinFunctionType and is_a(owner, (np.ndarray, np.generic))


def _is_of_numpy(function: Callee) -> bool:
    return isinstance(function, np.ufunc) or type(function) is _DISPATCHED


def _is_text(function: Callee) -> bool:
    """Whether it is `text.__mod__`, of `text % values`."""
    return is_a(probe(function, "__self__"), str)


def _is_number(function: Callee) -> bool:
    """Whether it is a class of numbers, which may be read from texts."""
    return isinstance(function, type) and issubclass(function, Number)


def _is_class(function: Callee) -> bool:
    """Whether making an object is no more than running its `__init__`."""
    return (
        type(function) is type
        and inspect.getattr_static(function, "__new__") is object.__dict__["__new__"]
        and type(inspect.getattr_static(function, "__init__")) is FunctionType
    )


def _made_of_class(cls: Callee) -> Callee:
    def make(*args: Any, **kwargs: Any) -> Any:
        made = object.__new__(cls)
        callee_of(inspect.getattr_static(cls, "__init__"))(made, *args, **kwargs)
        return made

    return make


def _is_callable_object(function: Callee) -> bool:
    return type(inspect.getattr_static(type(function), "__call__", None)) is FunctionType


def _of_object(function: Callee) -> Callee:
    return callee_of(MethodType(type(function).__call__, function))


def _call_known(function: Callee, *args: Any, **kwargs: Any) -> Any:
    """A call of a function of SciPy's that has a rule."""
    if not holds_active((args, kwargs)):
        return unfollowed.with_shared(function)(*args, **kwargs)
    if type(function) in DISTRIBUTIONS:
        raise refused(UnsupportedError(*_OF_PARAMETERS))
    backends = BACKENDS.get(function)
    if backends is not None and backends.other.found:
        raise refused(UnsupportedError(backends.what, backends.advice))
    if not _is_overwriting(function, args, kwargs):
        return operations.run(function, args, kwargs)
    trial = Trial(function, args, kwargs)
    others = {name: kwargs[name] for name in kwargs if not name.startswith("overwrite_")}
    found = operations.run(function, args, others)
    target = trial.argument(trial.result)
    if type(target) is RecordedArray:
        return stores.update(target, found)
    trial.forget(function)
    return found


_OF_PARAMETERS = (
    "a distribution is made of what is differentiated, in a function that runs as it is",
    "give its parameters to the methods, as in `scipy.stats.norm.logpdf(x, loc, scale)`",
)


def _method_of_array(method: Any) -> Callee:
    """A method of an array, or a number of NumPy's, that does not record: `A.dot(x)`, and
    `A.copy()` for one that does."""
    name, array = method.__name__, method.__self__
    if name in ("astype", "copy", "flatten"):

        def apart_from_it(*args: Any, **kwargs: Any) -> Any:
            dtype = args[0] if args else kwargs.get("dtype")
            given = replacements.of_objects(array, dtype if name == "astype" else None)
            return apart(texts.read(getattr(given, name)(*args, **kwargs), array), array)

        return apart_from_it

    def call(*args: Any, **kwargs: Any) -> Any:
        if not holds_active((args, kwargs)):
            return unfollowed.with_shared(method)(*args, **kwargs)
        if name not in methods.FUNCTIONS:
            return unfollowed.refusing(method)(*args, **kwargs)
        return getattr(RecordedArray(Memory(np.array(array, order="K"))), name)(*args, **kwargs)

    return call


def _is_store(function: Callee) -> bool:
    """Whether it is `x.__setitem__`."""
    return type(function) is MethodType and function.__func__ is stores.setitem


def _store(method: Callee, index: Any, value: Any) -> None:
    method(index, value)


def _is_of_class(function: Callee) -> bool:
    """Whether it is a method of arrays or numbers, as it stands in their class."""
    kinds = (types.MethodDescriptorType, types.WrapperDescriptorType)
    return type(function) in kinds and issubclass(function.__objclass__, _VALUES)


_VALUES = (np.ndarray, np.generic, float, complex)


def _method_of_class(function: Callee) -> Callee:
    """`np.ndarray.sort(x)`, as `x.sort()`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if args and is_recorded(args[0]):
            return getattr(args[0], function.__name__)(*args[1:], **kwargs)
        if args and type(args[0]) is np.ndarray:
            return _method_of_array(getattr(args[0], function.__name__))(*args[1:], **kwargs)
        return unfollowed.refusing(function)(*args, **kwargs)

    return call


def _with_lists_as_arrays(function: Callee) -> Callee:
    """A function of NumPy's, for which lists of values of the run are arrays."""
    if function in _OF_LISTS:
        return functools.partial(_call_unread, function)

    written = inspect.unwrap(function)
    may_call = type(written) is FunctionType  # code in C takes classes for dtypes

    def call(*args: Any, **kwargs: Any) -> Any:
        if may_call and any(callable(v) and not is_recorded(v) for v in values_in(args)):
            return followed(written, callee_of)(*args, **kwargs)
        if any(type(arg) in (list, tuple) and holds_active(arg) for arg in args):
            args = tuple(map(_of_list, args))
        return texts.call(function, args, kwargs)

    return call


def _call_unread(function: Callee, *args: Any, **kwargs: Any) -> Any:
    return texts.call(function, args, kwargs)


def _calling_first(function: Callee) -> Callee:
    """A function that calls its first argument."""

    def call(first: Any, *args: Any) -> Any:
        return function(first if first is None else callee_of(first), *args)

    return call


def _calling_key(function: Callee) -> Callee:
    """A function that calls its `key`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("key") is not None:
            kwargs["key"] = callee_of(kwargs["key"])
        return function(*args, **kwargs)

    return call


def _managing(function: Callee, args: Any, kwargs: Any) -> Any:
    """What `contextlib.contextmanager` makes of a generator function."""
    return _MANAGER(callee_of(function), args, kwargs)


_MANAGER = type(contextlib.contextmanager(lambda: iter(()))())

_OF_LISTS = frozenset(
    {np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block}
    | {np.select, np.choose, np.meshgrid, np.einsum}
    | {np.linalg.multi_dot, np.savez, np.ix_, np.histogramdd}
)
"""Functions that take lists of arrays."""


def _of_list(value: Any) -> Any:
    is_list = type(value) in (list, tuple) and holds_active(value)
    return protocol.array_of(value, None) if is_list else value


_BY_KIND: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    (threads.is_starting, lambda method: threads.starting(method, callee_of)),
    (
        shuffles.is_shuffling,
        lambda method: shuffles.shuffling(method, unfollowed.with_shared(method)),
    ),
    (_is_of_class, _method_of_class),
    (_is_store, lambda method: functools.partial(_store, method)),
    (_is_known, lambda function: functools.partial(_call_known, function)),
    (_is_of_compiler, _of_compiler),
    (_is_of_python, _of_python),
    (_is_method_of_array, _method_of_array),
    (_is_of_numpy, _with_lists_as_arrays),
    (_is_text, lambda function: telling(function)),
    (_is_number, lambda kind: reading_texts(kind)),
    (_is_class, _made_of_class),
    (_is_callable_object, _of_object),
)

_REPLACED: dict[int, tuple[Any, Callee]] = {
    id(function): (function, replacement)
    for function, replacement in {
        **{
            function: _calling_first(function)
            for function in (map, filter, functools.reduce, np.frompyfunc)
        },
        **{function: _calling_key(function) for function in (sorted, min, max)},
        _MANAGER: _managing,
        **replacements.FUNCTIONS,
    }.items()
}
"""The functions that are replaced, by their identities, and what is called in their place."""
