"""Which values of a program are Tensors to it: whose meaning their methods have.

Compiled code is given arrays and numbers; a method means what it means for the object that the
caller has passed. The class itself is entered by the layers above.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from gradscribe.errors import AliasingError
from gradscribe.frontend.kinds.presence import sources
from gradscribe.frontend.state.flow import flowing
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.package import TensorClass
from gradscribe.frontend.values.values import (
    Cell,
    FrontendValue,
    Ref,
    Storage,
    is_number,
    scalar_type,
)
from gradscribe.ir.core import LOOP, Value, walk
from gradscribe.ir.flow import Loop
from gradscribe.ir.probing import gives
from gradscribe.ir.types import Array, Opaque, Scalar
from gradscribe.primitives import lists
from gradscribe.primitives.control import ITEM, TUPLE, UNDEF
from gradscribe.primitives.indexing import GETITEM
from gradscribe.primitives.registry import METHODS


def given(
    lowering: Lowering,
    node: Any,
    function: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> tuple[tuple[FrontendValue, ...], dict[str, FrontendValue]]:
    """The arguments of a call: Tensors, where a program calls a function over Tensors."""
    tensors = lowering.package.tensors
    if tensors is None or not _is_over_tensors(tensors, function):
        return arguments, keywords
    if _is_over_tensors(tensors, lowering.frame.function):
        return arguments, keywords
    as_tensor = tensors.as_tensor
    return (
        tuple(as_tensor(lowering, node, item) for item in arguments),
        {name: as_tensor(lowering, node, item) for name, item in keywords.items()},
    )


def unwrapped(
    lowering: Lowering, node: Any, callee: Any, keywords: dict[str, FrontendValue]
) -> tuple[Any, dict[str, FrontendValue]] | None:
    """The function that one of this package's calls, with its keyword arguments; None for any other
    function."""
    known = lowering.package.tensors
    inner = vars(callee).get("__gradscribe_function__") if inspect.isfunction(callee) else None
    if known is None or not inspect.isfunction(inner):
        return None
    return inner, known.own_keywords(lowering, node, inner, keywords)


def _is_over_tensors(tensors: TensorClass, function: Any) -> bool:
    module = function.__module__ or ""
    return not module.startswith(tensors.over_arrays) and module.startswith(tensors.over_tensors)


def promoted(
    lowering: Lowering, node: Any, operator: Any, *operands: FrontendValue
) -> tuple[FrontendValue, ...]:
    """The operands of an operator, with PyTorch's promotion of dtypes where one is a Tensor."""
    tensors = lowering.package.tensors
    promotion = None if tensors is None else tensors.promotions.get(operator)
    if promotion is None or not any(is_tensor(lowering, operand) for operand in operands):
        return operands
    items: tuple[FrontendValue, ...] = promotion(lowering, node, *operands).items
    return items


_AGREEING = frozenset(
    {"all", "any", "argmax", "argmin", "clip", "conj", "cumprod", "cumsum", "diagonal", "dot"}
    | {"flatten", "item", "mean", "prod", "ravel", "reshape", "round", "squeeze", "sum"}
    | {"swapaxes", "tolist", "trace"}
)
"""Methods that Tensors and arrays both have, with one meaning."""


def agrees(name: str, arguments: tuple[object, ...], cls: type) -> bool:
    """Whether a method means the same for an array and for a Tensor, of this class: it does where
    that does not have it, and there means NumPy's."""
    if name in ("max", "min"):
        return not arguments
    return name in _AGREEING or (gives(np.ndarray, name) and not gives(cls, name))


