# ruff: noqa: N999  (PyTorch's name)
"""What PyTorch's programs ask its engine under private names: which backward is under way here, at
which node, and what it will run; and nodes that make gradients undefined, or errors."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from weakref import ref

from gradscribe.runtime.dual import is_forward_enabled, set_forward_enabled
from gradscribe.runtime.graph.engine import Run, current_run
from gradscribe.runtime.graph.function_context import hidden
from gradscribe.runtime.graph.grad_mode import is_grad_enabled, is_multithreading_enabled
from gradscribe.runtime.graph.node import AccumulateGrad, Edge, Node, next_sequence
from gradscribe.runtime.graph.saved import may_set_hooks
from gradscribe.runtime.graph.saved_values import SavedTensor
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap, wrap_result


def _current_autograd_node() -> Node | None:
    """The node that is run now."""
    run = current_run()
    return None if run is None or run.node is None else run.node.public


def _current_graph_task_id() -> int:
    """The number of the backward that is under way; -1 where none is."""
    run = current_run()
    return -1 if run is None else run.number


def _current_graph_task_execution_order() -> list[Node]:
    """The nodes that the backward under way runs, in their order."""
    run = _under_way("_current_graph_task_execution_order")
    if is_multithreading_enabled():
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed "
            "with multithreading disabled, e.g. by running:\n\n"
            ">>> with torch.autograd.set_multithreading_enabled(False):\n"
            "...     torch.autograd.grad(...)\n"
        )
    return [node.public for node in run.order()]


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the backward under way runs a node, or has run it."""
    node = hidden(node)
    if not isinstance(node, Node):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
        )
    run = _under_way("_get_should_execute_nodes")
    if run.sinks and isinstance(node, AccumulateGrad):
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported."
        )
    return run.will_visit(node)


def _under_way(name: str) -> Run:
    run = current_run()
    if run is None:
        raise RuntimeError(f"{name} should only be called during the backward pass")
    return run


_is_fwd_grad_enabled = is_forward_enabled


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Forward mode from now on, or not."""
    set_forward_enabled(enabled)


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the backward that is under way keeps its graph."""
    run = current_run()
    return run is None or run.retain_graph


def _unsafe_set_version_counter(
    tensors: Tensor | Sequence[Tensor], versions: int | Sequence[int]
) -> None:
    """Set versions, as if changes in place had not been."""
    tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
    versions = (versions,) if isinstance(versions, int) else versions
    if len(tensors) != len(versions):
        raise RuntimeError(f"tensors_len={len(tensors)}, versions_len={len(versions)}")
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        tensor._counter[0] = version


class _WeakTensorRef:
    """A reference to a Tensor that does not keep it."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = ref(tensor)

    def expired(self) -> bool:
        """Whether the Tensor is gone."""
        return self._tensor() is None


class _PassingNode(Node):
    """The node of Tensors that were passed on as they are."""

    def __init__(self, edges: Sequence[Edge], kinds: Sequence[Any]) -> None:
        self.next_edges = edges
        self.kinds = kinds
        self.sequence_nr = next_sequence()
        self.own_hooks = None

    @property
    def cotangent_count(self) -> int:  # type: ignore[override]
        return len(self.kinds)

    @property
    def output_types(self) -> Sequence[Any]:
        return self.kinds

    def name(self) -> str:
        return f"torch::autograd::{type(self).__name__}"

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        return [None] * len(self.next_edges)


class UndefinedGradBackward(_PassingNode):
    """Gives no gradients."""


class Error(_PassingNode):
    """Raises an error in place of gradients."""

    message = ""

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        raise RuntimeError(self.message)


def _passed(node_class: type[_PassingNode], tensors: Sequence[Tensor]) -> list[Tensor]:
    if not is_grad_enabled() or not any(tensor.requires_grad for tensor in tensors):
        return [wrap(tensor.array) for tensor in tensors]
    edges: list[Edge] = [edge_of(t) if t.requires_grad else (None, 0) for t in tensors]
    node = node_class(edges, [(t.array.shape, t.array.dtype) for t in tensors])
    results = [wrap_result(tensor.array, node, i) for i, tensor in enumerate(tensors)]
    for result, tensor in zip(results, tensors, strict=True):
        result._counter = tensor._counter
    return results


class UndefinedGrad:
    """A function that passes Tensors on, and no gradients back."""

    def __call__(self, *tensors: Tensor) -> Any:
        passed = _passed(UndefinedGradBackward, tensors)
        return passed[0] if len(passed) == 1 else tuple(passed)


class DelayedError:
    """A function that passes Tensors on, and raises an error in the backward."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *tensors: Tensor) -> Any:
        passed = _passed(Error, tensors)
        for tensor in passed:
            if isinstance(tensor._node, Error):
                tensor._node.message = self.message
        return passed[0] if len(passed) == 1 else tuple(passed)


_functions = SimpleNamespace(
    AccumulateGrad=AccumulateGrad, DelayedError=DelayedError, UndefinedGrad=UndefinedGrad
)
_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _get_current_graph_task_keep_graph=_get_current_graph_task_keep_graph,
    _saved_tensors_hooks_is_enabled=may_set_hooks,
    _unsafe_set_version_counter=_unsafe_set_version_counter,
)
