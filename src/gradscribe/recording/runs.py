"""A user's function, run as it is on values that record, and its derivatives at a point.

    vjp(function, args) -> (out, pullback)    jvp(function, args, tangents) -> (out, tangent)

Arguments and results are nested in tuples, lists, dicts and dataclasses. Active leaves, floating
and complex numbers and arrays, are values of the run for the function; arrays that are not active
are copies, and any other leaf is itself. Results are plain, but where they are values of a run
around this one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.compiler.given_leaves import converted, leaves_in, shape_error
from gradscribe.compiler.leaves import zero_like
from gradscribe.errors import AliasingError, ArgumentError, GradscribeError
from gradscribe.ir.held import HOLD_NOTHING, reached
from gradscribe.ir.overlaps import copied, copied_together, owner_of_memory, share_memory
from gradscribe.ir.probing import is_a
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.primitives.argument_trees import is_same
from gradscribe.recording import exits, foreign, methods, unraised
from gradscribe.recording.arrays import (
    RecordedArray,
    check_class,
    is_recorded,
    present,
    shown,
)
from gradscribe.recording.callees import callee_of
from gradscribe.recording.calls import Node
from gradscribe.recording.leaving import running
from gradscribe.recording.levels import (
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
        self._read_only: list[int] = []
        self._before: dict[int, Any] = {}
        self._given: list[Any] = []
        for number, arg in enumerate(args):
            tree, leaves = flatten(arg, is_recorded)
            chosen = True if active is None else active[number]
            flags = [chosen] * len(leaves) if isinstance(chosen, bool) else list(chosen)
            for leaf, flag in zip(leaves, flags, strict=True):
                if flag and is_differentiable(plain(present(leaf))):
                    if is_a(leaf, np.ndarray) and not is_recorded(leaf):
                        check_class(leaf)
                    self.active.append(len(self.leaves))
                if _is_read_only(leaf):
                    self._read_only.append(len(self.leaves))
                self.leaves.append(present(leaf))
            self._trees.append(tree)
            self._counts.append(len(leaves))

    def values(self, traced: Mapping[int, Any]) -> list[Any]:
        """The arguments that the function is called with. traced: the active leaves."""
        copies = Copies(self.leaves, self.active)
        leaves = [
            shown(traced[i]) if i in traced else copies.of(leaf)
            for i, leaf in enumerate(self.leaves)
        ]
        for i in self._read_only:
            _set_read_only(leaves[i])
        overlapping = {id(leaves[i]): leaves[i] for i in copies.overlapping}
        known = {
            key: leaf if is_recorded(leaf) else shown(leaf) for key, leaf in overlapping.items()
        }
        refuse_stores(known.values())
        self._given = [known.get(id(leaf), leaf) for leaf in leaves]
        others = ((i, leaf) for i, leaf in enumerate(self.leaves) if i not in traced)
        self._before = {i: copied(leaf) for i, leaf in others if type(leaf) is np.ndarray}
        return self.nested(self._given)

    def inputs(self) -> dict[int, Any]:
        """The active leaves, as values that nobody changes: copies of the caller's arrays."""
        own = ((i, self.leaves[i]) for i in self.active)
        return {i: copied(x) if is_a(x, np.ndarray) else x for i, x in own}

    def refuse_changed(self, inputs: dict[int, Any]) -> None:
        """Refuse a run that has changed an array of the caller's under another name, or one in
        memory of another object, where others find what was there before.

        inputs: the active leaves, as they were.
        """
        for i, before in (inputs | self._before).items():
            if not is_same(before, self.leaves[i]):
                raise AliasingError(
                    "an array among the arguments is stored to under another name, outside of the "
                    "function's arguments",
                    "pass a copy of it",
                )
            owner = owner_of_memory(self.leaves[i])
            if owner is not None and not is_same(before, plain(present(self._given[i]))):
                raise AliasingError(
                    "an argument is stored to, and its memory is that of an object of the class "
                    f"`{type(owner).__name__}`",
                    "pass a copy of it",
                )

    def nested(self, leaves: Sequence[Any]) -> list[Any]:
        """Something for each leaf, in the structure of the arguments."""
        remaining = iter(leaves)
        return [unflatten(tree, remaining) for tree in self._trees]

    def directions(self, tangents: Sequence[Any]) -> dict[int, Any]:
        """The tangents of the active leaves, from tangents in the structure of the arguments."""
        given: list[Any] = []
        for tangent, tree in zip(tangents, self._trees, strict=True):
            given += leaves_in(tree, tangent, "tangent")
        return {i: _like(given[i], self.leaves[i], "tangent") for i in self.active}


def refuse_stores(arrays: Iterable[Any]) -> None:
    """Let stores to these be refused."""
    for array in arrays:
        if is_recorded(array):
            array._memory.overlaps = True
        else:
            array.flags.writeable = False


