"""A user's function with its calls followed: the same code, but that each callee is looked up
first, `zeros(n)` as `callee_of(zeros)(n)`.

So a recorded run knows of calls that NumPy's protocols do not tell of: `np.zeros`, `math.exp`,
`float`, functions of SciPy (`callees`). A function is followed where its source can be read and is
that of its code; else it runs as it is, and what is not followed is refused.
"""

from __future__ import annotations

import ast
import copy
import functools
import linecache
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from gradscribe.compiler.observing import ORIGINALS
from gradscribe.ir.probing import probe
from gradscribe.recording import classes, foreign, sourceless

RESOLVER = "gradscribe_callee_of"
"""The free variable of a followed function that looks up callees."""

WATCH = "gradscribe_watch"
"""That which looks at the objects that it uses (see `classes`)."""

HANDLED = "gradscribe_handled"
"""That which looks at the exceptions that it handles."""

OWN_NAMES = (RESOLVER, WATCH, HANDLED)

_NAME = "gradscribe_followed"
_ERROR = "gradscribe_error"
_FUTURE = 0x1FE0000
"""The flags of `from __future__` in a code object."""


def followed(function: Callable[..., Any], callee_of: Callable[[Any], Any]) -> Callable[..., Any]:
    """The function with its calls followed; itself where that cannot be."""
    if isinstance(function, FunctionType):
        function = cast(FunctionType, classes.original(function))
        module = str(probe(function, "__module__")).partition(".")[0]
        return function if module in classes.OWN else _twin(function, callee_of)
    if isinstance(function, MethodType):
        inner = followed(function.__func__, callee_of)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    if type(function) is functools.partial:
        return functools.partial(callee_of(function.func), *function.args, **function.keywords)
    return function


def _twin(function: FunctionType, callee_of: Callable[[Any], Any]) -> FunctionType:
    code = _code_of_twin(function.__code__, function.__code__.co_filename)
    if code is None:
        return cast(FunctionType, sourceless.guarded(function))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[RESOLVER], cells[WATCH] = _cell(callee_of), _cell(classes.watching(callee_of))
    cells[HANDLED] = _cell(foreign.handled)
    closure = tuple(cells[name] for name in code.co_freevars)
    twin = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__, twin.__module__ = function.__qualname__, function.__module__
    twin.__doc__ = function.__doc__
    twin.__dict__ = function.__dict__
    return twin


def _cell(value: Any) -> Any:
    closure = (lambda: value).__closure__
    assert closure is not None
    return closure[0]


@functools.lru_cache(maxsize=4096)
def _code_of_twin(code: CodeType, filename: str) -> CodeType | None:
    """The code of a function whose calls are followed, made of its source. (Code of two files may
    be equal.)"""
    tree = _tree(filename, "".join(linecache.getlines(filename)))
    if tree is None:
        return None
    imports = list(_imports(tree.body))
    for node in _definitions(tree, code.co_firstlineno):
        if any(map(_is_mangled, ast.walk(node))):
            continue
        found = _compiled(node, imports, code, ())
        if found is not None and _is_same(found, code):
            rewritten = _Following().visit(copy.deepcopy(node))
            twin = _compiled(rewritten, imports, code, OWN_NAMES)
            if twin is None:
                return None
            twin = _renamed(twin, dict(_other_names(found, code)))
            _note(twin, code)
            return twin
    return None


def _other_names(found: CodeType, code: CodeType) -> Iterator[tuple[str, str]]:
    """The qualified names of what a function defines, as it is compiled here and as it was."""
    yield probe(found, "co_qualname", ""), probe(code, "co_qualname", "")
    for here, there in zip(found.co_consts, code.co_consts, strict=True):
        if isinstance(here, CodeType):
            yield from _other_names(here, there)
        elif isinstance(here, str) and here != there:
            yield here, there


