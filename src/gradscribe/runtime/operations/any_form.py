"""Calls of functions of any form and any number of results on Tensors, recorded as one node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.ir.core import Operand
from gradscribe.ir.trees import rebuilt
from gradscribe.primitives.registry import NAMED, available, class_of_results
from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.graph.modes import MODES, tell_called
from gradscribe.runtime.operations.eager import apply_call
from gradscribe.runtime.operations.inplace import is_recorded
from gradscribe.runtime.tensors.tensor import Tensor, wrap

_IN_ONE: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys((np.split, np.array_split, np.vsplit, np.hsplit, np.dsplit), list),
    **dict.fromkeys((np.meshgrid, np.broadcast_arrays, *available(np, "unstack")), tuple),
}
"""Functions that give a list or tuple of their results, were it of one alone."""


@silent
def apply_of_any_form(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A call of any form and any number of results, as one node."""
    leaves: list[Any] = []

    def abstracted(item: Any) -> Any:
        if isinstance(item, (tuple, list)):
            return rebuilt(item, map(abstracted, item))
        if isinstance(item, np.generic):
            return item.item()
        if not isinstance(item, (Tensor, np.ndarray)):
            return item
        leaves.append(item)
        return Operand(len(leaves) - 1)

    call = tuple(map(abstracted, args)), {name: abstracted(v) for name, v in kwargs.items()}
    if any(is_recorded(leaf, ()) for leaf in leaves if isinstance(leaf, Tensor)):
        given = apply_call(function, *call, leaves)
        for item in given:
            _make_own(item, leaves)
        result = given[0] if len(given) == 1 else given
        if function in _IN_ONE:
            result = _IN_ONE[function](given)
        elif function in NAMED and len(given) > 1:
            result = class_of_results(function)(*given)
    else:
        plain = {k: _arrays(v) for k, v in kwargs.items()}
        result = _wrapped(function(*_arrays(args), **plain))
        for item in result if isinstance(result, (tuple, list)) else (result,):
            _make_own(item, leaves)
    if MODES:
        results = result if isinstance(result, (tuple, list)) else (result,)
        tell_called(lambda varied: apply_call(function, *call, varied), leaves, results)
    return result


def _make_own(result: Any, leaves: list[Any]) -> None:
    """Give a result its own memory: a store to a view would change its Tensor, unrecorded."""
    if isinstance(result, Tensor):
        arrays = [leaf.array for leaf in leaves if isinstance(leaf, Tensor)]
        if any(np.may_share_memory(result.array, array) for array in arrays):
            result.array = np.array(result.array)


def _arrays(item: Any) -> Any:
    """Arguments without Tensors in them."""
    if isinstance(item, (tuple, list)):
        return rebuilt(item, map(_arrays, item))
    return item.array if isinstance(item, Tensor) else item


def _wrapped(result: Any) -> Any:
    """The arrays and numbers of a result as Tensors."""
    if isinstance(result, (tuple, list)):
        return (
            type(result)(*map(_wrapped, result))
            if hasattr(result, "_fields")
            else type(result)(map(_wrapped, result))
        )
    return wrap(np.asarray(result))
