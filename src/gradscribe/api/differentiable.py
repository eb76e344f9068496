"""`@gs.differentiable`: a user's function that Tensors can flow through as one node.

Called with plain values, the user's own function runs. Called with a Tensor, in an argument or
captured, the compiled forward runs, so that it computes the same whether or not a gradient is
asked for; if one is, the result is wired to the recorded graph by one node whose backward is the
compiled adjoint.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from inspect import getattr_static
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any, overload

import numpy as np

from gradscribe.api.copying import CopiedAsFunction, imported, not_importable
from gradscribe.api.native_calls import NOT_NATIVE, NativeCall
from gradscribe.api.partly_compiled import RECORDING, REFUSALS, PartialCall
from gradscribe.api.recorded_call import compiled_call
from gradscribe.api.recorded_tensors import call_on_tensors
from gradscribe.api.recorded_transforms import Compile, compiles, without_source
from gradscribe.compiler import (
    Primal,
    Target,
    argument_numbers,
    partial_target,
    target_of,
    type_strings,
)
from gradscribe.compiler.entry import Values
from gradscribe.compiler.specialization import Specialization
from gradscribe.errors import ArgumentError, GradscribeError, NotSpecializedError
from gradscribe.ir.probing import probe
from gradscribe.recording import runs
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.tracebacks import refuse_endless, shorten, shortened

Argnums = int | tuple[int, ...] | None

_NUMBERS = (np.ndarray, float, int, complex, bool, str, type(None), np.float64, np.int64)
_STATIC = (FunctionType, BuiltinFunctionType, ModuleType, type, np.ufunc, type(np.sum))
_PLAIN = frozenset(_NUMBERS + _STATIC)
"""Classes whose objects hold no Tensor (a function may capture one: then it meets it itself)."""


class DifferentiableFunction(CopiedAsFunction):
    """A function with its derivatives; it keeps its name, docstring and signature.

    argnums: the arguments that are differentiated (None: every floating leaf). compiles: or it runs
    as it is, recorded; "auto": where it cannot be compiled. jit: as native code, where it can.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: Argnums = None,
        compiles: Compile = True,
        jit: bool = False,
    ) -> None:
        self.compiles: Compile = compiles
        self.jit = jit
        if compiles:
            target = target_of(function)
            self._target: Target = (
                partial_target(target, RECORDING) if compiles == "auto" else target
            )
        self._argnums = None if argnums is None else argument_numbers(argnums)
        self._specializations: list[Specialization] = []
        self.__gradscribe_function__ = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        try:
            if self.compiles is not True:
                return self._recorded_or_compiled(args, keywords)
            if not self._meets_tensor(args, keywords):
                found = self._run_natively(args, keywords) if self.jit else NOT_NATIVE
                if found is not NOT_NATIVE:
                    return found
                return self.__gradscribe_function__(*args, **keywords)
            return self._found(args, keywords)()
        except Exception as error:
            refuse_endless(error)
            shorten(error)
            raise

    def __get__(self, instance: Any, owner: type | None = None) -> DifferentiableFunction:
        """As an attribute of an object, the method bound to it."""
        if instance is None:
            return self
        bound = object.__new__(type(self))
        bound.__dict__.update(self.__dict__)
        bound.__dict__.pop("_native", None)
        if self.compiles:
            target = self._target
            bound._target = replace(target, first=(instance, *target.first), spread={})
        bound.__gradscribe_function__ = MethodType(self.__gradscribe_function__, instance)
        return bound

    def __deepcopy__(self, memo: dict[int, Any]) -> DifferentiableFunction:
        """Itself; the method of an object as that of a copy of the object."""
        function = deepcopy(self.__gradscribe_function__, memo)
        if function is self.__gradscribe_function__:
            return self
        return type(self)(function, self._argnums, self.compiles, self.jit)

    def __reduce__(self) -> Any:
        """By its own name, or by what it is made of: a function that has one, or a method."""
        function = self.__gradscribe_function__
        if isinstance(function, MethodType):
            owner, name = function.__self__, function.__name__
            if isinstance(getattr_static(owner, name, None), DifferentiableFunction):
                return getattr, (owner, name)
        if imported(self) is self:
            return super().__reduce__()
        if isinstance(function, FunctionType) and imported(function) is not function:
            raise not_importable(self)
        return type(self), (function, self._argnums, self.compiles, self.jit)

    @functools.cached_property
    def _native(self) -> NativeCall:
        return NativeCall(self.__gradscribe_function__)

    def _run_natively(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        try:
            return self._native(*args, **keywords)
        except GradscribeError:  # plain Python knows no refusals
            return NOT_NATIVE

    def _recorded_or_compiled(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if not self.compiles:
            return self._recorded(args, keywords)
        if not self._meets_tensor(args, keywords):
            return self.__gradscribe_function__(*args, **keywords)
        target = self._target.of_call(len(args))
        whole = target.program.partly(target.values(args, keywords)).whole
        key = (DifferentiableFunction, _numbers(target, self._argnums))
        if key not in whole:
            try:
                run = self._found(args, keywords)
            except REFUSALS as error:
                whole[key] = error.what
            else:
                return run()
        return self._recorded(args, keywords)

    def _found(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Callable[[], Any]:
        """What runs a call with Tensors, compiled."""
        target = self._target.of_call(len(args))
        return compiled_call(
            target,
            target.values(args, keywords),
            _numbers(target, self._argnums),
            self._note,
            functools.partial(self.__gradscribe_function__, *args, **keywords),
        )

    def _recorded(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        function = self.__gradscribe_function__
        if not has_tensor((*args, *keywords.values())):
            return function(*args, **keywords)
        numbers = None if self._argnums is None else {n % len(args) for n in self._argnums}
        return call_on_tensors(
            function,
            probe(function, "__name__", "function"),
            args,
            keywords,
            lambda position: numbers is None or position in numbers,
        )

    def _meets_tensor(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether a Tensor is in the arguments, or captured."""
        found = itertools.chain(args, keywords.values(), self._outside())
        return any(value.__class__ not in _PLAIN and has_tensor(value) for value in found)

    def _outside(self) -> Iterable[Any]:
        """The captured variables and globals that the function's own code names, and what goes
        before its arguments."""
        function = self._target.function
        namespace = function.__globals__
        yield from self._target.first
        yield from map(_contents, function.__closure__ or ())
        yield from (namespace[name] for name in function.__code__.co_names if name in namespace)

    @shortened
    def specialize(self, *args: Any, argnums: Argnums = None) -> Specialization:
        """Compile for the types of these arguments, values or type strings.

        argnums: what to differentiate (default: as the function was decorated). What cannot be
        compiled is refused here, with an `UnsupportedError`. With `compile="auto"`, that needs
        values: the function runs with them once, to see what the calls return that are recorded.
        """
        self._check_compiled()
        named = [isinstance(arg, str) and type_strings.is_type_string(arg) for arg in args]
        examples = tuple(
            type_strings.example(arg) if is_type else arg
            for arg, is_type in zip(args, named, strict=True)
        )
        target = self._target.of_call(len(args))
        values = target.values(examples, {})
        first = len(target.first)
        sampled = [True] * first + [not is_type for is_type in named]
        sampled += [True] * (len(values) - 1 - len(sampled))
        numbers = _numbers(target, self._argnums if argnums is None else argnums)

        def make() -> tuple[Primal, Callable[[], Specialization]]:
            primal, _ = target.program.find(values, sampled)
            found = primal.specialization(primal.chosen_leaves(numbers))
            found.generated_gradient.ir, found.generated_adjoint.ir  # noqa: B018  (refuse now)
            return primal, lambda: found.in_tier(self.jit)

        if self.compiles == "auto":
            make = self._partly(make, target, values, None if any(named) else args)
        found = make()[1]()
        self._note(found)
        return found

    def _partly(
        self,
        make: Callable[[], tuple[Primal, Callable[[], Specialization]]],
        target: Target,
        values: Values,
        args: tuple[Any, ...] | None,
    ) -> Callable[[], tuple[Primal, Callable[[], Specialization]]]:
        """What makes a specialization, some calls of which are recorded. args: None where there are
        types alone."""

        def record() -> Any:
            if args is None:
                name = target.function.__name__
                raise ArgumentError(
                    f"`{name}` has calls that are recorded, and their types are seen when they run",
                    f"call `{name}.specialize(…)` with values, not with types",
                )
            return runs.vjp(self.__gradscribe_function__, args)

        key = (DifferentiableFunction.specialize, len(values))
        found = PartialCall(target, values, key, make, record, record).specialize()
        return lambda: found

    def _note(self, found: Specialization) -> None:
        """Make a specialization the latest one."""
        if found in self._specializations:
            self._specializations.remove(found)
        self._specializations.append(found)

    @property
    def specializations(self) -> tuple[Specialization, ...]:
        """All specializations made so far, by `specialize` and by calls, the latest last."""
        return tuple(self._specializations)

    @property
    @shortened
    def forward_source(self) -> str:
        """The generated forward of the latest specialization."""
        return self._latest.forward_source

    @property
    @shortened
    def adjoint_source(self) -> str:
        """The generated adjoint of the latest specialization."""
        return self._latest.adjoint_source

    @property
    @shortened
    def gradient_source(self) -> str:
        """The generated gradient of the latest specialization."""
        return self._latest.gradient_source

    @property
    @shortened
    def tangent_source(self) -> str:
        """The generated tangent of the latest specialization."""
        return self._latest.tangent_source

    def _check_compiled(self) -> None:
        if not self.compiles:
            raise without_source(probe(self.__gradscribe_function__, "__name__", "function"))

    @property
    def _latest(self) -> Specialization:
        self._check_compiled()
        if not self._specializations:
            name = self._target.function.__name__
            raise NotSpecializedError(
                f"`{name}` is not specialized yet: generated code is for given types",
                f'call `{name}.specialize(…)` with arguments or types such as "float64[:]" first',
            )
        return self._specializations[-1]

    def __repr__(self) -> str:
        return f"<differentiable {self._target.function.__qualname__}>"


def _numbers(target: Target, argnums: Argnums) -> tuple[int, ...] | None:
    return None if argnums is None else tuple(map(target.parameter, argument_numbers(argnums)))


def has_tensor(
    value: Any, is_one: Callable[[Tensor], bool] = lambda tensor: True, depth: int = 4
) -> bool:
    """Whether a value holds a Tensor (of these): in containers, and in the attributes of
    objects."""
    if isinstance(value, Tensor):
        return is_one(value)
    if value.__class__ in _PLAIN or depth == 0 or isinstance(value, (type, ModuleType)):
        return False
    if isinstance(value, (tuple, list)):
        return any(has_tensor(item, is_one, depth) for item in value)
    if isinstance(value, dict):
        return any(has_tensor(item, is_one, depth) for item in value.values())
    attributes = probe(value, "__dict__")
    if not isinstance(attributes, dict) or isinstance(value, DifferentiableFunction):
        return False
    return any(has_tensor(item, is_one, depth - 1) for item in attributes.values())


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


@overload
def differentiable(
    function: Callable[..., Any],
    argnums: Argnums = None,
    jit: bool = False,
    compile: Compile = True,
) -> DifferentiableFunction: ...
@overload
def differentiable(
    function: None = None,
    argnums: Argnums = None,
    jit: bool = False,
    compile: Compile = True,
) -> Callable[[Callable[..., Any]], DifferentiableFunction]: ...
@shortened
def differentiable(
    function: Callable[..., Any] | None = None,
    argnums: Argnums = None,
    jit: bool = False,
    compile: Compile = True,
) -> Any:
    """Make a function differentiable: `@gs.differentiable`, `@gs.differentiable(argnums=0)`.

    argnums: which arguments are differentiated (an int, a tuple, or None for every floating
    leaf). jit: calls with plain values, and the functions of specializations, run as native code
    (with Numba), where that can be: see `Specialization.jit_report`. compile: False runs the
    function as it is, on arrays that record NumPy's calls; "auto" does, where it cannot be
    compiled.
    """
    chosen = compiles(function, compile, jit)
    if function is None:
        return functools.partial(differentiable, argnums=argnums, compile=chosen, jit=jit)
    return DifferentiableFunction(function, argnums, chosen, jit)