def _renamed(code: CodeType, names: dict[str, str]) -> CodeType:
    """A code object, and those in it, under other qualified names."""

    def renamed(constant: Any) -> Any:
        if isinstance(constant, CodeType):
            return _renamed(constant, names)
        return names.get(constant, constant) if isinstance(constant, str) else constant

    made: Any = {"co_consts": tuple(map(renamed, code.co_consts))}
    if hasattr(code, "co_qualname"):  # since Python 3.11
        made["co_qualname"] = renamed(code.co_qualname)
    return code.replace(**made)


def as_written(value: Any) -> Any:
    """A function that a followed one has made, with the code that it was written with; any other
    value as it is."""
    if type(value) is not FunctionType or id(value.__code__) not in ORIGINALS:
        return value
    code = ORIGINALS[id(value.__code__)][1]
    cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, value.__globals__, value.__name__, value.__defaults__, closure)
    made.__kwdefaults__, made.__qualname__ = value.__kwdefaults__, value.__qualname__
    made.__module__ = value.__module__
    return made


def _note(twin: CodeType, code: CodeType) -> None:
    """Note what code a twin is made of, and so are the functions in it."""
    ORIGINALS[id(twin)] = twin, code
    inner = ([c for c in each.co_consts if isinstance(c, CodeType)] for each in (twin, code))
    for made, original in zip(*inner, strict=True):
        _note(made, original)


@functools.lru_cache(maxsize=64)
def _tree(filename: str, text: str) -> ast.Module | None:
    try:
        return ast.parse(text, filename)
    except (SyntaxError, ValueError):
        return None


def _definitions(tree: ast.AST, line: int) -> Iterator[Any]:
    """The functions whose definition begins in a line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == line:
            yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            if line in (first, node.lineno):
                yield node


def _imports(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The imports of a module itself: attributes of what is imported are compiled otherwise."""
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            if getattr(statement, "module", "") != "__future__":
                yield statement
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                yield from _imports(getattr(statement, name, []))


def _is_mangled(node: ast.AST) -> bool:
    """Whether a name means another one within its class."""
    name = getattr(node, "attr", None) or getattr(node, "id", None) or ""
    return isinstance(name, str) and name.startswith("__") and not name.endswith("__")


def _compiled(
    node: Any, imports: list[ast.stmt], code: CodeType, more: tuple[str, ...]
) -> CodeType | None:
    """The code object of a definition, within a function that has its free variables."""
    names = (*code.co_freevars, *more)
    parameters = [ast.arg(name) for name in names]
    if isinstance(node, ast.Lambda):
        body: list[Any] = [ast.Return(node)]
    else:
        node = copy.deepcopy(node)
        node.decorator_list, node.name = [], _NAME
        body = [node]
    factory = ast.FunctionDef("factory", _arguments(parameters), body, [], None)
    if sys.version_info >= (3, 12):
        factory.type_params = []
    module = ast.fix_missing_locations(ast.Module([*imports, factory], []))
    try:
        whole = compile(
            module, code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True
        )
    except (SyntaxError, ValueError):
        return None
    outer = next(c for c in whole.co_consts if isinstance(c, CodeType))
    (found,) = (c for c in outer.co_consts if _is_code_of(c, node))
    named: Any = {n: getattr(code, n) for n in ("co_name", "co_qualname") if hasattr(code, n)}
    return cast(CodeType, found).replace(**named)


def _is_code_of(constant: Any, node: Any) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else _NAME
    return isinstance(constant, CodeType) and constant.co_name == name


def _arguments(parameters: list[ast.arg]) -> ast.arguments:
    return ast.arguments(
        posonlyargs=[],
        args=parameters,
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )


def _is_same(found: CodeType, code: CodeType) -> bool:
    """Whether two code objects do the same: the source is that of the function."""
    names = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount")
    if any(getattr(found, name) != getattr(code, name) for name in names):
        return False
    if len(found.co_consts) != len(code.co_consts):
        return False
    return all(map(_is_same_constant, found.co_consts, code.co_consts))


def _is_same_constant(found: Any, constant: Any) -> bool:
    if isinstance(found, CodeType) and isinstance(constant, CodeType):
        return _is_same(found, constant)
    if isinstance(found, str) and isinstance(constant, str) and "<locals>" in constant:
        return True  # the name of a nested function, in older Pythons
    if isinstance(found, frozenset):  # in no order
        return isinstance(constant, frozenset) and set(map(repr, found)) == set(map(repr, constant))
    return type(found) is type(constant) and repr(found) == repr(constant)


