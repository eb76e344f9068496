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
from typing import Any

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Function,
    Operation,
    Parameter,
    Primitive,
    Value,
    walk,
)
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF, Constant, Leaf, Node, Tree
from gradscribe.ir.types import Type, cotangent_type, is_differentiable
from gradscribe.primitives.control import ADD_ITEMS, COPY, ENTER, EXIT, GIVEN, LEFT
from gradscribe.primitives.indexing import ACCUMULATE, GATHER, GETITEM, STORE, is_whole, may_repeat
from gradscribe.transforms.adjoint import lists
from gradscribe.transforms.adjoint.calls import mirror_call
from gradscribe.transforms.adjoint.context import Context
from gradscribe.transforms.adjoint.exports import Exports
from gradscribe.transforms.adjoint.given import mirror_given
from gradscribe.transforms.adjoint.lists import contribute
from gradscribe.transforms.adjoint.mirrors import mirror_context, mirror_if, mirror_loop
from gradscribe.transforms.adjoint.overwriting import last_written
from gradscribe.transforms.adjoint.projection import of_dtype, project, zero
from gradscribe.transforms.adjoint.recomputing import Choice, choose
from gradscribe.transforms.adjoint.rules import ASKING_FOR_NAN, apply_rule
from gradscribe.transforms.adjoint.scopes import Scope, TopScope
from gradscribe.transforms.adjoint.split import cut
from gradscribe.transforms.analyses.absence import absences
from gradscribe.transforms.analyses.activity import Activity, activity_of
from gradscribe.transforms.analyses.def_use import DefUse
from gradscribe.transforms.analyses.definedness import possibly_undefined
from gradscribe.transforms.analyses.opacity import refuse_opaque, refusing_misfits
from gradscribe.transforms.building import derived, store_at, view_at
from gradscribe.transforms.derivatives.cotangents import constant, name_of
from gradscribe.transforms.derivatives.inlining import Inline
from gradscribe.transforms.derivatives.templates import Templates


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
    inline: Inline,
    seeded: Sequence[int] | None = None,
    seed_type: Callable[[Type], Type] = cotangent_type,
    activity: Activity | None = None,
) -> Joined:
    """The function joined with its adjoint with respect to these leaves of its arguments.

    inline: inlines the rules of primitives. seeded: the leaves of the result that have cotangents
    (None: all differentiable ones). seed_type: the type of the cotangent of a result. activity:
    what is active, where that is known. The first sweep finds which stored-to arrays the adjoint
    reads inside of loops; if there are any, a second one undoes the stores to them. (Likewise for
    carried cotangents of which an iteration may leave none.) What was kept then tells what need not
    be, as it is soon computed again; a last sweep does that.
    """
    if activity is None:
        refuse_opaque(function, frozenset(active))
        activity = activity_of(function, frozenset(active))
    structure = DefUse(function)
    templates = Templates(inline)
    restored: frozenset[Value] = frozenset()
    chosen: Choice | None = None
    undefined, absent = frozenset(possibly_undefined(function)), absences(function)
    uncertain: frozenset[Value] = frozenset()
    asks_presence = any(operation.primitive is GIVEN for operation in walk(function.body))
    meets_nan = any(operation.primitive in ASKING_FOR_NAN for operation in walk(function.body))
    while True:
        exports = Exports(structure, function.facts)
        recomputed = frozenset() if chosen is None else chosen.recomputed
        context = Context(
            function,
            structure,
            exports,
            activity,
            restored,
            recomputed,
            undefined=undefined,
            absent=absent,
            asks_presence=asks_presence,
            meets_nan=meets_nan,
            uncertain=uncertain,
        )
        seeds = _seeds(function, seeded, seed_type)
        joined = _sweep(context, tuple(active), seeds, templates)
        if not context.missing <= uncertain:
            uncertain |= context.missing
        elif not context.wanted <= restored:
            restored |= context.wanted
        elif chosen is not None:
            return joined
        else:
            chosen = choose(context)
            if not chosen.recomputed and chosen.restored <= restored:
                return joined
            restored |= chosen.restored


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
        gradients.append(zero(top, parameter) if found is None else of_dtype(top, found, parameter))
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

    def forward_and_adjoint(
        self,
        function: Function,
        active: Sequence[int],
        seeded: Sequence[int],
        seed_type: Callable[[Type], Type],
        activity: Activity,
    ) -> tuple[Function, Function]:
        """Those of a function that is called."""
        inline = self._templates.inline
        return cut(differentiate(function, active, inline, seeded, seed_type, activity))

    def __call__(self, scope: Scope) -> None:
        for operation in reversed(scope.block.operations):
            scope.builder.location = derived(operation.location)
            with refusing_misfits(operation):
                if operation.primitive in _REGIONS:
                    _REGIONS[operation.primitive](scope, operation, self)
                elif operation.primitive in (ENTER, EXIT):
                    mirror_context(scope, operation)
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
        with scope.context.handing_on(scope.presence(operation.results[0])):
            if handler is not None:
                handler(scope, operation, cotangent)
            elif operation.primitive is GIVEN:
                mirror_given(scope, operation, cotangent, self._templates)
            else:
                apply_rule(scope, operation, cotangent, self._templates)


# -- reads and stores ------------------------------------------------------------------------


def _read(scope: Scope, operation: Operation, d_out: Value) -> None:
    scope.add_to_source(operation, d_out)


def _store(scope: Scope, operation: Operation, d_out: Value) -> None:
    """The value gets the cotangent of the place it was stored to; nothing flows past there."""
    x, path = operation.operands[0], scope.path(operation)
    path = () if is_whole(path) else path
    _stored_value(scope, operation, d_out, path, last=may_repeat(path))
    if path and x in scope.context.active:
        nothing = constant(scope.builder, 0.0)
        passed = store_at(scope.builder, STORE, d_out, nothing, path, name_of(x))
        scope.context.masked.add(passed)
        scope.contribute(x, passed)


def _accumulate(scope: Scope, operation: Operation, d_out: Value) -> None:
    _stored_value(scope, operation, d_out, scope.path(operation))
    if operation.operands[0] in scope.context.active:
        scope.contribute(operation.operands[0], d_out)


def _stored_value(
    scope: Scope, operation: Operation, d_out: Value, path: tuple[Any, ...], last: bool = False
) -> None:
    """last: of what is stored to one element, only the last value stays there."""
    value = operation.operands[operation.attributes["value"].index]
    if value in scope.context.active:
        start = len(scope.builder.operations)
        given = last_written(scope, d_out, path) if last else view_at(scope.builder, d_out, path)
        scope.contribute(value, project(scope, given, value, start))


# -- sums and copies -------------------------------------------------------------------------


def _copy(scope: Scope, operation: Operation, d_out: Value) -> None:
    contribute(scope, operation.operands[0], lambda: d_out)


def _add_items(scope: Scope, operation: Operation, d_out: Value) -> None:
    for operand in operation.operands:
        contribute(scope, operand, lambda: d_out)


_REGIONS: dict[Primitive, Callable[[Scope, Operation, ReverseSweep], None]] = {
    IF: mirror_if,
    LOOP: mirror_loop,
    CALL: mirror_call,
}
_HANDLERS: dict[Primitive, Callable[[Scope, Operation, Value], None]] = {
    GETITEM: _read,
    GATHER: _read,
    STORE: _store,
    ACCUMULATE: _accumulate,
    COPY: _copy,
    LEFT: _copy,
    ADD_ITEMS: _add_items,
    **lists.ADJOINTS,
}
