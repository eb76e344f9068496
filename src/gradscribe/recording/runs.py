"""A user's function, run as it is on values that record, and its derivatives at a point.

    vjp(function, args) -> (out, pullback)    jvp(function, args, tangents) -> (out, tangent)

Arguments and results are nested in tuples, lists, dicts and dataclasses. Active leaves, floating
and complex numbers and arrays, are values of the run for the function; arrays that are not active
are copies, and any other leaf is itself. Results are plain, but where they are values of a run
around this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.ir.trees import flatten, unflatten
from gradscribe.recording import methods
from gradscribe.recording.arrays import is_recorded, present, shown
from gradscribe.recording.calls import Node
from gradscribe.recording.levels import (
    Level,
    Traced,
    below,
    is_differentiable,
    plain,
    running,
    zero_like,
)
from gradscribe.recording.operations import value_of_array
from gradscribe.recording.reverse import cotangents_of, fitted

Pullback = Callable[[Any], tuple[Any, ...]]
Active = Sequence[Any] | None
"""The active leaves: for each argument whether all of it is (a bool), or for each of its leaves, in
the order of `ir.trees.flatten`; None: all that have derivatives."""

methods.attach()


class Point:
    """Arguments of a function, flat.

    leaves: their values. active: the numbers of the active ones.
    """

    def __init__(self, args: Sequence[Any], active: Active = None) -> None:
        self._trees: list[Any] = []
        self._counts: list[int] = []
        self.leaves: list[Any] = []
        self.active: list[int] = []
        for number, arg in enumerate(args):
            tree, leaves = flatten(arg, is_recorded)
            chosen = True if active is None else active[number]
            flags = [chosen] * len(leaves) if isinstance(chosen, bool) else list(chosen)
            for leaf, flag in zip(leaves, flags, strict=True):
                if flag and is_differentiable(plain(present(leaf))):
                    self.active.append(len(self.leaves))
                self.leaves.append(present(leaf))
            self._trees.append(tree)
            self._counts.append(len(leaves))

    def values(self, traced: Mapping[int, Any]) -> list[Any]:
        """The arguments that the function is called with. traced: the active leaves."""
        copies: dict[int, Any] = {}
        leaves = [
            shown(traced[i]) if i in traced else _copied(leaf, copies)
            for i, leaf in enumerate(self.leaves)
        ]
        return self.nested(leaves)

    def nested(self, leaves: Sequence[Any]) -> list[Any]:
        """Something for each leaf, in the structure of the arguments."""
        remaining = iter(leaves)
        return [unflatten(tree, remaining) for tree in self._trees]

    def flat(self, values: Sequence[Any]) -> list[Any]:
        """The leaves of values in the structure of the arguments; None stands for any part."""
        found: list[Any] = []
        for value, tree, count in zip(values, self._trees, self._counts, strict=True):
            given = flatten(value, is_recorded)
            found += [None] * count if value is None else given[1]
            if value is not None and given[0] != tree:
                raise ValueError("the structure of a tangent is not that of its argument")
        return found


def _copied(leaf: Any, copies: dict[int, Any]) -> Any:
    if type(leaf) is Traced:
        return shown(leaf)
    if not isinstance(leaf, np.ndarray):
        return leaf
    return copies.setdefault(id(leaf), leaf.copy(order="K"))


def vjp(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    active: Active = None,
) -> tuple[Any, Pullback]:
    """The result of `function(*args, **kwargs)`, and the function from a cotangent of it to a tuple
    with one for each argument: zeros for active leaves that it does not depend on, None for
    leaves that are not active. It may be called any number of times."""
    point = Point(args, active)
    inputs = {i: Node(likes=(point.leaves[i],)) for i in point.active}
    with running(is_forward=False) as level:
        traced = {i: Traced(point.leaves[i], level, (node, 0)) for i, node in inputs.items()}
        out = function(*point.values(traced), **(kwargs or {}))
        tree, outputs = flatten(out, is_recorded)
        values = [_value(leaf) for leaf in outputs]

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        seeds = _seeds(flatten(cotangent, is_recorded)[1], values)
        found = cotangents_of(list(inputs.values()), level, values, seeds)
        gradients: list[Any] = [None] * len(point.leaves)
        for i, gradient in zip(inputs, found, strict=True):
            own = plain(point.leaves[i])
            gradients[i] = _given(zero_like(own) if gradient is None else fitted(gradient, own))
        return tuple(point.nested(gradients))

    return unflatten(tree, iter([_given(below(value, level.number)) for value in values])), pullback


def jvp(
    function: Callable[..., Any],
    args: Sequence[Any],
    tangents: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    active: Active = None,
) -> tuple[Any, Any]:
    """The result of `function(*args, **kwargs)` and its derivative along `tangents`, one for each
    argument, in which None stands for zero; None for leaves that have none."""
    point = Point(args, active)
    given = point.flat(tangents)
    with running(is_forward=True) as level:
        traced = {}
        for i in point.active:
            value, tangent = point.leaves[i], present(given[i])
            own = plain(value)
            tangent = zero_like(own) if tangent is None else _as_type(fitted(tangent, own), own)
            traced[i] = Traced(value, level, tangent)
        out = function(*point.values(traced), **(kwargs or {}))
        tree, outputs = flatten(out, is_recorded)
        values = [_value(leaf) for leaf in outputs]
    results = [_given(below(value, level.number)) for value in values]
    along = [_given(_tangent(value, level)) for value in values]
    return unflatten(tree, iter(results)), unflatten(tree, iter(along))


def _value(leaf: Any) -> Any:
    """A leaf of a function's result as a value."""
    if isinstance(leaf, np.ndarray) and not is_recorded(leaf) and leaf.dtype == object:
        return value_of_array(leaf)
    return present(leaf)


def _tangent(value: Any, level: Level) -> Any:
    if type(value) is Traced and value.level is level:
        return fitted(value.place, plain(value))
    return zero_like(plain(value)) if is_differentiable(plain(value)) else None


def _seeds(cotangents: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Cotangents of the types of what they belong to."""
    return [
        _as_type(fitted(present(seed), plain(value)), plain(value))
        if type(value) is Traced and seed is not None
        else zero_like(plain(value))
        if type(value) is Traced
        else None
        for seed, value in zip(cotangents, values, strict=True)
    ]


def _as_type(value: Any, like: Any) -> Any:
    """A plain (co)tangent of the dtype of what it belongs to."""
    if type(value) is Traced:
        return value
    if isinstance(like, np.ndarray):
        return np.asarray(value, like.dtype)
    return type(like)(value)


def _given(value: Any) -> Any:
    """A value as the caller gets it: of a run around this one, or plain and its own."""
    if type(value) is Traced:
        return shown(value)
    return value.copy(order="K") if isinstance(value, np.ndarray) else value
