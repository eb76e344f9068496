"""Trees of arguments and results of recorded calls: nested tuples, lists and dicts, and what stands
in them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradscribe.ir import overlaps
from gradscribe.primitives.observed import Axes, Steps

_IMMUTABLE = (int, float, complex, str, bytes, np.generic)


def leaves_of(tree: Any, is_leaf: Callable[[Any], bool]) -> Iterator[tuple[Steps, Any]]:
    """The leaves of nested tuples, lists and dicts, and where they stand."""
    if is_leaf(tree):
        yield (), tree
    elif isinstance(tree, (tuple, list)):
        for number, item in enumerate(tree):
            for steps, leaf in leaves_of(item, is_leaf):
                yield (number, *steps), leaf
    elif isinstance(tree, dict):
        for key, item in tree.items():
            for steps, leaf in leaves_of(item, is_leaf):
                yield (key, *steps), leaf


def at(tree: Any, steps: Steps) -> Any:
    """What stands at a place of a tree."""
    return functools.reduce(operator.getitem, steps, tree)


def replaced(tree: Any, leaves: dict[Steps, Any], here: Steps = ()) -> Any:
    """The tree with other leaves at some places."""
    if here in leaves:
        return leaves[here]
    if type(tree) in (tuple, list):
        return type(tree)(replaced(item, leaves, (*here, i)) for i, item in enumerate(tree))
    if type(tree) is dict:
        return {key: replaced(item, leaves, (*here, key)) for key, item in tree.items()}
    return tree


def copied(tree: Any, copies: dict[int, Any] | None = None) -> Any:
    """The tree with memory of its own; what is one array or list in it is one in the copy. copies:
    those made so far, by the identities of what they are of."""
    copies = {} if copies is None else copies
    if type(tree) is tuple:
        return tuple(copied(item, copies) for item in tree)
    if type(tree) not in (np.ndarray, list, dict):
        return tree
    found = copies.get(id(tree))
    if found is None:
        if type(tree) is np.ndarray:
            found = overlaps.copied(tree)
        elif type(tree) is list:
            found = [copied(item, copies) for item in tree]
        else:
            found = {key: copied(item, copies) for key, item in tree.items()}
        copies[id(tree)] = found
    return found


def plain_tree(tree: Any, plain: Callable[[Any], Any]) -> Any:
    """The values themselves, of a result of a recorded run."""
    tree = plain(tree)
    if type(tree) in (tuple, list):
        return type(tree)(plain_tree(item, plain) for item in tree)
    return tree


def content(plain: Callable[[Any], Any], item: Any) -> Any:
    """What an argument holds now; a recorded array gets another value with each store."""
    found = plain_tree(item, plain)
    if type(found) in (list, dict):
        return tuple(found.items()) if type(found) is dict else tuple(found)
    return found.copy() if type(item) is np.ndarray else found


def plain_but(tree: Any, plain: Callable[[Any], Any], axes: Axes) -> Any:
    """The values themselves, but for what must be arguments."""
    if axes.argument is not None:
        return tree
    found = plain(tree)
    if type(found) in (tuple, list) and len(found) == len(axes.items):
        parts = zip(found, axes.items, strict=True)
        return type(found)(plain_but(item, plain, below) for item, below in parts)
    return plain_tree(found, plain)


def owned(result: Any, axes: Axes) -> Any:
    """A result in memory of its own: nobody knows who else has it. What is an argument is None."""
    if axes.argument is not None:
        return None
    if not axes.items:
        return copied(result)
    parts = zip(result, axes.items, strict=True)
    return type(result)(owned(item, below) for item, below in parts)


def is_same(a: Any, b: Any) -> bool:
    """Whether two trees of arguments are the same, the bytes of arrays compared."""
    if type(a) is not type(b):
        return False
    if type(a) is np.ndarray:
        like = a.dtype == b.dtype and a.shape == b.shape
        return like and bool(a.tobytes() == b.tobytes())
    if type(a) in (tuple, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    if type(a) is dict:
        return list(a) == list(b) and all(is_same(a[key], b[key]) for key in a)
    return a is b or (isinstance(a, _IMMUTABLE) and bool(a == b or (a != a and b != b)))
