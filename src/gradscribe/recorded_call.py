"""A call of a compiled function with Tensors: one node in the recorded graph.

Lists of Tensors are one leaf for the compiler, and one leaf for each item for the graph;
`ListDerivatives` stands between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.compiler import Derivatives, Primal, Target
from gradscribe.entry import Values
from gradscribe.errors import UnsupportedError
from gradscribe.ir.trees import Tree, count_leaves, flatten, unflatten
from gradscribe.layout import unwrapped
from gradscribe.runtime.eager import apply_compiled, compiled_kernel
from gradscribe.runtime.grad_mode import no_grad
from gradscribe.runtime.inplace import LEAF_IN_PLACE
from gradscribe.runtime.operation import Kernel
from gradscribe.runtime.tensor import Tensor


def recorded_call(
    target: Target, values: Values, argnums: tuple[int, ...] | None, plain: Callable[[], Any]
) -> Any:
    """The result of a call as Tensors that lead back to one node.

    argnums: the parameters that are differentiated (None: all; captured Tensors among them).
    plain: runs the user's own function, for calls in which none of these requires a gradient.
    """
    while True:
        primal, matched = target.program.find(values)
        leaves = primal.layout.leaves(matched)
        chosen = primal.active_leaves(argnums)
        active = tuple([leaf for leaf in chosen if _requires_grad(leaves[leaf])])
        if not active:
            with no_grad():
                return plain()
        call: _Call | None = primal.plans.get((recorded_call, active))
        if call is None:
            call = primal.plans[recorded_call, active] = _Call(primal, active, leaves)
            if primal.match(values) is None:
                continue  # compiling has assumed what does not hold for this call
        return call(leaves)


def _requires_grad(leaf: Any) -> bool:
    """Whether a leaf is, or holds, a Tensor that requires a gradient."""
    if isinstance(leaf, (list, tuple)):
        return any(map(_requires_grad, leaf))
    return isinstance(leaf, Tensor) and leaf.requires_grad


class _Call:
    """What is done at each call of a lowering with these active leaves; compiled when made."""

    def __init__(self, primal: Primal, active: tuple[int, ...], leaves: Sequence[Any]) -> None:
        derivatives = primal.specialization(active).derivatives
        derivatives.forward, derivatives.adjoint  # noqa: B018
        self._primal = primal
        self._derivatives = derivatives
        self._has_lists = primal.returns_lists or any(isinstance(leaf, list) for leaf in leaves)
        inputs = tuple(i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor))
        self._kernel: Kernel = compiled_kernel(derivatives, inputs, len(leaves))

    def __call__(self, leaves: Sequence[Any]) -> Any:
        primal = self._primal
        stored = [leaves[number] for number in primal.lowered.stored]
        if stored:
            _check_stored(primal, stored)
            primal.check_overlap([unwrapped(leaf) for leaf in leaves])
        if self._has_lists:
            return primal.build_result(_call_with_lists(self._derivatives, leaves))
        result = primal.build_result(apply_compiled(self._kernel, leaves))
        for leaf in stored:
            leaf.array = _Consumed(primal.name)
        return result


def _check_stored(primal: Primal, stored: Sequence[Any]) -> None:
    """Refuse a call that would have to change what cannot be changed, or what it cannot reach."""
    for leaf in stored:
        if not isinstance(leaf, Tensor):
            raise UnsupportedError(
                f"`{primal.name}` stores into an argument that is no Tensor, which a call with "
                "Tensors does not change",
                "store into a copy that is made in the function, as in `x = x.copy()`",
            )
        if leaf.requires_grad and leaf.is_leaf:
            raise RuntimeError(LEAF_IN_PLACE)


class _Consumed:
    """In place of the array of a Tensor that a compiled function stored to: the function worked
    on a copy, so the Tensor does not hold what plain Python would have left in it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        raise UnsupportedError(
            f"this Tensor was stored to by the compiled function `{self._name}`, and cannot be "
            "used afterwards",
            f"call `{self._name}` with a copy (`.clone()`) of what is still needed",
        )


