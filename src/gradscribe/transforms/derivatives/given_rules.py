"""Functions with derivatives that the user gave: of an `autograd.Function`, or a `@gs.primitive`.

A given rule need be no true derivative, and those for reverse and for forward mode need not agree.
So second derivatives need not be symmetric, and each is to be taken by the mode that is asked for:
reverse mode runs what was given for it, and forward mode the rest.
"""

from __future__ import annotations

from gradscribe.ir.core import Function, Primitive, callees, walk
from gradscribe.ir.probing import probe
from gradscribe.primitives.control import GIVEN


def has_given_rules(function: Function) -> bool:
    """Whether a derivative of a function, or of what it calls, is one that the user gave."""
    bodies = [function.body, *(callee.function.body for callee in callees(function))]
    return any(is_given(operation.primitive) for body in bodies for operation in walk(body))


def is_given(primitive: Primitive) -> bool:
    """Whether the derivative of an operation is one that the user gave."""
    return primitive is GIVEN or probe(primitive.callee, "__gradscribe_primitive__", False)
