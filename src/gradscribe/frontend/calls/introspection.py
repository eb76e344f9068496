"""Built-in functions that ask what a value is: its class, and whether it has an attribute."""

from __future__ import annotations

import abc
import collections
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradscribe.frontend.interface import AccessPath, Dependency, DependencyKind
from gradscribe.frontend.kinds import number_classes, tensors
from gradscribe.frontend.kinds.static_values import object_of
from gradscribe.frontend.memory import outside
from gradscribe.frontend.objects import object_attributes
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import attribute_prelude
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.package import TensorClass
from gradscribe.frontend.structures import class_attributes, instances, standard_classes
from gradscribe.frontend.structures.indices import as_array
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    LocalFunction,
    ObjectRef,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Value
from gradscribe.ir.probing import gives, in_class, module_of_class
from gradscribe.ir.types import BOOL, Opaque, Scalar
from gradscribe.primitives.static import is_integer, of_one_dtype
from gradscribe.primitives.users_code import is_computed_in_c


@handles(isinstance)
def _isinstance(
    lowering: Lowering, node: Any, item: FrontendValue, accepted: FrontendValue, /
) -> FrontendValue:
    if unknown.is_opaque(item):
        return unknown.emit(lowering, isinstance, (item, accepted), {}, BOOL)
    accepted = outside.opened(lowering, accepted)
    is_tuple = isinstance(accepted, (TupleOf, ObjectRef))
    classes = lowering.unpacked(node, accepted) if is_tuple else (accepted,)
    asked = tuple(object_of(lowering, node, cls) for cls in classes)
    if (around := lowering.package.tensors) is not None:
        asked, is_met = _without_dtypes(lowering, node, around, item, asked)
        if is_met:
            return Static(True)
    _refuse_deciding(lowering, node, asked)
    try:
        isinstance(None, asked)
    except TypeError as error:  # it asks for what is no class
        lowering.raises(node, error)
    found = _instances(lowering, node, item, asked)
    if len(found) > 1 and not tensors.may_be_without_axes(lowering, item):
        return unknown.emit(lowering, isinstance, (item, Static(asked)), {}, BOOL)
    return Static(_settled(lowering, node, item, found))


def _without_dtypes(
    lowering: Lowering, node: Any, known: TensorClass, item: FrontendValue, asked: tuple[Any, ...]
) -> tuple[tuple[Any, ...], bool]:
    """The classes that are asked for, but for those that ask for the dtype of a Tensor; and whether
    the item is of one of these."""
    dtypes = {cls: known.dtype_of_class(cls) for cls in asked if isinstance(cls, type)}
    wanted = {dtype for dtype in dtypes.values() if dtype is not None}
    rest = tuple(known.aliases.get(cls, cls) for cls in asked if dtypes.get(cls) is None)
    if isinstance(item, Ref) and tensors.is_tensor(lowering, item):
        return rest, getattr(lowering.load(item).type, "dtype", "") in wanted
    if wanted and is_number(item):
        tensors.refuse_class(lowering, node)
    return rest, False


def is_instance(
    lowering: Lowering, node: Any, item: FrontendValue, asked: type | tuple[type, ...]
) -> bool:
    """Whether the value will be of one of these classes at run time."""
    return _settled(lowering, node, item, _instances(lowering, node, item, asked))


def _instances(
    lowering: Lowering, node: Any, item: FrontendValue, asked: type | tuple[type, ...]
) -> set[bool]:
    """Whether objects of the classes that the value may have are of one of these classes."""
    _refuse_deciding(lowering, node, asked if isinstance(asked, tuple) else (asked,))
    refuse_other_class(lowering, node, item)
    return {is_subclass(lowering, node, cls, asked) for cls in _classes(lowering, node, item)}


def is_subclass(lowering: Lowering, node: Any, cls: Any, asked: type | tuple[type, ...]) -> bool:
    """Whether a class is derived from one of these. Which classes an abstract one counts among its
    own may change."""
    classes = asked if isinstance(asked, tuple) else (asked,)
    try:
        found = issubclass(cls, asked)
    except TypeError:  # of a protocol with attributes that are no methods
        lowering.unsupported(
            node,
            "whether an object has what a protocol asks for is known at run time only",
            "ask for its class, or for the attributes: `hasattr`",
        )
    if any(isinstance(one, abc.ABCMeta) for one in classes):
        key = (cls, "subclass", classes)
        held = Dependency(AccessPath(cls), (asked, found), "subclass")
        lowering.outside.dependencies[key] = held
    return found


def _refuse_deciding(lowering: Lowering, node: Any, asked: Iterable[Any]) -> None:
    """Refuse classes whose metaclass the user has let decide what their instances are."""
    for cls in filter(lambda one: isinstance(one, type), asked):
        if any(map(inspect.isfunction, _deciding(type(cls)))) and not _is_usual(cls):
            lowering.unsupported(
                node,
                f"`{cls.__name__}` decides itself what its instances are",
                f"ask for the class: `type(x) is {cls.__name__}`",
            )


