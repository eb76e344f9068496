"""Gradients are added up in `grad`."""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.data_errors import check_sum
from gradscribe.runtime.arrays.memory_formats import empty_as, laid_out_as
from gradscribe.runtime.operations.inplace import assign
from gradscribe.runtime.tensors.gradients import wanted_dtype
from gradscribe.runtime.tensors.tensor import Tensor, wrap

_accumulating = RLock()


def accumulate(variable: Tensor, gradient: Any) -> None:
    """Add a gradient, which nothing else refers to, to `variable.grad`."""
    with _accumulating:
        present = variable._grad
        if isinstance(gradient, Tensor):
            variable.grad = _sum_of_tensors(variable, present, gradient)
        elif present is None:
            array = np.asarray(gradient, dtype=wanted_dtype(variable))
            variable.grad = wrap(laid_out_as(variable.array, array))
        elif variable._node is not None:
            variable.grad = wrap(np.asarray(present.array + gradient, present.array.dtype))
        else:
            try:
                np.add(present.array, gradient, out=present.array, casting="same_kind")
            except ValueError:
                check_sum(present.array, gradient)
                raise
            present._counter[0] += 1


def _sum_of_tensors(variable: Tensor, present: Tensor | None, gradient: Tensor) -> Tensor:
    """The gradient that a variable has, if any, and another one, recorded."""
    wanted = wanted_dtype(variable)
    if wanted is not None and gradient.array.dtype != wanted:
        gradient = gradient.to(wanted)
    if present is not None:
        return present + gradient
    if variable._node is not None:
        return gradient.clone()
    return assign(wrap(empty_as(variable.array, gradient.array.dtype)), gradient)
