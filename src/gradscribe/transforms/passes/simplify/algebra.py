"""Algebra on derived operations: units, negation, factors of broadcast cotangents.

The user's own arithmetic is never touched. A rewrite is made only where the result keeps its
type, so that a weak 1 that promoted something stays.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.ir.core import Operation, Value, map_operands
from gradscribe.ir.types import Array, Scalar, Type, is_complex, is_differentiable
from gradscribe.primitives.control import ZEROS_LIKE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.passes.simplify.table import ELEMENTWISE, derived

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter


@derived(ELEMENTWISE, np.where)
def drop_broadcast(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of broadcast_to(x, shape) * y make x * y, where y is of that shape anyway."""
    operands = operation.operands
    for position, value in enumerate(operands):
        source = broadcast_source(rewriter, value)
        if source is not None:
            others = (*operands[:position], source, *operands[position + 1 :])
            result = rewriter.again(operation, *others)
            if result is not None:
                return result
    return None


def broadcast_source(rewriter: Rewriter, value: Value) -> Value | None:
    """What a value repeats along new axes or axes of length one, or has new axes before its own;
    None if it is none such."""
    made = rewriter.made_by(value, np.broadcast_to, np.expand_dims, np.full_like)
    if made is None:
        return None
    if made.primitive is PRIMITIVES[np.full_like]:
        return made.operands[1] if _holds(made.result.type, made.operands[1].type) else None
    is_expanded = made.primitive is PRIMITIVES[np.expand_dims]
    return None if is_expanded and not _has_new_axes_first(made) else made.operands[0]


def _holds(array: Type, number: Type) -> bool:
    """Whether an array keeps numbers of a type as they are, and does not cut them off."""
    if not isinstance(array, Array) or not isinstance(number, (Array, Scalar)):
        return False
    casting: Any = "same_kind" if isinstance(number, Scalar) and number.weak else "safe"
    return np.can_cast(np.dtype(number.dtype), np.dtype(array.dtype), casting)


def _has_new_axes_first(expanded: Operation) -> bool:
    """Whether broadcasting would put the new axes where np.expand_dims puts them."""
    source, axis = expanded.operands[0].type, expanded.attributes["axis"]
    if isinstance(source, Scalar):
        return True
    axes = axis if isinstance(axis, tuple) else (axis,)
    assert isinstance(source, Array)
    rank = source.rank + len(axes)
    return sorted(a % rank for a in axes) == list(range(len(axes)))


