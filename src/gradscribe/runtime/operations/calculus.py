"""The table of eager operations, continued: integrals, differences and slopes of samples, steps,
powers of two, and lengths: norms, distances, similarities."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.arrays.rows import BOTH, EVERY, FUNCTION, IN_PLACE, OUT, operation
from gradscribe.runtime.arrays.size import returned, sizes
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, factorizations, reductions, shaping
from gradscribe.runtime.operations.adaptors import enter_row
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.shaping import axis_of
from gradscribe.runtime.tensors.promotion import floating, promoted, result_dtype
from gradscribe.runtime.tensors.tensor import Tensor, wrap

_DIFF = enter_row(Operation("Diff", np.diff, ("n", "axis")))
_HEAVISIDE = enter_row(Operation("Heaviside", np.heaviside, differentiable=False))
_FREXP, _LDEXP = Operation("Frexp", np.multiply), Operation("Ldexp", composites.ldexp)
_RENORM = Operation("Renorm", composites.renorm, ("p", "axes", "maxnorm"))
_Frexp = returned("frexp", ("mantissa", "exponent"))

# --- samples ----------------------------------------------------------------------------------


def _areas(y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor:
    """The areas between neighbours along an axis, times two."""
    axis = axis_of(dim, y.array.ndim)
    if x is None:
        width = dx
    else:
        width = diff(x, dim=axis if x.array.ndim == y.array.ndim else -1)
        if x.array.ndim == 1 < y.array.ndim:
            width = shaping.reshape(width, (-1,) + (1,) * (y.array.ndim - 1 - axis))
    length = y.array.shape[axis]
    if not length:
        return y
    after, before = y.narrow(axis, 1, length - 1), y.narrow(axis, 0, length - 1)
    areas: Tensor = (after + before) * width
    return areas


@operation(FUNCTION, aliases=("trapz",), shapes="(…, n) -> (…)")
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integral of samples along an axis, at x or at steps dx, by the trapezoidal rule."""
    return functions.div(reductions.sum(_areas(floating(y), x, dx, dim), dim), 2.0)


@operation(FUNCTION, shapes="(…, n) -> (…, n - 1)")
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1
) -> Tensor:
    """The integrals of samples up to each of them but the first."""
    return functions.div(reductions.cumsum(_areas(floating(y), x, dx, dim), dim), 2.0)


@operation(
    BOTH | OUT,
    shapes="(…, n) -> (…, n - 1), once for each time, with what is put before and after counted",
)
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbours along an axis, taken n times; prepend, append: what comes
    before and after it first."""
    rank = np.ndim(input)
    if not rank:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    axis = axis_of(dim, rank)
    for end in (prepend, append):
        if end is not None:
            _check_end(input.array.shape, end.array.shape, axis)
    if n == 0:
        return functions.clone(input)
    parts = [part for part in (prepend, input, append) if part is not None]
    whole = shaping.cat(parts, axis) if len(parts) > 1 else input
    return apply(_DIFF, (whole,), (n, axis))


def _check_end(shape: tuple[int, ...], end: tuple[int, ...], axis: int) -> None:
    """The error for what cannot stand before or after samples of a shape."""
    if len(shape) != len(end):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for other, (wanted, given) in enumerate(zip(shape, end, strict=True)):
        if other != axis and wanted != given:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({other}) = {wanted}, but "
                f"got tensor.size({other}) = {given}"
            )


@operation(FUNCTION, shapes="(…) -> (…) for each axis")
def gradient(
    input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """The slopes of samples along axes, by differences of second order inside. spacing: the
    distance of samples, or one for each axis, or their coordinates along each."""
    rank = input.array.ndim
    axes = [*range(rank)] if dim is None else [axis_of(axis, rank) for axis in sizes((dim,))]
    spacing = 1 if spacing is None else spacing
    given = spacing if isinstance(spacing, (tuple, list)) else (spacing,) * len(axes)
    _check_samples(input, axes, given, dim is not None, edge_order)
    steps = [step.array if isinstance(step, Tensor) else step for step in given]
    if np.result_type(*map(np.asarray, steps)).kind == "c":
        input = functions.to_dtype(input, result_dtype(input, 1j))
    slope: Any = np.gradient
    return tuple(
        slope(floating(input), step, axis=axis, edge_order=edge_order)
        for axis, step in zip(axes, steps, strict=True)
    )


def _check_samples(
    input: Tensor, axes: list[int], spacing: Any, has_axes: bool, edge_order: int
) -> None:
    """The errors for what `gradient` cannot take."""
    if input.array.dtype == np.uint8:
        raise NotImplementedError("torch.gradient does not support uint8 input.")
    if len(spacing) != len(axes):
        one = "torch.gradient expected spacing to be unspecified, a scalar or "
        raise RuntimeError(
            f"{one}it's spacing and dim arguments to have the same length, but got a spacing "
            f"argument of length {len(spacing)} and a dim argument of length {len(axes)}."
            if has_axes
            else f"{one.replace(' or', ', or')}a list of length equal to 'self.dim() = "
            f"{len(axes)}', since dim argument was not given, but got a list of length "
            f"{len(spacing)}"
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for place, axis in enumerate(axes):
        if axis in axes[:place]:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        if input.array.shape[axis] <= edge_order:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
    for step in spacing:
        if len(spacing) > 1 and np.ndim(step) > 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got "
                f"an element with {np.ndim(step)} dimensions!"
            )


@operation(FUNCTION, shapes="(n) -> (n, N)")
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of the elements: a row for each, a column for each power."""
    powers = np.arange(x.array.shape[0] if N is None else N)
    return elementwise.pow(x[:, None], wrap(powers if increasing else powers[::-1].copy()))


