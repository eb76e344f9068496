"""The calls on which sorting and the choice of elements are tested."""

from __future__ import annotations

import numpy as np

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
]
