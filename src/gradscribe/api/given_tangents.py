"""Tangents and cotangents that are given in compiled code: each must fit its primal.

What is said of them is what `directional` says of those that are given outside.
"""

from __future__ import annotations

from typing import Any, NoReturn

from gradscribe.compiler.given_leaves import complex_error, shape_error, structure_error
from gradscribe.errors import GradscribeError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.ir.core import Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Scalar, Type, is_complex
from gradscribe.primitives.typing import dims_of


def refuse(lowering: Lowering, node: Any, error: GradscribeError) -> NoReturn:
    """Show an error at its place in the program."""
    lowering.unsupported(node, error.what, error.advice, type(error))


def like(lowering: Lowering, node: Any, given: Value, primal: Value, kind: str) -> Value:
    """A (co)tangent, which must be of its primal's kind and shape."""
    of_numbers = all(isinstance(value.type, (Scalar, Array)) for value in (given, primal))
    if not of_numbers and type(given.type) is not type(primal.type):
        refuse(lowering, node, structure_error(kind))
    if of_numbers and not _has_shape(lowering.builder.facts, given.type, primal.type):
        wanted = _shape(lowering, primal) if isinstance(primal.type, Array) else ""
        refuse(lowering, node, shape_error(kind, _shape(lowering, given), wanted))
    if of_numbers and is_complex(given.type) and not is_complex(primal.type):
        refuse(lowering, node, complex_error(kind))
    return given


def _has_shape(facts: Facts, given: Type, wanted: Type) -> bool:
    """Whether both have one shape; lengths of which that is not known are assumed to be equal."""
    dims, wanted_dims = dims_of(given), dims_of(wanted)
    if type(given) is not type(wanted) or len(dims) != len(wanted_dims):
        return False
    for a, b in zip(dims, wanted_dims, strict=True):
        equal = facts.equal(a, b)
        if equal is None:
            facts.assume_equal(a, b)
        elif not equal:
            return False
    return True


def _shape(lowering: Lowering, value: Value) -> str:
    lengths = ", ".join(map(lowering.builder.facts.shown, dims_of(value.type)))
    return f"({lengths}{',' if len(dims_of(value.type)) == 1 else ''})"
