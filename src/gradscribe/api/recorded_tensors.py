"""Calls with Tensors of a function that runs as it is: one node in the graph of Tensors, whose
backward is that of a recorded run. A backward that is recorded is such a call itself."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.api.recorded_call import is_active
from gradscribe.compiler.leaves import unwrapped
from gradscribe.errors import AliasingError
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.primitives.argument_trees import content, is_same
from gradscribe.recording import arguments, runs
from gradscribe.recording.arrays import is_recorded, present, shown
from gradscribe.recording.callees import callee_of
from gradscribe.recording.levels import KEEPS_NOTHING, OF_TENSORS, is_differentiable, plain
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.modes.function import Function
from gradscribe.runtime.tensors.tensor import Tensor, wrap


def call_on_tensors(
    function: Callable[..., Any],
    name: str,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    is_chosen: Callable[[int], bool],
) -> Any:
    """The result of a call as Tensors that lead back to one node. is_chosen: whether the argument
    at a position is differentiated."""
    trees, leaves, chosen = [], [], []
    for position, value in enumerate((*args, *keywords.values())):
        tree, own = flatten(value)
        trees.append(tree)
        leaves += own
        chosen += [isinstance(x, Tensor) and is_active(x) and is_chosen(position) for x in own]
    places = [i for i, flag in enumerate(chosen) if flag]
    arrays_of = list(map(unwrapped, leaves))

    def on_arrays(*arrays: Any) -> Any:
        copies = arguments.Copies(arrays_of, places, are_apart=True)
        seen = {id(value): shown(copies.of(value)) for value in arrays_of}
        values = [seen[id(value)] for value in arrays_of]
        for place, array in zip(places, arrays, strict=True):
            values[place] = array
        arguments.refuse_stores(values[number] for number in copies.overlapping)
        remaining = iter(values)
        given = [unflatten(tree, remaining) for tree in trees]
        named = dict(zip(keywords, given[len(args) :], strict=True))
        held = [(value, content(plain, present(value))) for value in values]
        callers = arguments.as_they_are(arrays_of)
        before = OF_TENSORS.set(True)
        try:
            out = callee_of(function)(*given[: len(args)], **named)
        finally:
            OF_TENSORS.reset(before)
        arguments.refuse_other_names(callers)
        kept = [leaf for item in given for leaf in flatten(item, is_recorded)[1]]
        if not (
            len(kept) == len(values)
            and all(map(operator.is_, kept, values))
            and all(is_same(content(plain, present(value)), had) for value, had in held)
        ):
            raise AliasingError(
                f"`{name}` changes what it is given, and runs as it is: a call with Tensors does "
                "not follow that",
                "return what is new; or let it be compiled",
            )
        return out

    call = _Call(on_arrays)
    results = _class_of(name).apply(call, *(leaves[place] for place in places))
    return unflatten(call.tree, iter(results))


class _Call:
    """One call. tree: the structure of the result, once it has run."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.tree: Any = None


def _gradient(run: runs.Run, count: int) -> Callable[..., Any]:
    """From arguments and cotangents of a call to the cotangents of the arguments."""

    def gradient(*values: Any) -> Any:
        pullback = runs.vjp(run.again, values[:count])[1]
        return pullback(unflatten(run.tree, iter(values[count:])))

    return gradient


class _Recorded(Function):
    """The node."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Tensor) -> tuple[Any, ...]:
        ctx.save_for_backward(*tensors)
        before = KEEPS_NOTHING.set(True)
        try:
            run = runs.Run(call.function, arguments.Point(list(map(unwrapped, tensors))))
        finally:
            KEEPS_NOTHING.reset(before)
        _, leaves = flatten(run.result())
        ctx.run, call.tree = run, run.tree
        outputs = [_output(leaf) for leaf in leaves]
        fixed = [o for o in outputs if isinstance(o, Tensor) and o.array.dtype.kind not in "fc"]
        ctx.mark_non_differentiable(*fixed)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        tensors = ctx.saved_tensors
        seeds = [None if c is None else unwrapped(c) for c in cotangents]
        if grad_enabled() and any(
            t.requires_grad for t in (*tensors, *cotangents) if t is not None
        ):
            call = _Call(_gradient(ctx.run, len(tensors)))
            return (None, *type(ctx)._forward_cls.apply(call, *tensors, *cotangents))
        found = ctx.run.pullback(runs.seeds_of(ctx.run, unflatten(ctx.run.tree, iter(seeds))))
        count = range(len(tensors))
        return (None, *(wrap(np.asarray(found[i])) if i in found else None for i in count))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Any, ...]:
        along = [None if t is None else unwrapped(t) for t in tangents[1:]]
        found = ctx.run.tangents(ctx.run.point.directions(along))
        return tuple(None if t is None else wrap(np.asarray(t)) for t in found)


@functools.cache
def _class_of(name: str) -> Any:
    stem = name.replace("_", " ").title().replace(" ", "") if name.isidentifier() else "Function"
    return type(stem, (_Recorded,), {})


def _output(leaf: Any) -> Any:
    if isinstance(leaf, (np.ndarray, np.generic)) or is_differentiable(leaf):
        return wrap(np.asarray(leaf))
    return leaf