_USED: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Attribute: ("value",),
    ast.AugAssign: ("value",),
    ast.BinOp: ("left", "right"),
    ast.BoolOp: ("values",),
    ast.Call: ("args",),
    ast.Compare: ("left", "comparators"),
    ast.comprehension: ("iter", "ifs"),
    ast.For: ("iter",),
    ast.FormattedValue: ("value",),
    ast.If: ("test",),
    ast.IfExp: ("test",),
    ast.Starred: ("value",),
    ast.Subscript: ("value",),
    ast.UnaryOp: ("operand",),
    ast.While: ("test",),
    ast.withitem: ("context_expr",),
    ast.YieldFrom: ("value",),
}
"""The expressions in a node of whose values Python may call something by itself."""

_OBJECTS = (ast.Attribute, ast.Call, ast.Name, ast.Subscript)
"""Expressions that may give objects of users' classes. (Those that operators give are made in
functions that are followed.)"""


_ASKING = (ast.List, ast.Subscript, ast.Tuple)
"""Targets that may ask for something of what is assigned to them."""


class _Following(ast.NodeTransformer):
    """Looks up each callee, and has the objects watched."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(getattr(node, "ctx", None), ast.Store) and isinstance(node, ast.Starred):
            return node  # what is assigned to is not used
        for name in _USED.get(type(node), ()):
            found = getattr(node, name)
            is_list = isinstance(found, list)
            setattr(node, name, list(map(_watched, found)) if is_list else _watched(found))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            node.decorator_list = list(map(_resolved, node.decorator_list))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """What gives attributes stays as it is, as in classes that stand outside: to ask of its
        objects what they are is to call it."""
        return node if node.name == "__getattribute__" else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Taking apart iterates, and an array may convert what is stored to it."""
        self.generic_visit(node)
        if any(isinstance(target, _ASKING) for target in node.targets):
            node.value = _watched(node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        name = node.target
        self.generic_visit(node)
        if not isinstance(name, ast.Name):
            return node
        looked = _watched(ast.copy_location(ast.Name(name.id, ast.Load()), name))
        return [ast.copy_location(ast.Expr(looked), node), node]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        self.generic_visit(node)
        if node.type is None:
            node.type = ast.copy_location(ast.Name("BaseException", ast.Load()), node)
        node.name = node.name or _ERROR
        check = ast.Call(ast.Name(HANDLED, ast.Load()), [ast.Name(node.name, ast.Load())], [])
        node.body.insert(0, ast.copy_location(ast.Expr(check), node))
        return ast.fix_missing_locations(node)

    def visit_match_case(self, node: Any) -> Any:
        """Patterns stay as they are."""
        pattern, node.pattern = node.pattern, ast.MatchSingleton(None)
        self.generic_visit(node)
        node.pattern = pattern
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        node.func = _resolved(node.func)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """`text % values` as a call."""
        text = node.left
        if not isinstance(node.op, ast.Mod) or not isinstance(text, ast.Constant):
            return self.generic_visit(node)
        if not isinstance(text.value, str):
            return self.generic_visit(node)
        callee = ast.copy_location(ast.Attribute(text, "__mod__", ast.Load()), text)
        return self.visit(ast.copy_location(ast.Call(callee, [node.right], []), node))


def _resolved(node: Any) -> Any:
    """An expression that gives what is called in place of what this one gives."""
    resolver = ast.copy_location(ast.Name(RESOLVER, ast.Load()), node)
    return ast.copy_location(ast.Call(resolver, [node], []), node)


def _watched(node: Any) -> Any:
    """An expression that gives the same, of whose class the run knows then."""
    if not isinstance(node, _OBJECTS):
        return node
    return ast.copy_location(
        ast.Call(ast.copy_location(ast.Name(WATCH, ast.Load()), node), [node], []), node
    )
