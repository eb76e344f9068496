"""Random Tensors, from one NumPy generator of the package's own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from gradscribe.runtime.functions.silence import silent
from gradscribe.runtime.tensors import dtypes, inplace
from gradscribe.runtime.tensors.creation import finished
from gradscribe.runtime.tensors.size import sizes
from gradscribe.runtime.tensors.tensor import Tensor, wrap

# fmt: off
__all__ = [
    "Generator", "bernoulli", "binomial", "default_generator", "get_rng_state", "initial_seed",
    "manual_seed", "multinomial", "normal", "poisson", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm", "seed", "set_rng_state",
]
# fmt: on


class Generator:
    """A source of random numbers that can be seeded again."""

    def __init__(self) -> None:
        self._numpy: np.random.Generator | None = None
        self.seed_value = 0

    @property
    def numpy(self) -> np.random.Generator:
        """NumPy's generator, made when first needed: importing `numpy.random` takes a while."""
        if self._numpy is None:
            self._numpy = np.random.default_rng()
        return self._numpy

    def manual_seed(self, seed: int) -> Generator:
        """Start again from this seed."""
        self.seed_value = int(seed)
        self._numpy = np.random.default_rng(seed % (1 << 64))
        return self

    def seed(self) -> int:
        """Start again from a seed that nobody can foretell, and return it."""
        seed = int(np.random.SeedSequence().entropy) & ((1 << 63) - 1)  # type: ignore[arg-type]
        self.manual_seed(seed)
        return seed

    def get_state(self) -> Tensor:
        """What `set_state` starts again from, as bytes."""
        state = pickle.dumps((self.seed_value, self.numpy.bit_generator.state))
        return wrap(np.frombuffer(state, np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on as from a state that `get_state` gave."""
        self.seed_value, state = pickle.loads(new_state.array.tobytes())
        self.numpy.bit_generator.state = state
        return self

    def initial_seed(self) -> int:
        """The seed that was given last."""
        return self.seed_value


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Make all random numbers from here on reproducible."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start from a seed that nobody can foretell, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that was given last."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """What `set_rng_state` starts again from, as bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on as from a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


def rand(
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """Uniform on [0, 1)."""
    values = source(generator).random(sizes(shape if size is None else (size,)))
    return finished(values, dtype or dtypes.default(), device, requires_grad)


def randn(
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """Of the standard normal distribution."""
    values = source(generator).standard_normal(sizes(shape if size is None else (size,)))
    return finished(values, dtype or dtypes.default(), device, requires_grad)


def randint(
    low: int = 0,
    high: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """Integers from low (0 if only one bound is given) up to, not including, high."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    _check_bounds(low, high)
    values = source(generator).integers(low, high, size=tuple(size))
    return finished(values, dtype or dtypes.int64, device, requires_grad)


def randperm(
    n: int, *, dtype: Any = None, generator: Generator | np.random.Generator | None = None
) -> Tensor:
    """The integers below n in random order."""
    return finished(source(generator).permutation(n), dtype or dtypes.int64)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None) -> Tensor:
    """Of the normal distribution."""
    means, deviations = (getattr(v, "array", v) for v in (mean, std))
    if np.any(np.less(deviations, 0)):
        raise RuntimeError(
            "normal expects all elements of std >= 0.0"
            if np.ndim(deviations)
            else f"normal expects std >= 0.0, but found std {deviations:g}"
        )
    shape = np.broadcast(means, deviations).shape if size is None else tuple(size)
    noise = source(None).standard_normal(shape)
    return finished(means + deviations * noise, dtypes.default())


def rand_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Uniform on [0, 1), in the shape of another Tensor."""
    dtypes.check_device(device)
    return rand(input.array.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randn_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Of the standard normal distribution, in the shape of another Tensor."""
    dtypes.check_device(device)
    return randn(input.array.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randint_like(
    input: Tensor,
    low: int,
    high: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Integers from low (0 if only one bound is given) up to, not including, high."""
    dtypes.check_device(device)
    if high is None:
        low, high = 0, low
    size, dtype = input.array.shape, dtype or input.dtype
    return randint(low, high, size, dtype=dtype, requires_grad=requires_grad)


def bernoulli(input: Tensor, *, generator: Generator | np.random.Generator | None = None) -> Tensor:
    """1 with the probabilities that the elements are, else 0."""
    drawn = source(generator).random(input.array.shape) < input.array
    return finished(drawn, input.dtype)


def poisson(input: Tensor, generator: Generator | np.random.Generator | None = None) -> Tensor:
    """Of Poisson distributions with these rates."""
    return finished(source(generator).poisson(input.array), input.dtype)


def binomial(
    count: Tensor, prob: Tensor, generator: Generator | np.random.Generator | None = None
) -> Tensor:
    """Of binomial distributions with these counts and probabilities."""
    drawn = source(generator).binomial(count.array.astype(np.int64), prob.array)
    return finished(drawn, count.dtype)


@silent
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """So many indices for each row, with probabilities in proportion to its elements."""
    rows = input.array.reshape(-1, input.array.shape[-1])
    chosen = [
        source(generator).choice(len(row), num_samples, replacement, row / row.sum())
        for row in rows
    ]
    return finished(np.array(chosen).reshape(*input.array.shape[:-1], num_samples), dtypes.int64)


def random_(self: Tensor, low: int | None = None, high: int | None = None) -> Tensor:
    """Set the elements to random integers from low (0 if only one bound is given) below high;
    without bounds, to any that the dtype can tell apart, none negative."""
    if high is None:
        low, high = 0, _count_of(self.array.dtype) if low is None else low
    _check_bounds(low or 0, high)
    return inplace.assign(self, source(None).integers(low or 0, high, self.array.shape))


def _check_bounds(low: int, high: int) -> None:
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )


def _count_of(dtype: dtypes.Dtype) -> int:
    """How many of the integers from zero on a dtype can tell apart."""
    if dtype.kind == "f":
        return 1 + (2 << int(np.finfo(dtype).nmant))
    return 2 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def bernoulli_(self: Tensor, p: Any = 0.5) -> Tensor:
    """Set the elements to 1 with a probability, else to 0."""
    chance = p.array if isinstance(p, Tensor) else p
    return inplace.assign(self, source(None).random(self.array.shape) < chance)


def exponential_(self: Tensor, lambd: float = 1.0) -> Tensor:
    """Set the elements to random numbers of the exponential distribution."""
    return inplace.assign(self, source(None).exponential(1 / lambd, self.array.shape))


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Set the elements to random numbers of the Cauchy distribution."""
    return inplace.assign(self, median + sigma * source().standard_cauchy(self.array.shape))


def geometric_(self: Tensor, p: float) -> Tensor:
    """Set the elements to how often one tries, with this chance, until the first success."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return inplace.assign(self, source().geometric(p, self.array.shape))


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Set the elements to exponentials of normal random numbers."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    return inplace.assign(self, source().lognormal(mean, std, self.array.shape))


def uniform_(self: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Set the elements to uniform random numbers."""
    return inplace.assign(self, source(None).uniform(low, high, self.array.shape))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Set the elements to normal random numbers."""
    return inplace.assign(self, source(None).normal(mean, std, self.array.shape))


def source(generator: Generator | np.random.Generator | None = None) -> np.random.Generator:
    """NumPy's generator: that of the package, of one of its own, or one that is given."""
    found = default_generator if generator is None else generator
    return found.numpy if isinstance(found, Generator) else found
