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

import contextlib
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from gradscribe.runtime import dtypes, dual
from gradscribe.runtime.grad_mode import enter_mode, grad_enabled, leave_mode
from gradscribe.runtime.hooks import Hook
from gradscribe.runtime.inference import SAVED as INFERENCE_SAVED
from gradscribe.runtime.inference import is_inference
from gradscribe.runtime.modes import MODES, tell_recorded
from gradscribe.runtime.node import (
    FREED_GRAPH,
    NO_EDGE,
    Edge,
    Node,
    modified_in_place,
    next_sequence,
)
from gradscribe.runtime.saved import Packed
from gradscribe.runtime.tensor import Tensor, edge_of, wrap, wrap_result
from gradscribe.runtime.views import CUSTOM, View

Metadata = tuple[tuple[int, ...], dtypes.Dtype]


class _Saved:
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
            self.expected = tensor.counter[0]
            if index is not None:
                self.tensor = tensor.detach()

    def register_hooks(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        """Pack this one Tensor with hooks of its own."""
        self.pack(lambda array: Packed(array, pack_hook, unpack_hook))

    def pack(self, pack: Callable[[Any], Packed]) -> None:
        """Keep what a pack hook makes of the Tensor in its place."""
        if self.tensor is not None:
            self.edge = edge_of(self.tensor) if self.tensor.requires_grad else NO_EDGE
            self.content, self.tensor = pack(self.tensor.array), None

    def unpack(self, node: FunctionNode) -> Tensor | None:
        """The Tensor, in its place in the graph, if it was not modified since."""
        edge: Edge = self.edge
        if self.index is not None and node.gives_gradient(self.index):
            edge = node, self.index
        if self.content is not None:
            array, (producer, index) = self.content.get(), edge
            return wrap(array) if producer is None else wrap_result(array, producer, index)
        if self.tensor is None:
            return None
        self._check_version(node)
        if edge[0] is None:
            return self.tensor
        output = wrap_result(self.tensor.array, edge[0], edge[1])
        output.counter = self.tensor.counter
        return output

    def _check_version(self, node: FunctionNode) -> None:
        tensor = self.tensor
        assert tensor is not None
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


class FunctionNode(Node):
    """The node of a custom Function, and the `ctx` that its methods get."""

    _forward_cls: ClassVar[type[Function]]
    takes_undefined = True
    needs_input_grad: tuple[bool, ...]

    def __init__(self, inputs: Sequence[Any]) -> None:
        self.own_hooks = None
        self.sequence_nr = next_sequence()
        self.next_edges: list[Edge] = []
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
        self._for_forward: tuple[Tensor | None, ...] | None = None
        self._in_jvp = False

    # --- what forward and backward may call -----------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep these inputs, outputs or intermediate Tensors for `backward`."""
        for position, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument "
                    f"{position} is of type {type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep these inputs or outputs for `jvp`."""
        self._for_forward = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` kept; in `jvp`, what `save_for_forward` kept."""
        if self._in_jvp and self._for_forward is not None:
            return self._for_forward
        if self._saved is None:
            raise RuntimeError(FREED_GRAPH)
        return tuple(saved.unpack(self) for saved in self._saved)

    saved_variables = saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[_Saved, ...]:
        """What was kept, each with `register_hooks`."""
        if self._saved is None:
            raise RuntimeError(FREED_GRAPH)
        return tuple(self._saved)

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
    def cotangent_count(self) -> int:  # type: ignore[override]
        return len(self._output_types)

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        pairs = zip(self.next_edges, self._tensor_inputs, strict=True)
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
        results = self._forward_cls._backward_rule()(self, *gradients)
        return tuple(results) if isinstance(results, (tuple, list)) else (results,)

    def run_jvp(self, inputs: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
        """The user's `jvp` on the inputs' tangents; its results as a tuple."""
        if self._materialize_grads:
            inputs = tuple(
                wrap(np.zeros(*kind)) if tangent is None and kind is not None else tangent
                for tangent, kind in zip(inputs, self._input_types, strict=True)
            )
        self._in_jvp = True
        try:
            results = self._forward_cls.jvp(self, *inputs)
        finally:
            self._in_jvp = False
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
                f"function {self.name()} returned a gradient different than None at position "
                f"{position + 1}, but the corresponding forward input was not a Variable"
            )
        if not isinstance(result, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(result).__name__})")
        if self.next_edges[position][0] is None:
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

    def arranged_by_input(self, gradients: Sequence[Any]) -> list[Any]:
        return [g for g, is_tensor in zip(gradients, self._tensor_inputs, strict=True) if is_tensor]

    def arranged_by_edge(self, gradients: Sequence[Any]) -> list[Any]:
        rest = iter(gradients)
        return [next(rest) if is_tensor else None for is_tensor in self._tensor_inputs]

    def pack_saved(self, pack: Callable[[Any], Packed]) -> None:
        for saved in self._saved or ():
            saved.pack(pack)

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
        cls._node_class = type(name, (FunctionNode,), {"_forward_cls": cls})

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

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangent of each output from those of the inputs of forward."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @classmethod
    def _backward_rule(cls) -> Callable[..., Any]:
        """`backward`, or `vjp` where the class has that."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return cls.vjp

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, for a forward without ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

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
        level = dual.current_level()
        token = enter_mode(False)
        try:
            with contextlib.nullcontext() if level is None else level.paused():
                outputs = cls._run_forward(node, inputs, kwargs)
        finally:
            leave_mode(token)
        is_tuple = isinstance(outputs, tuple)
        listed = list(outputs) if is_tuple else [outputs]
        finished = _finish(node, inputs, listed, recording)
        if MODES:
            if recording:
                tell_recorded(node)
            _attach_tangents(node, inputs, finished)
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
        node.next_edges = [
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
    if not is_dirty:
        output.view_of = _view_of_input(output, inputs)
    return output


def _view_of_input(output: Tensor, inputs: Sequence[Any]) -> View | None:
    """An output that shares the memory of an input is a view, which the user's backward is the
    derivative of; so it may not be changed in place."""
    for value in inputs:
        if isinstance(value, Tensor) and value.counter is output.counter:
            base = value if value.view_of is None else value.view_of.base
            return View(base, (), CUSTOM)
    return None


def _attach_tangents(node: FunctionNode, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """In a dual level, give the outputs the tangents that `jvp` computes."""
    level = dual.current_level()
    if level is None:
        return
    tangents = [level.tangent(value) for value in inputs]
    if all(tangent is None for tangent in tangents):
        return
    for output, tangent in zip(outputs, node.run_jvp(tangents), strict=True):
        if isinstance(output, Tensor) and tangent is not None:
            level.attach(output, tangent)


def _refuse_dirty_leaves(node: FunctionNode) -> None:
    for tensor in node._dirty:
        if tensor.requires_grad and tensor.is_leaf:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place operation."
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
        self.next_edges = [edge_of(tensor) for tensor in tensors]
        self.sequence_nr = next_sequence()
        self.own_hooks = None
        self.count = count

    @property
    def cotangent_count(self) -> int:  # type: ignore[override]
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
