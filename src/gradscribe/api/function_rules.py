"""The derivatives of an `autograd.Function` in compiled code: its `backward` and its `jvp`.

Each is compiled, if that is possible, otherwise called at run time on Tensors, as eager mode does.
Forward mode of a Function without `jvp` is what its `backward` implies, transposed: eager mode,
which cannot look into `backward`, refuses that.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import spelled
from gradscribe.errors import NoDerivativeError, UnsupportedError
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.calls import handlers, inlining, opaque, own_rules, unpacking
from gradscribe.frontend.calls import iteration_prelude as prelude
from gradscribe.frontend.calls.own_rules import Conforming
from gradscribe.frontend.data import instances
from gradscribe.frontend.data.python_objects import python_object
from gradscribe.frontend.data.structure_parts import Structure
from gradscribe.frontend.data.structures import rebuilt
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import PartialOf, Ref, Static, TupleOf, is_number
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Scalar, Tuple
from gradscribe.primitives.control import RAISE, RUN
from gradscribe.runtime.graph.function import ONCE, Function
from gradscribe.runtime.graph.function_node import check_kind
from gradscribe.runtime.graph.grad_mode import no_grad
from gradscribe.runtime.tensors.tensor import Tensor, wrap

_serial = itertools.count(1)


class Context:
    """The `ctx` of compiled code."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()
        self.saved_for_forward: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materializes_grads = True

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self.saved_for_forward = tensors

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        return self.saved_tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Refused where it is called."""

    def set_materialize_grads(self, value: bool) -> None:
        self.materializes_grads = value


@dataclass(eq=False)
class Rules:
    """The derivative of one call. context: the structure of its `ctx`; inputs: which of the
    arguments are differentiable; outputs: which of the results; of: for each leaf of the context
    the result that it is; materializes: whether gradients are never None; pushes: whether `jvp`
    gives tangents, if there is one."""

    function: type[Function]
    context: Structure
    inputs: tuple[bool, ...]
    outputs: tuple[bool, ...]
    of: tuple[int | None, ...]
    materializes: bool
    pushes: bool = True
    serial: int = field(default_factory=_serial.__next__)

    def __repr__(self) -> str:
        return f"<derivative {self.serial} of {self.function.__name__}>"

    @functools.cached_property
    def by_adjoint(self) -> Rules:
        """The rules whose tangent is what `backward` implies."""
        return replace(self, pushes=False)

    @property
    def pull(self) -> Pull:
        return Pull(self)

    @property
    def push(self) -> Push:
        return Push(self)


@dataclass(eq=False)
class Pull:
    """Called as `(out, inputs, saved, d_out)`, for the cotangents of the inputs."""

    rules: Rules


@dataclass(eq=False)
class Push:
    """Called as `(out, inputs, saved, d_inputs)`, for the tangent of out."""

    rules: Rules


@dataclass(frozen=True, eq=False)
class Backward:
    """How `backward` is called: with what `ctx` kept under that name, and a gradient for each
    result, for one of each argument."""

    rules: Rules
    name = "backward"
    kept = "saved_tensors"

    @property
    def function(self) -> Callable[..., Any]:
        return self.rules.function._backward_rule()

    @property
    def given(self) -> tuple[bool, ...]:
        return self.rules.outputs

    @property
    def wanted(self) -> tuple[bool, ...]:
        return self.rules.inputs

    @property
    def title(self) -> str:
        return f"Function {self.rules.function.__name__}Backward"

    def check_count(self, is_none: Sequence[bool]) -> None:
        """Refuse what is returned if it is not one gradient for each argument (or more of them,
        which are None)."""
        expected = len(self.wanted)
        if len(is_none) < expected or not all(is_none[expected:]):
            raise RuntimeError(
                f"function {self.rules.function.__name__}Backward returned an incorrect number of "
                f"gradients (expected {expected}, got {len(is_none)})"
            )


@dataclass(frozen=True, eq=False)
class Forward:
    """How `jvp` is called: with a tangent for each argument, for one of each result."""

    rules: Rules
    name = "jvp"
    kept = "saved_for_forward"

    @property
    def function(self) -> Callable[..., Any]:
        return self.rules.function.jvp

    @property
    def given(self) -> tuple[bool, ...]:
        return self.rules.inputs

    @property
    def wanted(self) -> tuple[bool, ...]:
        return self.rules.outputs

    @property
    def title(self) -> str:
        return f"{self.rules.function.__name__}.jvp"

    def check_count(self, is_none: Sequence[bool]) -> None:
        """Refuse what is returned if it is not one tangent for each result."""
        if len(is_none) != len(self.wanted):
            raise RuntimeError(
                "Function's jvp returned an invalid number of forward gradients (expected "
                f"{len(self.wanted)} but got {len(is_none)})"
            )


Method = Backward | Forward


def _pull(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """The cotangents of the inputs: by `backward`."""
    callee, out, inputs, saved, *rest = arguments
    rules: Rules = callee.value.rules
    if rules.function._backward_rule() is Function.backward:
        raise NoDerivativeError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD",
            f"give `{rules.function.__name__}` a static `backward(ctx, …)`",
            lowering.builder.location,
        )
    d_out = rest[0] if rest else keywords["d_out"]
    single = rules.outputs.count(True) == 1
    gradients = (d_out,) if single else d_out.items
    return _derived(lowering, node, Backward(rules), out, saved, inputs.items, gradients)


def _push(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """The tangent of the results: by `jvp`; without one, what `backward` implies, which is linear
    in the gradients."""
    callee, out, inputs, saved, tangents = arguments
    rules: Rules = callee.value.rules
    if rules.function.jvp is Function.jvp or not rules.pushes:
        return _transposed(lowering, node, rules, out, inputs, saved, tangents)
    if not rules.materializes and rules.inputs.count(True) > 1:
        raise NoDerivativeError(
            f"`set_materialize_grads(False)` of `{rules.function.__name__}`, which has several "
            "arguments: which of their tangents are None depends on what runs",
            "leave it out: tangents arrive as zeros",
            lowering.builder.location,
        )
    single = rules.outputs.count(True) == 1
    likes = (out,) if single else out.items
    found = _derived(lowering, node, Forward(rules), out, saved, likes, tangents.items)
    items = tuple(
        _zero(lowering, like) if isinstance(item, Static) and item.value is None else item
        for item, like in zip(found.items, likes, strict=True)
    )
    return items[0] if single else TupleOf(items)


def _derived(
    lowering: Lowering,
    node: Any,
    method: Method,
    out: Any,
    saved: Any,
    likes: Sequence[Any],
    derivatives: Sequence[Any],
) -> TupleOf:
    """What a method of the Function gives: compiled, or called at run time. likes: what its wanted
    results belong to."""
    outs = (out,) if method.rules.outputs.count(True) == 1 else out.items
    leaves = [
        lowering.value(item if number is None else outs[number])
        for item, number in zip(saved.items, method.rules.of, strict=True)
    ]
    contents, views = dict(lowering.contents), dict(lowering.views)
    made = len(lowering.builder.operations)
    try:
        return _compiled(lowering, node, method, leaves, likes, derivatives)
    except NoDerivativeError:
        raise
    except UnsupportedError:
        del lowering.builder.operations[made:]
        lowering.contents, lowering.views = contents, views
    return _called(lowering, method, leaves, likes, derivatives)


def _compiled(
    lowering: Lowering,
    node: Any,
    method: Method,
    leaves: list[Any],
    likes: Sequence[Any],
    derivatives: Sequence[Any],
) -> TupleOf:
    given = iter(derivatives)
    made = len(lowering.builder.operations)
    capture, lowering.capture = lowering.capture, _refuse_capture
    try:
        context = rebuilt(lowering, method.rules.context, leaves)
        kept = attribute(lowering, context, method.kept).items
        kept = TupleOf(tuple(spelled(lowering, node, item, "tensor") for item in kept))
        instances.set_attribute(lowering, context, "saved_tensors", kept)
        arguments = [
            spelled(lowering, node, next(given), "tensor") if known else Static(None)
            for known in method.given
        ]
        result = calls.call(lowering, node, Static(method.function), (context, *arguments), {})
        if any(o.primitive is RAISE for o in lowering.builder.operations[made:]):
            raise UnsupportedError("it raises an exception, whatever it is given")
        results = result.items if isinstance(result, TupleOf) else (result,)
        method.check_count([isinstance(r, Static) and r.value is None for r in results])
        wanted = [item for item, known in zip(results, method.wanted, strict=False) if known]
        for item, like in zip(wanted, likes, strict=True):
            _check_number(lowering, item, like)
        return TupleOf(tuple(spelled(lowering, node, item, "numpy") for item in wanted))
    finally:
        lowering.capture = capture


def attribute(lowering: Lowering, owner: Any, name: str) -> Any:
    """What an object has under a name."""
    cell = instances.cell_of(lowering, owner, name)
    assert cell is not None
    return lowering.contents[cell][name]


def _check_number(lowering: Lowering, item: Any, like: Any) -> None:
    """Refuse a gradient that is complex where its argument is real, or the reverse."""
    given, wanted = (
        lowering.value(i).type if isinstance(i, (Ref, Value)) else None for i in (item, like)
    )
    if isinstance(given, (Array, Scalar)) and isinstance(wanted, (Array, Scalar)):
        check_kind(np.dtype(given.dtype), np.dtype(wanted.dtype))


class _ReadFromOutsideError(UnsupportedError):
    """A method reads what is no argument of it, so it is called at run time."""


def _refuse_capture(name: str, value: Any) -> Any:
    raise _ReadFromOutsideError(name)


def _called(
    lowering: Lowering,
    method: Method,
    leaves: list[Any],
    likes: Sequence[Any],
    derivatives: Sequence[Any],
) -> TupleOf:
    types = tuple(lowering.value(item).type for item in likes)
    name = f"{method.rules.function.__name__}_{method.name}"
    callee = Conforming(_OnTensors(method, len(leaves)), name, len(likes))
    if getattr(method.function, "is_once_differentiable", False):
        callee.refusal = ONCE
    made = opaque.emit(lowering, callee, (*likes, *leaves, *derivatives), {}, Tuple(types), RUN)
    return TupleOf(tuple(unpacking.unpacked(lowering, None, made)))


class _OnTensors:
    """A method on Tensors, given the leaves of its context and the derivatives as arrays."""

    def __init__(self, method: Method, leaves: int) -> None:
        self.method, self.leaves = method, leaves

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        leaves, derivatives = given[: self.leaves], iter(given[self.leaves :])
        method = self.method
        context = python_object(method.rules.context, leaves)
        context.saved_tensors = tuple(map(_as_tensor, getattr(context, method.kept)))
        filled = [_as_tensor(next(derivatives)) if known else None for known in method.given]
        with no_grad():
            results = method.function(context, *filled)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        method.check_count([item is None for item in results])
        wanted = [r for r, known in zip(results, method.wanted, strict=False) if known]
        return tuple(r.array if isinstance(r, Tensor) else r for r in wanted)


def _as_tensor(item: Any) -> Any:
    is_array = isinstance(item, (np.ndarray, float, np.generic)) and not isinstance(item, bool)
    return wrap(np.asarray(item)) if is_array else item


def _transposed(
    lowering: Lowering, node: Any, rules: Rules, out: Any, inputs: Any, saved: Any, tangents: Any
) -> Any:
    pull = PartialOf(Static(Pull(rules)), (out, inputs, saved), {})
    zero = _zero(lowering, out)
    found = calls.call(lowering, node, pull, (), {"d_out": zero})
    active = [i for i, item in enumerate(found.items) if not isinstance(item, Static)]
    if not active:
        return zero
    given = TupleOf(tuple(tangents.items[i] for i in active))
    transposed = (Static(own_rules.PULLBACKS[0]), pull, zero, Static(tuple(active)), given)
    return inlining.inline(lowering, node, prelude.transposed, transposed)


def _zero(lowering: Lowering, out: Any) -> Any:
    if isinstance(out, TupleOf):
        return TupleOf(tuple(_zero(lowering, item) for item in out.items))
    if is_number(out):
        return own_rules.zero_of(lowering, None, out)
    return calls.call(lowering, None, Static(np.zeros_like), (out,), {})


def enter() -> None:
    """Make the derivatives known to the frontend."""
    handlers.OBJECTS.update({Pull: _pull, Push: _push})
