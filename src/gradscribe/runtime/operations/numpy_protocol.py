"""NumPy functions on Tensors: `np.exp(x)`, `np.sum(x, axis=0)`, `array * x` give Tensors.

NumPy hands such calls over (NEP 13 and NEP 18). The arguments are bound to the names of the
compiler's primitive for the function; those that are Tensors or arrays become operands, the
others are static, and the call is recorded like any eager operation.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.errors import NoDerivativeError
from gradscribe.primitives.numpy_arguments import options_of_method
from gradscribe.primitives.registry import (
    COMPOSITIONS,
    NAMED,
    PRIMITIVES,
    PUBLIC,
    VARIANTS,
)
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.loading import LOADING
from gradscribe.runtime.operations import joining, shaping
from gradscribe.runtime.operations.adaptors import BY_CALLEE
from gradscribe.runtime.operations.any_form import apply_of_any_form
from gradscribe.runtime.operations.eager import STEMS, Operation, apply, apply_as_view
from gradscribe.runtime.operations.numpy_views import VIEWS
from gradscribe.runtime.operations.products import view_of_axes
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.tracebacks import shortened


@shortened
def array_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """`ufunc(*inputs)` with a Tensor among the inputs (NEP 13)."""
    ufunc = PUBLIC.get(ufunc, ufunc)
    callee = ufunc if method == "__call__" else getattr(ufunc, method)
    kwargs = options_of_method(kwargs)
    if method == "at":
        return _change(functools.partial(_change_at, ufunc), callee, inputs, kwargs)
    if ufunc not in PRIMITIVES and ufunc not in COMPOSITIONS:
        return _without_derivative(ufunc.__name__, callee, inputs, kwargs)
    if "out" in kwargs:
        return _into(callee, method == "__call__", inputs, **kwargs)
    if method != "__call__" or kwargs or getattr(ufunc, "nout", 1) != 1:
        known = callee in COMPOSITIONS or callee in PRIMITIVES
        if not known:
            return _without_derivative(f"{ufunc.__name__}.{method}", callee, inputs, kwargs)
        return apply_of_any_form(callee, inputs, kwargs)
    row = BY_CALLEE.get(ufunc) or _row(ufunc)
    if row.refusal(inputs) is not None:
        return apply_of_any_form(callee, inputs, kwargs)
    return apply(row, [i.item() if isinstance(i, np.generic) else i for i in inputs])


def _without_derivative(name: str, callee: Any, inputs: Any, kwargs: Mapping[str, Any]) -> Any:
    """A call of an operation that has no rule, where none is needed."""
    if any(isinstance(item, Tensor) and item.requires_grad for item in inputs) and grad_enabled():
        raise NoDerivativeError(
            f"`{name}` has no derivative here",
            "detach the Tensor, or give the derivative as a `gs.autograd.Function`",
        )
    found = callee(*map(_array, inputs), **{name: _array(item) for name, item in kwargs.items()})
    return tuple(map(wrap, found)) if isinstance(found, tuple) else wrap(np.asarray(found))


def _into(callee: Any, is_masked: bool, inputs: Any, out: tuple[Any, ...], **kwargs: Any) -> Any:
    """`callee(*inputs, out=…)`: each result is stored where it is wanted; if is_masked, where the
    mask says so."""
    where = kwargs.pop("where", True) if is_masked else True
    found = callee(*map(_tensor, inputs), **kwargs)
    results = found if isinstance(found, tuple) else (found,)
    stored = []
    for result, target in zip(results, out, strict=True):
        if target is not None and where is not True:
            result = np.where(where, result, _tensor(target))
        stored.append(result if target is None else _stored(callee, result, target))
    return tuple(stored) if isinstance(found, tuple) else stored[0]


def _tensor(value: Any) -> Any:
    return wrap(value) if isinstance(value, np.ndarray) else value


def _stored(callee: Any, result: Any, target: Any) -> Any:
    """What is given as `out`, filled with a result: an array has no place in the graph."""
    if isinstance(target, Tensor):
        return target.copy_(result if isinstance(result, Tensor) else wrap(np.asarray(result)))
    if isinstance(result, Tensor) and result.requires_grad:
        raise TypeError(
            f"`np.{callee.__name__}` of a Tensor that requires a gradient cannot fill an array: "
            "give `out` a Tensor, or leave it out"
        )
    target[...] = _array(result)
    return target


@shortened
def array_function(
    self: Tensor, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """`function(*args, **kwargs)` with a Tensor among the arguments (NEP 18)."""
    if function in _ON_ARRAYS or function in _CONSTANT:
        out = function(*map(_array, args), **{k: _array(v) for k, v in kwargs.items()})
        return out if function in _ON_ARRAYS else wrap(out)
    if function in VIEWS:
        return VIEWS[function](*args, **kwargs)
    if function in _changing():
        return _change(_changing()[function], function, args, kwargs)
    args, kwargs = _with_out_by_name(function, args, kwargs)
    if isinstance(kwargs.get("out"), np.ndarray):
        return _fill(function, args, kwargs)
    if function is np.nonzero:
        return tuple(map(wrap, np.nonzero(*map(_array, args))))
    if function in _JOINS and _are_alike(*args, **kwargs):
        return _JOINS[function](*args, **kwargs)
    if function is np.einsum and "out" not in kwargs:
        view = view_of_axes(*args)
        if view is not None:
            return view
    if function in COMPOSITIONS or function not in PRIMITIVES or function in _OF_FORMS:
        return apply_of_any_form(function, args, kwargs)
    bound = _signature(function).bind(*args, **kwargs)
    operands: list[Any] = []
    names: list[str] = []
    static: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if isinstance(value, (Tensor, np.ndarray)):
            operands.append(value)
            names.append(name)
        elif _is_sequence_of_arrays(value):
            if operands:
                return apply_of_any_form(function, args, kwargs)
            return _apply_to_sequence(function, value, bound.arguments, name)
        else:
            static[_NEW_NAMES.get((function, name), name)] = _hashable(value)
    first = list(_signature(function).parameters)[: len(names)]
    if function is np.where and static:
        return _apply_in_order(function, bound.arguments)
    if names != first:
        return apply_of_any_form(function, args, kwargs)
    row = _row(function, tuple(static))
    if row.refusal(operands) is not None:
        return apply_of_any_form(function, args, kwargs)
    if row.view and len(operands) == 1:
        return apply_as_view(row, operands[0], tuple(static.values()))
    return apply(row, operands, tuple(static.values()))


_JOINS: dict[Any, Callable[..., Tensor]] = {
    np.concatenate: shaping.cat,
    np.stack: shaping.stack,
    np.hstack: joining.hstack,
    np.vstack: joining.vstack,
    np.dstack: joining.dstack,
    np.column_stack: joining.column_stack,
}


def _are_alike(items: Any = None, axis: Any = 0, **more: Any) -> bool:
    """Whether Tensors of one dtype are joined, and nothing else is asked for: then there is no
    rule of NumPy's that differs."""
    if more or axis is None or not isinstance(items, (tuple, list)):
        return False
    tensors = all(isinstance(item, Tensor) for item in items)
    return tensors and len({item.array.dtype for item in items}) == 1


