"""`out=`: results stored in Tensors that the caller gives.

A function of the `gs` namespace computes as ever; its result is then stored in the memory of the
given Tensor, cast to its dtype. Where the shapes differ, that Tensor gets memory of the right
size, as in PyTorch: an empty one silently, another one with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.rows import PLACE, ROW_OF
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.modes import MODES, tangent_of
from gradscribe.runtime.operations.inplace import store
from gradscribe.runtime.tensors.tensor import Tensor, wrap


def stored(function: Callable[..., Any], args: Any, options: Mapping[str, Any], out: Any) -> Any:
    """The result of a call, stored in a Tensor, or in several for several results."""
    name, row = function.__name__, ROW_OF[function]
    if PLACE in row.spelling and options.get("dtype") is None:
        options = {**options, "dtype": _only_dtype(out)}
    result = function(*args, **options)
    if row.fills and isinstance(out, Tensor) and out.array.size == result.array.size:
        result = wrap(result.array.reshape(out.array.shape))
    if isinstance(result, Tensor):
        return into(out, result, name)
    found = [into(each, part, name) for each, part in zip(out, result, strict=True)]
    return type(result)(*found) if hasattr(result, "_fields") else tuple(found)


def _only_dtype(out: Any) -> Any:
    return out.dtype if isinstance(out, Tensor) else None


def into(out: Tensor, result: Tensor, name: str) -> Tensor:
    """Store a result in `out=`."""
    if name == "nonzero" and isinstance(out, Tensor) and out.array.dtype != np.int64:
        raise RuntimeError(
            "nonzero: Expected out tensor to have scalar type Long but got scalar type"
            f"{dtypes.scalar_name(out.array.dtype)}"
        )
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if result.requires_grad or (grad_enabled() and out.requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    if MODES and (tangent_of(result) is not None or tangent_of(out) is not None):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an "
            "out= function"
        )
    if out.array.shape != result.array.shape:
        _make_room(out, result.array.shape)
    store(out, result)
    return out


def _make_room(out: Tensor, shape: tuple[int, ...]) -> None:
    """Give a Tensor memory for a result of this shape."""
    if out.array.size:
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out.array.shape)}, which does not match the required output shape "
            f"{list(shape)}. This behavior is deprecated, and in a future PyTorch release outputs "
            "will not be resized unless they have zero elements. You can explicitly reuse an out "
            "tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=4,
        )
    out.array = np.empty(shape, out.array.dtype)
    out._kind = None
