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

from gradscribe.compiler.given_leaves import leaves_in
from gradscribe.compiler.leaves import zero_like
from gradscribe.errors import ArgumentError, GradscribeError
from gradscribe.ir.held import HOLD_NOTHING, reached
from gradscribe.ir.probing import is_a
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.recording import exits, foreign, methods, unraised
from gradscribe.recording.arguments import Active, Point, like
from gradscribe.recording.arrays import (
    is_recorded,
    present,
    shown,
)
from gradscribe.recording.callees import callee_of
from gradscribe.recording.calls import Node
from gradscribe.recording.leaving import running
from gradscribe.recording.levels import (
    REFUSED,
    Level,
    Traced,
    below,
    is_differentiable,
    plain,
)
from gradscribe.recording.replay import replayed, tangents_of
from gradscribe.recording.reverse import cotangents_of, fitted
from gradscribe.recording.snapshots import value_of_array

Pullback = Callable[[Any], tuple[Any, ...]]

methods.attach()


class Run:
    """A run that is differentiated in reverse.

    values: the leaves of the result, of which `tree` is the structure. holders: the numbers of
    those that are objects, in which values of the run are held.
    """

    def __init__(self, function: Callable[..., Any], point: Point) -> None:
        self.point = point
        self._inputs = {i: Node() for i in point.active}
        inputs = point.inputs()
        with running(is_forward=False) as self._level:
            traced = {
                i: Traced(inputs[i], self._level, (node, 0)) for i, node in self._inputs.items()
            }
            out = _called(function, *point.values(traced))
            self.tree, self.values = _flat(out)
            self.holders = {i for i, value in enumerate(self.values) if _holds_recorded(value)}
            del out
            point.end(inputs)
        point.refuse_changed(inputs, function)

    def result(self) -> Any:
        """What the function returns."""
        values = [given(below(value, self._level.number)) for value in self.values]
        return unflatten(self.tree, iter(values))

    def again(self, *inputs: Any) -> Any:
        """What the function returned, as a function of other values of the leaves: by the record,
        so that it does not run anew."""
        known = {node: present(inputs[i]) for i, node in self._inputs.items()}
        values = replayed(self.values, self._level, known)
        return unflatten(self.tree, iter(map(shown, values)))

    def pullback(self, seeds: Sequence[Any]) -> dict[int, Any]:
        """The cotangents of the active leaves, from those of the leaves of the result."""
        nodes = list(self._inputs.values())
        found = cotangents_of(nodes, self._level, self.values, seeds)
        gradients: dict[int, Any] = {}
        for i, gradient in zip(self._inputs, found, strict=True):
            own = plain(self.point.leaves[i])
            gradients[i] = zero_like(own) if gradient is None else fitted(gradient, own)
        return gradients

    def tangents(self, directions: Mapping[int, Any]) -> list[Any]:
        """The tangents of the leaves of the result, from those of the active leaves; None for
        leaves that have none."""
        inputs = {self._inputs[i]: along for i, along in directions.items()}
        return tangents_of(self.values, self._level, inputs)


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
    run = Run(function, Point(args, active, kwargs))

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        found = run.pullback(seeds_of(run, cotangent))
        count = range(len(run.point.leaves))
        return tuple(run.point.nested([given(found[i]) if i in found else None for i in count]))

    return run.result(), pullback


def seeds_of(run: Run, cotangent: Any) -> list[Any]:
    """The cotangents of the leaves of a result, from one in its structure."""
    seeds = list(leaves_in(run.tree, cotangent, "cotangent"))
    for number in run.holders:
        if seeds[number] is not None:
            raise _without_structure(run.values[number])
    return [
        like(seed, value, "cotangent") if type(value) is Traced else None
        for seed, value in zip(seeds, run.values, strict=True)
    ]


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
    point = Point(args, active, kwargs)
    tree, values, along = pushed(function, point, point.directions(tangents))
    out = unflatten(tree, iter(map(given, values)))
    return out, unflatten(tree, iter(map(given, along)))


def pushed(
    function: Callable[..., Any], point: Point, directions: Mapping[int, Any]
) -> tuple[Any, list[Any], list[Any]]:
    """The structure of a function's result, its leaves, and their tangents.

    directions: the tangents of the active leaves.
    """
    inputs = point.inputs()
    with running(is_forward=True) as level:
        traced = {i: Traced(inputs[i], level, along) for i, along in directions.items()}
        out = _called(function, *point.values(traced))
        tree, values = _flat(out)
        for value in values:
            if _holds_recorded(value):
                raise _without_structure(value)
        del out
        point.end(inputs)
    point.refuse_changed(inputs, function)
    return (
        tree,
        [below(value, level.number) for value in values],
        [_tangent(value, level) for value in values],
    )


def _called(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a function returns; a refusal that code in C has taken for an error of its own is
    raised as what it is."""
    try:
        with unraised.refusing():
            return callee_of(function)(*args, **kwargs)
    except Exception as error:  # of the program, which may raise anything
        cause = error.__cause__ or (error.__context__ if isinstance(error, SystemError) else None)
        if isinstance(error, GradscribeError):
            raise
        if isinstance(cause, GradscribeError):
            raise cause from None
        if REFUSED.get():  # which is raised in the end (see `running`)
            raise
        if foreign.is_raised_of_recorded(error):
            raise exits.of_recorded(error) from None
        raise


def _flat(out: Any) -> tuple[Any, list[Any]]:
    """The structure of a result, and its leaves as values."""
    tree, leaves = flatten(out, is_recorded)
    return tree, [_value(leaf) for leaf in leaves]


def _holds_recorded(value: Any) -> bool:
    """Whether a leaf of a result is an object that holds values of a run."""
    if type(value) is Traced or is_a(value, HOLD_NOTHING):
        return False
    return any(map(is_recorded, reached(value)))


def _without_structure(value: Any) -> ArgumentError:
    return ArgumentError(
        f"the result leads to an object of the class `{type(value).__name__}`, which holds what is "
        "differentiated: it has no (co)tangent here",
        "return tuples, lists, dicts or dataclasses; or compile the function",
    )


def _value(leaf: Any) -> Any:
    if is_a(leaf, np.ndarray) and not is_recorded(leaf) and leaf.dtype == object:
        return value_of_array(leaf)
    return present(leaf)


def _tangent(value: Any, level: Level) -> Any:
    if type(value) is Traced and value.level is level:
        return fitted(value.place, plain(value))
    return zero_like(plain(value)) if is_differentiable(plain(value)) else None


def given(value: Any) -> Any:
    """A value as the caller gets it: of a run around this one, or plain and its own."""
    if type(value) is Traced:
        return shown(value)
    return value.copy(order="K") if is_a(value, np.ndarray) else value
