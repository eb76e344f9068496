"""Nested tuples, lists, dicts and dataclasses as flat leaves plus a `Tree`.

IR functions have flat parameters and results; a tree says how the leaves nest at the
boundary. The cotangent of a container is a container of the same structure.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MemberDescriptorType
from typing import Any

from gradscribe.ir.probing import in_class, is_dataclass, probe


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
    """A container. keys: names of attributes or keys of a dict; None for tuples and lists. derived:
    its class, if that is one derived from `cls`, which may have attributes of its own. number:
    which list, dict or object it is, where it stands in several places. like: an object that has
    the attributes which are no fields. beside: the names of these, of an argument.
    """

    cls: type
    children: tuple[Tree, ...]
    keys: tuple[Any, ...] | None = None
    derived: type | None = None
    number: int | None = field(default=None, compare=False)
    like: Any = field(default=None, compare=False, repr=False)
    beside: tuple[str, ...] = field(default=(), compare=False, repr=False)


Tree = Leaf | Constant | Node
LEAF = Leaf()


def count_leaves(tree: Tree) -> int:
    if isinstance(tree, Node):
        return sum(map(count_leaves, tree.children))
    return int(isinstance(tree, Leaf))


def unflatten(tree: Tree, leaves: Iterator[Any]) -> Any:
    """The Python value of this structure whose leaves are taken from the iterator in order."""
    return _unflatten(tree, leaves, {})


def _unflatten(tree: Tree, leaves: Iterator[Any], made: dict[int, Any]) -> Any:
    if isinstance(tree, Leaf):
        return next(leaves)
    if isinstance(tree, Constant):
        return tree.value
    value = build(tree, [_unflatten(child, leaves, made) for child in tree.children])
    return value if tree.number is None else made.setdefault(tree.number, value)


def build(tree: Node, children: list[Any]) -> Any:
    """The container that `tree` describes, of these children."""
    if tree.cls is dict:
        made = zip(tree.keys or (), children, strict=True)
        return OrderedDict(made) if tree.derived is OrderedDict else dict(made)
    if tree.keys is not None:
        others = attributes_beside(tree.like) if is_dataclass(type(tree.like)) else {}
        return with_attributes(
            tree.cls, **{**others, **dict(zip(tree.keys, children, strict=True))}
        )
    return tree.cls(children)


_BUILT_IN = type(object.__new__)


def with_attributes(cls: type, /, **attributes: Any) -> Any:
    """An object (or namedtuple) that has these attributes, as it stands: no code of its class runs,
    which would make something else of them."""
    if issubclass(cls, tuple):
        return tuple.__new__(cls, attributes.values())
    new = next(
        own for base in cls.__mro__ if isinstance(own := vars(base).get("__new__"), _BUILT_IN)
    )
    made = new(cls)
    for name, value in attributes.items():
        if isinstance(in_class(cls, name), MemberDescriptorType):  # a slot
            object.__setattr__(made, name, value)
        else:
            vars(made)[name] = value
    return made


def is_made_of_fields(cls: type, names: Collection[str]) -> bool:
    """Whether a class, called with these names, only stores what it is given under them."""
    own = vars(cls)
    if issubclass(cls, tuple):
        return "_fields" in own and "__new__" in own and tuple(names) == own["_fields"]
    params = own.get("__dataclass_params__")
    if params is None or not params.init or in_class(cls, "__post_init__") is not None:
        return False
    stored_by = [] if params.frozen else ["__setattr__"]
    if any(in_class(cls, name) is not vars(object)[name] for name in ["__new__", *stored_by]):
        return False
    return list(inspect.signature(cls).parameters) == list(names)


def numbers_of(tree: Tree) -> Iterator[int]:
    """The numbers of the lists, dicts and objects in a tree."""
    if isinstance(tree, Node):
        yield from () if tree.number is None else (tree.number,)
        for child in tree.children:
            yield from numbers_of(child)


def with_numbers(tree: Tree, numbers: Collection[int]) -> Tree:
    """A tree without other numbers than these."""
    if not isinstance(tree, Node):
        return tree
    children = tuple([with_numbers(child, numbers) for child in tree.children])
    return replace(tree, children=children, number=tree.number if tree.number in numbers else None)


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
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return Node(cls, (LEAF,) * len(value), cls._fields), list(value)
    if is_dataclass(cls):
        names = tuple(f.name for f in dataclasses.fields(value))
        parts = [getattr(value, name) for name in names]
        return Node(cls, (LEAF,) * len(names), names, like=value), parts
    return None


def attributes_beside(value: Any) -> dict[str, Any]:
    """What an object of a dataclass holds besides its fields: no part of its structure. (What it
    keeps of a cached property is computed again.)"""
    held, fields, cls = probe(value, "__dict__") or {}, value.__dataclass_fields__, type(value)
    if len(held) == len(fields) and held.keys() == fields.keys():
        return {}
    return {
        name: item
        for name, item in held.items()
        if name not in fields and not isinstance(in_class(cls, name, None), cached_property)
    }


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
