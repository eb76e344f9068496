"""The adjoint: reverse-mode differentiation of a function, on demand.

Comes in: a verified function of value semantics, and the numbers of its active argument
leaves. Goes out: a `Joined`: the primal with what its adjoint needs of it, followed by the
adjoint. Nothing is simplified here; what the plain generation leaves over (undone stores that
nobody reads, records, cotangents that are zero) goes in `simplify`.

The reverse sweep walks each block backwards. An operation whose result has a cotangent gives
one to its operands: by the rule of its primitive, by one of the handlers here (stores, reads,
lists), or by the mirror of its regions (`mirrors`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Function,
    Operand,
    Operation,
    Parameter,
    Primitive,
    Value,
    map_operands,
)
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF, Constant, Leaf, Node, Tree
from gradscribe.ir.types import Type, cotangent_type, is_differentiable
from gradscribe.primitives.control import (
    ADD_ITEMS,
    APPEND,
    COPY,
    GET,
    ITEM,
    LIST,
    POP,
    SET,
    TUPLE,
    ZEROS_LIKE,
)
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, STORE
from gradscribe.transforms.activity import active_values
from gradscribe.transforms.calls import mirror_call
from gradscribe.transforms.context import Context
from gradscribe.transforms.cotangents import add, constant, name_of, project, zero
from gradscribe.transforms.mirrors import mirror_if, mirror_loop
from gradscribe.transforms.rules import Templates, apply_rule
from gradscribe.transforms.scopes import Scope, TopScope
from gradscribe.transforms.storage import Exports, derived, view_at
from gradscribe.transforms.structure import Structure


@dataclass(frozen=True)
class Joined:
    """A function and its adjoint in one sequence of operations.

    parameters: those of the primal. seeds: one parameter `d_<result>` for each differentiable
    leaf of the result. forward: the primal's operations, with exports. adjoint: those of the
    reverse sweep, which read values of the forward part. gradients: one for each active leaf,
    in the structure `gradient`: that of the differentiated parameter, None for its inactive
    leaves; a tuple where several parameters are differentiated.
    """

    name: str
    parameters: tuple[Parameter, ...]
    seeds: tuple[Parameter, ...]
    forward: tuple[Operation, ...]
    adjoint: tuple[Operation, ...]
    results: tuple[Value, ...]
    result: Tree
    gradients: tuple[Value, ...]
    gradient: Tree
    facts: Facts
    docstring: str | None = None

    @property
    def function(self) -> Function:
        """The pair `(result, gradient)` as one function of the arguments and the seeds."""
        parameters = (*self.parameters, *self.seeds)
        leaves = tuple(leaf for parameter in parameters for leaf in parameter.leaves)
        body = Block(leaves, (*self.forward, *self.adjoint), (*self.results, *self.gradients))
        result = Node(tuple, (self.result, self.gradient))
        return Function(self.name, parameters, body, result, self.facts, self.docstring)


def differentiate(
    function: Function,
    active: Sequence[int],
    seeded: Sequence[int] | None = None,
    seed_type: Callable[[Type], Type] = cotangent_type,
) -> Joined:
    """The function joined with its adjoint with respect to these leaves of its arguments.

    seeded: the leaves of the result that have cotangents (None: all differentiable ones).
    seed_type: the type of the cotangent of a result.
    The first sweep finds which stored-to arrays the adjoint reads inside of loops; if there are
    any, a second one undoes the stores to them.
    """
    structure = Structure(function)
    values = active_values(function, frozenset(active))
    templates: Templates = {}
    restored: frozenset[Value] = frozenset()
    while True:
        exports = Exports(structure, function.facts)
        context = Context(function, structure, exports, values, restored)
        seeds = _seeds(function, seeded, seed_type)
        joined = _sweep(context, tuple(active), seeds, templates)
        if context.wanted <= restored:
            return joined
        restored |= context.wanted


def _sweep(
    context: Context,
    active: tuple[int, ...],
    seeds: Sequence[tuple[Value, Value]],
    templates: Templates,
) -> Joined:
    function = context.function
    top = TopScope(context, function.body, Builder(function.facts))
    top.builder.location = derived(None)
    for result, seed in seeds:
        if result in context.active:
            top.contribute(result, seed)
    ReverseSweep(templates)(top)
    top.builder.location = derived(None)
    gradients = []
    for leaf in active:
        parameter = function.body.parameters[leaf]
        found = top.cotangent(parameter)
        gradients.append(zero(top, parameter) if found is None else found)
    return Joined(
        function.name,
        function.parameters,
        tuple(Parameter(seed.name, LEAF, (seed,)) for _, seed in seeds),
        context.exports.rebuild(function.body).operations,
        tuple(top.builder.operations),
        function.body.yields,
        function.result,
        tuple(gradients),
        _gradient_tree(function, frozenset(active)),
        function.facts,
        function.docstring,
    )


def _seeds(
    function: Function, seeded: Sequence[int] | None, seed_type: Callable[[Type], Type]
) -> list[tuple[Value, Value]]:
    """The leaves of the result that have cotangents, each with the parameter that seeds it."""
    taken = {parameter.name for parameter in function.parameters}
    seeds: list[tuple[Value, Value]] = []
    for leaf, result in enumerate(function.body.yields):
        if is_differentiable(result.type) and (seeded is None or leaf in seeded):
            base = name = f"d_{result.name or 'result'}"
            number = 1
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            taken.add(name)
            seeds.append((result, Value(seed_type(result.type), name)))
    return seeds


def _gradient_tree(function: Function, active: frozenset[int]) -> Tree:
    numbers = iter(range(len(function.body.parameters)))
    trees: list[Tree] = []
    for parameter in function.parameters:
        own = [next(numbers) for _ in parameter.leaves]
        if not active.isdisjoint(own):
            trees.append(_only(parameter.tree, iter([number in active for number in own])))
    return trees[0] if len(trees) == 1 else Node(tuple, tuple(trees))


def _only(tree: Tree, wanted: Any) -> Tree:
    """The tree with None for the leaves that are not wanted, and for static parts."""
    if isinstance(tree, Leaf):
        return tree if next(wanted) else Constant(None)
    if isinstance(tree, Constant):
        return Constant(None)
    return Node(tree.cls, tuple(_only(child, wanted) for child in tree.children), tree.keys)


class ReverseSweep:
    """Writes the mirror of a scope's block into the scope."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def __call__(self, scope: Scope) -> None:
        for operation in reversed(scope.block.operations):
            scope.builder.location = derived(operation.location)
            if operation.primitive in _REGIONS:
                _REGIONS[operation.primitive](scope, operation, self)
            else:
                self._mirror(scope, operation)
            scope.context.swept.add(operation)

    def _mirror(self, scope: Scope, operation: Operation) -> None:
        if operation.primitive is STORE:
            scope.read_back(operation)
        cotangent = scope.cotangents.get(operation.results[0])
        if cotangent is None:
            return
        handler = _HANDLERS.get(operation.primitive)
        if handler is not None:
            handler(scope, operation, cotangent)
        else:
            apply_rule(scope, operation, cotangent, self._templates)


