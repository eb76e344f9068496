"""Derivatives of calls: functions derived from the called one, made once, and called in turn.

Of a function `f`, differentiated with respect to those parameters, and of those results, that a
derivative passes through in some call of it (see `activity`):

    f_forward   (arguments) -> (results, record)
    f_adjoint   (record, cotangents of results) -> cotangents of arguments
    f_tangent   (arguments, tangents) -> (results, tangents of results)

What these call, they call by the derived functions again, so that recursion ends in names. The
tangent of a function with a record (of `f_forward`, or of `f_adjoint`) hands over the tangent
of the record, too: as one more record.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from gradscribe.ir.core import Callee, Function, Operation, Value
from gradscribe.ir.types import is_differentiable
from gradscribe.transforms.analyses.activity import parameter_groups, result_groups
from gradscribe.transforms.analyses.call_flow import Ends


def callee_of(operation: Operation) -> Callee:
    callee = operation.attributes["function"]
    assert isinstance(callee, Callee)
    return callee


def active_leaves(function: Function, ends: Ends) -> tuple[int, ...]:
    """The numbers of the leaves of the parameters that are differentiated."""
    return _differentiable(parameter_groups(function), ends.inputs)


def active_results(function: Function, ends: Ends) -> tuple[int, ...]:
    """The numbers of the leaves of the results that are."""
    return _differentiable(result_groups(function), ends.outputs)


def _differentiable(groups: Sequence[Sequence[Value]], numbers: frozenset[int]) -> tuple[int, ...]:
    flags = [
        number in numbers and is_differentiable(value.type)
        for number, group in enumerate(groups)
        for value in group
    ]
    return tuple(compress(range(len(flags)), flags))
