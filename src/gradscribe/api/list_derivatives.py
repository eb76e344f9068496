"""Compiled functions of lists: one leaf for the compiler, for the graph one for each item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from gradscribe.codegen import Stepwise
from gradscribe.ir.trees import Tree, count_leaves, flatten, unflatten
from gradscribe.runtime.operations.kernel import Derivatives


class ListDerivatives:
    """Derivatives in which each item of a list is a leaf of its own, for one call.

    trees, out_trees: the structures of the leaves and the out leaves. ran: what `forward` has
    given; None for a derivative, which is no call of its own.
    """

    def __init__(
        self,
        inner: Derivatives,
        trees: Sequence[Tree],
        out_trees: Sequence[Tree],
        ran: tuple[tuple[Any, ...], Any] | None = None,
    ) -> None:
        self._inner = inner
        self._trees = [*trees]
        self.out_trees = [*out_trees]
        self._ran = ran
        self._active_trees = [trees[leaf] for leaf in inner.active]
        self._seed_trees = [out_trees[leaf] for leaf in inner.outputs]
        self._spans = _spans(trees)
        self._out_spans = _spans(out_trees)
        self.name = inner.name
        self.is_leaf = inner.is_leaf
        self.has_given_rules = inner.has_given_rules
        self.has_choices = inner.has_choices
        self.by_operations = None
        self.active = self._items(inner.active)
        self.outputs = self._out_items(inner.outputs)

    def _items(self, leaves: Sequence[int]) -> tuple[int, ...]:
        """The positions of the items of these leaves."""
        return tuple(i for leaf in leaves for i in self._spans[leaf])

    def _out_items(self, leaves: Sequence[int]) -> tuple[int, ...]:
        return tuple(i for leaf in leaves for i in self._out_spans[leaf])

    @property
    def linear(self) -> bool:
        return self._inner.linear

    @property
    def keeps_values(self) -> bool:
        return self._inner.keeps_values

    @property
    def record_inputs(self) -> tuple[int, ...]:
        return self._items(self._inner.record_inputs)

    @property
    def record_outputs(self) -> tuple[int, ...]:
        return self._out_items(self._inner.record_outputs)

    @property
    def higher_inputs(self) -> tuple[int, ...]:
        return self._items(self._inner.higher_inputs)

    @property
    def reached(self) -> Sequence[frozenset[int]]:
        spans = _spans(self._seed_trees)
        return [
            frozenset(i for output in outputs for i in spans[output])
            for leaf, outputs in zip(self._inner.active, self._inner.reached, strict=True)
            for _ in self._spans[leaf]
        ]

    def of_outputs(self, numbers: tuple[int, ...]) -> None:
        """A list that comes out has one cotangent."""

    @property
    def reads(self) -> tuple[int, ...]:
        return self._items(self._inner.reads)

    @cached_property
    def gradient(self) -> ListDerivatives:
        trees = [*self._trees, *self._seed_trees]
        return ListDerivatives(self._inner.gradient, trees, self._active_trees)

    @cached_property
    def tangent(self) -> ListDerivatives:
        trees = [*self._trees, *self._active_trees]
        return ListDerivatives(self._inner.tangent, trees, self._seed_trees)

    def primal_call(self, items: Sequence[Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._inner.primal_call(_unflattened(self._trees, items))

    def primal(self, *items: Any) -> tuple[Any, ...]:
        return items_of(self._inner.primal(*_unflattened(self._trees, items)))

    def forward(self, *items: Any) -> tuple[tuple[Any, ...], Any]:
        assert self._ran is not None
        return self._ran

    def adjoint(self, record: Any, *cotangents: Any) -> tuple[Any, ...]:
        return items_of(self._inner.adjoint(record, *_unflattened(self._seed_trees, cotangents)))

    flow = adjoint

    def order(self, n: int) -> Callable[..., tuple[Any, ...]]:
        return _of_items(self._inner.order(n), self._trees_of_order(n))

    def stepwise(self, n: int) -> Stepwise:
        code = self._inner.stepwise(n)
        run = code.function
        if n:
            return replace(code, function=_of_items(run, self._trees_of_order(n)))
        return replace(
            code, function=lambda record, *c: run(record, *_unflattened(self._seed_trees, c))
        )

    @property
    def stepwise_primal(self) -> Stepwise:
        code = self._inner.stepwise_primal
        return replace(code, function=_of_items(code.function, self._trees))

    def _trees_of_order(self, n: int) -> list[Tree]:
        """The structures of the parameters of F_n."""
        direction = [*self._active_trees, *self._seed_trees]
        return [*self._trees, *self._seed_trees, *(n - 1) * direction]


def items_of(leaves: Iterable[Any]) -> tuple[Any, ...]:
    """The leaves, with the items of each list in place of it."""
    return tuple(item for leaf in leaves for item in flatten(leaf)[1])


def _of_items(
    function: Callable[..., Any], trees: Sequence[Tree]
) -> Callable[..., tuple[Any, ...]]:
    """A function of leaves as that of items."""
    return lambda *items: items_of(function(*_unflattened(trees, items)))


def _unflattened(trees: Sequence[Tree], items: Iterable[Any]) -> list[Any]:
    rest = iter(items)
    return [unflatten(tree, rest) for tree in trees]


def _spans(trees: Sequence[Tree]) -> list[range]:
    """For each tree, the numbers of its leaves when all are counted through."""
    spans, start = [], 0
    for tree in trees:
        stop = start + count_leaves(tree)
        spans.append(range(start, stop))
        start = stop
    return spans