# -- reads and stores ------------------------------------------------------------------------


def _getitem(scope: Scope, operation: Operation, d_out: Value) -> None:
    scope.add_to_source(operation, d_out)


def _store(scope: Scope, operation: Operation, d_out: Value) -> None:
    """The value gets the cotangent of the place it was stored to; nothing flows past there."""
    x, path = operation.operands[0], scope.path(operation)
    _stored_value(scope, operation, d_out, path)
    if path and x in scope.context.active:
        arguments = {"x": d_out, "value": constant(scope.builder, 0.0), "path": path}
        scope.contribute(x, scope.builder.call(STORE, arguments, name=name_of(x)))


def _accumulate(scope: Scope, operation: Operation, d_out: Value) -> None:
    _stored_value(scope, operation, d_out, scope.path(operation))
    if operation.operands[0] in scope.context.active:
        scope.contribute(operation.operands[0], d_out)


def _stored_value(scope: Scope, operation: Operation, d_out: Value, path: tuple[Any, ...]) -> None:
    value = operation.operands[operation.attributes["value"].index]
    if value in scope.context.active:
        start = len(scope.builder.operations)
        given = view_at(scope.builder, d_out, path)
        scope.contribute(value, project(scope, given, value, start))


def _static(scope: Scope, operation: Operation, name: str) -> Any:
    """An argument of an operation, with its values as they are available in the scope."""
    return map_operands(
        operation.attributes[name],
        lambda operand: scope.primal(operation.operands[operand.index]),
    )


