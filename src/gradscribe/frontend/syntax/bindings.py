"""Names in a gast tree: which ones statements bind, and where each is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def dotted(node: Any) -> str:
    """A name, or an attribute of a name, as text; "" for anything else."""
    if isinstance(node, gast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, gast.Name) else ""


def assigned_names(nodes: Iterable[Any], *, augmented: bool = True) -> set[str]:
    """The names that statements may bind (not looking into nested functions).

    augmented: whether `name op= value` counts, which binds an array to the object it is."""
    names: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del)):
            names.add(node.id)
        if isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name is not None:
            names.add(node.name)
        elif isinstance(node, gast.MatchMapping) and node.rest is not None:
            names.add(node.rest)
        elif isinstance(node, gast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, _COMPREHENSIONS):
            names |= _bound_in_comprehension(node)
        elif isinstance(node, gast.AugAssign) and not augmented:
            stack.append(node.value)
        elif not isinstance(node, gast.Lambda):
            stack.extend(gast.iter_child_nodes(node))
    return names


def _bound_in_comprehension(node: Any) -> set[str]:
    """The names that `:=` binds in a comprehension, which are those of the function around it."""
    names: set[str] = set()
    stack = list(gast.iter_child_nodes(node))
    while stack:
        below = stack.pop()
        if isinstance(below, gast.NamedExpr) and isinstance(below.target, gast.Name):
            names.add(below.target.id)
        if not isinstance(below, gast.Lambda):
            stack.extend(gast.iter_child_nodes(below))
    return names


def read_places(nodes: Iterable[Any]) -> dict[str, list[tuple[int, int]]]:
    """For each name, where (line, column) it is read (in nested functions, too)."""
    reads: dict[str, list[tuple[int, int]]] = {}
    for top in nodes:
        for node in gast.walk(top):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
                reads.setdefault(node.id, []).append((node.lineno, node.col_offset))
            elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                reads.setdefault(node.target.id, []).append((node.lineno, node.col_offset))
    return reads
