"""Special methods of the user's classes: what operators, indexing and `len` mean on objects.

Each function gives None where no special method is concerned, and the caller goes on.
"""

from __future__ import annotations

import math
import operator
from typing import Any, NoReturn

import numpy as np

from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.frontend.interface import AccessPath, Dependency
from gradscribe.frontend.kinds.number_classes import possible
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, instances
from gradscribe.frontend.structures.standard_classes import class_in_python
from gradscribe.frontend.values.values import (
    FrontendValue,
    InstanceRef,
    ObjectRef,
    Ref,
    Static,
    may_overlap,
)
from gradscribe.ir.core import Value
from gradscribe.ir.deferring import asks_right_operand
from gradscribe.ir.probing import in_class
from gradscribe.ir.types import Array, Scalar

_OPERATORS: dict[Any, str] = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.pow: "pow",
    operator.matmul: "matmul",
    operator.and_: "and",
    operator.or_: "or",
    operator.xor: "xor",
    operator.lshift: "lshift",
    operator.rshift: "rshift",
    divmod: "divmod",
}
_REFLECTED: dict[Any, tuple[str, str]] = {
    **{callee: (f"__{name}__", f"__r{name}__") for callee, name in _OPERATORS.items()},
    operator.lt: ("__lt__", "__gt__"),
    operator.gt: ("__gt__", "__lt__"),
    operator.le: ("__le__", "__ge__"),
    operator.ge: ("__ge__", "__le__"),
    operator.eq: ("__eq__", "__eq__"),
    operator.ne: ("__ne__", "__ne__"),
}
_UNARY: dict[Any, tuple[str, ...]] = {
    operator.neg: ("__neg__",),
    operator.pos: ("__pos__",),
    operator.invert: ("__invert__",),
    operator.index: ("__index__",),
    abs: ("__abs__",),
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__"),
    round: ("__round__",),
    math.floor: ("__floor__", "__float__"),
    math.ceil: ("__ceil__", "__float__"),
    math.trunc: ("__trunc__",),
}


def operate(
    lowering: Lowering, node: Any, callee: Any, operands: tuple[FrontendValue, ...]
) -> FrontendValue | None:
    """An operator of which an operand is an object, or None."""
    if not any(map(instances.has_methods, operands)):
        return None
    if len(operands) == 1 or callee is round:
        return _operate_on_one(lowering, node, callee, *operands)
    if callee is pow:
        callee = operator.pow
    if callee not in _REFLECTED or len(operands) != 2:
        return None
    first, second = operands
    name, reflected = _REFLECTED[callee]
    tries = [(first, name, second), (second, reflected, first)]
    if _is_more_special(second, first, name, reflected):
        tries.reverse()
    for receiver, special, other in tries:
        if receiver is second:
            _check_asked(lowering, node, first, second, reflected)
        result = call(lowering, node, receiver, special, other)
        if result is not None and not _is_not_implemented(result):
            return result
    if callee is operator.ne:
        same = operate(lowering, node, operator.eq, operands)
        return None if same is None else negated(lowering, node, same)
    if all(isinstance(operand, Static) for operand in operands):
        return None
    if callee is operator.eq and _by_identity(first, second) and _by_identity(second, first):
        return Static(is_same(lowering, node, first, second))
    return None


def _check_asked(
    lowering: Lowering, node: Any, first: FrontendValue, second: FrontendValue, reflected: str
) -> None:
    """Refuse an operator of NumPy's that does not ask the object on its right."""
    is_array, is_number = _of_numpy(lowering, first)
    if not (is_array or is_number):
        return
    if not (
        instances.has_methods(second)
        and class_attributes.method(lowering, second, reflected) is not None
    ):
        return  # it is not asked, and the operator is refused in any case
    cls = instances.class_of(second)
    if not asks_right_operand(cls, of_array=is_array):
        error = not_asked(cls, reflected)
        error.location = lowering.location(node)
        raise error


def not_asked(cls: type, reflected: str) -> UnsupportedError:
    """The error for an operator whose right operand NumPy does not ask."""
    return UnsupportedError(
        f"NumPy does not ask the `{reflected}` of `{cls.__name__}` here: it takes the object for "
        "an array, or combines it with each element",
        "write the object on the left, or `__array_ufunc__ = None` in its class, and NumPy asks it",
    )


def _of_numpy(lowering: Lowering, item: FrontendValue) -> tuple[bool, bool]:
    """Whether this is an array, and whether it may be a number of NumPy's."""
    if isinstance(item, Static):
        return isinstance(item.value, np.ndarray), isinstance(item.value, np.generic)
    value = lowering.load(item) if isinstance(item, Ref) else item
    if isinstance(value, Value) and isinstance(value.type, Scalar):
        return False, any(issubclass(cls, np.generic) for cls in possible(lowering, value))
    return isinstance(value, Value) and isinstance(value.type, Array), False


