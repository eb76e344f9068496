"""The path of every eager operation.

An eager operation is a NumPy function (or a Python function over arrays) applied to the arrays
of Tensors. Where nothing is recorded it is just called. Otherwise the compiler is asked once
for its `Derivatives` (see `kernel.py`) at the operands' types, and the answer is kept under
a key of raw dtypes and shapes, so that a later call is one dictionary look-up, the compiled
forward, and one node.

Compiled functions come the other way: whoever has a
`Derivatives` makes a `Kernel` of it with `compiled_kernel`, once, and calls `apply_compiled` at
each call.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import Operand, SliceOf
from gradscribe.ir.probing import plain_number
from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.eager_operation import Operation as Operation
from gradscribe.runtime.arrays.eager_operation import unwarned
from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.arrays.kinds import kind_of_array
from gradscribe.runtime.arrays.of_result import OfResult, derivatives_of_result
from gradscribe.runtime.arrays.recorded_composites import backward_of
from gradscribe.runtime.arrays.saved_names import names_at
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.inference import SAVED, Untracked, all_inference, is_inference
from gradscribe.runtime.graph.modes import (
    MODES,
    call_name,
    tell_finished,
    tell_recorded,
    tell_returned,
    timed,
)
from gradscribe.runtime.graph.node import NO_EDGE, Node
from gradscribe.runtime.operations.compiled_node import CompiledNode, compiled_node_class
from gradscribe.runtime.operations.drawing import States
from gradscribe.runtime.operations.joined import is_join, join
from gradscribe.runtime.operations.kernel import (
    AdjointByOperations,
    Derivatives,
    Kernel,
    Point,
    signature,
)
from gradscribe.runtime.operations.operation import node_class
from gradscribe.runtime.operations.provider import KERNELS, derivatives_of
from gradscribe.runtime.operations.provider import set_provider as set_provider
from gradscribe.runtime.operations.saved_values import arrays_in, holds_result
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap, wrap_result
from gradscribe.runtime.tensors.views import Step, unlocked, view_by

_MOST_KERNELS = 1 << 14


def apply(
    operation: Operation,
    operands: Sequence[Any],
    static: tuple[Any, ...] = (),
    *,
    watched: bool = True,
    counted: bool = False,
) -> Tensor:
    """Run an operation on Tensors, arrays and numbers, and record it where that is wanted.

    static: the values of `operation.parameters`, hashable. watched: whether the modes that are
    on are told. counted: whether it is known how many elements there are to average.
    """
    if operation.counts_elements and not counted and operation.has_too_few(operands[0], static):
        with unwarned():
            result = apply(operation, operands, static, watched=watched, counted=True)
        operation.tell_of_few(operands[0], static, result)
        return result
    if MODES and watched:
        with timed(f"aten::{call_name(operation.name)}", operands):
            result = apply(operation, operands, static, watched=False, counted=True)
            tell_finished(operation, operands, static, result)
        return result
    for operand in operands:
        if isinstance(operand, Tensor) and (
            operand._needs_grad if operand._view_of is None else operand.requires_grad
        ):
            is_recorded = grad_enabled() and operation.differentiable
            if is_recorded and (operand._needs_grad is True or not all_inference(operands)):
                return _record(operation, operands, static)
            break
    arrays = [o.array if isinstance(o, Tensor) else o for o in operands]
    out = operation.call(arrays, static)
    array = out if type(out) is np.ndarray else np.asarray(out)
    if not operation.view:
        return wrap(_own(array, arrays))
    result = wrap(array)
    mark_view(result, operation, operands, static)
    return result


def _own(array: Any, operands: Sequence[Any]) -> Any:
    """The result of an operation that gives no views, in memory of its own: NumPy may give the
    operand's all the same (of a turn by no angle, a first power)."""
    is_part = array.base is not None
    for given in operands:
        if given is array or (
            is_part and isinstance(given, np.ndarray) and np.may_share_memory(given, array)
        ):
            return array.copy(order="K")
    return array


