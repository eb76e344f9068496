"""Integers that tell of arrays: places in sorted order, bins, counts.

They have no derivative; counts of weighted elements have one in the weights.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.joining import joined_items
from gradscribe.primitives.registry import adjoint, constant
from gradscribe.primitives.static import as_places
from gradscribe.primitives.typing import (
    dims_of,
    elementwise_type,
    like_first,
    number_type,
    result_of,
    same_length,
    unknown_length,
)

# -- places ------------------------------------------------------------------------------------


def _searchsorted(a, v, side="left", sorter=None):
    """Signature of searchsorted."""


def _searchsorted_type(facts, callee, a, v, side="left", sorter=None):
    v = number_type(v)
    result = result_of(callee, a, v)
    return like_first(result, dims_of(v), a) if isinstance(result, Array) else result


constant(
    np.searchsorted,
    type=_searchsorted_type,
    methods=("searchsorted",),
    signature=_searchsorted,
    cheap=False,
)


def _digitize(x, bins, right=False):
    """Signature of digitize."""


def _digitize_type(facts, callee, x, bins, right=False):
    x = number_type(x)
    result = result_of(callee, x, bins)
    return like_first(result, dims_of(x), bins) if isinstance(result, Array) else result


constant(np.digitize, type=_digitize_type, signature=_digitize, cheap=False)


def _argpartition(a, kth, axis=-1):
    """Signature of argpartition."""


def _argpartition_type(facts, callee, a, kth, axis=-1):
    return like_first(result_of(np.argsort, a), dims_of(a), a)


constant(np.argpartition, type=_argpartition_type, signature=_argpartition, cheap=False)


def _lexsort(operands, axis=-1):
    """Signature of lexsort."""


def _lexsort_type(facts, callee, operands, axis=-1):
    keys, _ = joined_items(operands)
    if not dims_of(keys[0]):
        return Scalar("int64", weak=False)
    return like_first(result_of(np.argsort, keys[0]), dims_of(keys[0]), *keys)


constant(np.lexsort, type=_lexsort_type, signature=_lexsort, cheap=False)


def _isin(element, test_elements):
    """Signature of isin."""


def _isin_type(facts, callee, element, test_elements):
    return elementwise_type(facts, np.isnan, x=element)


constant(np.isin, type=_isin_type, signature=_isin, cheap=False)

# -- counts ------------------------------------------------------------------------------------


def _bincount_type(facts, callee, x, weights=None, minlength=0):
    if weights is not None:
        same_length(facts, dims_of(x)[0], dims_of(weights)[0], "elements and weights")
        return like_first(Array("float64", ()), (unknown_length(),), x)
    return like_first(Array("int64", ()), (unknown_length(),), x)


def _bincount_tangent(out, x, weights=None, minlength=0, *, d_weights=None):
    return np.bincount(x, d_weights, minlength)


@adjoint(np.bincount, type=_bincount_type, tangent=_bincount_tangent)
def bincount(out, x, weights=None, minlength=0, *, d_out):
    return None, None if weights is None else d_out[as_places(x)]
