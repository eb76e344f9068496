"""Whether a function can be said as loops over scalars, and where it cannot, why not.

Numbers are 64-bit floats, 64-bit integers and truth values; arrays are read and stored element by
element, and some of NumPy's functions of whole arrays are called. Lists are lists. Integers cannot
leave their 64 bits: they are lengths, indices, and what is counted up or down.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.codegen.loops.integers import Bits
from gradscribe.codegen.loops.lists import OF_LISTS, is_joined_of_one_type, is_of_one_type
from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Function,
    Location,
    LoopShape,
    Operation,
    Value,
)
from gradscribe.ir.trees import Leaf, Node, Tree
from gradscribe.ir.types import (
    Array,
    Collected,
    Never,
    Opaque,
    Scalar,
    Sequence,
    Tuple,
    Type,
    Undefined,
)
from gradscribe.primitives.control import (
    ADD_ITEMS,
    ASSERT,
    CONSTANT,
    COPY,
    GET,
    ITEM,
    LEN,
    POP,
    PUSH,
    RAISE,
    STACK,
    STACK_POP,
    STOP_GRADIENT,
    TUPLE,
    UNDEF,
    ZEROS_LIKE,
)
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, LENGTH, SIZE, STORE
from gradscribe.primitives.registry import METHODS, PRIMITIVES


@dataclass(frozen=True)
class Refusal:
    """What cannot be said as loops, and the user's statement that it is part of."""

    what: str
    location: Location | None

    def __str__(self) -> str:
        if self.location is None or not self.location.line:
            return self.what
        return f"line {self.location.line}: {self.what}: `{self.location.statement}`"


class _RefusedError(Exception):
    def __init__(self, what: str, location: Location | None = None) -> None:
        super().__init__(what)
        self.refusal = Refusal(what, location)


_DTYPES = frozenset({"float64", "int64", "bool"})
_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_ARITHMETIC = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv),
)
_WHOLE = (operator.floordiv, operator.mod, operator.ifloordiv, operator.imod)
_LOGIC = (
    *(operator.not_, operator.and_, operator.or_, operator.xor, operator.invert),
    *(np.logical_and, np.logical_or, np.logical_not, np.bitwise_and, np.bitwise_or),
)
MATHEMATICS = (
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.atan2, math.hypot),
    *(math.sinh, math.cosh, math.tanh, math.asinh, math.acosh, math.atanh, math.exp, math.expm1),
    *(math.log, math.log1p, math.log2, math.log10, math.sqrt, math.fabs, math.copysign),
    *(math.erf, math.erfc),
)
"""Functions of `math` that have a checked one (`checked.py`)."""
_UFUNCS = (
    *(np.add, np.subtract, np.multiply, np.divide, np.negative, np.absolute, np.square),
    *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2, np.hypot),
    *(np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh, np.exp, np.expm1, np.exp2),
    *(np.log, np.log1p, np.log2, np.log10, np.sqrt, np.sign, np.maximum, np.minimum),
    *(np.floor, np.ceil, np.less, np.less_equal, np.greater, np.greater_equal, np.equal),
    *(np.not_equal, np.isnan, np.isfinite, np.isinf, np.copysign),
)
_POWERS = (operator.pow, operator.ipow, np.power, np.float_power, math.pow)
_OF_NUMBERS = frozenset(
    (*_COMPARISONS, *_ARITHMETIC, *_WHOLE, *_LOGIC, *MATHEMATICS, *_UFUNCS, *_POWERS, abs, min, max)
)
_SHAPED = frozenset(PRIMITIVES[f] for f in (np.zeros, np.ones, np.empty))
_LIKE = frozenset(
    {ZEROS_LIKE, COPY}
    | {PRIMITIVES[f] for f in (np.copy, np.zeros_like, np.ones_like, np.empty_like, np.full_like)}
)
_TO_LIST = METHODS["tolist"]
_FREE = frozenset(
    {
        *(CONSTANT, UNDEF, STOP_GRADIENT, TUPLE, ITEM, STACK, PUSH, STACK_POP, RAISE, ASSERT),
        *(LENGTH, SIZE, LEN, GET, POP, ADD_ITEMS),
    }
)
_OF_TWO_TYPES = "a list of numbers of two types"
_OF_ARRAYS = frozenset(
    PRIMITIVES[f]
    for f in (
        *(np.array, np.arange, np.linspace, np.full, np.eye, np.identity, np.diagflat),
        *(np.transpose, np.swapaxes, np.reshape, np.expand_dims, np.broadcast_to, np.flip),
        *(np.matmul, np.dot, np.outer, np.trace, np.cumsum, np.argmax, np.argmin, np.var, np.std),
        *(np.linalg.norm, np.linalg.solve, np.linalg.inv, np.linalg.cholesky, np.linalg.det),
        *(np.concatenate, np.hstack, np.vstack, np.stack, np.tril, np.triu, np.tri, np.diff),
        *(np.roll, sum, list),
    )
)
"""Functions of whole arrays and lists that native code has, or is refused when it is compiled."""


def refusal(function: Function) -> Refusal | None:
    """Why a function, as it is emitted, cannot be said as loops; None where it can."""
    try:
        for parameter in function.parameters:
            _check_tree(parameter.tree)
        _check_tree(function.result)
        if function.record:
            raise _RefusedError("a record, which is returned")
        if function.undefined:
            raise _RefusedError("an argument that may be unbound")
        for value in (*function.body.parameters, *function.body.yields):
            if isinstance(value.type, Collected):
                raise _RefusedError("a record among the arguments or results")
            if isinstance(value.type, Sequence) and not isinstance(value.type.item, Scalar):
                raise _RefusedError("a list of lists or arrays among the arguments or results")
        _check_types(function.body.parameters, None)
        _check_block(function.body, Bits(function.body.parameters))
    except _RefusedError as refused:
        return refused.refusal
    return None


