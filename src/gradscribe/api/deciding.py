"""Whether a function depends on a choice that a library makes anew for each matrix.

Generated code raises an open error where signs of vectors, an order or a rank may jump
(`primitives/stability.py`). No derivative at the matrix itself tells whether the result does. So
the compiled function is run nearby, on both sides along six directions: where it is continuous, and
differences agree with the derivative, that is given. Where rounding errors decide, and it may jump
at some matrices nearby only, it is run at further points. It takes a function which only computes;
of one with effects the error is raised.

Nearby is eps^(1/3) and eps^(1/2) of each argument. A value jumps if over the shorter distance it
changes by more than a third as much as over the longer one, and by more than eps^(3/4) of its size.
Differences agree up to eps^(1/8) of the derivative (1 % in double precision).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gradscribe.compiler import Primal
from gradscribe.compiler.derivatives import Derivatives
from gradscribe.compiler.leaves import flattener
from gradscribe.errors import NoDerivativeError
from gradscribe.primitives.stability import decided

T = TypeVar("T")
Arrays = list[np.ndarray]

_DIRECTIONS, _FURTHER = 6, 16
_FAR, _NEAR = 1 / 3, 1 / 2
"""Powers of the rounding unit."""


def by_values(
    error: NoDerivativeError,
    primal: Primal,
    leaves: Sequence[Any],
    active: Sequence[int],
    run: Callable[[], T],
    *,
    with_slopes: bool = True,
) -> T:
    """What `run` gives, which has raised an open error, if the function has that derivative.

    with_slopes: or is continuous, where it is a derivative itself."""
    if not error.is_open:
        raise error
    derivatives = primal.specialization(tuple(active)).derivatives
    if primal.changes_inputs or derivatives.effects:
        raise error
    with decided(), np.errstate(all="ignore"):
        result = run()  # refused for other reasons first
        try:
            if _Nearby(error, primal, derivatives, leaves, with_slopes).agrees():
                return result
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            pass  # it has no values nearby
    raise error


class _Nearby:
    """A function, its weighed gradient, and its values nearby."""

    def __init__(
        self,
        error: NoDerivativeError,
        primal: Primal,
        derivatives: Derivatives,
        leaves: Sequence[Any],
        with_slopes: bool,
    ) -> None:
        self._error = error
        self._derivatives = derivatives
        self._leaves = leaves
        self._leaves_of = flattener(primal.function.result)
        self._rng = np.random.default_rng(5)
        self._here = self._values_at(leaves)
        self._farthest = [0.0 for _ in self._here]
        self._weights = [self._direction(value) for value in self._here]
        self._gradient = self._weighed_gradient() if with_slopes else None

    def _weighed_gradient(self) -> tuple[Any, ...]:
        adjoint = self._derivatives.adjoint  # made first, together with `forward`
        _, record = self._derivatives.forward(*self._leaves)
        return adjoint(record, *map(_as_given, self._weights))

    def agrees(self) -> bool:
        """Whether the function is continuous, and differences agree with the gradient."""
        if not all(self._agrees_along(self._directions()) for _ in range(_DIRECTIONS)):
            return False
        further = range(_FURTHER if self._error.is_by_chance else 0)
        return all(self._is_continuous_along(self._directions()) for _ in further)

    def _directions(self) -> Arrays:
        return [self._direction(np.asarray(self._leaves[i])) for i in self._derivatives.active]

    def _direction(self, like: np.ndarray) -> np.ndarray:
        """Of the size of an array, which may be zero."""
        direction = self._rng.normal(size=like.shape)
        if like.dtype.kind == "c":
            direction = direction + 1j * self._rng.normal(size=like.shape)
        size = _largest(like)
        return np.asarray((size if size else 1) * direction, like.dtype)

    def _agrees_along(self, directions: Arrays) -> bool:
        sides = {}
        for power in (_FAR, _NEAR):
            steps = _steps(directions, power)
            above, below = (self._values_at(self._moved(steps, sign)) for sign in (1, -1))
            sides[power] = above, below
            if self._gradient is not None:
                expected = _along(self._gradient, steps)
                if not self._is_slope(expected, above, below):
                    return False
        pairs = zip(sides[_FAR], sides[_NEAR], strict=True)
        return not any(self._any_jumps(far, near) for far, near in pairs)

    def _is_continuous_along(self, directions: Arrays) -> bool:
        near = self._values_at(self._moved(_steps(directions, _NEAR), 1))
        return not any(map(_jumps, self._here, self._farthest, near))

    def _any_jumps(self, far: Arrays, near: Arrays) -> bool:
        changes = [_largest(value - here) for value, here in zip(far, self._here, strict=True)]
        self._farthest = list(map(max, self._farthest, changes))
        return any(map(_jumps, self._here, changes, near))

    def _is_slope(self, expected: float, above: Arrays, below: Arrays) -> bool:
        """Whether half of what the values change by from one side to the other is as expected. (The
        error of differences is small beside the change that both sides have alike.)"""
        sides = [_along(self._weights, values) for values in (above, self._here, below)]
        found, alike = (sides[0] - sides[2]) / 2, (sides[0] + sides[2]) / 2 - sides[1]
        eps = max(map(_eps, self._here))
        whole, tolerance = _size(self._weights, self._here), eps ** (1 / 8)
        size = max(abs(expected), abs(found), abs(alike))
        is_close = abs(found - expected) <= tolerance * size + eps ** (3 / 4) * whole
        is_bent = abs(alike) > tolerance * max(whole, size)
        return bool(is_close and (self._error.is_of_kink or not is_bent))

    def _values_at(self, leaves: Sequence[Any]) -> Arrays:
        function, arguments = self._derivatives.primal_call(leaves)
        results = self._leaves_of(function(*arguments))
        return [np.asarray(results[position]) for position in self._derivatives.outputs]

    def _moved(self, steps: Arrays, sign: int) -> list[Any]:
        leaves = list(self._leaves)
        for position, step in zip(self._derivatives.active, steps, strict=True):
            leaves[position] = _added(leaves[position], sign * step)
        return leaves


def _jumps(here: np.ndarray, by_far: float, near: np.ndarray) -> bool:
    by_near = _largest(near - here)
    least = _eps(here) ** (3 / 4) * max(_largest(here), _largest(near))
    return not (by_near <= by_far / 3 or by_near <= least)


def _steps(directions: Arrays, power: float) -> Arrays:
    return [_eps(direction) ** power * direction for direction in directions]


def _largest(value: np.ndarray) -> float:
    return float(np.max(np.abs(value), initial=0))


def _eps(array: np.ndarray) -> float:
    return float(np.finfo(array.dtype).eps)


def _along(weights: Sequence[Any], values: Arrays) -> float:
    pairs = zip(weights, values, strict=True)
    return float(sum(np.sum(np.real(np.conj(weight) * value)) for weight, value in pairs))


def _size(weights: Sequence[Any], values: Arrays) -> float:
    """The size that `_along` has in general."""
    pairs = zip(weights, values, strict=True)
    return float(np.sqrt(sum(np.sum(np.abs(weight * value) ** 2) for weight, value in pairs)))


def _as_given(array: np.ndarray) -> Any:
    return array if array.ndim else array.item()


def _added(leaf: Any, step: np.ndarray) -> Any:
    """A leaf of the same kind."""
    if isinstance(leaf, np.ndarray):
        return leaf + step
    if isinstance(leaf, list):
        return [type(item)(item + by) for item, by in zip(leaf, step, strict=True)]
    return type(leaf)(leaf + step)
