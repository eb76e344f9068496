"""What plain Python raises where something is refused.

A refusal is an exception of that class, too, so that programs catch it as they do without
gradscribe. Python is asked: what is refused is done on examples of the values at hand, unless that
could run code of the user.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradscribe import errors
from gradscribe.errors import SourceLocation, UnsupportedError, raised_as
from gradscribe.frontend.calls.trials import example
from gradscribe.frontend.interruptions import MisfitError
from gradscribe.frontend.values import (
    BoundMethod,
    DictRef,
    ListRef,
    LocalFunction,
    OneShot,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.core import Method, Primitive, SliceOf, Value
from gradscribe.primitives.indexing import GATHER, GETITEM
from gradscribe.primitives.registry import COMPOSITIONS, PRIMITIVES

if TYPE_CHECKING:
    from gradscribe.frontend.lowering import Lowering

F = TypeVar("F", bound=Callable[..., Any])
Call = Callable[[], Any]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, np.generic)
_HARMLESS = frozenset(
    {
        abs,
        bool,
        complex,
        dict,
        divmod,
        enumerate,
        float,
        frozenset,
        int,
        isinstance,
        issubclass,
        iter,
    }
    | {all, any, len, list, max, min}
    | {next, pow, range, reversed, round, set, sorted, sum, tuple, zip}
)
"""Built-in functions that do nothing but compute."""

_BY_POSITION = frozenset({"transpose"})
"""Methods of arrays that take no keywords."""


class _UnknownError(Exception):
    """There is no example of a value, or it is not known what is done to it."""


class _RaisedError(Exception):
    """Python raises this."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def as_python(action: Callable[..., Any]) -> Callable[[F], F]:
    """Decorator of a function `(lowering, node, *items)` that lowers what `action(*examples)` does:
    what it refuses at this node is what Python raises, too."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def lower(lowering: Lowering, node: Any, *items: Any) -> Any:
            call = functools.partial(_of, action, items)
            try:
                return function(lowering, node, *items)
            except UnsupportedError as error:
                refused = _refused(lowering, node, error, call)
            except _MISTAKES as error:
                refused = _raise_as_python(lowering, node, error, call)
            raise refused from None

        return lower  # type: ignore[return-value]

    return decorate


def call_as_python(function: F) -> F:
    """`as_python` of a function `(lowering, node, callee, arguments, keywords)`."""

    @functools.wraps(function)
    def lower(lowering: Lowering, node: Any, callee: Any, arguments: Any, keywords: Any) -> Any:
        try:
            return function(lowering, node, callee, arguments, keywords)
        except UnsupportedError as error:
            called = functools.partial(_called, callee, arguments, keywords)
            refused = _refused(lowering, node, error, called)
        except _MISTAKES as error:
            called = functools.partial(_called, callee, arguments, keywords)
            refused = _raise_as_python(lowering, node, error, called)
        raise refused from None

    return lower  # type: ignore[return-value]


def misfit(
    lowering: Lowering, primitive: Primitive, callee: Any, arguments: Mapping[str, Any]
) -> type[Exception] | None:
    """What Python raises for arguments that do not fit an operation."""
    example_of = functools.partial(_example, lowering)

    def call(lowering: Lowering) -> Call:
        if primitive in (GETITEM, GATHER):
            owner, index, *_ = arguments.values()
            return functools.partial(operator.getitem, example_of(owner), example_of(index))
        if isinstance(callee, Method):
            first, *names = arguments
            function = _attribute(example_of(arguments[first]), callee.name)
        else:
            names = list(arguments)
            function = _harmless(primitive.callee if callee is None else callee)
        rest = {name: arguments[name] for name in names}
        defaults = _defaults(primitive)
        if isinstance(callee, Method) and callee.name in _BY_POSITION:
            defaults = {}
        return _bound(lowering, function, rest, defaults)

    return _raised(lowering, call)


def _bound(
    lowering: Lowering, function: Any, arguments: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Call:
    """A call with these arguments, the first ones by position, and others than the defaults by
    their names."""
    given, named = [], {}
    for name, item in arguments.items():
        if name not in defaults:
            given.append(_example(lowering, item))
        elif item is not defaults[name]:
            named[name] = _example(lowering, item)
    return functools.partial(_call, function, given, named)


def _defaults(primitive: Primitive) -> dict[str, Any]:
    parameters = primitive.signature.parameters if primitive.signature else {}
    return {name: p.default for name, p in parameters.items() if p.default is not p.empty}


def _refused(
    lowering: Lowering, node: Any, error: UnsupportedError, call: Callable[[Lowering], Call]
) -> UnsupportedError:
    """The error as Python's, if it tells of this node, and not of what is called there."""
    if isinstance(error, MisfitError) and error.cls is None:
        error.cls = _raised(lowering, call) if _is_at(lowering, node, error.location) else None
        return error
    if vars(errors).get(type(error).__name__) is not type(error):
        return error
    cls = _raised(lowering, call) if _is_at(lowering, node, error.location) else None
    if cls is None:
        return error
    made = raised_as(type(error), cls)(error.what, error.advice, error.location)
    assert isinstance(made, UnsupportedError)
    return made


_MISTAKES = (TypeError, ValueError, LookupError, AttributeError)
"""What mistakes of the program may have led to."""


