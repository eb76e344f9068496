"""The calls on which functions that are made of other operations are tested."""

from __future__ import annotations

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

ALL: list[Case] = REARRANGING + REDUCING + STATISTICS
