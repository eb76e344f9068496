"""Calls of Python functions, whose bodies are lowered where they are called: of the user's, of
nested ones, of our own that say what an operation is made of."""

from __future__ import annotations

import enum
import functools
import inspect
import types
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.errors import SourceNotFoundError
from gradscribe.frontend.calls import options
from gradscribe.frontend.calls.frames import run_frame
from gradscribe.frontend.containers import known_integers, out_arguments
from gradscribe.frontend.interface import AccessPath, DependencyKind
from gradscribe.frontend.kinds import static_values, tensors
from gradscribe.frontend.kinds.trees import parts_of
from gradscribe.frontend.memory import iterators, outside
from gradscribe.frontend.opaque import agreement, folded_calls, recorded_calls, trial_calls
from gradscribe.frontend.state import dependencies, wording
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.run_time_arguments import argument_of
from gradscribe.frontend.syntax.source import Source, source_of
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    DictRef,
    FrontendValue,
    LocalFunction,
    Ref,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.known import all_known
from gradscribe.ir.types import Array, Scalar, Tuple, Type, is_complex, is_differentiable
from gradscribe.primitives.contracts import contract_of
from gradscribe.primitives.control import ENTER, EXIT, KEPT, RUN, STOP_GRADIENT
from gradscribe.primitives.raising import heeds_values
from gradscribe.primitives.registry import CALLED, KNOWN_PARAMETERS


def local_function(lowering: Lowering, node: Any) -> LocalFunction:
    """The value of a `lambda` or nested `def`: its defaults are evaluated now."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = {
        p.id: lowering.expression(d)
        for p, d in zip(
            positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True
        )
    }
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[parameter.id] = lowering.expression(default)
    return LocalFunction(node, lowering.frame, defaults)


def call_local(
    lowering: Lowering,
    node: Any,
    callee: LocalFunction,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
    cls: type | None = None,
) -> FrontendValue:
    """Call a nested function. cls: the class that it is a method of."""
    outer: Frame = callee.frame
    source = Source.of(callee.node, outer.source.filename, outer.source.lines)
    names = _bind(lowering, node, source, callee.defaults, arguments, keywords)
    found = run_frame(lowering, node, Frame(source, outer.function, names, outer, cls=cls))
    return iterators.made_by(found, callee, arguments, keywords) if source.is_generator else found


def inline(
    lowering: Lowering,
    node: Any,
    function: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue] | None = None,
    name: str = "",
) -> FrontendValue:
    """Call a function of our own: all of it belongs to the user's statement. name: that of what
    the user calls, if it is not the function's."""
    source = replace(source_of(function.__code__), statement=lowering.builder.location, whole=True)
    defaults = {p: static_values.value_of(item) for p, item in _defaults_of(function).items()}
    names = _bind(lowering, node, source, defaults, arguments, keywords or {}, name)
    return run_frame(lowering, node, Frame(source, function, names))


