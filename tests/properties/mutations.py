"""Mutants of the programs of the library: one small change each, of a kind that people make.

In: a program and a random generator. Out: a `Mutant`, the program with one place of its source
changed (a statement removed, operands swapped, a literal changed, a name replaced, an index
shifted, …), or one of its arguments (emptied, of another dtype, layout, rank or class).
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import textwrap
import types
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.programs.registry import Program

Random = np.random.Generator
Change = Callable[[ast.AST, Random, ast.AST], Any]
"""Of a node: what stands in its place (None: there is nothing to change). Given are a copy of
the node, and the tree that it is in."""

CHANGES: dict[type[ast.AST], list[Change]] = {}


@dataclass(frozen=True)
class Mutant:
    """name: of the program. change: what was changed, in words. text: its source."""

    name: str
    change: str
    text: str
    function: Callable[..., Any]
    args: tuple[Any, ...]


def change(*kinds: type[ast.AST]) -> Callable[[Change], Change]:
    """Register a change of nodes of these kinds."""

    def register(function: Change) -> Change:
        for kind in kinds:
            CHANGES.setdefault(kind, []).append(function)
        return function

    return register


def mutant(program: Program, rng: Random) -> Mutant:
    """The program with one change: four of five are changes of its source."""
    if rng.random() < 0.2:
        return _with_other_argument(program, rng)
    trees = [ast.parse(text) for text in _sources(program.function)]
    own = rng.random() < 0.7 or len(trees) == 1
    number = len(trees) - 1 if own else int(rng.integers(len(trees) - 1))
    while True:
        changed = list(trees)
        changed[number] = copy.deepcopy(trees[number])
        done = change_one_place(changed[number], rng)
        try:
            text = "\n\n".join(ast.unparse(tree) for tree in changed) + "\n"
            function = _function(program, text)
        except Exception:  # no program: `break` outside of a loop, a default without a value, …
            continue
        return Mutant(program.name, done, text, function, program.args())


# -- source ----------------------------------------------------------------------------------


def _sources(function: Any) -> Iterator[str]:
    """The sources of the helpers that a program uses, and its own."""
    module = inspect.getmodule(function)
    seen: dict[str, str] = {}

    def visit(name: str, value: Any) -> None:
        if name in seen or not isinstance(value, types.FunctionType):
            return
        if value.__module__ != module.__name__ or hasattr(value, "__wrapped__"):
            return
        seen[name] = ""
        text = textwrap.dedent(inspect.getsource(value))
        if text.startswith(("def ", "@program")):
            for used in value.__code__.co_names:
                visit(used, value.__globals__.get(used))
            seen[name] = text
            return
        del seen[name]

    visit(function.__name__, function)
    *helpers, own = [_undecorated(seen.pop(name)) for name in [*seen]] or [""]
    yield from helpers
    yield own


def _undecorated(text: str) -> str:
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [d for d in node.decorator_list if "program" not in ast.dump(d)]
    return ast.unparse(tree)


def _function(program: Program, text: str) -> Callable[..., Any]:
    filename = f"<mutant {zlib.crc32(text.encode()):08x}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {**program.function.__globals__}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    function: Callable[..., Any] = namespace[program.name]
    return function


def change_one_place(tree: ast.AST, rng: Random) -> str:
    """Change one place of a tree; says what was done."""
    kinds = sorted({kind.__name__ for kind in map(type, ast.walk(tree)) if _changes_of(kind)})
    while True:
        kind = _pick(rng, kinds)
        node = _pick(rng, [node for node in ast.walk(tree) if type(node).__name__ == kind])
        option, before = _pick(rng, _changes_of(type(node))), ast.unparse(node)
        new = option(copy.deepcopy(node), rng, tree)
        if new is not None and _replace(tree, node, new):
            ast.fix_missing_locations(tree)
            after = "; ".join(ast.unparse(part) for part in new) if isinstance(new, list) else (
                ast.unparse(new))  # fmt: skip
            return f"{option.__name__}: {before[:60]!r} -> {after[:60]!r}"


def _changes_of(kind: type[ast.AST]) -> list[Change]:
    return [c for base in kind.__mro__ for c in CHANGES.get(base, [])]


def _replace(tree: ast.AST, old: Any, new: Any) -> bool:
    """Put a node, or a list of statements, in the place of another."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old and not isinstance(new, list):
                setattr(parent, name, new)
                return True
            if not isinstance(value, list):
                continue
            for place, item in enumerate(value):
                if item is old:
                    value[place : place + 1] = new if isinstance(new, list) else [new]
                    return True
    return False