def _call_with_lists(derivatives: Derivatives, leaves: Sequence[Any]) -> list[Any]:
    """Run once, so that the lengths of the lists that come out are known, then record."""
    out, record = derivatives.forward(*map(unwrapped, leaves))
    adapted = ListDerivatives(derivatives, leaves, out, record)
    items = [item for leaf in leaves for item in flatten(leaf)[1]]
    inputs = tuple(i for i, item in enumerate(items) if isinstance(item, Tensor))
    kernel: Kernel = compiled_kernel(adapted, inputs, len(items))
    results = iter(apply_compiled(kernel, items))
    return [unflatten(tree, results) for tree in adapted.out_trees]


class ListDerivatives:
    """Derivatives in which each item of a list is a leaf of its own, for one call."""

    def __init__(
        self, inner: Derivatives, leaves: Sequence[Any], out: Sequence[Any], record: Any
    ) -> None:
        self._inner = inner
        self._ran = out, record
        self._trees = [flatten(leaf)[0] for leaf in leaves]
        self.out_trees = [flatten(leaf)[0] for leaf in out]
        self._spans = _spans(self._trees)
        self._out_spans = _spans(self.out_trees)
        items = [item for leaf in leaves for item in flatten(leaf)[1]]
        self.name = inner.name
        self.linear = inner.linear
        self.active = tuple(
            i for leaf in inner.active for i in self._spans[leaf] if _requires_grad(items[i])
        )
        self.outputs = tuple(i for leaf in inner.outputs for i in self._out_spans[leaf])
        self.record_inputs = self._of_leaves(inner.record_inputs)
        self.record_outputs = tuple(
            i for leaf in inner.record_outputs for i in self._out_spans[leaf]
        )

    @property
    def higher_inputs(self) -> tuple[int, ...]:
        return self._of_leaves(self._inner.higher_inputs)

    def _of_leaves(self, leaves: Sequence[int]) -> tuple[int, ...]:
        return tuple(i for leaf in leaves for i in self._spans[leaf])

    def forward(self, *items: Any) -> tuple[tuple[Any, ...], Any]:
        out, record = self._ran
        return tuple(item for leaf in out for item in flatten(leaf)[1]), record

    def adjoint(self, record: Any, *cotangents: Any) -> tuple[Any, ...]:
        gradients = self._inner.adjoint(record, *self._seeds(iter(cotangents)))
        return self._picked(gradients)

    def order(self, n: int) -> Callable[..., tuple[Any, ...]]:
        function = self._inner.order(n)

        def run(*values: Any) -> tuple[Any, ...]:
            rest = iter(values)
            items = [next(rest) for span in self._spans for _ in span]
            leaves = [
                unflatten(tree, iter([items[i] for i in span]))
                for tree, span in zip(self._trees, self._spans, strict=True)
            ]
            seeds = self._seeds(rest)
            directions: list[Any] = []
            for _ in range(n - 1):
                directions += self._direction(rest, items)
                directions += self._seeds(rest)
            results = function(*leaves, *seeds, *directions)
            count = len(self._inner.active)
            outs = [item for leaf in results[count:] for item in flatten(leaf)[1]]
            return (*self._picked(results[:count]), *outs)

        return run

    def _seeds(self, items: Any) -> list[Any]:
        return [unflatten(self.out_trees[leaf], items) for leaf in self._inner.outputs]

    def _direction(self, given: Any, items: list[Any]) -> list[Any]:
        """A direction for each active leaf, zero for items that are not active."""
        active = frozenset(self.active)
        return [
            unflatten(
                self._trees[leaf],
                iter([next(given) if i in active else 0 * items[i] for i in self._spans[leaf]]),
            )
            for leaf in self._inner.active
        ]

    def _picked(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients of active items, from those of the active leaves."""
        active = frozenset(self.active)
        return tuple(
            item
            for leaf, gradient in zip(self._inner.active, gradients, strict=True)
            for i, item in zip(self._spans[leaf], flatten(gradient)[1], strict=True)
            if i in active
        )


def _spans(trees: Sequence[Tree]) -> list[range]:
    """For each tree, the numbers of its leaves when all are counted through."""
    spans, start = [], 0
    for tree in trees:
        stop = start + count_leaves(tree)
        spans.append(range(start, stop))
        start = stop
    return spans
