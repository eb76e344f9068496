"""Methods that set the elements of a Tensor to random numbers of a distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.explaining import common_shape
from gradscribe.runtime.operations import inplace
from gradscribe.runtime.tensors.randomness import check_bounds, check_chance, source
from gradscribe.runtime.tensors.tensor import Tensor


def random_(
    self: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    generator: Any = None,
) -> Tensor:
    """Set the elements to random integers from low (0 if only one bound is given) below high;
    without bounds, to any that the dtype can tell apart, none negative."""
    if high is None:
        low, high = 0, _count_of(self.array.dtype) if low is None else low
    low = low or 0
    check_bounds(low, high)
    if self.array.dtype.kind in "biu":
        _check_within(self.array.dtype, low, high)
    return inplace.assign(self, source(generator).integers(low, high, self.array.shape))


def _check_within(dtype: dtypes.Dtype, low: int, high: int) -> None:
    """The error for bounds that are no numbers of the dtype."""
    least, greatest = (0, 1) if dtype.kind == "b" else _limits(dtype)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= greatest:
            raise RuntimeError(f"{name} is out of bounds for {dtypes.cpp_name(dtype)}")


def _limits(dtype: dtypes.Dtype) -> tuple[int, int]:
    bounds = np.iinfo(dtype)
    return int(bounds.min), int(bounds.max)


def _count_of(dtype: dtypes.Dtype) -> int:
    """How many of the integers from zero on a dtype can tell apart."""
    if dtype.kind == "f":
        return 1 + (2 << int(np.finfo(dtype).nmant))
    return 2 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Set the elements to 1 with a probability, else to 0."""
    chance = p.array if isinstance(p, Tensor) else p
    check_chance(chance)
    common_shape([self.array.shape, np.shape(chance)])
    return inplace.assign(self, source(generator).random(self.array.shape) < chance)


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Set the elements to random numbers of the exponential distribution."""
    _check_continuous(self, "Exponential", dtypes.scalar_name(self.array.dtype))
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return inplace.assign(self, source(generator).exponential(1 / lambd, self.array.shape))


def cauchy_(
    self: Tensor,
    median: float = 0.0,
    sigma: float = 1.0,
    *,
    generator: Any = None,
) -> Tensor:
    """Set the elements to random numbers of the Cauchy distribution."""
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    _check_continuous(self, "Cauchy", dtypes.cpp_name(self.array.dtype))
    drawn = source(generator).standard_cauchy(self.array.shape)
    return inplace.assign(self, median + sigma * drawn)


def _check_continuous(self: Tensor, name: str, dtype: str) -> None:
    if self.array.dtype.kind != "f":
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {dtype}"
        )


def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Set the elements to how often one tries, with this chance, until the first success."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return inplace.assign(self, source(generator).geometric(p, self.array.shape))


def log_normal_(
    self: Tensor,
    mean: float = 1.0,
    std: float = 2.0,
    *,
    generator: Any = None,
) -> Tensor:
    """Set the elements to exponentials of normal random numbers."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    _only_floating(self, "log_normal")
    return inplace.assign(self, source(generator).lognormal(mean, std, self.array.shape))


def uniform_(
    self: Tensor,
    low: float = 0.0,
    high: float = 1.0,
    *,
    generator: Any = None,
) -> Tensor:
    """Set the elements, and the parts of complex ones, to uniform random numbers."""
    _only_floating(self, "check_uniform_bounds")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    draw = source(generator)
    drawn: Any = low + (high - low) * draw.random(self.array.shape)
    if self.array.dtype.kind == "c":
        drawn = drawn + 1j * (low + (high - low) * draw.random(self.array.shape))
    return inplace.assign(self, drawn)


def normal_(
    self: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    generator: Any = None,
) -> Tensor:
    """Set the elements to normal random numbers; the parts of complex ones share the variance."""
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    _only_floating(self, "normal")
    draw, shape = source(generator), self.array.shape
    noise: Any = draw.standard_normal(shape)
    if self.array.dtype.kind == "c":
        noise = (noise + 1j * draw.standard_normal(shape)) / np.sqrt(2)
    return inplace.assign(self, mean + std * noise)


def _only_floating(self: Tensor, kernel: str) -> None:
    if self.array.dtype.kind not in "fc":
        kind = dtypes.scalar_name(self.array.dtype)
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind}'")
