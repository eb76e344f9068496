"""Second derivatives where a first one has a kink, as `abs(x) ** 2` has at zero.

The derivative of `abs(x)` at zero is that of both sides on the average, zero; the average of its
square is one, and a second derivative has such squares. Where generated code notices that it passes
a kink (`primitives/kinks.py`), it is run beside it, on both sides along three directions, at
eps^(1/2) of each argument and farther. Where all agree on each side, up to eps^(1/4), their mean is
the second derivative; what has none there keeps that of the averages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gradscribe.api.deciding import added, directed
from gradscribe.compiler import Primal
from gradscribe.primitives.kinks import passed

T = TypeVar("T")
Leaves = tuple[Any, ...]


def of_both_sides(run: Callable[[Leaves], T], leaves: Leaves, active: Sequence[int]) -> T:
    """What `run` makes of leaves, some of which are differentiated: a second derivative."""
    before = passed()
    found = run(leaves)
    if passed() == before:
        return found
    rng = np.random.default_rng(5)
    first, other = ({i: directed(rng, np.asarray(leaves[i])) for i in active} for _ in range(2))
    turned = {i: _turned(direction) for i, direction in first.items()}

    def beside(directions: dict[int, np.ndarray], times: int) -> T:
        moved = list(leaves)
        for i, direction in directions.items():
            step = times * np.finfo(direction.dtype).eps ** (1 / 2) * direction
            moved[i] = added(leaves[i], step.astype(direction.dtype))
        return run(tuple(moved))

    lines = ((first, 1), (turned, 2), (other, 3))
    sides = [[beside(direction, sign * times) for direction, times in lines] for sign in (1, -1)]
    mean: T = _mean(found, *sides)
    return mean


def has_effects(primal: Primal, active: tuple[int, ...]) -> bool:
    """Whether a function may not run again."""
    return primal.changes_inputs or bool(primal.specialization(active).derivatives.effects)


def _turned(direction: np.ndarray) -> np.ndarray:
    """One of other signs."""
    signs = 1 - 2 * (np.arange(direction.size) % 2)
    turned = np.roll(direction, 1) * signs.reshape(direction.shape)
    return turned.astype(direction.dtype)


def _mean(here: Any, above: list[Any], below: list[Any]) -> Any:
    """The mean of both sides, in the structure of a result, where each of them is settled."""
    if type(here) in (tuple, list):
        parts = zip(here, zip(*above, strict=True), zip(*below, strict=True), strict=True)
        return type(here)(_mean(part, list(a), list(b)) for part, a, b in parts)
    if type(here) is dict:
        sides = {key: [[side[key] for side in sides] for sides in (above, below)] for key in here}
        return {key: _mean(here[key], *sides[key]) for key in here}
    if np.asarray(here).dtype.kind not in "fc" or not (_are_settled(above) and _are_settled(below)):
        return here
    mean = (above[0] + below[0]) / 2
    return type(here)(mean) if np.isscalar(here) else mean


def _are_settled(values: list[Any]) -> bool:
    largest = max(np.max(np.abs(value), initial=1) for value in values)
    tolerance = np.finfo(np.asarray(values[0]).dtype).eps ** (1 / 4) * largest
    return all(bool(np.all(np.abs(value - values[0]) <= tolerance)) for value in values)