@silent
def _record(operation: Operation, operands: Sequence[Any], static: tuple[Any, ...]) -> Tensor:
    if operation.sequence and is_join(operation, static):
        return join(operation, operands, static)
    key: list[Any] = [operation, static]
    if static:
        key += map(type, static)
    leaves: list[Any] = []
    counters: list[list[int] | None] = []
    expected: list[int] = []
    has_arrays = False
    for operand in operands:
        if isinstance(operand, Tensor):
            needs_grad = operand._needs_grad
            if operand._view_of is not None:
                operand._view_of.refresh(operand, placed=True)
                needs_grad = operand._needs_grad or operand._view_of.base_requires_grad
            array = operand.array
            counter = operand._counter
            leaves.append(array)
            key += (array.dtype, array.shape, needs_grad)
            counters.append(counter)
            expected.append(counter[0])
        else:
            leaf = np.bool_(operand) if operand.__class__ is bool else plain_number(operand)
            leaves.append(leaf)
            has_arrays = has_arrays or isinstance(operand, np.ndarray)
            key += _signature(leaf)
            counters.append(None)
            expected.append(0)
    kernel = KERNELS.get(tuple(key))
    if kernel is None:
        kernel = _new_kernel(tuple(key), operation, operands, leaves, static)
    if has_arrays:
        leaves = kernel.owned(leaves, counters)
    if kernel.constants:
        leaves += kernel.constants
        counters += (None,) * len(kernel.constants)
        expected += (0,) * len(kernel.constants)
    try:
        (out,), record = kernel.forward(*leaves)
    except ValueError:
        operation.call(leaves[: len(operands)], static)  # says it in PyTorch's words
        raise
    if not kernel.converters:
        kernel.learn((out,), record, leaves)
        if kernel.by_operations is not None and True not in kernel.spared:
            unread = _unread(kernel, record, leaves, out)
            kernel.spared = tuple([position in unread for position in range(len(leaves))])
    array = out if type(out) is np.ndarray else np.asarray(out)
    if not operation.view:
        array = _own(array, leaves)
    for position, is_spared in enumerate(kernel.spared):
        if is_spared:
            leaves[position] = kind_of_array(leaves[position]).stand_in
    edges = [edge_of(operands[position]) for position in kernel.active]
    types = kind_of_array(array).types
    node = kernel.node_class(kernel, edges, leaves, record, counters, expected, types)
    result = wrap_result(array, node)
    if operation.view:
        mark_view(result, operation, operands, static)
    if kernel.checks_outputs:
        counters.append(result._counter)
        expected.append(result._counter[0])
    return result


def _signature(operand: Any) -> tuple[Any, ...]:
    """What of an operand that is no Tensor its kernel depends on."""
    if isinstance(operand, np.ndarray):
        return operand.dtype, operand.shape, False
    return (operand.__class__,)


def _new_kernel(
    key: Hashable,
    operation: Operation,
    operands: Sequence[Any],
    leaves: Sequence[Any],
    static: tuple[Any, ...],
) -> Kernel:
    """Ask the compiler; the integers of shapes and indices become operands, too."""
    operation.refuse(leaves)
    constants: list[int] = []
    positions = range(len(leaves))
    args: list[Any] = [Operand(position) for position in positions]
    kwargs = dict(zip(operation.parameters, static, strict=False))
    if operation.positional:
        args[1:] = [_abstracted(value, constants, len(leaves)) for value in static]
        kwargs = {}
    if operation.sequence:
        args = [tuple(args)]
    tensors = [p for p in positions if isinstance(operands[p], Tensor)]
    active = tuple(p for p in tensors if operands[p].requires_grad)
    leaves = [*leaves, *constants]
    derivatives: Derivatives | None = derivatives_of_result(operation, static, leaves)
    try:
        if derivatives is None:
            derivatives = derivatives_of(operation.callee, tuple(args), kwargs, leaves, active)
    except UnsupportedError:
        operation.call(leaves[: len(operands)], static)  # may say more of what is wrong
        raise
    kernel = Kernel(
        derivatives,
        operation.name,
        node_class(operation.node_name([isinstance(o, Tensor) for o in operands], kwargs)),
        _told(operation, operands),
        len(leaves),
        tuple(constants),
        active if derivatives.linear else (),
    )
    kernel.call = operation, static
    kernel.by_operations = _by_operations(operation, static, derivatives)
    if any(p in kernel.checked and is_inference(operands[p]) for p in tensors):
        raise RuntimeError(SAVED)
    if len(KERNELS) >= _MOST_KERNELS:
        KERNELS.clear()
    KERNELS[key] = kernel
    return kernel


