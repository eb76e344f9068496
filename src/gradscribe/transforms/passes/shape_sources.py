"""Ask a value that is needed anyway for its shape, not one that is kept for its shape alone.

Assumes a simplified function. Guarantees the same results: in the top block, `x.shape`,
`x.size`, `np.zeros_like(x)` and `np.full_like(x, v)` are asked of another value of x's type
where x is not read any more, and that other value is read later. So `A` need not outlive
the copy that the program works on, and a record need not hold it. (Values that are undefined
where a branch or a loop was not entered are not asked; nor those that are converted to complex
numbers, as they may be real ones when the program runs.) Of an array without axes there is nothing
to ask but the dtype: where a derivative fills one it is `np.asarray(v, dtype)`.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import replace

import numpy as np

from gradscribe.ir.core import Block, Function, Operand, Operation, Value, walk
from gradscribe.ir.roles import is_derived
from gradscribe.ir.types import Array, Scalar, Type
from gradscribe.primitives.control import ZEROS_LIKE
from gradscribe.primitives.eigenvalues import as_complex
from gradscribe.primitives.indexing import LENGTH, SIZE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.analyses.definedness import possibly_undefined

_FULL_LIKE = PRIMITIVES[np.full_like]
_ASARRAY = PRIMITIVES[np.asarray]


def choose_shape_sources(function: Function, seeds: Collection[Value]) -> Function:
    """The function with the operands of shape queries chosen anew.

    seeds: parameters that the primal part of a joined function must not read.
    """
    shape_only = {LENGTH, SIZE, ZEROS_LIKE, _FULL_LIKE}
    body = function.body
    unfit = possibly_undefined(function) | _maybe_real(body)
    last_read = _last_reads(function, shape_only)
    of_type: dict[Type, list[Value]] = {}
    for parameter in body.parameters:
        if parameter in seeds:
            continue
        of_type.setdefault(parameter.type, []).append(parameter)
    operations: list[Operation] = []
    for position, operation in enumerate(body.operations):
        if operation.primitive in shape_only:
            operation = _with_source(operation, position, last_read, of_type)
        operations.append(operation)
        for result in operation.results:
            if isinstance(result.type, Array) and result not in unfit:
                of_type.setdefault(result.type, []).append(result)
    if all(a is b for a, b in zip(operations, body.operations, strict=True)):
        return function
    return replace(function, body=replace(body, operations=tuple(operations)))


def _maybe_real(body: Block) -> set[Value]:
    """What NumPy gives as real numbers where it can, whatever its type says."""
    conversion = PRIMITIVES[as_complex]
    return {o.operands[0] for o in walk(body) if o.primitive is conversion}


def _with_source(
    operation: Operation,
    position: int,
    last_read: dict[Value, int],
    of_type: dict[Type, list[Value]],
) -> Operation:
    x = operation.operands[0]
    if last_read.get(x, -1) > position:
        return operation
    if operation.primitive is _FULL_LIKE and is_derived(operation):
        array, number = (operand.type for operand in operation.operands)
        if isinstance(number, Scalar) and array is Array(number.dtype, ()):
            return _of_number(operation, number.dtype)
    for other in reversed(of_type.get(x.type, [])):
        if last_read.get(other, -1) > position:
            return replace(operation, operands=(other, *operation.operands[1:]))
    return operation


def _of_number(filling: Operation, dtype: str) -> Operation:
    """The number that an array without axes is filled with, as such an array."""
    return replace(
        filling,
        primitive=_ASARRAY,
        callee=_ASARRAY.callee,
        operands=filling.operands[1:],
        attributes={"x": Operand(0), "dtype": np.dtype(dtype).type},
    )


def _last_reads(function: Function, shape_only: Set[object]) -> dict[Value, int]:
    """For each value, the last position in the top block at which its contents are read."""
    last: dict[Value, int] = {}
    for position, operation in enumerate(function.body.operations):
        inside = [o for region in operation.regions for o in walk(region)]
        for reader in (operation, *inside):
            first = 1 if reader.primitive in shape_only else 0
            for operand in reader.operands[first:]:
                last[operand] = position
            for region in reader.regions:
                for value in region.yields:
                    last[value] = position
    for value in function.body.yields:
        last[value] = len(function.body.operations)
    return last
