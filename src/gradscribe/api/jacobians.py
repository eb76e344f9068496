"""Jacobians and Hessians of functions as functions.

    gs.jacobian(f, argnums=0, mode="auto")    gs.jacfwd    gs.jacrev    gs.hessian

The result of a call has the structure of the function's result; in place of each of its leaves
stands the structure of the argument (a tuple of those, where argnums is one); in place of each
leaf of that, the derivative, an array of shape `leaf of the result + leaf of the argument`. Leaves
that have no derivative (integers, booleans, text) become None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

from gradscribe.api import jacobian_calls, recorded_transforms
from gradscribe.api.functional import Argnums, Gradient
from gradscribe.api.jacobian_calls import Derivative, Mode
from gradscribe.api.partly_compiled import RECORDING
from gradscribe.api.recorded_transforms import Compile, compiles
from gradscribe.api.stored_outside import StoredOutside
from gradscribe.api.transform import Plan, Transform, prepared
from gradscribe.api.transform_calls import of_function
from gradscribe.compiler import Primal, Target, argument_numbers, partial_target, target_of
from gradscribe.compiler.generated import Generated
from gradscribe.errors import ArgumentError
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.dependencies import WRAPPERS
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static
from gradscribe.ir.probing import probe
from gradscribe.tracebacks import shortened
from gradscribe.transforms.passes.simplify import simplify


class Jacobian(Transform):
    """The function that `gs.jacobian` and its kind return."""

    __gradscribe_gradient__ = True

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: Argnums,
        mode: Mode,
        holomorphic: bool = False,
        prefix: str = "jacobian",
        compiles: Compile = True,
        jit: bool = False,
    ) -> None:
        numbers = argument_numbers(argnums)
        self.argnums: Argnums = numbers if isinstance(argnums, (tuple, list)) else numbers[0]
        if not isinstance(mode, str) or mode not in ("auto", "forward", "reverse"):
            raise ArgumentError(f"mode={mode!r}", 'pass "auto", "forward" or "reverse"')
        if isinstance(function, Gradient):
            function.check_differentiable()
        self.function = function
        self.mode = mode
        self.holomorphic = holomorphic
        self.given = function
        key = (Jacobian, self.argnums, mode, holomorphic)
        super().__init__(function, prefix, key, compiles, jit)
        if compiles is True:
            self.target  # noqa: B018  (refuse now what is no function)

    @cached_property
    def target(self) -> Target:
        """What is compiled of the function."""
        return target_of(self.function)

    @property
    def is_first_order(self) -> bool:
        return not isinstance(self.function, Transform)

    @cached_property
    def compiled(self) -> Target:
        found = target_of(self)
        return partial_target(found, RECORDING) if self.compiles == "auto" else found

    def unbound(self) -> Jacobian:
        made = Jacobian(self.target.function, self.target.unbound(self.argnums), self.mode)
        made.holomorphic = self.holomorphic
        made.__name__ = self.__name__
        return made

    def recorded(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return recorded_transforms.jacobian(
            self.function,
            self.argnums,
            args,
            keywords,
            is_forward=self.mode == "forward",
            holomorphic=self.holomorphic,
        )

    def plan(self, target: Target, primal: Primal) -> Plan:
        stored = StoredOutside.of(primal, target)
        if stored is None:
            generated = Generated(lambda: simplify(primal.function))
        else:
            generated = Generated(lambda: simplify(stored.function))
        return Plan(prepared(primal, generated), generated, stored)


@shortened
def jacobian(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    mode: Mode = "auto",
    holomorphic: bool = False,
    *,
    jit: bool = False,
    compile: Compile = True,
) -> Callable[..., Any]:
    """The derivative of every element of a function's result by every element of an argument.

    argnums: the argument, or (then there is a tuple of derivatives) the arguments. mode:
    "reverse" takes one run of the adjoint for each element of the result, "forward" one of the
    function and its tangent for each element of the arguments; "auto" the one that takes fewer.

    Of a real result y by a complex argument z the derivative is dy/d(Re z) + i dy/d(Im z), the
    gradient; of a complex result by a real argument, the complex derivative. Of complex results by
    complex arguments there is one number only where the function is differentiable in the complex
    sense: holomorphic=True says that it is; without, such a Jacobian is refused.

    >>> jacobian(lambda x: x**2)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])

    `.source` of what this returns is the generated code of its latest call.
    """
    chosen = compiles(function, compile, jit)
    return Jacobian(function, argnums, mode, holomorphic, compiles=chosen, jit=jit)


@shortened
def jacfwd(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    holomorphic: bool = False,
    *,
    jit: bool = False,
    compile: Compile = True,
) -> Callable[..., Any]:
    """`jacobian` in forward mode: one run for each element of the arguments."""
    chosen = compiles(function, compile, jit)
    return Jacobian(function, argnums, "forward", holomorphic, "jacfwd", chosen, jit)


@shortened
def jacrev(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    holomorphic: bool = False,
    *,
    jit: bool = False,
    compile: Compile = True,
) -> Callable[..., Any]:
    """`jacobian` in reverse mode: one run of the adjoint for each element of the result."""
    chosen = compiles(function, compile, jit)
    return Jacobian(function, argnums, "reverse", holomorphic, "jacrev", chosen, jit)


@shortened
def hessian(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    holomorphic: bool = False,
    *,
    jit: bool = False,
    compile: Compile = True,
) -> Callable[..., Any]:
    """The second derivatives of a function: forward mode over reverse mode.

    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])

    Of nested arguments, and with several argnums, the derivative by the first one has in place of
    each leaf the structure of its own derivative.
    """
    chosen = compiles(function, compile, jit)
    rows = Jacobian(function, argnums, "reverse", holomorphic, "jacrev", chosen)
    made = Jacobian(rows, argnums, "forward", holomorphic, "hessian", chosen, jit)
    made.__name__ = f"hessian_{probe(function, '__name__', 'function')}"
    return made


def _call(
    lowering: Lowering,
    node: Any,
    callee: Static,
    /,
    *rest: Any,
    **keywords: Any,
) -> Any:
    """A `Jacobian` made outside, called inside."""
    made: Jacobian = callee.value
    inner = (Static(Derivative(made.argnums, made.mode, made.holomorphic)), Static(made.function))
    return jacobian_calls.call_derivative(lowering, node, *inner, *rest, **keywords)


def _hessian(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    rows: Any = jacobian_calls.make("reverse")(lowering, node, *arguments, **keywords)
    inner: Derivative = rows.function.value
    return of_function(replace(inner, mode="forward"), rows)


def enter() -> None:
    """Make the transforms known to the frontend."""
    jacobian_calls.enter()
    handlers.enter({handlers.ObjectsOf(Jacobian): _call})
    WRAPPERS[Jacobian] = ("function", ("argnums", "mode", "holomorphic"))
    handlers.enter(
        {
            jacobian: jacobian_calls.make("auto"),
            jacfwd: jacobian_calls.make("forward"),
            jacrev: jacobian_calls.make("reverse"),
            hessian: _hessian,
        }
    )
