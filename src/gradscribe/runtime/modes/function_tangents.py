"""Forward mode through custom Functions: the tangents that `jvp` gives, checked and attached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradscribe.runtime.modes import dual
from gradscribe.runtime.modes.function_node import FunctionNode, misfit
from gradscribe.runtime.tensors.tensor import Tensor


def attach_tangents(node: FunctionNode, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """In a dual level, give the outputs the tangents that `jvp` computes; it sees Tensors without
    tangents."""
    level = dual.current_level()
    if level is None:
        return
    tangents = [level.tangent(value) for value in inputs]
    if all(tangent is None for tangent in tangents):
        return
    given = node.completed(tangents)
    versions = [None if tangent is None else tangent._counter[0] for tangent in given]
    with level.paused():
        results = node.run_jvp(given)
    if len(results) != len(outputs):
        raise misfit(
            node.function.jvp,
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(results)})",
        )
    for position, (output, tangent) in enumerate(zip(outputs, results, strict=True)):
        if tangent is not None:
            _check(node, position, output, tangent, inputs, given, versions)
            level.attach(output, tangent)


def _check(
    node: FunctionNode,
    position: int,
    output: Any,
    tangent: Any,
    inputs: Sequence[Any],
    given: Sequence[Tensor | None],
    versions: Sequence[int | None],
) -> None:
    """Raise the error for a tangent that does not fit its output. versions: of the inputs'
    tangents, before `jvp` was run."""
    if not isinstance(tangent, Tensor):
        raise misfit(
            node.function.jvp,
            f"expected Variable or None (got {type(tangent).__name__}) for grad output {position}.",
        )
    if not node.gives_gradient(position):
        raise misfit(
            node.function.jvp,
            f"Function's jvp returned a gradient at position {position}, but  the corresponding "
            "forward output is not a differentiable Tensor.You should return None at that position "
            "instead.",
        )
    if output.shape != tangent.shape:
        raise misfit(node.function.jvp, dual.other_size(output.shape, tangent.shape))
    for value, of_input, version in zip(inputs, given, versions, strict=True):
        if value is output:
            if tangent is not of_input or tangent._counter[0] == version:
                raise misfit(
                    node.function.jvp,
                    "An inplace custom Function is not modifying the forward mode gradients "
                    "inplace. If the forward is modifying an input inplace, then the jvp function "
                    "must modify the corresponding gradient inplace.",
                )
            return
    if output._view_of is not None:
        _check_view(node, output, tangent, inputs, given)


def _check_view(
    node: FunctionNode,
    output: Tensor,
    tangent: Tensor,
    inputs: Sequence[Any],
    given: Sequence[Tensor | None],
) -> None:
    """The tangent of a view of an input must be a view of the input's tangent."""
    for value, of_input in zip(inputs, given, strict=True):
        if of_input is None or _base(value) is not _base(output):
            continue
        if tangent._view_of is None:
            raise misfit(
                node.function.jvp,
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view.",
            )
        if _base(tangent) is not _base(of_input):
            raise misfit(
                node.function.jvp,
                "A custom Function is returning a view but the jvp is not returning a view of the "
                + ("given grad input." if of_input._view_of is None else _SAME_BASE),
            )
        return


_SAME_BASE = "same base as the given grad input."


def _base(tensor: Tensor) -> Tensor:
    return tensor if tensor._view_of is None else tensor._view_of.base
