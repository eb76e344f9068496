"""The outputs of a custom Function's `forward`, as its caller gets them: with a place in the graph.

An output may be a new Tensor, a view, an input as it is, or an input that was changed in place
and marked dirty. Each is wired to the node accordingly, and what `backward` needs is saved.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from gradscribe.errors import NoDerivativeError
from gradscribe.ir.places import place_of
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.node import NO_EDGE
from gradscribe.runtime.modes.function_node import FunctionNode, Saved
from gradscribe.runtime.operations.inplace import overwrite
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap
from gradscribe.runtime.tensors.views import CUSTOM, MULTIPLE, View


def finish(
    node: FunctionNode,
    inputs: Sequence[Any],
    outputs: list[Any],
    versions: Sequence[int | None] | None,
) -> list[Any]:
    """The outputs as forward's caller gets them, wired to the node if that is recorded. versions:
    those that its inputs had before, if it is."""
    recording = versions is not None
    if versions is not None:
        _check_unmarked(node, inputs, versions)
    _check_dirty(node, inputs, outputs)
    node.describe_outputs(outputs)
    if recording:
        node.next_edges = [
            edge_of(value) if needed else NO_EDGE
            for value, needed in zip(inputs, node.wanted, strict=True)
        ]
        rewritten = [o for i, o in enumerate(outputs) if node.gives_gradient(i)]
        for tensor in node.dirty:
            if is_in(tensor, rewritten):
                _refuse_dirty(tensor, inputs, outputs)
    results = [_wired(node, i, output, inputs, recording) for i, output in enumerate(outputs)]
    if recording:
        _refuse_to_save(node.to_save)
        node.keep([Saved(t, _position(t, node, outputs, inputs)) for t in node.to_save])
    return results


def is_in(tensor: Any, values: Sequence[Any]) -> bool:
    """Whether this very Tensor is among the values."""
    return id(tensor) in map(id, values)


def _check_dirty(node: FunctionNode, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    for tensor in node.dirty:
        if not is_in(tensor, outputs):
            raise RuntimeError(NOT_RETURNED)
        if is_in(tensor, inputs):
            if isinstance(tensor, Tensor):  # a plain array has no versions
                tensor._counter[0] += 1
        elif tensor._view_of is not None:
            raise RuntimeError(NO_INPUT)
        else:
            warnings.warn(NO_INPUT, stacklevel=5)


def _check_unmarked(
    node: FunctionNode, inputs: Sequence[Any], versions: Sequence[int | None]
) -> None:
    """Refuse what forward has changed in place without saying so. versions: those of the inputs
    that are differentiated, before it ran."""
    for value, before in zip(inputs, versions, strict=True):
        if before is not None and value._counter[0] != before and not is_in(value, node.dirty):
            place = place_of(node.function.forward)
            raise NoDerivativeError(*unmarked(node.function.__name__), place)


def versions_of(node: FunctionNode, inputs: Sequence[Any]) -> list[int | None]:
    """The versions of the inputs that are differentiated; None for others."""
    return [
        value._counter[0] if needed else None
        for value, needed in zip(inputs, node.wanted, strict=True)
    ]


def unmarked(function: str) -> tuple[str, str]:
    """What is said of a Function that has changed an input, and the advice."""
    return (
        f"`{function}.forward` changed in place what is differentiated, without `mark_dirty`",
        "call `ctx.mark_dirty(x)` and return `x`; or change a copy of it",
    )


NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The "
    "inputs that are modified inplace must all be outputs of the Function."
)
NO_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
    "mutated should be passed to ctx.mark_dirty()."
)
SEVERAL = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function "
    "cannot return more than one Tensor. This is not supported by the current autograd engine. You "
    "should either make sure the input is not a view (using .clone() for example) or make your "
    "Function only return one Tensor (potentially splitting it into two Functions: one doing the "
    "inplace that returns a single Tensor and a second one that does the other operations). You "
    "can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)


def _refuse_dirty(tensor: Tensor, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Raise the error for an input that may not be changed in place where that is recorded."""
    if not is_in(tensor, inputs):
        return
    base = tensor
    if tensor._view_of is not None:
        if sum(isinstance(output, Tensor) for output in outputs) > 1:
            raise RuntimeError(SEVERAL)
        tensor._view_of.refuse(tensor)
        base = tensor._view_of.base
    if base.requires_grad and base._node is None:
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
            if base is tensor
            else "a view of a leaf Variable that requires grad is being used in an in-place "
            "operation."
        )


def _wired(
    node: FunctionNode, index: int, output: Any, inputs: Sequence[Any], recording: bool
) -> Any:
    """One output with its place in the graph. A Tensor that is returned more than once keeps the
    last place; but an input that is handed on is another Tensor each time."""
    if not isinstance(output, Tensor):
        return output
    is_input, is_dirty = is_in(output, inputs), is_in(output, node.dirty)
    if not (recording and node.gives_gradient(index)):
        output = _cut(output, is_input, is_dirty)
        if not is_input:
            _mark_view(node, output, recording)
        return output
    if is_input and is_dirty:
        _take_place(output, node, index)
        return output
    if is_input:
        output = _alias(output)
    elif output._node not in (None, node) and output._view_of is None:
        output = output.detach()
    _mark_view(node, output, recording)
    output._node, output._index, output._needs_grad = node, index, True
    return output


def _cut(output: Tensor, is_input: bool, is_dirty: bool) -> Tensor:
    """An output without derivative. An input keeps its own place in the graph; a view that
    `forward` made stays one, as any that is made where nothing is recorded."""
    if not output.requires_grad:
        return _alias(output) if is_input and not is_dirty else output
    if is_input or output._view_of is None:
        return output.detach()
    return output


def _alias(tensor: Tensor) -> Tensor:
    """A view of an input that is returned as it is."""
    alias = wrap(tensor.array)
    alias._counter = tensor._counter
    alias._needs_grad = None if tensor._needs_grad is None else False
    if tensor._view_of is None:
        alias._view_of = View(tensor, None)
    else:
        alias._view_of = tensor._view_of.another()
    return alias


def _mark_view(node: FunctionNode, output: Tensor, recording: bool) -> None:
    """A view that `forward` made may not be changed in place: the user's backward is the
    derivative of it, and would be lost."""
    view = output._view_of
    if view is not None and grad_enabled():
        count = sum(map(node.gives_gradient, range(node.cotangent_count)))
        view.origin = MULTIPLE if recording and count > 1 else CUSTOM


def _take_place(output: Tensor, node: FunctionNode, index: int) -> None:
    """Make an input that was changed in place the output of the node, as after any other change
    in place: of a view, the base is rewritten."""
    if output._view_of is None:
        output._move(node, index)
    else:
        overwrite(output, (node, index))


def _refuse_to_save(values: Sequence[Any]) -> None:
    """Raise the error for what was given to `save_for_backward` and is no Tensor."""
    for position, value in enumerate(values):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {position} is of type "
                f"{type(value).__name__}"
            )


def _position(
    tensor: Tensor | None, node: FunctionNode, outputs: Sequence[Any], inputs: Sequence[Any]
) -> int | None:
    """The number of the output that a saved Tensor is (the last), if it is no input that keeps
    its place in the graph."""
    numbers = [index for index, output in enumerate(outputs) if output is tensor]
    if tensor is None or not numbers:
        return None
    if is_in(tensor, inputs) and not (
        is_in(tensor, node.dirty) and node.gives_gradient(numbers[0])
    ):
        return None
    return numbers[-1]