@derived(operator.mul, operator.add, operator.sub, operator.neg, operator.truediv)
def compute_once(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of full_like(x, s) * t, with numbers s and t, make full_like(x, s * t). Divisors are known:
    by zero, Python's numbers raise an exception, and arrays give infinities."""
    if operation.primitive is PRIMITIVES[operator.truediv]:
        divisor = rewriter.constant_of(operation.operands[1])
        if divisor is None or divisor == 0:
            return None
    fulls = [rewriter.made_by(value, np.full_like) for value in operation.operands]
    arrays = [full for full in fulls if full is not None]
    if len(arrays) != 1 or not rewriter.used_once(arrays[0].result):
        return None
    if not is_differentiable(arrays[0].result.type):
        return None
    numbers = [
        value if full is None else full.operands[1]
        for full, value in zip(fulls, operation.operands, strict=True)
    ]
    if not all(isinstance(number.type, Scalar) for number in numbers):
        return None
    number = rewriter.emit(
        operation.primitive,
        map_operands(dict(operation.attributes), lambda o: numbers[o.index]),
        operation,
        callee=operation.callee,
    )
    if number is None:
        return None
    return rewriter.replacement(operation, np.full_like, arrays[0].operands[0], number)


@derived(operator.mul)
def multiply_units(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of 1 * x make x, of -1 * x make -x."""
    x, y = operation.operands
    for unit, other in ((x, y), (y, x)):
        if _is_number(rewriter, unit, 1) and rewriter.same_type(other, operation.result):
            return other
        if _is_number(rewriter, unit, -1):
            return rewriter.replacement(operation, operator.neg, other)
    return None


@derived(operator.mul, operator.truediv)
def pull_negation(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of -x * y make -(x * y): the sign may then vanish in a subtraction."""
    operands = list(operation.operands)
    for position, value in enumerate(operands):
        negated = _negated(rewriter, value)
        if negated is not None and is_differentiable(negated.type):
            operands[position] = negated
            result = operation.result
            product = rewriter.apply(operation.callee, operation, *operands, type_=result.type)
            if product is not None:
                return rewriter.replacement(operation, operator.neg, product)
    return None


@derived(operator.mul)
def multiply_reciprocal(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of x * (1 / y) make x / y."""
    for _, quotient, other in _quotients(rewriter, operation):
        one, divisor = quotient.operands
        if _is_number(rewriter, one, 1):
            return rewriter.replacement(operation, operator.truediv, other, divisor)
    return None


@derived(operator.mul)
def share_quotient(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of x * (y / z) make (x / z) * y, where x / z was there before y / z."""
    for factor, quotient, other in _quotients(rewriter, operation):
        dividend, divisor = quotient.operands
        earlier = rewriter.at_hand(operator.truediv, other, divisor)
        if earlier is not None and rewriter.is_before(earlier, factor):
            return rewriter.replacement(operation, operator.mul, earlier, dividend)
    return None


def _quotients(rewriter: Rewriter, product: Operation) -> Iterator[tuple[Value, Operation, Value]]:
    """Each factor that is a quotient which nothing else reads: it, its operation, the other one."""
    x, y = product.operands
    for factor, other in ((y, x), (x, y)):
        division = rewriter.made_by(factor, operator.truediv)
        if division is not None and rewriter.used_once(factor):
            yield factor, division, other


@derived(operator.mul)
def group_constants(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of (x * 2) * 3 make x * 6."""
    for constant, product in (operation.operands, operation.operands[::-1]):
        inner = _floating_product(rewriter, product)
        if inner is None or not _is_float(rewriter, constant):
            continue
        for factor, other in (inner.operands, inner.operands[::-1]):
            if _is_float(rewriter, factor):
                both = rewriter.apply(operator.mul, operation, factor, constant)
                if both is not None:
                    return rewriter.replacement(operation, operator.mul, other, both)
    return None


@derived(operator.mul)
def join_constants(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of (x * 0.5) * (2 * y) make x * y, with the product of the constants if that is not 1."""
    first, second = (_constant_factor(rewriter, value) for value in operation.operands)
    if first is None or second is None:
        return None
    (a, x), (b, y) = first, second
    both = rewriter.apply(operator.mul, operation, a, b)
    scaled = None if both is None else rewriter.apply(operator.mul, operation, x, both)
    return None if scaled is None else rewriter.replacement(operation, operator.mul, scaled, y)


def _floating_product(rewriter: Rewriter, value: Value) -> Operation | None:
    """The product that a value is, if nothing else reads it; one of integers stays as it is, for
    it may overflow."""
    is_alone = is_differentiable(value.type) and rewriter.used_once(value)
    return rewriter.made_by(value, operator.mul) if is_alone else None


def _constant_factor(rewriter: Rewriter, value: Value) -> tuple[Value, Value] | None:
    """The factors (c, x) of a product with a constant that nothing else reads."""
    product = _floating_product(rewriter, value)
    if product is None:
        return None
    for constant, other in (product.operands, product.operands[::-1]):
        if _is_float(rewriter, constant):
            return constant, other
    return None


@derived(operator.mul)
def group_scalars(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of s * (t * array) make (s * t) * array, which reads the array once."""
    x, y = operation.operands
    for scalar, array in ((x, y), (y, x)):
        factors = _scalar_factor(rewriter, array)
        if isinstance(scalar.type, Scalar) and factors is not None:
            factor = rewriter.apply(operator.mul, operation, scalar, factors[0])
            if factor is not None:
                return rewriter.replacement(operation, operator.mul, factor, factors[1])
    return None


@derived(operator.truediv)
def divide_scalars(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of x / 1 make x, of (s * array) / t make (s / t) * array."""
    x, y = operation.operands
    if _is_number(rewriter, y, 1) and rewriter.same_type(x, operation.result):
        return x
    factors = _scalar_factor(rewriter, x)
    if isinstance(y.type, Scalar) and factors is not None and not _is_zero(rewriter, y):
        factor = rewriter.apply(operator.truediv, operation, factors[0], y)
        if factor is not None:
            return rewriter.replacement(operation, operator.mul, factor, factors[1])
    return None


@derived(operator.add)
def add_terms(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of 0 + x make x, of x + -y make x - y, of x + x make 2 * x, of (x + y) + y x + 2 * y."""
    x, y = operation.operands
    for term, other in ((y, x), (x, y)):
        if _is_zero(rewriter, term) and rewriter.same_type(other, operation.result):
            return other
        negated = _negated(rewriter, term)
        if negated is not None:
            return rewriter.replacement(operation, operator.sub, other, negated)
    if x is y:
        two = rewriter.constant(2, operation)
        return rewriter.replacement(operation, operator.mul, two, x)
    return _add_twice(rewriter, operation, x, y)


def _add_twice(rewriter: Rewriter, operation: Operation, total: Value, y: Value) -> Value | None:
    """x + 2 * y, where the total is an x + y that nothing else reads."""
    inner = rewriter.made_by(total, operator.add)
    if inner is None or y not in inner.operands or not rewriter.used_once(total):
        return None
    x = inner.operands[1 - inner.operands.index(y)]
    twice = rewriter.apply(operator.mul, operation, rewriter.constant(2, operation), y)
    return None if twice is None else rewriter.replacement(operation, operator.add, x, twice)


@derived(operator.sub)
def subtract_terms(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of x - 0 make x, of 0 - x make -x, of x - -y make x + y."""
    x, y = operation.operands
    if _is_zero(rewriter, y) and rewriter.same_type(x, operation.result):
        return x
    if _is_zero(rewriter, x) and rewriter.same_type(y, operation.result):
        return rewriter.replacement(operation, operator.neg, y)
    negated = _negated(rewriter, y)
    if negated is not None:
        return rewriter.replacement(operation, operator.add, x, negated)
    return None


@derived(operator.neg)
def negate(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of --x make x, of -(x - y) make y - x."""
    (x,) = operation.operands
    inner = rewriter.made_by(x, operator.neg)
    if inner is not None and rewriter.same_type(inner.operands[0], operation.result):
        return inner.operands[0]
    difference = rewriter.made_by(x, operator.sub)
    if difference is not None and rewriter.used_once(x):
        left, right = difference.operands
        return rewriter.replacement(operation, operator.sub, right, left)
    return None


@derived(np.where)
def choose_once(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of where(c, where(c, x, y), z) make where(c, x, z); of where(c, x, where(c, y, z)), too."""
    condition, *chosen = operation.operands
    for position, value in enumerate(chosen):
        inner = rewriter.made_by(value, np.where)
        if inner is None or inner.operands[0] is not condition:
            continue
        chosen[position] = inner.operands[1 + position]
        if _have_one_dtype(chosen[position].type, value.type):
            return rewriter.again(operation, condition, *chosen)
        chosen[position] = value
    return None


def _have_one_dtype(first: Type, second: Type) -> bool:
    """Whether these are types of arrays or numbers that are stored alike."""
    both = first, second
    dtypes = {type_.dtype for type_ in both if isinstance(type_, (Array, Scalar))}
    return len(dtypes) == 1 and all(isinstance(type_, (Array, Scalar)) for type_ in both)


@derived(np.conjugate, np.real)
def conjugate(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of the conjugate, or the real part, of a real x make x; of the conjugate of that of x, x."""
    (x,) = operation.operands
    inner = rewriter.made_by(x, np.conjugate)
    if inner is not None and operation.primitive is inner.primitive:
        return inner.operands[0]
    is_same = not is_complex(x.type) and rewriter.same_type(x, operation.result)
    return x if is_same else None


@derived(np.sum)
def sum_of_negatives(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of the sum of -x make the negative of the sum of x."""
    negated = _negated(rewriter, operation.operands[0])
    if negated is None or len(operation.operands) > 1:
        return None
    arguments = map_operands(dict(operation.attributes), lambda _: negated)
    total = rewriter.emit(
        operation.primitive,
        arguments,
        operation,
        callee=operation.callee,
        type_=operation.result.type,
    )
    return None if total is None else rewriter.replacement(operation, operator.neg, total)


@derived(operator.pow)
def power_one(rewriter: Rewriter, operation: Operation) -> Value | None:
    x, exponent = operation.operands
    if _is_number(rewriter, exponent, 1) and rewriter.same_type(x, operation.result):
        return x
    return None


def _is_number(rewriter: Rewriter, value: Value, number: int) -> bool:
    constant = rewriter.constant_of(value)
    return (
        isinstance(constant, (int, float)) and not isinstance(constant, bool) and constant == number
    )


def _is_float(rewriter: Rewriter, value: Value) -> bool:
    """Whether a value is one of Python's own numbers, known here."""
    return type(rewriter.constant_of(value)) in (int, float)


def _is_zero(rewriter: Rewriter, value: Value) -> bool:
    """Whether a value is a zero: a number, or an array of zeros."""
    return _is_number(rewriter, value, 0) or rewriter.made_by(value, ZEROS_LIKE) is not None


def _negated(rewriter: Rewriter, value: Value) -> Value | None:
    """The x of a value -x that nothing else reads."""
    negation = rewriter.made_by(value, operator.neg)
    if negation is None or not rewriter.used_once(value):
        return None
    return negation.operands[0]


def _scalar_factor(rewriter: Rewriter, array: Value) -> tuple[Value, Value] | None:
    """The factors (s, x) of an array s * x with a scalar s that nothing else reads."""
    product = _floating_product(rewriter, array)
    if product is None:
        return None
    x, y = product.operands
    if isinstance(x.type, Scalar) and isinstance(y.type, Array):
        return x, y
    if isinstance(y.type, Scalar) and isinstance(x.type, Array):
        return y, x
    return None
