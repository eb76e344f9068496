"""What plain Python raises where something is refused.

A refusal is an exception of that class, too, so that programs catch it as they do without
gradscribe. Python is asked: what is refused is done on examples of the values at hand, unless that
could run code of the user.
"""

from __future__ import annotations

import functools
import inspect
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.exceptions import AxisError

from gradscribe import errors
from gradscribe.errors import SourceLocation, UnsupportedError, raised_as
from gradscribe.frontend.kinds.examples import Examples, RaisedError, UnknownError, attribute
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.state import known_inputs, wording
from gradscribe.frontend.state.interruptions import MisfitError, unknown_type
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import Iteration, Range
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    LocalFunction,
    OneShot,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.core import Method, Primitive
from gradscribe.ir.lengths import BroadcastError
from gradscribe.ir.types import Array, Opaque, Scalar
from gradscribe.primitives.codec_names import other_codec
from gradscribe.primitives.contracts import contract_of
from gradscribe.primitives.indexing import GATHER, GETITEM
from gradscribe.primitives.registry import COMPOSITIONS, PRIMITIVES
from gradscribe.primitives.typing import TypeRuleError

F = TypeVar("F", bound=Callable[..., Any])
Call = Callable[[], Any]

_BY_POSITION = frozenset({"transpose"})
"""Methods of arrays that take no keywords."""