# -- tuples and lists ------------------------------------------------------------------------


def _copy(scope: Scope, operation: Operation, d_out: Value) -> None:
    _contribute(scope, operation.operands[0], lambda: d_out)


def _add_items(scope: Scope, operation: Operation, d_out: Value) -> None:
    for operand in operation.operands:
        _contribute(scope, operand, lambda: d_out)


def _tuple(scope: Scope, operation: Operation, d_out: Value) -> None:
    for position, operand in enumerate(operation.attributes["items"]):
        item = operation.operands[operand.index]
        arguments = {"x": d_out, "position": position}
        cotangent = partial(scope.builder.call, ITEM, arguments, name=name_of(item))
        _contribute(scope, item, cotangent)


def _item(scope: Scope, operation: Operation, d_out: Value) -> None:
    x, position = operation.operands[0], operation.attributes["position"]
    if x not in scope.context.active:
        return
    zeros = zero(scope, x)
    items = [
        d_out if i == position else scope.builder.call(ITEM, {"x": zeros, "position": i})
        for i in range(len(x.type.items))  # type: ignore[attr-defined]
    ]
    scope.contribute(x, scope.builder.call(TUPLE, {"items": tuple(items)}))


def _list(scope: Scope, operation: Operation, d_out: Value) -> None:
    for position, operand in enumerate(operation.attributes["items"]):
        item = operation.operands[operand.index]
        _contribute(scope, item, partial(_get, scope, d_out, position, item))


def _append(scope: Scope, operation: Operation, d_out: Value) -> None:
    value = _operand(operation, "value")
    _contribute(scope, value, lambda: _get(scope, d_out, -1, value))
    x = _operand(operation, "x")
    _contribute(scope, x, lambda: scope.builder.call(POP, {"x": d_out}, name=name_of(x)))


def _pop(scope: Scope, operation: Operation, d_out: Value) -> None:
    x = operation.operands[0]
    if x in scope.context.active:
        item = scope.builder.call(GET, {"x": scope.primal(x), "index": -1})
        zeros = scope.builder.call(ZEROS_LIKE, {"x": item})
        arguments = {"x": d_out, "value": zeros}
        scope.contribute(x, scope.builder.call(APPEND, arguments, name=name_of(x)))


def _get_item(scope: Scope, operation: Operation, d_out: Value) -> None:
    x = _operand(operation, "x")
    if x not in scope.context.active:
        return
    index = _static(scope, operation, "index")
    total = scope.cotangent(x)
    if total is None:
        total = zero(scope, x)
    item = add(scope.builder, _get(scope, total, index, operation.result), d_out, operation.result)
    arguments = {"x": total, "index": index, "value": item}
    scope.cotangents[x] = scope.builder.call(SET, arguments, name=name_of(x))


def _set(scope: Scope, operation: Operation, d_out: Value) -> None:
    x, value = _operand(operation, "x"), _operand(operation, "value")
    index = _static(scope, operation, "index")
    _contribute(scope, value, lambda: _get(scope, d_out, index, value))
    if x in scope.context.active:
        arguments = {"x": d_out, "index": index, "value": zero(scope, value)}
        scope.contribute(x, scope.builder.call(SET, arguments, name=name_of(x)))


def _operand(operation: Operation, name: str) -> Value:
    operand: Operand = operation.attributes[name]
    return operation.operands[operand.index]


def _get(scope: Scope, x: Value, index: Any, value: Value) -> Value:
    return scope.builder.call(GET, {"x": x, "index": index}, name=name_of(value))


def _contribute(scope: Scope, value: Value, cotangent: Callable[[], Value]) -> None:
    if value in scope.context.active:
        scope.contribute(value, cotangent())


_REGIONS: dict[Primitive, Callable[[Scope, Operation, ReverseSweep], None]] = {
    IF: mirror_if,
    LOOP: mirror_loop,
    CALL: mirror_call,
}
_HANDLERS: dict[Primitive, Callable[[Scope, Operation, Value], None]] = {
    GETITEM: _getitem,
    STORE: _store,
    ACCUMULATE: _accumulate,
    COPY: _copy,
    ADD_ITEMS: _add_items,
    TUPLE: _tuple,
    ITEM: _item,
    LIST: _list,
    APPEND: _append,
    POP: _pop,
    GET: _get_item,
    SET: _set,
}
