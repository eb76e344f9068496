"""How errors speak of the user's program: operations by the signs and names that stand there,
operands by what they are in the specializing call."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Items
from typing import Any

from gradscribe.frontend.values.values import (
    DictRef,
    FlatRef,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Primitive, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Array, Sequence, Tuple, Type
from gradscribe.primitives.control import GET, SET
from gradscribe.primitives.indexing import ACCUMULATE, GATHER, GETITEM, STORE
from gradscribe.primitives.lists import DELETE, INSERT, ORDER, REPEAT

_SIGNS = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.neg: "-",
    operator.pos: "+",
    operator.invert: "~",
    operator.not_: "not",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
    operator.contains: "in",
}
_STATEMENTS = {
    GETITEM: "this index",
    GATHER: "this index",
    STORE: "this store",
    ACCUMULATE: "this store",
    ORDER: "this sort",
    GET: "this index",
    SET: "this store",
    INSERT: "this insertion",
    DELETE: "this deletion",
    REPEAT: "this repetition",
}
_OTHERS = {
    Ref: "an array",
    FlatRef: "an array",
    ListRef: "a list",
    TupleOf: "a tuple",
    DictRef: "a dict",
}


def operation(primitive: Primitive, callee: Any) -> str:
    """What an operation is called in the user's source."""
    callee = primitive.callee if callee is None else callee
    return _STATEMENTS.get(primitive) or f"`{name_of(callee, primitive.name)}`"


def name_of(callee: Any, otherwise: str = "") -> str:
    """The sign of an operator, the name of a function or method."""
    try:
        sign = _SIGNS.get(callee)
    except TypeError:  # a callee that is not hashable
        sign = None
    named: str = probe(callee, "__name__") or probe(callee, "name") or otherwise
    return sign or named or str(callee)


def operands(facts: Facts, items: Iterable[FrontendValue]) -> str:
    """What the values among these are, as in "float64 of shape (4,) and int"."""
    return _list_of([_described(facts, item) for item in items])


def _list_of(shown: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def values_in(arguments: Any) -> list[Value]:
    """The IR values in a tree of arguments."""
    if isinstance(arguments, Value):
        return [arguments]
    if isinstance(arguments, Mapping):
        arguments = arguments.values()
    elif not isinstance(arguments, (tuple, list)):
        return []
    return [value for item in arguments for value in values_in(item)]


def quoted(name: str, otherwise: str = "an array") -> str:
    """A name as it is shown, or what is said of what has none."""
    return f"`{name}`" if name else otherwise


def near(name: str, names: Iterable[str]) -> str:
    """Advice for a name that is not there: the one that may be meant."""
    found = difflib.get_close_matches(name, list(names), 1)
    return f"perhaps `{found[0]}` is meant" if found else "use an attribute that it has"


def _described(facts: Facts, item: FrontendValue) -> str:
    if isinstance(item, Value):
        return _type(facts, item.type)
    if isinstance(item, Static):
        known = item.value
        return repr(known) if known is None or isinstance(known, str) else type(known).__name__
    return _OTHERS.get(type(item), "an object")


def _type(facts: Facts, type_: Type) -> str:
    if isinstance(type_, Array):
        return f"{type_.dtype} of shape {shape(facts, type_.dims)}"
    if isinstance(type_, Sequence):
        return f"a list of {_type(facts, type_.item)}"
    if isinstance(type_, Tuple):
        return f"a tuple of {_list_of([_type(facts, item) for item in type_.items])}"
    return repr(type_).partition("(")[0]


def shape(facts: Facts, dims: Items[Affine]) -> str:
    """Lengths as Python shows a shape."""
    return f"({', '.join(map(facts.shown, dims))}{',' if len(dims) == 1 else ''})"


_DESCRIPTIONS = {
    "Unbound": "unbound name",
    "DictRef": "dict",
    "BoundMethod": "method",
    "LocalFunction": "function",
    "Iteration": "iterator",
    "Rest": "iterator",
    "OneShot": "iterator",
    "Manager": "context manager",
    "ObjectRef": "object",
    "InstanceRef": "object",
    "PartialOf": "function",
    "Super": "object",
}


def kind(item: FrontendValue) -> str:
    """What a value of the frontend is called that is no run-time value."""
    names = [cls.__name__ for cls in type(item).__mro__]
    return next((_DESCRIPTIONS[name] for name in names if name in _DESCRIPTIONS), names[0])
