"""Variables that nested functions assign (`nonlocal`): attributes of one object.

What a function and the functions in it share is neither's own: each assignment is seen by all of
them, whoever calls whom. So before a function is lowered, such variables are written as attributes
of an object that the function makes when it starts; stores to attributes are followed through
calls, branches, loops and exceptions.

    def f(x):                       def f(x):
        n = 0                           variables = Variables()
        def g():                        variables.n = 0
            nonlocal n         →        def g():
            n += 1                          variables.n += 1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from gradscribe.frontend.syntax.bindings import assigned_names

_FUNCTIONS = (gast.FunctionDef, gast.Lambda)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class Variables:
    """The variables of one call that nested functions assign."""


def share_variables(function: Any) -> None:
    """Rewrite a function (gast) and the functions in it, in place."""
    if isinstance(function, gast.FunctionDef):
        for nested in _nested(function):
            share_variables(nested)
    shared = _assigned_by_nested(function) & own_names(function)
    shared -= _bound_otherwise(function)
    if not shared:
        return
    owner = f"variables of {function.name}, line {function.lineno}"
    rewriter = _Rewriter(owner)
    function.body = [rewriter.rewritten(node, frozenset(shared)) for node in function.body]
    function.body[:0] = _prologue(function, owner, shared)


def _prologue(function: Any, owner: str, shared: set[str]) -> list[Any]:
    """Make the object; the parameters among the variables are its first attributes."""
    made = gast.Call(gast.Constant(Variables, None), [], [])
    first = gast.Assign([gast.Name(owner, gast.Store(), None, None)], made, None)
    given = [
        gast.Assign(
            [gast.Attribute(gast.Name(owner, gast.Load(), None, None), name, gast.Store())],
            gast.Name(name, gast.Load(), None, None),
            None,
        )
        for name in sorted(shared & parameters(function))
    ]
    place = function.body[0]
    for node in (below for statement in (first, *given) for below in gast.walk(statement)):
        gast.copy_location(node, place)
        node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset
    return [first, *given]


# -- which variables -----------------------------------------------------------------------------


def own_nodes(node: Any) -> Iterator[Any]:
    """The nodes of a function's own body; of nested functions, those only themselves."""
    stack = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        found = stack.pop()
        yield found
        if isinstance(found, _FUNCTIONS):
            stack += [*found.args.defaults, *(d for d in found.args.kw_defaults if d is not None)]
            stack += getattr(found, "decorator_list", [])
        else:
            stack += gast.iter_child_nodes(found)


def _nested(function: Any) -> list[Any]:
    return [node for node in own_nodes(function) if isinstance(node, _FUNCTIONS)]


def _declared(function: Any, kind: Any) -> set[str]:
    return {n for node in own_nodes(function) if isinstance(node, kind) for n in node.names}


def parameters(function: Any) -> set[str]:
    """The names of a function's parameters."""
    tree = function.args
    found = [*tree.posonlyargs, *tree.args, tree.vararg, *tree.kwonlyargs, tree.kwarg]
    return {parameter.id for parameter in found if parameter is not None}


def own_names(function: Any) -> set[str]:
    """The names of a function (gast) that are neither global nor those of a function around."""
    body = function.body if isinstance(function.body, list) else [function.body]
    outer = _declared(function, gast.Nonlocal) | _declared(function, gast.Global)
    return parameters(function) | (assigned_names(body) - outer)


def _assigned_by_nested(function: Any) -> set[str]:
    """The names that functions in this one declare `nonlocal`, and that are not theirs."""
    found: set[str] = set()
    for nested in _nested(function):
        found |= _declared(nested, gast.Nonlocal)
        found |= _assigned_by_nested(nested) - own_names(nested)
    return found


def _bound_otherwise(function: Any) -> set[str]:
    """The names that are bound by more than assignments: they stay names."""
    names: set[str] = set()
    for node in gast.walk(function):
        if isinstance(node, gast.FunctionDef) and node is not function:
            names.add(node.name)
        elif isinstance(node, gast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, gast.ExceptHandler) and node.name is not None:
            names.add(node.name.id)
        elif isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name is not None:
            names.add(node.name)
        elif isinstance(node, gast.MatchMapping) and node.rest is not None:
            names.add(node.rest)
    return names


# -- rewriting -----------------------------------------------------------------------------------


class _Rewriter:
    """Writes names as attributes of the object of this name."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def rewritten(self, node: Any, shared: frozenset[str]) -> Any:
        """The node, with the names rewritten wherever they mean these variables."""
        if isinstance(node, gast.Name) and node.id in shared:
            owner = gast.copy_location(gast.Name(self.owner, gast.Load(), None, None), node)
            return gast.copy_location(gast.Attribute(owner, node.id, node.ctx), node)
        if isinstance(node, gast.Nonlocal):
            kept = [name for name in node.names if name not in shared]
            return gast.copy_location(gast.Nonlocal(kept) if kept else gast.Pass(), node)
        if isinstance(node, _FUNCTIONS):
            return self._function(node, shared)
        if isinstance(node, _COMPREHENSIONS):
            bound = {
                n.id
                for generator in node.generators
                for n in gast.walk(generator.target)
                if isinstance(n, gast.Name)
            }
            shared -= bound
        if isinstance(node, gast.ClassDef):
            return self._class(node, shared)
        return self._fields(node, shared, node._fields)

    def _class(self, node: Any, shared: frozenset[str]) -> Any:
        """What the body of a class binds is the class's own; its methods do not see that."""
        own = shared - assigned_names(node.body)
        node.body = [
            self.rewritten(below, shared if isinstance(below, gast.FunctionDef) else own)
            for below in node.body
        ]
        return self._fields(node, shared, ("bases", "keywords", "decorator_list"))

    def _function(self, node: Any, shared: frozenset[str]) -> Any:
        """Defaults and decorators are read outside of the function; its own names are others."""
        tree = node.args
        tree.defaults = [self.rewritten(d, shared) for d in tree.defaults]
        tree.kw_defaults = [d and self.rewritten(d, shared) for d in tree.kw_defaults]
        if isinstance(node, gast.FunctionDef):
            node.decorator_list = [self.rewritten(d, shared) for d in node.decorator_list]
        return self._fields(node, shared - own_names(node), ("body",))

    def _fields(self, node: Any, shared: frozenset[str], fields: tuple[str, ...]) -> Any:
        for field in fields:
            held = getattr(node, field, None)
            if isinstance(held, list):
                items = [self.rewritten(i, shared) if isinstance(i, gast.AST) else i for i in held]
                setattr(node, field, items)
            elif isinstance(held, gast.AST):
                setattr(node, field, self.rewritten(held, shared))
        return node
