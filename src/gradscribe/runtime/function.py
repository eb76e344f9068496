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

from gradscribe.runtime import dtypes, dual
from gradscribe.runtime.function_node import FunctionNode, Saved
from gradscribe.runtime.grad_mode import enter_mode, grad_enabled, leave_mode
from gradscribe.runtime.modes import MODES, tell_recorded
from gradscribe.runtime.node import (
    NO_EDGE,
    Node,
    next_sequence,
)
from gradscribe.runtime.tensor import Tensor, edge_of, wrap, wrap_result
from gradscribe.runtime.views import CUSTOM, View


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
        _refuse_to_save(node._to_save)
        node._saved = [Saved(t, _position(t, outputs, inputs)) for t in node._to_save]
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


def _refuse_to_save(values: Sequence[Any]) -> None:
    """Raise the error for what was given to `save_for_backward` and is no Tensor."""
    for position, value in enumerate(values):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {position} is of type "
                f"{type(value).__name__}"
            )


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
