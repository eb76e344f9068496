"""Type rules shared by the families of primitives.

A type rule is called as `rule(facts, callee, **arguments)`, the arguments being those of the
operation with types in place of values, and returns the result's type. Dtypes are asked of
NumPy itself, by running the callee on arrays of one element.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Method
from gradscribe.ir.lengths import Facts
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Array, Opaque, Scalar, Sequence, Tuple, Type

ONE = Affine((), 1)


class TypeRuleError(TypeError):
    """The operands do not fit the operation; the text says how. advice: what to write instead."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.advice = advice


def elementwise_type(facts: Facts, callee: Any, **operands: Any) -> Type:
    """Dims broadcast; the dtype, and whether it is a Python or NumPy scalar, is the callee's.

    Operands are types or static numbers; an optional one at the end that is None is left out.
    """
    items = [number_type(operand) for operand in operands.values()]
    while items and items[-1] is None:
        items.pop()
    types = tuple(item for item in items if isinstance(item, Type))
    for type_ in types:
        dims_of(type_)
    if probe(callee, "__module__", "") == "math":
        name = callee.__name__
        refuse_arrays(types, f"for arrays use `np.{name}`" if hasattr(np, name) else "")
    result = result_of(callee, *items)
    if isinstance(result, Array):
        return like_first(result, facts.broadcast(dims_of(t) for t in types), *types)
    if isinstance(callee, np.ufunc) and isinstance(result, Scalar) and result.weak:
        raise TypeRuleError(
            "of what is no number NumPy computes with Python's objects, and may return one of them",
            "give it numbers and arrays",
        )
    return integer_value(facts, callee, types, result)


def conversion_type(facts: Facts, callee: Any, x: Any) -> Type:
    """`float(x)`, `int(x)`, `x.item()`: of a number, or of an array of rank 0."""
    x = number_type(x)
    is_method = isinstance(callee, Method)
    refuse_arrays((x,), "" if is_method else f"convert an array by `.astype({callee.__name__})`")
    return elementwise_type(facts, callee, x=x)


def refuse_arrays(operands: Iterable[Any], advice: str) -> None:
    """Refuse arrays that have axes as operands of Python's own operations on numbers."""
    if any(map(dims_of, operands)):
        raise TypeRuleError("it takes numbers, not arrays", advice)


def like_first(result: Type, dims: tuple[Affine, ...], *operands: Any) -> Array:
    """An array of result's dtype with these dims, in the module of the first array operand; a
    Tensor's if any operand is one."""
    assert isinstance(result, Array)
    arrays = [operand for operand in operands if isinstance(operand, Array)]
    if not arrays:
        return Array(result.dtype, dims)
    spellings = {array.spelling for array in arrays}
    spelling = next((s for s in ("tensor", "either") if s in spellings), "numpy")
    return Array(result.dtype, dims, arrays[0].module, spelling)


def result_of(callee: Any, *operands: Any, **static: Any) -> Type:
    """The type, without lengths, of callee's result for operands of these types.

    callee: a function, or a `Method` of the first operand. Operands that are no types, and
    keywords, are passed to it as they are; keywords that are None or False are left out.
    """
    keywords = [(k, hashable(v)) for k, v in static.items() if v is not None and v is not False]
    return _run(callee, tuple(_erase(operand) for operand in operands), tuple(keywords))


def number_type(operand: Any, with_value: bool = True) -> Any:
    """The type of a static number; whatever is none stays as it is."""
    if not isinstance(operand, (bool, int, float, complex, np.generic)):
        return operand
    type_ = type_of(operand)
    if with_value and isinstance(type_, Scalar) and np.dtype(type_.dtype).kind in "iu":
        return Scalar(type_.dtype, type_.weak, Affine.of(int(operand.real)))
    return type_


_NO_NUMBERS = (list, tuple, dict, set, frozenset, str, slice)


def dims_of(operand: Any) -> tuple[Affine, ...]:
    """The lengths of the axes of an operand: none for numbers."""
    if isinstance(operand, Array):
        return operand.dims
    _refuse_opaque(operand)
    is_no_number = isinstance(operand, Type) and not isinstance(operand, Scalar)
    if is_no_number or isinstance(operand, _NO_NUMBERS):
        raise TypeRuleError("expected a number or an array")
    return ()


def _refuse_opaque(operand: Any) -> None:
    if isinstance(operand, Opaque):
        raise TypeRuleError("expected a number or an array")


