"""Built-in functions and methods that the frontend evaluates itself.

`BUILTINS` maps a function object to its handler `(lowering, node, arguments, keywords)`;
the methods of lists and dicts are tables below. Methods of arrays are primitives.
"""

from __future__ import annotations

import collections
import inspect
import operator
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.frontend import dependencies, outside, outside_kinds
from gradscribe.frontend.calls import (
    application,
    array_changes,
    destinations,
    dividing,
    folding,
    inlining,
    iteration,
    iterators,
    mathematics,
    opaque,
    randomness,
    reducing,
    tensors,
    unpacking,
)
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.calls.array_changes import METHODS as CHANGES
from gradscribe.frontend.calls.iterators import iterator, taking
from gradscribe.frontend.data import (
    construction,
    dicts,
    instances,
    objects,
    protocols,
    run_time_sets,
    single_items,
    standard_classes,
    subscripts,
)
from gradscribe.frontend.data.indices import as_array, nonzero, open_mesh
from gradscribe.frontend.interface import Path
from gradscribe.frontend.lowering import PLAIN_NUMBERS, Lowering, is_number
from gradscribe.frontend.values import (
    BoundMethod,
    DictRef,
    InstanceRef,
    ListRef,
    LocalFunction,
    ObjectRef,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.core import Method, Value
from gradscribe.ir.types import BOOL, Array, Opaque, Scalar
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.mapping import vectorized
from gradscribe.primitives.registry import COMPOSITIONS, METHODS, PRIMITIVES
from gradscribe.primitives.static import known

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]


def static_receiver(value: Any) -> Any:
    """A Python object (a default, a bound `self`) as a frontend value."""
    if value is None or isinstance(value, (*PLAIN_NUMBERS, str, type, types.FunctionType)):
        return Static(value)
    if isinstance(value, tuple):
        return TupleOf(tuple(map(static_receiver, value)))
    if callable(value) or isinstance(value, (np.dtype, types.ModuleType)):
        return Static(value)
    return ObjectRef(value, Path(value))


def static_value(lowering: Lowering, node: Any, item: Any) -> Any:
    """The Python object of a value that has to be static, in tuples, too."""
    if isinstance(item, Static):
        return item.value
    if isinstance(item, TupleOf):
        return tuple(static_value(lowering, node, below) for below in item.items)
    return lowering.unsupported(
        node,
        "this must be known when the function is compiled",
        "write it as a literal, or pass it to the function: strings, flags and `None` are known",
    )


def effect_argument(lowering: Lowering, item: Any) -> Any:
    """An argument of a call for its effect: static objects as they are, else a value."""
    if isinstance(item, Static):
        return item.value
    return lowering.value(item)


_KEEPING = frozenset({"append", "insert", "setdefault"})
"""Methods of lists and dicts that keep an iterator, and do not take its items."""