def _changing() -> Mapping[Any, Callable[..., None]]:
    """NumPy's functions that change an array, in terms of stores."""
    with LOADING:
        from gradscribe.frontend.prelude.array_changes import FUNCTIONS

    return FUNCTIONS


def _change(
    change: Callable[..., None],
    function: Callable[..., None],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> None:
    """`np.put_along_axis(x, …)` and its kind: stores to a Tensor, recorded as such."""
    with LOADING:
        from gradscribe.frontend.prelude.array_changes import by_position

    args, kwargs = by_position(change, args, kwargs)
    target = args[0]
    if not isinstance(target, Tensor):
        raise TypeError("a Tensor cannot be stored in an array: make a Tensor of the array, too")
    if not target.is_contiguous():
        raise TypeError(f"`np.{function.__name__}` changes contiguous Tensors; use an index")
    change(*map(_of_list, args), **{name: _of_list(value) for name, value in kwargs.items()})


def _change_at(ufunc: np.ufunc, x: Tensor, index: Any, values: Any = None) -> None:
    """`ufunc.at(x, index, values)`. Sums need one store, whatever comes twice."""
    with LOADING:
        from gradscribe.frontend.prelude.array_changes import change_each, change_each_alone

    index = tuple(map(_array, index)) if isinstance(index, tuple) else _array(index)

    def applied(item: Tensor, *value: Any) -> Any:
        return ufunc(item.clone(), *value)  # the item itself is stored to next

    if values is None:
        change_each_alone(x, index, applied)
    elif ufunc in (np.add, np.subtract):
        places = np.arange(x.numel()).reshape(x.shape)[index]
        given = np.ravel(np.broadcast_to(values, places.shape))
        given = np.negative(given) if ufunc is np.subtract else given
        where = np.unravel_index(places.ravel(), x.shape)
        x.index_put_(tuple(map(wrap, where)), _tensor(given).to(x.dtype), accumulate=True)
    else:
        change_each(x, index, values, applied)


def _of_list(value: Any) -> Any:
    """A list as an array, or as a Tensor of the Tensors in it."""
    if not isinstance(value, list):
        return value
    return np.stack(value) if _is_sequence_of_arrays(value) else np.asarray(value)


def _with_out_by_name(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The arguments of a call, with an `out` that is given by its position as a keyword."""
    names = _from_out_on(function)
    if not names or len(args) <= names[0][0]:
        return args, kwargs
    named = {name: args[place] for place, name in names if place < len(args)}
    return args[: names[0][0]], {**kwargs, **named}


@functools.cache
def _from_out_on(function: Any) -> tuple[tuple[int, str], ...]:
    """The places and names of `out`, which may be given by position, and what follows it."""
    try:
        parameters = _signature(function).parameters.values()
    except (KeyError, ValueError):
        return ()  # no signature is known
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in positional]
    return tuple(enumerate(names))[names.index("out") :] if "out" in names else ()


def _fill(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A call whose result goes to an array of the caller's, which has no place in the graph."""
    out = kwargs["out"]
    others = {name: value for name, value in kwargs.items() if name != "out"}
    return _stored(function, function(*args, **others), out)


_OF_FORMS = (
    NAMED | VARIANTS.keys() | {np.einsum, np.frexp, np.linalg.lstsq, np.linalg.multi_dot, np.cross}
)
"""Functions of several results, of operands that follow each other without end, of many forms."""

_ON_ARRAYS = frozenset(
    {np.allclose, np.array_equal, np.shape, np.ndim, np.size, np.array_repr, np.array_str}
    | {np.isclose, np.result_type, np.can_cast, np.shares_memory, np.may_share_memory}
)
"""Functions whose results carry no derivative and are no arrays of the caller's."""

_CONSTANT = frozenset({np.zeros_like, np.ones_like, np.empty_like})
"""Functions that read only shape and dtype."""

_NEW_NAMES: dict[tuple[Any, str], str] = {(np.clip, "a_min"): "min", (np.clip, "a_max"): "max"}
"""Older names of parameters."""


@functools.cache
def _signature(function: Any) -> inspect.Signature:
    """The parameters of a function; of a built-in one, older NumPy does not tell them."""
    try:
        return inspect.signature(function)
    except ValueError:
        known = PRIMITIVES[function].signature
        assert known is not None
        return known


@functools.cache
def _row(callee: Any, parameters: tuple[str, ...] = ()) -> Operation:
    """The row for a function under these static parameters; the known one gives its name."""
    own = STEMS.get(callee) or callee.__name__.title().replace("_", "")
    known = BY_CALLEE.get(callee) or Operation(
        own, callee, differentiable=_has_derivative(callee), view=PRIMITIVES[callee].view
    )
    return replace(
        known,
        parameters=parameters,
        view=PRIMITIVES[callee].view or known.view,
        sequence=False,
        positional=False,
        wraps_numbers=False,
        counts_elements=False,
        run=None,
    )


def _has_derivative(callee: Any) -> bool:
    primitive = PRIMITIVES[callee]
    return primitive.adjoint is not None or primitive.tangent is not None


def _hashable(value: Any) -> Any:
    """A static argument with tuples for its lists, and Python's numbers for NumPy's."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_hashable, value))
    return value.item() if isinstance(value, np.generic) else value


def _is_sequence_of_arrays(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and any(
        isinstance(item, (Tensor, np.ndarray)) for item in value
    )


def _apply_to_sequence(
    function: Any, items: Any, arguments: Mapping[str, Any], operand: str
) -> Tensor:
    """Concatenate, stack and the like: the operands are the items of one argument."""
    static = {name: value for name, value in arguments.items() if name != operand}
    return apply(_sequence_row(function, tuple(static)), tuple(items), tuple(static.values()))


@functools.cache
def _sequence_row(callee: Any, parameters: tuple[str, ...]) -> Operation:
    return replace(_row(callee, parameters), sequence=True)


def _apply_in_order(function: Any, arguments: Mapping[str, Any]) -> Tensor:
    """A call whose numbers stand between Tensors (`np.where(c, 0, x)`): all are operands."""
    operands = (np.asarray(x) if isinstance(x, (list, tuple)) else x for x in arguments.values())
    return apply(_row(function), tuple(operands))


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value
