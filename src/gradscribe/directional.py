"""Products with the derivative at a point: `vjp`, `jvp` and `hvp`.

They take and return plain values in any nesting; cotangents and tangents have the structure,
shapes and dtypes of what they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.compiler import Primal, Target, target_of
from gradscribe.errors import ArgumentError
from gradscribe.functional import check_scalar
from gradscribe.ir.trees import Constant, Leaf, Tree, count_leaves, node_of, unflatten
from gradscribe.ir.types import is_differentiable
from gradscribe.layout import unwrapped
from gradscribe.specialization import Specialization


class Pullback:
    """The function that `gs.vjp` returns: from a cotangent of the result to one for each
    argument (None for those that have nothing to differentiate). It may be called any number
    of times. `.source` is the generated adjoint."""

    def __init__(self, call: _Call, record: Any, out: Sequence[Any]) -> None:
        self._call = call
        self._record = record
        self._out = out

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        call = self._call
        leaves = _matched(cotangent, call.primal.function.result, self._out, "cotangent")
        seeds = [leaves[seed] for seed in call.special.stages.seeds]
        gradients = call.special.derivatives.adjoint(self._record, *seeds)
        return call.by_argument(gradients)

    @property
    def source(self) -> str:
        return self._call.special.adjoint_source


class _Call:
    """One call: its lowering, its leaves, and the specialization for all of them."""

    def __init__(self, function: Callable[..., Any], primals: Sequence[Any], part: str) -> None:
        target: Target = target_of(function)
        values = target.values(tuple(primals), {})
        while True:
            primal, matched = target.program.find(values)
            argnums = tuple(range(len(target.first), len(target.first) + len(primals)))
            special = primal.specialization(primal.active_leaves(argnums))
            _PARTS[part](special)
            if primal.match(values) is not None:
                break
        self.primal: Primal = primal
        self.special: Specialization = special
        self.first = len(target.first)
        self.count = len(primals)
        self.leaves = tuple(map(unwrapped, primal.layout.leaves(matched)))
        primal.check_overlap(self.leaves)

    @property
    def active(self) -> tuple[int, ...]:
        return self.special.stages.active

    def by_argument(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """Values for the active leaves, in the structure of the arguments."""
        given = dict(zip(self.active, gradients, strict=True))
        numbers = iter(range(len(self.leaves)))
        results = []
        for typed in self.primal.arguments[: self.first + self.count]:
            own = [next(numbers) for _ in typed.types]
            results.append(unflatten(typed.tree, iter([given.get(i) for i in own])))
        return tuple(results[self.first :])

    def directions(self, tangents: Sequence[Any]) -> list[Any]:
        """The tangents of the active leaves, from tangents in the structure of the arguments."""
        if len(tangents) != self.count:
            raise ArgumentError(f"{self.count} primals, but {len(tangents)} tangents were given")
        start = sum(len(a.types) for a in self.primal.arguments[: self.first])
        found: dict[int, Any] = {}
        own = self.primal.arguments[self.first : self.first + self.count]
        for typed, tangent in zip(own, tangents, strict=True):
            stop = start + len(typed.types)
            likes = self.leaves[start:stop]
            found.update(enumerate(_matched(tangent, typed.tree, likes, "tangent"), start))
            start = stop
        return [found[leaf] for leaf in self.active]


def _prepare_forward(special: Specialization) -> None:
    special.derivatives.forward, special.derivatives.adjoint  # noqa: B018


def _prepare_tangent(special: Specialization) -> None:
    special.flat_tangent.callable  # noqa: B018


def _prepare_second_order(special: Specialization) -> None:
    special.derivatives.order(2)


_PARTS = {
    "vjp": _prepare_forward,
    "jvp": _prepare_tangent,
    "second order": _prepare_second_order,
}


def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Pullback]:
    """The result at `primals`, and the function from its cotangent to theirs."""
    call = _Call(function, primals, "vjp")
    out, record = call.special.derivatives.forward(*call.leaves)
    return call.primal.build_result(out), Pullback(call, record, out)


def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """The result at `primals`, and its derivative along `tangents` (None, or anything, for an
    argument that has nothing to differentiate)."""
    call = _Call(function, primals, "jvp")
    results = call.special.flat_tangent.callable(*call.leaves, *call.directions(tangents))
    values = call.primal.function.body.yields
    out, d_out = results[: len(values)], iter(results[len(values) :])
    tangent = [next(d_out) if is_differentiable(value.type) else None for value in values]
    build = call.primal.build_result
    return build(out), build(tangent)


def hvp(function: Callable[..., Any], primals: Any, vector: Any) -> Any:
    """The Hessian of a scalar function at `primals`, times `vector`.

    primals, vector: tuples with one entry for each argument; the result is such a tuple. Where
    they are no tuples, they are the only argument, and so is the result.
    """
    if not isinstance(primals, tuple):
        return hvp(function, (primals,), (vector,))[0]
    call = _Call(function, primals, "second order")
    check_scalar(call.primal, has_aux=False)
    return _second_order(call, call.special.default_seeds(), vector)


def second_order(
    function: Callable[..., Any], primals: Sequence[Any], cotangent: Any, vector: Sequence[Any]
) -> tuple[Any, ...]:
    """The Hessian of <cotangent, function> at `primals`, times `vector`; one value for each
    argument."""
    call = _Call(function, primals, "second order")
    out = call.special.derivatives.forward(*call.leaves)[0]
    leaves = _matched(cotangent, call.primal.function.result, out, "cotangent")
    return _second_order(call, [leaves[seed] for seed in call.special.stages.seeds], vector)


def _second_order(call: _Call, seeds: Sequence[Any], vector: Sequence[Any]) -> tuple[Any, ...]:
    """F_2 (see `Stages.order`) along (vector, 0)."""
    order = call.special.derivatives.order(2)
    results = order(*call.leaves, *seeds, *call.directions(vector), *map(_zero, seeds))
    return call.by_argument(results[: len(call.active)])


def _matched(value: Any, tree: Tree, likes: Sequence[Any], kind: str) -> list[Any]:
    """The leaves of a (co)tangent, each with the type of what it belongs to."""
    leaves = _leaves(tree, value, kind)
    return [_converted(leaf, like, kind) for leaf, like in zip(leaves, likes, strict=True)]


def _leaves(tree: Tree, value: Any, kind: str) -> list[Any]:
    """The leaves of a value that has this structure, or None at some places (for zero)."""
    if isinstance(tree, Leaf):
        return [value]
    if value is None or isinstance(tree, Constant):
        return [None] * count_leaves(tree)
    found = node_of(value)
    if found is None or len(found[1]) != len(tree.children) or found[0].keys != tree.keys:
        raise ArgumentError(
            f"a {kind} does not have the structure of the value that it belongs to",
            "nest it in the same tuples, lists, dicts and classes",
        )
    pairs = zip(tree.children, found[1], strict=True)
    return [leaf for child, item in pairs for leaf in _leaves(child, item, kind)]


def _zero(like: Any) -> Any:
    if isinstance(like, (list, tuple)):
        return type(like)(map(_zero, like))
    return np.zeros_like(like) if isinstance(like, np.ndarray) else type(like)(0)


def _converted(leaf: Any, like: Any, kind: str) -> Any:
    """A leaf of a (co)tangent as the generated code expects it."""
    if isinstance(like, (list, tuple)):
        return type(like)(_converted(x, y, kind) for x, y in zip(leaf, like, strict=True))
    if leaf is None:
        return _zero(like)
    leaf = unwrapped(leaf)
    if isinstance(like, np.ndarray):
        array = np.asarray(leaf)
        if array.shape != like.shape:
            raise ArgumentError(
                f"a {kind} of shape {array.shape} for a value of shape {like.shape}"
            )
        return array.astype(like.dtype, copy=False)
    if np.ndim(leaf):
        raise ArgumentError(f"a {kind} of shape {np.shape(leaf)} for a single number")
    return leaf if isinstance(leaf, type(like)) else type(like)(leaf)
