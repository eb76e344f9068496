"""Nested tuples, lists, dicts and dataclasses as flat leaves plus a `Tree`.

IR functions have flat parameters and results; a tree says how the leaves nest at the
boundary. The cotangent of a container is a container of the same structure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gradscribe.ir.probing import is_dataclass


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value. derived: of a list, its class, if that is one derived from `list`."""

    derived: type | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A static value that is part of the structure (None, a string, a flag)."""

    value: Any


@dataclass(frozen=True, slots=True)
class Node:
    """A container. keys: names of fields or keys of a dict; None for tuples and lists. derived:
    its class, if that is one derived from `cls`, which may have attributes of its own.
    """

    cls: type
    children: tuple[Tree, ...]
    keys: tuple[Any, ...] | None = None
    derived: type | None = None


Tree = Leaf | Constant | Node
LEAF = Leaf()


def count_leaves(tree: Tree) -> int:
    if isinstance(tree, Node):
        return sum(map(count_leaves, tree.children))
    return int(isinstance(tree, Leaf))


def unflatten(tree: Tree, leaves: Iterator[Any]) -> Any:
    """The Python value of this structure whose leaves are taken from the iterator in order."""
    if isinstance(tree, Leaf):
        return next(leaves)
    if isinstance(tree, Constant):
        return tree.value
    children = [unflatten(child, leaves) for child in tree.children]
    return build(tree, children)


def build(tree: Node, children: list[Any]) -> Any:
    """The container that `tree` describes, of these children."""
    if tree.cls is dict:
        return dict(zip(tree.keys or (), children, strict=True))
    if tree.keys is not None:
        return tree.cls(**dict(zip(tree.keys, children, strict=True)))
    return tree.cls(children)


def rebuilt(value: Any, items: Iterable[Any]) -> Any:
    """A list or tuple of the same class, of these items; namedtuples take them one by one."""
    cls = type(value)
    return cls(*items) if hasattr(cls, "_fields") else cls(items)


def node_of(value: Any) -> tuple[Node, list[Any]] | None:
    """The node (with leaves as children) and the children of a container, else None."""
    cls = type(value)
    if cls in (tuple, list):
        return Node(cls, (LEAF,) * len(value)), list(value)
    if cls is dict:
        return Node(cls, (LEAF,) * len(value), tuple(value)), list(value.values())
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return Node(cls, (LEAF,) * len(value), cls._fields), list(value)
    if is_dataclass(cls):
        names = tuple(f.name for f in dataclasses.fields(value))
        return Node(cls, (LEAF,) * len(names), names), [getattr(value, n) for n in names]
    return None


def flatten(value: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[Tree, list[Any]]:
    """The structure of a value, and its leaves (whatever is no container) in order."""
    node = None if is_leaf is not None and is_leaf(value) else node_of(value)
    if node is None:
        return LEAF, [value]
    leaves: list[Any] = []
    children: list[Tree] = []
    for child in node[1]:
        tree, below = flatten(child, is_leaf)
        children.append(tree)
        leaves += below
    return dataclasses.replace(node[0], children=tuple(children)), leaves


def tree_text(tree: Tree, leaves: Iterator[Any]) -> str:
    """The text of a value of this structure, with these texts for the leaves."""
    if isinstance(tree, Leaf):
        return str(next(leaves))
    if isinstance(tree, Constant):
        return repr(tree.value)
    children = [tree_text(child, leaves) for child in tree.children]
    if tree.cls is dict:
        items = zip(tree.keys or (), children, strict=True)
        return f"{{{', '.join(f'{key!r}: {child}' for key, child in items)}}}"
    if tree.keys is not None:
        fields = zip(tree.keys, children, strict=True)
        return f"{tree.cls.__name__}({', '.join(f'{key}={child}' for key, child in fields)})"
    return bracketed(tree.cls, children)


def bracketed(cls: type, items: list[str]) -> str:
    """The text of a list or tuple of these items."""
    if issubclass(cls, list):
        return f"[{', '.join(items)}]"
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
