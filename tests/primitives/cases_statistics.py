"""The calls on which reductions, running sums and statistics are tested."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.primitives.harness import Case, case
from tests.primitives.samples import array

# -- reductions ------------------------------------------------------------------------------

AXES = [
    ((), None),
    ((1,), None),
    ((4,), None),
    ((4,), 0),
    ((4,), -1),
    ((2, 3), None),
    ((2, 3), 0),
    ((2, 3), 1),
    ((2, 3), (0, 1)),
    ((2, 3, 2), (0, 2)),
    ((2, 3, 2), (-1,)),
    ((2, 3, 2), -2),
    ((3, 1), 1),
]


MASK = np.array([[True, False, True], [True, True, False]])


def reductions(callee: Any, **keywords: Any) -> list[Case]:
    return [
        case(callee, array(*shape), axis=axis, keepdims=keepdims, **keywords)
        for shape, axis in AXES
        for keepdims in (False, True)
    ]


REDUCTIONS = [
    *(
        c
        for callee in (np.sum, np.mean, np.prod, np.max, np.min, "sum")
        for c in reductions(callee)
    ),
    *reductions(np.var),
    *reductions(np.std)[2:],
    *(case(callee, array(3, 4), axis=1, ddof=1) for callee in (np.var, np.std, "var")),
    *(case(callee, array(0, 3), axis=0) for callee in (np.sum, np.prod)),
    *(case(callee, array(0, 3), axis=1) for callee in (np.sum, np.mean, np.prod, np.max)),
    case(np.prod, np.array([0.0, 2.0, 3.0])),
    case(np.prod, np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]), axis=1),
    case(np.prod, np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]), axis=()),
    case(np.sum, array(0)),
    case(np.sum, np.float64(2.0)),
    case(np.mean, np.float64(2.0)),
    case(np.max, np.float64(2.0)),
    case(np.sum, array(2, 3), 1),
    case("mean", array(2, 3)),
    case("max", array(2, 3), 0),
    case(np.sum, array(2, 3), axis=0, initial=np.float64(1.5)),
    case(np.prod, array(2, 3), axis=1, initial=np.float64(1.5), where=MASK),
    case(np.prod, array(2, 3), where=MASK),
    *(
        case(f, array(2, 3), axis=0, initial=np.float64(initial), where=MASK)
        for f, initial in [(np.max, 0.1), (np.min, -0.1), (np.nanmax, -3.0), (np.nanmin, 0.1)]
    ),
    case(np.nanmax, np.array([[1.0, np.nan], [np.nan, 2.0]]), axis=1),
    *(case(f, array(2, 3), axis=1, where=MASK) for f in (np.mean, np.var)),
    case(np.std, array(2, 3), where=MASK, ddof=1),
    *(
        case(callee, x, axis=axis)
        for callee in (np.cumsum, np.cumprod)
        for x, axis in [(array(4), None), (array(2, 3), None), (array(2, 3), 0), (array(2, 3), -1)]
    ),
    case("cumsum", array(2, 3), 1),
    case(np.cumsum, array()),
    case(np.cumprod, array()),
    *(case(np.cumprod, np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 1.5]]), axis=a) for a in (1, None)),
    *(
        case(callee, array(*shape), axis)
        for callee in (np.maximum.accumulate, np.minimum.accumulate)
        for shape, axis in [((5,), 0), ((2, 3, 2), 1), ((0,), 0)]
    ),
]

# -- statistics ------------------------------------------------------------------------------

WITH_NAN = np.where(np.arange(20) % 7 == 3, np.nan, array(20)).reshape(4, 5)

STATISTICS = [
    *(
        case(callee, array(4, 5), axis=axis, keepdims=keepdims)
        for callee in (np.median, np.nanmedian)
        for axis, keepdims in [(None, False), (0, True), (1, False), ((0, 1), False), ((), False)]
    ),
    case(np.median, array(1)),
    case(np.median, np.float64(1.5)),
    case(np.nanmedian, WITH_NAN, axis=1),
    *(
        case(np.quantile, array(4, 5), np.float64(0.37), axis=1, method=method)
        for method in ("linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull")
    ),
    case(np.quantile, array(2, 3, 4), array(2, low=0.1, high=0.9), axis=(0, 2)),
    case(np.quantile, array(2, 3), array(2, 2, low=0.1, high=0.9)),
    case(np.quantile, array(5), np.float64(0.01), method="weibull"),
    case(np.percentile, array(4, 5), array(3, low=10, high=90), axis=0),
    case(np.percentile, array(2, 3), array(2, low=10, high=90), axis=(), keepdims=True),
    case(np.nanquantile, WITH_NAN, array(2, low=0.1, high=0.9), axis=1),
    case(np.nanpercentile, WITH_NAN, np.float64(42.0)),
    case(np.nanpercentile, WITH_NAN, np.float64(42.0), axis=()),
]
