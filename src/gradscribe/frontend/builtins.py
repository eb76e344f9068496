"""Built-in functions and methods that the frontend evaluates itself.

`BUILTINS` maps a function object to its handler `(lowering, node, arguments, keywords)`;
the methods of lists and dicts are tables below. Methods of arrays are primitives.
"""

from __future__ import annotations

import inspect
import operator
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.frontend import calls, containers
from gradscribe.frontend.interface import Path
from gradscribe.frontend.lowering import PLAIN_NUMBERS, Lowering, is_number
from gradscribe.frontend.values import (
    BoundMethod,
    DictRef,
    Iteration,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.registry import METHODS, PRIMITIVES
from gradscribe.primitives.static import known

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]
_PURE_MODULES = ("numpy", "math", "cmath", "operator", "builtins", "itertools")


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
    return lowering.unsupported(node, "this must be known when the function is compiled")


def effect_argument(lowering: Lowering, item: Any) -> Any:
    """An argument of a call for its effect: static objects as they are, else a value."""
    if isinstance(item, Static):
        return item.value
    return lowering.value(item)


def call_method(
    lowering: Lowering,
    node: Any,
    method: BoundMethod,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """`receiver.name(...)`."""
    receiver, name = method.receiver, method.name
    if isinstance(receiver, ObjectRef):
        function = inspect.getattr_static(type(receiver.target), name)
        if isinstance(function, staticmethod):
            return calls.call(lowering, node, Static(function.__func__), arguments, keywords)
        return calls.call(lowering, node, Static(function), (receiver, *arguments), keywords)
    if isinstance(receiver, TupleOf):
        function = inspect.getattr_static(receiver.cls, name, None)
        if inspect.isfunction(function):
            return calls.call(lowering, node, Static(function), (receiver, *arguments), keywords)
    if spelling_of(lowering, receiver) == "either":
        return lowering.unsupported(
            node,
            f"the method `{name}` of what is an array on one path and a Tensor on the other",
            "use the function of that name (`np.…`), which means the same for both",
        )
    if is_tensor(lowering, receiver) and name not in ("detach", "item"):
        function = inspect.getattr_static(TENSOR_CLASSES[0], name, None)
        if inspect.isfunction(function):
            return calls.call(lowering, node, Static(function), (receiver, *arguments), keywords)
        return lowering.unsupported(node, f"the Tensor method `{name}` is not supported here")
    if isinstance(receiver, (Ref, Value)) or is_number(receiver):
        if name in ("detach", "item"):
            receiver = calls.cut(lowering, receiver)
        if name == "detach":
            return receiver
        if name in METHODS:
            return calls.apply_method(lowering, node, receiver, name, arguments, keywords)
    table: dict[str, Handler] = {
        ListRef: containers.LIST_METHODS,
        DictRef: containers.DICT_METHODS,
    }.get(type(receiver), {})
    if name in table:
        return table[name](lowering, node, (receiver, *arguments), keywords)
    return lowering.unsupported(node, f"the method `{name}` is not supported on this value")


OBJECTS: dict[type, Handler] = {}
"""How objects of these classes are called (entered by the layers above); the object itself
comes as the first argument."""

TENSOR_CLASSES: list[type] = []
"""The class whose methods arrays with the spelling "tensor" have (entered by the layers above)."""


def is_tensor(lowering: Lowering, item: Any) -> bool:
    """Whether this is an array whose methods are Tensor's (never so inside of rules)."""
    return bool(TENSOR_CLASSES) and spelling_of(lowering, item) == "tensor"


def spelling_of(lowering: Lowering, item: Any) -> str:
    """Whose meaning the methods of a value have; inside of rules, always NumPy's."""
    if not isinstance(item, Ref) or lowering.capture is None:
        return "numpy"
    type_ = lowering.load(item).type
    return type_.spelling if isinstance(type_, Array) else "numpy"


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
    module = (getattr(callee, "__module__", None) or "").partition(".")[0]
    if isinstance(callee, types.BuiltinMethodType) and not isinstance(
        callee.__self__, types.ModuleType
    ):
        module = "builtins" if isinstance(callee.__self__, (str, dict, tuple)) else module
    static = all(isinstance(a, Static) for a in (*arguments, *keywords.values()))
    if (
        static
        and module in _PURE_MODULES
        and "random" not in str(getattr(callee, "__module__", ""))
    ):
        plain = {k: v.value for k, v in keywords.items()}
        try:
            return Static(callee(*(a.value for a in arguments), **plain))
        except Exception as error:
            lowering.unsupported(node, f"this call always raises {type(error).__name__}: {error}")
    name = getattr(callee, "__qualname__", repr(callee))
    return lowering.unsupported(
        node,
        f"`{name}` cannot be differentiated: it has no rule and no Python source",
        "write it with NumPy functions that have one",
    )


def _is_frontend(item: Any) -> bool:
    return type(item).__module__.startswith("gradscribe.")


# -- iterables ---------------------------------------------------------------------------------


def iteration(lowering: Lowering, node: Any, item: Any) -> Iteration:
    """What a `for` over this value runs over."""
    if isinstance(item, Iteration):
        return item
    if isinstance(item, Ref):
        type_ = lowering.load(item).type
        if isinstance(type_, Array) and type_.rank:
            return Iteration("array", (item,))
    if isinstance(item, ListRef) and isinstance(lowering.contents[item.storage], Value):
        return Iteration("sequence", (item,))
    if isinstance(item, Static) and isinstance(item.value, range):
        r = item.value
        return Iteration("range", (Static(r.start), Static(r.stop), Static(r.step)))
    if isinstance(item, (TupleOf, ListRef, DictRef, Static)):
        return Iteration("static", calls.unpacked(lowering, node, item))
    return lowering.unsupported(node, "this value cannot be iterated over")


def unrolled(lowering: Lowering, node: Any, item: Iteration) -> tuple[Any, ...]:
    """The items of an iteration over structures."""
    if item.kind == "zip":
        columns = [unrolled(lowering, node, part) for part in item.parts]
        rows = tuple(TupleOf(tuple(row)) for row in zip(*columns, strict=False))
        return rows[::-1] if item.reversed else rows
    if item.kind == "enumerate":
        start = calls.static_integer(lowering, node, item.parts[1])
        rows = unrolled(lowering, node, item.parts[0])
        return tuple(TupleOf((Static(start + i), row)) for i, row in enumerate(rows))
    if item.kind == "static":
        return item.parts[::-1] if item.reversed else item.parts
    if item.kind == "range" and all(isinstance(p, Static) for p in item.parts):
        values = tuple(Static(i) for i in range(*(p.value for p in item.parts)))
        return values[::-1] if item.reversed else values
    if item.kind == "array":
        rows = calls.unpacked(lowering, node, item.parts[0])
        return rows[::-1] if item.reversed else rows
    return lowering.unsupported(node, "the number of items is not known")


def _range(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    parts = list(arguments)
    if len(parts) == 1:
        parts = [Static(0), parts[0]]
    if len(parts) == 2:
        parts.append(Static(1))
    return Iteration("range", tuple(parts))


def _zip(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return Iteration("zip", tuple(iteration(lowering, node, a) for a in arguments))


def _enumerate(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", Static(0))
    return Iteration("enumerate", (iteration(lowering, node, arguments[0]), start))


def _reversed(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    inner = iteration(lowering, node, arguments[0])
    return Iteration(inner.kind, inner.parts, not inner.reversed)


# -- values --------------------------------------------------------------------------------------


def _len(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    result = calls.length(lowering, arguments[0])
    return result if result is not None else lowering.unsupported(node, "this value has no length")


def _tuple(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return TupleOf(calls.unpacked(lowering, node, arguments[0]) if arguments else ())


def _list(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    storage = Storage()
    source = arguments[0] if arguments else TupleOf(())
    contents = lowering.contents[source.storage] if isinstance(source, ListRef) else None
    if not isinstance(contents, Value):
        contents = calls.unpacked(lowering, node, source)
    lowering.contents[storage] = contents
    return ListRef(storage)


def _dict(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    storage = Storage()
    items = dict(lowering.contents[arguments[0].storage]) if arguments else {}
    lowering.contents[storage] = items | keywords
    return DictRef(storage)


def _slice(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`slice(...)`: as a slice in an index, its parts being frontend values."""
    return slice(*(None if _is_none(part) else part for part in arguments))


def _is_none(item: Any) -> bool:
    return isinstance(item, Static) and item.value is None


def _shape(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    from gradscribe.frontend.attributes import shape_of

    return TupleOf(()) if is_number(arguments[0]) else shape_of(lowering, arguments[0])


def _ndim(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    type_ = lowering.value(arguments[0]).type
    return Static(type_.rank if isinstance(type_, Array) else 0)


def _isinstance(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    classes = (
        calls.unpacked(lowering, node, arguments[1])
        if isinstance(arguments[1], TupleOf)
        else (arguments[1],)
    )
    cls = class_of(lowering, node, arguments[0])
    return Static(issubclass(cls, tuple(c.value for c in classes)))


def class_of(lowering: Lowering, node: Any, item: Any) -> type:
    """The class that the value will have at run time."""
    if isinstance(item, Static):
        return type(item.value)
    if isinstance(item, ObjectRef):
        return type(item.target)
    if isinstance(item, (TupleOf,)):
        return item.cls
    if is_tensor(lowering, item):
        return TENSOR_CLASSES[0]
    simple = {ListRef: list, DictRef: dict, Ref: np.ndarray}.get(type(item))
    if simple is not None:
        return simple
    if isinstance(item, Value) and isinstance(item.type, Scalar):
        dtype = np.dtype(item.type.dtype)
        if not item.type.weak:
            return dtype.type
        return {"b": bool, "i": int, "f": float, "c": complex}[dtype.kind]
    return lowering.unsupported(node, "the class of this value is not known")


def _type(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return Static(class_of(lowering, node, arguments[0]))


def _divmod(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    from gradscribe.frontend.operators import operate

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


def _fold(callee: Any) -> Handler:
    """min and max of more than two numbers, or of a tuple: pairwise, as Python compares them."""

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        items = arguments
        if len(items) == 1:
            items = calls.unpacked(lowering, node, items[0])
        if keywords or not items:
            lowering.unsupported(node, f"this call of `{callee.__name__}` is not supported")
        result = items[0]
        for item in items[1:]:
            if isinstance(result, Static) and isinstance(item, Static):
                result = Static(callee(result.value, item.value))
                continue
            result = calls.apply_primitive(
                lowering, node, PRIMITIVES[callee], callee, (result, item), {}
            )
        return result

    return handler


BUILTINS: dict[Any, Handler] = {
    len: _len,
    range: _range,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _reversed,
    tuple: _tuple,
    list: _list,
    dict: _dict,
    slice: _slice,
    isinstance: _isinstance,
    type: _type,
    divmod: _divmod,
    min: _fold(min),
    max: _fold(max),
    np.shape: _shape,
    np.ndim: _ndim,
    known: lambda lowering, node, arguments, keywords: Static(isinstance(arguments[0], Static)),
    print: _effect(print),
    warnings.warn: _effect(warnings.warn),
}
