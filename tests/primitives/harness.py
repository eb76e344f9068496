"""Running primitives and their rules as plain Python, on real arrays.

A `Case` is a call; its operands are its floating arrays and NumPy scalars (Python numbers
are literals). What the compiler does around a rule (sums over broadcast axes, casts) is done
here in `project`.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import gradscribe.primitives  # noqa: F401  (fills the tables)
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Linearity, Method, Primitive
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.ir.types import Array, Type
from gradscribe.primitives.registry import METHODS, PRIMITIVES
from gradscribe.primitives.typing import number_type


@dataclass(frozen=True)
class Case:
    """`callee(*args, **keywords)`; callee is a function or the name of a method."""

    callee: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        name = getattr(self.callee, "__name__", self.callee)
        parts = [*map(_describe, self.args)]
        parts += [f"{key}={_describe(item)}" for key, item in self.keywords.items()]
        return f"{name}({', '.join(parts)})"

    @property
    def primitive(self) -> Primitive:
        return METHODS[self.callee] if isinstance(self.callee, str) else PRIMITIVES[self.callee]

    @property
    def ir_callee(self) -> Any:
        return Method(self.callee) if isinstance(self.callee, str) else self.callee

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by the parameters of the primitive, as in an operation's attributes."""
        assert self.primitive.signature is not None
        bound = self.primitive.signature.bind(*self.args, **self.keywords)
        bound.apply_defaults()
        return dict(bound.arguments)

    def __call__(self) -> Any:
        if not isinstance(self.callee, str):
            return self.callee(*self.args, **self.keywords)
        attribute = getattr(self.args[0], self.callee)
        return attribute(*self.args[1:], **self.keywords) if callable(attribute) else attribute

    @property
    def operands(self) -> list[np.ndarray]:
        """The leaves that are differentiated."""
        return [leaf for leaf in flatten((self.args, self.keywords))[1] if is_operand(leaf)]

    @property
    def values(self) -> list[np.ndarray]:
        """The operands, and the arrays of integers and of truth values."""
        return [leaf for leaf in flatten((self.args, self.keywords))[1] if is_value(leaf)]

    def with_values(self, values: list[Any]) -> Case:
        return self._replaced(values, is_value)

    def with_operands(self, operands: list[Any]) -> Case:
        return self._replaced(operands, is_operand)

    def _replaced(self, values: list[Any], chosen: Callable[[Any], bool]) -> Case:
        tree, leaves = flatten((self.args, self.keywords))
        new = iter(values)
        args, keywords = unflatten(
            tree, iter([next(new) if chosen(leaf) else leaf for leaf in leaves])
        )
        return replace(self, args=args, keywords=keywords)


def by_rule(cases: list[Case]) -> dict[str, list[Case]]:
    """The calls of each primitive, by its name: they are one test, not one each."""
    found: dict[str, list[Case]] = {}
    for call in cases:
        found.setdefault(call.primitive.name, []).append(call)
    return found


