"""`F.apply(…)` of an `autograd.Function` inside of compiled code.

Its `forward` is compiled like any helper, with derivatives cut, and its result handed on by the
operation `given`, whose rule is its `backward`: compiled, too, if that is possible, otherwise
called at run time on Tensors, as eager mode does. What `forward` leaves in `ctx` is saved.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import refused, spelled
from gradscribe.errors import NoDerivativeError, UnsupportedError
from gradscribe.frontend import dependencies
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.calls import handlers, inlining, opaque, own_rules, unpacking
from gradscribe.frontend.calls import iteration_prelude as prelude
from gradscribe.frontend.calls.own_rules import Conforming
from gradscribe.frontend.data import instances
from gradscribe.frontend.data.python_objects import python_object
from gradscribe.frontend.data.structure_parts import Structure
from gradscribe.frontend.data.structures import opened, rebuilt
from gradscribe.frontend.interface import Path
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.memory import storages
from gradscribe.frontend.values import PartialOf, Ref, Static, TupleOf, is_number, may_overlap
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Scalar, Tuple, is_differentiable
from gradscribe.primitives.control import GIVEN, RUN
from gradscribe.runtime.graph.function import Function
from gradscribe.runtime.graph.grad_mode import no_grad
from gradscribe.runtime.tensors.tensor import Tensor, wrap

_serial = itertools.count(1)


class Context:
    """The `ctx` of compiled code."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        return self.saved_tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Refused where it is called."""

    def set_materialize_grads(self, value: bool) -> None:
        """Compiled gradients are never None."""


@dataclass(eq=False)
class Rules:
    """The derivative of one call. context: the structure of its `ctx`; inputs: which of the
    arguments are differentiable; outputs: which of the results; of: for each leaf of the context
    the result that it is."""

    function: type[Function]
    context: Structure
    inputs: tuple[bool, ...]
    outputs: tuple[bool, ...]
    of: tuple[int | None, ...]
    serial: int = field(default_factory=_serial.__next__)

    def __repr__(self) -> str:
        return f"<derivative {self.serial} of {self.function.__name__}>"

    def check_count(self, is_none: Sequence[bool]) -> None:
        """Refuse what `backward` returns if it is not one gradient for each input (or more of
        them, which are None)."""
        expected = len(self.inputs)
        if len(is_none) < expected or not all(is_none[expected:]):
            raise RuntimeError(
                f"function {self.function.__name__}Backward returned an incorrect number of "
                f"gradients (expected {expected}, got {len(is_none)})"
            )

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


# -- forward -------------------------------------------------------------------------------------