def _deciding(metaclass: type) -> Iterator[Any]:
    yield from (in_class(metaclass, n) for n in ("__instancecheck__", "__subclasscheck__"))


def refuse_other_class(lowering: Lowering, node: Any, item: FrontendValue) -> None:
    """Refuse to ask an object for its class that says itself which one it is of."""
    if not instances.has_methods(item):
        return
    cls = instances.class_of(item)
    if in_class(cls, "__class__") is not vars(object)["__class__"]:
        lowering.unsupported(
            node,
            f"`{cls.__name__}` has a `__class__` of its own",
            f"ask for the class: `type(x) is {cls.__name__}`",
        )


def _is_usual(cls: type) -> bool:
    """Whether a class is made by one of the standard library, which asks for base classes."""
    return module_of_class(type(cls)).partition(".")[0] in ("abc", "enum", "typing", "builtins")


def refuse_of_derived(lowering: Lowering, node: Any, owner: FrontendValue, name: str) -> None:
    """Refuse to ask an argument for an attribute that lists, tuples and dicts have not: it is of a
    class derived from these, which may have it."""
    cls = _derived(owner)
    if cls is None or cls is collections.OrderedDict:
        return
    kind = next((k for k in (list, tuple) if issubclass(cls, k)), dict)
    if not gives(kind, name):
        lowering.unsupported(
            node,
            f"`{name}` may be an attribute of a class derived from {kind.__name__}",
            "read an item, as in `c['name']`, or pass an object that holds the container",
        )


def _derived(item: FrontendValue) -> type | None:
    """The class of a container, if it is derived from list, tuple or dict."""
    if isinstance(item, TupleOf):
        return item.derived
    return item.storage.derived if isinstance(item, (ListRef, DictRef)) else None


def attribute_if_there(
    lowering: Lowering, node: Any, owner: FrontendValue, name: str
) -> tuple[bool | Value, FrontendValue]:
    """Whether a value has an attribute at run time, and what it is."""
    if class_attributes.may_run_code(owner, name):
        given = (owner, Static(name))
        found = lowering.inline(node, attribute_prelude.whether_and_attribute, given)
        is_there, item = lowering.unpacked(node, found)
        return lowering.truth(is_there), item
    if not _has_attribute(lowering, node, owner, name):
        return False, Static(None)
    return True, lowering.attribute(node, owner, name)


def _has_attribute(lowering: Lowering, node: Any, item: FrontendValue, name: str) -> bool:
    """Whether the value will have an attribute, which no code has to be run for."""
    refuse_of_derived(lowering, node, item, name)
    if instances.is_object(item):
        found = object_attributes.get(lowering, node, item, name)
        object_attributes.refuse_uncertain(lowering, node, name, found)
        return found is not None
    if isinstance(item, Static):
        is_known = hasattr(item.value, name)
        if dependencies.is_watched(lowering, item.value):
            kind: DependencyKind = "present" if is_known else "absent"
            dependencies.depend(lowering, AccessPath(item.value), name, kind)
        return is_known
    if isinstance(item, ObjectRef):
        return hasattr(item.target, name)
    if isinstance(item, TupleOf) and name in field_names(item.cls):
        return True
    present = {gives(cls, name) for cls in _classes(lowering, node, item)}
    return _settled(lowering, node, item, present)


def _classes(lowering: Lowering, node: Any, item: FrontendValue) -> list[type]:
    """The classes of which the value may be: a number may be a Tensor without axes."""
    may_be_tensor = tensors.may_be_without_axes(lowering, item)
    own: list[type] = []
    if isinstance(item, Value) and isinstance(item.type, Scalar):
        own = [*number_classes.possible(lowering, item)]
    own = own or [class_of(lowering, node, item)]
    return [*own, tensors.class_of(lowering).cls] if may_be_tensor else own


def _settled(lowering: Lowering, node: Any, item: FrontendValue, found: set[bool]) -> bool:
    """What holds for all classes of which a value may be."""
    if len(found) > 1 and tensors.may_be_without_axes(lowering, item):
        tensors.refuse_class(lowering, node)
    if len(found) > 1:
        number_classes.refuse_several(lowering, node, _classes(lowering, node, item))
    return found.pop()


def known_class(lowering: Lowering, node: Any, item: FrontendValue) -> type:
    """The class that the value will have at run time, which must be known."""
    if tensors.may_be_without_axes(lowering, item):
        tensors.refuse_class(lowering, node)
    classes = _classes(lowering, node, item)
    if len(classes) > 1:
        number_classes.refuse_several(lowering, node, classes)
    return classes[0]


@handles(is_integer)
def _is_integer(lowering: Lowering, node: Any, item: FrontendValue, /) -> Static:
    """`is_integer(x)`, which library code asks of what it is given."""
    classes: Iterable[type] = ()
    if isinstance(item, Value) and isinstance(item.type, Scalar):
        classes = number_classes.search(lowering, item)
    elif isinstance(item, Static):
        classes = (type(item.value),)
    found = {issubclass(c, (int, np.integer)) for c in classes} or {False}
    if len(found) > 1:
        number_classes.refuse_several(lowering, node, classes)
    return Static(found.pop())


