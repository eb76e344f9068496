"""`autograd.backward`, `autograd.grad` and `Tensor.backward`: runs of the engine, checked."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gradscribe.runtime.engine import Root, Run, Sinks
from gradscribe.runtime.grad_mode import is_grad_enabled
from gradscribe.runtime.node import AccumulateGrad, Edge, GradientEdge, accumulate
from gradscribe.runtime.tensor import Tensor, edge_of, wrap

Tensors = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


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
            stacklevel=2,
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
    roots = _roots(as_tensors(tensors), as_gradients(grad_tensors, tensors), create_graph)
    sinks = None if inputs is None else _accumulating_sinks(as_tensors(inputs), create_graph)
    Run(create_graph if retain_graph is None else retain_graph, create_graph, sinks).run(roots)


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
    backward(self, gradient, retain_graph, create_graph, grad_variables, inputs)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of the outputs' sum, weighted by grad_outputs, with respect to the inputs.

    allow_unused: None instead of an error for an input that the outputs do not depend on.
    materialize_grads: zeros for those. For the other arguments see `backward`.
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    wanted = as_tensors(inputs)
    if not wanted:
        raise ValueError("grad requires non-empty inputs.")
    if is_grads_batched:
        return _batched(outputs, wanted, grad_outputs, retain_graph, create_graph, allow_unused)
    edges = [_edge_of_input(tensor) for tensor in wanted]
    found: list[Tensor | None] = [None] * len(wanted)
    sinks: Sinks = {}
    for position, (node, index) in enumerate(edges):
        assert node is not None
        sinks.setdefault(node, []).append((index, partial(_keep, found, position)))
    roots = _roots(as_tensors(outputs), as_gradients(grad_outputs, outputs), create_graph)
    Run(create_graph if retain_graph is None else retain_graph, create_graph, sinks).run(roots)
    return _finished(found, wanted, bool(allow_unused) or materialize_grads, materialize_grads)


def _edge_of_input(tensor: Tensor | GradientEdge) -> Edge:
    """Where the gradient of a Tensor arrives that is differentiated by."""
    if isinstance(tensor, GradientEdge):
        return tensor
    if not tensor.requires_grad:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge_of(tensor)


def _keep(found: list[Tensor | None], position: int, cotangent: Any) -> None:
    if isinstance(cotangent, Tensor):
        found[position] = cotangent
    elif cotangent is not None:
        found[position] = wrap(np.array(cotangent))


def _finished(
    found: list[Tensor | None], wanted: Sequence[Tensor], allow_unused: bool, zeros: bool
) -> tuple[Tensor | None, ...]:
    if None in [g if g is None else 0 for g in found] and not allow_unused:
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. "
            "Set allow_unused=True if this is the desired behavior."
        )
    return tuple(
        wrap(np.zeros_like(tensor.array)) if gradient is None and zeros else gradient
        for gradient, tensor in zip(found, wanted, strict=True)
    )


def _batched(
    outputs: Tensors,
    inputs: Sequence[Tensor],
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
) -> tuple[Tensor | None, ...]:
    """One gradient for each entry along the first axis of grad_outputs, stacked."""
    from gradscribe.runtime import shaping

    batches = as_tensors(grad_outputs)
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
    return tuple(
        None if column[0] is None else shaping.stack([c for c in column if c is not None])
        for column in zip(*rows, strict=True)
    )


def _accumulating_sinks(inputs: Sequence[Tensor], create_graph: bool) -> Sinks:
    """For `backward(inputs=...)`: leaves accumulate as ever, other Tensors in a sink."""
    sinks: Sinks = {}
    for tensor in inputs:
        if isinstance(tensor, GradientEdge):
            raise RuntimeError("GradientEdges as `inputs` of `backward()` are not supported")
        node, index = _edge_of_input(tensor)
        assert node is not None
        waiting = sinks.setdefault(node, [])
        sink = partial(_accumulate_copy, node, tensor, create_graph)
        waiting.append((index, sink))
    return sinks


def _accumulate_copy(node: Any, tensor: Tensor, create_graph: bool, cotangent: Any) -> None:
    if cotangent is None:
        return
    if isinstance(node, AccumulateGrad):
        node.backward([cotangent], create_graph)
        return
    own = cotangent.clone() if isinstance(cotangent, Tensor) else np.array(cotangent)
    accumulate(tensor, own, create_graph)


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


def _roots(
    tensors: Sequence[Tensor], gradients: Sequence[Tensor | None], create_graph: bool
) -> list[Root]:
    if len(tensors) != len(gradients):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    roots: list[Root] = []
    for position, (tensor, gradient) in enumerate(zip(tensors, gradients, strict=True)):
        if isinstance(tensor, GradientEdge):
            assert gradient is not None, "a GradientEdge needs its gradient to be given"
            roots.append((tensor, gradient if create_graph else gradient.array))
            continue
        seed = _seed(position, tensor, gradient)
        if not tensor.requires_grad:
            raise RuntimeError(
                f"element {position} of tensors does not require grad and does not have a grad_fn"
            )
        roots.append((edge_of(tensor), seed if create_graph else seed.array))
    return roots


def _seed(position: int, tensor: Tensor, gradient: Tensor | None) -> Tensor:
    """The cotangent that a root starts from: what was given, checked, or one."""
    array = tensor.array
    if gradient is None:
        if tensor.requires_grad and array.size != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if tensor.requires_grad and array.dtype.kind != "f":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs "
                f"but got torch.{array.dtype.name}"
            )
        return wrap(np.ones(array.shape, array.dtype))
    if gradient.array.shape != array.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of {gradient.shape} and "
            f"output[{position}] has a shape of {tensor.shape}."
        )
    if gradient.array.dtype == array.dtype:
        return gradient
    from gradscribe.runtime import functions

    if gradient.requires_grad and is_grad_enabled():
        return functions.to_dtype(gradient, array.dtype)
    return wrap(gradient.array.astype(array.dtype))
