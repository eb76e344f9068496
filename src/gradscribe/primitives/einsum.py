"""Einstein's summation: sums of products, by the letters of the axes."""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import BILINEAR, adjoint
from gradscribe.primitives.static import static
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    like_first,
    number_type,
    result_of,
    same_length,
)


def _letters(subscripts, count):
    """The letters of each operand, and those of the result."""
    if not isinstance(subscripts, str):
        raise TypeRuleError("the subscripts are a text that is known when it is compiled")
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    operands = terms.split(",")
    if not arrow:
        result = "".join(sorted(x for x in set(terms) - {","} if terms.count(x) == 1))
    if "." in subscripts or any(len(set(term)) < len(term) for term in operands):
        raise TypeRuleError("ellipses, and diagonals of one operand, are not supported")
    if len(operands) != count:
        raise TypeRuleError(f"{len(operands)} terms for {count} operands")
    return operands, result


def _einsum_type(facts, callee, subscripts, operands):
    operands = tuple(map(number_type, operands))
    terms, letters = _letters(subscripts, len(operands))
    lengths = {}
    for term, operand in zip(terms, operands, strict=True):
        dims = dims_of(operand)
        if len(term) != len(dims):
            raise TypeRuleError(f"{term!r} stands for an array of {len(term)} axes")
        for letter, length in zip(term, dims, strict=True):
            same_length(facts, lengths.setdefault(letter, length), length, f"axes {letter!r}")
    result = result_of(callee, subscripts, *operands)
    if not letters:
        return result
    return like_first(result, tuple(lengths[letter] for letter in letters), *operands)


@static
def subscripts_of_cotangent(subscripts, number, count):
    """How the cotangent of an operand is made of that of the result and the other operands, and
    the axes that are missing then, along which it is constant."""
    terms, result = _letters(subscripts, count)
    own, others = terms[number], [t for i, t in enumerate(terms) if i != number]
    present = "".join(x for x in own if any(x in term for term in (result, *others)))
    missing = tuple(axis for axis, letter in enumerate(own) if letter not in present)
    return f"{','.join((result, *others))}->{present}", missing


def _call(subscripts, *operands):
    """Signature of einsum."""


@adjoint(np.einsum, type=_einsum_type, tangent=BILINEAR, static=("subscripts",), signature=_call)
def einsum(out, subscripts, operands, *, d_out):
    parts = ()
    for i, x in enumerate(operands):
        text, missing = subscripts_of_cotangent(subscripts, i, len(operands))
        d_x = np.einsum(text, d_out, *operands[:i], *operands[i + 1 :])
        if len(missing) > 0:
            d_x = np.broadcast_to(np.expand_dims(d_x, missing), np.shape(x))
        parts = (*parts, d_x)
    return None, parts
