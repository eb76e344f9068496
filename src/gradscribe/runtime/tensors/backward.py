"""`autograd.backward`, `autograd.grad` and `Tensor.backward`: runs of the engine, checked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.size import Size
from gradscribe.runtime.graph.engine import Root, Run, Sinks
from gradscribe.runtime.graph.function_context import hidden
from gradscribe.runtime.graph.grad_mode import is_grad_enabled
from gradscribe.runtime.graph.node import NO_EDGE, Edge, GradientEdge, Node
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap
from gradscribe.tracebacks import shorten, shortened

Tensors = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


@shortened
def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Tensors | None = None,
) -> None:
    """Accumulate the gradients of the tensors' sum, weighted by grad_tensors, in the leaves.

    grad_tensors: of the tensors' shapes; None where a tensor has one element. inputs: only in
    these Tensors. retain_graph: keep the graph for another backward (as create_graph does).
    create_graph: record the backward itself, so that gradients can be differentiated.
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            DeprecationWarning,
            stacklevel=3,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None and not isinstance(inputs, Tensor) and len(inputs) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    create_graph = bool(create_graph)
    if create_graph:
        warnings.warn(_CYCLE, stacklevel=4)
    roots = _roots(as_tensors(tensors), as_gradients(grad_tensors, tensors))
    goals = None if inputs is None else _goals(as_tensors(inputs))
    retain_graph = create_graph if retain_graph is None else retain_graph
    Run(retain_graph, create_graph, goals=goals).run(roots)


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the graph to avoid this. If you have to use this function, make sure to reset the "
    ".grad fields of your parameters to None after use to break the cycle and avoid the leak."
)


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
    *,
    grad_variables: Any = None,
) -> None:
    """Accumulate the gradient of this Tensor in the leaves; see `autograd.backward`."""
    try:
        backward(self, gradient, retain_graph, create_graph, grad_variables, inputs)
    except Exception as error:
        shorten(error)
        raise


tensor_backward.__name__, tensor_backward.__qualname__ = "backward", "Tensor.backward"


@shortened
def grad(
    outputs: Tensors,
    inputs: Any,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of the outputs' sum, weighted by grad_outputs, with respect to the inputs: a
    tuple, or for a dictionary of inputs a dictionary.

    allow_unused: None instead of an error for an input that the outputs do not depend on.
    materialize_grads: zeros for those. For the other arguments see `backward`.
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use gs.autograd.backward.",
            FutureWarning,
            stacklevel=3,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    if isinstance(inputs, Mapping):
        options = (retain_graph, create_graph, only_inputs, allow_unused, is_grads_batched)
        values = tuple(inputs.values())
        found = grad(outputs, values, grad_outputs, *options, materialize_grads)
        return dict(zip(inputs, found, strict=True))
    wanted = as_tensors(inputs)
    if not wanted:
        raise _NoInputsError(
            "grad requires non-empty inputs: `inputs` argument to `grad()` cannot be empty."
        )
    if is_grads_batched:
        return _batched(outputs, wanted, grad_outputs, retain_graph, create_graph, allow_unused)
    roots = _roots(as_tensors(outputs), as_gradients(grad_outputs, outputs))
    edges = [_edge_of_input(tensor) for tensor in wanted]
    gradients: list[Tensor | None] = [None] * len(wanted)
    sinks: Sinks = {}
    for position, (node, index) in enumerate(edges):
        if node is not None:
            sinks.setdefault(node, []).append((index, partial(_keep, gradients, position)))
    create_graph = bool(create_graph)
    Run(create_graph if retain_graph is None else retain_graph, create_graph, sinks).run(roots)
    if materialize_grads:
        return tuple(
            _zeros_like(tensor, create_graph) if gradient is None else gradient
            for gradient, tensor in zip(gradients, wanted, strict=True)
        )
    if not allow_unused:
        _refuse_unused(gradients)
    return tuple(gradients)


class _NoInputsError(ValueError, RuntimeError):
    """The error for no inputs at all, which versions of PyTorch raise as the one or the other."""


def _edge_of_input(tensor: Tensor | GradientEdge) -> Edge:
    """Where the gradient of a Tensor arrives that is differentiated by."""
    if isinstance(tensor, GradientEdge):
        return hidden(tensor.node), tensor.output_nr
    if not isinstance(tensor, Tensor):
        raise RuntimeError(
            f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}"
        )
    if not tensor.requires_grad:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    if tensor._view_of is not None:
        tensor._view_of.refresh(tensor, placed=True)
    return edge_of(tensor)


def _keep(found: list[Tensor | None], position: int, cotangent: Any) -> None:
    if isinstance(cotangent, Tensor):
        found[position] = cotangent
    elif cotangent is not None:
        found[position] = wrap(np.array(cotangent))


def _refuse_unused(found: Sequence[Tensor | None]) -> None:
    for position, gradient in enumerate(found):
        if gradient is None:
            raise RuntimeError(
                f"The differentiated Tensor at index {position} appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior."
            )


def _zeros_like(tensor: Tensor | GradientEdge, requires_grad: bool) -> Tensor:
    """The gradient of an input that the outputs do not depend on."""
    if isinstance(tensor, GradientEdge):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    zeros = wrap(np.zeros_like(tensor.array))
    zeros._needs_grad = requires_grad
    return zeros


