"""`check_grad`: are the generated derivatives of a function right, at these arguments?

Two independent questions. Forward and reverse mode must agree to rounding, <u, J v> =
<J^T u, v>, with no step size involved; and both must agree with central differences of the
function itself. The second order is checked in the same two ways on the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.api.directional import jvp, second_order, vjp
from gradscribe.compiler.given_leaves import leaves_in
from gradscribe.compiler.leaves import unwrapped
from gradscribe.errors import ArgumentError, CheckError
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.tracebacks import shortened

_MODES = frozenset({"reverse", "forward"})


@dataclass(frozen=True)
class _Bounds:
    """step: of differences, the cube root of the rounding unit, where central ones are most
    exact. exact: how well the modes must agree. differences: how well they must agree with
    differences; both are relative to the size of what is compared."""

    step: float
    exact: float
    differences: float

    @classmethod
    def of(cls, values: Any, rtol: float) -> _Bounds:
        """For the coarsest floating type among the leaves of these values."""
        dtypes = [np.asarray(leaf).dtype for leaf in flatten(values)[1] if _is_floating(leaf)]
        unit = float(max((np.finfo(dtype).eps for dtype in dtypes), default=np.finfo(float).eps))
        rounding = unit ** (2 / 3)
        return cls(unit ** (1 / 3), 3 * rounding, max(rtol, 100 * rounding))


@shortened
def check_grad(
    f: Callable[..., Any],
    *args: Any,
    modes: Iterable[str] = ("reverse", "forward"),
    order: int = 2,
    rtol: float = 1e-5,
    seed: int = 0,
) -> None:
    """Compare the derivatives of f with finite differences, and its modes with each other.

    args: plain values; those with floating leaves are differentiated. modes: which are checked,
    "reverse" and "forward"; the second order takes both. order: 1 or 2.
    rtol: for the comparison with differences, relative to the size of what is compared (more
    is granted where numbers are coarser than float64).

    Raises `CheckError`, which says what differs, and by how much, and `ArgumentError` for modes
    that there are not.
    """
    modes = frozenset(modes)
    if not modes or not modes <= _MODES:
        raise ArgumentError(
            f"the modes of a check are not {sorted(modes)}", 'name "reverse", "forward", or both'
        )
    rng = np.random.default_rng(seed)
    direction = [_random_like(arg, rng) for arg in args]
    out, pullback = vjp(f, *args) if "reverse" in modes else (None, None)
    pushed = jvp(f, args, direction) if "forward" in modes else None
    out = out if pushed is None else pushed[0]
    bounds = _Bounds.of((args, out), rtol)
    cotangent = _random_like(out, rng)
    expected = _inner(cotangent, _difference(f, args, direction, bounds.step))
    size = 1.0 + abs(expected)
    found: dict[str, float] = {}
    if pullback is not None:
        found["reverse"] = sum(map(_inner, direction, pullback(cotangent)))
    if pushed is not None:
        found["forward"] = _inner(cotangent, pushed[1])
    for mode, value in found.items():
        _compare(
            f"the {mode} mode", value, "central differences", expected, bounds.differences * size
        )
    if len(found) == 2:
        _compare("the reverse mode", found["reverse"], "the forward mode", found["forward"],
                 bounds.exact * size)  # fmt: skip
    if order > 1:
        _check_second_order(f, args, direction, cotangent, bounds, rng)


def _check_second_order(
    f: Callable[..., Any],
    args: Sequence[Any],
    direction: list[Any],
    cotangent: Any,
    bounds: _Bounds,
    rng: np.random.Generator,
) -> None:
    """The Hessian H of <cotangent, f>: H v against differences of the gradient, and its
    symmetry <w, H v> = <v, H w>."""
    other = [_random_like(arg, rng) for arg in args]
    along = second_order(f, args, cotangent, direction)
    value = sum(map(_inner, other, along))

    def gradient(*at: Any) -> Any:
        return vjp(f, *at)[1](cotangent)

    expected = sum(map(_inner, other, _difference(gradient, args, direction, bounds.step)))
    size = 1.0 + abs(expected)
    _compare(
        *("the second order", value, "differences of the gradient", expected),
        bounds.differences * size,
    )
    mirrored = sum(map(_inner, direction, second_order(f, args, cotangent, other)))
    _compare("<w, H v>", value, "<v, H w>", mirrored, bounds.exact * size)


def _compare(name: str, value: float, other_name: str, other: float, bound: float) -> None:
    if not abs(value - other) <= bound:
        raise CheckError(
            f"{name} gives {value!r}, {other_name} {other!r}: they differ by "
            f"{abs(value - other):.1e}, more than {bound:.1e}"
        )


def _difference(
    f: Callable[..., Any], args: Sequence[Any], direction: list[Any], step: float
) -> Any:
    """The central difference of f at args along a direction."""
    below, above = (
        f(*(_shifted(arg, along, signed) for arg, along in zip(args, direction, strict=True)))
        for signed in (-step, step)
    )
    tree, lower = flatten(below)
    ends = zip(map(unwrapped, lower), map(unwrapped, flatten(above)[1]), strict=True)
    return unflatten(tree, iter([_slope(a, b, step) if _is_floating(a) else None for a, b in ends]))


def _slope(lower: Any, upper: Any, step: float) -> Any:
    dtype = np.result_type(np.asarray(lower), np.float64)
    return (np.asarray(upper, dtype) - np.asarray(lower, dtype)) / (2 * step)


def _shifted(value: Any, along: Any, step: float) -> Any:
    tree, leaves = flatten(value)
    directions = flatten(along)[1]
    moved = [
        _copied(leaf) if d is None else _like(leaf, leaf + step * d)
        for leaf, d in zip(leaves, directions, strict=True)
    ]
    return unflatten(tree, iter(moved))


def _like(leaf: Any, value: Any) -> Any:
    """A value as the type that a leaf has."""
    if isinstance(leaf, np.ndarray):
        return np.asarray(value, leaf.dtype)
    return type(leaf)(value)


def _copied(leaf: Any) -> Any:
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def _random_like(value: Any, rng: np.random.Generator) -> Any:
    """Random numbers in the structure of a value; None at what is not floating."""
    tree, leaves = flatten(value)
    return unflatten(tree, iter([_random_leaf(leaf, rng) for leaf in leaves]))


def _random_leaf(leaf: Any, rng: np.random.Generator) -> Any:
    if not _is_floating(leaf):
        return None
    dtype = np.asarray(leaf).dtype
    drawn = rng.standard_normal(np.shape(leaf))
    if dtype.kind == "c":
        drawn = drawn + 1j * rng.standard_normal(np.shape(leaf))
    return _like(leaf, drawn)


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, (float, complex, np.ndarray, np.generic)) and (
        np.asarray(leaf).dtype.kind in "fc"
    )


def _inner(a: Any, b: Any) -> float:
    """The real inner product of two values of one structure; None stands for parts of either
    that have no floating leaves."""
    tree, leaves = flatten(a)
    pairs = zip(leaves, leaves_in(tree, b, "derivative"), strict=True)
    products = (np.real(np.conj(x) * y) for x, y in pairs if x is not None and y is not None)
    return float(sum(np.sum(product, dtype=float) for product in products))