def is_tensor(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is an array whose methods are Tensor's (never so inside of rules)."""
    return lowering.package.tensors is not None and spelling_of(lowering, item) == "tensor"


def spelling_of(lowering: Lowering, item: FrontendValue) -> str:
    """Whose meaning the methods of a value have; inside of rules, always NumPy's."""
    if not isinstance(item, Ref) or not _knows_tensors(lowering):
        return "numpy"
    type_ = lowering.load(item).type
    return type_.spelling if isinstance(type_, Array) else "numpy"


def _knows_tensors(lowering: Lowering) -> bool:
    """Whether methods may be Tensor's in the function that is being lowered."""
    tensors = lowering.package.tensors
    if tensors is None or lowering.capture is None:
        return False
    return not (lowering.frame.function.__module__ or "").startswith(tensors.over_arrays)


def may_be_without_axes(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether a number of the user's program may be a Tensor without axes: one of Python's is none.
    The package's own functions take both."""
    type_ = scalar_type(item)
    if type_ is None or type_.weak:
        return False
    is_of_user = lowering.frame.called_at is None
    return lowering.has_tensors and is_of_user and _knows_tensors(lowering)


def on_paths(lowering: Lowering, item: FrontendValue) -> frozenset[bool]:
    """Whether an array or a number is a Tensor to the program, on each path that it comes by."""
    if not isinstance(item, Value) or not (lowering.has_tensors and _knows_tensors(lowering)):
        return frozenset({is_tensor(lowering, item)})
    return _Kinds(lowering).settled(item)


class _Kinds:
    """Whether values are Tensors, and the items of lists; in rounds, as a loop hands on what it has
    found to its next iteration. Of Python's numbers nothing is found: on one path they may be what
    a Tensor is on another, but they have no methods of Tensors.

    carried: of the parameters of loops that have been lowered, where their values are from.
    """

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._found: dict[Value, frozenset[bool]] = {}
        self._seen: set[Value] = set()
        self._carried: dict[Value, tuple[Value, ...]] = {}

    def settled(self, value: Value) -> frozenset[bool]:
        while True:
            before = dict(self._found)
            self._seen.clear()
            found = self._of(value)
            if self._found == before:
                return found

    def _of(self, value: Value) -> frozenset[bool]:
        if value not in self._seen:
            self._seen.add(value)
            known = self._found.get(value, frozenset())
            self._found[value] = known | self._of_new(value)
        return self._found.get(value, frozenset())

    def _of_any(self, values: Sequence[Value]) -> frozenset[bool]:
        return frozenset[bool]().union(*map(self._of, values))

    def _of_new(self, value: Value) -> frozenset[bool]:
        if isinstance(value.type, Array):
            spelling = value.type.spelling
            return frozenset({spelling != "numpy", spelling == "tensor"})
        if _is_of_python(value):
            return frozenset()
        made = self._lowering.builder.definition(value)
        if made is not None and (made.primitive in _HANDING_ON or made.callee in (min, max)):
            return self._of_any(made.operands)
        if made is not None and made.primitive is LOOP:
            for carried in Loop(made).carried:
                self._carried[carried.parameter] = carried.initial, carried.following
        handed_on = self._carried.get(value) or tuple(flowing(self._lowering, value))
        if handed_on:
            return self._of_any(handed_on)
        if made is None:
            return frozenset({value in self._lowering.of_tensors})
        given = [frozenset({False}) if _is_of_python(o) else self._of(o) for o in made.operands]
        found = {True} if any(True in kinds for kinds in given) else set[bool]()
        return frozenset(found | {False} if all(False in kinds for kinds in given) else found)


_HANDING_ON = lists.OPERATIONS | {TUPLE, ITEM, UNDEF}
"""Operations that hold, or give, the very object that they are given, if any."""


def _is_of_python(value: Value) -> bool:
    return isinstance(value.type, Opaque) or getattr(value.type, "weak", False)


def refuse_class(lowering: Lowering, node: Any) -> NoReturn:
    """Refuse what depends on whether a number is a Tensor without axes."""
    lowering.unsupported(
        node, "the class of a Tensor without axes, which is a number here", "ask for its dtype"
    )


def dtype_of(lowering: Lowering, item: FrontendValue, name: str) -> Any:
    """`item.dtype`: that of Tensors prints as in PyTorch."""
    dtype = np.dtype(name)
    if is_tensor(lowering, item) or may_be_without_axes(lowering, item):
        return class_of(lowering).dtype_of(dtype)
    return dtype


def refuse_shared_number(
    lowering: Lowering, node: Any, item: FrontendValue, owner: FrontendValue | None
) -> None:
    """Before `name op= value`, or `owner[place] op= value`, on a number: a Tensor without axes is
    changed in place, and with it every other name of it, or the Tensor that it is an element of.
    Numbers are not."""
    if not (isinstance(item, Value) and _knows_tensors(lowering)):
        return
    lowering.changes.augmented.add(_first(lowering, item))
    made, computed_of = lowering.builder.definition(item), _computed_of(lowering, item)
    shared = _shared_by(lowering, node.target, item, getattr(owner, "storage", None))
    if made is not None and made.primitive is GETITEM:
        shared = shared or "the Tensor that it is an element of"
    if shared and _is_of_tensors(item, computed_of):
        _refuse_shared(lowering, node, shared)
    if shared:
        lowering.changes.augmented |= {value for value in computed_of if is_number(value)}


def _refuse_shared(lowering: Lowering, node: Any, shared: str) -> None:
    lowering.unsupported(
        node,
        f"for Tensors this changes {shared}, too, but not for arrays",
        "assign a new number with a plain `=`, or store into the element itself",
        AliasingError,
    )


def refuse_numbers_shared_by_iterations(
    lowering: Lowering, node: Any, parameters: Sequence[Value], carried: Sequence[Value]
) -> None:
    """After the body of a loop: a number that `op=` changes, and that another name stands for when
    the next iteration begins. parameters, carried: what the body is given, and what it gives."""
    if not _knows_tensors(lowering):
        return
    for parameter, value in zip(parameters, carried, strict=True):
        if not is_number(value) or _first(lowering, parameter) not in lowering.changes.augmented:
            continue
        if not _is_of_tensors(value, _computed_of(lowering, value)):
            continue
        origins = _origins(lowering, value)
        for other, given in zip(parameters, carried, strict=True):
            if other is not parameter and not origins.isdisjoint(_origins(lowering, given)):
                _refuse_shared(lowering, node, f"`{other.name}`" if other.name else "what holds it")


def _shared_by(lowering: Lowering, target: Any, item: Value, owner: Storage | None) -> str:
    """What else holds a number than the name, attribute or container under which it is changed, or
    nothing."""
    origins = _origins(lowering, item)
    for frame in lowering.frames:
        for other, value in frame.names.items():
            is_target = frame is lowering.frame and other == getattr(target, "id", "")
            if is_target or not isinstance(value, Value):
                continue
            is_live = frame.is_read_later(other, innermost=frame is lowering.frame)
            if is_live and not origins.isdisjoint(_origins(lowering, value)):
                return f"`{other}`"
    for storage, contents in lowering.contents.items():
        below = contents if isinstance(contents, dict) else {}
        held = contents if isinstance(contents, tuple) else below.values()
        is_target = isinstance(storage, Cell) and storage.name == getattr(target, "attr", "")
        if any(value is item for value in held) and not is_target and storage is not owner:
            return f"`{storage.name}`" if storage.name else "what holds it"
    return ""


def _is_of_tensors(item: Value, sources: set[Value]) -> bool:
    """Whether a number is certain to be a Tensor where arrays are: Python's own numbers are not."""
    is_python = isinstance(item.type, Scalar) and item.type.weak
    types = (value.type for value in sources)
    return not is_python and any(isinstance(t, Array) and t.spelling == "tensor" for t in types)


def _computed_of(lowering: Lowering, item: Value) -> set[Value]:
    """A number, and the values that it is computed of: where one of them is given as a Tensor, it
    is a Tensor, too."""
    pending, found = [item], set[Value]()
    while pending:
        value = _first(lowering, pending.pop())
        made = lowering.builder.definition(value)
        if value not in found and made is not None:
            inside = (below for region in made.regions for below in walk(region))
            pending += [operand for step in (made, *inside) for operand in step.operands]
        found.add(value)
    return found


def refuse_index(
    lowering: Lowering, node: Any, owner: FrontendValue, items: tuple[Any, ...]
) -> None:
    """Refuse an index with arrays that means one thing for arrays and another for Tensors."""
    if not is_tensor(lowering, owner):
        return
    kinds = "".join(map(_kind_of_item, items))
    if "b" in kinds:
        what, advice = "an array of bytes is a mask for Tensors", "convert it with `.bool()`"
    elif kinds == "l":
        what, advice = (
            "a list of lists indexes each axis of Tensors",
            "make it an array, or a tuple",
        )
    elif "i" in kinds and re.search("[ail][ns]+[ail]", kinds):
        what, advice = "an integer selects before arrays index Tensors", "write `x[i][:, indices]`"
    else:
        return
    lowering.unsupported(node, f"{what}, but not arrays", advice)


def _kind_of_item(item: Any) -> str:
    """A letter for an item of an index: integer, slice, new axis, array, bytes, list of lists."""
    if isinstance(item, Value):
        if not isinstance(item.type, Array):
            return "i" if isinstance(item.type, Scalar) else "a"
        return "b" if item.type.dtype == "uint8" and item.type.rank else "a"
    if isinstance(item, list):
        return "l" if any(isinstance(below, list) for below in item) else "a"
    return "i" if isinstance(item, int) else "n" if item is None else "s"


def _first(lowering: Lowering, item: Value) -> Value:
    """What a carried value is in the first iteration."""
    while item in lowering.loops.carried and lowering.loops.carried[item][2] is not item:
        item = lowering.loops.carried[item][2]
    return item


def _origins(lowering: Lowering, item: Value) -> set[Value]:
    """The values that a number may be the very object of: it is one of them on each path."""
    pending, found = [item], set[Value]()
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += [source for source in sources(lowering, value) if source is not None]
    return found


def attribute_of(lowering: Lowering, item: FrontendValue, name: str) -> Any:
    """What Tensor has under a name, if it means that for this value: always for Tensors; for
    numbers, which may be Tensors without axes, where NumPy's numbers have nothing."""
    number = is_number(item) and (name not in METHODS or name == "size")
    number = number and _knows_tensors(lowering) and not _is_of_numbers(lowering, item, name)
    if not (number or is_tensor(lowering, item)):
        return None
    return inspect.getattr_static(class_of(lowering).cls, name, None)


def _is_of_numbers(lowering: Lowering, item: FrontendValue, name: str) -> bool:
    """Whether a number is asked for what means something else of a Tensor, and is surely none."""
    if lowering.frame.called_at is not None or may_be_without_axes(lowering, item):
        return False
    type_ = scalar_type(item)
    if type_ is None or not type_.weak:
        return name in _OF_NUMBERS
    return gives(type(np.zeros((), type_.dtype).item()), name)


_OF_NUMBERS = frozenset({"__array__", "data", "device"})


def class_of(lowering: Lowering) -> TensorClass:
    """The class of Tensors, where one has come in."""
    assert lowering.package.tensors is not None
    return lowering.package.tensors