@contextlib.contextmanager
def naming(case: Case) -> Iterator[None]:
    """Say of what fails for which call it does."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"of {case}: {error}") from error


def case(callee: Any, *args: Any, **keywords: Any) -> Case:
    return Case(callee, args, keywords)


_AXES = ("axis", "axis1", "axis2", "axes", "axisa", "axisb", "axisc", "source", "destination")


def counted_from_the_end(call: Case) -> Case | None:
    """The same call with negative axes; None where it has no axes, or they count otherwise."""
    signature, out = call.primitive.signature, call()
    assert signature is not None
    for rank in dict.fromkeys((np.ndim(flatten(call.args)[1][0]), np.ndim(out))):
        bound = signature.bind(*call.args, **call.keywords)
        given = {name: call.arguments[name] for name in _AXES if name in call.arguments}
        negative = {name: _negative(axis, rank) for name, axis in given.items()}
        bound.arguments.update({k: v for k, v in negative.items() if v != given[k]})
        twin = replace(call, args=bound.args, keywords=bound.kwargs)
        with contextlib.suppress(ValueError, TypeError, IndexError):
            if negative != given and np.array_equal(twin(), out):
                return twin
    return None


def _negative(axes: Any, rank: int) -> Any:
    if isinstance(axes, (tuple, list)):
        return type(axes)(_negative(axis, rank) for axis in axes)
    return axes - rank if type(axes) is int and axes >= 0 else axes


def is_value(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) or is_operand(leaf)


def is_operand(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind == "f"


def _describe(item: Any) -> str:
    if isinstance(item, (tuple, list)):
        return f"[{', '.join(map(_describe, item))}]"
    if isinstance(item, np.ndarray):
        return f"{item.dtype.name}{list(item.shape)}"
    return getattr(item, "__name__", repr(item))


# -- what the compiler does with rules -------------------------------------------------------


def project(cotangent: Any, primal: Any) -> np.ndarray:
    """The cotangent with the shape and dtype of the primal."""
    shape = np.shape(primal)
    result = np.asarray(cotangent)
    while result.ndim > len(shape):
        result = result.sum(axis=0)
    axes = tuple(
        i for i, n in enumerate(shape) if n == 1 and result.shape[i : i + 1] not in ((1,), ())
    )
    if result.ndim == len(shape) and axes:
        result = result.sum(axis=axes, keepdims=True)
    return np.broadcast_to(result, shape).astype(np.asarray(primal).dtype)


def raw_cotangents(case: Case, out: Any, d_out: Any) -> list[Any]:
    """What the rule gives for each operand: as it is, or None."""
    primitive, arguments = case.primitive, case.arguments
    assert primitive.adjoint is not None
    if primitive.elementwise:
        partials = as_tuple(primitive.adjoint(out, **arguments))
        results = tuple(None if p is None else d_out * p for p in partials)
    else:
        results = as_tuple(primitive.adjoint(out, **arguments, d_out=d_out))
    given: list[Any] = []
    for argument, result in zip(arguments.values(), _padded(results), strict=False):
        leaves = flatten(argument)[1]
        below = list(result) if isinstance(argument, (tuple, list)) and result else [result]
        below = flatten(below)[1] if result is not None else [None] * len(leaves)
        given += [d for leaf, d in zip(leaves, below, strict=True) if is_operand(leaf)]
    return given


def _padded(results: tuple[Any, ...]) -> list[Any]:
    return [*results, *[None] * 10]


def as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def adjoint(case: Case, out: Any, d_out: Any) -> list[np.ndarray]:
    raw = raw_cotangents(case, out, d_out)
    pairs = zip(raw, case.operands, strict=True)
    return [np.zeros_like(x) if d is None else project(d, x) for d, x in pairs]


def tangent(case: Case, out: Any, directions: list[Any]) -> Any:
    """The tangent by the primitive's own rule, by its linearity, or by partial derivatives."""
    primitive = case.primitive
    if primitive.elementwise:
        raw = raw_cotangents(case, out, 1.0)
        terms = (d * v for d, v in zip(raw, directions, strict=True) if d is not None)
        return np.broadcast_to(sum(terms, np.zeros(())), np.shape(out))
    if primitive.tangent is Linearity.LINEAR:
        return case.with_operands(directions)()
    if primitive.tangent is Linearity.BILINEAR:
        terms = [
            case.with_operands([*case.operands[:i], d, *case.operands[i + 1 :]])()
            for i, d in enumerate(directions)
        ]
        return sum(terms[1:], terms[0])
    assert callable(primitive.tangent)
    moved = case.with_operands(directions).arguments
    tangents = {
        f"d_{name}": moved[name] if any(map(is_operand, flatten(argument)[1])) else 0.0
        for name, argument in case.arguments.items()
    }
    accepted = inspect.signature(primitive.tangent).parameters
    given = {name: item for name, item in tangents.items() if name in accepted}
    return primitive.tangent(out, **case.arguments, **given)


# -- types -----------------------------------------------------------------------------------


class Lengths:
    """Types with symbols for lengths of two and more, as the compiler gives arguments."""

    def __init__(self) -> None:
        self.samples: dict[Symbol, int] = {}

    def __call__(self, x: Any) -> Type:
        if not isinstance(x, np.ndarray):
            return number_type(x)  # type: ignore[no-any-return]
        return Array(x.dtype.name, tuple(map(self._length, x.shape)))

    def _length(self, n: int) -> Affine:
        if n < 2:
            return Affine.of(n)
        symbol = Symbol("n", minimum=2)
        self.samples[symbol] = n
        return Affine.of(symbol)

    def of(self, length: Affine) -> int | None:
        """The length in the specializing call; None for one that is derived."""
        if any(symbol not in self.samples for symbol, _ in length.terms):
            return None
        return length.constant + sum(self.samples[s] * c for s, c in length.terms)