def _apply(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`F.apply(*inputs)`."""
    receiver, *inputs = arguments
    function: type[Function] = receiver.value
    for name in ("forward", "backward", "setup_context"):
        dependencies.depend(lowering, Path(function).attribute(name), getattr(function, name))
    needed = tuple(_is_differentiable(lowering, item) for item in inputs)
    flags = TupleOf(tuple(map(Static, needed)))
    context = calls.call(lowering, node, Static(Context), (flags,), {})
    result = _forward(lowering, node, function, context, inputs, keywords)
    items = result.items if isinstance(result, TupleOf) else (result,)
    marked = _attribute(lowering, context, "non_differentiable").items
    outputs = tuple(
        _is_differentiable(lowering, item) and not any(_is_same(item, m) for m in marked)
        for item in items
    )
    if not (any(needed) and any(outputs)) or lowering.cutting:
        return result
    made = _given(lowering, node, function, context, (inputs, needed), (items, outputs))
    rest = iter(made)
    items = tuple(next(rest) if known else item for item, known in zip(items, outputs, strict=True))
    return TupleOf(items) if isinstance(result, TupleOf) else items[0]


def _forward(
    lowering: Lowering,
    node: Any,
    function: type[Function],
    context: Any,
    inputs: list[Any],
    keywords: Any,
) -> Any:
    cutting, lowering.cutting = lowering.cutting, True
    try:
        if function.setup_context is Function.setup_context:
            given = (context, *inputs)
            return calls.call(lowering, node, Static(function.forward), given, keywords)
        result = calls.call(lowering, node, Static(function.forward), tuple(inputs), keywords)
        given = (context, TupleOf(tuple(inputs)), result)
        calls.call(lowering, node, Static(function.setup_context), given, {})
        return result
    finally:
        lowering.cutting = cutting


def _given(
    lowering: Lowering,
    node: Any,
    function: type[Function],
    context: Any,
    given: tuple[Any, tuple[bool, ...]],
    found: tuple[Any, tuple[bool, ...]],
) -> list[Any]:
    """The differentiable results, as functions of the differentiable inputs."""
    inputs = [item for item, known in zip(*given, strict=True) if known]
    outputs = [item for item, known in zip(*found, strict=True) if known]
    saved = opened(lowering, node, context)
    values = [lowering.value(item) for item in outputs]
    of = tuple(values.index(leaf) if leaf in values else None for leaf in saved.leaves)
    rules = Rules(function, saved.structure, given[1], found[1], of)
    single = len(values) == 1
    value = values[0] if single else lowering.value(TupleOf(tuple(values)))
    tree = {
        "value": value,
        "inputs": tuple(map(lowering.value, inputs)),
        "saved": tuple(saved.leaves),
        "rules": rules,
    }
    present = {s for item in (*inputs, *outputs) for s in storages(lowering, item)}
    shared = frozenset(
        s
        for s in present
        if any(may_overlap(s, own) for item in outputs for own in storages(lowering, item))
        and any(may_overlap(s, other) for item in inputs for other in storages(lowering, item))
    )
    made = lowering.wrap(lowering.plain(GIVEN, tree), shared)
    return [made] if single else list(made.items)


def _is_differentiable(lowering: Lowering, item: Any) -> bool:
    if not isinstance(item, (Ref, Value)) or opaque.is_opaque(item):
        return False
    type_ = lowering.value(item).type
    return isinstance(type_, (Array, Scalar)) and is_differentiable(type_)


def _is_same(item: Any, other: Any) -> bool:
    if isinstance(item, Ref) and isinstance(other, Ref):
        return item.storage is other.storage and item.path == other.path
    return item is other


def _attribute(lowering: Lowering, owner: Any, name: str) -> Any:
    cell = instances.cell_of(lowering, owner, name)
    assert cell is not None
    return lowering.contents[cell][name]


# -- backward ------------------------------------------------------------------------------------


def _pull(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """The cotangents of the inputs: by `backward` compiled, or called at run time."""
    callee, out, inputs, saved, *rest = arguments
    rules: Rules = callee.value.rules
    d_out = rest[0] if rest else keywords["d_out"]
    contents, views = dict(lowering.contents), dict(lowering.views)
    made = len(lowering.builder.operations)
    try:
        return _compiled(lowering, node, rules, out, inputs, saved, d_out)
    except NoDerivativeError:
        raise
    except UnsupportedError:
        del lowering.builder.operations[made:]
        lowering.contents, lowering.views = contents, views
    return _called(lowering, rules, out, inputs, saved, d_out)


def _compiled(
    lowering: Lowering, node: Any, rules: Rules, out: Any, inputs: Any, saved: Any, d_out: Any
) -> TupleOf:
    single = rules.outputs.count(True) == 1
    outs = (out,) if single else out.items
    given = iter((d_out,) if single else d_out.items)
    leaves = [
        lowering.value(item if number is None else outs[number])
        for item, number in zip(saved.items, rules.of, strict=True)
    ]
    capture, lowering.capture = lowering.capture, _refuse_capture
    try:
        context = rebuilt(lowering, rules.context, leaves)
        kept = _attribute(lowering, context, "saved_tensors").items
        kept = TupleOf(tuple(spelled(lowering, node, item, "tensor") for item in kept))
        instances.set_attribute(lowering, context, "saved_tensors", kept)
        gradients = [
            spelled(lowering, node, next(given), "tensor") if known else Static(None)
            for known in rules.outputs
        ]
        backward = Static(rules.function.backward)
        result = calls.call(lowering, node, backward, (context, *gradients), {})
        results = result.items if isinstance(result, TupleOf) else (result,)
        is_none = [isinstance(item, Static) and item.value is None for item in results]
        rules.check_count(is_none)
        wanted = [item for item, known in zip(results, rules.inputs, strict=False) if known]
        return TupleOf(tuple(spelled(lowering, node, item, "numpy") for item in wanted))
    finally:
        lowering.capture = capture


class _ReadFromOutsideError(UnsupportedError):
    """`backward` reads what is no argument of it, so it is called at run time."""


def _refuse_capture(name: str, value: Any) -> Any:
    raise _ReadFromOutsideError(name)


def _called(
    lowering: Lowering, rules: Rules, out: Any, inputs: Any, saved: Any, d_out: Any
) -> TupleOf:
    single = rules.outputs.count(True) == 1
    items = inputs.items
    types = tuple(lowering.value(item).type for item in items)
    outs, gradients = ((out,), (d_out,)) if single else (out.items, d_out.items)
    leaves = tuple(
        item if number is None else outs[number]
        for item, number in zip(saved.items, rules.of, strict=True)
    )
    name = f"{rules.function.__name__}_backward"
    callee = Conforming(_Backward(rules, len(leaves)), name, len(items))
    made = opaque.emit(lowering, callee, (*items, *leaves, *gradients), {}, Tuple(types), RUN)
    return TupleOf(tuple(unpacking.unpacked(lowering, None, made)))


class _Backward:
    """`backward` on Tensors, given the leaves of its context and the gradients as arrays."""

    def __init__(self, rules: Rules, leaves: int) -> None:
        self.rules, self.leaves = rules, leaves

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        leaves, gradients = given[: self.leaves], iter(given[self.leaves :])
        context = python_object(self.rules.context, leaves)
        context.saved_tensors = tuple(map(_as_tensor, context.saved_tensors))
        filled = [_as_tensor(next(gradients)) if known else None for known in self.rules.outputs]
        with no_grad():
            results = self.rules.function.backward(context, *filled)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        self.rules.check_count([item is None for item in results])
        wanted = [r for r, known in zip(results, self.rules.inputs, strict=False) if known]
        return tuple(r.array if isinstance(r, Tensor) else r for r in wanted)


def _as_tensor(item: Any) -> Any:
    is_array = isinstance(item, (np.ndarray, float, np.generic)) and not isinstance(item, bool)
    return wrap(np.asarray(item)) if is_array else item


# -- forward mode --------------------------------------------------------------------------------


def _push(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """The tangent of the results: what `backward` implies, which is linear in the gradients."""
    callee, out, inputs, saved, tangents = arguments
    pull = PartialOf(Static(Pull(callee.value.rules)), (out, inputs, saved), {})
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
    """Make `Function.apply` known to the frontend."""
    apply: Any = Function.__dict__["apply"].__func__
    handlers.FUNCTIONS[apply] = _apply
    handlers.FUNCTIONS[Context.mark_dirty] = refused("`mark_dirty`", "return a new Tensor")
    handlers.OBJECTS.update({Pull: _pull, Push: _push})
