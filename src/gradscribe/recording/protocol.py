"""NumPy's calls on what belongs to a recorded run: `np.exp(x)`, `np.sum(x)`, `array * x`
(NEP 13 and NEP 18)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.errors import AliasingError, GradscribeError, UnsupportedError
from gradscribe.frontend.prelude.array_changes import (
    FUNCTIONS,
    by_position,
    change_each,
    change_each_alone,
)
from gradscribe.primitives.numpy_arguments import options_of_method
from gradscribe.primitives.registry import PUBLIC
from gradscribe.recording import operations, stores, texts
from gradscribe.recording.arrays import (
    RecordedArray,
    holds_active,
    is_active,
    is_recorded,
    is_taken_for_array,
    shown,
)
from gradscribe.recording.levels import refused, values_in
from gradscribe.recording.snapshots import value_of_array
from gradscribe.recording.trials import Trial, name_of, options_in_place, positional
from gradscribe.runtime.tensors.tensor import Tensor


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """`ufunc(*inputs)`, or a method of it."""
    _refuse_tensors(inputs)
    if not ufunc.nout:
        raise refused(
            UnsupportedError(
                f"`{ufunc.__name__}`, which gives no result, writes to what it is given",
                "declare what it writes to: `gs.primitive(…, writes=…)`",
            )
        )
    public = PUBLIC.get(ufunc, ufunc)
    if method == "at":
        return _change_at(public, *inputs)
    callee = public if method == "__call__" else getattr(public, method)
    out = kwargs.pop("out", None)
    given = options_of_method(kwargs).items()
    kwargs = {name: value for name, value in given if not _is_default(name, value)}
    if out is None:
        return operations.run(callee, inputs, kwargs)
    if "casting" in kwargs:
        others = {name: kwargs[name] for name in kwargs if name != "casting"}
        return changing(
            callee,
            inputs,
            {**kwargs, "out": out},
            lambda: array_ufunc(self, ufunc, method, *inputs, **others, out=out),
        )
    if method == "__call__" and "where" in kwargs:
        return _masked(callee, inputs, kwargs, out)

    def stored() -> Any:
        return storing_all(
            lambda: operations.run(callee, inputs, kwargs), lambda found: into(found, out)
        )

    if method == "__call__":
        return stored()
    return changing(callee, inputs, {**kwargs, "out": out}, stored)


def storing_all(run: Callable[[], Any], store: Callable[[Any], Any]) -> Any:
    """What is computed, stored: also where NumPy raises, as `np.errstate` says, what it could not
    compute; by then it has stored all."""
    try:
        found = run()
    except (FloatingPointError, RuntimeWarning):
        with np.errstate(all="ignore"):
            store(run())
        raise
    return store(found)


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
    in_place = options_in_place(function, args, kwargs)
    if in_place:
        return _overwriting(function, args, kwargs, in_place)
    args, others = _named_from("out", function, args, kwargs)
    out = others.pop("out", None)
    if out is None:
        return operations.run(function, args, others)
    targets = out if isinstance(out, tuple) else (out,)
    return changing(
        function,
        args,
        {**others, "out": out},
        lambda: into(operations.run(function, args, others), targets),
    )


def _named_from(
    name: str, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, from a parameter on by name."""
    names, others = positional(function), dict(kwargs)
    if name not in names[: len(args)]:
        return args, others
    named = dict(zip(names, args, strict=False))
    args, others = args[: names.index(name)], named | others
    return args, {name: others[name] for name in others if name not in names[: len(args)]}


def _overwriting(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], in_place: Mapping[str, Any]
) -> Any:
    """A call that may write to what it is given: where a derivative goes through that, it may not
    be used again, if it is not the result."""
    is_constant = not holds_active((args, dict(kwargs)))
    trial = Trial(function, args, kwargs, is_only=is_constant)
    target = trial.argument(trial.result)
    if is_constant and (target is not None or trial.written()):
        return trial.store()
    if [*in_place] == ["copy"] and not trial.written():
        return operations.run(function, args, kwargs) if target is None else target
    others = dict(kwargs)
    for name in (*in_place, "out"):
        args, others = _named_from(name, function, args, others)
    others = {name: value for name, value in others.items() if name not in in_place}
    out = others.pop("out", None)
    found = operations.run(function, args, others)
    if type(target) is RecordedArray and out is None:
        return stores.update(target, found)
    if out is not None:
        trial = Trial(function, args, {**others, **in_place})
    trial.forget(function)
    return found if out is None else into(found, out if isinstance(out, tuple) else (out,))