def matrix_dims(operand: Any) -> tuple[Affine, ...]:
    """The lengths of the axes of a matrix, or of a stack of matrices."""
    dims = dims_of(operand)
    if len(dims) < 2:
        raise TypeRuleError("expected a matrix or a stack of matrices")
    return dims


def vector_length(operand: Any) -> Affine:
    """The length of an array of one axis."""
    dims = dims_of(operand)
    if len(dims) != 1:
        raise TypeRuleError("expected arrays of one axis")
    return dims[0]


def row_type(x: Type) -> Type:
    """The type of each item of an array, as a loop over it gives them."""
    if not isinstance(x, Array) or not x.rank:
        raise TypeRuleError(
            "an array without axes has no items", "use the array itself, or `np.atleast_1d`"
        )
    return replace(x, dims=x.dims[1:]) if x.rank > 1 else Scalar(x.dtype, weak=False)


def product(facts: Facts, lengths: Iterable[Affine]) -> Affine:
    """The product of lengths; unknown, but the same for the same lengths, where not affine."""
    factor = 1
    others: list[Affine] = []
    for length in map(facts.normalize, lengths):
        if length.known is None:
            others.append(length)
        else:
            factor *= length.known
    if factor == 0 or not others:
        return Affine.of(factor)
    whole = others[0] if len(others) == 1 else facts.multiplied(*others)
    return whole * factor


def unknown_length() -> Affine:
    """A length of which nothing is known: not even that it is that of a like operation."""
    return Affine.of(Symbol("length"))


def same_length(facts: Facts, a: Affine, b: Affine, what: str) -> None:
    """Take note that two lengths are equal because the operation demands it."""
    equal = facts.equal(a, b)
    if equal is False:
        raise TypeRuleError(f"{what}: {facts.shown(a)} and {facts.shown(b)} differ")
    if equal is None:
        facts.assume_equal(a, b)


def normalize_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes that `axis` names (None: all), non-negative; an AxisError is a TypeRuleError."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    for a in axes:
        if not isinstance(a, (int, np.integer)):
            raise TypeRuleError(
                "axis must be known when the function is compiled", "write it as a literal"
            )
        if not -rank <= a < rank:
            raise TypeRuleError(f"axis {a} is out of bounds for an array of {rank} dimensions")
    return tuple(int(a) % rank for a in axes)


def length_of(item: Any) -> Affine:
    """The length that an integer (static, or an integer type) stands for."""
    if isinstance(item, Type):
        if not isinstance(item, Scalar) or np.dtype(item.dtype).kind not in "iu":
            raise TypeRuleError("expected an integer")
        return item.value if item.value is not None else Affine.of(Symbol("n"))
    try:
        return Affine.of(operator.index(item))
    except TypeError:
        raise TypeRuleError(f"expected an integer, got {item!r}") from None


def shape_dims(shape: Any) -> tuple[Affine, ...]:
    """The dims for a shape argument: an integer or a tuple of integers."""
    if isinstance(shape, Tuple):
        shape = shape.items
    items: Iterable[Any] = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(length_of(item) for item in items)


def integer_value(facts: Facts, callee: Any, operands: tuple[Type, ...], result: Type) -> Type:
    """A scalar result with what is known of its integer value."""
    if not isinstance(result, Scalar) or np.dtype(result.dtype).kind not in "iu":
        return result
    values = [o.value if isinstance(o, Scalar) else None for o in operands]
    if any(value is None for value in values):
        return result
    rule = _AFFINE.get(callee)
    value = None if rule is None else rule(facts, *values)
    is_kept = value is not None and (result.weak or _fits(value, result.dtype))
    return Scalar(result.dtype, result.weak, value if is_kept else None)


def _fits(value: Affine, dtype: str) -> bool:
    """Whether a value is what NumPy computes in a dtype, in which it may wrap around. (Lengths are
    less than what int64 holds.)"""
    if value.known is None:
        return dtype == "int64"
    bounds = np.iinfo(dtype)
    return bool(bounds.min <= value.known <= bounds.max)


def _multiply(facts: Facts, a: Affine, b: Affine) -> Affine:
    if a.known is not None:
        return b * a.known
    return a * b.known if b.known is not None else facts.multiplied(a, b)


