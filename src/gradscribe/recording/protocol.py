"""NumPy's calls on what belongs to a recorded run: `np.exp(x)`, `np.sum(x)`, `array * x`
(NEP 13 and NEP 18)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.calls.array_changes import FUNCTIONS, change_each, change_each_alone
from gradscribe.primitives.contract_kinds import parameters
from gradscribe.primitives.registry import PUBLIC
from gradscribe.recording import operations, stores
from gradscribe.recording.arrays import RecordedArray, is_active, is_recorded, shown
from gradscribe.recording.levels import plain, values_in
from gradscribe.runtime.tensors.tensor import Tensor


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """`ufunc(*inputs)`, or a method of it."""
    _refuse_tensors(inputs)
    public = PUBLIC.get(ufunc, ufunc)
    if method == "at":
        return _change_at(public, *inputs)
    callee = public if method == "__call__" else getattr(public, method)
    out = kwargs.pop("out", None)
    kwargs = {name: value for name, value in kwargs.items() if not _is_default(name, value)}
    if out is None:
        return operations.run(callee, inputs, kwargs)
    if method == "__call__" and "where" in kwargs:
        return _masked(callee, inputs, kwargs, out)
    return into(operations.run(callee, inputs, kwargs), out)


def array_function(
    self: Any, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """`function(*args, **kwargs)`."""
    _refuse_tensors((*args, *kwargs.values()))
    if function in FUNCTIONS:
        return _change(FUNCTIONS[function], function, args, kwargs)
    if kwargs.get("like") is not None:
        return _like(function, args, kwargs)
    return storing(function, args, kwargs)


def storing(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`function(*args, **kwargs)`, the result of which is stored where `out` says: by name, or at
    its place among the arguments."""
    names, others = [] if function is np.einsum else parameters(function), dict(kwargs)
    if "out" in names[: len(args)]:
        named = dict(zip(names, args, strict=False))
        args, others = args[: names.index("out")], named | others
        others = {name: others[name] for name in others if name not in names[: len(args)]}
    out = others.pop("out", None)
    found = operations.run(function, args, others)
    return found if out is None else into(found, out if isinstance(out, tuple) else (out,))


def _is_default(name: str, value: Any) -> bool:
    return (name == "where" and value is True) or (name in ("dtype", "axes") and value is None)


def _refuse_tensors(values: Any) -> None:
    if any(isinstance(value, Tensor) for value in values_in(list(values))):
        raise UnsupportedError(
            "a Tensor meets an array of a function that runs as it is",
            "pass an array: `tensor.numpy()`",
        )


def into(found: Any, out: tuple[Any, ...]) -> Any:
    """A call with `out=`: each result is stored where it is wanted."""
    results = found if isinstance(found, tuple) else (found,)
    stored = [
        result if target is None else _stored(result, target)
        for result, target in zip(results, out, strict=True)
    ]
    return tuple(stored) if isinstance(found, tuple) else stored[0]


def _masked(
    ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any], out: tuple[Any, ...]
) -> Any:
    """A call with `out=` and a mask `where=`: only what is stored is computed, as elsewhere there
    may be no derivative."""
    where = operations.uncovered(kwargs.pop("where"))
    shapes = [np.shape(array) for array in (where, *inputs, *out) if array is not None]
    chosen = np.broadcast_to(where, np.broadcast_shapes(*shapes))
    if not chosen.any():
        return out if len(out) > 1 else out[0]
    places = np.maximum(np.cumsum(chosen) - 1, 0).reshape(chosen.shape)

    def taken(array: Any) -> Any:
        whole = operations.run(np.broadcast_to, (array, chosen.shape))
        return whole[chosen] if np.ndim(array) else array

    def placed(result: Any, target: Any) -> Any:
        if target is None:
            return result
        full = result[places] if np.ndim(result) else result
        return operations.run(np.where, (where, full, target))

    found = operations.run(ufunc, tuple(map(taken, inputs)), kwargs)
    results = found if isinstance(found, tuple) else (found,)
    masked = tuple(map(placed, results, out))
    return into(masked if isinstance(found, tuple) else masked[0], out)


def _stored(result: Any, target: Any) -> Any:
    if type(target) is RecordedArray:
        return stores.update(target, result)
    if is_recorded(result) and is_active(result):
        raise into_plain_array()
    np.copyto(target, operations.uncovered(result), casting="same_kind")
    return target


def into_plain_array() -> UnsupportedError:
    """The error for what is differentiated, in an array that does not record."""
    return UnsupportedError(
        "a value that is differentiated cannot be stored in an array that does not record",
        "make the array of a recorded one, `np.zeros_like(x)` or `np.zeros(n, like=x)`",
    )


def _change(
    change: Callable[..., None], function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """`np.copyto(x, …)` and its kind, in terms of stores."""
    target = args[0] if args else next(iter(kwargs.values()))
    if type(target) is not RecordedArray:
        if _holds_active((args, dict(kwargs))):
            raise into_plain_array()
        function(*operations.uncovered(args), **operations.uncovered(dict(kwargs)))
        return
    change(*map(_of_list, args), **{name: _of_list(value) for name, value in kwargs.items()})


def _of_list(value: Any) -> Any:
    """A list as an array."""
    return shown(operations.value_of_array(np.array(value))) if isinstance(value, list) else value


def _holds_active(tree: Any) -> bool:
    return any(is_recorded(value) and is_active(value) for value in values_in(tree))


def _change_at(ufunc: np.ufunc, x: Any, index: Any, *values: Any) -> None:
    """`ufunc.at(x, index, values)`: item by item, for an index may come twice."""
    if type(x) is not RecordedArray:
        raise into_plain_array()
    if values:
        places = plain(x._present())[operations.uncovered(index)]
        np.broadcast_to(operations.uncovered(values[0]), np.shape(places))  # raises as NumPy does
        change_each(x, index, values[0], ufunc)
    else:
        change_each_alone(x, index, ufunc)


def _like(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`np.zeros(n, like=x)`, and `np.array([a, b], like=x)`."""
    others = {name: value for name, value in kwargs.items() if name != "like"}
    if function in (np.array, np.asarray, np.asanyarray) and args:
        return array_of(args[0], others.get("dtype"))
    return operations.map_values(shown, function(*operations.uncovered(args), **others))


def array_of(value: Any, dtype: Any) -> Any:
    """`np.array(value, like=x)`."""
    if isinstance(value, (list, tuple)):
        value = operations.run(np.stack, ([array_of(item, None) for item in value],))
    elif not isinstance(value, np.ndarray):
        value = operations.run(np.reshape, (value, ()))
    copied = operations.run(np.copy, (value,))
    return copied if dtype is None else copied.astype(dtype)