def _batched(
    outputs: Tensors,
    inputs: Sequence[Tensor],
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
) -> tuple[Tensor | None, ...]:
    """One gradient for each entry along the first axis of grad_outputs, stacked."""
    if grad_outputs is None:
        raise ValueError("is_grads_batched=True expects grad_outputs to be given")
    batches = as_tensors(grad_outputs)
    for position, (output, batch) in enumerate(zip(as_tensors(outputs), batches, strict=True)):
        _check_batch(position, _kind(output)[0], batch)
    count = len(batches[0])
    rows = [
        grad(
            outputs,
            inputs,
            [batch[i] for batch in batches],
            True if i < count - 1 else retain_graph,
            create_graph,
            allow_unused=allow_unused,
        )
        for i in range(count)
    ]
    stack: Any = np.stack
    return tuple(
        None if column[0] is None else stack([c for c in column if c is not None])
        for column in zip(*rows, strict=True)
    )


def _check_batch(position: int, shape: tuple[int, ...], batch: Tensor) -> None:
    if batch.array.shape[1:] != shape or batch.array.ndim == 0:
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as "
            "the batch dimension. The sizes of the remaining dimensions are expected to match the "
            f"shape of corresponding output, but a mismatch was detected: grad_output[{position}] "
            f"has a shape of {Size(batch.array.shape[1:])} and output[{position}] has a shape of "
            f"{Size(shape)}. If you only want some tensors in `grad_output` to be considered "
            "batched, consider using vmap."
        )


def _goals(inputs: Sequence[Any]) -> set[Node]:
    """For `backward(inputs=...)`: the nodes that are to be run. Leaves accumulate as ever, other
    Tensors retain their gradient."""
    goals = set()
    for tensor in inputs:
        if isinstance(tensor, Tensor):
            tensor.retain_grad()
        node, _ = _edge_of_input(tensor)
        if node is not None:
            goals.add(node)
    return goals


def as_tensors(tensors: Tensors) -> Sequence[Any]:
    """One Tensor or several, as a sequence."""
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def as_gradients(gradients: Any, tensors: Tensors) -> Sequence[Tensor | None]:
    """What was given for gradients, one entry for each tensor."""
    count = len(as_tensors(tensors))
    if gradients is None:
        return (None,) * count
    given = tuple(gradients) if isinstance(gradients, (tuple, list)) else (gradients,)
    for gradient in given:
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
            )
    return given


def _roots(tensors: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> list[Root]:
    if len(tensors) != len(gradients):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    roots: list[Root] = []
    for position, (tensor, gradient) in enumerate(zip(tensors, gradients, strict=True)):
        shape, dtype = _kind(tensor)
        edge: Edge | None = None
        if isinstance(tensor, GradientEdge):
            edge = hidden(tensor.node), tensor.output_nr
        requires_grad = edge is not None or tensor.requires_grad
        if gradient is None:
            seed = _one(shape, dtype, requires_grad)
        else:
            seed = _fitting(position, gradient, shape, dtype)
        start = edge or (edge_of(tensor) if requires_grad else NO_EDGE)
        if start[0] is None:
            raise RuntimeError(
                f"element {position} of tensors does not require grad and does not have a grad_fn"
            )
        roots.append((start, seed))
    return roots


def _kind(tensor: Any) -> tuple[tuple[int, ...], dtypes.Dtype]:
    """Shape and dtype of a Tensor, or of what an edge stands for."""
    if isinstance(tensor, Tensor):
        return tensor.array.shape, tensor.array.dtype
    if isinstance(tensor, GradientEdge):
        kind = hidden(tensor.node).output_types[tensor.output_nr]
        return kind[0], np.dtype(kind[1])
    raise TypeError(
        f"expected Tensors or GradientEdges to differentiate, but got {type(tensor).__name__}"
    )


def _one(shape: tuple[int, ...], dtype: dtypes.Dtype, requires_grad: bool) -> Tensor:
    """The cotangent that a root starts from where none is given."""
    one = np.ones(shape, dtype)
    if requires_grad and one.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if requires_grad:
        check_real(dtype)
    return wrap(one)


def check_real(dtype: dtypes.Dtype) -> None:
    """Refuse to start from one where the root is not a real number."""
    if dtype.kind != "f":
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs "
            f"but got {dtypes.dtype_name(dtype)}"
        )


def _fitting(
    position: int, gradient: Tensor, shape: tuple[int, ...], dtype: dtypes.Dtype
) -> Tensor:
    """The cotangent that was given for a root, checked and of the root's dtype."""
    given = gradient.array
    if given.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of {Size(given.shape)} and "
            f"output[{position}] has a shape of {Size(shape)}."
        )
    if given.dtype == dtype:
        return gradient
    if (given.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{position}] has a dtype of "
            f"{dtypes.dtype_name(given.dtype)} and output[{position}] has a dtype of "
            f"{dtypes.dtype_name(dtype)}."
        )

    if gradient.requires_grad and is_grad_enabled():
        return gradient.to(dtype)
    return wrap(given.astype(dtype))
