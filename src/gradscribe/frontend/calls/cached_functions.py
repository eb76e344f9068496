"""Functions that remember their results (`functools.lru_cache`, `functools.cache`).

Such a function is computed anew at each call. That gives what was remembered as long as the
function only computes: it changes nothing, what it reads does not change between its calls, and
nobody changes what it returned. All else is refused.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence as SequenceOf
from typing import Any, NoReturn

import gast

from gradscribe.frontend.calls import introspection
from gradscribe.frontend.calls.dataclass_methods import is_dataclass_comparison
from gradscribe.frontend.joins.final_blocks import walk_all
from gradscribe.frontend.kinds.trees import reached
from gradscribe.frontend.memory.remembered import reading, refusal
from gradscribe.frontend.opaque import recorded_calls
from gradscribe.frontend.prelude.prelude import remembered
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.handlers import ObjectsOf, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.instances import class_of, has_methods
from gradscribe.frontend.syntax.shared_variables import own_names, own_nodes
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    LocalFunction,
    PartialOf,
    Ref,
    Static,
    TupleOf,
    known_objects,
)
from gradscribe.ir.core import Callee, Operation, Value
from gradscribe.ir.probing import in_class
from gradscribe.ir.statics import same_static
from gradscribe.ir.types import Array, Scalar, Sequence
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.raising import makes_exception
from gradscribe.primitives.users_code import is_users

_LOOPS = (gast.For, gast.While)


def _remembering(function: Any) -> Any:
    """The decorator that `functools.lru_cache(maxsize)` makes."""
    return functools.partial(remembered, function)


@handles(functools.lru_cache, functools.cache, _remembering)
def _cached(
    lowering: Lowering, node: Any, /, *given: FrontendValue, **options: FrontendValue
) -> Static | PartialOf:
    first = given[0] if given else None
    is_size = isinstance(first, Static) and not callable(first.value)
    if first is None or is_size:
        return Static(_remembering)
    return PartialOf(Static(remembered), (first,), {})


@handles(ObjectsOf(functools._lru_cache_wrapper))
def _call_cached(
    lowering: Lowering, node: Any, callee: Static, /, *given: FrontendValue, **named: FrontendValue
) -> FrontendValue:
    return _call(lowering, node, Static(callee.value.__wrapped__), *given, **named)


@handles(remembered)
def _call(
    lowering: Lowering,
    node: Any,
    function: FrontendValue,
    /,
    *given: FrontendValue,
    **keywords: FrontendValue,
) -> FrontendValue:
    arguments = (*given, *keywords.values())
    for item in arguments:
        _check_hashable(lowering, node, item)
    _check_keys(lowering, node, function, arguments)
    if isinstance(function, LocalFunction):
        _check_variables(lowering, node, function)
    before, made = dict(lowering.contents), len(lowering.builder.operations)
    with reading(lowering, node), recorded_calls.remembering(lowering):
        result = lowering.call(node, function, given, keywords)
    is_changed = any(lowering.contents.get(storage) is not held for storage, held in before.items())
    # What a recursive function does is known when it has been lowered, to the one that calls it.
    seen = set[Any]() if lowering.nesting.enclosed is None else None
    if is_changed or _has_effects(lowering.builder.operations[made:], seen):
        _refuse(lowering, node, "has effects")
    _protect(lowering, node, result, before)
    return result


def _has_effects(operations: SequenceOf[Operation], seen: set[Any] | None) -> bool:
    """Whether these operations, or the recursive functions that they call, have effects. seen:
    those that were looked at; None: none are."""
    for operation in walk_all(operations):
        if operation.primitive is EFFECT and not makes_exception(operation.callee):
            return True
        callee = operation.attributes.get("function")
        if seen is not None and isinstance(callee, Callee) and callee not in seen:
            seen.add(callee)
            if _has_effects(callee.function.body.operations, seen):
                return True
    return False


def _refuse(lowering: Lowering, node: Any, what: str) -> NoReturn:
    raise refusal(what, lowering.location(node))


def _check_hashable(lowering: Lowering, node: Any, item: FrontendValue) -> None:
    if isinstance(item, TupleOf):
        for part in item.items:
            _check_hashable(lowering, node, part)
    is_array = isinstance(item, Ref) and _is_numpy(lowering.load(item).type)
    if is_array or isinstance(item, (ListRef, DictRef)):
        name = introspection.class_of(lowering, node, item)
        shown = f"{name.__module__}.{name.__name__}".removeprefix("builtins.")
        lowering.raises(node, TypeError(f"unhashable type: '{shown}'"))


def _check_keys(
    lowering: Lowering, node: Any, function: FrontendValue, items: SequenceOf[FrontendValue]
) -> None:
    """Refuse arguments for which another result may be remembered: equal ones that are not the
    same, or objects that have changed since."""
    for item in reached(lowering, *items):
        cls = class_of(item) if has_methods(item) else None
        if cls is not None and _has_own_equality(cls):
            _refuse(lowering, node, f"is given a `{cls.__name__}`, which its class compares")
        if isinstance(item, (InstanceRef, Ref, ListRef, DictRef)):
            held = lowering.contents.get(item.storage)
            if lowering.cached.contents.setdefault((function, item.storage), held) is not held:
                _refuse(lowering, node, "is given what the program changes")
    known = known_objects(items)
    if known is not None:
        keys = lowering.cached.keys.setdefault(function, {})
        same = keys.setdefault(functools._make_key(tuple(known), {}, typed=False), known)
        if not all(map(same_static, known, same)):
            _refuse(lowering, node, f"is given {known[0]!r}, which is equal to another key")


def _has_own_equality(cls: type) -> bool:
    """Whether the user's code says which objects of a class are equal, or leaves parts out."""
    equal = in_class(cls, "__eq__")
    if is_dataclass_comparison(equal):
        return not all(field.compare for field in dataclasses.fields(cls))
    return is_users(equal) or is_users(in_class(cls, "__hash__"))