def _told(operation: Operation, operands: Sequence[Any]) -> tuple[int, ...]:
    """The positions of the operands that `next_functions` tells of."""
    is_reflected = operation.reflected and not isinstance(operands[0], Tensor)
    wraps = operation.wraps_numbers and not is_reflected
    untold = np.ndarray if wraps else object
    return tuple(
        position
        for position, operand in enumerate(operands)
        if isinstance(operand, Tensor) or not isinstance(operand, untold)
    )


def _by_operations(
    operation: Operation, static: tuple[Any, ...], derivatives: Derivatives
) -> AdjointByOperations | None:
    own = backward_of(operation, static) if isinstance(derivatives, OfResult) else None
    return derivatives.by_operations if own is None else BackwardOfResult(own, static)


class BackwardOfResult:
    """A backward that reads the cotangent and the result alone."""

    reads: frozenset[int] = frozenset()
    reads_result = True

    def __init__(self, operation: Operation, static: tuple[Any, ...]) -> None:
        self._operation = operation
        self._static = static

    def gradients(self, point: Point, cotangents: Sequence[Any]) -> list[Any]:
        return [apply(self._operation, (cotangents[0], point.result()), self._static)]


def _unread(kernel: Kernel, record: Any, leaves: Sequence[Any], out: Any) -> Collection[int]:
    """The positions of the arrays that no derivative reads, and PyTorch does not save: a result
    that is not in the record is made of all operands."""
    derivative = kernel.by_operations
    assert derivative is not None
    assert kernel.call is not None
    names = names_at(kernel.call[0].saved, kernel.node_class.__name__).values()
    reads_result = derivative.reads_result or "result" in names
    if not names or (reads_result and not holds_result(kernel, record, leaves, out)):
        return ()
    saved = {int(place[1]) for place in names if place.startswith("=")}
    read = {*kernel.checked, *derivative.reads, *saved}
    held = {id(item) for item in arrays_in(record)}
    arrays = (i for i, leaf in enumerate(leaves) if isinstance(leaf, np.ndarray))
    return {i for i in arrays if id(leaves[i]) not in held} - read


def _abstracted(value: Any, constants: list[int], first: int) -> Any:
    """A static argument for the compiler, its non-negative integers appended to constants."""
    if isinstance(value, tuple):
        return tuple(_abstracted(item, constants, first) for item in value)
    if isinstance(value, SliceOf):
        start, stop = (_abstracted(p, constants, first) for p in (value.start, value.stop))
        return SliceOf(start, stop, value.step)
    if type(value) is int and value >= 0:
        constants.append(value)
        return Operand(first + len(constants) - 1)
    return value


def mark_view(
    result: Tensor, operation: Operation, operands: Sequence[Any], static: tuple[Any, ...]
) -> None:
    """Share the version of the viewed Tensor, where the result is a view indeed."""
    viewed = operands[0]
    if not isinstance(viewed, Tensor):
        return
    array, original = result.array, viewed.array
    if (
        array is original
        or array.base is original
        or (array.base is not None and array.base is original.base)
        or np.may_share_memory(array, original)
    ):
        result._counter = viewed._counter
        result.array = unlocked(array, original)
        if is_inference(viewed):
            result._needs_grad = None
            return
        result._view_of = view_by(viewed, Step(operation, operands[1:], static))


def apply_as_view(operation: Operation, input: Tensor, static: tuple[Any, ...] = ()) -> Tensor:
    """A view by an operation whose compiled forward makes a copy."""
    result = apply(operation, (input,), static)
    if result._view_of is None:
        result.array = operation.call((input.array,), static)
        mark_view(result, operation, (input,), static)
    return result


def part(tensor: Tensor, step: Step) -> Tensor:
    """The view that a step leads to, recorded."""
    if not step.operands:
        return apply_as_view(step.operation, tensor, step.static)
    return apply(step.operation, [tensor, *step.operands], step.static)


def compiled_kernel(
    derivatives: Derivatives, inputs: tuple[int, ...], arity: int, node: str = ""
) -> Kernel:
    """What `apply_compiled` needs of a compiled function; made once, where it is kept.

    inputs: the positions of the leaves that are Tensors. arity: the number of leaves. node: the
    name of its nodes, if not that of the function.
    """
    name, count = derivatives.name, len(derivatives.outputs)
    class_ = node_class(node, count) if node else compiled_node_class(f"{name}Backward", count)
    return Kernel(derivatives, name, class_, inputs, arity)


