"""Jacobians of recorded runs: the function runs once, and its record is gone through backwards for
each element of the result, or forward for each element of the arguments.

A derivative has the structure of the result, with that of the arguments in place of each leaf; the
derivative of a leaf by another is an array of the shape of the one, then of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.compiler.leaves import zero_like
from gradscribe.errors import ArgumentError, UnsupportedError
from gradscribe.ir.trees import unflatten
from gradscribe.recording import operations, packing
from gradscribe.recording.arguments import Active, Point
from gradscribe.recording.arrays import present, shown
from gradscribe.recording.levels import Traced, is_differentiable, plain
from gradscribe.recording.runs import Run, given

Blocks = dict[tuple[int, int], Any]
"""For a leaf of the result, and one of the arguments: the derivative of one by the other."""


def jacobian(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    active: Active,
    arranged: Callable[[Sequence[Any]], Any],
    *,
    is_forward: bool,
    holomorphic: bool,
) -> Any:
    """The derivative of the result. arranged: makes of the derivatives of one leaf by each of the
    arguments what stands in its place."""
    point = Point(args, active, kwargs)
    make = _forward if is_forward else _reverse
    tree, values, blocks = make(function, point, holomorphic)

    def of_result(leaf: int) -> Any:
        if not is_differentiable(plain(values[leaf])):
            return None
        count = range(len(point.leaves))
        found = [given(blocks[leaf, i]) if (leaf, i) in blocks else None for i in count]
        return arranged(point.nested(found))

    return unflatten(tree, iter([of_result(leaf) for leaf in range(len(values))]))


def _reverse(function: Any, point: Point, holomorphic: bool) -> Any:
    run = Run(function, point)
    blocks: Blocks = {}
    results = _results(run.values, point, holomorphic)
    for leaf in results:
        own = plain(run.values[leaf])

        def pulled(seed: Any, leaf: int = leaf) -> dict[int, Any]:
            seeds: list[Any] = [None] * len(run.values)
            for other in results:
                seeds[other] = seed if other == leaf else zero_like(plain(run.values[other]))
            return run.pullback(seeds)

        rows = [_derivatives_of(pulled, unit, point) for unit in _units(own)]
        for i in point.active:
            shape = (*np.shape(own), *np.shape(plain(point.leaves[i])))
            dtype = np.result_type(own, plain(point.leaves[i]))
            blocks[leaf, i] = _stacked([row[i] for row in rows], shape, dtype, 0)
    return run.tree, run.values, blocks


def _forward(function: Any, point: Point, holomorphic: bool) -> Any:
    zeros = {i: zero_like(plain(point.leaves[i])) for i in point.active}
    blocks: Blocks = {}
    run = Run(function, point)
    results = _results(run.values, point, holomorphic)
    for i in point.active:
        own = plain(point.leaves[i])

        def push(direction: Any, i: int = i) -> list[Any]:
            return run.tangents({**zeros, i: direction})

        columns = [_derivatives_by(push, unit, run.values) for unit in _units(own)]
        for leaf in results:
            shape = (*np.shape(plain(run.values[leaf])), *np.shape(own))
            dtype = np.result_type(own, plain(run.values[leaf]))
            blocks[leaf, i] = _stacked([column[leaf] for column in columns], shape, dtype, -1)
    return run.tree, run.values, blocks


def _results(values: Sequence[Any], point: Point, holomorphic: bool) -> list[int]:
    """The leaves of the result that have derivatives."""
    results = [i for i, value in enumerate(values) if is_differentiable(plain(value))]
    if not results:
        raise ArgumentError(
            "the result of the function has nothing to differentiate",
            "return floating-point numbers or arrays",
        )
    sides = [[values[i] for i in results], [point.leaves[i] for i in point.active]]
    if not holomorphic and all(any(map(_is_complex, side)) for side in sides):
        raise UnsupportedError(
            "the Jacobian of complex results by complex arguments",
            "pass `holomorphic=True` if the function has a complex derivative; if not, let it "
            "take, or return, real and imaginary parts",
        )
    return results


def _is_complex(value: Any) -> bool:
    return np.iscomplexobj(plain(value))


def _units(like: Any) -> Iterator[Any]:
    """One for each element of a number or an array, among zeros."""
    if not isinstance(like, np.ndarray):
        yield type(like)(1)
        return
    for position in np.ndindex(like.shape):
        unit = np.zeros_like(like)
        unit[position] = 1
        yield unit


def _derivatives_of(pulled: Any, unit: Any, point: Point) -> dict[int, Any]:
    """Those of one element: of a complex one, its parts by real numbers, or the complex derivative,
    of which the pullback gives the conjugate."""
    found: dict[int, Any] = pulled(unit)
    if not _is_complex(unit):
        return found
    turned = pulled(unit * 1j)
    return {
        i: _of(np.conjugate, of_real)
        if _is_complex(point.leaves[i])
        else _of(_combined, of_real, turned[i])
        for i, of_real in found.items()
    }


def _derivatives_by(push: Any, unit: Any, values: Sequence[Any]) -> list[Any]:
    """Those by one element: by a complex one the gradients of real results, from its parts, or the
    complex derivatives."""
    found: list[Any] = push(unit)
    if not _is_complex(unit):
        return found
    turned = push(unit * 1j)
    return [
        None
        if by_real is None
        else by_real
        if _is_complex(value)
        else _of(_combined, by_real, by_imaginary)
        for by_real, by_imaginary, value in zip(found, turned, values, strict=True)
    ]


def _combined(real: Any, imaginary: Any) -> Any:
    return real + 1j * imaginary


def _of(function: Callable[..., Any], *values: Any) -> Any:
    """A function of NumPy's on values of a run around this one."""
    return present(function(*map(shown, values)))


def _stacked(parts: Sequence[Any], shape: tuple[int, ...], dtype: Any, axis: int) -> Any:
    """Arrays, or numbers, along the first or the last axis of one array, reshaped."""
    if not shape:
        return parts[0]
    if not any(type(part) is Traced for part in parts):
        return np.stack(parts, axis).reshape(shape) if parts else np.zeros(shape, dtype)
    if not np.ndim(plain(parts[0])):
        return packing.packed(parts, shape)
    stacked = operations.run(np.stack, (list(map(shown, parts)), axis))
    return present(operations.run(np.reshape, (stacked, shape)))
