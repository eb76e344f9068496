"""Nodes of the recorded graph: what they know of their inputs, their hooks, leaves.

A node computes, from the cotangents of the outputs of one recorded call, the cotangents of
its inputs, and says by its edges where those go. Between nodes flow arrays; while a graph of
the backward run itself is wanted (`create_graph`), Tensors. Here stand the base class and
`AccumulateGrad`, where the graph ends; `operation.py` has the nodes of eager operations and
compiled functions, `function.py` those of custom Functions.

Sequence numbers grow from inputs to outputs: a node is made after the nodes it leads to. The
engine relies on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from gradscribe.runtime.arrays.dtypes import CPU, PublicDtype
from gradscribe.runtime.arrays.size import Size
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.hooks import (
    WATCHED,
    Hook,
    HookTable,
    RemovableHandle,
    require_nothing,
)
from gradscribe.runtime.graph.variable import Variable, is_shown, shown
from gradscribe.tracebacks import shortened

if TYPE_CHECKING:
    from gradscribe.codegen import Stepwise
    from gradscribe.runtime.graph.trace import Graph

Edge = tuple["Node | None", int]
NO_EDGE: Edge = (None, 0)

next_sequence = itertools.count(1).__next__
_next_leaf_sequence = itertools.count(-1, -1).__next__


class GradientEdge(NamedTuple):
    """Where the gradient of a Tensor goes: may stand for it in `grad` and `backward`."""

    node: Node
    output_nr: int


class Metadata(NamedTuple):
    """Shape and dtype of an output of a node, and so of its gradient; there is one device, and
    there are no nested Tensors."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


class NodeState:
    """What few nodes have: hooks, Tensors that retain their gradient, metadata."""

    __slots__ = ("hooks", "metadata", "prehooks", "retained", "tensor_hooks")

    def __init__(self) -> None:
        self.metadata: dict[Any, Any] = {}
        self.prehooks: HookTable = {}
        self.hooks: HookTable = {}
        self.tensor_hooks: dict[int, HookTable] = {}
        self.retained: dict[int, ref[Any]] = {}


