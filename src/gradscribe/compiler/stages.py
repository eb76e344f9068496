"""The derivatives of one IR function, as IR: what `transforms` makes, cut to what is called.

Everything here takes and gives `ir.Function`s, and what `Stages` gives is simplified.
Trees at the boundary follow one convention: the gradient has, for each parameter with an
active leaf, that parameter's tree with None at inactive leaves; one such parameter gives that
tree itself, several a tuple.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradscribe.compiler.conditions import compiling
from gradscribe.compiler.surroundings import inline
from gradscribe.errors import UnsupportedError
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import CALL, Function, Operation, Parameter, Value, substituted, walk
from gradscribe.ir.trees import LEAF, Constant, Leaf, Node, Tree, count_leaves
from gradscribe.ir.types import Array, RecordOf, Scalar, is_differentiable
from gradscribe.transforms import adjoint, tangent
from gradscribe.transforms.adjoint.split import cut, simplify_joined
from gradscribe.transforms.analyses.activity import active_values
from gradscribe.transforms.derivatives.cotangents import call, constant
from gradscribe.transforms.passes.hoist import hoist
from gradscribe.transforms.passes.recorded import with_pullbacks
from gradscribe.transforms.passes.records.absent_records import with_empty_records
from gradscribe.transforms.passes.shape_sources import choose_shape_sources
from gradscribe.transforms.passes.simplify import simplify
from gradscribe.transforms.passes.sink import sink
from gradscribe.transforms.tangent.signature import unused


@dataclass(frozen=True, eq=False)
class Stages:
    """All derivatives of `primal` with respect to its `active` leaves.

    seeded: the result leaves that have cotangents (None: all differentiable ones).
    least_record: see `adjoint.split.cut`.
    """

    primal: Function
    active: tuple[int, ...]
    seeded: tuple[int, ...] | None = None
    least_record: bool = False

    @cached_property
    @compiling
    def joined(self) -> adjoint.Joined:
        """Primal and adjoint in one. What is not seeded is returned, and not differentiated."""
        primal = with_pullbacks(self.primal, self.active)
        primal = with_empty_records(hoist(simplify(primal)))
        _refuse_records(primal, frozenset(self.active))
        if self.seeded is None:
            return adjoint.differentiate(primal, self.active, inline)
        joined = adjoint.differentiate(only_results(primal, self.seeded), self.active, inline)
        return replace(joined, results=primal.body.yields, result=primal.result)

    @cached_property
    def _pair(self) -> tuple[Function, Function]:
        return cut(self.joined, least=self.least_record)

    @property
    def forward(self) -> Function:
        """(arguments) -> (result, record)"""
        return self._pair[0]

    @property
    def adjoint(self) -> Function:
        """(record, *cotangents of the seeded leaves of the result) -> gradient"""
        return self._pair[1]

    @cached_property
    def gradient(self) -> Function:
        """(arguments, *cotangents) -> gradient"""
        joined = self.joined
        whole = joined.function
        body = replace(whole.body, yields=joined.gradients)
        name = f"{self.primal.name}_gradient"
        function = replace(whole, name=name, body=body, result=joined.gradient)
        return _by_branch(function, joined.seeds)

    @cached_property
    def value_and_gradient(self) -> Function:
        """(arguments, *cotangents) -> (result, gradient)"""
        name = f"{self.primal.name}_value_and_gradient"
        return _by_branch(replace(self.joined.function, name=name), self.joined.seeds)

    @property
    def second_and_gradient(self) -> Function:
        """(arguments, *cotangents) -> (second part of a result that is a pair, gradient)"""
        joined, whole = self.joined, self.joined.function
        assert isinstance(self.primal.result, Node)
        first, second = self.primal.result.children
        body = replace(whole.body, yields=whole.body.yields[count_leaves(first) :])
        name = f"{self.primal.name}_gradient"
        result = Node(tuple, (second, joined.gradient))
        return _by_branch(replace(whole, name=name, body=body, result=result), joined.seeds)

    @cached_property
    def tangent(self) -> Function:
        """(arguments, tangents) -> (result, its tangent)"""
        primal = with_pullbacks(self.primal, self.active)
        return simplify(tangent.differentiate(primal, self.active, inline))

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The result leaves that have cotangents."""
        return self._differentiable if self.seeded is None else self.seeded

    @cached_property
    def _differentiable(self) -> tuple[int, ...]:
        types = [value.type for value in self.primal.body.yields]
        return tuple(i for i, type_ in enumerate(types) if is_differentiable(type_))

    @property
    def seeded_tangents(self) -> list[int]:
        """Where the tangents of the seeds stand in the flat result of `tangent`."""
        results = len(self.primal.body.yields)
        return [results + self._differentiable.index(seed) for seed in self.seeds]

    @property
    def flat_tangent(self) -> Function:
        """(leaves, tangents) -> tangents of the seeds, with a flat result."""
        whole = flat(tangent_only(self.tangent))
        of = dict(zip(self._differentiable, whole.body.yields, strict=True))
        return simplify(_returning(whole, [of[seed] for seed in self.seeds]))

    def flat_gradient(self, name: str) -> Function:
        """(leaves, cotangents) -> gradients, with one parameter per leaf and a flat result."""
        whole = flat(self.joined.function)
        gradients = whole.body.yields[len(self.primal.body.yields) :]
        return simplify(_returning(replace(whole, name=name), gradients))

    @cached_property
    def orders(self) -> list[Function]:
        """F_1, F_2, … as far as they were made; see `order`."""
        results = len(self.primal.body.yields)
        joined = flat(self.joined.function)
        gradients = joined.body.yields[results:]
        outs = [joined.body.yields[i] for i in self.seeds]
        name = f"{self.primal.name}_order_1"
        return [simplify(_returning(replace(joined, name=name), (*gradients, *outs)))]

    def order(self, n: int) -> Function:
        """F_n (DESIGN §1.5), with one parameter per leaf and a flat tuple as result.

        F_1(z) is the gradient of L(z) = <d, f(x)> by z = (active x, d): the gradients, then the
        results. F_{n+1}(z; w_1 … w_n) is the derivative of F_n along w_n. The parameters are
        all leaves of x, then d, then each w; the results are like (active x, d).
        """
        while len(self.orders) < n:
            last = self.orders[-1]
            along = tangent.differentiate(last, self._of_order(), inline, of_gradient=True)
            name = f"{self.primal.name}_order_{len(self.orders) + 1}"
            self.orders.append(simplify(replace(flat(tangent_only(along)), name=name)))
        return self.orders[n - 1]

    @property
    def second_order_and_second(self) -> Function:
        """F_2, then the leaves of the second part of a result that is a pair."""
        assert isinstance(self.primal.result, Node)
        first, second = self.primal.result.children
        start, results = count_leaves(first), len(self.primal.body.yields)
        joined = flat(self.joined.function)
        yields = joined.body.yields
        kept = (*yields[results:], *(yields[i] for i in self.seeds), *yields[start:results])
        along = tangent.differentiate(
            simplify(_returning(joined, kept)),
            self._of_order(),
            inline,
            of_gradient=True,
        )
        count = len(kept) - count_leaves(second)
        leaves = [*range(len(kept), len(kept) + count), *range(count, len(kept))]
        name = f"{self.primal.name}_order_2"
        return simplify(replace(only_results(flat(along), leaves), name=name))

    def _of_order(self) -> tuple[int, ...]:
        """The active leaves of F_1, and so of each F_n."""
        inputs = len(self.primal.body.parameters)
        return (*self.active, *range(inputs, inputs + len(self.seeds)))


