"""Reading and storing items.

A basic index is a tuple whose items are None, Ellipsis, an integer or a `SliceOf`; integers and
the parts of slices are static or operands. It takes a view (`GETITEM`). An advanced index has
masks, integer arrays or lists of integers besides; it takes a copy (`GATHER`).

A *path* is a tuple of steps `(primitive, arguments without the array)` that leads from an array
to a view of it, or at last to a gathered part; stores go through paths, so that
`v = a[1:]; v[0] = x` is one new value of `a`.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import Parameter as SignatureParameter
from inspect import Signature
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Primitive, SliceOf
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import INT, Array, Scalar, Sequence, Type
from gradscribe.primitives.registry import LINEAR, register
from gradscribe.primitives.typing import ONE, TypeRuleError, length_of, product, same_length


def getitem_type(facts: Facts, callee: Any, x: Type, index: tuple[Any, ...]) -> Type:
    """The view that a basic index takes; a NumPy scalar where no axis is left, unless `...` is one
    of its items."""
    assert isinstance(x, Array)
    dims = list(x.dims)
    result: list[Affine] = []
    used = sum(item is not None and item is not Ellipsis for item in index)
    if used > len(dims):
        raise TypeRuleError(f"too many indices: the array has {len(dims)} axes, {used} were given")
    whole = Ellipsis in index
    for item in index if whole else (*index, Ellipsis):
        if item is Ellipsis:
            rest = len(dims) - used
            result += dims[:rest]
            del dims[:rest]
        elif item is None:
            result.append(ONE)
        else:
            used -= 1
            length = dims.pop(0)
            if isinstance(item, SliceOf):
                result.append(slice_length(facts, length, item))
    if not result and not whole:
        return Scalar(x.dtype, weak=False)
    return Array(x.dtype, tuple(result), x.module, x.spelling)


def slice_length(facts: Facts, length: Affine, item: SliceOf) -> Affine:
    """How long a slice of an axis, or of a list, of this length is."""
    start, stop = (None if p is None else length_of(p) for p in (item.start, item.stop))
    step = 1 if item.step is None else length_of(item.step).known
    if not step:
        return Affine.of(Symbol("length"))
    return facts.slice_length(length, start, stop, step)


def _gather_type(
    facts: Facts,
    callee: Any,
    x: Type,
    index: tuple[Any, ...],
    counts: tuple[Affine, ...],
    distinct: bool = False,
) -> Type:
    """A new array: the axes that the arrays of the index broadcast to stand in place of those
    they index, or come first where a slice, None or `...` stands between them."""
    assert isinstance(x, Array)
    dims, remaining = list(x.dims), iter(counts)
    used = sum(_axes_taken(item) for item in index)
    if used > len(dims):
        raise TypeRuleError(f"too many indices: the array has {len(dims)} axes, {used} were given")
    whole = any(item is Ellipsis for item in index)
    index = index if whole else (*index, Ellipsis)
    result: list[Affine] = []
    gathered: list[tuple[Affine, ...]] = []
    places: list[tuple[int, int]] = []
    for position, item in enumerate(index):
        taken = len(dims) - used if item is Ellipsis else _axes_taken(item)
        axes, dims = dims[:taken], dims[taken:]
        if item is Ellipsis:
            result += axes
            continue
        used -= taken
        if item is None:
            result.append(ONE)
        elif isinstance(item, SliceOf):
            result.append(slice_length(facts, axes[0], item))
        else:
            gathered.append(_gathered_dims(facts, item, axes, remaining))
            places.append((position, len(result)))
    together = places[-1][0] - places[0][0] == len(places) - 1
    first = places[0][1] if together else 0
    result[first:first] = facts.broadcast(gathered)
    if not result and not whole:
        return Scalar(x.dtype, weak=False)
    return Array(x.dtype, tuple(result), x.module, x.spelling)


def is_mask(item: Any) -> bool:
    """Whether an item of an index (a type, or static) is a boolean array or list."""
    if isinstance(item, list):
        return bool(item) and is_mask(item[0])
    return isinstance(item, bool) or (isinstance(item, Array) and item.dtype == "bool")


def _axes_taken(item: Any) -> int:
    """How many axes of the array an item of an index stands for."""
    if item is None or item is Ellipsis:
        return 0
    return len(_index_dims(item)) if is_mask(item) else 1


def _index_dims(item: Any) -> tuple[Affine, ...]:
    """The shape of an item of an index."""
    if isinstance(item, Array):
        return item.dims
    if isinstance(item, list):
        return (Affine.of(len(item)), *(_index_dims(item[0]) if item else ()))
    return ()


def _gathered_dims(
    facts: Facts, item: Any, axes: list[Affine], counts: Iterator[Affine]
) -> tuple[Affine, ...]:
    """The axes that one array of an index makes of those it stands for."""
    if isinstance(item, Sequence):
        return (next(counts),)
    if not is_mask(item):
        return _index_dims(item)
    for length, axis in zip(_index_dims(item), axes, strict=True):
        same_length(facts, length, axis, "a mask has the shape of what it is applied to")
    return (next(counts),)


def path_type(facts: Facts, x: Type, path: tuple[Any, ...]) -> Type:
    """The type of the view of `x` that a path leads to."""
    for primitive, arguments in path:
        first = next(iter(primitive.signature.parameters))
        x = primitive.type_rule(facts, primitive.callee, **{first: x}, **arguments)
    return x


def _store_type(facts: Facts, callee: Any, x: Type, value: Type, path: tuple[Any, ...]) -> Type:
    target = path_type(facts, x, path)
    if isinstance(value, Array) and not isinstance(target, Array):
        raise TypeRuleError("one element of an array holds no array", "store in a slice of it")
    if isinstance(value, Array) and isinstance(target, Array):
        extra = max(0, value.rank - target.rank)
        facts.broadcast([target.dims, value.dims[extra:]])
        ones = (*value.dims[:extra], *_unspread(target.dims, value.dims[extra:]))
        if any(length.known not in (1, None) or facts.is_many(length) for length in ones):
            raise TypeRuleError("an array is stored in a smaller one", "store in one of its shape")
    return x


def _unspread(target: tuple[Affine, ...], value: tuple[Affine, ...]) -> list[Affine]:
    """The lengths of a stored array along axes of length one, to which it does not broadcast."""
    pairs = zip(target[len(target) - len(value) :], value, strict=True)
    return [length for of_target, length in pairs if of_target.known == 1]


def _signature(*names: str) -> Signature:
    kind = SignatureParameter.POSITIONAL_OR_KEYWORD
    return Signature([SignatureParameter(name, kind) for name in names])


GETITEM = Primitive(
    "getitem", getitem_type, _signature("x", "index"), tangent=LINEAR, view=True, cheap=True
)
"""x[index]. Its adjoint accumulates into the cotangent of x."""

GATHER = Primitive(
    "gather", _gather_type, _signature("x", "index", "counts", "distinct"), tangent=LINEAR
)
"""x[index] for an advanced index: a copy.