def changing(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], change: Callable[[], Any]
) -> Any:
    """A call that stores to arrays, said in terms of stores by `change`. NumPy's own call, on
    copies, raises what it raises, and says what stands there afterwards: it may store a part before
    it has read the rest."""
    is_constant = not holds_active((args, dict(kwargs)))
    trial = Trial(function, args, kwargs, is_only=is_constant)
    if is_constant:
        return trial.store()
    try:
        found = change()
    except TypeError as error:
        if isinstance(error, GradscribeError):
            raise
        raise refused(
            UnsupportedError(
                f"`{name_of(function)}` stores what is differentiated in an array of another kind",
                "store it in an array of the kind that is computed",
            )
        ) from None
    except (ValueError, IndexError) as error:
        if isinstance(error, GradscribeError):
            raise
        is_same = False
    else:
        is_same = trial.agrees()
    if not is_same:
        raise refused(
            UnsupportedError(
                f"`{name_of(function)}` reads what it has stored already, in memory that is shared "
                "by what it is given",
                "give it arrays of their own",
            )
        )
    return found


def _is_default(name: str, value: Any) -> bool:
    return name in _DEFAULTS and value is _DEFAULTS[name]


_DEFAULTS = {"where": True, "dtype": None, "axes": None, "casting": "same_kind"}


def _refuse_tensors(values: Any) -> None:
    if any(isinstance(value, Tensor) for value in values_in(list(values))):
        raise refused(
            UnsupportedError(
                "a Tensor meets an array of a function that runs as it is",
                "pass an array: `tensor.numpy()`",
            )
        )


def into(found: Any, out: tuple[Any, ...]) -> Any:
    """A call with `out=`: each result is stored where it is wanted. Where two places overlap, NumPy
    alone knows which result is stored last."""
    places = [operations.uncovered(target) for target in out if target is not None]
    if any(np.shares_memory(*pair) for pair in itertools.combinations(places, 2)):
        raise refused(
            AliasingError(
                "two results are stored in arrays that share memory",
                "store one of them in a copy (`.copy()`)",
            )
        )
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
    where = _mask(operations.uncovered(kwargs.pop("where")))
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


def _mask(where: Any) -> Any:
    """`where=` as NumPy takes it: numbers, and those in lists, are true or false; an array has to
    be of truth values."""
    is_array = isinstance(where, np.ndarray) or is_taken_for_array(where)
    return np.asarray(where, None if is_array else bool).astype(bool, casting="safe")


def _stored(result: Any, target: Any) -> Any:
    if type(target) is RecordedArray:
        return stores.update(target, result)
    if is_recorded(result) and is_active(result):
        raise into_plain_array()
    np.copyto(target, operations.uncovered(result), casting="same_kind")
    return target


def into_plain_array() -> UnsupportedError:
    """The error for what is differentiated, in an array that does not record."""
    return refused(
        UnsupportedError(
            "a value that is differentiated cannot be stored in an array that does not record",
            "make the array of a recorded one, `np.zeros_like(x)` or `np.zeros(n, like=x)`",
        )
    )


def _change(
    change: Callable[..., None], function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """`np.copyto(x, …)` and its kind, in terms of stores."""
    args, kwargs = by_position(change, args, kwargs)
    target = args[0]
    texts.refuse_stored(target, [*args, *kwargs.values()])
    if type(target) is not RecordedArray:
        if holds_active((args, dict(kwargs))):
            raise into_plain_array()
        function(*operations.uncovered(args), **operations.uncovered(dict(kwargs)))
        return
    others = [value for value in (*args, *kwargs.values()) if value is not target]
    if function in (np.place, np.fill_diagonal) and holds_active((args, dict(kwargs))):
        stores.refuse_overlap(target, *others)

    def stored() -> None:
        given = {name: stores.apart(_of_list(value), target) for name, value in kwargs.items()}
        change(*(stores.apart(_of_list(value), target) for value in args), **given)

    changing(function, args, kwargs, stored)


def _of_list(value: Any) -> Any:
    """A list as an array."""
    return shown(value_of_array(np.array(value))) if isinstance(value, list) else value


def _change_at(ufunc: np.ufunc, x: Any, index: Any, *values: Any) -> None:
    """`ufunc.at(x, index, values)`: item by item, for an index may come twice."""
    if type(x) is not RecordedArray:
        raise into_plain_array()

    def stored() -> None:
        index_then, *values_then = (stores.apart(value, x) for value in (index, *values))
        if values_then:
            change_each(x, index_then, values_then[0], ufunc)
        else:
            change_each_alone(x, index_then, ufunc)

    changing(ufunc.at, (x, index, *values), {}, stored)


def _like(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`np.zeros(n, like=x)`, and `np.array([a, b], like=x)`."""
    others = {name: value for name, value in kwargs.items() if name != "like"}
    if function in (np.array, np.asarray, np.asanyarray) and args:
        return array_of(args[0], others.get("dtype"))
    return operations.map_values(shown, function(*operations.uncovered(args), **others))


def array_of(value: Any, dtype: Any) -> Any:
    """`np.array(value, like=x)`."""
    if dtype is not None and np.dtype(dtype) == object and not isinstance(value, np.ndarray):
        return np.array(value, dtype)
    if isinstance(value, (list, tuple)):
        value = operations.run(np.stack, ([array_of(item, None) for item in value],))
    elif not isinstance(value, np.ndarray):
        value = operations.run(np.reshape, (value, ()))
    copied = operations.run(np.copy, (value,))
    return copied if dtype is None else copied.astype(dtype)
