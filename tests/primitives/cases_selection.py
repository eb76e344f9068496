"""The calls on which sorting, the choice of elements, interpolation and convolutions are tested."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.primitives.harness import case
from tests.primitives.samples import array

# -- sorting -----------------------------------------------------------------------------------

SELECTION = [
    case(np.sort, array(5)),
    case(np.sort, array(3, 4)),
    case(np.sort, array(3, 4), axis=0),
    case(np.sort, array(3, 4), axis=None),
    case(np.take_along_axis, array(3, 4), np.array([[1, 0], [2, 2], [3, 1]]), axis=1),
    case(np.take_along_axis, array(3, 4), np.array([[1, 0, 2, 2]]), axis=-2),
    *(case(np.partition, array(3, 5), kth, axis=a) for kth, a in [(2, 0), ((1, 3), -1), (4, None)]),
    case(np.repeat, array(3), 2),
    case(np.repeat, array(2, 3), 2),
    case(np.repeat, array(2, 3), 2, axis=-1),
    case(np.repeat, array(2, 3, 2), np.array([1, 0, 2]), axis=1),
    case(np.repeat, array(), 3),
    case("repeat", array(2, 3), 2, axis=0),
    case(np.choose, np.array([0, 1, 0]), (array(3), array(3))),
    case(np.choose, np.array([[0], [1]]), (array(3), np.float64(1.5))),
    case(np.bincount, np.array([1, 3, 1]), array(3), 5),
    case(sliding_window_view, array(6), 3),
    case(sliding_window_view, array(4, 5), 2, axis=-1),
    case(sliding_window_view, array(4, 5), (2, 3)),
    case(sliding_window_view, array(3, 2, 4), (2, 4), axis=(0, 2)),
]

SAMPLES = np.cumsum(array(5, low=0.2, high=2))
INTERPOLATION = [
    case(np.interp, array(4, low=0.5, high=4), SAMPLES, array(5)),
    case(np.interp, np.array([-1.0, 3.1, 99.0]), SAMPLES, array(5)),
    case(np.interp, np.array([[-1.0, 99.0]]), SAMPLES, array(5), np.float64(1.5), np.float64(0.5)),
    case(np.interp, np.float64(2.1), SAMPLES, array(5)),
    case(np.interp, np.float64(2.1), array(1), array(1)),
    *(
        case(callee, array(n), array(m), mode)
        for callee in (np.convolve, np.correlate)
        for n, m in [(5, 3), (2, 5), (4, 4), (5, 2)]
        for mode in ("full", "same", "valid")
    ),
]
