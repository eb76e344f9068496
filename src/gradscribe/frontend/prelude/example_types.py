"""The type of what an unknown function returns, as two calls on examples tell it.

The examples have the types of the arguments, and the lengths that those have in the specializing
call; in the second call all lengths are others, so that it shows which lengths of the result follow
which lengths of the arguments. Those that are equal stay equal, and the longer the longer: code
that does not check lengths may read or write beyond the end of what is shorter than in the call.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import SliceOf
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Scalar, Sequence, Tuple, Type, map_lengths
from gradscribe.primitives.typing import TypeRuleError, numeric, type_of

Lengths = Mapping[Symbol, int]

_AXES = 32
MOST_REPEATED = 1 << 12
"""What is said by an integer that a function is given may be done so many times."""

_MOST = 1 << 20
"""How many elements an example has at most that is made to see what Python raises."""


def type_by_trial(facts: Facts, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Type:
    """The type of `function(**arguments)`. arguments: trees of types and static objects."""
    first = _lengths(facts, arguments)
    try:
        result = _call(function, arguments, first)
    except Exception as error:
        raise TypeRuleError(
            f"a call on example values, to see what type it returns, failed: {error!r}",
            "give a stand-in of the same type by `@op.like`",
        ) from None
    ranks = {n: rank for rank, n in enumerate(sorted(set(first.values())))}
    second = {symbol: n + 3 + 2 * ranks[n] for symbol, n in first.items()}
    try:
        other = _call(function, arguments, second)
    except Exception:
        other = None
    known = list(dict.fromkeys(_dims(arguments)))
    return _type(facts, result, other, _Lengths(facts, known, first, second))


class _Lengths:
    """Which lengths of the arguments have a given value in both calls."""

    def __init__(self, facts: Facts, known: list[Affine], first: Lengths, second: Lengths) -> None:
        self._facts, self._known = facts, known
        self._first, self._second = first, second

    def of(self, n: int, other: int | None) -> Affine:
        if n == other or (n < 2 and other is None):
            return Affine.of(n)
        found = [
            length
            for length in self._known
            if _value(length, self._first) == n
            and (other is None or _value(length, self._second) == other)
        ]
        if not found or not all(self._facts.equal(found[0], length) for length in found[1:]):
            return Affine.of(Symbol("length"))
        return found[0]


def _type(facts: Facts, result: Any, other: Any, lengths: _Lengths) -> Type:
    if isinstance(result, tuple):
        others = other if isinstance(other, tuple) else [None] * len(result)
        return Tuple(
            tuple(_type(facts, a, b, lengths) for a, b in zip(result, others, strict=True))
        )
    if isinstance(result, np.ndarray):
        shape = getattr(other, "shape", [None] * result.ndim)
        dims = [lengths.of(n, m) for n, m in zip(result.shape, shape, strict=True)]
        return Array(numeric(result.dtype), tuple(dims))
    if isinstance(result, (bool, int, float, complex, np.generic)):
        return type_of(result)
    raise TypeRuleError(f"it returns a {type(result).__name__}, not numbers or arrays")


def _lengths(facts: Facts, arguments: Mapping[str, Any]) -> dict[Symbol, int]:
    """A value for each symbol: that of the specializing call; one for all that are not known."""
    symbols = dict.fromkeys(s for length in _dims(arguments) for s, _ in length.terms)
    known = {symbol: facts.samples[symbol] for symbol in symbols if symbol in facts.samples}
    least = max((symbol.minimum or 0 for symbol in symbols if symbol not in known), default=0)
    other = next(n for n in itertools.count(max(3, least)) if n not in known.values())
    return {symbol: known.get(symbol, other) for symbol in symbols}


def _value(length: Affine, values: Lengths) -> int:
    return length.constant + sum(values[symbol] * c for symbol, c in length.terms)


def _dims(tree: Any) -> Iterator[Affine]:
    """All lengths and integers in a tree of types."""
    if isinstance(tree, Type):
        found: list[Affine] = []

        def note(length: Affine) -> Affine:
            found.append(length)
            return length

        map_lengths(tree, note)
        if isinstance(tree, Scalar) and tree.value is not None:
            found.append(tree.value)
        yield from found
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            yield from _dims(item)
    elif isinstance(tree, Mapping):
        for item in tree.values():
            yield from _dims(item)


def _call(function: Callable[..., Any], arguments: Mapping[str, Any], lengths: Lengths) -> Any:
    rng = np.random.default_rng(0)
    examples = {name: _example(tree, lengths, rng) for name, tree in arguments.items()}
    with np.errstate(all="ignore"):
        return function(**examples)


def example(facts: Facts, type_: Type) -> Any:
    """A value of a type, with the lengths of the specializing call; a `LookupError` if there is
    none, or it would be large."""
    symbols = [symbol for dim in _dims(type_) for symbol, _ in dim.terms]
    if not _has_examples(type_) or any(symbol not in facts.samples for symbol in symbols):
        raise LookupError("a type, or lengths, that are not known")
    lengths = _lengths(facts, {"value": type_})
    if isinstance(type_, Array) and (
        type_.rank > _AXES or math.prod(_value(d, lengths) for d in type_.dims) > _MOST
    ):
        raise LookupError("a large value")
    return _example(type_, lengths, np.random.default_rng(0))


def smallest_example(type_: Type) -> Any:
    """A value of a type, every length that is not known being one; a `LookupError` if there is
    none: a list may be empty, and an integer an axis."""
    if isinstance(type_, Tuple):
        return tuple(map(smallest_example, type_.items))
    if isinstance(type_, Scalar) and np.dtype(type_.dtype).kind in "iu":
        known = None if type_.value is None else type_.value.known
        if known is None or abs(known) > MOST_REPEATED:
            raise LookupError("an integer that is not known, or large")
        return _number(type_, known)
    if not isinstance(type_, (Array, Scalar)) or np.dtype(type_.dtype).kind in "iu":
        raise LookupError("no number")
    if isinstance(type_, Array):
        if type_.spelling != "numpy":
            raise LookupError("its methods are a Tensor's")
        shape = [0 if dim.known == 0 else 1 for dim in type_.dims]
        return np.ones(shape, type_.dtype)
    number = np.ones((), type_.dtype)[()]
    return number.item() if type_.weak else number


def _has_examples(type_: Type) -> bool:
    if isinstance(type_, Tuple):
        return all(map(_has_examples, type_.items))
    if isinstance(type_, Sequence):
        return _has_examples(type_.item)
    is_integer = isinstance(type_, (Array, Scalar)) and np.dtype(type_.dtype).kind in "iu"
    if isinstance(type_, Scalar):
        return not is_integer or type_.value is not None  # an axis, or an index
    return isinstance(type_, Array) and not is_integer


def _number(type_: Scalar, value: int) -> Any:
    """An integer of a type; Python's own may be larger than NumPy's."""
    return int(value) if type_.weak else np.dtype(type_.dtype).type(value)


def _example(tree: Any, lengths: Lengths, rng: np.random.Generator) -> Any:
    """A value of each type in a tree."""
    if isinstance(tree, Array):
        shape = [_value(dim, lengths) for dim in tree.dims]
        return _drawn(tree.dtype, rng, shape)
    if isinstance(tree, Scalar):
        if tree.value is not None and np.dtype(tree.dtype).kind in "iu":
            return _number(tree, _value(tree.value, lengths))
        number = _drawn(tree.dtype, rng, [])[()]
        return number.item() if tree.weak else number
    if isinstance(tree, Sequence):
        return [_example(tree.item, lengths, rng) for _ in range(2)]
    if isinstance(tree, Tuple):
        return tuple(_example(item, lengths, rng) for item in tree.items)
    if isinstance(tree, SliceOf):
        return slice(tree.start, tree.stop, tree.step)
    if isinstance(tree, (tuple, list)):
        return type(tree)(_example(item, lengths, rng) for item in tree)
    return tree


def _drawn(dtype: str, rng: np.random.Generator, shape: list[int]) -> Any:
    if np.dtype(dtype).kind in "fc":
        return rng.uniform(0.5, 1.5, shape).astype(dtype)
    return np.ones(shape, dtype)