STEMS: dict[Any, str] = {
    getattr(np.linalg, name): f"Linalg{name.title()}"
    for name in ("eig", "eigh", "lstsq", "qr", "slogdet", "svd")
} | {
    composites.var_mean: "VarMean",
    composites.std_mean: "StdMean",
    np.linalg.cholesky: "LinalgCholeskyEx",
    np.linalg.eigvals: "LinalgEig",
    np.linalg.eigvalsh: "LinalgEigh",
    np.linalg.solve: "LinalgSolveEx",
    np.linalg.svdvals: "LinalgSvd",
}
"""The stems of the names of nodes of functions that have no row in the tables."""


@silent
def apply_call(
    callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], leaves: Sequence[Any]
) -> tuple[Any, ...]:
    """The results of `callee(*args, **kwargs)`, where `Operand(i)` stands for leaves[i], a Tensor
    or an array: recorded as one node if that is wanted."""
    tensors = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    active = tuple(i for i in tensors if leaves[i].requires_grad and grad_enabled())
    arrays = [leaf.array if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    shapes = tuple((array.dtype, array.shape) for array in arrays)
    key = (callee, repr((args, kwargs)), shapes, active)
    kernel = KERNELS.get(key)
    if kernel is None:
        derivatives = derivatives_of(callee, args, kwargs, arrays, active)
        name = f"{STEMS.get(callee, derivatives.name)}Backward0"
        kernel = compiled_kernel(derivatives, tuple(tensors), len(leaves), name)
        KERNELS[key] = kernel
    return apply_compiled(kernel, leaves)


def apply_compiled(
    kernel: Kernel, leaves: Sequence[Any], states: States | None = None
) -> tuple[Any, ...]:
    """Run a compiled function as ONE node on its leaves (Tensors, arrays, numbers); returns the
    out leaves: Tensors wired to the node where they have cotangents, other arrays and NumPy's
    numbers as Tensors of their own, other values as they are.

    The active leaves are Tensors that require gradients, or items of lists with such. states: of
    the generators of random numbers before the call, where it has been made already.
    """
    if not MODES:
        return _apply_compiled(kernel, leaves, states)[0]
    with timed(call_name(kernel.stem), leaves):
        results, node = _apply_compiled(kernel, leaves, states)
        tell_recorded(node)
        tell_returned(leaves, [result for result in results if isinstance(result, Tensor)])
    return results


def _apply_compiled(
    kernel: Kernel, leaves: Sequence[Any], states: States | None
) -> tuple[tuple[Any, ...], Node]:
    values: list[Any] = []
    counters: list[list[int] | None] = []
    expected: list[int] = []
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            counter, array = leaf._counter, leaf.array
            values.append(array if array.ndim else array[()])
            counters.append(counter)
            expected.append(counter[0])
        else:
            values.append(leaf)
            counters.append(None)
            expected.append(0)
    if any(type(counters[p]) is Untracked for p in kernel.checked if p < len(counters)):
        raise RuntimeError(SAVED)
    if kernel.drawing and states is None:
        states = kernel.drawing.states(values)
    out, record = kernel.forward(*values)
    if not kernel.converters:
        kernel.learn(out, record)
    active = [leaves[position] for position in kernel.active]
    edges = [edge_of(leaf) if isinstance(leaf, Tensor) else NO_EDGE for leaf in active]
    shapes = [signature(out[position]) for position in kernel.outputs]
    node = kernel.node_class(kernel, edges, values, record, counters, expected, shapes)
    if states is not None:
        assert isinstance(node, CompiledNode)
        node.states = states
    results = list(out)
    for index, position in enumerate(kernel.outputs):
        leaf = out[position]
        array = leaf if type(leaf) is np.ndarray else np.asarray(leaf)
        results[position] = wrap_result(array, node, index)
    for position in kernel.plain_outputs(out):
        results[position] = wrap(np.asarray(out[position]))
    if kernel.checks_outputs:
        counters += [getattr(result, "_counter", None) for result in results]
        expected += [0] * len(results)
    return tuple(results), node