def compose(
    lowering: Lowering,
    node: Any,
    callee: Any,
    composition: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """A call of a function that is made of other operations; its result goes to `out`."""
    out, _, arguments, keywords = out_arguments.destination(
        lowering, node, callee, arguments, keywords
    )
    given = (*arguments, *keywords.values())
    names = known_integers.NAMES | KNOWN_PARAMETERS.get(composition, frozenset())
    signature = _signature_of(composition)
    keywords = options.essential(callee, signature, None, keywords)
    arguments, keywords = known_integers.settle_arguments(
        lowering, node, signature, names, arguments, keywords
    )
    if not _are_integers(lowering, callee, (*arguments, *keywords.values())):
        agreement.check(lowering, node, callee, composition, arguments, keywords)
    result = made_of(lowering, node, callee, composition, arguments, keywords)
    if out is None:
        return result
    return out_arguments.store_result(lowering, node, (callee, given), result, out, None)


def made_of(
    lowering: Lowering,
    node: Any,
    callee: Any,
    composition: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """A call that is made of other operations, or only its derivatives are, or nothing is, where
    the arguments are integers: then the value is what the function itself gives, in new memory.
    (Of integers NumPy may compute in another type than theirs. Where the program heeds warnings,
    the function itself gives them.)"""
    name = wording.name_of(callee)
    warns = lowering.exceptions.heeds_warnings and heeds_values(callee)
    quiet = {"args": (), "keywords": {"all": "ignore"}}
    if warns:
        lowering.emit(ENTER, quiet, np.errstate)
    result = inline(lowering, node, composition, arguments, keywords, name)
    if warns:
        lowering.emit(EXIT, quiet, np.errstate)
    exact = _of_integers(lowering, callee, result, arguments, keywords)
    if composition not in CALLED and exact is None and not warns:
        return result
    made = lowering.value(result)
    bound = _signature_of(composition).bind(*arguments, **keywords)
    for option in [name for name in bound.arguments if name.startswith("overwrite")]:
        del bound.arguments[option]

    def argument(item: FrontendValue) -> Any:
        return _detached(lowering, argument_of(lowering, item))

    named = {key: argument(item) for key, item in bound.kwargs.items()}
    tree = {"args": tuple(map(argument, bound.args)), "keywords": named, "type": exact or made.type}
    called = lowering.emit(RUN, tree, callee)
    if exact is not None:
        given = lowering.wrap(called)
        if isinstance(result, TupleOf) and isinstance(given, TupleOf):
            return replace(given, cls=result.cls)
        return given
    return lowering.wrap(lowering.plain(KEPT, {"value": called, "x": made}))


def _of_integers(
    lowering: Lowering,
    callee: Any,
    result: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> Type | None:
    """The type of what a function gives of integers, which nobody differentiates: the lengths are
    those of a result; None of other arguments, and where the function is not told of."""
    items = (*arguments, *keywords.values())
    is_one = isinstance(result, (Value, Ref, TupleOf))
    if not is_one or not _are_integers(lowering, callee, items):
        return None
    sample = trial_calls.tried(lowering, callee, arguments, keywords)
    given = trial_calls.result_type(sample, exact=False)
    return None if given is None else _with_dtypes(lowering.value(result).type, given)


def _are_integers(lowering: Lowering, callee: Any, items: tuple[FrontendValue, ...]) -> bool:
    """Whether a function is given integers, and gives new arrays that depend on these alone."""
    if not all(_is_integer(lowering, item) for item in items) or contract_of(callee).connects:
        return False  # what may be a view is no new array
    return folded_calls.is_pure(callee, items)


def _is_integer(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is known, an integer, or made of such."""
    parts = parts_of(item, lowering.contents)
    if parts is not None:
        return all(_is_integer(lowering, part) for part in parts.items)
    if isinstance(item, Static):
        return not callable(item.value) or isinstance(item.value, type)
    type_ = lowering.value(item).type if isinstance(item, (Value, Ref)) else None
    if not isinstance(type_, (Array, Scalar)) or np.dtype(type_.dtype).kind not in "biu":
        return False
    return not isinstance(type_, Array) or type_.module == "numpy"


def _with_dtypes(made: Type, given: Type) -> Type | None:
    """A type with the dtypes of another one; None if that is of another structure."""
    if isinstance(made, Tuple) and isinstance(given, Tuple) and len(made.items) == len(given.items):
        pairs = zip(made.items, given.items, strict=True)
        items = all_known([_with_dtypes(*pair) for pair in pairs])
        return None if items is None else Tuple(tuple(items))
    if isinstance(made, Array) and isinstance(given, Array) and made.rank == given.rank:
        depends = is_complex(made) and not is_complex(given)  # on the values, as those of roots
        return None if depends else replace(made, dtype=given.dtype)
    return given if isinstance(made, Scalar) and isinstance(given, Scalar) else None


def _detached(lowering: Lowering, tree: Any) -> Any:
    """The same arguments, by which no derivative is taken."""
    if isinstance(tree, Value):
        is_active = is_differentiable(tree.type)
        return lowering.plain(STOP_GRADIENT, {"x": tree}) if is_active else tree
    if isinstance(tree, (tuple, list)):
        return type(tree)(_detached(lowering, item) for item in tree)
    return tree


def call_function(
    lowering: Lowering,
    node: Any,
    function: types.FunctionType,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    if lowering.recording is None:
        return _inlined(lowering, node, function, arguments, keywords)
    return recorded_calls.call(lowering, node, function, arguments, keywords, _inlined)


def _inlined(
    lowering: Lowering,
    node: Any,
    function: types.FunctionType,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    source = source_in(lowering, node, function)
    return inlined_as(lowering, node, function, source, arguments, keywords)


def inlined_as(
    lowering: Lowering,
    node: Any,
    function: types.FunctionType,
    source: Source,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """A call of a function with this source, which stands for its own."""
    arguments, keywords = tensors.given(lowering, node, function, arguments, keywords)
    if not dependencies.is_library(function):
        dependencies.depend(lowering, AccessPath(function).attribute("__code__"), function.__code__)
    names = _bind(lowering, node, source, defaults_of(lowering, function), arguments, keywords)
    found = run_frame(lowering, node, Frame(source, function, names))
    return iterators.made_by(found, function, arguments, keywords) if source.is_generator else found


def source_in(lowering: Lowering, node: Any, function: types.FunctionType) -> Source:
    """The source of a function; if it cannot be read, the error shows the call."""
    try:
        return source_of(function.__code__)
    except SourceNotFoundError as error:
        location = lowering.location(node) if node and lowering.frames else None
        raise SourceNotFoundError(error.what, error.advice, location) from None


@functools.cache
def _signature_of(function: Any) -> inspect.Signature:
    return inspect.signature(function)


@functools.cache
def _defaults_of(function: Any) -> dict[str, Any]:
    """The defaults of a function of our own, which nobody changes."""
    parameters = _signature_of(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def defaults_of(lowering: Lowering, function: types.FunctionType) -> dict[str, Any]:
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
) -> FrontendValue:
    path = AccessPath(function).attribute(where)
    held = getattr(function, where)
    if isinstance(held, dict):
        dependencies.depend(lowering, path, tuple(held), "keys")
    else:
        dependencies.depend(lowering, path, len(held), "length")
    return default_value(lowering, held[key], path.item(key), name)


def default_value(lowering: Lowering, value: Any, path: AccessPath, name: str) -> FrontendValue:
    """A default: a number is what it is now, anything else is found at its place."""
    outside.refuse_derived_number(lowering, value, name)
    if isinstance(value, PLAIN_NUMBERS) and not isinstance(value, enum.Enum):
        is_told_by_equality = value == value and value  # neither NaN nor a zero with a sign
        kind: DependencyKind = "equality" if is_told_by_equality else "identity"
        dependencies.depend(lowering, path, value, kind)
        return Static(value)
    return outside.external(lowering, value, path, name)


def _bind(
    lowering: Lowering,
    node: Any,
    source: Source,
    defaults: dict[str, Any],
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
    name: str = "",
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
        called = name or source.name
        lowering.unsupported(
            node,
            f"`{called}` cannot be called like this: {error}",
            f"call it as {called}{inspect.Signature(parameters)}",
            python=TypeError,
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
