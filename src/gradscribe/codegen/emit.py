"""A function of the IR as the text of one `def`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from inspect import Signature
from typing import Any

from gradscribe.codegen.expressions import Expressions
from gradscribe.codegen.literals import display, exact_literal, part_of
from gradscribe.codegen.namespace import Namespace, Scope
from gradscribe.codegen.plan import Plan, plan
from gradscribe.codegen.rewriting import name
from gradscribe.codegen.statements import Statements
from gradscribe.codegen.writer import Writer
from gradscribe.ir.core import Function, Location, Parameter, Value
from gradscribe.ir.trees import Constant, Leaf, Node, Tree
from gradscribe.ir.types import Collected, Type


@dataclass(frozen=True)
class Rendered:
    """text: of one `def`, after those that it calls. bindings: the modules, functions and objects
    that it names."""

    text: str
    bindings: Mapping[str, Any]


def emit(
    function: Function,
    defaults: Mapping[str, str] | None = None,
    called: tuple[Function, ...] = (),
) -> str:
    """The source of a bufferized function whose records are flat.

    defaults: default values of parameters, as source (others stand in `Parameter.default`).
    called: the functions that it calls, whose definitions come first.
    """
    return render(function, tuple((defaults or {}).items()), called).text


@lru_cache(maxsize=16)
def render(
    function: Function,
    defaults: tuple[tuple[str, str], ...] = (),
    called: tuple[Function, ...] = (),
) -> Rendered:
    """What `emit` gives, with the objects that the text names."""
    namespace = Namespace(frozenset(each.name for each in called))
    texts = [emitter.text() for emitter in emitters_of(function, defaults, called, namespace)]
    return Rendered("\n\n".join(texts), namespace.bindings)


def emitters_of(
    function: Function,
    defaults: tuple[tuple[str, str], ...],
    called: tuple[Function, ...],
    namespace: Namespace,
) -> list[Emitter]:
    """What writes a function, after those that it calls."""
    before = [Emitter(plan(each), namespace, {}) for each in called]
    return [*before, Emitter(plan(function), namespace, dict(defaults))]


class Emitter:
    """Writes one function.

    comments: whether statements tell where they come from. locations: where they do.
    """

    def __init__(
        self,
        plan: Plan,
        namespace: Namespace,
        defaults: Mapping[str, str],
        *,
        comments: bool = True,
    ) -> None:
        self._comments = comments
        self._plan = plan
        self._defaults = defaults
        self._function = plan.function
        taken = plan.names.taken | {plan.function.name}
        self.scope = Scope(namespace, taken)
        self._write = Expressions(plan.names.of, plan.uses, plan.folded, self.scope)
        self._statements = Statements(plan, self._write)

    @property
    def locations(self) -> Mapping[ast.stmt, Location]:
        return self._statements.locations

    @property
    def records(self) -> dict[str, Type]:
        """The type of the items of each list that is a record, by its name."""
        names = self._plan.names.of.items()
        return {name: v.type.item for v, name in names if isinstance(v.type, Collected)}

    @property
    def statements(self) -> Statements:
        return self._statements

    def text(self) -> str:
        """The text of the `def`."""
        comments = self._statements.comments if self._comments else {}
        return Writer(self.definition, comments, self._statements.blank_before).text

    @cached_property
    def definition(self) -> ast.FunctionDef:
        function = self._function
        with self._statements.nested() as body:
            if function.docstring is not None:
                body.append(ast.Expr(ast.Constant(function.docstring)))
            for parameter in function.parameters:
                body += self._unpack(parameter)
            self._statements.block(function.body)
            if not (body and isinstance(body[-1], ast.Raise)):
                body.append(ast.Return(self._result()))
                self._locate(body[-1])
        return ast.FunctionDef(function.name, self._signature(), body, [], None, None)

    def _locate(self, returning: ast.stmt) -> None:
        """Note where a `return` comes from: from the last operation that is computed in it."""
        plan = self._statements.plan
        for value in self._function.body.yields:
            producer = plan.uses.producer.get(value)
            if value in plan.folded and producer is not None and producer.location is not None:
                self._statements.locations[returning] = producer.location

    def _signature(self) -> ast.arguments:
        parameters = self._function.parameters
        positional = [p for p in parameters if not p.keyword_only]
        by_name = [p for p in parameters if p.keyword_only]
        defaults = map(self._default, positional)
        return ast.arguments(
            posonlyargs=[],
            args=[ast.arg(p.name, None) for p in positional],
            vararg=None,
            kwonlyargs=[ast.arg(p.name, None) for p in by_name],
            kw_defaults=[self._default(p) for p in by_name],
            kwarg=None,
            defaults=[default for default in defaults if default is not None],
        )

    def _default(self, parameter: Parameter) -> ast.expr | None:
        if parameter.name in self._defaults:
            return ast.parse(self._defaults[parameter.name], mode="eval").body
        if parameter.default is Signature.empty:
            return None
        return exact_literal(parameter.default, self.scope)

    # parameters with structure

    def _unpack(self, parameter: Parameter) -> Iterator[ast.stmt]:
        """The statements that bind the leaves of a parameter, as far as they are read."""
        leaves = [leaf for leaf in parameter.leaves if self._plan.is_used(leaf)]
        if not leaves or (isinstance(parameter.tree, Leaf) and self._is_own(parameter)):
            return
        if len(leaves) > 1 and _is_plain(parameter.tree):
            pattern = self._pattern(parameter.tree, iter(parameter.leaves))
            yield ast.Assign([pattern], name(parameter.name))
            return
        paths = self._paths(parameter.tree, name(parameter.name))
        for leaf, path in zip(parameter.leaves, paths, strict=True):
            if self._plan.is_used(leaf):
                yield ast.Assign([name(self._plan.names.of[leaf])], path)

    def _is_own(self, parameter: Parameter) -> bool:
        return self._plan.names.of[parameter.leaves[0]] == parameter.name

    def _pattern(self, tree: Tree, leaves: Iterator[Value]) -> ast.expr:
        """The target that takes a structure of tuples apart."""
        nobody = self._plan.names.nobody
        if isinstance(tree, Node):
            children = [self._pattern(child, leaves) for child in tree.children]
            if all(isinstance(c, ast.Name) and c.id == nobody for c in children) and children:
                return name(nobody)
            return ast.Tuple(children, ast.Store())
        if isinstance(tree, Constant):
            return name(nobody)
        leaf = next(leaves)
        return name(self._plan.names.of[leaf] if self._plan.is_used(leaf) else nobody)

    def _paths(self, tree: Tree, whole: ast.expr) -> Iterator[ast.expr]:
        """For each leaf, the expression that takes it out of the whole."""
        if isinstance(tree, Leaf):
            yield whole
        elif isinstance(tree, Node):
            for number, child in enumerate(tree.children):
                yield from self._paths(child, part_of(whole, tree, number, self.scope))

    # the result

    def _result(self) -> ast.expr:
        return self._build(self._function.result, iter(self._function.body.yields))

    def _build(self, tree: Tree, leaves: Iterator[Value]) -> ast.expr:
        if isinstance(tree, Node):
            children = [self._build(child, leaves) for child in tree.children]
            return display(tree, children, self.scope)
        if isinstance(tree, Constant):
            return exact_literal(tree.value, self.scope)
        leaf = next(leaves)
        if self._plan.is_undefined(leaf):
            return ast.Constant(None)
        return self._write.value(leaf)


def _is_plain(tree: Tree) -> bool:
    """Whether a structure is made of tuples and lists alone."""
    if isinstance(tree, Node):
        return tree.cls in (tuple, list) and all(map(_is_plain, tree.children))
    return True