def _check_tree(tree: Tree) -> None:
    """Refuse arguments and results that are no tuples of numbers and arrays."""
    if isinstance(tree, Node):
        if tree.cls is not tuple:
            raise _RefusedError(f"an argument or result of the class {tree.cls.__name__}")
        for child in tree.children:
            _check_tree(child)
    elif not isinstance(tree, Leaf):
        raise _RefusedError("a constant among the arguments or results")


def _check_types(values: Iterable[Value], location: Location | None) -> None:
    for value in values:
        _check_type(value.type, location)


def _check_type(type_: Type, location: Location | None, in_record: bool = False) -> None:
    if isinstance(type_, Scalar) and type_.dtype in _DTYPES:
        return
    if isinstance(type_, Array) and type_.dtype in _DTYPES and type_.rank:
        return
    if isinstance(type_, (Never, Undefined)) or _is_exception(type_):
        return
    if isinstance(type_, Tuple):
        for item in type_.items:
            _check_type(item, location, in_record=True)
    elif isinstance(type_, (Collected, Sequence)):
        _check_type(type_.item, location, in_record=True)
    else:
        where = " in a record" if in_record else ""
        raise _RefusedError(f"a value of the type {type_!r}{where}", location)


def _check_block(block: Block, bits: Bits) -> None:
    for operation in block.operations:
        _check_operation(operation, bits)


def _check_operation(operation: Operation, bits: Bits) -> None:
    location, primitive = operation.location, operation.primitive
    if primitive not in (PUSH, RAISE, ASSERT, CONSTANT):
        _check_types(operation.results, location)
    if primitive is CALL:
        raise _RefusedError("a call of a function that is compiled by itself", location)
    if primitive in (IF, LOOP):
        _check_regions(operation, bits)
    elif primitive in (GETITEM, STORE, ACCUMULATE):
        _check_access(operation)
    elif primitive in _LIKE:
        if not isinstance(operation.result.type, (Array, Sequence)):
            raise _RefusedError(f"`{primitive.name}` of what is no array", location)
    elif primitive in OF_LISTS:
        if not is_of_one_type(operation):
            raise _RefusedError(_OF_TWO_TYPES, location)
    elif primitive is _TO_LIST:
        if getattr(operation.operands[0].type, "rank", 0) != 1:
            raise _RefusedError("a list of the rows of an array", location)
    elif primitive in _SHAPED or primitive in _OF_ARRAYS:
        _check_shaped(operation)
    elif primitive not in _FREE:
        _check_arithmetic(operation)
    if not bits.fit(operation):
        raise _RefusedError(f"`{_name(operation)}` of integers, which may exceed 64 bits", location)


def _check_regions(operation: Operation, bits: Bits) -> None:
    if not is_joined_of_one_type(operation):
        raise _RefusedError(_OF_TWO_TYPES, operation.location)
    if operation.primitive is LOOP:
        shape: LoopShape = operation.attributes["shape"]
        bits.enter_loop(operation, shape)
    for region in operation.regions:
        _check_types(region.parameters, operation.location)
        _check_block(region, bits)


def _check_access(operation: Operation) -> None:
    """Refuse what is read or stored otherwise than element by element."""
    array, location = operation.operands[0], operation.location
    if not isinstance(array.type, Array):
        raise _RefusedError("an item of what is no array", location)
    if operation.primitive is GETITEM:
        index = operation.attributes["index"]
    else:
        path = operation.attributes["path"]
        value = operation.operands[1]
        whole = isinstance(value.type, Scalar) and len(path) == 1 and path[0][0] is GETITEM
        index = path[0][1]["index"] if whole else (None,)
        if not isinstance(index, tuple) or None in index or len(index) != array.type.rank:
            raise _RefusedError("a part of an array", location)
    items = index if isinstance(index, tuple) else (index,)
    if any(isinstance(item, bool) for item in items):
        raise _RefusedError("a part of an array", location)


def _check_shaped(operation: Operation) -> None:
    dtype = operation.attributes.get("dtype")
    if dtype is not None and np.dtype(dtype).name not in _DTYPES:
        raise _RefusedError("an array of another dtype", operation.location)


def _check_arithmetic(operation: Operation) -> None:
    callee, location = operation.callee, operation.location
    callee = operation.primitive.callee if callee is None else callee
    if _is_exception(operation.results[0].type):
        return  # which is raised, if anything
    if not _is_known(callee):
        raise _RefusedError(f"`{_name(operation)}`", location)
    operands = [operand.type for operand in operation.operands]
    if not all(isinstance(type_, Scalar) for type_ in operands):
        raise _RefusedError(f"`{_name(operation)}` of arrays", location)


def _is_exception(type_: Type) -> bool:
    cls = type_.cls if isinstance(type_, Opaque) else None
    return cls is not None and issubclass(cls, BaseException)


def _is_known(callee: Any) -> bool:
    try:
        return callee in _OF_NUMBERS
    except TypeError:
        return False


def _name(operation: Operation) -> str:
    callee = operation.callee if operation.callee is not None else operation.primitive.callee
    return str(
        getattr(callee, "__name__", None) or getattr(callee, "name", operation.primitive.name)
    )
