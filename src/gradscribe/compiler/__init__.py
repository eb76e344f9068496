"""The compiler as the layers above see it: programs of user functions, eager derivatives.

`target_of` says what is compiled of a callable, and in which `Program` the lowerings that fit its
calls are found; `derivatives` compiles single operations for the runtime. What they return is made
of the modules below this one:

    signatures, keys, type_strings   arguments to types
    entry                            what is checked on entry of a compiled function
    program                          lowerings of one function
    partly, observing                which of its calls are recorded, and what those return
    stages, generated                IR of the derivatives, their text and callables
    specialization, derivatives      what users, and the runtime, get of it
    eager_calls, variadic            calls as functions with source
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType
from typing import Any, NamedTuple, cast

from gradscribe.compiler.derivatives import Derivatives
from gradscribe.compiler.eager_calls import (
    closure_of_call,
    forget_own_place,
    function_of_call,
)
from gradscribe.compiler.entry import Values
from gradscribe.compiler.primal import Primal
from gradscribe.compiler.program import Program, program_of
from gradscribe.compiler.signatures import bound
from gradscribe.compiler.variadic import calling, spread
from gradscribe.errors import (
    ArgumentError,
    GradscribeError,
    SourceNotFoundError,
    UnsupportedError,
)
from gradscribe.ir.core import Operand
from gradscribe.ir.probing import probe
from gradscribe.primitives import optional
from gradscribe.primitives.recorded_functions import Machine
from gradscribe.primitives.registry import COMPOSITIONS, PRIMITIVES, primitive_of

__all__ = [
    "BoundCall",
    "Derivatives",
    "Primal",
    "Target",
    "argument_numbers",
    "bound_call",
    "derivatives",
    "partial_target",
    "target_of",
]


@dataclass(slots=True)
class Target:
    """A callable reduced to a function with source: what to compile, and how calls reach it.

    first: values that go before the arguments of a call (`self`, those of a partial). special:
    whether the function is `__call__` of the class of the first of these. spread: for numbers of
    arguments, the targets of a function with `*args`.
    """

    function: FunctionType
    program: Program
    bind: FunctionType
    first: tuple[Any, ...] = ()
    keywords: tuple[tuple[str, Any], ...] = ()
    special: bool = False
    spread: dict[Any, Target] = field(default_factory=dict, repr=False)

    def of_call(self, count: int) -> Target:
        """What a call with so many positional arguments compiles (see `variadic`)."""
        if not self.program.variadic:
            return self
        if self.function.__code__ is not self.program.code:
            self._follow()
        key = (self.program, count)
        found = self.spread.get(key)
        if found is None:
            function = spread(self.function, count + len(self.first))
            made = replace(self._like(function), first=self.first, keywords=self.keywords)
            found = self.spread[key] = made
        return found

    def values(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Values:
        """The function, and one value for each of its parameters."""
        function = self.function
        if (
            function.__code__ is not self.program.code
            or function.__defaults__ is not self.bind.__defaults__
            or function.__kwdefaults__ is not self.bind.__kwdefaults__
            or (self.special and type(self.first[0]).__call__ is not function)
        ):
            self._follow()
        if self.first or self.keywords:
            args = self.first + args
            keywords = {**dict(self.keywords), **keywords}
        return self.function, *bound(self.bind, self.function, args, keywords)

    def _follow(self) -> None:
        """The function, or the class of the object, was changed in place since the last call."""
        changed: Any = type(self.first[0]).__call__ if self.special else self.function
        found = self._like(changed)
        self.function, self.program, self.bind = found.function, found.program, found.bind

    def _like(self, function: Any) -> Target:
        """What is compiled of another function, in part if this is."""
        found = target_of(function)
        machine = self.program.machine
        return found if machine is None else partial_target(found, machine)

    def unbound(self, argnums: int | tuple[int, ...]) -> int | tuple[int, ...]:
        """Argnums of a call as those of the function, which takes `first` before."""
        if isinstance(argnums, tuple):
            return tuple(self._position(number) for number in argnums)
        return self._position(argnums)

    def _position(self, argnum: int) -> int:
        if not self.program.variadic:
            return self.parameter(argnum)
        return argnum if argnum < 0 else argnum + len(self.first)

    def parameter(self, argnum: int) -> int:
        """The number of the parameter that the caller counts as `argnum`."""
        count = len(self.program.binder.names) - len(self.first)
        if argnum < 0:  # counted from the last that may be given by position
            code = self.function.__code__
            count -= code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        if not -count <= argnum < count:
            raise argnums_error(argnum, f"`{self.function.__name__}`", count)
        return argnum % count + len(self.first)


def partial_target(target: Target, machine: Machine) -> Target:
    """The same, where calls that cannot be compiled are recorded. machine: runs those."""
    return replace(target, program=program_of(target.function, machine), spread={})


def argnums_error(argnum: int, callee: str, count: int) -> ArgumentError:
    """count: how many arguments there are."""
    return ArgumentError(
        f"argnums says {argnum}, but {callee} has {count} argument{'s' * (count != 1)}",
        f"count from 0 to {count - 1}" if count else "give it what is differentiated",
    )


def argument_numbers(argnums: Any) -> tuple[int, ...]:
    """The integers of `argnums`: an int, or a tuple or list of them."""
    items = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    try:
        numbers = tuple(map(operator.index, items))
    except Exception:  # an array, or an object whose class says anything
        numbers = None
    if numbers is None or any(isinstance(item, bool) for item in items):
        raise ArgumentError(
            f"argnums is {argnums!r}", "pass the number of an argument, or a tuple of numbers"
        )
    return numbers


def target_of(function: Callable[..., Any]) -> Target:
    """What is compiled when `function` is: its own code, a method's with `self` before the
    arguments, a callable object's `__call__`."""
    known = _function_of_library(function)
    if known is not None:
        return target_of(known)
    if isinstance(function, FunctionType):
        program = program_of(function)
        return Target(function, program, program.binder.of(function))
    if isinstance(function, functools.partial):
        inner = target_of(function.func)
        keywords = {**dict(inner.keywords), **function.keywords}
        return _with(inner, inner.first + function.args, keywords)
    if isinstance(function, MethodType):
        inner = target_of(function.__func__)
        return _with(inner, (function.__self__, *inner.first), dict(inner.keywords))
    if inspect.getattr_static(function, "__gradscribe_transform__", None) is not None:
        return _target_of_transform(function)
    wrapped = inspect.getattr_static(function, "__gradscribe_function__", None)
    if wrapped is not None:
        return target_of(wrapped)
    if not callable(function):
        raise ArgumentError(f"{function!r} is not callable", "pass a function")
    if _is_primitive(function):
        return target_of(_function_of_primitive(function))
    call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(call, FunctionType):
        return replace(target_of(MethodType(call, function)), special=True, spread={})
    name = probe(function, "__name__", repr(function))
    raise SourceNotFoundError(
        f"`{name}` is no Python function, so there is no source to differentiate",
        f"wrap it in one, for example `lambda x: {name}(x)`",
    )