def _by_branch(joined: Function, seeds: Sequence[Parameter]) -> Function:
    """A joined function, simplified, in which each path has what it alone needs."""
    function = simplify_joined(joined, seeds)
    leaves = [leaf for parameter in seeds for leaf in parameter.leaves]
    asked = choose_shape_sources(function, leaves)
    if asked is not function:
        function = simplify(asked, leaves)
    while (sunk := sink(function)) is not function:
        function = simplify(sunk, leaves)
    return function


def _refuse_records(function: Function, active: frozenset[int]) -> None:
    """Refuse the adjoint of an adjoint that reads the records of calls that the derivative passes
    through."""
    values: set[Value] | None = None
    for operation in walk(function.body):
        if operation.primitive is not CALL or not _reads_record(operation):
            continue
        values = active_values(function, active) if values is None else values
        if not values.isdisjoint(operation.results):
            raise UnsupportedError(
                "reverse mode through the gradient of a recursive function",
                "use forward mode: `gs.jvp` or `gs.hvp` in place of the inner or outer `gs.grad`",
                operation.location,
            )


def _reads_record(operation: Operation) -> bool:
    return any(isinstance(operand.type, RecordOf) for operand in operation.operands)


def gradient_tree(primal: Function, active: Sequence[int]) -> Tree:
    """The structure of a gradient with respect to these leaves."""
    numbers = itertools.count()
    pruned = [
        _pruned(parameter.tree, numbers, frozenset(active)) for parameter in primal.parameters
    ]
    trees = [tree for tree in pruned if count_leaves(tree)]
    return trees[0] if len(trees) == 1 else Node(tuple, tuple(trees))


