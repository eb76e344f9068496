"""The calls on which functions that are made of other operations are tested."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.primitives.harness import Case, case
from tests.primitives.samples import array

REARRANGING = [
    case(np.flipud, array(3, 2)),
    case(np.flipud, array(3)),
    case(np.fliplr, array(3, 2)),
    *(case(np.rot90, array(3, 2), k) for k in range(-1, 4)),
    case(np.rot90, array(2, 3, 4), 1, axes=(1, 2)),
    case(np.rollaxis, array(2, 3, 4), 2),
    case(np.rollaxis, array(2, 3, 4), 0, 2),
    case(np.rollaxis, array(2, 3, 4), -1, -2),
    case(np.linalg.matrix_transpose, array(2, 3, 4)),
    case(np.linalg.diagonal, array(2, 3, 4), offset=1),
    *(
        case(callee, array(*shape))
        for callee in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
        for shape in ((), (3,), (2, 3), (2, 1, 3))
    ),
    case(np.atleast_2d, np.float64(1.5), array(3)),
    case(np.broadcast_arrays, array(3), array(2, 1)),
    case(np.meshgrid, array(3), array(2)),
    case(np.meshgrid, array(3), array(2), np.float64(1.5), indexing="ij"),
    case(np.meshgrid, array(3), array(2), sparse=True),
    case(np.array_split, array(5), 3),
    case(np.array_split, array(2, 5), (1, 3), axis=1),
    case(np.hsplit, array(4), 2),
    case(np.hsplit, array(2, 4), 2),
    case(np.vsplit, array(4, 2), 2),
    case(np.dsplit, array(2, 3, 4), (1,)),
    case(np.unstack, array(2, 3)),
    case(np.unstack, array(2, 3), axis=1),
    case(np.dstack, (array(3), array(3))),
    case(np.dstack, (array(2, 3), array(2, 3, 2))),
    case(np.append, array(3), np.float64(1.5)),
    case(np.append, array(2, 3), array(1, 3), axis=0),
    case(np.block, [[array(2, 2), array(2, 1)], [array(3), array(1)[:0]]]),
    case(np.block, [array(2), np.float64(2.0)]),
    case(np.block, array(2, 2)),
    case(np.tile, array(3), 2),
    case(np.tile, array(2, 3), 2),
    case(np.tile, array(3), (2, 2)),
    case(np.tile, array(2, 1, 3), (2, 3)),
    case(np.resize, array(3), 5),
    case(np.resize, array(2, 3), (2, 4)),
]

NAN = np.where(np.arange(20) % 7 == 3, np.nan, array(20)).reshape(4, 5)
MASK = array(4, 5) > -0.5
WEIGHTS = array(5, low=0.5, high=2)

REDUCING = [
    *(
        case(callee, *given)
        for callee in (np.logaddexp.reduce, np.hypot.reduce)
        for given in ((array(4),), (array(2, 3),), (array(2, 3), 1))
    ),
    *(
        case(ufunc.reduce, array(4, 5), axis)
        for ufunc in (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin)
        for axis in (0, None)
    ),
    *(case(ufunc.reduce, array(3) > 0) for ufunc in (np.logical_and, np.logical_or)),
    *(case(ufunc.accumulate, array(4, 5)) for ufunc in (np.add, np.multiply)),
    case(np.cumulative_sum, array(4)),
    case(np.cumulative_sum, array(4, 5), axis=1, include_initial=True),
    case(np.cumulative_prod, array(4, 5), axis=0, include_initial=True),
    *(
        case(callee, NAN, axis=axis)
        for callee in (np.nansum, np.nanprod, np.nancumsum, np.nancumprod, np.nanmean, np.nanvar)
        for axis in (None, 1)
    ),
    case(np.nansum, NAN, axis=0, where=MASK, initial=np.float64(2.0)),
    case(np.nanmean, NAN, axis=0, keepdims=True, where=MASK),
    case(np.nanvar, NAN, ddof=1, keepdims=True),
    case(np.nanstd, NAN),
    case(np.nanstd, NAN, axis=1, ddof=1),
]

STATISTICS = [
    case(np.ptp, array(4, 5)),
    case(np.ptp, array(4, 5), axis=1, keepdims=True),
    case(np.average, array(4, 5)),
    case(np.average, array(4, 5), axis=0, returned=True),
    case(np.average, array(4, 5), weights=array(4, 5, low=0.5, high=2)),
    case(np.average, array(4, 5), axis=1, weights=WEIGHTS, returned=True),
    case(np.average, array(4, 2, 5), axis=(0, 2), weights=array(4, 5, low=0.5, high=2)),
    case(np.cov, array(4)),
    case(np.cov, array(4, 5)),
    case(np.cov, array(5), array(2, 5)),
    case(np.cov, array(4, 2), rowvar=False, bias=True),
    case(np.cov, array(4, 5), aweights=WEIGHTS),
    case(np.cov, array(4, 5), ddof=0, fweights=np.array([1, 2, 1, 3, 1]), aweights=WEIGHTS),
    case(np.cov, array(4, 5), fweights=np.array([1, 2, 1, 3, 1])),
    case(np.corrcoef, array(3, 5)),
    case(np.corrcoef, array(5), array(5)),
]

OUTER = [np.add, np.subtract, np.multiply, np.divide, np.maximum]
ROW, POINTS = array(5), np.cumsum(array(5, low=0.2, high=2))
MATRIX = array(3, 3)

CALCULUS = [
    case(np.ediff1d, array(2, 3)),
    case(np.ediff1d, ROW, to_end=array(2), to_begin=np.float64(1.5)),
    case(np.trapezoid, ROW),
    case(np.trapezoid, array(4, 5), POINTS, axis=1),
    case(np.trapezoid, array(4, 5), array(4, 5), axis=0),
    case(np.trapezoid, array(4, 5), dx=np.float64(0.3), axis=0),
    case(np.gradient, array(4, 5)),
    case(np.gradient, array(4, 5), np.float64(0.3), axis=1),
    case(np.gradient, array(4, 5), 2.0, POINTS),
    case(np.gradient, ROW, 0.5, edge_order=2),
    case(np.gradient, ROW, POINTS, edge_order=2),
    case(np.unwrap, 4 * ROW),
    case(np.unwrap, 4 * array(3, 4), axis=0),
]

POLYNOMIALS = [
    case(np.polyval, ROW, np.float64(0.7)),
    case(np.polyval, ROW, array(2, 3)),
    case(np.polyadd, array(2), ROW),
    case(np.polysub, ROW, array(3)),
    case(np.polymul, ROW, array(2)),
    case(np.polyder, ROW, 2),
    case(np.polyint, ROW, 2),
    case(np.polyint, ROW, 2, k=[1.0, np.float64(0.5)]),
    case(np.poly, array(4)),
    case(np.vander, ROW),
    case(np.vander, np.array([1.0, 0.0, 2.0]), 4, increasing=True),
    case(np.polyfit, POINTS, ROW, 2),
    case(np.polyfit, POINTS, array(5, 2), 1, w=WEIGHTS),
]

SELECTION = [
    case(np.take, array(3, 4), np.array([2, 0, 0])),
    case(np.take, array(3, 4), np.array([[2, 0, 0]]), axis=-1),
    case(np.take, array(3, 4), 1, axis=1),
    case(np.take, array(3, 4), np.array([5, -1]), axis=0, mode="clip"),
    case(np.take, array(3, 4), np.array([5, -1]), axis=0, mode="wrap"),
    case(np.delete, ROW, 1),
    case(np.delete, array(3, 4), [0, 2], axis=1),
    case(np.insert, ROW, 2, np.float64(1.5)),
    case(np.insert, ROW, (3, 0, -1), array(3)),
    case(np.insert, ROW, [1], array(2)),
    case(np.insert, array(3, 4), [0, 2], array(3, 2), axis=1),
    case(np.insert, array(3, 4), np.array([1, 1, 0]), array(4), axis=0),
    case(np.insert, array(3, 4), -1, array(4), axis=0),
    case(np.insert, array(3, 4), 1, array(3), axis=1),
    case(np.compress, ROW > 0, array(3, 5), axis=1),
    case(np.extract, array(3, 4) > 0, array(3, 4)),
    case(np.select, [array(4) > 0.5, array(4) > 0], [array(4), 3.0], np.float64(1.5)),
    case(np.select, [array(4) > 0.5], [array(2, 4)]),
    case(np.piecewise, ROW, [ROW < 0, ROW > 1], [np.exp, 2.0, np.sin]),
]

PADDING = [
    case(np.pad, array(2, 3), 1),
    case(np.pad, array(2, 3), (1, 2), constant_values=np.float64(1.5)),
    case(np.pad, array(2, 3), ((0, 1), (2, 0)), constant_values=((1.0, 2.0), (3.0, 4.0))),
    *(
        case(np.pad, array(3, 4), ((4, 1), (0, 6)), mode)
        for mode in ("edge", "reflect", "symmetric", "wrap", "maximum", "minimum")
    ),
    *(case(np.pad, array(3, 4), (1, 2), mode) for mode in ("mean", "median")),
    case(np.pad, array(4), (2, 3), "linear_ramp", end_values=np.float64(1.5)),
]

LINEAR_ALGEBRA = [
    *(case(np.kron, array(*a), array(*b)) for a, b in [((3,), (2,)), ((2, 3), (2,)), ((), (3,))]),
    *(case(np.linalg.matrix_power, MATRIX, n) for n in (-2, 0, 1, 2, 3, 6)),
    case(np.linalg.tensorsolve, array(6, 2, 3), array(6)),
    case(np.linalg.tensorinv, array(2, 3, 6)),
    *(case(np.linalg.cond, MATRIX, p) for p in (None, -2, 1, "fro")),
    case(np.linalg.vector_norm, array(2, 3)),
    case(np.linalg.vector_norm, array(2, 3), axis=1, ord=3, keepdims=True),
    case(np.linalg.matrix_norm, array(2, 3, 4)),
    case(np.linalg.matrix_norm, array(3, 4), ord=2),
    case(np.linalg.trace, array(2, 3, 3), offset=1),
]

COMPONENTS = [
    case(np.angle, array(4)),
    case(np.angle, array(4), deg=True),
    case(np.divmod, array(4), np.float64(0.7)),
    case(np.modf, array(4)),
    case(np.modf, np.float64(-1.5)),
    case(np.digitize, array(4), np.array([-1.0, 0.0, 1.0])),
    case(np.digitize, array(4), np.array([1.0, 0.0, -1.0]), right=True),
]


def squared(x: Any) -> Any:
    return x * x


def scaled_cumulative_sum(x: Any, by: Any) -> Any:
    return np.cumsum(x) * by


def scaled_by_largest(x: Any) -> Any:
    return x * np.max(x)


def multiple_and_square(x, by):
    return x * by, x * x


MAPPING = [
    case(np.apply_along_axis, np.max, 1, array(3, 4)),
    case(np.apply_along_axis, scaled_by_largest, 1, array(2, 3, 2)),
    case(np.apply_along_axis, scaled_cumulative_sum, 0, array(3, 4), by=np.float64(0.7)),
    case(np.apply_over_axes, np.sum, array(2, 3, 4), (0, 2)),
    *(case(ufunc.outer, array(2, 3), array(4)) for ufunc in OUTER),
    case(np.vectorize(squared), array(2, 3)),
    case(np.vectorize(multiple_and_square), array(2, 3), array(3)),
]

MAKING = [
    case(np.logspace, np.float64(0.3), 2.0, 5),
    case(np.geomspace, np.float64(0.3), np.float64(4.0), 5),
    case(np.geomspace, np.float64(-0.3), np.float64(-4.0), 4, endpoint=False),
    *(case(f, n, np.float64(0.3)) for f in (np.fft.fftfreq, np.fft.rfftfreq) for n in (5, 6)),
    *(case(f, array(5)) for f in (np.fft.fftshift, np.fft.ifftshift)),
    case(np.fft.fftshift, array(3, 4), axes=1),
    case(np.kaiser, 5, np.float64(3.0)),
    case(np.astype, array(3), np.float64),
    case(np.diff, array(4), prepend=np.float64(1.5)),
    case(np.diff, array(2, 4), axis=0, append=array(1, 4)),
    case(np.exp, array(3), dtype=np.float64),
    case(np.mean, a=array(3)),
    case(np.clip, a=array(3), a_min=-0.5, a_max=np.float64(0.5)),
]

ALL: list[Case] = [
    *REARRANGING,
    *REDUCING,
    *STATISTICS,
    *CALCULUS,
    *POLYNOMIALS,
    *SELECTION,
    *PADDING,
    *LINEAR_ALGEBRA,
    *COMPONENTS,
    *MAPPING,
    *MAKING,
]