def as_python(action: Callable[..., Any]) -> Callable[[F], F]:
    """Decorator of a function `(lowering, node, *items)` that lowers what `action(*examples)` does:
    what it refuses at this node is what Python raises, too."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def lower(lowering: Lowering, node: Any, *items: FrontendValue) -> Any:
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
    """`as_python` of a function `(lowering, node, callee, arguments, keywords)`. What Python raises
    for operands of these types is refused, too."""

    @functools.wraps(function)
    def lower(lowering: Lowering, node: Any, callee: Any, arguments: Any, keywords: Any) -> Any:
        called = functools.partial(_called, callee, arguments, keywords)
        python = _for_types(lowering, callee, arguments, keywords)
        try:
            result = function(lowering, node, callee, arguments, keywords)
        except UnsupportedError as error:
            refused = _refused(lowering, node, error, called)
        except _MISTAKES as error:
            refused = _raise_as_python(lowering, node, error, called)
        else:
            if python is None or isinstance(result, (Iteration, OneShot)):
                return result  # what cannot be iterated over is refused where it is
            refused = _refusal(lowering, node, python)
        raise refused from None

    return lower  # type: ignore[return-value]


_OF_TYPES = (TypeError, AttributeError, AxisError)
"""What is raised for the types of operands, and for no more than that: an axis is known."""


def _for_types(
    lowering: Lowering,
    callee: FrontendValue,
    arguments: Iterable[FrontendValue],
    keywords: Mapping[str, FrontendValue],
) -> Exception | None:
    """What Python raises for this call by the user's program, whatever the values are: for the
    types of operands, or for a text that is no choice of an option."""
    if not lowering.frames or lowering.frame.source.whole or lowering.frame.called_at:
        return None

    def raised(keywords: Mapping[str, FrontendValue], *, certain: bool = True) -> Exception | None:
        call = functools.partial(_called, callee, arguments, keywords, certain=certain)
        return _exception(lowering, call)

    python = raised(keywords)
    if isinstance(python, _OF_TYPES):  # `np.polyfit` raises a TypeError for lengths
        return python if isinstance(raised(keywords, certain=False), type(python)) else None
    rest = {name: item for name, item in keywords.items() if not _is_text(item)}
    is_of_option = type(python) is ValueError and len(rest) < len(keywords)
    return python if is_of_option and raised(rest) is None else None


def _is_text(item: FrontendValue) -> bool:
    return stands_for(item, str)


def _refusal(lowering: Lowering, node: Any, error: Exception) -> UnsupportedError:
    """The refusal of a call for which Python raises this. It is no exception of the program: where
    a name is bound to numbers of several kinds, its type is the widest of them."""
    made = raised_as(UnsupportedError, type(error))(
        f"plain Python raises {type(error).__name__} here: {error}",
        "correct what is given to the function",
        lowering.location(node),
    )
    assert isinstance(made, UnsupportedError)
    return made


def make_iterator(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: Iterable[FrontendValue],
    keywords: Mapping[str, FrontendValue],
) -> None:
    """Raise what Python raises where an iterator is made, before its items are asked for, as in
    `zip(x, 2.0)` and `enumerate(x, [1])`."""
    try:
        given = [_stand_in(lowering, item) for item in arguments]
        named = {name: _stand_in(lowering, item) for name, item in keywords.items()}
    except UnknownError:
        return
    try:
        callee(*given, **named)
    except (TypeError, ValueError) as error:
        lowering.raises(node, error)


def _stand_in(lowering: Lowering, item: FrontendValue) -> Any:
    """Something of the class of a value, with no items or one."""
    if type(item) in _STAND_INS:
        return _STAND_INS[type(item)]()
    if isinstance(item, InstanceRef) and not _is_iterable(item.cls):
        return type(item.cls.__name__, (), {})()
    if isinstance(item, Static) and (callable(item.value) or _is_plain(item.value)):
        return item.value
    type_ = lowering.load(item).type if isinstance(item, Ref) else getattr(item, "type", None)
    if not isinstance(type_, (Array, Scalar)):
        raise UnknownError
    one = np.ones((1,) * getattr(type_, "rank", 0), type_.dtype)
    return one if isinstance(item, Ref) else one.item()


_STAND_INS: dict[type, Callable[[], Any]] = {
    ListRef: list,
    DictRef: dict,
    TupleOf: tuple,
    Range: lambda: range(0),
    OneShot: lambda: iter(()),
    LocalFunction: lambda: lambda: None,
    BoundMethod: lambda: lambda: None,
}


def _is_plain(value: Any) -> bool:
    """Whether no items, or items that are known, come of a known object."""
    is_number = isinstance(value, (np.number, np.bool_))  # these classes have a `__getitem__`
    is_known = is_number or isinstance(value, (str, bytes, range, set, frozenset))
    return is_known or not _is_iterable(type(value))


def _is_iterable(cls: type) -> bool:
    return any(name in vars(base) for base in cls.__mro__ for name in ("__iter__", "__getitem__"))


def misfit(
    lowering: Lowering,
    primitive: Primitive,
    callee: Any,
    arguments: Mapping[str, Any],
    error: Exception,
) -> UnsupportedError:
    """The refusal for what the type rule of a primitive says of its arguments."""
    place = lowering.builder.location
    operands = wording.values_in(arguments)
    if any(isinstance(operand.type, Opaque) for operand in operands):
        return unknown_type(place)
    for operand in operands:
        if known_inputs.is_list(operand.type):
            known_inputs.demand(lowering, operand)
    given = wording.operands(lowering.builder.facts, operands)
    advice = getattr(error, "advice", "") or f"correct what it is given{given and ': '}{given}"
    what = f"{wording.operation(primitive, callee)} cannot be compiled here: {error}"
    made = MisfitError(what, advice, place)
    made.cls = _of_misfit(lowering, primitive, callee, arguments)
    return made


def _of_misfit(
    lowering: Lowering, primitive: Primitive, callee: Any, arguments: Mapping[str, Any]
) -> type[Exception] | None:
    """What Python raises for arguments that do not fit an operation."""
    examples = Examples(lowering)

    def call(lowering: Lowering) -> Call:
        if primitive in (GETITEM, GATHER):
            owner, index, *_ = arguments.values()
            return functools.partial(operator.getitem, examples.of(owner), examples.of(index))
        if isinstance(callee, Method):
            first, *names = arguments
            function = attribute(examples.of(arguments[first]), callee.name)
        else:
            names = list(arguments)
            function = _harmless(primitive.callee if callee is None else callee, False)
        rest = {name: arguments[name] for name in names}
        defaults = _defaults(primitive)
        if isinstance(callee, Method) and callee.name in _BY_POSITION:
            defaults = {}
        return _bound(examples, function, rest, defaults)

    return _raised(lowering, call)


def _bound(
    examples: Examples, function: Any, arguments: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Call:
    """A call with these arguments, the first ones by position, and others than the defaults by
    their names."""
    given, named = [], {}
    for name, item in arguments.items():
        if name not in defaults:
            given.append(examples.of(item))
        elif item is not defaults[name]:
            named[name] = examples.of(item)
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
    if python is None and isinstance(error, (TypeRuleError, BroadcastError)):
        lowering.unsupported(node, str(error), getattr(error, "advice", ""))
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
    """The class of what a call on examples raises, arrays in place of Tensors. call: makes it."""
    has_tensors, lowering.has_tensors = lowering.has_tensors, False
    try:
        error = _exception(lowering, call)
    finally:
        lowering.has_tensors = has_tensors
    if error is None or (has_tensors and isinstance(error, AttributeError)):  # Tensors have others
        return None
    return type(error)


def _exception(lowering: Lowering, call: Callable[[Lowering], Call]) -> Exception | None:
    """What a call on examples raises. call: makes it."""
    try:
        made = call(lowering)
    except RaisedError as error:
        return error.error
    except (UnknownError, errors.GradscribeError):
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


def _of(action: Callable[..., Any], items: tuple[FrontendValue, ...], lowering: Lowering) -> Call:
    return functools.partial(action, *map(Examples(lowering).of, items))


def _called(
    callee: FrontendValue,
    arguments: Iterable[FrontendValue],
    keywords: Mapping[str, FrontendValue],
    lowering: Lowering,
    certain: bool = False,
) -> Call:
    examples = Examples(lowering, certain, getattr(callee, "value", None))
    if isinstance(callee, Static) and callable(callee.value):
        function = _harmless(callee.value, certain)
    elif isinstance(callee, LocalFunction):  # its example takes no arguments
        raise UnknownError
    else:
        function = examples.of(callee)
    given = [examples.of(item) for item in arguments]
    named = {name: examples.of(item) for name, item in keywords.items()}
    if other_codec(function, given, named) is not None:
        raise UnknownError
    return functools.partial(_call, function, given, named)


def _call(function: Any, given: Any, named: Any) -> Any:
    return function(*given, **named)


def _harmless(callee: Any, certain: bool) -> Any:
    """A function that only computes. certain: one that is called whether or not it is refused."""
    if not _of_library(callee, _CALLED if certain else _LIBRARIES):
        raise UnknownError
    contract = contract_of(callee)
    is_silent = contract.is_pure and not contract.changes
    is_silent &= not contract.reads or _of_library(callee, _BUILT_IN)
    try:
        is_harmless = is_silent or callee in PRIMITIVES or callee in COMPOSITIONS
    except TypeError:  # it has no hash
        is_harmless = False
    if not is_harmless:
        raise UnknownError
    return callee


_CALLED = frozenset(
    {"numpy", "math", "operator", "_operator", "builtins", "copy", "collections", "itertools"}
    | {"functools", "_functools"}
)
_BUILT_IN = frozenset({"builtins"})
_LIBRARIES = _CALLED | {"scipy"}


def _of_library(callee: Any, names: frozenset[str]) -> bool:
    module = getattr(callee, "__module__", None) or ""
    return isinstance(callee, np.ufunc) or module.partition(".")[0] in names
