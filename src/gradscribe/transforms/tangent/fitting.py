"""A tangent as a rule gave it, made one of its primal value: its shape, its dtype."""

from __future__ import annotations

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Scalar, is_complex
from gradscribe.primitives import indexing
from gradscribe.transforms.derivatives.cotangents import call, converted


def fit(builder: Builder, tangent: Value, value: Value) -> Value:
    """The tangent of `value`, broadcast and cast where a rule left that to be done."""
    given, wanted = tangent.type, value.type
    if not isinstance(given, (Scalar, Array)) or not isinstance(wanted, (Scalar, Array)):
        return tangent
    if isinstance(wanted, Array):
        tangent = _broadcast(builder, tangent, value, wanted)
    elif isinstance(given, Array) and not given.rank:
        tangent = builder.call(indexing.GETITEM, {"x": tangent, "index": ()})
    if is_complex(given) and not is_complex(wanted):
        tangent = call(builder, np.real, tangent)
    stays = isinstance(given, Scalar) and given.weak
    if given.dtype == wanted.dtype or stays or (isinstance(wanted, Scalar) and wanted.weak):
        return tangent
    return converted(builder, tangent, np.dtype(wanted.dtype))


def _broadcast(builder: Builder, tangent: Value, value: Value, wanted: Array) -> Value:
    given, facts = tangent.type, builder.facts
    dims = given.dims if isinstance(given, Array) else ()
    if list(map(facts.normalize, dims)) == list(map(facts.normalize, wanted.dims)):
        return tangent
    if not _broadcasts(facts, dims, wanted.dims):
        return tangent
    shape = tuple(
        builder.call(indexing.LENGTH, {"x": value, "axis": axis})
        if length.known is None
        else length.known
        for axis, length in enumerate(wanted.dims)
    )
    return call(builder, np.broadcast_to, tangent, shape=shape)


def _broadcasts(facts: Facts, dims: tuple[Affine, ...], wanted: tuple[Affine, ...]) -> bool:
    """Whether a tangent broadcasts to its value. If not, it has the same lengths, in words that
    are the same only by what is assumed on this path."""
    try:
        facts.broadcast([wanted, dims])
    except ValueError:
        return False
    return True