@handles(of_one_dtype)
def _of_one_dtype(lowering: Lowering, node: Any, item: FrontendValue, /) -> FrontendValue:
    """`of_one_dtype(x)`, which library code asks of what it is given."""
    made = as_array(lowering, node, item)
    if isinstance(made, (Value, Ref)):
        value = lowering.value(made)
        classes = number_classes.search(lowering, value)
        if len(set(map(np.dtype, classes))) > 1:
            if isinstance(value.type, Scalar):
                number_classes.refuse_several(lowering, node, classes)
            number_classes.refuse_dtype(lowering, node)
    return made


def field_names(cls: type) -> tuple[str, ...]:
    """The names of the items of a namedtuple."""
    return getattr(cls, "_fields", ())


def class_of(lowering: Lowering, node: Any, item: FrontendValue) -> type:
    """The class that the value will have at run time."""
    if isinstance(item, Static):
        return type(item.value)
    standard = standard_classes.class_in_python(item)
    if standard is not None:
        return standard
    if isinstance(item, (InstanceRef, ObjectRef)):
        return instances.class_of(item)
    derived = _derived(item)
    if derived is not None:
        return derived
    if isinstance(item, (TupleOf,)):
        return item.cls
    if tensors.is_tensor(lowering, item):
        return tensors.class_of(lowering).cls
    simple = {ListRef: list, DictRef: dict, Ref: np.ndarray}.get(type(item))
    if simple is not None:
        return simple
    if isinstance(item, Value) and isinstance(item.type, Scalar):
        return number_classes.class_of_type(item.type)
    return lowering.unsupported(
        node, "the class of this value is not known", "test what decides its class instead"
    )


@handles(hasattr)
def _hasattr(
    lowering: Lowering, node: Any, owner: FrontendValue, name: FrontendValue, /
) -> FrontendValue:
    known_name = _attribute_name(lowering, node, name)
    if _computes_in_c(owner, known_name):
        return unknown.emit(lowering, hasattr, (owner, name), {}, BOOL)
    if class_attributes.may_run_code(owner, known_name):
        return lowering.inline(node, attribute_prelude.is_there, (owner, Static(known_name)))
    return Static(_has_attribute(lowering, node, owner, known_name))


def _computes_in_c(owner: FrontendValue, name: str) -> bool:
    """Whether code in C, which may change something, is run to find out about an attribute."""
    return isinstance(owner, ObjectRef) and is_computed_in_c(in_class(type(owner.target), name))


def _attribute_name(lowering: Lowering, node: Any, item: FrontendValue) -> str:
    name = object_of(lowering, node, item)
    if not isinstance(name, str):
        what = f"attribute name must be string, not '{type(name).__name__}'"
        lowering.raises(node, TypeError(what))
    return name


@handles(getattr)
def _getattr(
    lowering: Lowering,
    node: Any,
    owner: FrontendValue,
    name: FrontendValue,
    default: FrontendValue | None = None,
    /,
) -> FrontendValue:
    known_name = _attribute_name(lowering, node, name)
    if default is not None and _computes_in_c(owner, known_name):
        return unknown.emit(lowering, getattr, (owner, name, default), {}, Opaque())
    if default is not None and class_attributes.may_run_code(owner, known_name):
        given = (owner, Static(known_name), default)
        return lowering.inline(node, attribute_prelude.attribute_or, given)
    if default is not None and not _has_attribute(lowering, node, owner, known_name):
        return default
    return lowering.attribute(node, owner, known_name)


@handles(callable)
def _callable(lowering: Lowering, node: Any, item: FrontendValue, /) -> Static:
    if isinstance(item, (BoundMethod, LocalFunction)):
        return Static(True)
    if isinstance(item, (Static, ObjectRef)):
        return Static(callable(item.value if isinstance(item, Static) else item.target))
    classes = class_of(lowering, node, item).__mro__
    return Static(any("__call__" in vars(cls) for cls in classes))


@handles(issubclass)
def _issubclass(
    lowering: Lowering, node: Any, item: FrontendValue, accepted: FrontendValue, /
) -> FrontendValue:
    given = item, accepted
    if any(map(unknown.is_opaque, given)):  # a class that is known where this runs
        return unknown.emit(lowering, issubclass, given, {}, BOOL)
    cls, asked = (object_of(lowering, node, part) for part in given)
    _refuse_deciding(lowering, node, asked if isinstance(asked, tuple) else (asked,))
    return Static(is_subclass(lowering, node, cls, asked))


@handles(type)
def _type(
    lowering: Lowering, node: Any, item: FrontendValue, /, *rest: FrontendValue, **options: Any
) -> FrontendValue:
    if len(rest) not in (0, 2) or (options and not rest):
        lowering.raises(node, TypeError("type() takes 1 or 3 arguments"))
    if rest:
        what = "`type` makes a class here"
        lowering.unsupported(node, what, "write a `class` statement, or make the class outside")
    if unknown.is_opaque(item):
        return unknown.emit(lowering, type, (item,), {}, Opaque(type))
    return Static(known_class(lowering, node, item))