def _operate_on_one(
    lowering: Lowering, node: Any, callee: Any, owner: FrontendValue, *arguments: FrontendValue
) -> FrontendValue | None:
    """A function that asks its first argument; one that gives a number to go on with is called on
    that."""
    if not instances.has_methods(owner):
        return None
    if callee in (str, repr):
        return text(lowering, node, owner, callee) if isinstance(owner, Static) else None
    for name in _UNARY.get(callee, ()):
        found = call(lowering, node, owner, name, *arguments)
        if found is not None and callee.__name__.strip("_") != name.strip("_"):
            return lowering.call(node, Static(callee), (found,), {})
        if found is not None:
            return found
    return None


def text(lowering: Lowering, node: Any, item: Static, callee: Any) -> FrontendValue | None:
    """`str` or `repr` of what is known, if methods of the user's make it; else None."""
    if callee is str and in_class(type(item.value), "__str__") is not object.__str__:
        return call(lowering, node, item, "__str__")
    return call(lowering, node, item, "__repr__")


def negated(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """`not item`."""
    known = lowering.truth(item)
    if isinstance(known, bool):
        return Static(not known)
    return lowering.operate(node, operator.not_, known)


def _is_more_special(
    second: FrontendValue, first: FrontendValue, name: str, reflected: str
) -> bool:
    """Python asks the right operand first, if its class is derived from that of the left, and has
    a reflected operator of its own; comparisons are asked in any case."""
    if not (instances.has_methods(first) and instances.has_methods(second)):
        return False
    left, right = instances.class_of(first), instances.class_of(second)
    if left is right or not issubclass(right, left):
        return False
    own, inherited = (in_class(cls, reflected, None) for cls in (right, left))
    return reflected != f"__r{name[2:]}" or own is not inherited


def _is_not_implemented(item: FrontendValue | None) -> bool:
    return isinstance(item, Static) and item.value is NotImplemented


def _by_identity(item: FrontendValue, other: FrontendValue) -> bool:
    if not instances.has_methods(item):
        return isinstance(item, Static)
    if class_in_python(item) is not None:
        return isinstance(other, Static) and other.value is None  # else what it holds
    equal: Any = instances.class_of(item).__eq__
    return equal is object.__eq__


def is_same(lowering: Lowering, node: Any, first: FrontendValue, second: FrontendValue) -> bool:
    """Whether two objects are one."""
    for one, other in ((first, second), (second, first)):
        if isinstance(one, ObjectRef) and isinstance(other, Static):
            lowering.outside.meet(one, compared=True)
            return one.target is other.value
    if not (instances.is_object(first) and instances.is_object(second)):
        return False
    if isinstance(first, ObjectRef) and isinstance(second, ObjectRef):
        lowering.outside.meet(first, compared=True)
        lowering.outside.meet(second, compared=True)
        return first.target is second.target
    if isinstance(first, InstanceRef) and isinstance(second, InstanceRef):
        if first.storage is second.storage:
            return True
        if may_overlap(first.storage, second.storage):
            _refuse_unknown(lowering, node)
    path, other_path = (_place(lowering, item) for item in (first, second))
    is_alike = instances.class_of(first) is instances.class_of(second)
    if is_alike and path is not None and other_path is not None:
        # A dataclass among the inputs must not be the other object, at each call.
        key = ("other", path.place, other_path.place)
        lowering.outside.dependencies[key] = Dependency(other_path, path, "other")
    return False


def _place(lowering: Lowering, item: FrontendValue) -> AccessPath | None:
    """Where an object is found that is among the inputs, or from outside."""
    if isinstance(item, ObjectRef):
        return item.path
    return lowering.outside.objects.get(item.storage) if isinstance(item, InstanceRef) else None


def _refuse_unknown(lowering: Lowering, node: Any) -> NoReturn:
    lowering.unsupported(
        node,
        "whether these objects are one is not known when the function is compiled",
        "compare what they hold, or a number that tells them apart",
        AliasingError,
    )


def augment(
    lowering: Lowering, node: Any, callee: Any, owner: FrontendValue, item: FrontendValue
) -> FrontendValue | None:
    """What `owner op= item` binds, or None where the class has no method for it."""
    name = _OPERATORS.get(callee, "")
    result = call(lowering, node, owner, f"__i{name}__", item)
    return None if _is_not_implemented(result) else result


def call(
    lowering: Lowering, node: Any, owner: FrontendValue, name: str, *arguments: FrontendValue
) -> FrontendValue | None:
    """`owner.name(*arguments)` for a special method, or None where the class has none."""
    found = class_attributes.method(lowering, owner, name)
    return None if found is None else lowering.call(node, found, arguments, {})


def call_own(
    lowering: Lowering, node: Any, owner: FrontendValue, name: str, *arguments: FrontendValue
) -> FrontendValue:
    """The same of a class that is known to have the method."""
    found = call(lowering, node, owner, name, *arguments)
    assert found is not None
    return found
