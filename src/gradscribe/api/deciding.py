"""Whether a function depends on a choice that a library makes anew for each matrix.

Generated code raises an open error where signs of vectors, an order or a rank may jump
(`primitives/stability.py`). No derivative at the matrix itself tells whether the result does. So
the compiled functions that are differentiated are run nearby, on both sides along six directions:
where they are continuous, and differences agree with the derivative, that is given. Along others
they are run over the shorter distance alone: in which few elements move, as choices may jump where
the others stay as they are; and further ones where rounding errors decide, which may let them jump
at some matrices nearby only. It takes functions which only compute; of one with effects the error
is raised.

Nearby is eps^(1/3) and eps^(1/2) of each argument. A value jumps if over the shorter distance it
changes by more than a third as much as over the longer one, and by more than eps^(3/4) of its size.
Differences agree up to eps^(1/8) of the derivative (1 % in double precision).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from gradscribe.compiler import Primal, Target
from gradscribe.compiler.derivatives import Derivatives
from gradscribe.compiler.leaves import flattener
from gradscribe.errors import NoDerivativeError
from gradscribe.primitives.stability import decided, some_elements

T = TypeVar("T")
Arrays = list[np.ndarray]

_DIRECTIONS, _FURTHER, _SOME = 6, 8, 24
_FAR, _NEAR = 1 / 3, 1 / 2
"""Powers of the rounding unit."""


@dataclass(frozen=True)
class Differentiated:
    """A call of a function that a derivative is taken of: its lowering, the leaves of its
    arguments, and which of these are active. is_derivative: of another function, of which choices
    have been checked; so forward mode has its derivative."""

    primal: Primal
    leaves: Sequence[Any]
    active: tuple[int, ...]
    is_derivative: bool = False

    @property
    def derivatives(self) -> Derivatives:
        return self.primal.specialization(self.active).derivatives

    @property
    def only_computes(self) -> bool:
        return not (self.primal.changes_inputs or self.derivatives.effects)


def differentiated(
    target: Target,
    argnums: Iterable[int],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    is_derivative: bool,
) -> Differentiated:
    """A call of what is compiled with these arguments."""
    target = target.of_call(len(args))
    primal, values = target.program.find(target.values(args, keywords))
    active = primal.active_leaves(tuple(sorted(set(map(target.parameter, argnums)))))
    leaves = tuple(primal.layout.plain(primal.layout.leaves(values)))
    return Differentiated(primal, leaves, active, is_derivative)


def by_values(error: NoDerivativeError, calls: Iterable[Differentiated], run: Callable[[], T]) -> T:
    """What `run` gives, which has raised an open error, if the functions that are differentiated
    for it have their derivatives."""
    if not error.is_open:
        raise error
    calls = list(calls)
    if not all(call.only_computes for call in calls):
        raise error
    with decided(), np.errstate(all="ignore"):
        result = run()  # refused for other reasons first
        try:
            if all(_Nearby(error, call).agrees() for call in calls):
                return result
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            pass  # it has no values nearby
    raise error


class _Nearby:
    """A function, its weighed gradient, and its values nearby."""

    def __init__(self, error: NoDerivativeError, call: Differentiated) -> None:
        self._error = error
        self._derivatives = call.derivatives
        self._leaves = call.leaves
        self._leaves_of = flattener(call.primal.function.result)
        self._rng = np.random.default_rng(5)
        self._here = self._values_at(call.leaves)
        self._farthest = [0.0 for _ in self._here]
        self._steepest = 0.0  # over the shorter distance, along directions in which all move
        self._weights = [self._direction(value) for value in self._here]
        self._expected = self._by_tangent(call) if call.is_derivative else self._by_gradient()

    def _by_gradient(self) -> Callable[[Arrays], float]:
        adjoint = self._derivatives.adjoint  # made first, together with `forward`
        _, record = self._derivatives.forward(*self._leaves)
        gradient = adjoint(record, *map(_as_given, self._weights))
        return lambda steps: _along(gradient, steps)

    def _by_tangent(self, call: Differentiated) -> Callable[[Arrays], float]:
        tangent = call.primal.specialization(call.active).flat_tangent.callable

        def expected(steps: Arrays) -> float:
            leaves = (self._leaves[i] for i in call.active)
            found = tangent(*self._leaves, *map(_like, leaves, steps))
            return _along(self._weights, found[-len(self._weights) :])

        return expected

    def agrees(self) -> bool:
        """Whether the function is continuous, and differences agree with the gradient."""
        if not all(self._agrees_along(self._directions()) for _ in range(_DIRECTIONS)):
            return False
        further = range(_FURTHER if self._error.is_by_chance else 0)
        if not all(self._agrees_near(self._directions()) for _ in further):
            return False
        shapes = [np.shape(self._leaves[i]) for i in self._derivatives.active]
        masks = some_elements(self._rng, shapes, _SOME)
        return all(map(self._agrees_near, map(self._masked, masks)))

    def _directions(self) -> Arrays:
        return [self._direction(np.asarray(self._leaves[i])) for i in self._derivatives.active]

    def _direction(self, like: np.ndarray) -> np.ndarray:
        """Of the size of an array, which may be zero."""
        direction = self._rng.normal(size=like.shape)
        if like.dtype.kind == "c":
            direction = direction + 1j * self._rng.normal(size=like.shape)
        size = _largest(like)
        return np.asarray((size if size else 1) * direction, like.dtype)

    def _masked(self, masks: Arrays) -> Arrays:
        return list(map(np.multiply, self._directions(), masks))

    def _agrees_along(self, directions: Arrays) -> bool:
        sides = []
        for power in (_FAR, _NEAR):
            steps = _steps(directions, power)
            sides.append(self._sides(steps))
            if not self._is_slope(steps, *sides[-1]):
                return False
        self._steepest = max(self._steepest, abs(self._expected(steps)))
        return not any(map(self._any_jumps, *sides))

    def _agrees_near(self, directions: Arrays) -> bool:
        steps = _steps(directions, _NEAR)
        sides = self._sides(steps)
        are_slopes = self._is_slope(steps, *sides)
        return are_slopes and not any(self._jumps_by(self._farthest, near) for near in sides)

    def _any_jumps(self, far: Arrays, near: Arrays) -> bool:
        changes = [_largest(value - here) for value, here in zip(far, self._here, strict=True)]
        self._farthest = list(map(max, self._farthest, changes))
        return self._jumps_by(changes, near)

    def _jumps_by(self, changes: Sequence[float], near: Arrays) -> bool:
        return any(map(_jumps, self._here, changes, near))

    def _is_slope(self, steps: Arrays, above: Arrays, below: Arrays) -> bool:
        """Whether half of what the values change by from one side to the other is as expected. (The
        error of differences is small beside the change that both sides have alike.)"""
        expected = self._expected(steps)
        sides = [_along(self._weights, values) for values in (above, self._here, below)]
        found, alike = (sides[0] - sides[2]) / 2, (sides[0] + sides[2]) / 2 - sides[1]
        eps = max(map(_eps, self._here))
        whole, tolerance = _size(self._weights, self._here), eps ** (1 / 8)
        size = max(abs(expected), abs(found), abs(alike), tolerance * self._steepest)
        is_close = abs(found - expected) <= tolerance * size + eps ** (3 / 4) * whole
        is_bent = abs(alike) > tolerance * max(whole, size)
        return bool(is_close and (self._error.is_of_kink or not is_bent))

    def _sides(self, steps: Arrays) -> tuple[Arrays, Arrays]:
        above, below = (self._values_at(self._moved(steps, sign)) for sign in (1, -1))
        return above, below

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
    return _like(leaf, np.asarray(leaf) + step)


def _like(leaf: Any, array: np.ndarray) -> Any:
    """The array as a leaf of the same kind."""
    if isinstance(leaf, np.ndarray):
        return array
    if isinstance(leaf, list):
        return [type(item)(value) for item, value in zip(leaf, array, strict=True)]
    return type(leaf)(array)