def _floor_divide(facts: Facts, a: Affine, b: Affine) -> Affine | None:
    if a.known is not None and b.known:
        return Affine.of(a.known // b.known)
    return facts.quotient(a, b.known) if b.known is not None and b.known > 0 else None


def _remainder(facts: Facts, a: Affine, b: Affine) -> Affine | None:
    quotient = _floor_divide(facts, a, b)
    return None if quotient is None or b.known is None else a - quotient * b.known


def _absolute(facts: Facts, a: Affine) -> Affine:
    return facts.maximum(a, -a)


_AFFINE: dict[Any, Callable[..., Affine | None]] = {
    operator.add: lambda facts, a, b: a + b,
    operator.sub: lambda facts, a, b: a - b,
    operator.mul: _multiply,
    operator.floordiv: _floor_divide,
    operator.mod: _remainder,
    operator.neg: lambda facts, a: -a,
    operator.pos: lambda facts, a: a,
    abs: _absolute,
    min: lambda facts, first, *others: functools.reduce(facts.minimum, others, first),
    max: lambda facts, first, *others: functools.reduce(facts.maximum, others, first),
    int: lambda facts, a: a,
}


def hashable(item: Any) -> Any:
    """An item whose lists, at any depth, are tuples."""
    return tuple(map(hashable, item)) if isinstance(item, (tuple, list)) else item


def _erase(operand: Any) -> Any:
    """An operand without its lengths: what the dtype of a result can depend on."""
    _refuse_opaque(operand)
    if isinstance(operand, Type):
        return _without_lengths(operand)
    if isinstance(operand, (tuple, list)):
        return tuple(map(_erase, operand))
    return number_type(operand, with_value=False)


@functools.lru_cache(maxsize=4096)
def _without_lengths(type_: Type) -> Type:
    if isinstance(type_, Array):
        return Array(type_.dtype, (ONE,) * type_.rank)
    if isinstance(type_, Scalar):
        return Scalar(type_.dtype, type_.weak)
    if isinstance(type_, Sequence):
        return Sequence(_without_lengths(type_.item))
    if isinstance(type_, Tuple):
        return Tuple(tuple(map(_without_lengths, type_.items)))
    return type_


@functools.lru_cache(maxsize=4096)
def _run(callee: Any, operands: tuple[Any, ...], keywords: tuple[tuple[str, Any], ...]) -> Type:
    """Run callee on samples of the types; of two tries, one is in every function's domain."""
    problem = ""
    for value in (1.0, 0.5):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                samples = [_sample(operand, value) for operand in operands]
                return type_of(call(callee, *samples, **dict(keywords)))
        except TypeRuleError:
            raise
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            problem = str(error)
        except (TypeError, AttributeError) as error:
            raise TypeRuleError(str(error)) from None
    raise TypeRuleError(problem)


def call(callee: Any, *arguments: Any, **keywords: Any) -> Any:
    """callee(*arguments), a `Method` being one, or an attribute, of the first argument."""
    if isinstance(callee, Method):
        attribute = getattr(arguments[0], callee.name)
        return attribute(*arguments[1:], **keywords) if callable(attribute) else attribute
    return callee(*arguments, **keywords)


def _sample(operand: Any, value: float) -> Any:
    if isinstance(operand, Array):
        return np.full((1,) * operand.rank, value).astype(operand.dtype)
    if isinstance(operand, Sequence):
        return [_sample(operand.item, value)]
    if isinstance(operand, Tuple):
        return tuple(_sample(item, value) for item in operand.items)
    if isinstance(operand, tuple):
        return tuple(_sample(item, value) for item in operand)
    if not isinstance(operand, Scalar):
        return operand
    dtype = np.dtype(operand.dtype)
    number = value if dtype.kind in "fc" else 1 / value  # 1, then 2, where 0.5 would be 0
    if not operand.weak:
        return dtype.type(number)
    return {"b": bool, "i": int, "f": float, "c": complex}[dtype.kind](number)


def numeric(dtype: Any) -> str:
    """The name of a dtype, which has to be one of numbers."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufc":
        raise TypeRuleError(
            f"what it returns has dtype {dtype}, which is not a numeric one",
            "compute with numbers, or call it outside and pass the result in",
        )
    if not dtype.isnative:
        raise TypeRuleError(
            f"what it returns has dtype {dtype.str}, of another byte order than this machine's",
            "convert it outside, where it is written or read",
        )
    return str(dtype.name)


def type_of(value: Any) -> Type:
    """The type of a number or array (lengths as constants)."""
    if isinstance(value, np.ndarray):
        return Array(numeric(value.dtype), tuple(Affine.of(n) for n in value.shape))
    if isinstance(value, np.generic):
        return Scalar(numeric(value.dtype), weak=False)
    for cls, name in ((bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")):
        if isinstance(value, cls):
            return Scalar(name)
    if value is None:
        raise TypeRuleError("it is given None", "give a number or an array: is a `return` missing?")
    raise TypeRuleError("expected a number or an array")
