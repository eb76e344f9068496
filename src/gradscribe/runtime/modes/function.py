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

The context, of a class `SquareBackward`, is what users see as the node: what `forward` puts there
is found on `y.grad_fn`. `backward` works on Tensors; under `create_graph` its operations are
recorded, which is all that double backward needs.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

from gradscribe.runtime.graph.function_context import FunctionCtx
from gradscribe.runtime.graph.grad_mode import enter_mode, grad_enabled, leave_mode
from gradscribe.runtime.graph.modes import MODES, tell_recorded, tell_returned, timed
from gradscribe.runtime.graph.node import NO_EDGE, Edge, Node, next_sequence
from gradscribe.runtime.modes import dual
from gradscribe.runtime.modes.function_node import FunctionNode
from gradscribe.runtime.modes.function_outputs import finish, versions_of
from gradscribe.runtime.modes.function_tangents import attach_tangents
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap_result
from gradscribe.tracebacks import shorten


class FunctionMeta(type):
    """The class of the classes of custom operations: gives each a class of contexts of its own."""

    _backward_cls: type[FunctionCtx]

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> None:
        super().__init__(name, bases, namespace, **kwargs)
        members = {"_forward_cls": cls, "__module__": "gradscribe.autograd.function"}
        cls._backward_cls = type(f"{name}Backward", (FunctionCtx,), members)


class Function(metaclass=FunctionMeta):
    """Base of custom operations: static `forward(ctx, ...)` and `backward(ctx, ...)`.

    forward may instead take no ctx, if there is a static `setup_context(ctx, inputs, output)`.
    """

    generate_vmap_rule: ClassVar[bool] = False
    clear_saved_tensors_on_access: ClassVar[bool] = False
    """Whether `ctx.saved_tensors` gives up what it returns, so that it can be freed earlier."""

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
        """Compute the tangent of each output from those of the inputs of forward.

        Compiled code needs none: without it, it transposes `backward`. Gradients of gradients are
        those of `backward` alone.
        """
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Refused: there is no `vmap`."""
        raise NotImplementedError("gradscribe has no vmap: call the function in a loop")

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

    def __getattr__(self, name: str) -> NoReturn:
        if name in _OF_NODES:
            raise RuntimeError(
                f"Attribute '{name}' is invalid for this instance of _C._FunctionBase. Accessing "
                "this attribute directly on an instance of autograd.Function is a legacy access "
                "pattern that is no longer supported. For examples on how to use new-style "
                "autograd functions, see "
                "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function "
            )
        if name == "metadata":
            raise RuntimeError(
                "You attempted to access the anomaly metadata of a custom autograd function but "
                "the underlying PyNode has already been deallocated.  The most likely reason this "
                "occurred is because you assigned x.grad_fn to a local variable and then let the "
                "original variable get deallocated.  Don't do that!  If you really have no way of "
                "restructuring your code so this is the case, please file an issue reporting that "
                "you are affected by this."
            )
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @classmethod
    def apply(cls, *inputs: Any, **kwargs: Any) -> Any:
        """Run forward, and record it if an input requires a gradient. An input may know better what
        to do: it has `__gradscribe_apply__(callee, inputs, kwargs)`."""
        for value in inputs:
            handler = getattr(type(value), "__gradscribe_apply__", None)
            if handler is not None:
                return handler(cls.apply, inputs, kwargs)
        if cls.setup_context is not Function.setup_context:
            inputs, kwargs = _with_defaults(cls.forward, inputs, kwargs)
        node = FunctionNode(cls, inputs)
        context = node.public
        recording = grad_enabled() and any(node.wanted)
        versions = versions_of(node, inputs) if recording else None
        token = enter_mode(False)
        try:
            run = cls._run_in_modes if MODES else cls._run_forward
            outputs = run(context, inputs, kwargs)
        except Exception as error:
            shorten(error)
            raise
        finally:
            leave_mode(token)
        is_tuple = isinstance(outputs, tuple)
        listed = list(outputs) if is_tuple else [outputs]
        finished = finish(node, inputs, listed, versions)
        node.forget_marks()
        if MODES:
            if recording:
                tell_recorded(node)
            attach_tangents(node, inputs, finished)
            tell_returned(inputs, [result for result in finished if isinstance(result, Tensor)])
        return tuple(finished) if is_tuple else finished[0]

    @classmethod
    def _run_in_modes(cls, ctx: FunctionCtx, inputs: tuple[Any, ...], kwargs: Any) -> Any:
        level = dual.current_level()
        with (
            contextlib.nullcontext() if level is None else level.paused(),
            timed(cls.__name__, inputs),
        ):
            return cls._run_forward(ctx, inputs, kwargs)

    @classmethod
    def _run_forward(cls, ctx: FunctionCtx, inputs: tuple[Any, ...], kwargs: Any) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *inputs, **kwargs)
        outputs = cls.forward(*inputs, **kwargs)
        cls.setup_context(ctx, inputs, outputs)
        return outputs


_OF_NODES = frozenset(
    {"_input_metadata", "_register_hook_dict", "_sequence_nr", "_set_sequence_nr", "name"}
    | {"next_functions", "register_hook", "register_prehook"}
)
"""What nodes have, and instances of the classes of Functions have not."""


class InplaceFunction(Function):
    """Legacy: a Function that may change its inputs in place, as every Function may."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _with_defaults(
    forward: Callable[..., Any], inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of forward, as far as they can be given by position, defaults included."""
    bound = inspect.signature(forward).bind(*inputs, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


class Error(Node):
    """The node of gradients that cannot be differentiated again. It leads to the gradients that
    they were computed of, so that it is met on the way to anything they depend on; as in PyTorch it
    tells of leaves of its own."""

    def __init__(self, gradients: Sequence[Tensor], results: Sequence[Any]) -> None:
        self.next_edges = [edge_of(gradient) for gradient in gradients]
        self.sequence_nr = next_sequence()
        self.own_hooks = None
        self.count = len(results)
        leaves = [r.detach() if isinstance(r, Tensor) else None for r in results]
        self._told = [NO_EDGE if r is None else edge_of(r.requires_grad_()) for r in leaves]

    def input_edges(self) -> Sequence[Edge]:
        return tuple(self._told)

    @property
    def cotangent_count(self) -> int:  # type: ignore[override]
        return self.count

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        raise RuntimeError(ONCE)


ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"


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
        node = Error(wanted, listed)
        wired = tuple(
            wrap_result(r.array, node, i) if isinstance(r, Tensor) else r
            for i, r in enumerate(listed)
        )
        return wired if isinstance(results, tuple) else wired[0]

    decorated.is_once_differentiable = True  # type: ignore[attr-defined]
    return decorated


def _detached(gradient: Any) -> Any:
    return gradient.detach() if isinstance(gradient, Tensor) else gradient