def call_method(
    lowering: Lowering,
    node: Any,
    method: BoundMethod,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """`receiver.name(...)`."""
    receiver, name, given = method.receiver, method.name, (*arguments, *keywords)
    receiver = outside.opened(lowering, receiver)
    if name not in _KEEPING:
        arguments = tuple(iterators.taken(lowering, node, item) for item in arguments)
    if isinstance(receiver, ObjectRef) and name not in ("__init__", "__setattr__"):
        return opaque.method(lowering, node, receiver, name, arguments, keywords)
    if instances.is_object(receiver):
        return construction.call_builtin_method(lowering, node, method, arguments)
    if isinstance(receiver, TupleOf) and name in NAMEDTUPLE_METHODS:
        handler = NAMEDTUPLE_METHODS[name]
        return handler(lowering, node, (receiver, *arguments), keywords)
    if isinstance(receiver, TupleOf):
        function = inspect.getattr_static(receiver.cls, name, None)
        if inspect.isfunction(function):
            return calls.call(lowering, node, Static(function), (receiver, *arguments), keywords)
    if opaque.is_opaque(receiver):
        cls = receiver.type.cls
        if cls is not None and issubclass(cls, outside_kinds.RandomGenerator):
            callee, given = Method(name), (receiver, *arguments)
            return randomness.draw(lowering, node, cls, callee, given, keywords)
        if run_time_sets.is_set(receiver):
            found = run_time_sets.method(lowering, node, receiver, name, arguments)
            if found is not None:
                return found
        return opaque.method(lowering, node, receiver, name, arguments, keywords)
    if tensors.spelling_of(lowering, receiver) == "either" and not tensors.agrees(name, given):
        return lowering.unsupported(
            node,
            f"the method `{name}` of what is an array on one path and a Tensor on the other",
            "use the function of that name (`np.…`), which means the same for both",
        )
    function = tensors.attribute_of(lowering, receiver, name)
    if inspect.isfunction(function):
        if name in CHANGES and node is lowering.discarded:
            what = f"`{name}` changes an array, but gives another Tensor, which is not used here"
            lowering.unsupported(node, what, f"store the result: `x[...] = np.{name}(x)`")
        return calls.call(lowering, node, Static(function), (receiver, *arguments), keywords)
    if tensors.is_tensor(lowering, receiver) and not hasattr(np.ndarray, name):
        return lowering.unsupported(
            node,
            f"the Tensor method `{name}` is not supported here",
            "use the function of that name (`np.…`)",
        )
    if isinstance(receiver, (Ref, Value)) or is_number(receiver):
        if name == "detach":
            return subscripts.cut(lowering, receiver)
        if name == "item":
            return single_items.item(lowering, node, receiver, arguments)
        if name in CHANGES and isinstance(receiver, Ref):
            return destinations.change(
                lowering, node, CHANGES[name], (receiver, *arguments), keywords
            )
        if name == "nonzero" and isinstance(receiver, Ref):
            return nonzero(lowering, node, np.nonzero, receiver)
        if name == "astype" and "copy" in keywords:
            return _converted(lowering, node, receiver, arguments, keywords)
        if name in METHODS:
            return application.apply_method(lowering, node, receiver, name, arguments, keywords)
        if name in COMPOSITIONS:
            function, given = COMPOSITIONS[name], (receiver, *arguments)
            return inlining.inline(lowering, node, function, given, keywords)
    if name in _OF_CONTAINERS and isinstance(receiver, (Ref, ListRef, DictRef, TupleOf)):
        return _OF_CONTAINERS[name](lowering, node, (receiver, *arguments), keywords)
    table = dicts.METHODS_OF.get(type(receiver), {})
    if name in table:
        return table[name](lowering, node, (receiver, *arguments), keywords)
    if is_number(receiver):
        found = opaque.method_of_number(lowering, receiver, name, arguments)
        if found is not None:
            return found
    return lowering.unsupported(
        node,
        f"the method `{name}` is not supported on this value",
        "write it with operators and NumPy functions, or call it outside and pass the result in",
    )


def _converted(
    lowering: Lowering, node: Any, receiver: Any, arguments: Any, keywords: dict[str, Any]
) -> Any:
    """`x.astype(dtype, copy=…)`: without a copy, what `np.asarray(x, dtype)` gives."""
    rest = {name: item for name, item in keywords.items() if name != "copy"}
    if static_value(lowering, node, keywords["copy"]):
        return application.apply_method(lowering, node, receiver, "astype", arguments, rest)
    given = (receiver, *arguments)
    return application.apply_primitive(
        lowering, node, PRIMITIVES[np.asarray], np.asarray, given, rest
    )


OBJECTS: dict[type, Handler] = {}
"""How objects of these classes are called (entered by the layers above); the object itself
comes as the first argument."""


def _vectorized(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """A call of an `np.vectorize` object."""
    function, *operands = arguments
    given = (static_receiver(function.value.pyfunc), *operands)
    return inlining.inline(lowering, node, vectorized, given, keywords)


OBJECTS[np.vectorize] = _vectorized


def call_unknown(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """A callable without entry: computed now if pure and static, else refused."""
    fields = getattr(callee, "_fields", None)
    if isinstance(callee, type) and issubclass(callee, tuple) and fields is not None:
        bound = inspect.signature(callee).bind(*arguments, **keywords)
        bound.apply_defaults()
        items = [bound.arguments[f] for f in fields]
        return TupleOf(tuple(i if _is_frontend(i) else Static(i) for i in items), callee)
    if folding.is_pure(callee):
        arguments = tuple(iterators.taken(lowering, node, item) for item in arguments)
    found = folding.folded(lowering, node, callee, arguments, keywords)
    if found is not None:
        return found
    return opaque.call(lowering, node, callee, arguments, keywords)


def _is_frontend(item: Any) -> bool:
    return type(item).__module__.startswith("gradscribe.")


# -- values --------------------------------------------------------------------------------------


def _len(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    try:
        result = unpacking.length(lowering, arguments[0])
    except TypeError as error:
        lowering.raises(node, error)
    if result is not None:
        return result
    what, advice = (
        "this value has no length",
        "take the length of an array, a list, a tuple or a dict",
    )
    if is_number(arguments[0]):
        lowering.raises(node, TypeError("a number has no len()"), what, advice)
    return lowering.unsupported(node, what, advice)


def _tuple(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return TupleOf(unpacking.unpacked(lowering, node, arguments[0]) if arguments else ())


def _slice(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`slice(...)`: as a slice in an index, its parts being frontend values."""
    return slice(*(None if _is_none(part) else part for part in arguments))


def _is_none(item: Any) -> bool:
    return isinstance(item, Static) and item.value is None


def _shape(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    from gradscribe.frontend.data.attributes import shape_of

    array = as_array(lowering, node, arguments[0])
    return TupleOf(()) if is_number(array) else shape_of(lowering, array)


def _ndim(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    type_ = lowering.value(as_array(lowering, node, arguments[0])).type
    return Static(type_.rank if isinstance(type_, Array) else 0)


def _isinstance(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    accepted = outside.opened(lowering, arguments[1])
    is_tuple = isinstance(accepted, (TupleOf, ObjectRef))
    classes = unpacking.unpacked(lowering, node, accepted) if is_tuple else (accepted,)
    if opaque.is_opaque(arguments[0]):
        return opaque.emit(lowering, isinstance, arguments, keywords, BOOL)
    cls = class_of(lowering, node, arguments[0])
    return Static(issubclass(cls, tuple(c.value for c in classes)))


def has_attribute(lowering: Lowering, node: Any, item: Any, name: str) -> bool:
    """Whether the value will have an attribute at run time."""
    if instances.is_object(item):
        found = objects.get(lowering, node, item, name)
        objects.refuse_uncertain(lowering, node, name, found)
        return found is not None
    if isinstance(item, Static):
        is_known = hasattr(item.value, name)
        if isinstance(item.value, dependencies.HOLDERS) and not dependencies.is_library(item.value):
            dependencies.depend(
                lowering, Path(item.value), name, "present" if is_known else "absent"
            )
        return is_known
    if isinstance(item, ObjectRef):
        return hasattr(item.target, name)
    if isinstance(item, TupleOf) and name in field_names(item.cls):
        return True
    return hasattr(class_of(lowering, node, item), name)


def field_names(cls: type) -> tuple[str, ...]:
    """The names of the items of a namedtuple."""
    return getattr(cls, "_fields", ())


def class_of(lowering: Lowering, node: Any, item: Any) -> type:
    """The class that the value will have at run time."""
    if isinstance(item, Static):
        return type(item.value)
    standard = standard_classes.class_in_python(item)
    if standard is not None:
        return standard
    if isinstance(item, (InstanceRef, ObjectRef)):
        return instances.class_of(item)
    if isinstance(item, (TupleOf,)):
        return item.cls
    if tensors.is_tensor(lowering, item):
        return tensors.CLASSES[0]
    simple = {ListRef: list, DictRef: dict, Ref: np.ndarray}.get(type(item))
    if simple is not None:
        return simple
    if isinstance(item, Value) and isinstance(item.type, Scalar):
        dtype = np.dtype(item.type.dtype)
        if not item.type.weak:
            return dtype.type
        return {"b": bool, "i": int, "f": float, "c": complex}[dtype.kind]
    return lowering.unsupported(
        node, "the class of this value is not known", "test what decides its class instead"
    )


def _hasattr(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    name = static_value(lowering, node, arguments[1])
    return Static(has_attribute(lowering, node, arguments[0], name))


def _getattr(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    from gradscribe.frontend.data.attributes import attribute

    name = static_value(lowering, node, arguments[1])
    if len(arguments) == 3 and not has_attribute(lowering, node, arguments[0], name):
        return arguments[2]
    return attribute(lowering, node, arguments[0], name)


def _callable(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    item = arguments[0]
    if isinstance(item, (BoundMethod, LocalFunction)):
        return Static(True)
    if isinstance(item, (Static, ObjectRef)):
        return Static(callable(item.value if isinstance(item, Static) else item.target))
    classes = class_of(lowering, node, item).__mro__
    return Static(any("__call__" in vars(cls) for cls in classes))


def _issubclass(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return Static(issubclass(*(static_value(lowering, node, a) for a in arguments)))


def _type(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    if opaque.is_opaque(arguments[0]):
        return opaque.emit(lowering, type, arguments, keywords, Opaque(type))
    return Static(class_of(lowering, node, arguments[0]))


def _divmod(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    from gradscribe.frontend.operators import operate

    if any(map(instances.has_methods, arguments)):
        found = protocols.operate(lowering, node, divmod, arguments)
        error = TypeError("unsupported operand type(s) for divmod()")
        return lowering.raises(node, error) if found is None else found
    parts = (operate(lowering, node, op, *arguments) for op in (operator.floordiv, operator.mod))
    return TupleOf(tuple(parts))


def _effect(callee: Any) -> Handler:
    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        tree = {
            "args": tuple(effect_argument(lowering, a) for a in arguments),
            "keywords": {k: effect_argument(lowering, v) for k, v in keywords.items()},
        }
        lowering.emit(EFFECT, tree, callee)
        return Static(None)

    return handler


def _change_by(function: Callable[..., None]) -> Handler:
    return lambda lowering, node, arguments, keywords: destinations.change(
        lowering, node, function, arguments, keywords
    )


def _nonzero(callee: Any) -> Handler:
    return lambda lowering, node, arguments, keywords: nonzero(lowering, node, callee, arguments[0])


def _where(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    if len(arguments) == 1 and not keywords:
        return nonzero(lowering, node, np.nonzero, arguments[0])
    return application.apply_primitive(
        lowering, node, PRIMITIVES[np.where], np.where, arguments, keywords
    )


def _limits(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`np.iinfo(dtype)`, a class of Python, as one object."""
    return Static(np.iinfo(static_value(lowering, node, arguments[0])))


_OF_CONTAINERS: dict[str, Handler] = {
    "__getitem__": lambda lowering, node, arguments, keywords: subscripts.read_item(
        lowering, node, *arguments
    ),
    "__len__": _len,
}
"""Special methods of arrays, lists, tuples and dicts that programs hand over as functions."""

NAMEDTUPLE_METHODS: dict[str, Handler] = {}
"""The methods of namedtuples that make others (entered by `object_builtins`)."""

BUILTINS: dict[Any, Handler] = {
    np.where: _where,
    np.ix_: lambda lowering, node, arguments, keywords: open_mesh(lowering, node, arguments),
    **{callee: _nonzero(callee) for callee in (np.nonzero, np.flatnonzero, np.argwhere)},
    **{callee: _change_by(function) for callee, function in array_changes.FUNCTIONS.items()},
    len: _len,
    range: iteration.range_of,
    zip: iterator(iteration.zip_of),
    enumerate: iterator(iteration.enumerate_of),
    reversed: iteration.reversed_of,
    tuple: taking(_tuple),
    dict: taking(dicts.dict_of),
    dict.fromkeys: dicts.keys_with,
    collections.OrderedDict: taking(dicts.dict_of),
    slice: _slice,
    isinstance: _isinstance,
    type: _type,
    issubclass: _issubclass,
    hasattr: _hasattr,
    getattr: _getattr,
    callable: _callable,
    divmod: _divmod,
    **{callee: taking(handler) for callee, handler in reducing.REDUCING.items()},
    **{callee: taking(handler) for callee, handler in mathematics.MATHEMATICS.items()},
    **dividing.DIVIDING,
    np.iinfo: _limits,
    np.shape: _shape,
    np.ndim: _ndim,
    known: lambda lowering, node, arguments, keywords: Static(isinstance(arguments[0], Static)),
    print: _effect(print),
    warnings.warn: _effect(warnings.warn),
}