def _pruned(tree: Tree, numbers: Iterator[int], active: frozenset[int]) -> Tree:
    """The tree with None for the leaves that are not active."""
    if isinstance(tree, Node):
        children = tuple(_pruned(child, numbers, active) for child in tree.children)
        return replace(tree, children=children)
    return tree if isinstance(tree, Leaf) and next(numbers) in active else Constant(None)


def tangent_only(function: Function) -> Function:
    """Of a function (…) -> (result, tangent of result), the one that returns the second."""
    assert isinstance(function.result, Node)
    first, second = function.result.children
    kept = function.body.yields[count_leaves(first) :]
    return replace(function, body=replace(function.body, yields=kept), result=second)


def flat(function: Function) -> Function:
    """The same function with one parameter per leaf, and a tuple of leaves as result."""
    taken: set[str] = set()
    parameters = tuple(
        Parameter(unused(leaf.name or "x", taken), LEAF, (leaf,))
        for leaf in function.body.parameters
    )
    return _returning(replace(function, parameters=parameters), function.body.yields)


def _returning(function: Function, values: Sequence[Value]) -> Function:
    body = replace(function.body, yields=tuple(values))
    return replace(function, body=body, result=flat_tree(len(values)))


def flat_tree(count: int) -> Tree:
    """A tuple of so many leaves."""
    return Node(tuple, (LEAF,) * count)


def only_results(function: Function, leaves: Sequence[int]) -> Function:
    """The same function, returning only these leaves of its (flat) result."""
    return _returning(function, [function.body.yields[leaf] for leaf in leaves])


def also_returning(function: Function, values: Sequence[Value]) -> Function:
    """The same function, returning these values of its body, too, at the end."""
    return _returning(function, (*function.body.yields, *values)) if values else function


def bind_ones(function: Function, parameters: Sequence[Parameter]) -> Function:
    """The function without these parameters, numbers (or arrays without axes) that are 1 in every
    call."""
    bound = [leaf for parameter in parameters for leaf in parameter.leaves]
    builder = Builder(function.facts)
    with builder.block() as operations:
        ones = {leaf: _one_like(builder, leaf) for leaf in bound}
    parameters_left = tuple(leaf for leaf in function.body.parameters if leaf not in bound)
    body = substituted(replace(function.body, parameters=parameters_left), ones)
    body = replace(body, operations=(*operations, *body.operations))
    kept = tuple(parameter for parameter in function.parameters if parameter not in parameters)
    return replace(function, parameters=kept, body=body)


def _one_like(builder: Builder, value: Value) -> Value:
    """A 1 of a value's type."""
    assert isinstance(value.type, (Scalar, Array))
    one = np.dtype(value.type.dtype).type(1)
    if isinstance(value.type, Array):
        return call(builder, np.asarray, constant(builder, one), name=value.name)
    return constant(builder, one.item() if value.type.weak else one)