class Copies:
    """Copies of the arrays that a run is given, in memory as these are.

    overlapping: the numbers of those that share memory, and whose copies do not: those in which
    something is differentiated, or all of them, if are_apart.
    """

    def __init__(
        self, leaves: Sequence[Any], active: Collection[int], *, are_apart: bool = False
    ) -> None:
        self._made: dict[int, Any] = {}
        self.overlapping: list[int] = []
        for group in _sharing(leaves):
            arrays = {id(leaves[i]): leaves[i] for i in group}
            are_plain = all(type(array) is np.ndarray for array in arrays.values())
            has_objects = any(plain(array).dtype.hasobject for array in arrays.values())
            is_active = any(i in active for i in group)
            if are_plain and not (has_objects or is_active or are_apart):
                made = copied_together(list(arrays.values()))
                self._made |= dict(zip(arrays, made, strict=True))
            elif len(arrays) > 1 or is_active:
                self.overlapping += group

    def of(self, leaf: Any) -> Any:
        """What the run gets for a leaf that is not differentiated."""
        if type(leaf) is Traced:
            return shown(leaf)
        if not is_a(leaf, np.ndarray):
            return leaf
        if id(leaf) not in self._made:
            self._made[id(leaf)] = copied(leaf)
        return self._made[id(leaf)]


def _sharing(leaves: Sequence[Any]) -> list[list[int]]:
    """The numbers of the arrays, those together that share memory, directly or by way of others."""
    groups: list[list[int]] = []
    for i, leaf in enumerate(leaves):
        array = plain(leaf)
        if not is_a(array, np.ndarray) or not array.size:
            continue
        near = [g for g in groups if any(share_memory(array, plain(leaves[j])) for j in g)]
        groups = [group for group in groups if group not in near]
        groups.append([*(j for group in near for j in group), i])
    return [group for group in groups if len(group) > 1]


def _is_read_only(leaf: Any) -> bool:
    if type(leaf) is RecordedArray:
        return not leaf._writeable
    return is_a(leaf, np.ndarray) and not is_recorded(leaf) and not leaf.flags.writeable


def _set_read_only(leaf: Any) -> None:
    if type(leaf) is RecordedArray:
        leaf._writeable = False
    else:
        leaf.flags.writeable = False


class Run:
    """A run that is differentiated in reverse.

    values: the leaves of the result, of which `tree` is the structure. holders: the numbers of
    those that are objects, in which values of the run are held.
    """

    def __init__(self, function: Callable[..., Any], point: Point, kwargs: Any) -> None:
        self.point = point
        self._inputs = {i: Node() for i in point.active}
        inputs = point.inputs()
        with running(is_forward=False) as self._level:
            traced = {
                i: Traced(inputs[i], self._level, (node, 0)) for i, node in self._inputs.items()
            }
            out = _called(function, point.values(traced), kwargs or {})
            self.tree, self.values = _flat(out)
            self.holders = {i for i, value in enumerate(self.values) if _holds_recorded(value)}
            del out
        point.refuse_changed(inputs)

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
    run = Run(function, Point(args, active), kwargs)

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
        _like(seed, value, "cotangent") if type(value) is Traced else None
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
    point = Point(args, active)
    tree, values, along = pushed(function, point, point.directions(tangents), kwargs)
    out = unflatten(tree, iter(map(given, values)))
    return out, unflatten(tree, iter(map(given, along)))


def pushed(
    function: Callable[..., Any], point: Point, directions: Mapping[int, Any], kwargs: Any
) -> tuple[Any, list[Any], list[Any]]:
    """The structure of a function's result, its leaves, and their tangents.

    directions: the tangents of the active leaves.
    """
    inputs = point.inputs()
    with running(is_forward=True) as level:
        traced = {i: Traced(inputs[i], level, along) for i, along in directions.items()}
        out = _called(function, point.values(traced), kwargs or {})
        tree, values = _flat(out)
        for value in values:
            if _holds_recorded(value):
                raise _without_structure(value)
        del out
    point.refuse_changed(inputs)
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


def _like(leaf: Any, value: Any, kind: str) -> Any:
    """A (co)tangent in the type of what it belongs to."""
    own, leaf = plain(value), present(leaf)
    if type(leaf) is not Traced:
        return converted(leaf, own, kind)
    if np.shape(plain(leaf)) != np.shape(own):
        wanted = str(np.shape(own)) if np.ndim(own) else ""
        raise shape_error(kind, str(np.shape(plain(leaf))), wanted)
    return fitted(leaf, own)


def given(value: Any) -> Any:
    """A value as the caller gets it: of a run around this one, or plain and its own."""
    if type(value) is Traced:
        return shown(value)
    return value.copy(order="K") if is_a(value, np.ndarray) else value
