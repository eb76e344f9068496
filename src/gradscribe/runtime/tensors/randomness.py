"""Random Tensors, from one NumPy generator of the package's own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.explaining import common_shape
from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.arrays.rows import FUNCTION, OUT, PLACE, operation
from gradscribe.runtime.arrays.size import sizes
from gradscribe.runtime.tensors.creation import finished
from gradscribe.runtime.tensors.tensor import Tensor, wrap


class Generator:
    """A source of random numbers that can be seeded again."""

    def __init__(self, device: Any = "cpu") -> None:
        dtypes.check_device(device)
        self.device = dtypes.device(device)
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


@operation(FUNCTION, shapes="none")
def manual_seed(seed: int) -> Generator:
    """Make all random numbers from here on reproducible."""
    return default_generator.manual_seed(seed)


@operation(FUNCTION, shapes="none")
def seed() -> int:
    """Start from a seed that nobody can foretell, and return it."""
    return default_generator.seed()


@operation(FUNCTION, shapes="none")
def initial_seed() -> int:
    """The seed that was given last."""
    return default_generator.initial_seed()


@operation(FUNCTION, shapes="(bytes)", dtypes="uint8")
def get_rng_state() -> Tensor:
    """What `set_rng_state` starts again from, as bytes."""
    return default_generator.get_state()


@operation(FUNCTION, shapes="(bytes)")
def set_rng_state(new_state: Tensor) -> None:
    """Go on as from a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


@operation(FUNCTION | OUT | PLACE, shapes="(shape)", dtypes="the default one, where none is named")
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


@operation(FUNCTION | OUT | PLACE, shapes="(shape)", dtypes="the default one, where none is named")
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


@operation(FUNCTION | OUT | PLACE, shapes="(size)", dtypes="int64, where none is named")
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
    check_bounds(low, high)
    values = source(generator).integers(low, high, size=tuple(size))
    return finished(values, dtype or dtypes.int64, device, requires_grad)


@operation(FUNCTION | OUT | PLACE, shapes="(n)", dtypes="int64, where none is named")
def randperm(
    n: int,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """The integers below n in random order."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    order = source(generator).permutation(n)
    return finished(order, dtype or dtypes.int64, device, requires_grad)


@operation(FUNCTION | OUT | PLACE, shapes="(…), (…) -> (…), or (size)")
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """Of the normal distribution; where means or deviations are Tensors, of their dtype."""
    means, deviations = (getattr(v, "array", v) for v in (mean, std))
    if np.any(np.less(deviations, 0)):
        raise RuntimeError(
            "normal expects all elements of std >= 0.0"
            if np.ndim(deviations)
            else f"normal expects std >= 0.0, but found std {deviations:g}"
        )
    shape = common_shape([np.shape(means), np.shape(deviations)]) if size is None else tuple(size)
    noise = source(generator).standard_normal(shape)
    given = next((v.dtype for v in (mean, std) if isinstance(v, Tensor)), dtypes.default())
    return finished(means + deviations * noise, dtype or given, device, requires_grad)


@operation(FUNCTION | PLACE, shapes="(…) -> (…)")
def rand_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """Uniform on [0, 1), in the shape of another Tensor."""
    dtypes.check_device(device)
    return rand(
        input.array.shape,
        dtype=dtype or input.dtype,
        requires_grad=requires_grad,
        generator=generator,
    )


@operation(FUNCTION | PLACE, shapes="(…) -> (…)")
def randn_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """Of the standard normal distribution, in the shape of another Tensor."""
    dtypes.check_device(device)
    return randn(
        input.array.shape,
        dtype=dtype or input.dtype,
        requires_grad=requires_grad,
        generator=generator,
    )


@operation(FUNCTION | PLACE, shapes="(…) -> (…)")
def randint_like(
    input: Tensor,
    low: int,
    high: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """Integers from low (0 if only one bound is given) up to, not including, high."""
    dtypes.check_device(device)
    if high is None:
        low, high = 0, low
    size, dtype = input.array.shape, dtype or input.dtype
    return randint(low, high, size, dtype=dtype, requires_grad=requires_grad, generator=generator)


@operation(FUNCTION | OUT, shapes="(…) -> (…)")
def bernoulli(
    input: Tensor,
    p: float | None = None,
    *,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """1 with the probabilities that the elements are, or everywhere with p, else 0."""
    chance = input.array if p is None else p
    check_chance(chance)
    drawn = source(generator).random(input.array.shape) < chance
    return finished(drawn, input.dtype)


def check_chance(p: Any) -> None:
    """The error for what is no probability."""
    if np.ndim(p) == 0 and not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if not np.all((p >= 0) & (p <= 1)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")


@operation(FUNCTION, shapes="(…) -> (…)")
def poisson(input: Tensor, generator: Generator | np.random.Generator | None = None) -> Tensor:
    """Of Poisson distributions with these rates."""
    if np.any(input.array < 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return finished(source(generator).poisson(input.array), input.dtype)


@operation(FUNCTION, shapes="(…), (…) -> (…)")
def binomial(
    count: Tensor, prob: Tensor, generator: Generator | np.random.Generator | None = None
) -> Tensor:
    """Of binomial distributions with these counts and probabilities."""
    drawn = source(generator).binomial(count.array.astype(np.int64), prob.array)
    return finished(drawn, count.dtype)


@operation(
    FUNCTION | OUT,
    shapes="(n) -> (num_samples), or (rows, n) -> (rows, num_samples)",
    dtypes="int64",
)
@silent
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """So many indices for each row, with probabilities in proportion to its elements."""
    _check_weights(input.array, num_samples, replacement)
    rows = input.array.reshape(-1, input.array.shape[-1])
    chosen = [
        source(generator).choice(len(row), num_samples, replacement, row / row.sum())
        for row in rows
    ]
    return finished(np.array(chosen).reshape(*input.array.shape[:-1], num_samples), dtypes.int64)


def _check_weights(weights: Any, count: int, replacement: bool) -> None:
    """PyTorch's errors for weights of which no indices can be drawn, or not so many."""
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if weights.dtype.kind != "f":
        kind = dtypes.scalar_name(weights.dtype)
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {kind}"
        )
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and count > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.all(weights.sum(-1) > 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def check_bounds(low: int, high: int) -> None:
    """The error for bounds between which there is no integer."""
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )


def source(generator: Generator | np.random.Generator | None = None) -> np.random.Generator:
    """NumPy's generator: that of the package, of one of its own, or one that is given."""
    found = default_generator if generator is None else generator
    return found.numpy if isinstance(found, Generator) else found