def _pick(rng: Random, options: Any) -> Any:
    options = list(options)
    return options[rng.integers(len(options))]


def _text(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


# -- statements ------------------------------------------------------------------------------


@change(ast.stmt)
def removed(node: Any, rng: Random, tree: ast.AST) -> Any:
    return None if _is_whole(node, tree) else ast.Pass()


@change(ast.stmt)
def repeated(node: Any, rng: Random, tree: ast.AST) -> Any:
    return None if _is_whole(node, tree) else [node, copy.deepcopy(node)]


@change(ast.stmt)
def left_early(node: Any, rng: Random, tree: ast.AST) -> Any:
    """A way out before this statement."""
    if _is_whole(node, tree):
        return None
    way = _pick(rng, ["return", "break", "continue", "raise ValueError('early')"])
    if way == "return":
        way = f"return {_pick(rng, _names(tree))}"
    condition = _pick(rng, ["True", "False", f"{_pick(rng, _names(tree))} is None"])
    return [*ast.parse(f"if {condition}:\n    {way}").body, node]


@change(ast.stmt)
def under_a_condition(node: Any, rng: Random, tree: ast.AST) -> Any:
    if _is_whole(node, tree):
        return None
    names = _names(tree)
    forms = ["if {0}:\n pass", "for {0} in range(2):\n pass", "while False:\n pass"]
    forms += ["try:\n pass\nexcept IndexError:\n pass", "with np.errstate(all='ignore'):\n pass"]
    (wrapper,) = ast.parse(_pick(rng, forms).format(_pick(rng, names))).body
    wrapper.body = [node]  # type: ignore[attr-defined]
    return wrapper


@change(ast.AugAssign)
def assigned_anew(node: Any, rng: Random, tree: ast.AST) -> Any:
    return ast.Assign([node.target], node.value)


@change(ast.Assign)
def added(node: Any, rng: Random, tree: ast.AST) -> Any:
    if len(node.targets) != 1 or isinstance(node.targets[0], ast.Tuple | ast.List):
        return None
    return ast.AugAssign(node.targets[0], _pick(rng, [ast.Add(), ast.Mult()]), node.value)


@change(ast.If, ast.While, ast.IfExp)
def negated(node: Any, rng: Random, tree: ast.AST) -> Any:
    node.test = _pick(rng, [ast.UnaryOp(ast.Not(), node.test), _text("True"), _text("0")])
    return node


@change(ast.If)
def without_else(node: Any, rng: Random, tree: ast.AST) -> Any:
    node.orelse = []
    return node


@change(ast.For)
def other_loop(node: Any, rng: Random, tree: ast.AST) -> Any:
    forms = ["list({})", "reversed({})", "({})[1:]", "({})[:0]", "enumerate({})", "zip({0}, {0})"]
    node.iter = _text(_pick(rng, forms).format(ast.unparse(node.iter)))
    return node


def _is_whole(node: ast.AST, tree: ast.AST) -> bool:
    return node is tree or (isinstance(node, ast.FunctionDef) and node.col_offset == 0)


def _names(tree: ast.AST) -> list[str]:
    """The names of variables in a tree."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return sorted(names)


# -- expressions -----------------------------------------------------------------------------


@change(ast.BinOp)
def operands_swapped(node: Any, rng: Random, tree: ast.AST) -> Any:
    node.left, node.right = node.right, node.left
    return node


@change(ast.BinOp, ast.AugAssign)
def other_operator(node: Any, rng: Random, tree: ast.AST) -> Any:
    operators = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult]
    node.op = _pick(rng, operators)()
    return node


@change(ast.BinOp)
def operand_alone(node: Any, rng: Random, tree: ast.AST) -> Any:
    return _pick(rng, [node.left, node.right])


@change(ast.Compare)
def other_comparison(node: Any, rng: Random, tree: ast.AST) -> Any:
    node.ops[0] = _pick(rng, [ast.Lt, ast.Gt, ast.LtE, ast.Eq, ast.NotEq, ast.Is, ast.In])()
    return node


@change(ast.Constant)
def other_literal(node: Any, rng: Random, tree: ast.AST) -> Any:
    others = [0, 1, -1, 2, 0.0, 0.5, -1.5, 1e300, True, None, "a", (), 1j, 10**20, ...]
    if isinstance(node.value, int):
        others += [node.value + 1, node.value - 1, float(node.value)] * 3
    if isinstance(node.value, float):
        others += [-node.value, int(node.value)] * 3
    return _text(repr(_pick(rng, others)).replace("Ellipsis", "..."))


@change(ast.List, ast.Tuple, ast.Set)
def other_items(node: Any, rng: Random, tree: ast.AST) -> Any:
    if not isinstance(node.ctx if not isinstance(node, ast.Set) else ast.Load(), ast.Load):
        return None
    kept = [[], node.elts[1:], node.elts[:-1], node.elts * 2, node.elts[::-1]]
    node.elts = _pick(rng, kept)
    return node


@change(ast.List, ast.Tuple)
def other_display(node: Any, rng: Random, tree: ast.AST) -> Any:
    if not isinstance(node.ctx, ast.Load):
        return None
    return (ast.Tuple if isinstance(node, ast.List) else ast.List)(node.elts, ast.Load())


@change(ast.Dict)
def fewer_keys(node: Any, rng: Random, tree: ast.AST) -> Any:
    count = _pick(rng, [0, 1, len(node.keys) - 1])
    return ast.Dict(node.keys[:count], node.values[:count])


@change(ast.Name)
def other_name(node: Any, rng: Random, tree: ast.AST) -> Any:
    return ast.Name(_pick(rng, _names(tree)), node.ctx)


FORMS = [
    form.strip()
    for form in """
    float(…) | int(…) | complex(…) | bool(…) | str(…) | len(…) | abs(…) | -(…) | not (…)
    (…)[0] | (…)[-1] | (…)[1:] | (…)[::-1] | (…)[None] | (…)[()] | (…)[..., 0] | (…)[:0] | (…)[[0]]
    (…).T | (…).copy() | (…).shape | (…).sum() | (…).ravel() | (…).tolist() | (…).real | (…).item()
    (…).astype(int) | (…).astype(np.float32) | (…).astype(complex) | (…).x | (…)() | (lambda: …)
    list(…) | tuple(…) | sorted(…) | sum(…) | max(…) | round(…) | iter(…) | isinstance(…, float)
    np.array(…) | np.asarray(…) | np.array([…]) | np.float32(…) | np.atleast_2d(…) | np.sort(…)
    np.zeros_like(…) | np.cumsum(…) | np.squeeze(…) | np.where(… > 0, …, 0) | [v for v in (…)]
    […] | (…,) | {'a': …} | (… != 0) | (… or 0) | (… and 1) | (y := …) | (… if … else 0) | [*(…)]
    {**(…)} | set(…) | range(…) | enumerate(…) | zip(…, …) | map(float, …) | next(…)
    """.replace("\n", " | ").split(" | ")
    if form.strip()
]


@change(ast.Name, ast.Subscript, ast.Call, ast.BinOp, ast.Attribute)
def wrapped(node: Any, rng: Random, tree: ast.AST) -> Any:
    """The value converted, indexed, transposed, …"""
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return None
    return _text(_pick(rng, FORMS).replace("…", ast.unparse(node)))


@change(ast.Subscript)
def other_index(node: Any, rng: Random, tree: ast.AST) -> Any:
    if isinstance(node.slice, ast.Slice):
        setattr(node.slice, _pick(rng, ["lower", "upper", "step"]),
                _pick(rng, [None, *map(_text, ["0", "1", "-1", "2", "100"])]))  # fmt: skip
        return node
    text = ast.unparse(node.slice)
    if isinstance(node.slice, ast.Tuple) and node.slice.elts:
        items = node.slice.elts
        node.slice = _pick(rng, [ast.Tuple(items[::-1], ast.Load()), items[0], items[-1]])
        return node
    forms = "({})+1 ({})-1 -({}) 0 -1 100 None ... [{}] ({},) ({})*1.0 True".split()
    node.slice = _text(_pick(rng, [f.format(text) for f in forms]))
    return node


@change(ast.Call)
def fewer_arguments(node: Any, rng: Random, tree: ast.AST) -> Any:
    given = [*node.args, *node.keywords]
    if not given:
        return None
    dropped = _pick(rng, given)
    node.args = [a for a in node.args if a is not dropped]
    node.keywords = [k for k in node.keywords if k is not dropped]
    return node


@change(ast.Call)
def other_arguments(node: Any, rng: Random, tree: ast.AST) -> Any:
    form = _pick(rng, ["reversed", "repeated", "more", "axis", "starred"])
    if form == "more":
        node.args.append(_text(_pick(rng, ["0", "1", "None", *_names(tree)])))
    elif form == "axis":
        text = _pick(rng, ["axis=0", "axis=-1", "axis=1", "axis=5", "dtype=float", "dtype=int",
                           "keepdims=True", "out=None", "key=None"])  # fmt: skip
        node.keywords.append(ast.parse(f"f({text})", mode="eval").body.keywords[0])  # type: ignore[attr-defined]
    elif form == "starred" and node.args:
        node.args[-1] = ast.Starred(node.args[-1], ast.Load())
    elif form == "repeated" and node.args:
        node.args = [node.args[0]] * len(node.args)
    else:
        node.args.reverse()
    return node


SIMILAR = [
    "sum mean max min prod cumsum std var median ptp argmax sort diff any all size",
    "zeros ones empty arange full zeros_like ones_like empty_like eye array asarray linspace",
    "exp log sqrt sin cos tanh abs sign floor ceil round square",
    "dot matmul outer inner kron cross vdot tensordot",
    "append extend insert pop remove index count reverse sort clear copy",
    "len sum max min abs range list tuple sorted reversed enumerate zip map float int",
    "get setdefault pop items keys values update",
    "concatenate stack hstack vstack column_stack append block",
    "reshape ravel flatten squeeze transpose swapaxes T shape size ndim dtype real imag",
]


@change(ast.Attribute)
def other_attribute(node: Any, rng: Random, tree: ast.AST) -> Any:
    groups = [group.split() for group in SIMILAR if node.attr in group.split()]
    node.attr = _pick(rng, groups[0]) if groups else node.attr + "_"
    return node


@change(ast.Attribute)
def without_attribute(node: Any, rng: Random, tree: ast.AST) -> Any:
    return node.value


@change(ast.keyword)
def other_keyword(node: Any, rng: Random, tree: ast.AST) -> Any:
    options = ["None", "0", "-1", "1", "(0, 1)", "float", "int", "np.float32", "complex", "'a'"]
    node.value = _text(_pick(rng, options))
    return node


@change(ast.arguments)
def other_parameters(node: Any, rng: Random, tree: ast.AST) -> Any:
    """A parameter gets a default, or takes the rest."""
    if not node.args:
        return None
    form = _pick(rng, ["default", "rest", "order"])
    if form == "default":
        node.defaults = [_text(_pick(rng, ["0", "1.0", "None", "()"])) for _ in node.args[-1:]]
    elif form == "rest" and not node.vararg:
        node.vararg, node.defaults = node.args.pop(), []
    else:
        node.args.reverse()
    return node


# -- arguments -------------------------------------------------------------------------------

OTHERS: dict[str, Callable[[Any], Any]] = {
    "()": lambda value: (),
    "[]": lambda value: [],
    "{}": lambda value: {},
    "None": lambda value: None,
    "an int": lambda value: 2,
    "zero": lambda value: 0,
    "a float": lambda value: 0.7,
    "a bool": lambda value: True,
    "a complex": lambda value: 0.3 + 0.2j,
    "a string": lambda value: "text",
    "an empty array": lambda value: np.zeros(0),
    "empty rows": lambda value: np.zeros((0, 3)),
    "an array without axes": lambda value: np.array(0.7),
    "a NumPy number": lambda value: np.float64(0.7),
    "a small NumPy number": lambda value: np.float32(0.7),
    "one item": lambda value: np.asarray(value)[:1],
    "two items": lambda value: np.asarray(value)[:2],
    "float32": lambda value: np.asarray(value).astype(np.float32),
    "longdouble": lambda value: np.asarray(value).astype(np.longdouble),
    "float16": lambda value: np.asarray(value).astype(np.float16),
    "integers": lambda value: np.asarray(value).astype(int),
    "bools": lambda value: np.asarray(value) > 0,
    "complex": lambda value: np.asarray(value).astype(complex) + 0.1j,
    "objects": lambda value: np.asarray(value).astype(object),
    "strings": lambda value: np.asarray(value).astype(str),
    "Fortran order": lambda value: np.asfortranarray(value),
    "reversed": lambda value: np.asarray(value)[::-1],
    "every second item": lambda value: np.repeat(np.asarray(value), 2, axis=0)[::2],
    "another byte order": lambda value: np.asarray(value).astype(">f8"),
    "read-only": lambda value: _read_only(value),
    "a broadcast": lambda value: np.broadcast_to(np.asarray(value), (2, *np.shape(value))),
    "transposed": lambda value: np.asarray(value).T,
    "one more axis": lambda value: np.asarray(value)[None],
    "a column": lambda value: np.asarray(value)[..., None],
    "flat": lambda value: np.asarray(value).ravel(),
    "a matrix": lambda value: np.matrix(np.asarray(value)),
    "masked": lambda value: np.ma.masked_array(np.asarray(value)),
    "a list": lambda value: np.asarray(value).tolist(),
    "a tuple": lambda value: tuple(np.asarray(value).tolist()),
    "a list of numbers": lambda value: list(np.asarray(value).ravel()),
    "a nested list": lambda value: [value, [value]],
    "a dict": lambda value: {"a": value},
    "in a list": lambda value: [value],
    "negated": lambda value: -value,
    "zeros": lambda value: value * 0,
    "longer": lambda value: np.concatenate([np.asarray(value), np.asarray(value)]),
    "not a number": lambda value: value * np.nan,
}


def _read_only(value: Any) -> Any:
    array = np.array(value)
    array.flags.writeable = False
    return array


def _with_other_argument(program: Program, rng: Random) -> Mutant:
    args = list(program.args())
    text = "\n\n".join(_sources(program.function)) + "\n"
    for _ in range(100):
        place = int(rng.integers(len(args)))
        kind = _pick(rng, OTHERS)
        try:
            args[place] = OTHERS[kind](args[place])
        except (TypeError, ValueError, IndexError):
            continue
        done = f"argument {place} is {kind}"
        return Mutant(program.name, done, text, program.function, tuple(args))
    return Mutant(program.name, "nothing", text, program.function, tuple(args))
