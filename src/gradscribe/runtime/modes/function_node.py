"""The node of a custom Function, and what it saves; users see its `ctx`
(`function_context.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

import numpy as np

from gradscribe.errors import RuleError
from gradscribe.ir.places import place_of
from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.graph.anomaly import modified_in_place
from gradscribe.runtime.graph.function_context import FunctionCtx, context_of
from gradscribe.runtime.graph.grad_mode import enter_mode, leave_mode
from gradscribe.runtime.graph.hooks import Hook
from gradscribe.runtime.graph.inference import SAVED as INFERENCE_SAVED
from gradscribe.runtime.graph.inference import is_inference
from gradscribe.runtime.graph.node import (
    FREED_GRAPH,
    NO_EDGE,
    AccumulateGrad,
    Edge,
    Node,
    next_sequence,
)
from gradscribe.runtime.tensors.gradients import wanted_dtype
from gradscribe.runtime.tensors.saved import HOOKS_ARE_SET, NONE_IS_SAVED, Packed, checked_hooks
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap, wrap_at, wrap_result

Metadata = tuple[tuple[int, ...], dtypes.Dtype]


class Saved:
    """One saved Tensor: an input as it was, or an output without its node (which would be a
    cycle); None where None was saved. Packed, only what the hook made of it, and its edge."""

    __slots__ = ("content", "edge", "expected", "index", "tensor")

    def __init__(self, tensor: Tensor | None, index: int | None) -> None:
        self.index = index
        self.tensor = tensor
        self.content: Packed | None = None
        self.edge: Edge = NO_EDGE
        self.expected = 0
        if tensor is not None:
            if is_inference(tensor):
                raise RuntimeError(INFERENCE_SAVED)
            self.expected = tensor._counter[0]
            if index is not None:
                self.tensor = tensor.detach()

    def register_hooks(self, *hooks: Hook) -> None:
        """`register_hooks(pack_hook, unpack_hook)`: pack this one Tensor with hooks of its own."""
        pack_hook, unpack_hook = checked_hooks(hooks)
        if self.content is not None:
            raise RuntimeError(HOOKS_ARE_SET)
        if self.tensor is None:
            raise RuntimeError(NONE_IS_SAVED)
        self.pack(lambda value, _: Packed(value, pack_hook, unpack_hook))

    def pack(
        self, pack: Callable[[Any, int | None], Packed], node: FunctionNode | None = None
    ) -> None:
        """Keep what a pack hook makes of the Tensor in its place. node: the one that keeps it."""
        if self.tensor is not None:
            self.edge = edge_of(self.tensor) if self.tensor.requires_grad else NO_EDGE
            self.content, self.tensor = pack(self.unpack(node), None), None

    def unpack(self, node: FunctionNode | None = None) -> Tensor | None:
        """The Tensor, in its place in the graph, if it was not modified since. node: the one that
        keeps it."""
        edge: Edge = self.edge
        if node is not None and self.index is not None and node.gives_gradient(self.index):
            edge = node, self.index
        if self.content is not None:
            tensor = self.content.tensor()
            return tensor if edge[0] is None else wrap_at(tensor.array, edge)
        if self.tensor is None:
            return None
        self._check_version(node)
        if edge[0] is None:
            return self.tensor
        output = wrap_result(self.tensor.array, edge[0], edge[1])
        output._counter = self.tensor._counter
        return output

    def _check_version(self, node: FunctionNode | None) -> None:
        tensor = self.tensor
        assert tensor is not None
        if tensor._counter[0] != self.expected:
            producer: Edge = (node, self.index) if self.index is not None else NO_EDGE
            if self.index is None and tensor._node is not None:
                producer = (tensor._node, tensor._index)
            raise modified_in_place(
                dtypes.type_name(tensor.dtype),
                tensor.array.shape,
                producer,
                tensor._counter[0],
                self.expected,
            )


class FunctionNode(Node):
    """The node of one call of a custom Function.

    wanted: which arguments are Tensors that require gradients; needs_input_grad: the same, as `ctx`
    tells it, until the user tells otherwise; attributes: what the user has put there.
    to_save, dirty, non_differentiable: what `forward` has told, until its outputs are finished.
    """

    __slots__ = (
        "_context",
        "_differentiable",
        "_in_jvp",
        "_input_types",
        "_output_types",
        "_saved",
        "_was_accessed",
        "attributes",
        "dirty",
        "for_forward",
        "function",
        "materialize_grads",
        "materialize_non_diff_grads",
        "needs_input_grad",
        "non_differentiable",
        "to_save",
        "wanted",
    )

    gives_all = True
    takes_undefined = True
    needs_input_grad: Any

    def __init__(self, function: type[Any], inputs: Sequence[Any]) -> None:
        self.own_hooks = None
        self.sequence_nr = next_sequence()
        self.next_edges: list[Edge] = []
        self.function = function
        self.attributes: dict[str, Any] = {}
        self._context: ref[FunctionCtx] | None = None
        types = [_type_of(value) for value in inputs]
        self._input_types: list[Metadata | None] = types
        self.wanted = self.needs_input_grad = tuple(
            [
                kind is not None and value.requires_grad
                for value, kind in zip(inputs, types, strict=True)
            ]
        )
        self._output_types: list[Metadata | None] = []
        self._differentiable: list[bool] = []
        self._saved: list[Saved] | None = []
        self.materialize_grads = True
        self.materialize_non_diff_grads = True
        self.for_forward: tuple[Tensor | None, ...] = ()
        self._in_jvp = False
        self._was_accessed = False
        self.forget_marks()

    @property
    def _rule(self) -> Callable[..., Any]:
        rule: Callable[..., Any] = self.function._backward_rule()
        return rule

    @property
    def public(self) -> FunctionCtx:
        """The `ctx`; made anew where nobody holds the one that there was."""
        context = None if self._context is None else self._context()
        if context is None:
            context = context_of(self, self.attributes)
            self._context = ref(context)
        return context

    def name(self) -> str:
        return str(self.function._backward_cls.__name__)

    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` kept; in `jvp`, what `save_for_forward` kept."""
        if self._in_jvp:
            return self.for_forward
        if self._was_accessed:
            raise RuntimeError(
                "saved_tensors can only be accessed once, as clear_saved_tensors_on_access is set"
            )
        if self._saved is None:
            raise RuntimeError(FREED_GRAPH)
        tensors = tuple(saved.unpack(self) for saved in self._saved)
        if self.function.clear_saved_tensors_on_access:
            self._was_accessed, self._saved = True, None
        return tensors

    def raw_saved_tensors(self) -> tuple[Saved, ...]:
        """What was kept, each with `register_hooks`."""
        if self._saved is None:
            raise RuntimeError(FREED_GRAPH)
        return tuple(self._saved)

    @property
    def cotangent_count(self) -> int:  # type: ignore[override]
        return len(self._output_types)

    @property
    def output_types(self) -> Sequence[Metadata | None]:
        return self._output_types

    def input_edges(self) -> Sequence[Edge]:
        return self.arranged_by_input(self.next_edges)

    def gives_gradient(self, index: int) -> bool:
        """Whether an output is differentiable."""
        return self._differentiable[index]

    def describe_outputs(self, outputs: Sequence[Any]) -> None:
        """Take down the types of what `forward` returns."""
        self._output_types = [_type_of(output) for output in outputs]
        self._differentiable = [
            isinstance(output, Tensor)
            and dtypes.is_differentiable(output.array.dtype)
            and not any(output is tensor for tensor in self.non_differentiable)
            for output in outputs
        ]

    def keep(self, saved: list[Saved]) -> None:
        """Keep what `save_for_backward` was given."""
        self._saved = saved

    def forget_marks(self) -> None:
        """Let go of the Tensors that `forward` has named."""
        self.to_save: tuple[Tensor | None, ...] = ()
        self.dirty: tuple[Tensor, ...] = ()
        self.non_differentiable: tuple[Tensor, ...] = ()

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        token = enter_mode(create_graph)
        try:
            results = self.apply(*map(_as_tensor, cotangents))
        finally:
            leave_mode(token)
        arranged = self._checked(results)
        if create_graph:
            return arranged
        return [None if r is None else r.array for r in arranged]

    def apply(self, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        """The user's `backward` on these gradients; its results as a tuple."""
        if self.materialize_grads:
            gradients = tuple(
                wrap(np.zeros(*kind))
                if gradient is None
                and kind is not None
                and (self.materialize_non_diff_grads or self.gives_gradient(index))
                else gradient
                for index, (gradient, kind) in enumerate(
                    zip(gradients, self._output_types, strict=True)
                )
            )
        results = self._rule(self.public, *gradients)
        return results if isinstance(results, tuple) else (results,)

    def completed(self, tangents: Sequence[Tensor | None]) -> list[Tensor | None]:
        """The inputs' tangents, zeros for those Tensors that have none."""
        if not self.materialize_grads:
            return list(tangents)
        return [
            wrap(np.zeros(*kind))
            if tangent is None and kind is not None and dtypes.is_differentiable(kind[1])
            else tangent
            for tangent, kind in zip(tangents, self._input_types, strict=True)
        ]

    def run_jvp(self, inputs: Sequence[Tensor | None]) -> tuple[Any, ...]:
        """The user's `jvp` on the inputs' tangents; its results as a tuple."""
        self._in_jvp = True
        try:
            results = self.function.jvp(self.public, *inputs)
        finally:
            self._in_jvp = False
        return results if isinstance(results, tuple) else (results,)

    def _checked(self, results: tuple[Tensor | None, ...]) -> list[Tensor | None]:
        """The results, one for each input, of the inputs' shapes and dtypes."""
        expected = len(self._input_types)
        if len(results) > expected and all(r is None for r in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise misfit(
                self._rule,
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(results)})",
            )
        return [self._fitted(position, result) for position, result in enumerate(results)]

    def _fitted(self, position: int, result: Tensor | None) -> Tensor | None:
        kind = self._input_types[position]
        if result is None:
            return None
        if kind is None:
            raise misfit(
                self._rule,
                f"function {self.name()} returned a gradient different than None at position "
                f"{position + 1}, but the corresponding forward input was not a Variable",
            )
        check_is_tensor(self._rule, result)
        if self.next_edges[position][0] is None:
            return None
        shape, dtype = kind
        if result.array.shape != shape:
            result = self._summed(position, result, shape)
        check_kind(self._rule, result.array.dtype, dtype)
        producer, _ = self.next_edges[position]
        if isinstance(producer, AccumulateGrad):
            dtype = wanted_dtype(producer.variable) or result.array.dtype
        return result if result.array.dtype == dtype else result.to(dtype)

    def _summed(self, position: int, result: Tensor, shape: tuple[int, ...]) -> Tensor:
        """A gradient of a shape that the input's shape broadcasts to, summed to the latter."""
        given = result.array.shape
        try:
            fits = np.broadcast_shapes(given, shape) == given
        except ValueError:
            fits = False
        if not fits:
            raise misfit(
                self._rule,
                f"Function {self.name()} returned an invalid gradient at index {position} - got "
                f"{list(given)} but expected shape compatible with {list(shape)}",
            )
        extra = len(given) - len(shape)
        spread = [i + extra for i, n in enumerate(shape) if n == 1 and given[i + extra] != 1]
        axes = (*range(extra), *spread)
        return result.sum(axes).reshape(shape) if axes else result

    def arranged_by_input(self, gradients: Sequence[Any]) -> list[Any]:
        pairs = zip(gradients, self._input_types, strict=True)
        return [gradient for gradient, kind in pairs if kind is not None]

    def arranged_by_edge(self, gradients: Sequence[Any]) -> list[Any]:
        rest = iter(gradients)
        return [None if kind is None else next(rest) for kind in self._input_types]

    def pack_saved(self, pack: Callable[[Any, int | None], Packed]) -> None:
        for saved in self._saved or ():
            saved.pack(pack, self)

    def release(self) -> None:
        if self._saved:
            self._saved = None


