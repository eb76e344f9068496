"""Einstein's summation: sums of products, by the letters of the axes."""

from __future__ import annotations

import string

import numpy as np

from gradscribe.ir.core import Primitive
from gradscribe.primitives.control import signature
from gradscribe.primitives.registry import BILINEAR, LINEAR, adjoint, variant
from gradscribe.primitives.static import static
from gradscribe.primitives.typing import (
    dims_of,
    like_first,
    number_type,
    result_of,
)


def _letters(subscripts, ranks):
    """The letters of each operand, and those of the result; axes under `...` get capitals of
    their own, counted from the last."""
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    operands = terms.split(",")
    free = [letter for letter in string.ascii_uppercase[::-1] if letter not in subscripts]
    hidden = [rank - len(term) + 3 for term, rank in zip(operands, ranks, strict=True)]
    longest = max((n for n, term in zip(hidden, operands, strict=True) if "..." in term), default=0)
    whole = "".join(free[:longest][::-1])
    if not arrow:
        named = set(terms) - {",", "."}
        result = "..." + "".join(sorted(x for x in named if terms.count(x) == 1))
    expanded = [
        term.replace("...", whole[longest - n :]) for n, term in zip(hidden, operands, strict=True)
    ]
    return expanded, result.replace("...", whole)


def subscripts_of_lists(lists, count):
    """The text for axes that are given by numbers: a list for each of `count` operands, and one
    for the result, if there is one more."""
    numbers = sorted({n for given in lists for n in given if n is not Ellipsis})
    letters = dict(zip(numbers, string.ascii_letters, strict=False)) | {Ellipsis: "..."}
    terms = ["".join(letters[n] for n in given) for given in lists]
    return ",".join(terms[:count]) + "".join(f"->{result}" for result in terms[count:])


def _einsum_type(facts, callee, subscripts, operands, optimize=False):
    operands = tuple(map(number_type, operands))
    terms, letters = _letters(subscripts, [len(dims_of(x)) for x in operands])
    lengths = {}
    for term, operand in zip(terms, operands, strict=True):
        for letter, length in zip(term, dims_of(operand), strict=True):
            known = lengths.setdefault(letter, length)
            (lengths[letter],) = facts.broadcast([(known,), (length,)])
    result = result_of(callee, subscripts, *operands)
    if not letters:
        return result
    return like_first(result, tuple(lengths[letter] for letter in letters), *operands)


@static
def subscripts_of_cotangent(subscripts, number, ranks):
    """How the cotangent of an operand is made of that of the result, the other operands and
    unit matrices; the axes that are missing then, along which it is constant; and the axes
    whose lengths the unit matrices have. They stand for letters that occur twice."""
    terms, result = _letters(subscripts, ranks)
    free = [x for x in string.ascii_letters if not any(x in t for t in (*terms, result))]
    own, units, lengths = "", [], []
    for axis, letter in enumerate(terms[number]):
        if letter in own:
            units.append(letter + free[len(units)])
            lengths.append(axis)
            letter = units[-1][1]
        own += letter
    given = (result, *(t for i, t in enumerate(terms) if i != number), *units)
    present = "".join(x for x in own if any(x in term for term in given))
    missing = tuple(axis for axis, letter in enumerate(own) if letter not in present)
    return f"{','.join(given)}->{present}", missing, tuple(lengths)


def _spread(d_x, axes, x):
    """The cotangent, along axes where it is constant; along others x may have one element."""
    shape = ()
    for axis, length in enumerate(np.shape(d_x)):
        shape = (*shape, x.shape[axis] if axis in axes else length)
    return np.broadcast_to(d_x, shape)


def _call(subscripts, *operands, optimize=False):
    """Signature of einsum."""


@adjoint(
    np.einsum,
    type=_einsum_type,
    tangent=BILINEAR,
    static=("subscripts", "optimize"),
    signature=_call,
)
def einsum(out, subscripts, operands, optimize=False, *, d_out):
    ranks, parts = (), ()
    for x in operands:
        ranks = (*ranks, np.ndim(x))
    for i, x in enumerate(operands):
        text, missing, lengths = subscripts_of_cotangent(subscripts, i, ranks)
        units = ()
        for axis in lengths:
            units = (*units, np.eye(x.shape[axis], dtype=d_out.dtype))
        others = (*operands[:i], *operands[i + 1 :], *units)
        d_x = np.einsum(text, d_out, *others, optimize=optimize is not False)
        if len(missing) > 0:
            d_x = _spread(np.expand_dims(d_x, missing), missing, x)
        parts = (*parts, d_x)
    return None, parts


# -- one operand, whose axes are only named anew -------------------------------------------------


def axes_of_view(subscripts, rank):
    """The numbers of the axes of one operand, and those of the result, which is a view of it;
    None where elements are summed."""
    (term,), result = _letters(subscripts, (rank,))
    if set(term) != set(result) or len(set(result)) != len(result):
        return None
    return tuple(term.index(x) for x in term), tuple(term.index(x) for x in result)


def _view_type(facts, callee, x, axes, result):
    return _einsum_type(facts, callee, subscripts_of_lists((axes, result), 1), (x,))


def _view_adjoint(out, x, axes, result, *, d_out):
    d_x = np.zeros_like(x)
    np.einsum(d_x, axes, result)[...] = d_out
    return d_x


EINSUM_VIEW = Primitive(
    "einsum_view",
    _view_type,
    signature("x", "axes", "result"),
    adjoint=_view_adjoint,
    tangent=LINEAR,
    view=True,
    masks=True,
    callee=np.einsum,
    static=frozenset({"axes", "result"}),
)
"""`np.einsum(x, axes, result)`, a view of the elements where axes of one number agree."""


@variant(np.einsum)
def einsum_of_form(subscripts, *operands, optimize=False, dtype=None, order="K", casting="safe"):
    """Sums of another dtype are those of the operands in it; the layout is NumPy's own matter."""
    if dtype is not None:
        operands = tuple([np.asarray(x, dtype) for x in operands])
    return np.einsum(subscripts, *operands, optimize=optimize)
