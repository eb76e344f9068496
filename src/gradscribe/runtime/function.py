"""`Function`: operations whose forward and backward the user writes.

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output

    y = Square.apply(x)

The context is the node itself, of a class `SquareBackward`, so what `forward` puts there is
found on `y.grad_fn`. `backward` works on Tensors; under `create_graph` its operations are
recorded, which is all that double backward needs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from gradscribe.runtime import dtypes
from gradscribe.runtime.grad_mode import enter_mode, grad_enabled, leave_mode
from gradscribe.runtime.node import (
    FREED_GRAPH,
    NO_EDGE,
    Edge,
    Node,
    modified_in_place,
    next_sequence,
)
from gradscribe.runtime.tensor import Tensor, edge_of, wrap, wrap_result

Metadata = tuple[tuple[int, ...], dtypes.Dtype]


class _Saved:
    """One saved Tensor: an input as it was, or an output without its node (which would be a
    cycle); None where None was saved."""

    __slots__ = ("expected", "index", "tensor")

    def __init__(self, tensor: Tensor | None, index: int | None) -> None:
        self.index = index
        self.tensor = tensor
        self.expected = 0 if tensor is None else tensor.counter[0]
        if tensor is not None and index is not None:
            self.tensor = tensor.detach()

    def unpack(self, node: FunctionNode) -> Tensor | None:
        """The Tensor, if it was not modified since."""
        tensor = self.tensor
        if tensor is None:
            return None
        if tensor.counter[0] != self.expected:
            producer: Edge = (node, self.index) if self.index is not None else NO_EDGE
            if self.index is None and tensor.node is not None:
                producer = (tensor.node, tensor.index)
            raise modified_in_place(
                dtypes.type_name(tensor.dtype),
                tensor.array.shape,
                producer,
                tensor.counter[0],
                self.expected,
            )
        if self.index is None or not node.gives_gradient(self.index):
            return tensor
        output = wrap_result(tensor.array, node, self.index)
        output.counter = tensor.counter
        return output


class FunctionNode(Node):
    """The node of a custom Function, and the `ctx` that its methods get."""

    function: ClassVar[type[Function]]
    needs_input_grad: tuple[bool, ...]

    def __init__(self, inputs: Sequence[Any]) -> None:
        self.state = None
        self.sequence = next_sequence()
        self.edges: list[Edge] = []
        self.needs_input_grad = tuple(
            isinstance(value, Tensor) and value.requires_grad for value in inputs
        )
        self._tensor_inputs = [isinstance(value, Tensor) for value in inputs]
        self._input_types: list[Metadata | None] = [
            (value.array.shape, value.array.dtype) if isinstance(value, Tensor) else None
            for value in inputs
        ]
        self._output_types: list[Metadata | None] = []
        self._to_save: tuple[Tensor | None, ...] = ()
        self._saved: list[_Saved] | None = []
        self._dirty: tuple[Tensor, ...] = ()
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._materialize_grads = True

    # --- what forward and backward may call -----------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep these inputs, outputs or intermediate Tensors for `backward`."""
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` kept."""
        if self._saved is None:
            raise RuntimeError(FREED_GRAPH)
        return tuple(saved.unpack(self) for saved in self._saved)

    saved_variables = saved_tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Tell that `forward` changed these inputs in place; they must be among the outputs."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Tell that these outputs have no derivative."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that are None reach `backward` as zeros (they do by default)."""
        self._materialize_grads = value

    # --- what the engine calls ------------------------------------------------------------

    @property
    def output_count(self) -> int:  # type: ignore[override]
        return len(self._output_types)

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        pairs = zip(self.edges, self._tensor_inputs, strict=True)
        return tuple(edge for edge, is_tensor in pairs if is_tensor)

    def gives_gradient(self, index: int) -> bool:
        """Whether an output is differentiable."""
        return self._output_types[index] is not None

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
        if self._materialize_grads:
            gradients = tuple(
                wrap(np.zeros(*kind)) if gradient is None and kind is not None else gradient
                for gradient, kind in zip(gradients, self._output_types, strict=True)
            )
        results = self.function.backward(self, *gradients)
        return tuple(results) if isinstance(results, (tuple, list)) else (results,)

    def _checked(self, results: tuple[Tensor | None, ...]) -> list[Tensor | None]:
        """The results, one for each input, of the inputs' shapes and dtypes."""
        expected = len(self._input_types)
        if len(results) > expected and all(r is None for r in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(results)})"
            )
        return [self._fitted(position, result) for position, result in enumerate(results)]

    def _fitted(self, position: int, result: Tensor | None) -> Tensor | None:
        kind = self._input_types[position]
        if result is None:
            return None
        if kind is None:
            raise RuntimeError(
                f"function {self.name()} returned a gradient different from None at position "
                f"{position + 1}, but the corresponding forward input was not a Variable"
            )
        if not isinstance(result, Tensor):
            raise TypeError(f"{self.name()}: expected Tensor or None, got {type(result).__name__}")
        if self.edges[position][0] is None:
            return None
        shape, dtype = kind
        if result.array.shape != shape:
            result = self._summed(position, result, shape)
        return result if result.array.dtype == dtype else result.to(dtype)

    def _summed(self, position: int, result: Tensor, shape: tuple[int, ...]) -> Tensor:
        """A gradient of a shape that the input's shape broadcasts to, summed to the latter."""
        given = result.array.shape
        try:
            fits = np.broadcast_shapes(given, shape) == given
        except ValueError:
            fits = False
        if not fits:
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient at index {position} - got "
                f"{list(given)} but expected shape compatible with {list(shape)}"
            )
        extra = len(given) - len(shape)
        spread = [i + extra for i, n in enumerate(shape) if n == 1 and given[i + extra] != 1]
        axes = (*range(extra), *spread)
        return result.sum(axes).reshape(shape) if axes else result

    def release(self) -> None:
        if self._saved:
            self._saved = None


def _as_tensor(cotangent: Any) -> Tensor | None:
    if cotangent is None or isinstance(cotangent, Tensor):
        return cotangent
    return wrap(np.asarray(cotangent))


class Function:
    """Base of custom operations: static `forward(ctx, ...)` and `backward(ctx, ...)`.

    forward may instead take no ctx, if there is a static `setup_context(ctx, inputs, output)`.
    """

    _node_class: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = f"{cls.__name__}Backward"
        cls._node_class = type(name, (FunctionNode,), {"function": cls})

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradient of each input of forward (None where it needs none)."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, for a forward without ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. "
            "Please use new-style autograd function with static forward method. "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @classmethod
    def apply(cls, *inputs: Any, **kwargs: Any) -> Any:
        """Run forward, and record it if an input requires a gradient."""
        node = cls._node_class(inputs)
        recording = grad_enabled() and any(node.needs_input_grad)
        token = enter_mode(False)
        try:
            outputs = cls._run_forward(node, inputs, kwargs)
        finally:
            leave_mode(token)
        is_tuple = isinstance(outputs, tuple)
        listed = list(outputs) if is_tuple else [outputs]
        finished = _finish(node, inputs, listed, recording)
        return tuple(finished) if is_tuple else finished[0]

    @classmethod
    def _run_forward(cls, node: FunctionNode, inputs: tuple[Any, ...], kwargs: Any) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(node, *inputs, **kwargs)
        outputs = cls.forward(*inputs, **kwargs)
        cls.setup_context(node, inputs, outputs)
        return outputs


def _finish(
    node: FunctionNode, inputs: Sequence[Any], outputs: list[Any], recording: bool
) -> list[Any]:
    """The outputs as forward's caller gets them, wired to the node."""
    for tensor in node._dirty:
        if not _is_in(tensor, outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function."
            )
        tensor.counter[0] += _is_in(tensor, inputs)
    if recording:
        node.edges = [
            edge_of(value) if needed else NO_EDGE
            for value, needed in zip(inputs, node.needs_input_grad, strict=True)
        ]
        _refuse_dirty_leaves(node)
    finished = [
        _wire(node, index, output, inputs, recording) for index, output in enumerate(outputs)
    ]
    if recording:
        saved = [_Saved(t, _position(t, outputs, inputs)) for t in node._to_save]
        node._saved = saved
    node._to_save = node._dirty = node._non_differentiable = ()
    return finished


def _wire(
    node: FunctionNode, index: int, output: Any, inputs: Sequence[Any], recording: bool
) -> Any:
    """One output with its place in the graph."""
    if not isinstance(output, Tensor):
        node._output_types.append(None)
        return output
    differentiable = dtypes.is_differentiable(output.dtype) and not _is_in(
        output, node._non_differentiable
    )
    node._output_types.append((output.array.shape, output.array.dtype) if differentiable else None)
    is_dirty = _is_in(output, node._dirty)
    if _is_in(output, inputs) and not is_dirty:
        same, output = output, wrap(output.array)
        output.counter = same.counter
    if not recording or not differentiable:
        return output if not differentiable or is_dirty else output.detach()
    output.node, output.index, output.needs_grad = node, index, True
    output.view_of = output.view_of if is_dirty else None
    return output


def _refuse_dirty_leaves(node: FunctionNode) -> None:
    for tensor in node._dirty:
        if tensor.requires_grad and tensor.is_leaf:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
            )


def _is_in(tensor: Tensor, values: Sequence[Any]) -> bool:
    return any(value is tensor for value in values)


def _position(tensor: Tensor | None, outputs: Sequence[Any], inputs: Sequence[Any]) -> int | None:
    """The number of the output that a saved Tensor is, if it is one and no input."""
    for index, output in enumerate(outputs):
        if output is tensor and tensor is not None and not _is_in(tensor, inputs):
            return index
    return None


class _OnceDifferentiable(Node):
    """The node of gradients that cannot be differentiated again."""

    def __init__(self, tensors: Sequence[Tensor], count: int) -> None:
        self.edges = [edge_of(tensor) for tensor in tensors]
        self.sequence = next_sequence()
        self.state = None
        self.count = count

    @property
    def output_count(self) -> int:  # type: ignore[override]
        return self.count

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a `backward` whose operations are not recorded: it gets gradients outside the
    graph, and may use NumPy. To differentiate its results is an error."""

    @functools.wraps(backward)
    def decorated(ctx: Any, *gradients: Any) -> Any:
        token = enter_mode(False)
        try:
            results = backward(ctx, *map(_detached, gradients))
        finally:
            leave_mode(token)
        wanted = [g for g in gradients if isinstance(g, Tensor) and g.requires_grad]
        if not grad_enabled() or not wanted:
            return results
        listed = results if isinstance(results, tuple) else (results,)
        node = _OnceDifferentiable(wanted, len(listed))
        wired = tuple(
            wrap_result(r.array, node, i) if isinstance(r, Tensor) else r
            for i, r in enumerate(listed)
        )
        return wired if isinstance(results, tuple) else wired[0]

    return decorated


def _detached(gradient: Any) -> Any:
    return gradient.detach() if isinstance(gradient, Tensor) else gradient
