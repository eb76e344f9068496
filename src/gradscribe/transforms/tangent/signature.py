"""Names and structures of the parameters and results of a tangent."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from gradscribe.ir.trees import LEAF, Constant, Leaf, Node, Tree


def unused(name: str, taken: set[str]) -> str:
    """The name, numbered if it is taken; it is taken from now on."""
    numbered = (f"{name}_{number}" for number in itertools.count(1))
    candidates = itertools.chain([name], numbered)
    unused = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(unused)
    return unused


def keep_leaves(tree: Tree, keep: Iterator[bool]) -> Tree:
    """The tree with None in place of the leaves that are not kept."""
    if isinstance(tree, Leaf):
        return LEAF if next(keep) else Constant(None)
    if isinstance(tree, Node):
        children = tuple(keep_leaves(child, keep) for child in tree.children)
        return replace(tree, children=children, number=None)  # they are objects of their own
    return tree