def _target_of_transform(function: Any) -> Target:
    """A function with source that calls a transform; of a method, a partial or an object, it is one
    of the function alone, and takes what these hold as arguments."""
    own: Target = function.target
    if not own.first and not own.keywords:
        return target_of(calling(function, own.function, 0))
    return _with(target_of(function.unbound()), own.first, dict(own.keywords))


def _function_of_library(function: Any) -> FunctionType | None:
    """A function with source that calls a function of NumPy or SciPy which is made of others, or
    has a rule and Python's own source."""
    module = probe(function, "__module__") or ""
    if module.partition(".")[0] not in ("numpy", "scipy") or not isinstance(function, Hashable):
        return None
    optional.enter_imported()
    if function in COMPOSITIONS:
        return calling(function, cast(FunctionType, COMPOSITIONS[function]), 0)
    if function in PRIMITIVES and isinstance(function, MethodType):
        return calling(function, cast(FunctionType, function.__func__), 1)
    if function in PRIMITIVES and isinstance(function, FunctionType):
        return calling(function, cast(FunctionType, inspect.unwrap(function)), 0)
    return None


def _is_primitive(function: Any) -> bool:
    return isinstance(function, Hashable) and primitive_of(function) is not None


def _function_of_primitive(callee: Any) -> FunctionType:
    """A function with source that calls an operation with its required arguments."""
    primitive = primitive_of(callee)
    assert primitive is not None
    signature = primitive.signature
    assert signature is not None
    required = [p for p in signature.parameters.values() if p.default is p.empty]
    return _calling(callee, len(required))


def _calling(callee: Any, count: int) -> FunctionType:
    """A function of so many arguments, with source, that calls another callable with them."""
    return function_of_call(callee, tuple(map(Operand, range(count))), {}, count)


def _with(target: Target, first: tuple[Any, ...], keywords: Mapping[str, Any]) -> Target:
    return replace(target, first=first, keywords=tuple(keywords.items()), spread={})


def derivatives(
    callee: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    active: tuple[int, ...],
) -> Derivatives:
    """The derivatives of `callee(*args, **kwargs)`, for `gradscribe.runtime.operations.eager`.

    args, kwargs: static trees with `Operand(i)` for leaves[i]. leaves: samples of the types.
    active: the positions of the leaves that gradients are wanted for.
    """
    function = function_of_call(callee, args, kwargs, len(leaves))
    return _derivatives_of(callee, function, leaves, lambda _: active)[0].flat_derivatives(active)


class BoundCall(NamedTuple):
    """A call of a function of the user's: its derivatives, its leaves, captured values after those
    of the arguments, and what builds its result of the leaves of that."""

    derivatives: Derivatives
    leaves: tuple[Any, ...]
    build: Callable[[Sequence[Any]], Any]


def bound_call(
    callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any], active: Collection[int]
) -> BoundCall:
    """`callee(*args, **kwargs)`, which may read what it finds outside. active: the numbers of the
    arguments, arrays and numbers, those by name last, that gradients are wanted for."""
    given = sorted(active)
    values = [*args, *kwargs.values()]
    function = closure_of_call(callee, args, kwargs, given)

    def leaves_of(primal: Primal) -> tuple[int, ...]:
        return primal.active_leaves(tuple(range(len(given))))

    primal, matched = _derivatives_of(callee, function, [values[i] for i in given], leaves_of)
    found = primal.flat_derivatives(leaves_of(primal))
    return BoundCall(found, primal.layout.leaves(matched), primal.build_result)


def _derivatives_of(
    callee: Any,
    function: FunctionType,
    values: Sequence[Any],
    active: Callable[[Primal], tuple[int, ...]],
) -> tuple[Primal, Values]:
    """The lowering of a function that makes one call, with its derivatives, and the values of the
    call with the captured ones."""
    program = program_of(function)
    try:
        while True:
            primal, _ = program.find((function, *values))
            if primal.lowered.stores or primal.lowered.has_effects:
                raise _changes(callee)
            primal.flat_derivatives(active(primal))
            matched = primal.match((function, *values))
            if matched is not None:
                return primal, matched
    except GradscribeError as error:
        forget_own_place(error)
        raise


def _changes(callee: Any) -> UnsupportedError:
    owner = probe(callee, "__self__", callee)
    return UnsupportedError(
        f"`{probe(owner, '__name__', owner)}` changes what it is given, or finds outside, in a "
        "call that is differentiated by itself",
        "let it return what is new; or compile the function that calls it",
    )
