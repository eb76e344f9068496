"""The text of a function, lambda or generator expression of the program, to be made an object.

Comes in: a gast tree. Goes out: a `FunctionText`, whose free names are found as Python finds them.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
import symtable
from collections.abc import Iterator
from typing import Any

import gast

from gradscribe.frontend.syntax.bindings import assigned_names
from gradscribe.frontend.syntax.shared_variables import own_nodes
from gradscribe.primitives.functions import FunctionText

_BINDING = (gast.FunctionDef, gast.ClassDef, gast.alias, gast.MatchAs, gast.MatchStar)

FIRST = "items"
"""What the first `for` of a generator expression runs over, in its text."""


@functools.lru_cache(maxsize=1024)
def names_in(node: Any) -> frozenset[str]:
    """The names in a function, those that it reads from outside among them."""
    return frozenset(n.id for n in gast.walk(node) if isinstance(n, gast.Name))


@functools.lru_cache(maxsize=1024)
def attributes_in(node: Any) -> frozenset[str]:
    """The names that a function may look for in what it finds: those of attributes, of what it
    imports, and of what finds attributes by texts."""
    found = names_in(node).union(n.attr for n in gast.walk(node) if isinstance(n, gast.Attribute))
    return found.union(n.name for n in gast.walk(node) if isinstance(n, gast.alias))


@functools.lru_cache(maxsize=1024)
def imported_in(node: Any) -> frozenset[str]:
    """The names of the modules that a function imports."""
    found = [n.name for n in gast.walk(node) if isinstance(n, gast.alias)]
    found += [n.module or "" for n in gast.walk(node) if isinstance(n, gast.ImportFrom)]
    return frozenset(found)


@functools.lru_cache(maxsize=1024)
def rebound_names(node: Any) -> frozenset[str]:
    """The variables of a function that may be bound again after they were."""
    own = list(own_nodes(node))
    bound = [name for part in own for name in _bound_by(part)]
    bound += [p.id for p in _parameters_of(node)]
    loops = [part for part in own if isinstance(part, (gast.For, gast.While))]
    return frozenset({n for n in bound if bound.count(n) > 1} | assigned_names(loops))


def _bound_by(node: Any) -> set[str]:
    """The names that a node binds, without what is in it."""
    if isinstance(node, gast.Name):
        return {node.id} if isinstance(node.ctx, (gast.Store, gast.Del)) else set()
    if isinstance(node, _BINDING):
        return assigned_names([node])
    if isinstance(node, gast.ExceptHandler) and node.name is not None:
        return {node.name.id}
    return set()


def _parameters_of(node: Any) -> list[Any]:
    tree = node.args
    if tree is None:  # of a comprehension
        return []
    found = [*tree.posonlyargs, *tree.args, tree.vararg, *tree.kwonlyargs, tree.kwarg]
    return [parameter for parameter in found if parameter is not None]


@functools.lru_cache(maxsize=1024)
def text_of(node: Any) -> FunctionText:
    """The text of a function; of a generator expression, a function that makes the generator."""
    tree = copy.deepcopy(node)
    given = {identifier(name): name for name in names_in(node)}
    for name in gast.walk(tree):
        if isinstance(name, gast.Name):
            name.id = identifier(name.id)
    if isinstance(tree, gast.GeneratorExp):
        tree = _maker(tree)
    with_default = frozenset(_with_default(tree))
    _strip(tree)
    made: Any = gast.gast_to_ast(tree)
    ast.fix_missing_locations(made)
    try:
        table = symtable.symtable(ast.unparse(made), "<function>", "exec")
    except SyntaxError as error:
        return FunctionText(made, {}, problem=f"it cannot be written out: {error.msg}")
    symbols = list(_symbols(table))
    assigned = sorted({s.get_name() for s in symbols if s.is_assigned()})
    problem = f"it assigns `{assigned[0]}`, a variable from outside" if assigned else ""
    free = {name: given.get(name, name) for name in sorted({s.get_name() for s in symbols})}
    return FunctionText(made, free, with_default, problem)


@functools.lru_cache(maxsize=1024)
def looking_up(node: Any, owners: frozenset[tuple[str, str]]) -> FunctionText:
    """The text of a function in which some variables are attributes of these objects. owners: the
    names of the variables, and of the objects."""
    text = text_of(node)
    names = dict(owners)
    tree = copy.deepcopy(text.tree)
    bound = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    bound |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_bound(n)}
    problem = text.problem
    if shadowed := sorted(bound & names.keys()):
        problem = f"it has a variable `{shadowed[0]}` of its own besides"
    free = {key: name for key, name in text.free.items() if key not in names}
    made = _LookingUp(names).visit(tree)
    ast.fix_missing_locations(made)
    return FunctionText(made, free, text.with_default, problem)


def _is_bound(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


class _LookingUp(ast.NodeTransformer):
    """Reads variables as attributes of objects."""

    def __init__(self, owners: dict[str, str]) -> None:
        self._owners = owners

    def visit_Name(self, node: ast.Name) -> ast.expr:
        owner = self._owners.get(node.id)
        if owner is None:
            return node
        return ast.Attribute(ast.Name(owner, ast.Load()), node.id, ast.Load())


def first_of(generator: Any) -> str:
    """What the text of a generator expression calls what its first `for` runs over, which is
    computed where the generator is made."""
    return FIRST if FIRST not in names_in(generator) else f"all_{FIRST}"


def identifier(name: str) -> str:
    return name if name.isidentifier() else re.sub(r"\W+", "_", name)


def _maker(generator: Any) -> Any:
    """`lambda: (… for … in items)`: what the first `for` runs over is computed outside."""
    first = generator.generators[0]
    first.iter = gast.Name(first_of(generator), gast.Load(), None, None)
    return gast.Lambda(gast.arguments([], [], None, [], [], None, []), generator)


def _with_default(tree: Any) -> Iterator[str]:
    positional = [*tree.args.posonlyargs, *tree.args.args]
    yield from (p.id for p in positional[len(positional) - len(tree.args.defaults) :])
    for parameter, default in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True):
        if default is not None:
            yield parameter.id


def _strip(tree: Any) -> None:
    """Take out what is evaluated where the function is made."""
    tree.args.defaults = []
    tree.args.kw_defaults = [None] * len(tree.args.kwonlyargs)
    for node in gast.walk(tree):
        if isinstance(node, gast.Name):
            node.annotation = None
        if isinstance(node, gast.FunctionDef):
            node.returns = None
    if isinstance(tree, gast.FunctionDef):
        tree.decorator_list = []


def _symbols(table: symtable.SymbolTable) -> Iterator[symtable.Symbol]:
    """What the functions in a module read, or assign, of the module."""
    for child in table.get_children():
        yield from (symbol for symbol in child.get_symbols() if symbol.is_global())
        yield from _symbols(child)
