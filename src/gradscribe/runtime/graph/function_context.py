"""The `ctx` of a custom Function: what the user's methods get, and what users see as its node.

It is an object of its own, and the engine never reads from it: users may set any attribute. The
node (`function_node.py`) keeps the attributes, and the `ctx` keeps the node; so a `ctx` that nobody
holds can be made anew, and the two are no cycle.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from gradscribe.runtime.graph.hooks import Hook


class FunctionCtx:
    """The context of one call, and its `grad_fn`; each Function has a subclass."""

    __slots__ = ("__dict__", "__weakref__", "_node")

    _forward_cls: ClassVar[type[Any]]

    # --- what forward and backward may call -----------------------------------------------

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep these inputs, outputs or intermediate Tensors for `backward`."""
        node_of(self).to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep these inputs or outputs for `jvp`."""
        node_of(self).for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Tell that `forward` changed these inputs in place; they must be among the outputs."""
        node_of(self).dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Tell that these outputs have no derivative."""
        node_of(self).non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that are None reach `backward` as zeros (they do by default)."""
        node_of(self).materialize_grads = value

    @property
    def needs_input_grad(self) -> Any:
        """For each argument of `forward`, whether it is a Tensor that requires a gradient."""
        return node_of(self).needs_input_grad

    @needs_input_grad.setter
    def needs_input_grad(self, value: Any) -> None:
        node_of(self).needs_input_grad = value

    @property
    def _materialize_non_diff_grads(self) -> Any:
        return node_of(self).materialize_non_diff_grads

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value: bool) -> None:
        node_of(self).materialize_non_diff_grads = value

    @property
    def saved_tensors(self) -> Any:
        """What `save_for_backward` kept; in `jvp`, what `save_for_forward` kept."""
        return node_of(self).saved_tensors()

    @property
    def saved_variables(self) -> Any:
        """Legacy: `saved_tensors`."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> Any:
        """What was kept, each with `register_hooks`."""
        return node_of(self).raw_saved_tensors()

    # --- what nodes can be asked ----------------------------------------------------------

    def name(self) -> str:
        """The name of the class, as in `<SquareBackward>`."""
        return type(self).__name__

    @property
    def next_functions(self) -> Any:
        """For each Tensor that went in: its node (None: needs no gradient) and output number."""
        return node_of(self).next_functions

    @property
    def requires_grad(self) -> bool:
        return True

    @property
    def metadata(self) -> Any:
        """A dictionary for the user's own notes."""
        return node_of(self).metadata

    @property
    def _input_metadata(self) -> Any:
        return node_of(self)._input_metadata

    def _sequence_nr(self) -> Any:
        return node_of(self)._sequence_nr()

    def _set_sequence_nr(self, sequence_nr: int) -> None:
        node_of(self)._set_sequence_nr(sequence_nr)

    def register_hook(self, hook: Hook) -> Any:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run; it may return new
        grad_inputs."""
        return node_of(self).register_hook(hook)

    def register_prehook(self, hook: Hook) -> Any:
        """Call `hook(grad_outputs)` before the node runs; it may return new grad_outputs."""
        return node_of(self).register_prehook(hook)

    def _register_hook_dict(self, tensor: Any) -> None:
        node_of(self)._register_hook_dict(tensor)

    def apply(self, *gradients: Any) -> Any:
        """The user's `backward` on these gradients; its results as a tuple."""
        return node_of(self).apply(*gradients)

    def __call__(self, *gradients: Any) -> Any:
        """Run this node alone: gradients of its outputs in, gradients of its inputs out."""
        return node_of(self)(*gradients)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


_slot: Any = FunctionCtx.__dict__["_node"]
node_of: Callable[[FunctionCtx], Any] = _slot.__get__
"""The node of a `ctx`: in a slot without a name, so that users may set any attribute."""
_set_node: Callable[[FunctionCtx, Any], None] = _slot.__set__
type.__delattr__(FunctionCtx, "_node")


def context_of(node: Any, attributes: dict[str, Any]) -> FunctionCtx:
    """A `ctx` for a node, with these attributes."""
    context: FunctionCtx = object.__new__(node.function._backward_cls)
    _set_node(context, node)
    context.__dict__ = attributes
    return context


def hidden(node: Any) -> Any:
    """The node that users see as this object."""
    return node_of(node) if isinstance(node, FunctionCtx) else node