def _raise_as_python(
    lowering: Lowering, node: Any, error: Exception, call: Callable[[Lowering], Call]
) -> UnsupportedError:
    """Say that Python raises here, too, for what has made the compiler raise an exception of
    Python's; that exception itself, which is a defect, if Python does not."""
    is_shown = node is not None and bool(lowering.frames)
    if not is_shown or isinstance(error, errors.GradscribeError):
        raise error
    python = _exception(lowering, call) or _of_signature(call)
    if python is None:
        raise error
    lowering.raises(node, python)


def _of_signature(call: Callable[[Lowering], Call]) -> TypeError | None:
    """What a call raises whose arguments do not fit the signature of a function that is known."""
    if not isinstance(call, functools.partial) or call.func is not _called:
        return None
    callee, arguments, keywords = call.args
    try:
        signature = inspect.signature(callee.value)
    except (AttributeError, TypeError, ValueError):
        return None
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        return error
    return None


def _is_at(lowering: Lowering, node: Any, place: SourceLocation | None) -> bool:
    here = lowering.location(node)
    return place is not None and (here.filename, here.line) == (place.filename, place.line)


def _raised(lowering: Lowering, call: Callable[[Lowering], Call]) -> type[Exception] | None:
    """The class of what a call on examples, which are no Tensors, raises. call: makes it."""
    error = _exception(lowering, call)
    return None if error is None else type(error)


def _exception(lowering: Lowering, call: Callable[[Lowering], Call]) -> Exception | None:
    """What a call on examples, which are no Tensors, raises. call: makes it."""
    if lowering.has_tensors:
        return None
    try:
        made = call(lowering)
    except _RaisedError as error:
        return error.error
    except (_UnknownError, errors.GradscribeError):
        return None
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made()
    except StopIteration:
        return None
    except Exception as error:
        return error
    return None


def _of(action: Callable[..., Any], items: tuple[Any, ...], lowering: Lowering) -> Call:
    return functools.partial(action, *(_example(lowering, item) for item in items))


def _called(
    callee: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any], lowering: Lowering
) -> Call:
    if isinstance(callee, Static) and callable(callee.value):
        function = _harmless(callee.value)
    elif isinstance(callee, LocalFunction):  # its example takes no arguments
        raise _UnknownError
    else:
        function = _example(lowering, callee)
    given = [_example(lowering, item) for item in arguments]
    named = {name: _example(lowering, item) for name, item in keywords.items()}
    return functools.partial(_call, function, given, named)


def _call(function: Any, given: Any, named: Any) -> Any:
    return function(*given, **named)


def _harmless(callee: Any) -> Any:
    """A function that only computes."""
    try:
        is_rule = _of_library(callee) and (callee in PRIMITIVES or callee in COMPOSITIONS)
        is_harmless = is_rule or callee in _HARMLESS
    except TypeError:  # it has no hash
        is_harmless = False
    if not is_harmless:
        raise _UnknownError
    return callee


def _of_library(callee: Any) -> bool:
    module = getattr(callee, "__module__", None) or ""
    known = ("numpy", "scipy", "math", "operator", "_operator", "builtins")
    return isinstance(callee, np.ufunc) or module.partition(".")[0] in known


def _example(lowering: Lowering, item: Any) -> Any:
    """A value like the one that an item of the frontend stands for."""
    if isinstance(item, Static):
        return _plain(item.value)
    if isinstance(item, Value):
        return _of_type(lowering, item)
    if isinstance(item, Ref):
        return _of_type(lowering, lowering.load(item))
    if isinstance(item, (TupleOf, tuple, list)):
        if isinstance(item, TupleOf) and item.cls is not tuple:
            raise _UnknownError
        items = item.items if isinstance(item, TupleOf) else item
        made = (_example(lowering, one) for one in items)
        return list(made) if isinstance(item, list) else tuple(made)
    if isinstance(item, ListRef):
        contents = lowering.contents[item.storage]
        if isinstance(contents, Value):
            return _of_type(lowering, contents)
        return [_example(lowering, one) for one in contents]
    if isinstance(item, DictRef):
        contents = lowering.contents[item.storage]
        if not isinstance(contents, Mapping):
            raise _UnknownError
        return {key: _example(lowering, one) for key, one in contents.items()}
    return _other_example(lowering, item)


def _other_example(lowering: Lowering, item: Any) -> Any:
    if isinstance(item, (slice, SliceOf)):
        return slice(*(_example(lowering, part) for part in (item.start, item.stop, item.step)))
    if isinstance(item, BoundMethod) and item.function is None:
        return _attribute(_example(lowering, item.receiver), item.name)
    if isinstance(item, LocalFunction):
        return lambda: None
    if isinstance(item, OneShot):
        return iter(())
    return _plain(item)


def _attribute(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError as error:
        raise _RaisedError(error) from None


def _plain(value: Any) -> Any:
    """A known object, if nothing of the user's happens when something is done to it."""
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    if type(value) is slice or isinstance(value, np.dtype):
        return value
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "_operator":
        return value
    home = value if isinstance(value, type) else type(value)
    if isinstance(value, (*_PLAIN, type)) and home.__module__ in ("builtins", "numpy"):
        return value
    raise _UnknownError


def _of_type(lowering: Lowering, value: Value) -> Any:
    try:
        return example(lowering.builder.facts, value.type)
    except LookupError:
        raise _UnknownError from None
