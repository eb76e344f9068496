"""`check_grad`: are the generated derivatives of a function right, at these arguments?

Two independent questions. Forward and reverse mode must agree to rounding, <u, J v> =
<J^T u, v>, with no step size involved; and both must agree with central differences of the
function itself. The second order is checked in the same two ways on the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradscribe.directional import jvp, second_order, vjp
from gradscribe.errors import CheckError
from gradscribe.ir.trees import flatten, unflatten

_EXACT = 1e-10
_STEP = 6e-6
"""About the cube root of the rounding unit, where a central difference is most exact."""


def check_grad(
    f: Callable[..., Any],
    *args: Any,
    modes: Iterable[str] = ("reverse", "forward"),
    order: int = 2,
    rtol: float = 1e-5,
    seed: int = 0,
) -> None:
    """Compare the derivatives of f with finite differences, and its modes with each other.

    args: plain values; those with floating leaves are differentiated. order: 1 or 2.
    rtol: for the comparison with differences, relative to the size of what is compared.

    Raises `CheckError`, which says what differs, and by how much.
    """
    modes = tuple(modes)
    rng = np.random.default_rng(seed)
    direction = [_random_like(arg, rng) for arg in args]
    cotangent = _random_like(jvp(f, args, direction)[0], rng)
    expected = _inner(cotangent, _difference(f, args, direction))
    size = 1.0 + abs(expected)
    found: dict[str, float] = {}
    if "reverse" in modes:
        pulled = vjp(f, *args)[1](cotangent)
        found["reverse"] = sum(map(_inner, direction, pulled))
    if "forward" in modes:
        found["forward"] = _inner(cotangent, jvp(f, args, direction)[1])
    for mode, value in found.items():
        _compare(f"the {mode} mode", value, "central differences", expected, rtol * size)
    if len(found) == 2:
        _compare("the reverse mode", found["reverse"], "the forward mode", found["forward"],
                 _EXACT * size)  # fmt: skip
    if order > 1:
        _check_second_order(f, args, direction, cotangent, rtol, rng)


def _check_second_order(
    f: Callable[..., Any],
    args: Sequence[Any],
    direction: list[Any],
    cotangent: Any,
    rtol: float,
    rng: np.random.Generator,
) -> None:
    """The Hessian H of <cotangent, f>: H v against differences of the gradient, and its
    symmetry <w, H v> = <v, H w>."""
    other = [_random_like(arg, rng) for arg in args]
    along = second_order(f, args, cotangent, direction)
    value = sum(map(_inner, other, along))

    def gradient(*at: Any) -> Any:
        return vjp(f, *at)[1](cotangent)

    expected = sum(map(_inner, other, _difference(gradient, args, direction)))
    size = 1.0 + abs(expected)
    _compare("the second order", value, "differences of the gradient", expected, rtol * size)
    mirrored = sum(map(_inner, direction, second_order(f, args, cotangent, other)))
    _compare("<w, H v>", value, "<v, H w>", mirrored, _EXACT * size)


def _compare(name: str, value: float, other_name: str, other: float, bound: float) -> None:
    if not abs(value - other) <= bound:
        raise CheckError(
            f"{name} gives {value!r}, {other_name} {other!r}: they differ by "
            f"{abs(value - other):.1e}, more than {bound:.1e}"
        )


def _difference(f: Callable[..., Any], args: Sequence[Any], direction: list[Any]) -> Any:
    """The central difference of f at args along a direction."""
    below, above = (
        f(*(_shifted(arg, along, step) for arg, along in zip(args, direction, strict=True)))
        for step in (-_STEP, _STEP)
    )
    tree, lower = flatten(below)
    upper = flatten(above)[1]
    return unflatten(
        tree,
        iter(
            [_slope(a, b) if _is_floating(a) else None for a, b in zip(lower, upper, strict=True)]
        ),
    )


def _slope(lower: Any, upper: Any) -> Any:
    return (np.asarray(upper) - np.asarray(lower)) / (2 * _STEP)


def _shifted(value: Any, along: Any, step: float) -> Any:
    tree, leaves = flatten(value)
    directions = flatten(along)[1]
    moved = [
        _copied(leaf) if d is None else leaf + step * d
        for leaf, d in zip(leaves, directions, strict=True)
    ]
    return unflatten(tree, iter(moved))


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
    if isinstance(leaf, np.ndarray):
        return np.asarray(drawn, dtype)
    return type(leaf)(drawn)


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, (float, complex, np.ndarray, np.generic)) and (
        np.asarray(leaf).dtype.kind in "fc"
    )


def _inner(a: Any, b: Any) -> float:
    """The real inner product of two values of one structure."""
    pairs = zip(flatten(a)[1], flatten(b)[1], strict=True)
    return float(sum(np.sum(np.real(np.conj(x) * y)) for x, y in pairs if x is not None))
