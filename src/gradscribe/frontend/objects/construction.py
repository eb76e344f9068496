"""Objects that the function makes: calls of classes, and the methods that `object` itself has."""

from __future__ import annotations

import inspect
import types
from typing import Any

from gradscribe.frontend.objects.object_stores import store_plainly
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.class_attributes import depend_on_class
from gradscribe.frontend.structures.instances import Object, new_instance, set_attribute
from gradscribe.frontend.values.values import FrontendValue, InstanceRef, Static
from gradscribe.ir.probing import in_class, module_of_class, probe


def can_instantiate(cls: Any) -> bool:
    """Whether objects of a class are nothing but their attributes."""
    if cls is types.SimpleNamespace:
        return True
    if not isinstance(cls, type) or type(cls).__call__ is not type.__call__:
        return False
    if any(base.__flags__ & _IS_IMMUTABLE for base in cls.__mro__[:-1]):
        return False
    is_heap_type, new = bool(cls.__flags__ & (1 << 9)), probe(cls, "__new__")
    return is_heap_type and new is object.__new__ and module_of_class(cls) != "builtins"


_IS_IMMUTABLE = 1 << 8
"""The flag of classes that are made in C."""


def instantiate(
    lowering: Lowering,
    node: Any,
    cls: type,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> InstanceRef:
    """`cls(*arguments, **keywords)`."""
    if inspect.isabstract(cls):
        lowering.unsupported(
            node, f"`{cls.__name__}` is abstract", "make one of a subclass", python=TypeError
        )
    if in_class(cls, "__del__", None) is not None:
        lowering.unsupported(
            node,
            f"`{cls.__name__}` has a `__del__`, which runs when nobody has its object any more",
            "call what it does, by a method of another name",
        )
    owner = new_instance(lowering, cls, {})
    if cls is types.SimpleNamespace:
        for name, item in keywords.items():
            set_attribute(lowering, owner, name, item)
        return owner
    initialize = in_class(cls, "__init__")
    depend_on_class(lowering, cls, "__init__", initialize)
    if initialize is object.__init__:
        if arguments or keywords:
            lowering.unsupported(
                node,
                f"`{cls.__name__}()` takes no arguments",
                "leave the arguments out, or give the class an `__init__`",
                python=TypeError,
            )
        return owner
    lowering.call(node, Static(initialize), (owner, *arguments), keywords)
    return owner


def call_builtin_method(
    lowering: Lowering,
    node: Any,
    owner: Object,
    name: str,
    arguments: tuple[FrontendValue, ...],
) -> Static:
    """A method that an object has from `object` itself."""
    if name == "__init__" and not arguments:
        return Static(None)
    if name == "__setattr__" and isinstance(arguments[0], Static):
        store_plainly(lowering, node, owner, arguments[0].value, arguments[1])
        return Static(None)
    return lowering.unsupported(
        node,
        f"the method `{name}` of this object is not supported",
        "define it in the class",
    )
