"""`compile=False`: the transforms of functions that run as they are, recorded (`recording`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from gradscribe.codegen.loops import require_numba
from gradscribe.compiler import argnums_error
from gradscribe.errors import ArgumentError, NonScalarError, NotSpecializedError
from gradscribe.ir.probing import probe
from gradscribe.ir.trees import node_of
from gradscribe.recording import jacobians, runs
from gradscribe.recording.arguments import Point
from gradscribe.recording.arrays import present
from gradscribe.recording.levels import is_differentiable, plain
from gradscribe.tracebacks import shortened

Compile = bool | Literal["auto"]
Numbers = int | tuple[int, ...]


def compiles(function: Any, compile: Compile = True, jit: bool = False) -> Compile:
    """Whether a transform of a function is compiled ("auto": in part); raises errors for what makes
    no sense. A transform of one that is recorded, or compiled in part, is that, too."""
    if function is not None and not callable(function):
        raise ArgumentError(f"{function!r} is not callable", "pass a function")
    if not isinstance(compile, (bool, str)) or compile not in (True, False, "auto"):
        raise ArgumentError(f"compile={compile!r}", 'pass True, False or "auto"')
    if not isinstance(jit, bool):
        raise ArgumentError(f"jit={jit!r}", "pass True or False")
    if jit and compile == "auto":
        raise ArgumentError(
            "`jit=True` runs generated code, and with `compile='auto'` some calls are recorded",
            "leave one of them out",
        )
    if jit and not compile:
        raise ArgumentError(
            "`jit=True` runs generated code, and with `compile=False` there is none",
            "leave one of them out",
        )
    if jit:
        require_numba()
    chosen = (compile, getattr(function, "compiles", True))
    if False in chosen:
        return False
    return "auto" if "auto" in chosen else True


def without_source(name: str) -> NotSpecializedError:
    """The error for generated code of what is not compiled."""
    return NotSpecializedError(
        f"`{name}` runs its function as it is, and so has no source", "leave out `compile=False`"
    )


def gradient(
    function: Callable[..., Any],
    argnums: Numbers,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    *,
    has_aux: bool,
) -> tuple[Any, Any]:
    """The result of a scalar function, and its gradient."""
    numbers, args, keywords = positional(function, argnums, args, keywords)
    active = chosen(function, numbers, args)
    out, pullback = runs.vjp(function, args, keywords, active=active)
    name = probe(function, "__name__", "function")
    if has_aux and (type(out) is not tuple or len(out) != 2):
        raise ArgumentError(
            f"`{name}` does not return a pair", "with `has_aux`, return (value, aux)"
        )
    _check_scalar(name, out[0] if has_aux else out)
    return out, picked(pullback((1.0, None) if has_aux else 1.0), argnums, numbers)


def gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that gives the gradients of a scalar function by all of its arguments."""

    def found(*args: Any) -> Any:
        out, pullback = runs.vjp(function, args)
        _check_scalar(probe(function, "__name__", "function"), out)
        return pullback(1.0)

    return found


def jacobian(
    function: Callable[..., Any],
    argnums: Numbers,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    *,
    is_forward: bool,
    holomorphic: bool,
) -> Any:
    """The Jacobian of a function."""
    numbers, args, keywords = positional(function, argnums, args, keywords)
    active = chosen(function, numbers, args)
    return jacobians.jacobian(
        function,
        args,
        keywords,
        active,
        lambda parts: picked(parts, argnums, numbers),
        is_forward=is_forward,
        holomorphic=holomorphic,
    )


class RecordedPullback:
    """The function that `gs.vjp(…, compile=False)` returns; see `directional.Pullback`."""

    def __init__(self, pullback: runs.Pullback) -> None:
        self._pullback = pullback

    @shortened
    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        return self._pullback(cotangent)


def picked(parts: Sequence[Any], argnums: Numbers, numbers: Sequence[int]) -> Any:
    """Of something for each argument, what belongs to argnums."""
    found = tuple(parts[number] for number in numbers)
    return found if isinstance(argnums, tuple) else found[0]


def positional(
    function: Callable[..., Any],
    argnums: Numbers,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
) -> tuple[tuple[int, ...], tuple[Any, ...], Mapping[str, Any]]:
    """The numbers of argnums, counted from the first argument, and the arguments of a call, by
    position as far as these numbers go."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    count = len(args)
    if any(not 0 <= number < count for number in numbers):
        try:
            bound = inspect.signature(function).bind(*args, **keywords)
        except ValueError:  # a function of C without a signature
            pass
        else:
            bound.apply_defaults()
            args, keywords, count = bound.args, bound.kwargs, len(bound.args)
    name = f"`{probe(function, '__name__', 'function')}`"
    for number in numbers:
        if not -count <= number < count:
            raise argnums_error(number, name, count)
    return tuple(number % count for number in numbers), args, keywords


def chosen(function: Callable[..., Any], numbers: Sequence[int], args: Sequence[Any]) -> list[bool]:
    """For each argument whether it is differentiated, which it must have something for."""
    for number in numbers:
        if not any(is_differentiable(plain(leaf)) for leaf in Point([args[number]]).leaves):
            name = probe(function, "__name__", "function")
            raise ArgumentError(
                f"there is nothing to differentiate in argument {number} of `{name}`, of type "
                f"{type(args[number]).__name__}",
                "pass floating-point numbers or arrays (`3.0`, not `3`), or other argnums",
            )
    return [number in numbers for number in range(len(args))]


def _check_scalar(name: str, value: Any) -> None:
    """Refuse a result that is not one real number."""
    if value is None:
        raise NonScalarError(
            f"`{name}` returns nothing, and so has no gradient",
            "`return` what is to be differentiated",
        )
    found = _other_than_a_number(value)
    if found:
        raise NonScalarError(
            f"the gradient of `{name}` needs one real number as its result, not {found}",
            "sum the result (`np.sum`), or use `gs.vjp` or `gs.jacobian`",
        )


def _other_than_a_number(value: Any) -> str:
    """What a result is, if it is not one real number."""
    own = plain(present(value))
    if node_of(value) is not None:
        return "a nested result"
    if isinstance(own, np.ndarray) and own.ndim:
        return f"an array of shape {own.shape}"
    if isinstance(own, (complex, np.ndarray, np.generic)) and np.iscomplexobj(own):
        return "a complex number"
    return "" if is_differentiable(own) else f"a value of type {type(own).__name__}"
