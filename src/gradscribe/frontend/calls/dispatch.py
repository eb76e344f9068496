"""Calls: what a callee is, and who handles its call."""

from __future__ import annotations

import contextlib
import enum
import inspect
import types
from typing import Any, NoReturn

import numpy as np

from gradscribe.errors import CompiledCodeError
from gradscribe.frontend.calls import (
    backends,
    dataclass_methods,
    fitting,
    inlining,
    introspection,
    local_classes,
    methods,
    randomness,
)
from gradscribe.frontend.containers import out_arguments
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds import static_values, varying
from gradscribe.frontend.kinds.raised import call_as_python, make_iterator
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.kinds.tensors import is_tensor, unwrapped
from gradscribe.frontend.memory import iterators, outside, outside_reach
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.objects import construction
from gradscribe.frontend.opaque import (
    folded_calls,
    foreign,
    lent_containers,
    library_calls,
    recorded_calls,
    unknown,
)
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.handlers import handler_of, handler_of_objects
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, protocols
from gradscribe.frontend.syntax.source import plain_function
from gradscribe.frontend.values.values import (
    BoundMethod,
    FrontendValue,
    InstanceRef,
    LocalFunction,
    ObjectRef,
    OneShot,
    PartialOf,
    Ref,
    Static,
    TupleOf,
    known_objects,
)
from gradscribe.ir.core import Value
from gradscribe.ir.generators import made_by
from gradscribe.ir.probing import in_class, probe, redefined
from gradscribe.ir.types import Array, Opaque
from gradscribe.primitives import optional
from gradscribe.primitives.contract_kinds import UNKNOWN
from gradscribe.primitives.contracts import contract_of
from gradscribe.primitives.registry import COMPOSITIONS, DISTRIBUTIONS, PRIMITIVES
from gradscribe.primitives.static import STATIC
from gradscribe.primitives.users_code import is_users

_UNBOUND = (np.ndarray, list, dict)
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)
"""The classes whose methods may be called on the class: `np.ndarray.copy(x)`."""