counts: for each mask (or list of unknown length) in the index, how many items it has; equal
masks have equal counts. distinct: no item of x is taken twice.
"""

READ_ONLY = frozenset({"broadcast_to", "broadcast_arrays", "diagonal", "windows"})
"""Views that NumPy does not let be stored to."""

READS = frozenset({GETITEM, GATHER})

STORE = Primitive("store", _store_type, _signature("x", "value", "path"))
"""`x` with `value` (broadcast, cast to x's dtype) stored at the view that `path` leads to."""

ACCUMULATE = Primitive("accumulate", _store_type, _signature("x", "value", "path"))
"""`x` with `value` added at the view that `path` leads to (`x[i] += value`, as a value); where a
gathered item occurs twice, twice (`np.add.at`)."""


def may_repeat(path: tuple[Any, ...]) -> bool:
    """Whether a path may lead to one element of the array twice."""
    return any(step is GATHER and not arguments["distinct"] for step, arguments in path)


def is_whole(path: tuple[Any, ...]) -> bool:
    """Whether a path leads to all of the array, in its own shape: by nothing, `[...]` or `[:]`."""
    return all(
        step is GETITEM and all(i is Ellipsis or i == SliceOf() for i in arguments["index"])
        for step, arguments in path
    )


def _length_type(facts: Facts, callee: Any, x: Type, axis: int) -> Type:
    assert isinstance(x, Array)
    return Scalar("int64", True, x.dims[axis])


def _size_type(facts: Facts, callee: Any, x: Type) -> Type:
    return Scalar("int64", True, product(facts, x.dims)) if isinstance(x, Array) else INT


LENGTH = Primitive("length", _length_type, _signature("x", "axis"), cheap=True)
"""x.shape[axis]."""

SIZE = Primitive("size", _size_type, _signature("x"), cheap=True)
"""x.size."""

register(SIZE, (np.size,), ("size",))
