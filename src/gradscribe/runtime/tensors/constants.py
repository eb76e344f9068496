"""Functions that make Tensors of a shape: of one value, of evenly spaced numbers, of indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.arrays.memory_formats import arranged
from gradscribe.runtime.arrays.rows import FUNCTION, OUT, PLACE, operation
from gradscribe.runtime.arrays.size import sizes
from gradscribe.runtime.tensors.creation import finished, made_of_data, plain
from gradscribe.runtime.tensors.tensor import Array, Tensor


@operation(FUNCTION | OUT | PLACE, shapes="(shape)", dtypes="the default one, where none is named")
def zeros(
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Zeros."""
    array = np.zeros(_shape(shape, size), _floating(dtype))
    return finished(array, None, device, requires_grad)


@operation(FUNCTION | OUT | PLACE, shapes="(shape)", dtypes="the default one, where none is named")
def ones(
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones."""
    array = np.ones(_shape(shape, size), _floating(dtype))
    return finished(array, None, device, requires_grad)


@operation(FUNCTION | OUT | PLACE, shapes="(shape)", dtypes="the default one, where none is named")
def empty(
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Whatever was in memory."""
    array = np.empty(_shape(shape, size), _floating(dtype))
    if memory_format is not None:
        array = arranged(array, memory_format)
    return finished(array, None, device, requires_grad)


@operation(FUNCTION, shapes="(size)")
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **_: Any,
) -> Tensor:
    """Zeros, at these steps in memory along each axis."""
    made = np.dtype(dtypes.default() if dtype is None else dtypes.to_dtype(dtype))
    count = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    memory = np.zeros(0 if 0 in size else count, made)
    steps = [step * made.itemsize for step in stride]
    array = np.lib.stride_tricks.as_strided(memory, tuple(size), steps)
    return finished(array, None, device, requires_grad)


@operation(FUNCTION | OUT | PLACE, shapes="(size)", dtypes="that of the value, where none is named")
@silent
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """One value everywhere."""
    if dtype is None and isinstance(fill_value, (float, complex)):
        dtype = _spaced(None, fill_value)
    array = np.full(_shape((size,), None), fill_value, None if dtype is None else _floating(dtype))
    return made_of_data(array, dtype, device, requires_grad)


@operation(
    FUNCTION | OUT | PLACE,
    shapes="(n, m), m being n where it is not said",
    dtypes="the default one, where none is named",
)
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The unit matrix."""
    for name, length in (("n", n), ("m", m)):
        if length is not None and length < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {length}")
    return finished(np.eye(n, m, dtype=_floating(dtype)), None, device, requires_grad)


@operation(
    FUNCTION | OUT | PLACE,
    shapes="(ceil((end - start) / step))",
    dtypes="int64 for integers, else the default one, where none is named",
    fills=True,
)
@silent
def arange(
    *bounds: Any,
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers from start (0) up to, not including, end, in steps (of 1)."""
    if end is not None:
        bounds = (*(bounds or (start,)), end, step)
    elif step != 1:
        bounds = (*((0, *bounds) if len(bounds) == 1 else bounds), step)
    if not bounds:
        raise TypeError("arange() missing the argument 'end'")
    check_bounds(*((0, *bounds) if len(bounds) == 1 else bounds))
    return _made_of_numbers(np.arange(*map(plain, bounds)), dtype, device, requires_grad)


def _made_of_numbers(array: Array, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """`made_of_data`, where floating numbers become the default type if none is named."""
    if dtype is None and array.dtype.kind == "f":
        dtype = dtypes.default()
    return made_of_data(array, dtype, device, requires_grad)


def check_bounds(start: Any, end: Any, step: Any = 1) -> None:
    """Raise PyTorch's errors for steps that do not lead from start to end."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


@operation(
    FUNCTION | OUT | PLACE,
    shapes="(floor((end - start) / step) + 1)",
    dtypes="the default one, where none is named",
    fills=True,
)
def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers from start to, and with, end."""
    if end is None:
        start, end = 0, start
    count = math.floor((end - start) / step) + 1
    values = start + step * np.arange(count)
    return finished(values, dtype or dtypes.default(), device, requires_grad)


@operation(
    FUNCTION | OUT | PLACE,
    shapes="(steps)",
    dtypes="the default one, where none is named",
    fills=True,
)
@silent
def linspace(
    start: Any,
    end: Any,
    steps: int = 100,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """So many numbers from start to end, both included, evenly spaced."""
    wanted = _spaced(dtype, start, end)
    _check_steps(steps)
    array = np.linspace(plain(start), plain(end), steps)
    return finished(array.astype(wanted), None, device, requires_grad)


def _check_steps(steps: int) -> None:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")


@operation(
    FUNCTION | OUT | PLACE,
    shapes="(steps)",
    dtypes="the default one, where none is named",
    fills=True,
)
@silent
def logspace(
    start: Any,
    end: Any,
    steps: int = 100,
    base: float = 10.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """So many powers of the base, whose exponents are evenly spaced from start to end."""
    wanted = _spaced(dtype, start, end)
    _check_steps(steps)
    array = np.logspace(plain(start), plain(end), steps, base=base, dtype=wanted)
    return finished(array, None, device, requires_grad)


@operation(FUNCTION | PLACE, shapes="()", dtypes="the default one, where none is named")
@silent
def scalar_tensor(
    s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A Tensor without axes, of the default floating type."""
    return finished(np.array(s, _floating(dtype)), None, device, requires_grad)


@operation(FUNCTION, shapes="(2, k)", dtypes="int64")
def tril_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """The rows and columns of the elements below a diagonal."""
    return finished(np.stack(np.tril_indices(row, offset, col)))


@operation(FUNCTION, shapes="(2, k)", dtypes="int64")
def triu_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """The rows and columns of the elements above a diagonal."""
    return finished(np.stack(np.triu_indices(row, offset, col)))


@operation(FUNCTION | PLACE, shapes="(…) -> (…)")
def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Zeros, in the shape of another Tensor."""
    return zeros(
        input.array.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad
    )


@operation(FUNCTION | PLACE, shapes="(…) -> (…)")
def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Ones, in the shape of another Tensor."""
    return ones(
        input.array.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad
    )


@operation(FUNCTION | PLACE, shapes="(…) -> (…)")
def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Whatever was in memory, in the shape of another Tensor."""
    return empty(
        input.array.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad
    )


@operation(FUNCTION | PLACE, shapes="(…) -> (…)")
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """One value everywhere, in the shape of another Tensor."""
    shape = input.array.shape
    return full(
        shape, fill_value, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad
    )


def _shape(given: tuple[Any, ...], size: Any) -> tuple[int, ...]:
    shape = sizes(given if size is None else (size,))
    negative = [length for length in shape if length < 0]
    if negative:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {negative[0]}: {list(shape)}"
        )
    return shape


def _floating(dtype: Any) -> dtypes.Dtype:
    return dtypes.default() if dtype is None else dtypes.to_dtype(dtype)


def _spaced(dtype: Any, *bounds: Any) -> dtypes.Dtype:
    """The dtype named, or the default one, complex if one of these numbers is."""
    if dtype is None and any(np.iscomplexobj(plain(bound)) for bound in bounds):
        return np.result_type(dtypes.default(), np.complex64)
    return _floating(dtype)
