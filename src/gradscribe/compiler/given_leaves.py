"""The leaves of cotangents and tangents that a caller gives, in the types of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.compiler.leaves import unwrapped, zero_like
from gradscribe.errors import ArgumentError, ShapeError
from gradscribe.ir.probing import probe
from gradscribe.ir.trees import Constant, Leaf, Node, Tree, count_leaves, node_of, rebuilt


def matched(value: Any, tree: Tree, likes: Sequence[Any], kind: str) -> list[Any]:
    """The leaves of a (co)tangent, each with the type of what it belongs to."""
    leaves = leaves_in(tree, value, kind)
    return [converted(leaf, like, kind) for leaf, like in zip(leaves, likes, strict=True)]


def leaves_in(tree: Tree, value: Any, kind: str) -> list[Any]:
    """The leaves of a value that has this structure, or None at some places (for zero)."""
    if isinstance(tree, Leaf):
        return [value]
    if value is None or isinstance(tree, Constant):
        return [None] * count_leaves(tree)
    parts = _parts(tree, value)
    if parts is None or len(parts) != len(tree.children):
        raise structure_error(kind)
    pairs = zip(tree.children, parts, strict=True)
    return [leaf for child, item in pairs for leaf in leaves_in(child, item, kind)]


def _parts(tree: Node, value: Any) -> list[Any] | None:
    """The parts of a value, if it has these keys; of a list or dict of any class."""
    keys = tree.keys or ()
    if tree.cls is dict:
        is_alike = isinstance(value, dict) and value.keys() == set(keys)
        return [value[key] for key in keys] if is_alike else None
    if tree.keys is None and isinstance(value, list):
        return list(value)
    found = node_of(value)
    if found is None and tree.keys is not None and type(value) is tree.cls:
        return [probe(value, key) for key in keys]
    return None if found is None or found[0].keys != tree.keys else found[1]


def structure_error(kind: str) -> ArgumentError:
    return ArgumentError(
        f"a {kind} does not have the structure of the value that it belongs to",
        "nest it in the same tuples, lists, dicts and classes",
    )


def shape_error(kind: str, shape: str, wanted: str = "") -> ArgumentError:
    """wanted: the shape of the value ("": it is a number)."""
    if not wanted:
        return ShapeError(f"a {kind} of shape {shape} for a single number", "give it a number")
    return ShapeError(
        f"a {kind} of shape {shape} for a value of shape {wanted}",
        f"give it the shape of the value: `np.broadcast_to({kind}, {wanted})`",
    )


def complex_error(kind: str) -> ArgumentError:
    return ArgumentError(
        f"a {kind} of complex numbers for a real value", "give it a real one: `np.real(…)`"
    )


def converted(leaf: Any, like: Any, kind: str) -> Any:
    """A leaf of a (co)tangent as the generated code expects it."""
    if isinstance(like, (list, tuple)):
        items = (None,) * len(like) if leaf is None else leaf
        if not isinstance(items, (list, tuple)) or len(items) != len(like):
            raise structure_error(kind)
        pairs = zip(items, like, strict=True)
        return rebuilt(like, [converted(x, y, kind) for x, y in pairs])
    if leaf is None:
        return zero_like(like)
    leaf = unwrapped(leaf)
    if isinstance(like, np.ndarray):
        array = np.asarray(leaf)
        if array.shape != like.shape:
            raise shape_error(kind, str(array.shape), str(like.shape))
        if array.dtype.kind == "c" and like.dtype.kind != "c":
            raise complex_error(kind)
        try:
            return array.astype(like.dtype, copy=False)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"an array of dtype {array.dtype} as a {kind}, where numbers are expected",
                "give it numbers",
            ) from None
    if np.ndim(leaf):
        raise shape_error(kind, str(np.shape(leaf)))
    try:
        return leaf if isinstance(leaf, type(like)) else type(like)(leaf)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{leaf!r} as a {kind}, where a number is expected", "give it a number"
        ) from None
