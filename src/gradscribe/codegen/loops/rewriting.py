"""The statements of a generated function in the subset of Python that Numba compiles.

`reversed` and its `zip` become indices that count down, powers a function that is checked, and
errors that the program raises one that sends the call to the NumPy tier. A loop that only `break`
ends has a condition, which is always true: Numba gives a variable that is assigned just before the
one `break` of a `while True` a new name, by which the rest of the loop, but not its beginning, then
knows it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any, TypeGuard

POWER = "power"
"""The name of the checked `x ** y`."""

FLOAT_POWER = "float_power"
"""The name of `np.float_power`, which Numba has not."""

FOREVER = "forever"
"""The name of what is always true."""


def in_subset(function: ast.FunctionDef) -> ast.FunctionDef:
    """The same function in the subset, its statements changed in place."""
    changed = _Rewriter(function).visit(function)
    assert isinstance(changed, ast.FunctionDef)
    return changed


class _Rewriter(ast.NodeTransformer):
    def __init__(self, function: ast.FunctionDef) -> None:
        self._function = function

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`x.tolist()`, of a vector, is `list(x)`; `np.float_power` has a name of its own."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "float_power":
            node.func = ast.Name(FLOAT_POWER, ast.Load())
        if isinstance(node.func, ast.Attribute) and node.func.attr == "tolist":
            return ast.Call(ast.Name("list", ast.Load()), [node.func.value], [])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(ast.Name(POWER, ast.Load()), [node.left, node.right], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow):
            read = ast.parse(ast.unparse(node.target), mode="eval").body
            node.op = ast.Pow()
            called = ast.Call(ast.Name(POWER, ast.Load()), [read, node.value], [])
            return ast.copy_location(ast.Assign([node.target], called), node)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            node.test = ast.Name(FOREVER, ast.Load())
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        node.exc = ast.Name("ValueError", ast.Load())
        node.cause = None
        return node

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        parts = list(_parts(node.target, node.iter))
        if not any(_reversed(iterable) is not None for _, iterable in parts):
            return node
        if len(parts) == 1 and _counts_up(parts[0][1].args[0]):  # type: ignore[attr-defined]
            node.iter = _downwards(parts[0][1].args[0])  # type: ignore[attr-defined]
            return node
        over = [(target, _reversed(iterable) or iterable) for target, iterable in parts]
        kept, over = self._kept(node, over)
        self._count_down(node, over)
        return [*kept, node]

    def _kept(
        self, loop: ast.For, parts: list[tuple[ast.expr, ast.expr]]
    ) -> tuple[list[ast.stmt], list[tuple[ast.expr, ast.expr]]]:
        """Statements that keep what is run over where the loop itself gives its name to something
        else, and what is run over then."""
        stored = stored_in([loop])
        statements: list[ast.stmt] = []
        over = []
        for target, iterable in parts:
            names = {n.id for n in ast.walk(iterable) if isinstance(n, ast.Name)}
            if names & stored and not is_call(iterable, "range"):
                name = _free_name("items", self._function)
                statements.append(ast.Assign([ast.Name(name, ast.Store())], iterable))
                iterable = ast.Name(name, ast.Load())
            over.append((target, iterable))
        return statements, over

    def _count_down(self, node: ast.For, parts: list[tuple[ast.expr, ast.expr]]) -> None:
        """Let a loop that runs backwards over these count down."""
        counter = next((t for t, i in parts if _counts_from_zero(i) and _is_used(t)), None)
        if not isinstance(counter, ast.Name):
            counter = ast.Name(free_counter(self._function, node), ast.Store())
        taken: list[ast.stmt] = []
        for target, iterable in parts:
            if isinstance(target, ast.Name) and target.id == counter.id:
                continue
            if _is_used(target):
                item = _item(iterable, ast.Name(counter.id, ast.Load()))
                taken.append(ast.Assign([target], item))
        length = _length(parts)
        down = [_minus_one(length), ast.Constant(-1), ast.Constant(-1)]
        node.target = ast.Name(counter.id, ast.Store())
        node.iter = ast.Call(ast.Name("range", ast.Load()), down, [])
        node.body = [*taken, *node.body]


def stored_in(body: list[ast.stmt]) -> set[str]:
    """The names that statements give to something."""
    found: set[str] = set()
    for node in (node for statement in body for node in ast.walk(statement)):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        found.update(name for target in targets for name in _names(target))
    return found


def _names(target: Any) -> Iterator[str]:
    """The names that a target gives."""
    if isinstance(target, ast.Name):
        yield target.id
    for part in getattr(target, "elts", ()):
        yield from _names(part)


def _free_name(name: str, function: ast.FunctionDef) -> str:
    """A name that nothing else in a function has."""
    names = (f"{name}_{number}" if number else name for number in itertools.count())
    taken = {getattr(n, part, None) for n in ast.walk(function) for part in ("id", "arg")}
    return next(name for name in names if name not in taken)


def free_counter(function: ast.FunctionDef, loop: ast.For) -> str:
    """The name of a variable that may number the iterations of a loop: others may count by it,
    too, outside of this one."""
    names = (f"k_{number}" if number else "k" for number in itertools.count())
    return next(name for name in names if _is_free(name, function, loop))


def _is_free(name: str, function: ast.FunctionDef, loop: ast.For) -> bool:
    if any(map(partial(_is_named, name), ast.walk(loop))):
        return False
    pending: list[ast.AST] = [function]
    is_found = False
    while pending:
        node = pending.pop()
        is_found |= node is loop
        if isinstance(node, ast.For) and _is_named(name, node.target):
            continue
        if _is_named(name, node):
            return False
        pending += ast.iter_child_nodes(node)
    return is_found


def _is_named(name: str, node: ast.AST) -> bool:
    return name in (getattr(node, "id", None), getattr(node, "arg", None))


def _parts(target: ast.expr, iterable: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of a loop, each with what it runs over."""
    if is_call(iterable, "zip") and isinstance(target, ast.Tuple):
        assert isinstance(iterable, ast.Call)
        yield from zip(target.elts, iterable.args, strict=True)
    else:
        yield target, iterable


