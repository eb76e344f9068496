"""Calls: of primitives, methods, built-ins, and of other Python functions, which are inlined."""

from __future__ import annotations

import contextlib
import enum
import functools
import inspect
import operator
import types
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.frontend import scope, wording
from gradscribe.frontend.calls import (
    array_likes,
    destinations,
    iterators,
    opaque,
    prelude,
    randomness,
)
from gradscribe.frontend.calls import builtins as known
from gradscribe.frontend.calls.frames import run_frame
from gradscribe.frontend.contiguity import is_contiguous
from gradscribe.frontend.data import (
    dataclass_methods,
    instances,
    objects,
    protocols,
    sequences,
)
from gradscribe.frontend.data.subscripts import cut, read_item
from gradscribe.frontend.frame import Frame
from gradscribe.frontend.interface import Path
from gradscribe.frontend.lowering import (
    PLAIN_NUMBERS,
    Lowering,
    MisfitError,
    is_number,
)
from gradscribe.frontend.source import Source, plain_function, source_of
from gradscribe.frontend.values import (
    BoundMethod,
    DictRef,
    Iteration,
    ListRef,
    LocalFunction,
    ObjectRef,
    PartialOf,
    Ref,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Linearity, Method, Primitive, Value
from gradscribe.ir.lengths import Affine
from gradscribe.ir.types import INT, Array, Opaque, Sequence, Tuple
from gradscribe.primitives.control import LEN
from gradscribe.primitives.indexing import LENGTH
from gradscribe.primitives.registry import COMPOSITIONS, METHODS, PRIMITIVES
from gradscribe.primitives.static import STATIC

_ONE_TUPLE = {"reshape": "shape", "transpose": "axes"}
"""Methods that take their tuple also as separate arguments."""

_CONVERSIONS = (np.asarray, np.asanyarray, np.ascontiguousarray)
"""Functions that return their argument, or a copy if that is of another dtype."""

_STATIC = frozenset(
    {"axis", "axes", "axis1", "axis2", "source", "destination", "shape", "dtype", "keepdims"}
    | {"offset", "ddof", "order", "index", "path", "decimals", "endpoint"}
)
"""Parameters of primitives that stay static where the program gives a constant."""


def call(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """`callee(*arguments, **keywords)`."""
    if isinstance(callee, Static):
        return _call_object(lowering, node, callee.value, arguments, keywords)
    if isinstance(callee, LocalFunction):
        return _call_local(lowering, node, callee, arguments, keywords)
    if isinstance(callee, BoundMethod) and isinstance(callee.function, types.FunctionType):
        given = (callee.receiver, *arguments)
        return _call_object(lowering, node, callee.function, given, keywords)
    if isinstance(callee, BoundMethod):
        return known.call_method(lowering, node, callee, arguments, keywords)
    if isinstance(callee, PartialOf):
        given = (*callee.arguments, *arguments)
        return call(lowering, node, callee.function, given, callee.keywords | keywords)
    if isinstance(callee, ObjectRef) and type(callee.target) in known.OBJECTS:
        scope.depend(lowering, callee.path, callee.target)
        return _call_object(lowering, node, callee.target, arguments, keywords)
    special = objects.method(lowering, callee, "__call__")
    if special is not None:
        return call(lowering, node, special, arguments, keywords)
    if isinstance(callee, TupleOf):
        method = BoundMethod(callee, "__call__")
        return known.call_method(lowering, node, method, arguments, keywords)
    return lowering.unsupported(
        node,
        "this value cannot be called",
        "call a function, a method or an object with `__call__`",
    )


def _call_object(
    lowering: Lowering, node: Any, callee: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    if callee in opaque.CONVERSIONS and any(map(opaque.is_opaque, arguments)):
        return opaque.emit(lowering, callee, arguments, keywords, opaque.CONVERSIONS[callee])
    generator = randomness.generator_of(callee)
    if generator is not None:
        return randomness.draw(lowering, node, generator, callee, arguments, keywords)
    made = randomness.made_by(callee)
    if made is not None:
        return opaque.emit(lowering, callee, arguments, keywords, Opaque(made))
    try:
        handler = known.BUILTINS.get(callee)
        primitive = PRIMITIVES.get(callee)
        composition = COMPOSITIONS.get(callee)
    except TypeError:
        handler = primitive = composition = None
    if handler is not None:
        return handler(lowering, node, arguments, keywords)
    ufunc = destinations.ufunc_at(callee)
    if ufunc is not None:
        return destinations.change_at(lowering, node, ufunc, arguments)
    if type(callee) in known.OBJECTS:
        return known.OBJECTS[type(callee)](lowering, node, (Static(callee), *arguments), keywords)
    if inspect.isfunction(callee) and callee in STATIC:
        plain = [known.static_value(lowering, node, a) for a in arguments]
        return known.static_receiver(callee(*plain))
    special = protocols.operate(lowering, node, callee, arguments)
    if special is not None:
        return special
    if primitive is not None and not _is_known(arguments, keywords):
        return apply_primitive(lowering, node, primitive, callee, arguments, keywords)
    if composition is not None and not _is_static(arguments, keywords):
        return _compose(lowering, node, callee, composition, arguments, keywords)
    if objects.can_instantiate(callee):
        return objects.instantiate(lowering, node, callee, arguments, keywords)
    if dataclass_methods.dataclass_of_init(callee):
        return dataclass_methods.initialize_dataclass(lowering, node, callee, arguments, keywords)
    if dataclass_methods.is_dataclass_comparison(callee):
        return dataclass_methods.compare_dataclasses(lowering, node, callee, arguments)
    if inspect.isfunction(callee) and hasattr(callee, "dispatch") and arguments:
        chosen = callee.dispatch(known.class_of(lowering, node, arguments[0]))
        return call(lowering, node, Static(chosen), arguments, keywords)
    function = plain_function(callee)
    if function is not None and _is_opaque_function(lowering, node, function, arguments, keywords):
        return opaque.call(lowering, node, callee, arguments, keywords)
    if function is not None:
        return _inline(lowering, node, function, arguments, keywords)
    if isinstance(callee, types.MethodType) and opaque.is_library(type(callee.__self__)):
        return opaque.call(lowering, node, callee, arguments, keywords)
    if isinstance(callee, types.MethodType):
        owner = known.static_receiver(callee.__self__)
        function = plain_function(callee.__func__)
        assert function is not None
        return _inline(lowering, node, function, (owner, *arguments), keywords)
    return known.call_unknown(lowering, node, callee, arguments, keywords)


def _is_known(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether a call is given strings that are known, as in `float("1.5")`; or nothing."""
    if not arguments:
        return not keywords
    static = all(isinstance(item, Static) for item in arguments)
    return static and any(isinstance(item.value, str) for item in arguments)


def _is_static(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return all(isinstance(item, Static) for item in (*arguments, *keywords.values()))


def _is_opaque_function(
    lowering: Lowering,
    node: Any,
    function: types.FunctionType,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> bool:
    """Whether a Python function is called as it is: a function of a library without derivative, a
    maker of context managers."""
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None and inspect.isgeneratorfunction(wrapped):
        return function.__code__.co_filename == contextlib.__file__
    if not opaque.is_library(function) or function.__module__ == "contextlib":
        return False
    given = (*arguments, *keywords.values())
    return node is lowering.discarded or not any(opaque.may_vary(lowering, i) for i in given)


# -- primitives ------------------------------------------------------------------------------


def apply_method(
    lowering: Lowering,
    node: Any,
    receiver: Any,
    name: str,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """`receiver.name(...)` for a method or attribute that is a primitive."""
    if name in _ONE_TUPLE and len(arguments) > 1:
        arguments = (TupleOf(arguments),)
    return apply_primitive(
        lowering, node, METHODS[name], Method(name), (receiver, *arguments), keywords
    )


def apply_primitive(
    lowering: Lowering,
    node: Any,
    primitive: Primitive,
    callee: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """Emit a primitive, its arguments bound by its signature; its result goes to `out`."""
    assert primitive.signature is not None
    out, where, arguments, keywords = destinations.destination(callee, arguments, keywords)
    if out is not None or where is not None:
        result = apply_primitive(lowering, node, primitive, callee, arguments, keywords)
        return destinations.store_result(lowering, node, callee, result, out, where)
    if isinstance(callee, np.ufunc) and "dtype" in keywords:
        dtype = keywords.pop("dtype")
        arguments = tuple(inline(lowering, node, prelude.converted, (a, dtype)) for a in arguments)
    keywords = _by_own_names(callee, primitive.signature, keywords)
    try:
        bound = primitive.signature.bind(*arguments, **keywords)
    except TypeError as error:
        lowering.unsupported(
            node,
            f"this call of `{wording.name_of(callee)}` is not supported: {error}",
            f"call it as {wording.name_of(callee)}{_call_form(primitive.signature)}",
        )
    given = set(bound.arguments)
    bound.arguments = array_likes.converted(
        lowering, node, primitive, callee, bound.arguments, _STATIC
    )
    bound.apply_defaults()
    parameters = primitive.signature.parameters.values()
    tree: dict[str, Any] = {}
    for parameter in parameters:
        item = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL and parameter.name in given:
            item = TupleOf(item)
        tree[parameter.name] = (
            _argument(lowering, node, primitive, parameter.name, item)
            if parameter.name in given
            else item
        )
    first = next(iter(bound.arguments.values()), None)
    if primitive.view and isinstance(first, Ref):
        return _view(lowering, primitive, callee, first, tree)
    try:
        return lowering.wrap(lowering.emit(primitive, tree, callee))
    except MisfitError as error:
        error.location = lowering.location(node)
        raise


def _argument(lowering: Lowering, node: Any, primitive: Primitive, name: str, item: Any) -> Any:
    """One bound argument as an attribute tree with IR values in it."""
    item = scope.opened(lowering, item)
    if isinstance(item, Static):
        runs_static = primitive.adjoint is None and not isinstance(primitive.tangent, Linearity)
        if name in _STATIC or name in primitive.static or not isinstance(item.value, PLAIN_NUMBERS):
            return item.value
        if runs_static and not primitive.elementwise and not _elementwise_constant(primitive):
            return item.value
        return lowering.constant(item.value)
    if isinstance(item, TupleOf):
        return tuple(_argument(lowering, node, primitive, name, i) for i in item.items)
    if isinstance(item, ListRef) and isinstance(lowering.contents[item.storage], tuple):
        items = lowering.contents[item.storage]
        return [_argument(lowering, node, primitive, name, i) for i in items]
    if isinstance(item, (Value, Ref, ListRef)):
        value = lowering.value(item)
        demanded = name in ("axis", "axes", "keepdims", "ddof") or name in primitive.static
        if demanded and isinstance(item, Value):
            return static_integer(lowering, node, item)
        return value
    return lowering.unsupported(
        node,
        f"this argument of `{primitive.name}` is not supported",
        "pass numbers, arrays, or tuples and lists of them",
    )


def _elementwise_constant(primitive: Primitive) -> bool:
    """Whether this is a comparison or the like: operands without derivative."""
    from gradscribe.primitives.typing import elementwise_type

    return primitive.type_rule is elementwise_type


def static_integer(lowering: Lowering, node: Any, item: Any) -> int:
    """The value of an integer that has to be known; it becomes a guard of the specialization."""
    if isinstance(item, Static):
        return int(item.value)
    known_value = lowering.builder.facts.sampled(item.type.value) if is_number(item) else None
    if known_value is None:
        lowering.unsupported(
            node,
            "this integer must be known when the function is compiled",
            "write it as a literal",
        )
    return known_value


def _view(
    lowering: Lowering, primitive: Primitive, callee: Any, owner: Ref, tree: dict[str, Any]
) -> Any:
    """A view: later stores through it, or to its base, are seen through both."""
    arguments = dict(tree)
    arguments.pop(next(iter(tree)))
    certain = _is_certain(lowering, primitive, owner, tree)
    if callee in _CONVERSIONS:
        type_ = lowering.load(owner).type
        assert isinstance(type_, Array)
        if np.dtype(arguments["dtype"] or type_.dtype).name != type_.dtype:
            return lowering.wrap(lowering.emit(primitive, tree, callee))
        if certain and type_.rank and type_.spelling == "numpy":
            return owner
    step = (primitive, arguments, callee)
    view = Ref(owner.storage, (*owner.path, step), owner.exact and certain)
    value = lowering.load(view)
    found = view if isinstance(value.type, Array) else value
    return cut(lowering, found) if lowering.cutting else found


def _is_certain(lowering: Lowering, primitive: Primitive, owner: Ref, tree: dict[str, Any]) -> bool:
    """Whether this makes a view whatever the layout of the array, or of its known layout."""
    if primitive.name not in ("reshape", "ravel", "ascontiguousarray"):
        return True
    return tree.get("order", "C") == "C" and is_contiguous(lowering, lowering.load(owner))


def _by_own_names(
    callee: Any, signature: inspect.Signature, keywords: dict[str, Any]
) -> dict[str, Any]:
    """Keywords by the primitive's parameters, where the callee has other names for them."""
    if keywords.keys() <= signature.parameters.keys():
        return keywords
    positional = [n for n, p in signature.parameters.items() if p.kind is not p.KEYWORD_ONLY]
    names = dict(zip(_parameters_of(callee), positional, strict=False))
    return {
        names.get(name, name) if name not in signature.parameters else name: item
        for name, item in keywords.items()
    }


@functools.cache
def _parameters_of(callee: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(callee).parameters)
    except (TypeError, ValueError):
        return ()


def _call_form(signature: inspect.Signature) -> str:
    """A signature without annotations, as one would write the call."""
    return str(signature.replace(return_annotation=inspect.Signature.empty))


# -- Python functions ------------------------------------------------------------------------


def local_function(lowering: Lowering, node: Any) -> LocalFunction:
    """The value of a `lambda` or nested `def`: its defaults are evaluated now."""
    from gradscribe.frontend.expressions import expression

    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = {
        p.id: expression(lowering, d)
        for p, d in zip(
            positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True
        )
    }
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[parameter.id] = expression(lowering, default)
    return LocalFunction(node, lowering.frame, defaults)


def _call_local(
    lowering: Lowering,
    node: Any,
    callee: LocalFunction,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    outer: Frame = callee.frame
    source = Source.of(callee.node, outer.source.filename, outer.source.lines)
    names = _bind(lowering, node, source, callee.defaults, arguments, keywords)
    return run_frame(lowering, node, Frame(source, outer.function, names, outer))


def inline(
    lowering: Lowering,
    node: Any,
    function: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any] | None = None,
) -> Any:
    """Call a function of our own: all of it belongs to the user's statement."""
    source = replace(source_of(function.__code__), statement=lowering.builder.location, whole=True)
    defaults = {name: known.static_receiver(item) for name, item in _defaults_of(function).items()}
    names = _bind(lowering, node, source, defaults, arguments, keywords or {})
    return run_frame(lowering, node, Frame(source, function, names))


def _compose(
    lowering: Lowering,
    node: Any,
    callee: Any,
    composition: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """A call of a function that is made of other operations; its result goes to `out`."""
    out, _, arguments, keywords = destinations.destination(callee, arguments, keywords)
    result = inline(lowering, node, composition, arguments, keywords)
    if out is None:
        return result
    return destinations.store_result(lowering, node, callee, result, out, None)


def _inline(
    lowering: Lowering,
    node: Any,
    function: types.FunctionType,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    source = source_of(function.__code__)
    if not scope.is_library(function):
        scope.depend(lowering, Path(function, (("attribute", "__code__"),)), function.__code__)
    names = _bind(lowering, node, source, _defaults(lowering, function), arguments, keywords)
    return run_frame(lowering, node, Frame(source, function, names))


@functools.cache
def _defaults_of(function: Any) -> dict[str, Any]:
    """The defaults of a function of our own, which nobody changes."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _defaults(lowering: Lowering, function: types.FunctionType) -> dict[str, Any]:
    """The defaults of a function, or what reads them when they are needed."""
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = function.__defaults__ or ()
    first = len(parameters) - len(given)
    places: dict[str, tuple[str, Any]] = {
        parameters[first + i]: ("__defaults__", i) for i in range(len(given))
    }
    places |= {name: ("__kwdefaults__", name) for name in function.__kwdefaults__ or ()}
    return {
        name: functools.partial(_default, lowering, function, name, *place)
        for name, place in places.items()
    }


def _default(
    lowering: Lowering, function: types.FunctionType, name: str, where: str, key: Any
) -> Any:
    path = Path(function, (("attribute", where),))
    held = getattr(function, where)
    scope.depend(lowering, path, held)
    return default_value(lowering, held[key], Path(function, (*path.steps, ("item", key))), name)


def default_value(lowering: Lowering, value: Any, path: Path, name: str) -> Any:
    """A default: a number is what it is now, anything else is found at its place."""
    if isinstance(value, PLAIN_NUMBERS):
        return Static(value)
    return scope.external(lowering, value, path, name)


def _bind(
    lowering: Lowering,
    node: Any,
    source: Source,
    defaults: dict[str, Any],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> dict[str, Any]:
    """The names that a function starts with."""
    kinds = inspect.Parameter
    tree = source.node.args
    parameters = [kinds(p.id, kinds.POSITIONAL_ONLY) for p in tree.posonlyargs]
    parameters += [kinds(p.id, kinds.POSITIONAL_OR_KEYWORD) for p in tree.args]
    if tree.vararg is not None:
        parameters.append(kinds(tree.vararg.id, kinds.VAR_POSITIONAL))
    parameters += [kinds(p.id, kinds.KEYWORD_ONLY) for p in tree.kwonlyargs]
    if tree.kwarg is not None:
        parameters.append(kinds(tree.kwarg.id, kinds.VAR_KEYWORD))
    given = [p.replace(default=defaults[p.name]) if p.name in defaults else p for p in parameters]
    try:
        bound = inspect.Signature(given).bind(*arguments, **keywords)
    except (TypeError, ValueError) as error:
        lowering.unsupported(
            node,
            f"`{source.name}` cannot be called like this: {error}",
            f"call it as {source.name}{inspect.Signature(parameters)}",
        )
    bound.apply_defaults()
    names = {
        name: value() if isinstance(value, functools.partial) else value
        for name, value in bound.arguments.items()
    }
    if tree.vararg is not None:
        names[tree.vararg.id] = TupleOf(tuple(names[tree.vararg.id]))
    if tree.kwarg is not None:
        storage = Storage(tree.kwarg.id)
        lowering.contents[storage] = dict(names[tree.kwarg.id])
        names[tree.kwarg.id] = DictRef(storage)
    return names


# -- iterables and lengths -------------------------------------------------------------------


def length(lowering: Lowering, item: Any) -> Any:
    """`len(item)`."""
    item = scope.opened(lowering, item)
    special = protocols.call(lowering, None, item, "__len__")
    if special is not None:
        return special
    if isinstance(item, TupleOf):
        return Static(len(item.items))
    if isinstance(item, Static):
        return Static(len(item.value))
    value = lowering.contents[item.storage] if isinstance(item, (ListRef, DictRef)) else None
    if isinstance(value, (tuple, dict)):
        return Static(len(value))
    if isinstance(item, ListRef) and sequences.is_empty(lowering, item):
        return Static(0)
    value = lowering.value(item)
    if isinstance(value.type, Array) and value.type.rank:
        known_length = value.type.dims[0].known
        if known_length is not None:
            return Static(known_length)
        return lowering.emit(LENGTH, {"x": value, "axis": 0})
    if isinstance(value.type, Sequence):
        if value.type.length is not None and value.type.length.known is not None:
            return Static(value.type.length.known)
        return lowering.emit(LEN, {"x": value})
    if isinstance(value.type, Opaque):
        return opaque.emit(lowering, len, (value,), {}, INT)
    return None


def unpacked(
    lowering: Lowering, node: Any, item: Any, expected: int | None = None
) -> tuple[Any, ...]:
    """The items of a value whose number of items is known, or expected: then it is compared at run
    time."""
    item = scope.opened(lowering, iterators.taken(lowering, node, item))
    if instances.is_object(item):
        return unpacked(lowering, node, known.iteration(lowering, node, item))
    if isinstance(item, TupleOf):
        return item.items
    if isinstance(item, ListRef) and isinstance(lowering.contents[item.storage], tuple):
        return tuple(lowering.contents[item.storage])
    if isinstance(item, ListRef):
        return _counted_items(
            lowering, node, item, lowering.contents[item.storage].type.length, expected
        )
    if isinstance(item, DictRef):
        return tuple(Static(key) for key in lowering.contents[item.storage])
    if isinstance(item, Static) and isinstance(item.value, _STATIC_ITEMS):
        return tuple(Static(i) for i in item.value)
    if isinstance(item, Iteration):
        return known.unrolled(lowering, node, item)
    if isinstance(item, Ref):
        type_ = lowering.load(item).type
        assert isinstance(type_, Array)
        if not type_.rank:
            lowering.unsupported(
                node,
                "an array without axes has no items",
                "use the array itself, or `np.atleast_1d`",
            )
        return _counted_items(lowering, node, item, type_.dims[0], expected)
    if isinstance(item, Value) and isinstance(item.type, Tuple):
        return tuple(lowering.wrap(item).items)
    return lowering.unsupported(
        node, "the number of items is not known when the function is compiled", "index instead"
    )


_STATIC_ITEMS = (tuple, list, range, str, frozenset, enum.EnumMeta)


def _counted_items(
    lowering: Lowering, node: Any, item: Ref | ListRef, length_: Affine | None, expected: int | None
) -> tuple[Any, ...]:
    """The items of a list or array: as many as there are in the specializing call."""
    count = None if length_ is None else lowering.builder.facts.sampled(length_)
    if count is None and expected is None:
        what = "the number of items is not known when the function is compiled"
        lowering.unsupported(node, what, "index instead")
    if count is None:
        count = expected or 0
        _compare_length(lowering, node, item, count)
    return tuple(read_item(lowering, node, item, Static(i)) for i in range(count))


def _compare_length(lowering: Lowering, node: Any, item: Ref | ListRef, expected: int) -> None:
    """Raise what Python raises where a list or array has another number of items."""
    from gradscribe.frontend.control.branches import branch, raise_here

    what = f"expected {expected} values to unpack"
    differs = apply_primitive(
        lowering,
        node,
        PRIMITIVES[operator.ne],
        operator.ne,
        (length(lowering, item), Static(expected)),
        {},
    )
    branch(lowering, differs, lambda: raise_here(lowering, ValueError, what), lambda: None)
