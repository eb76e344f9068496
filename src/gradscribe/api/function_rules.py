"""The derivatives of an `autograd.Function` in compiled code: its `backward` and its `jvp`.

Each is compiled, if that is possible, otherwise called at run time on Tensors, as eager mode does.
Forward mode of a Function without `jvp` is what its `backward` implies, transposed: eager mode,
which cannot look into `backward`, refuses that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.api.function_methods import Backward, Forward, Method, Pull, Push, Rules
from gradscribe.api.tensor_handlers import spelled
from gradscribe.errors import NoDerivativeError, UnsupportedError
from gradscribe.frontend.opaque import own_rules, unknown
from gradscribe.frontend.opaque.given_derivatives import conformed
from gradscribe.frontend.prelude import iteration_prelude as prelude
from gradscribe.frontend.prelude.isolated import copied
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.interruptions import HasRaisedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.structures.python_objects import python_object
from gradscribe.frontend.structures.structures import rebuilt
from gradscribe.frontend.values.values import (
    DictRef,
    ListRef,
    PartialOf,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Value
from gradscribe.ir.places import place_of
from gradscribe.ir.types import Array, Scalar, Tuple
from gradscribe.primitives.contract_kinds import Refused
from gradscribe.primitives.control import RAISE, RUN
from gradscribe.runtime.graph.grad_mode import no_grad
from gradscribe.runtime.modes.function import ONCE, Function
from gradscribe.runtime.modes.function_node import (
    advice_for,
    check_is_tensor,
    check_kind,
    misfit,
)
from gradscribe.runtime.tensors.tensor import wrap


def _pull(
    lowering: Lowering,
    node: Any,
    callee: Static,
    out: Any,
    inputs: Any,
    saved: Any,
    /,
    *rest: Any,
    **keywords: Any,
) -> Any:
    """The cotangents of the inputs: by `backward`."""
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
    given = iter((d_out,) if single else [_or_none(item) for item in d_out.items])
    others = iter(saved.items[len(rules.of) :])
    gradients = [
        next(given) if known else _zero(lowering, next(others)) if is_filled else None
        for known, is_filled in zip(rules.outputs, rules.filled, strict=True)
    ]
    return _derived(lowering, node, Backward(rules), out, saved, inputs.items, gradients)


def _or_none(item: Any) -> Any:
    return None if isinstance(item, Static) and item.value is None else item


def _push(lowering: Lowering, node: Any, /, *arguments: Any) -> Any:
    """The tangent of the results: by `jvp`; without one, what `backward` implies, which is linear
    in the gradients."""
    callee, out, inputs, saved, tangents = arguments
    rules: Rules = callee.value.rules
    if rules.function.jvp is Function.jvp:
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
    given = iter(tangents.items)
    inputs = [next(given) if known else None for known in rules.inputs]
    found = _derived(lowering, node, Forward(rules), out, saved, likes, inputs)
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
    derivatives: Sequence[Any | None],
) -> TupleOf:
    """What a method of the Function gives: compiled, or called at run time. likes: what its wanted
    results belong to; derivatives: what it is given, None where it has none."""
    outs = (out,) if method.rules.outputs.count(True) == 1 else out.items
    leaves = [
        lowering.value(item if number is None else outs[number])
        for item, number in zip(saved.items, method.rules.of, strict=False)
    ]
    trial = lowering.trial()
    try:
        return _compiled(lowering, node, method, leaves, likes, derivatives)
    except NoDerivativeError:
        raise
    except UnsupportedError as error:
        trial.take_back()
        refusal = _refusal(method, error)
    return _called(lowering, method, leaves, (likes, derivatives), refusal)


def _refusal(method: Method, error: UnsupportedError) -> Refused:
    """What is said to whom differentiates a method that is called at run time."""
    if getattr(method.function, "is_once_differentiable", False):
        return Refused(ONCE, "")
    return Refused(
        f"what `{method.rules.function.__name__}.{method.name}` computes would have to be "
        f"differentiated here, and it cannot be compiled: {_reason(error)}",
        "write it with operations of gradscribe, on what `ctx` has saved",
    )


def _reason(error: UnsupportedError) -> str:
    if isinstance(error, _NotCompiledError):
        return "it always raises, or reads what `ctx` has not saved"
    return error.what


def _compiled(
    lowering: Lowering,
    node: Any,
    method: Method,
    leaves: list[Any],
    likes: Sequence[Any],
    derivatives: Sequence[Any | None],
) -> TupleOf:
    made = len(lowering.builder.operations)
    capture, lowering.capture = lowering.capture, _refuse_capture
    try:
        context = rebuilt(lowering, method.rules.context, leaves)
        kept = attribute(lowering, context, method.kept).items
        kept = TupleOf(tuple(spelled(lowering, node, item, "tensor") for item in kept))
        instances.set_attribute(lowering, context, "saved_tensors", kept)
        arguments = [
            Static(None) if item is None else spelled(lowering, node, item, "tensor")
            for item in derivatives
        ]
        result = lowering.call(node, Static(method.function), (context, *arguments), {})
        if any(o.primitive is RAISE for o in lowering.builder.operations[made:]):
            raise _NotCompiledError(method.name)
        results = result.items if isinstance(result, TupleOf) else (result,)
        method.check([isinstance(r, Static) and r.value is None for r in results])
        wanted = [item for item, known in zip(results, method.wanted, strict=False) if known]
        positions = [i for i, known in enumerate(method.wanted) if known]
        for position, item, like in zip(positions, wanted, likes, strict=True):
            _check(lowering, node, method, position, item, like)
        return TupleOf(tuple(spelled(lowering, node, item, "numpy") for item in wanted))
    except HasRaisedError:
        raise _NotCompiledError(method.name) from None
    finally:
        lowering.capture = capture


def attribute(lowering: Lowering, owner: Any, name: str) -> Any:
    """What an object has under a name."""
    cell = instances.cell_of(lowering, owner, name)
    assert cell is not None
    return lowering.items_in(cell)[name]


def _check(
    lowering: Lowering, node: Any, method: Method, position: int, item: Any, like: Any
) -> None:
    """Refuse a gradient that is complex where its argument is real, or the reverse, and one of a
    shape that the method may not return: now or, if only the run tells the shape, then."""
    given, wanted = (
        lowering.value(i).type if isinstance(i, (Ref, Value)) else None for i in (item, like)
    )
    if type(item) in _CONTAINERS:
        check_is_tensor(method.function, _CONTAINERS[type(item)])
    is_number = isinstance(item, Static) and item.value is not None
    if is_number and isinstance(wanted, Array) and wanted.rank:
        check_is_tensor(method.function, item.value)
    if not isinstance(given, (Array, Scalar)) or not isinstance(wanted, (Array, Scalar)):
        return
    check_kind(method.function, np.dtype(given.dtype), np.dtype(wanted.dtype))
    shapes = [type_.dims if isinstance(type_, Array) else () for type_ in (given, wanted)]
    facts = lowering.builder.facts
    fits = method.fits(facts, *shapes)
    if fits is None:
        what = method.misfit(position, "{0}", "{1}")
        parts = map(Static, (what, advice_for(method.function), place_of(method.function), list))
        lowering.inline(node, method.check_shape, (item, like, *parts))
    if fits is False:
        if any(length.known is None for shape in shapes for length in shape):
            raise _NotCompiledError(method.name)  # the run has the numbers to be shown
        texts = [str([length.known for length in shape]) for shape in shapes]
        raise misfit(method.function, method.misfit(position, *texts))


_CONTAINERS: dict[type, Any] = {ListRef: [], DictRef: {}, TupleOf: ()}
"""What stands for what is no Tensor."""


class _NotCompiledError(UnsupportedError):
    """A method that is called at run time: it reads what is no argument of it, or always raises."""


def _refuse_capture(name: str, value: Any) -> Any:
    raise _NotCompiledError(name)


def _called(
    lowering: Lowering,
    method: Method,
    leaves: list[Any],
    given: tuple[Sequence[Any], Sequence[Any | None]],
    refusal: Refused,
) -> TupleOf:
    likes, derivatives = given
    types = tuple(lowering.value(item).type for item in likes)
    name = f"{method.rules.function.__name__}_{method.name}"
    is_given = [item is not None for item in derivatives]
    tensors = [item for item in derivatives if item is not None]
    is_tensor = [getattr(lowering.value(leaf).type, "spelling", "") == "tensor" for leaf in leaves]
    callee = _Checked(_OnTensors(method, is_tensor, is_given), name, len(likes), refusal)
    made = unknown.emit(lowering, callee, (*likes, *leaves, *tensors), {}, Tuple(types), RUN)
    return TupleOf(tuple(lowering.unpacked(None, made)))


class _Checked:
    """A method that is called at run time; what it returns must fit what it belongs to, the first
    `likes` arguments."""

    def __init__(self, rule: _OnTensors, name: str, likes: int, refusal: Refused) -> None:
        self.rule, self.likes = rule, likes
        self.refusal = refusal
        self.__name__ = name
        self.__module__ = rule.__module__

    def __call__(self, *arguments: Any) -> Any:
        method, likes = self.rule.method, arguments[: self.likes]
        results = self.rule(*arguments[self.likes :])
        positions = [i for i, known in enumerate(method.wanted) if known]
        for position, result, like in zip(positions, results, likes, strict=True):
            if result is not None:
                check_kind(method.function, result.dtype, np.asarray(like).dtype)
                shapes = result.shape, np.shape(like)
                if not method.has_fitting(*shapes):
                    texts = map(str, map(list, shapes))
                    raise misfit(method.function, method.misfit(position, *texts))
        return copied(tuple(map(conformed, results, likes)))


class _OnTensors:
    """A method on Tensors, given the leaves of its context and the derivatives as arrays.
    is_tensor: which leaves are Tensors; is_given: which of its arguments are derivatives, and not
    None."""

    def __init__(self, method: Method, is_tensor: Sequence[bool], is_given: Sequence[bool]) -> None:
        self.method, self.is_tensor, self.is_given = method, is_tensor, is_given

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        method, count = self.method, len(self.is_tensor)
        leaves, derivatives = given[:count], iter(given[count:])
        kept = [
            _as_tensor(leaf) if known else leaf
            for leaf, known in zip(leaves, self.is_tensor, strict=True)
        ]
        context = python_object(method.rules.context, kept)
        context.saved_tensors = tuple(map(_as_tensor, getattr(context, method.kept)))
        filled = [_as_tensor(next(derivatives)) if known else None for known in self.is_given]
        with no_grad():
            results = method.function(context, *filled)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        method.check([item is None for item in results])
        wanted = [r for r, known in zip(results, method.wanted, strict=False) if known]
        return tuple(self._as_array(item) for item in wanted)

    def _as_array(self, item: Any) -> Any:
        if isinstance(item, (np.ndarray, np.generic)):  # what it may keep where it is given arrays
            return np.asarray(item)
        check_is_tensor(self.method.function, item)
        return None if item is None else item.array


def _as_tensor(item: Any) -> Any:
    is_array = isinstance(item, (np.ndarray, float, np.generic)) and not isinstance(item, bool)
    return wrap(np.asarray(item)) if is_array else item


def _transposed(
    lowering: Lowering, node: Any, rules: Rules, out: Any, inputs: Any, saved: Any, tangents: Any
) -> Any:
    pull = PartialOf(Static(Pull(rules)), (out, inputs, saved), {})
    zero = _zero(lowering, out)
    found: Any = lowering.call(node, pull, (), {"d_out": zero})
    active = [i for i, item in enumerate(found.items) if not isinstance(item, Static)]
    if not active:
        return zero
    given = TupleOf(tuple(tangents.items[i] for i in active))
    transposed = (Static(lowering.package.vjp), pull, zero, Static(tuple(active)), given)
    return lowering.inline(node, prelude.transposed, transposed)


def _zero(lowering: Lowering, out: Any) -> Any:
    if isinstance(out, TupleOf):
        return TupleOf(tuple(_zero(lowering, item) for item in out.items))
    if is_number(out):
        return own_rules.zero_of(lowering, None, out)
    return lowering.call(None, Static(np.zeros_like), (out,), {})


def enter() -> None:
    """Make the derivatives known to the frontend."""
    handlers.enter({handlers.ObjectsOf(Pull): _pull, handlers.ObjectsOf(Push): _push})
