"""Which names of a function are read after a statement, before they are bound anew.

A backward analysis of the tree. It may call a name live that is not, never the other way round:
what nested functions read is always live, `break` and `continue` lead where they lead, and an
exception may lead from anywhere in a `try` or `with` to what stands after it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import gast

Names = frozenset[str]

_NOTHING: Names = frozenset()


def live_names(
    body: Sequence[Any], *, by_functions: bool = True, deleted: bool = False
) -> dict[Any, Names]:
    """For each statement of a body, at any depth, the names that are live after it. by_functions:
    also those that are only read by functions in it, whether or not these are called again.
    deleted: whether `del name`, which asks whether there is a value, counts as a read."""
    liveness = _Liveness(body, by_functions, deleted)
    liveness.block(body, _NOTHING)
    return liveness.after


def reads_of(*nodes: Any, deleted: bool = False) -> Names:
    """All names that are read (or deleted) in these trees, nested functions included."""
    found: set[str] = set()
    contexts = (gast.Load, gast.Del) if deleted else gast.Load
    pending = [node for node in nodes if node is not None]
    while pending:
        node = pending.pop()
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            found.add(node.target.id)
        elif isinstance(node, gast.Name) and isinstance(node.ctx, contexts):
            found.add(node.id)
        if isinstance(node, (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)):
            found |= _reads_of_comprehension(node)
        else:
            pending += gast.iter_child_nodes(node)
    return frozenset(found)


def _reads_of_comprehension(node: Any) -> Names:
    """The targets of a comprehension are names of its own, except in what its first `for` runs
    over."""
    first, *others = node.generators
    inside = [getattr(node, name, None) for name in ("elt", "key", "value")]
    inside += [generator.iter for generator in others]
    inside += [condition for generator in node.generators for condition in generator.ifs]
    own = _bound(generator.target for generator in node.generators)
    return reads_of(*inside) - own | reads_of(first.iter)


class _Liveness:
    """after: what is found. always: the names that nested functions read, and generators that may
    be kept for later. handled: those that are live where an exception leads from here. loops: those
    that are live where `break` and `continue` lead, in each loop around."""

    def __init__(self, body: Sequence[Any], by_functions: bool, deleted: bool) -> None:
        self.after: dict[Any, Names] = {}
        self._reads_of = functools.partial(reads_of, deleted=deleted)
        nodes = [node for statement in body for node in gast.walk(statement)]
        functions: tuple[type, ...] = (gast.ClassDef,)
        if by_functions:
            functions = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
        kept = {g for g in nodes if isinstance(g, gast.GeneratorExp)}
        kept -= {a for call in nodes if isinstance(call, gast.Call) for a in call.args}
        self._always = reads_of(*kept, *(n for n in nodes if isinstance(n, functions)))
        self._handled = _NOTHING
        self._loops: list[tuple[Names, Names]] = []

    def block(self, statements: Iterable[Any], out: Names) -> Names:
        """The names that are live before a block, of those that are live after it."""
        for statement in reversed(list(statements)):
            out |= self._handled
            self.after[statement] = self.after.get(statement, self._always) | out
            out = self._before(statement, out) | self._handled
        return out

    def _before(self, node: Any, out: Names) -> Names:
        if isinstance(node, gast.Assign):
            return out - _bound(node.targets) | reads_of(node)
        if isinstance(node, gast.AnnAssign) and node.value is not None:
            return out - _bound([node.target]) | reads_of(node)
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            return (out | self._reads_of(*node.body)) - {node.name} | _reads_of_head(node)
        if isinstance(node, gast.If):
            inside = self.block(node.body, out) | self.block(node.orelse, out)
            return inside | reads_of(node.test)
        if isinstance(node, gast.For):
            return self._loop(node, out, node.iter, _bound([node.target]))
        if isinstance(node, gast.While):
            return self._loop(node, out, node.test, _NOTHING)
        if isinstance(node, (gast.With, gast.Try, gast.Match)):
            anywhere = out | self._reads_of(node)
            outer = self._handled
            if not isinstance(node, gast.Match):
                self._handled |= anywhere
            before = [self.block(block, anywhere) for block in _blocks(node)]
            self._handled = outer
            return anywhere.union(*before)
        if isinstance(node, (gast.Break, gast.Continue)):
            return self._loops[-1][isinstance(node, gast.Continue)]
        return out | self._reads_of(node)

    def _loop(self, node: Any, out: Names, header: Any, bound: Names) -> Names:
        """Each iteration may be followed by the next one."""
        head = self.block(node.orelse, out) | out | reads_of(header)
        while True:
            self._loops.append((out, head))
            before = head | (self.block(node.body, head) - bound) | reads_of(header)
            self._loops.pop()
            if before == head:
                return head
            head = before


def _reads_of_head(node: Any) -> Names:
    """What is read where a function or class is defined, before it has its name."""
    head = gast.iter_child_nodes(node)
    return reads_of(*(child for child in head if child not in node.body))


def _bound(targets: Iterable[Any]) -> Names:
    """The names that targets bind for sure."""
    names: set[str] = set()
    for target in targets:
        if isinstance(target, gast.Name):
            names.add(target.id)
        elif isinstance(target, (gast.Tuple, gast.List)):
            names |= _bound(target.elts)
        elif isinstance(target, gast.Starred):
            names |= _bound([target.value])
    return frozenset(names)


def _blocks(node: Any) -> Iterable[Any]:
    """The blocks of statements in a statement."""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def stores_last(node: Any) -> bool:
    """Whether a statement reads all before it stores items, or an array in place."""
    if isinstance(node, gast.Assign):
        return any(not isinstance(target, gast.Name) for target in node.targets)
    return isinstance(node, gast.AugAssign)