def misfit(rule: Callable[..., Any], what: str) -> RuleError:
    """The error for what a rule returns that does not fit, in PyTorch's words."""
    return RuleError(what, advice_for(rule), place_of(rule))


def advice_for(rule: Callable[..., Any]) -> str:
    """What `backward`, or `jvp`, has to return."""
    if getattr(rule, "__name__", "") == "jvp":
        return "return for each result of `forward` a tangent of its shape and kind, or None"
    return "return for each argument of `forward` a gradient of its shape and kind, or None"


def check_is_tensor(rule: Callable[..., Any], result: Any) -> None:
    """Raise the error for a gradient that is neither a Tensor nor None."""
    if result is not None and not isinstance(result, Tensor):
        raise misfit(rule, f"expected Variable or None (got {type(result).__name__})")


def check_kind(rule: Callable[..., Any], given: dtypes.Dtype, wanted: dtypes.Dtype) -> None:
    """Raise the error for a gradient that is complex where its input is real (or is not, where the
    input is complex, unless it is floating)."""
    if given.kind != "f" and (given.kind == "c") != (wanted.kind == "c"):
        raise misfit(
            rule,
            "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) "
            "to be true, but got false.  (Could this error message be improved?  If so, please "
            "report an enhancement request to PyTorch.)",
        )


def _type_of(value: Any) -> Metadata | None:
    return (value.array.shape, value.array.dtype) if isinstance(value, Tensor) else None


def _as_tensor(cotangent: Any) -> Tensor | None:
    if cotangent is None or isinstance(cotangent, Tensor):
        return cotangent
    return wrap(np.asarray(cotangent))
