"""Methods that `@dataclass` makes: they have no source, and are what the fields say."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import types
from typing import Any

from gradscribe.frontend.calls import inlining
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.objects import object_attributes, object_stores
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes
from gradscribe.frontend.structures.instances import class_of, is_object
from gradscribe.frontend.values.values import FrontendValue, ObjectRef, Static, TupleOf
from gradscribe.ir.probing import gives, in_class


def dataclass_of_init(function: Any) -> bool:
    """Whether this is the `__init__` that `@dataclass` made (it has no source)."""
    return (
        isinstance(function, types.FunctionType)
        and function.__name__ == "__init__"
        and function.__code__.co_filename == "<string>"
    )


def initialize_dataclass(
    lowering: Lowering,
    node: Any,
    function: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Any,
) -> FrontendValue:
    """The `__init__` of a dataclass: store the arguments and defaults of its fields."""
    owner: Any = arguments[0]
    given = arguments[1:]
    base = _defining_class(class_of(owner), function)
    fields = [f for f in base.__dataclass_fields__.values() if f._field_type is not _CLASS_VARIABLE]
    try:
        bound = inspect.signature(function).bind(owner, *given, **keywords)
    except TypeError as error:
        taken = ", ".join(field.name for field in fields if field.init)
        lowering.unsupported(
            node,
            f"`{base.__name__}` cannot be made like this: {error}",
            f"call it as {base.__name__}({taken})",
            python=TypeError,
        )
    items = dict(list(bound.arguments.items())[1:])
    defaults, later = inlining.defaults_of(lowering, function), list[Any]()
    for field in fields:
        if field.init:
            item = items[field.name] if field.name in items else defaults[field.name]()
            if isinstance(item, ObjectRef) and item.target is _TO_BE_MADE:
                dependencies.depend(lowering, item.path, item.target)
                item = lowering.call(node, Static(field.default_factory), (), {})
        elif field.default_factory is not dataclasses.MISSING:
            item = lowering.call(node, Static(field.default_factory), (), {})
        else:
            item = _default_in_class(lowering, class_of(owner), field)
            if item is None:
                continue
        if field._field_type is _INIT_ONLY:
            later.append(item)
        else:
            object_stores.store_plainly(lowering, node, owner, field.name, item)
    calls = "__post_init__" in function.__code__.co_names  # was there when the class was made
    after = class_attributes.method(lowering, owner, "__post_init__") if calls else None
    if after is not None:
        lowering.call(node, after, tuple(later), {})
    return Static(None)


def _default_in_class(
    lowering: Lowering, cls: type, field: dataclasses.Field[Any]
) -> FrontendValue | None:
    """The default of a field that is no parameter: what the class has under its name, or, where it
    has a slot there, what the field says. None where Python stores none."""
    path = AccessPath(cls).attribute(field.name)
    held = in_class(cls, field.name, dataclasses.MISSING)
    if isinstance(held, types.MemberDescriptorType):
        held, path = field.default, AccessPath(field).attribute("default")
    if held is dataclasses.MISSING or gives(type(held), "__get__"):
        return None
    return inlining.default_value(lowering, held, path, field.name)


_CLASS_VARIABLE = dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]
_TO_BE_MADE = dataclasses._HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]
_INIT_ONLY = dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]


_COMPARED: dict[str, Any] = {
    f"__{op.__name__}__": op
    for op in (operator.eq, operator.lt, operator.le, operator.gt, operator.ge)
}


def is_dataclass_comparison(function: Any) -> bool:
    """Whether this is a comparison that `@dataclass` made (it has no source)."""
    return (
        isinstance(function, types.FunctionType)
        and function.__name__ in _COMPARED
        and inspect.unwrap(function).__code__.co_filename == "<string>"
    )


def compare_dataclasses(
    lowering: Lowering, node: Any, function: Any, operands: Any
) -> FrontendValue:
    """A comparison of dataclasses: that of the tuples of their fields."""
    first, second = operands
    cls: Any = class_of(first)
    if not is_object(second) or class_of(second) is not cls:
        return Static(NotImplemented)
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    sides = [
        TupleOf(tuple(object_attributes.read(lowering, node, side, n) for n in names))
        for side in operands
    ]
    return lowering.operate(node, _COMPARED[function.__name__], *sides)


def _defining_class(cls: type, function: Any) -> Any:
    for base in cls.__mro__:
        if base.__dict__.get("__init__") is function:
            return base
    raise AssertionError("a method is called on an object of its class")
