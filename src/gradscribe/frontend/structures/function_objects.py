"""Functions, methods and iterators of the program as objects of the running program.

Code that cannot be read is given the function as it stands in the source, bound to what it captures
as that is where it is handed over; a generator or an iterator that has given nothing yet is made
anew. What is captured is handed over with it: arrays may be written to.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from gradscribe.frontend.memory import (
    iterators,
    kept_variables,
    outside_functions,
    scope,
    unread_code,
)
from gradscribe.frontend.prelude.prelude import remembered
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.interruptions import AlwaysRaisesError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax import function_texts
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import (
    BoundMethod,
    FrontendValue,
    LocalFunction,
    ObjectRef,
    OneShot,
    PartialOf,
    Static,
    TupleOf,
    ViewOf,
)
from gradscribe.ir.core import Method, Value
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Opaque
from gradscribe.primitives import mapping
from gradscribe.primitives.control import EFFECT, RUN
from gradscribe.primitives.functions import FUNCTION, FunctionText

ArgumentOf = Callable[[FrontendValue], Any]

_CALLED = (LocalFunction, PartialOf, BoundMethod, OneShot)


def may_call(item: FrontendValue, *, in_c: bool = False) -> bool:
    """Whether code that is given this value may run code of the program by it. in_c: or code in C
    of which nothing is known."""
    if isinstance(item, TupleOf):
        return any(may_call(below, in_c=in_c) for below in item.items)
    if isinstance(item, Static):
        if isinstance(item.value, (types.FunctionType, types.MethodType)):
            return not dependencies.is_library(item.value)
        return outside_functions.leads_to_python(item.value) or (in_c and _is_in_c(item.value))
    if isinstance(item, ObjectRef):
        return outside_functions.leads_to_python(item.target) or (in_c and _is_in_c(item.target))
    return isinstance(item, _CALLED)


def _is_in_c(held: Any) -> bool:
    is_function = callable(held) and not isinstance(held, type)
    return (is_function or unread_code.is_callback_of_c(type(held))) and unread_code.is_unread(held)


def made_object(lowering: Lowering, item: FrontendValue, argument_of: ArgumentOf) -> Value | None:
    """The object that one of these is, as an argument of a call at run time; None for others."""
    maker = _MAKERS.get(type(item))
    return None if maker is None else maker(lowering, item, argument_of)


def captured(lowering: Lowering, item: LocalFunction) -> dict[str, FrontendValue]:
    """What the free names of a function stand for, by name."""
    text = function_texts.text_of(item.node)
    if text.problem:
        _refuse(lowering, item.node, text.problem)
    first = function_texts.first_of(item.node) if isinstance(item.node, gast.GeneratorExp) else ""
    found = {first: item.defaults[function_texts.FIRST]} if first else {}
    lowering.frames.append(item.frame)
    try:
        for key, name in text.free.items():
            if key not in (text.name, first):
                found[key] = scope.lookup(lowering, item.node, name)
    except AlwaysRaisesError:
        _refuse(lowering, item.node, f"`{name}` has no value yet")
    finally:
        lowering.frames.pop()
    return found


def _refuse(lowering: Lowering, node: Any, why: str) -> None:
    lowering.unsupported(
        node,
        f"a function is given to code that cannot be read: {why}",
        "pass what it needs as arguments, and return what it changes",
    )


def _function(lowering: Lowering, item: LocalFunction, argument_of: ArgumentOf) -> Value:
    if item.frame.function is mapping.vectorize:
        given = (argument_of(item.frame.names["pyfunc"]),)
        tree = {"args": given, "keywords": {}, "type": Opaque(np.vectorize)}
        return lowering.plain(RUN, tree, np.vectorize)
    found = captured(lowering, item)
    defaults = {} if isinstance(item.node, gast.GeneratorExp) else item.defaults
    text, owners = _looking_up(lowering, item, found)
    for name, value in (found | defaults).items():
        _check(lowering, item.node, name, value)
    bound = {name: argument_of(value) for name, value in found.items() if name in text.free}
    tree = {
        "text": text,
        "defaults": {name: argument_of(value) for name, value in defaults.items()},
        "captures": bound | owners,
    }
    return lowering.plain(FUNCTION, tree, name=text.name)


def _looking_up(
    lowering: Lowering, item: LocalFunction, found: dict[str, FrontendValue]
) -> tuple[FunctionText, dict[str, Value]]:
    """The text of a function, and the objects in which it looks variables up, by name."""
    text = function_texts.text_of(item.node)
    first = function_texts.first_of(item.node) if isinstance(item.node, gast.GeneratorExp) else ""
    owners: dict[str, Value] = {}
    names: dict[str, str] = {}
    for key in found:
        name = None if key == first else text.free.get(key)
        owner = None if name is None else kept_variables.owner_of(lowering, item, name)
        if owner is None:
            continue
        if key == name:
            called = f"variables_{len(owners)}" if owners else "variables"
            called = next((c for c, other in owners.items() if other is owner), called)
            names[key] = called
            owners[called] = owner
        else:
            owners[key] = owner
    if not owners:
        return text, {}
    text = function_texts.looking_up(item.node, frozenset(names.items()))
    if text.problem:
        _refuse(lowering, item.node, text.problem)
    return replace(text, free={k: n for k, n in text.free.items() if k not in owners}), owners


def _check(lowering: Lowering, node: Any, name: str, item: FrontendValue) -> None:
    """Refuse what is no object of the running program: classes that the function defines."""
    value = item.value if isinstance(item, Static) else None
    if (isinstance(value, type) and value in dependencies.LOCAL_CLASSES) or probe(
        value, "__gradscribe_method__"
    ):
        _refuse(lowering, node, f"`{name}` is a class that the function defines")


def _partial(lowering: Lowering, item: PartialOf, argument_of: ArgumentOf) -> Value:
    if item.function == Static(remembered):
        tree = {"args": tuple(map(argument_of, item.arguments)), "keywords": {}, "type": Opaque()}
        return lowering.plain(RUN, tree, functools.cache)
    function, *given = (argument_of(part) for part in item.parts)
    count = len(item.arguments)
    named = dict(zip(item.keywords, given[count:], strict=True))
    tree = {"args": (function, *given[:count]), "keywords": named}
    return lowering.plain(RUN, {**tree, "type": Opaque(functools.partial)}, functools.partial)


def _method(lowering: Lowering, item: BoundMethod, argument_of: ArgumentOf) -> Value:
    owner = argument_of(item.receiver)
    tree = {"args": (owner, item.name), "keywords": {}, "type": Opaque(types.MethodType)}
    return lowering.plain(RUN, tree, getattr)


def _iterator(lowering: Lowering, item: OneShot, argument_of: ArgumentOf) -> Value:
    """An iterator of which no items are taken; else one over those that are left."""
    rest = iterators.handed_over(lowering, None, item.storage)
    if rest is not None or item.origin is None:
        return lowering.unsupported(
            lowering.frame.statement,
            "an iterator that has given items is given to code that cannot be read",
            "make a list of the items that are left",
        )
    made = item.origin
    arguments = tuple(argument_of(given) for given in made.arguments)
    named = {key: argument_of(given) for key, given in made.keywords.items()}
    callee = made.callee
    if isinstance(callee, LocalFunction):
        function = _function(lowering, callee, argument_of)
        tree = {"args": (function, *arguments), "keywords": named, "type": Opaque()}
        return lowering.plain(EFFECT, tree, Method("__call__"))
    tree = {"args": arguments, "keywords": named, "type": Opaque()}
    return lowering.plain(EFFECT, tree, callee)


def _range(lowering: Lowering, item: Range, argument_of: ArgumentOf) -> Value | None:
    if item.reversed:
        return None
    first, stop, step = item.parts
    shown: tuple[FrontendValue, ...] = item.parts if step != Static(1) else (first, stop)
    shown = (stop,) if len(shown) == 2 and first == Static(0) else shown
    given = tuple(argument_of(part) for part in shown)
    return lowering.plain(RUN, {"args": given, "keywords": {}, "type": Opaque(range)}, range)


_MAKERS: dict[type, Callable[..., Value | None]] = {
    LocalFunction: _function,
    PartialOf: _partial,
    BoundMethod: _method,
    OneShot: _iterator,
    Range: _range,
}


def parts_of(lowering: Lowering, item: FrontendValue) -> Iterator[FrontendValue]:
    """What a function, method or iterator leads to: itself, what it captures, is bound to and is
    given, and what those lead to."""
    pending, seen = [item], set[int]()
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if kept_variables.is_shared(item):
            pending += kept_variables.attributes(lowering, item).values()
            continue
        yield item
        led_to = _LED_TO.get(type(item))
        pending += () if led_to is None else led_to(lowering, item)


def _made_of(lowering: Lowering, item: OneShot) -> tuple[FrontendValue, ...]:
    made = item.origin
    return () if made is None else (made.callee, *made.arguments, *made.keywords.values())


_LED_TO: dict[type, Callable[[Lowering, Any], Iterable[FrontendValue]]] = {
    LocalFunction: lambda lowering, item: (
        *captured(lowering, item).values(),
        *item.defaults.values(),
    ),
    PartialOf: lambda lowering, item: item.parts,
    BoundMethod: lambda lowering, item: (item.receiver,),
    TupleOf: lambda lowering, item: item.items,
    ViewOf: lambda lowering, item: item.items,
    OneShot: _made_of,
}
