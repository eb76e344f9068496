"""Operations that only rearrange, repeat or convert: views, copies, casts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.types import Array
from gradscribe.primitives.registry import LINEAR, adjoint, available, composition
from gradscribe.primitives.static import inverse_permutation, numbered_axes
from gradscribe.primitives.typing import (
    ONE,
    TypeRuleError,
    call,
    dims_of,
    like_first,
    normalize_axes,
    number_type,
    product,
    result_of,
    same_length,
    shape_dims,
)

# -- whose methods an array has ---------------------------------------------------------------


def _respelled_type(facts, callee, x, spelling):
    return replace(x, spelling=spelling)


def respelled(x, spelling):
    """`x`, whose methods mean Tensor's or NumPy's from here on; emitted code shows just `x`."""
    return x


@adjoint(
    respelled, type=_respelled_type, tangent=LINEAR, view=True, cheap=True, static=("spelling",)
)
def respell(out, x, spelling, *, d_out):
    return d_out


# -- shapes ----------------------------------------------------------------------------------


def _reshape_type(facts, callee, x, shape, order="C"):
    _row_or_column_major(order)
    x = number_type(x)
    lengths = list(shape_dims(shape))
    inferred = [i for i, length in enumerate(lengths) if length.known == -1]
    if getattr(x, "spelling", "numpy") != "numpy":
        _check_size(facts, dims_of(x), lengths)
    if inferred:
        position = inferred[0]
        others = lengths[:position] + lengths[position + 1 :]
        lengths[position] = _quotient(facts, dims_of(x), others)
    return like_first(result_of(np.asarray, x), tuple(lengths), x)


def _check_size(facts, dims, lengths):
    """Refuse a shape that the elements of a Tensor do not fill, for which NumPy raises another
    exception than PyTorch does."""
    given = [length for length in lengths if length.known != -1]
    size, wanted = product(facts, dims), product(facts, given)
    if len(given) < len(lengths):
        if (wanted.known or 0) < 1:
            return
        wanted = facts.quotient(size, wanted.known) * wanted.known
    if facts.equal(size, wanted) is False:
        shape, own = (", ".join(map(facts.shown, each)) for each in (lengths, dims))
        raise TypeRuleError(f"the shape ({shape}) is invalid for a Tensor of shape ({own})")


def _quotient(facts, dims, divisors):
    """The length for -1 in a shape: the product of dims by that of the other lengths, which are
    not zero (NumPy would not know which length is meant)."""
    rest = [facts.normalize(dim) for dim in dims]
    divisor = 1
    unknown = []
    for length in map(facts.normalize, divisors):
        if length.known is not None:
            divisor *= length.known
            continue
        multiples = ((i, _multiple(dim, length)) for i, dim in enumerate(rest))
        position, multiple = next((m for m in multiples if m[1]), (None, None))
        if position is None:
            unknown.append(length)
        else:
            rest[position] = Affine.of(multiple)
    whole = product(facts, rest)
    exact = divisor != 0 and all(c % divisor == 0 for c in _coefficients(whole))
    if unknown or not exact:
        return facts.derived("quotient", whole, divisor, *unknown)
    return Affine(tuple((s, c // divisor) for s, c in whole.terms), whole.constant // divisor)


def _multiple(length, of):
    """Which multiple of another one a length is, whatever they are, or None."""
    multiple = dict(length.terms).get(of.terms[0][0], 0) // of.terms[0][1]
    return multiple if of * multiple == length else None


def _coefficients(length):
    return [length.constant, *(coefficient for _, coefficient in length.terms)]


def _row_or_column_major(order):
    if order not in ("C", "F"):
        raise TypeRuleError(f"order={order!r} depends on the memory layout", "give 'C' or 'F'")


def _flat_type(facts, callee, x, order="C"):
    _row_or_column_major(order)
    x = number_type(x)
    return like_first(result_of(np.ravel, x), (product(facts, dims_of(x)),), x)


@adjoint(
    np.reshape,
    methods=("reshape",),
    type=_reshape_type,
    tangent=LINEAR,
    view=True,
    cheap=True,
)
def reshape(out, x, shape, order="C", *, d_out):
    return np.reshape(d_out, np.shape(x), order=order)


@adjoint(np.ravel, methods=("ravel",), type=_flat_type, tangent=LINEAR, view=True, cheap=True)
def ravel(out, x, order="C", *, d_out):
    return _unflatten(d_out, x, order)


@adjoint(methods=("flatten",), type=_flat_type, tangent=LINEAR)
def flatten(out, x, order="C", *, d_out):
    return _unflatten(d_out, x, order)


def _unflatten(d_out, x, order):
    if np.ndim(x) == 1:
        return d_out
    return np.reshape(d_out, np.shape(x), order=order)


# -- order of axes ---------------------------------------------------------------------------


def _rearranged_type(facts, callee, x, *arguments, **options):
    """What NumPy makes of axes of lengths 2, 3, …, by which they are recognized."""
    x = number_type(x)
    dims = dims_of(x)
    probe = np.broadcast_to(np.zeros(()), tuple(range(2, len(dims) + 2)))
    given = [option for option in options.values() if option is not None]
    try:
        shape = call(callee, probe, *arguments, *given).shape
    except (TypeError, ValueError) as error:
        raise TypeRuleError(str(error)) from None
    rearranged = tuple(ONE if n == 1 else dims[n - 2] for n in shape)
    result = result_of(np.asarray, x) if dims else result_of(callee, x, **options)
    return like_first(result, rearranged, x) if isinstance(result, Array) else result


@adjoint(
    np.transpose,
    np.permute_dims,
    methods=("transpose", "T"),
    type=_rearranged_type,
    tangent=LINEAR,
    view=True,
    cheap=True,
)
def transpose(out, x, axes=None, *, d_out):
    if axes is None:
        return d_out.T
    return np.transpose(d_out, inverse_permutation(axes))


@adjoint(
    np.matrix_transpose,
    methods=("mT",),
    type=_rearranged_type,
    tangent=LINEAR,
    view=True,
    cheap=True,
)
def matrix_transpose(out, x, *, d_out):
    return np.swapaxes(d_out, -1, -2)


@adjoint(
    np.swapaxes,
    methods=("swapaxes",),
    type=_rearranged_type,
    tangent=LINEAR,
    view=True,
    cheap=True,
)
def swapaxes(out, x, axis1, axis2, *, d_out):
    return np.swapaxes(d_out, axis1, axis2)


@adjoint(np.moveaxis, type=_rearranged_type, tangent=LINEAR, view=True, cheap=True)
def moveaxis(out, x, source, destination, *, d_out):
    return np.moveaxis(d_out, destination, source)


@adjoint(np.flip, type=_rearranged_type, tangent=LINEAR, view=True, cheap=True)
def flip(out, x, axis=None, *, d_out):
    return np.flip(d_out, axis)


# -- axes of length one ----------------------------------------------------------------------


@adjoint(np.expand_dims, type=_rearranged_type, tangent=LINEAR, view=True, cheap=True)
def expand_dims(out, x, axis, *, d_out):
    return np.squeeze(d_out, numbered_axes(axis))


def _squeeze_type(facts, callee, x, axis=None):
    x = number_type(x)
    dims = dims_of(x)
    if axis is None:
        gone = [i for i, dim in enumerate(dims) if _is_one(facts, dim)]
    else:
        gone = list(normalize_axes(axis, len(dims)))
    for i in gone:
        same_length(facts, dims[i], ONE, "squeeze takes out axes of length one")
    kept = tuple(dim for i, dim in enumerate(dims) if i not in gone)
    result = result_of(np.asarray if dims else callee, x)
    return like_first(result, kept, x) if isinstance(result, Array) else result


def _is_one(facts, length):
    equal = facts.equal(length, ONE)
    if equal is None:
        raise TypeRuleError("which axes have length one is not known here", "give `axis`")
    return equal


@adjoint(
    np.squeeze, methods=("squeeze",), type=_squeeze_type, tangent=LINEAR, view=True, cheap=True
)
def squeeze(out, x, axis=None, *, d_out):
    if axis is None:
        return np.reshape(d_out, np.shape(x))
    return np.expand_dims(d_out, axis)


def _broadcast_type(facts, callee, x, shape):
    x = number_type(x)
    lengths = shape_dims(shape)
    if len(lengths) < len(dims_of(x)):
        raise TypeRuleError("the shape to broadcast to has fewer axes than the array")
    facts.broadcast([lengths, dims_of(x)])
    return like_first(result_of(np.asarray, x), lengths, x)


@adjoint(np.broadcast_to, type=_broadcast_type, tangent=LINEAR, view=True, cheap=True)
def broadcast_to(out, x, shape, *, d_out):
    return d_out


# -- copies and casts ------------------------------------------------------------------------


def _copy_type(facts, callee, x, dtype=None):
    x = number_type(x)
    result = result_of(callee, x, dtype=dtype)
    if not isinstance(result, Array):
        return result
    return like_first(result, dims_of(x) or _added(callee), x)


def _added(callee):
    """The axes that a number gets: one from what arranges it in an order of memory."""
    return (ONE,) if callee in (np.ascontiguousarray, np.asfortranarray) else ()


def _astype_type(facts, callee, x, dtype):
    if not isinstance(x, Array):
        return result_of(callee, x, dtype)
    return like_first(result_of(callee, x, dtype), x.dims, x)


@adjoint(methods=("astype",), type=_astype_type, tangent=LINEAR)
def astype(out, x, dtype, *, d_out):
    return d_out


@composition(*available(np, "astype"))
def convert(x, dtype, *, copy=True, device=None):
    return x.astype(dtype, copy=copy)


@adjoint(np.copy, methods=("copy",), type=_copy_type, tangent=LINEAR)
def copy(out, x, *, d_out):
    return d_out


@adjoint(
    np.asarray,
    np.asanyarray,
    np.asarray_chkfinite,
    type=_copy_type,
    tangent=LINEAR,
    view=True,
    cheap=True,
)
def asarray(out, x, dtype=None, *, d_out):
    return d_out


@adjoint(np.ascontiguousarray, np.asfortranarray, type=_copy_type, tangent=LINEAR, view=True)
def ascontiguousarray(out, x, dtype=None, *, d_out):
    return np.reshape(d_out, np.shape(x))