def _is_numpy(type_: Any) -> bool:
    return isinstance(type_, Array) and type_.spelling == "numpy"


def _protect(lowering: Lowering, node: Any, result: Any, before: dict[Any, Any]) -> None:
    """What is returned is one object each time: nobody may change it."""
    if getattr(result, "storage", None) in before:
        return
    items = result.items if isinstance(result, TupleOf) else ()
    if isinstance(result, Ref):
        result.storage.read_only = True
    elif isinstance(result, ListRef):
        lowering.cached.lists.add(result.storage)
        held = lowering.contents[result.storage]
        items = held if isinstance(held, tuple) else ()
        type_ = held.type if isinstance(held, Value) else None
        if isinstance(type_, Sequence) and not isinstance(type_.item, Scalar):
            _refuse(lowering, node, "returns a list of what can be changed")
    elif isinstance(result, (DictRef, InstanceRef)):
        _refuse(lowering, node, "returns what can be changed")
    for item in items:
        _protect(lowering, node, item, before)


# -- what the function reads ---------------------------------------------------------------------


def _check_variables(lowering: Lowering, node: Any, function: LocalFunction) -> None:
    """Refuse a function that reads a variable, or memory, that changes between its calls."""
    read = {
        below.id
        for below in gast.walk(function.node)
        if isinstance(below, gast.Name) and isinstance(below.ctx, gast.Load)
    } - own_names(function.node)
    frame: Frame | None = function.frame
    while frame is not None:
        for name in sorted(read & frame.names.keys()):
            item = frame.names[name]
            if _is_rebound(frame.source.node, function.node, name) or isinstance(item, InstanceRef):
                _refuse(lowering, node, f"reads `{name}`, which may change")
            storage = getattr(item, "storage", None)
            held = None if storage is None else lowering.contents.get(storage)
            key = (function, name)
            if lowering.cached.contents.setdefault(key, held) is not held:
                _refuse(lowering, node, f"reads `{name}`, which changes")
        read -= frame.names.keys()
        frame = frame.outer


def _is_rebound(outer: Any, function: Any, name: str) -> bool:
    """Whether a name is bound more than once, or by a loop that does not make the function, too."""
    bindings = [
        below
        for below in (*own_nodes(outer), *gast.walk(outer.args))
        if isinstance(below, gast.Name)
        and below.id == name
        and isinstance(below.ctx, (gast.Store, gast.Param))
    ]
    loops = [loop for loop in gast.walk(outer) if isinstance(loop, _LOOPS)]
    around = [set(map(id, gast.walk(loop))) for loop in loops]
    alone = any(id(b) in part and id(function) not in part for part in around for b in bindings)
    return len(bindings) > 1 or alone