@operation(FUNCTION, shapes="(n) -> (choices, r)")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements, a row for each."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    if not r:
        return input[:0]
    rows = list(choose(range(input.array.size), r))
    return input[wrap(np.array(rows, np.int64).reshape(-1, r))]


@operation(BOTH | IN_PLACE | OUT, shapes="(…), (…) -> (…)")
def heaviside(input: Any, values: Any) -> Tensor:
    """0 below zero, 1 above, and at zero these values."""
    if isinstance(input, Tensor) and isinstance(values, Tensor):
        if any(tensor.array.dtype.kind == "c" for tensor in (input, values)):
            raise NotImplementedError("heaviside is not yet implemented for complex tensors.")
        if input.array.dtype != values.array.dtype:
            raise NotImplementedError(
                "heaviside is not yet implemented for tensors with different dtypes."
            )
    step: Tensor = apply(_HEAVISIDE, promoted(input, values))
    return functions.to_dtype(step, result_dtype(input, values))


# --- powers of two, sums ----------------------------------------------------------------------


@operation(BOTH | OUT, shapes="(…) -> (…), (…)", dtypes="that of input, and int32")
def frexp(input: Tensor) -> Any:
    """Mantissas in [0.5, 1) and exponents of two."""
    if input.array.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    exponent = np.frexp(input.array)[1].astype(np.int32)
    powers = np.exp2(-exponent.astype(input.array.dtype))
    return _Frexp(apply(_FREXP, (input, powers)), wrap(exponent))


@operation(EVERY, shapes="(…), (…) -> (…)", dtypes="floating also of integers")
def ldexp(input: Any, other: Any) -> Tensor:
    """input * 2 ** other."""
    input = floating(input)
    if isinstance(other, Tensor) and other.array.dtype.kind in "biu":
        other = functions.to_dtype(other, input.array.dtype)
    return apply(_LDEXP, promoted(input, other))


@operation(BOTH, shapes="(…) -> (size), which broadcasts to it")
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """The sum over the axes that broadcasting from this shape made longer."""
    shape = sizes(size)
    axes, added = _summed_axes(shape, input.array.shape)
    result = reductions.sum(input, axes, True) if axes else input
    return shaping.reshape(result, shape) if added else result


def _summed_axes(shape: tuple[int, ...], whole: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Which axes broadcasting a shape to another made longer, and how many it added."""
    added = len(whole) - len(shape)
    pairs = list(zip((1,) * added + shape, whole, strict=False))
    if added < 0 or any(n not in (1, m) for n, m in pairs):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(whole)}}}.")
    return tuple(axis for axis, (n, m) in enumerate(pairs) if n != m), added


# --- lengths ----------------------------------------------------------------------------------


@operation(BOTH | IN_PLACE | OUT, shapes="(…) -> (…)")
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The slices along an axis, those of a greater p-norm scaled down to maxnorm."""
    rank = input.array.ndim
    if rank < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {rank} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    axes = _other_axes(dim, rank)
    return apply(_RENORM, (input,), (float(p), axes, float(maxnorm)))


@operation(FUNCTION | OUT, shapes="(…) -> (), or (…) without the axes named")
def frobenius_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The square root of the sum of squares."""
    return functions.norm(input, "fro", dim, keepdim)


@operation(FUNCTION | OUT, shapes="(n, m) -> ()")
def nuclear_norm(input: Tensor, keepdim: bool = False) -> Tensor:
    """The sum of the singular values of a matrix."""
    values = factorizations.svd(input, compute_uv=False)[1]
    total = reductions.sum(values, -1)
    return shaping.reshape(total, (*total.array.shape, 1, 1)) if keepdim else total


@operation(FUNCTION, shapes="(…) -> (…), of length 1 along all axes but dim")
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms of the slices along an axis."""
    if dim == -1:
        return functions.norm(v, pow)
    return functions.norm(v, pow, _other_axes(dim, v.array.ndim), True)


def _other_axes(dim: int, rank: int) -> tuple[int, ...]:
    """All axes but one."""
    return tuple(axis for axis in range(rank) if axis != axis_of(dim, rank))


@operation(FUNCTION, shapes="(…, n), (…, n) -> (…)")
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norms of the differences along the last axis, eps added to each."""
    return functions.norm(x1 - x2 + eps, p, -1, keepdim)


@operation(FUNCTION, shapes="(n, m) -> (n (n - 1) / 2)")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of all pairs of rows."""
    if input.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.array.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = np.triu_indices(input.array.shape[0], 1)
    return functions.norm(input[wrap(first)] - input[wrap(second)], p, -1)


@operation(FUNCTION, shapes="(…), (…) -> (…) without the axis dim")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosines of the angles between vectors along an axis."""
    if not all(dtypes.is_differentiable(x.array.dtype) for x in (x1, x2)):
        raise RuntimeError("expected common dtype to be floating point, yet common dtype is Long")
    if x1.array.dtype.kind == "c":
        raise UnsupportedError("`cosine_similarity` of complex numbers", "take the real parts")
    shape = np.broadcast_shapes(x1.array.shape, x2.array.shape)
    first, second = (shaping.expand(x, shape) for x in (x1, x2))
    lengths = [functions.norm(x, 2, dim, True).clamp_min(eps) for x in (first, second)]
    return reductions.sum(first / lengths[0] * (second / lengths[1]), dim)