@call_as_python
def call(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """`callee(*arguments, **keywords)`."""
    if isinstance(callee, Static) and not _has_hash(callee.value):  # of ctypes, weak references
        return unknown.method(lowering, node, callee, "__call__", arguments, keywords)
    if stands_for(callee, types.FunctionType):
        return _call_python_function(lowering, node, callee.value, arguments, keywords)
    if isinstance(callee, Static):
        return _call_object(lowering, node, callee.value, arguments, keywords)
    if isinstance(callee, LocalFunction):
        return inlining.call_local(lowering, node, callee, arguments, keywords)
    if isinstance(callee, BoundMethod) and isinstance(callee.function, types.FunctionType):
        given = (callee.receiver, *arguments)
        return _call_python_function(lowering, node, callee.function, given, keywords)
    if isinstance(callee, BoundMethod):
        return methods.call_method(lowering, node, callee, arguments, keywords)
    if isinstance(callee, PartialOf):
        given = (*callee.arguments, *arguments)
        return call(lowering, node, callee.function, given, callee.keywords | keywords)
    if isinstance(callee, ObjectRef) and handler_of_objects(type(callee.target)) is not None:
        dependencies.depend(lowering, callee.path, callee.target)
        return _call_object(lowering, node, callee.target, arguments, keywords)
    special = class_attributes.method(lowering, callee, "__call__")
    if special is not None:
        return call(lowering, node, special, arguments, keywords)
    if isinstance(callee, TupleOf):
        method = BoundMethod(callee, "__call__")
        return methods.call_method(lowering, node, method, arguments, keywords)
    if isinstance(callee, ObjectRef) and callable(callee.target):  # of ctypes, of Numba, …
        return unknown.method(lowering, node, callee, "__call__", arguments, keywords)
    if isinstance(callee, Value) and unknown.is_opaque(callee):
        given = (*arguments, *keywords.values())
        if not any(varying.may_vary(lowering, item) for item in given):
            return unknown.method(lowering, node, callee, "__call__", arguments, keywords)
        _refuse_made(lowering, node, callee)
    return lowering.unsupported(
        node,
        "this value cannot be called",
        "call a function, a method or an object with `__call__`",
    )


def _refuse_made(lowering: Lowering, node: Any, callee: Value) -> NoReturn:
    """Refuse the call of a function that only the run has, with what is differentiated."""
    made = lowering.builder.definition(callee)
    if made is not None and made.callee is np.frompyfunc:
        lowering.unsupported(
            node,
            "`frompyfunc` makes the function that is called here, and its code cannot be read",
            "use `np.vectorize`, whose function is compiled, or a loop",
            CompiledCodeError,
        )
    lowering.unsupported(
        node,
        "which function is called here is not known when the function is compiled",
        "choose it by `if` and `elif`, or pass it to the function",
    )


def _has_hash(item: FrontendValue) -> bool:
    try:
        hash(item)
    except TypeError:
        return False
    return True


def _call_python_function(
    lowering: Lowering,
    node: Any,
    function: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Any,
) -> FrontendValue:
    method = local_classes.method_of(function)
    if method is not None:
        return local_classes.call(lowering, node, method, arguments, keywords)
    return _call_object(lowering, node, function, arguments, keywords)


def _call_object(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    if callee in unknown.CONVERSIONS and any(map(unknown.is_opaque, arguments)):
        return unknown.emit(lowering, callee, arguments, keywords, unknown.CONVERSIONS[callee])
    generator, made = randomness.generator_of(callee), made_by(callee)
    if generator is not None:
        return randomness.draw(lowering, node, generator, callee, arguments, keywords)
    if made is not None:
        return unknown.emit(lowering, callee, arguments, keywords, Opaque(made))
    if isinstance(callee, _DESCRIPTORS) and callee.__objclass__ in _UNBOUND:
        receiver, *rest = arguments
        if callee.__objclass__ is np.ndarray and is_tensor(lowering, receiver):
            what = f"{callee.__name__!r} of 'numpy.ndarray' takes no 'Tensor'"
            return lowering.raises(node, TypeError(what))
        method = BoundMethod(receiver, callee.__name__, callee)
        return call(lowering, node, method, tuple(rest), keywords)
    optional.enter_imported()
    try:
        handler = handler_of(callee)
        primitive = PRIMITIVES.get(callee)
        composition = COMPOSITIONS.get(callee)
    except TypeError:
        handler = primitive = composition = None
    if handler is not None or composition is not None:
        fitting.ask(lowering, node, callee, arguments, keywords)
    if handler is not None:
        fitting.check(lowering, node, callee, handler, arguments, keywords)
        found = handler(lowering, node, *arguments, **keywords)
        if isinstance(found, OneShot):
            make_iterator(lowering, node, callee, arguments, keywords)
        return iterators.made_by(found, callee, arguments, keywords)
    inner = unwrapped(lowering, node, callee, keywords)
    if inner is not None:
        return call(lowering, node, Static(inner[0]), arguments, inner[1])
    ufunc = out_arguments.ufunc_at(callee)
    if ufunc is not None:
        return out_arguments.change_at(lowering, node, ufunc, arguments)
    handler = handler_of_objects(type(callee))
    if handler is not None:
        return handler(lowering, node, Static(callee), *arguments, **keywords)
    if inspect.isfunction(callee) and callee in STATIC:
        plain = [static_values.object_of(lowering, node, a) for a in arguments]
        return static_values.value_of(callee(*plain))
    has_rule = primitive is not None or composition is not None
    if has_rule or inspect.isfunction(callee):
        backends.check(lowering, node, callee, arguments)
    if has_rule and foreign.may_overwrite(lowering, node, callee, arguments, keywords):
        return unknown.call(lowering, node, callee, arguments, keywords)
    if _hands_on(lowering, callee, arguments):  # `np.float64(x)` is `x` itself, if it can be
        return call(lowering, node, Static(np.asarray), (*arguments, Static(callee)), keywords)
    special = protocols.operate(lowering, node, callee, arguments)
    if special is not None:
        return special
    if primitive is not None and not _is_known(callee, arguments, keywords):
        for item in arguments:
            if isinstance(item, Static):
                outside.refuse_derived_number(lowering, item.value, "")
        return lowering.apply_primitive(node, primitive, callee, arguments, keywords)
    if composition is not None and not (
        _is_static(arguments, keywords) and type(callee) not in DISTRIBUTIONS
    ):
        return inlining.compose(lowering, node, callee, composition, arguments, keywords)
    return _call_unregistered(lowering, node, callee, arguments, keywords)


def _call_unregistered(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """A class, function or method that there is neither a handler nor a rule for."""
    given = (*arguments, *keywords.values())
    is_class = isinstance(callee, type) and folded_calls.is_library(callee)
    if is_class and foreign.calls_back(callee, given):
        return unknown.call(lowering, node, callee, arguments, keywords)
    if construction.can_instantiate(callee) and folded_calls.is_library(callee):
        return library_calls.call(
            lowering, node, callee, arguments, keywords, construction.instantiate
        )
    if construction.can_instantiate(callee):
        return construction.instantiate(lowering, node, callee, arguments, keywords)
    if dataclass_methods.dataclass_of_init(callee):
        return dataclass_methods.initialize_dataclass(lowering, node, callee, arguments, keywords)
    if dataclass_methods.is_dataclass_comparison(callee):
        return dataclass_methods.compare_dataclasses(lowering, node, callee, arguments)
    if inspect.isfunction(callee) and hasattr(callee, "dispatch") and arguments:
        path, registry = AccessPath(callee).attribute("registry"), probe(callee, "registry")
        dependencies.depend(lowering, path, tuple(registry), "keys")
        for cls, known in registry.items():
            dependencies.depend(lowering, path.item(cls), known)
        first = introspection.known_class(lowering, node, arguments[0])
        for cls in registry:
            introspection.is_subclass(lowering, node, first, cls)
        chosen = callee.dispatch(first)
        return call(lowering, node, Static(chosen), arguments, keywords)
    function = plain_function(callee)
    if function is not None and _is_opaque_function(lowering, node, function, arguments, keywords):
        found = recorded_calls.typed(lowering, node, function, arguments, keywords)
        if found is not None:
            return found
        if arguments and _is_method_of(arguments[0], function):
            receiver, *rest = arguments
            return unknown.method(
                lowering, node, receiver, function.__name__, tuple(rest), keywords
            )
        return _call_unknown(lowering, node, callee, arguments, keywords)
    if function is not None and folded_calls.is_library(function):
        return library_calls.call(
            lowering, node, function, arguments, keywords, inlining.call_function
        )
    if function is not None:
        return inlining.call_function(lowering, node, function, arguments, keywords)
    if isinstance(callee, types.MethodType) and folded_calls.is_library(type(callee.__self__)):
        return unknown.call(lowering, node, callee, arguments, keywords)
    if isinstance(callee, types.MethodType):
        owner = static_values.value_of(callee.__self__)
        function = plain_function(callee.__func__)
        assert function is not None
        return inlining.call_function(lowering, node, function, (owner, *arguments), keywords)
    return _call_unknown(lowering, node, callee, arguments, keywords)


def _is_method_of(item: FrontendValue, function: types.FunctionType) -> bool:
    """Whether this function is what a method of the object from outside is called by its name."""
    name = function.__name__
    if not isinstance(item, ObjectRef) or name in (probe(item.target, "__dict__") or {}):
        return False
    return in_class(type(item.target), name, None) is function


def _hands_on(lowering: Lowering, callee: Any, arguments: tuple[FrontendValue, ...]) -> bool:
    """Whether this is a class of NumPy's numbers that is given an array with axes."""
    if not isinstance(callee, type) or not issubclass(callee, np.generic) or len(arguments) != 1:
        return False
    type_ = lowering.value(arguments[0]).type if isinstance(arguments[0], Ref) else None
    return isinstance(type_, Array) and type_.rank > 0


def _is_known(
    callee: Any, arguments: tuple[FrontendValue, ...], keywords: dict[str, FrontendValue]
) -> bool:
    """Whether a call is given strings that are known, as in `float("1.5")`; or nothing; or makes an
    integer of NumPy's of one that is known."""
    if not arguments:
        return not keywords
    known = known_objects(arguments)
    is_integer = isinstance(callee, type) and issubclass(callee, np.integer)
    return known is not None and (is_integer or any(isinstance(item, str) for item in known))


def _is_static(arguments: tuple[FrontendValue, ...], keywords: dict[str, FrontendValue]) -> bool:
    return known_objects((*arguments, *keywords.values())) is not None


def _is_opaque_function(
    lowering: Lowering,
    node: Any,
    function: types.FunctionType,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> bool:
    """Whether a Python function is called as it is: a function of a library without derivative, a
    maker of context managers."""
    wrapped = probe(function, "__wrapped__")
    if wrapped is not None and inspect.isgeneratorfunction(wrapped):
        is_manager = function.__code__.co_filename == contextlib.__file__
        if is_manager and not folded_calls.is_library(wrapped):
            _check_manager(lowering, node, wrapped, (*arguments, *keywords.values()))
        return is_manager
    if not folded_calls.is_library(function) or function.__module__ == "contextlib":
        return False
    given = (*arguments, *keywords.values())
    if any(isinstance(item, InstanceRef) for item in given):
        return False
    if folded_calls.module_of(function) in ("numpy", "scipy") and contract_of(function) is UNKNOWN:
        return False
    return node is lowering.statement.discarded or not any(
        varying.may_vary(lowering, i) for i in given
    )


def _check_manager(
    lowering: Lowering, node: Any, function: types.FunctionType, given: tuple[FrontendValue, ...]
) -> None:
    """Refuse a context manager that a function of the user's makes, which runs as it is, where it
    may change what the program knows."""
    memory = {storage for item in given for storage in storages(lowering, item)}
    is_seen = any(map(lowering.outside.is_seen, memory))
    if is_seen or lent_containers.name_read_later(lowering, memory, node):
        lowering.unsupported(
            node,
            f"the context manager `{function.__name__}` may change what it is given",
            "make it of a class with `__enter__` and `__exit__`, or of a function in this one",
        )
    for item in given:
        if isinstance(item, ObjectRef):
            outside.expose(lowering, item)
    outside_reach.note(lowering, [Static(function)])
    outside_reach.refuse_pending(lowering)


def _call_unknown(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """A callable without entry: computed now if pure and static, else refused."""
    folded_calls.refuse_codecs(lowering, node, callee, arguments, keywords)
    is_tuple = isinstance(callee, type) and issubclass(callee, tuple)
    if is_tuple and getattr(callee, "_fields", None) is not None:
        return _named_tuple(lowering, node, callee, arguments, keywords)
    if isinstance(callee, enum.EnumMeta) and len(arguments) == 1:
        found = _member_missing(lowering, node, callee, arguments[0])
        if found is not None:
            return found
    if folded_calls.is_pure(callee):
        arguments = tuple(iterators.taken(lowering, node, item) for item in arguments)
    found = folded_calls.folded(lowering, node, callee, arguments, keywords)
    if found is not None:
        return found
    return unknown.call(lowering, node, callee, arguments, keywords)


def _named_tuple(
    lowering: Lowering,
    node: Any,
    cls: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> TupleOf:
    """A new object of the class of a namedtuple."""
    own = redefined(cls) or _own_constructor(cls)
    if own is not None:
        lowering.unsupported(
            node,
            f"`{cls.__name__}` is a namedtuple with a `{own}` of its own",
            "give the method another name, or make it a dataclass",
        )
    try:
        given = inspect.signature(cls).bind(*arguments, **keywords).arguments
    except TypeError as error:
        lowering.raises(node, TypeError(f"{cls.__name__}: {error}"))
    class_attributes.depend_on_class(lowering, cls, "__new__", cls.__new__)
    defaults = inlining.defaults_of(lowering, cls.__new__)
    return TupleOf(tuple(given[f] if f in given else defaults[f]() for f in cls._fields), cls)


def _member_missing(
    lowering: Lowering, node: Any, cls: Any, item: FrontendValue
) -> FrontendValue | None:
    """What a method of the user's gives for a value, which is known, that no member of an
    enumeration has; None where there is no such method."""
    own = in_class(cls, "_missing_")
    if not (isinstance(item, Static) and is_users(own)):
        return None
    if any(item.value == member.value for member in cls):
        return None
    found = lowering.call(node, lowering.attribute(node, Static(cls), "_missing_"), (item,), {})
    if found == Static(None):
        lowering.raises(node, ValueError(f"not a valid {cls.__name__}"))
    return found


def _own_constructor(cls: type) -> str | None:
    """What makes the objects of a class that is derived from a namedtuple, if it has its own."""
    made = next(base for base in cls.__mro__ if "_fields" in vars(base))
    code = probe(made.__new__, "__code__")
    if code is None or code.co_filename != "<string>":  # `namedtuple` has not made it
        return "__new__"
    derived = cls.__mro__[: cls.__mro__.index(made)]
    methods = ("__new__", "__init__")
    return next((name for name in methods for base in derived if name in vars(base)), None)