def _reversed(iterable: ast.expr) -> ast.expr | None:
    """What is run over backwards; None where it is forwards."""
    if not is_call(iterable, "reversed"):
        return None
    assert isinstance(iterable, ast.Call)
    return iterable.args[0]


def is_call(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    """Whether this calls the function of a name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _counts_from_zero(iterable: ast.expr) -> bool:
    return is_call(iterable, "range") and len(iterable.args) == 1


def _counts_up(iterable: ast.expr) -> bool:
    """Whether this is a `range` by steps of one."""
    return is_call(iterable, "range") and len(iterable.args) < 3


def _downwards(iterable: ast.Call) -> ast.expr:
    """A `range` by steps of one, the other way."""
    *start, stop = iterable.args
    end = _minus_one(start[0]) if start else ast.Constant(-1)
    return ast.Call(iterable.func, [_minus_one(stop), end, ast.Constant(-1)], [])


def _is_used(target: ast.expr) -> bool:
    return not (isinstance(target, ast.Name) and target.id == "_")


def _length(parts: list[tuple[ast.expr, ast.expr]]) -> ast.expr:
    """How many items what is run over has: all have the same number."""
    for _, iterable in parts:
        if _counts_from_zero(iterable):
            return iterable.args[0]  # type: ignore[attr-defined,no-any-return]
    lists = [i for _, i in parts if not is_call(i, "range")]
    return ast.Call(ast.Name("len", ast.Load()), [(lists or [parts[0][1]])[0]], [])


def _item(iterable: ast.expr, counter: ast.expr) -> ast.expr:
    """The item at a place."""
    if not is_call(iterable, "range"):
        return ast.Subscript(iterable, counter, ast.Load())
    assert isinstance(iterable, ast.Call)
    if len(iterable.args) == 1:
        return counter
    start, _, *step = iterable.args
    steps = ast.BinOp(step[0], ast.Mult(), counter) if step else counter
    return ast.BinOp(start, ast.Add(), steps)


def _minus_one(length: ast.expr) -> ast.expr:
    match length:
        case ast.Constant(int(value)):
            return ast.Constant(value - 1)
        case ast.BinOp(left, ast.Sub(), ast.Constant(int(value))):
            return ast.BinOp(left, ast.Sub(), ast.Constant(value + 1))
        case ast.BinOp(left, ast.Add(), ast.Constant(1)):
            return left
    return ast.BinOp(length, ast.Sub(), ast.Constant(1))