class Node:
    """Base of all nodes. next_edges: for each gradient that `backward` returns, where it goes."""

    __slots__ = ("__weakref__", "next_edges", "own_hooks", "sequence_nr")

    next_edges: Sequence[Edge]
    sequence_nr: int
    own_hooks: NodeState | None

    cotangent_count = 1
    gives_all = False
    """Whether hooks see all gradients that `backward` returns, also those that nobody asked for."""
    takes_undefined = False
    """Whether `backward` is called, too, where all cotangents that arrive are None."""

    only_reads = False
    """Whether `backward` certainly leaves the cotangents as they are."""

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        """The gradients along `next_edges`; arrays, or with create_graph Tensors; None is zero."""
        raise NotImplementedError

    def flow(self, cotangents: list[Any]) -> Sequence[Any]:
        """The gradients along `next_edges`, arrays, of a node that gives fresh ones. But they may
        share memory with one another and the only cotangent."""
        return self.backward(cotangents, False)

    def release(self) -> None:
        """Free what was kept for `backward`."""

    def generated_run(self, cotangents: Sequence[Any]) -> tuple[Stepwise, Sequence[Any]] | None:
        """For a compiled function: the code that `backward` runs, with a statement for each
        operation, and its arguments."""
        return None

    def run(self) -> Graph:
        """What the recorded call did, for the node of a compiled function."""
        raise TypeError(f"{self.name()} is not the node of a compiled function: it has no run")

    def as_saved(self, array: Any, position: int | None) -> Any:
        """What a pack hook sees of an array that is kept, as `pack_saved` tells of it: of an input
        or an output, a Tensor in its place in the graph."""
        return array

    def pack_saved(self, pack: Callable[[Any, int | None], Any]) -> None:
        """Replace each array that is kept for `backward` by what pack makes of it and of the
        position of the input that it is, or None."""

    def arranged_by_input(self, gradients: Sequence[Any]) -> list[Any]:
        """Gradients along `next_edges`, arranged like `input_edges`."""
        return list(gradients)

    def arranged_by_edge(self, gradients: Sequence[Any]) -> list[Any]:
        """Gradients arranged like `input_edges`, along `next_edges`."""
        return list(gradients)

    @property
    def output_types(self) -> Sequence[Any]:
        """For each output, its shape and dtype; None where it has no gradient."""
        raise NotImplementedError

    @property
    def _input_metadata(self) -> list[Metadata | None]:
        """What the gradients must be that go into the node, one for each output."""
        return [None if kind is None else _metadata(*kind) for kind in self.output_types]

    @property
    def returns_fresh(self) -> bool:
        """Whether `backward` returns arrays that nothing else refers to."""
        return False

    def name(self) -> str:
        """The name of the class, as in `<AddBackward0>`."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """For each Tensor that went in: its node (None: needs no gradient) and output number."""
        return tuple(
            (None if node is None else node.public, index) for node, index in self.input_edges()
        )

    def input_edges(self) -> Sequence[Edge]:
        """The edges, one for each Tensor that went in."""
        return self.next_edges

    @property
    def public(self) -> Any:
        """What users see of this node."""
        return self

    @property
    def requires_grad(self) -> bool:
        return True

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes."""
        return self.own_state().metadata

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    def _set_sequence_nr(self, sequence_nr: int) -> None:
        self.sequence_nr = sequence_nr

    def own_state(self) -> NodeState:
        """The rarely needed part of the node, made when first asked for."""
        if self.own_hooks is None:
            self.own_hooks = NodeState()
        return self.own_hooks

    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run; it may return new
        grad_inputs."""
        return RemovableHandle(self.own_state().hooks, hook)

    def register_prehook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs; it may return new grad_outputs."""
        return RemovableHandle(self.own_state().prehooks, hook)

    def _register_hook_dict(self, tensor: Variable) -> None:
        """Take the hooks that are registered with a Tensor, an output, for those of that output."""
        if not hasattr(tensor, "_backward_hooks"):
            raise TypeError("_register_hook_dict expected a variable")
        self.own_state().tensor_hooks[tensor.output_nr] = tensor._backward_hooks

    def tensor_hooks(self, index: int) -> HookTable:
        """The hooks of the Tensor that is output number `index`."""
        return self.own_state().tensor_hooks.setdefault(index, {})

    @shortened
    def __call__(self, *gradients: Any) -> Any:
        """Run this node alone: gradients of its outputs in, gradients of its inputs out."""
        results = self.apply(*gradients)
        return results[0] if len(results) == 1 else results

    def apply(self, *gradients: Any) -> tuple[Any, ...]:
        """`backward` on Tensors, recorded if the grad mode says so."""
        if len(gradients) != self.cotangent_count:
            raise TypeError(
                f"expected {self.cotangent_count} arguments, got {len(gradients)} instead"
            )
        for position, gradient in enumerate(gradients):
            if gradient is not None and not is_shown(gradient):
                raise TypeError(f"argument {position} is not a Variable")
        if all(gradient is None for gradient in gradients):
            return (None,) * len(self.input_edges())
        if grad_enabled():
            return tuple(self.arranged_by_input(self.backward(list(gradients), True)))
        arrays = [None if gradient is None else gradient.array for gradient in gradients]
        results = self.arranged_by_input(self.backward(arrays, False))
        return tuple(map(shown, results))

    def __dir__(self) -> list[str]:
        """What PyTorch shows of a node."""
        return [*dir(object), "__call__", *_PUBLIC]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


_PUBLIC = (
    "_input_metadata",
    "_register_hook_dict",
    "_sequence_nr",
    "_set_sequence_nr",
    "metadata",
    "name",
    "next_functions",
    "register_hook",
    "register_prehook",
    "requires_grad",
)


def _metadata(shape: tuple[int, ...], dtype: Any) -> Metadata:
    return Metadata(Size(shape), PublicDtype(np.dtype(dtype)), CPU)


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds what arrives to `variable.grad`."""

    __slots__ = ("variable",)
    __module__ = "builtins"  # as the classes of nodes print in PyTorch: <class 'AccumulateGrad'>

    variable: Any

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (gradient,) = cotangents
        if gradient is not None and self.variable._needs_grad:
            self.variable._accumulate(gradient)
            leaf = self.variable._leaf
            if leaf is not None and leaf.post_accumulate:
                for hook in tuple(leaf.post_accumulate.values()):
                    require_nothing(hook(self.variable))
        return ()

    def own_state(self) -> NodeState:
        WATCHED.add(self)
        return super().own_state()

    def _sequence_nr(self) -> int:
        return (1 << 64) - 1

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), "variable"]

    @property
    def output_types(self) -> Sequence[Any]:
        return [(self.variable.array.shape, self.variable.array.dtype)]

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def tensor_hooks(self, index: int) -> HookTable:
        hooks: HookTable = self.variable._leaf_state().hooks
        return hooks


def new_accumulator(leaf: Variable) -> AccumulateGrad:
    """The end of the graph at a leaf."""
    accumulator = _new(AccumulateGrad)
    accumulator.variable = leaf
    accumulator.next_edges = ()
    accumulator.own_hooks = None
    accumulator.sequence_nr = _next_leaf_sequence()
    return accumulator


_new: Callable[[type[AccumulateGrad]], AccumulateGrad] = object.__new__


FREED_GRAPH = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
    "through the graph a second time or if you need to access saved tensors after calling backward."
)
