"""Gradients of functions as functions: `grad`, `value_and_grad`, and their compositions.

A `Gradient` finds, for the arguments of a call, the lowering of its function that fits them,
and runs the generated code. `grad(grad(f))` is a `Gradient` of order two: the tangent of the
gradient along the argument that the first `grad` chose (DESIGN §1.5), not an adjoint of an
adjoint.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from gradscribe.api import recorded_transforms
from gradscribe.api.partly_compiled import RECORDING
from gradscribe.api.recorded_transforms import Compile
from gradscribe.api.stored_outside import StoredOutside
from gradscribe.api.transform import Plan, Run, Transform, beside, prepared
from gradscribe.compiler import Primal, Target, argument_numbers, partial_target, target_of
from gradscribe.compiler.generated import Generated
from gradscribe.compiler.higher_order import nested_gradient
from gradscribe.compiler.signatures import leaf_text, parameter_location
from gradscribe.errors import ArgumentError, NonScalarError
from gradscribe.ir.core import Function, Location
from gradscribe.ir.trees import Constant, Leaf, Node, Tree
from gradscribe.ir.types import Array, Opaque, Scalar, is_differentiable
from gradscribe.primitives.control import RAISE
from gradscribe.transforms.analyses.opacity import refuse_opaque

Argnums = int | tuple[int, ...]


class Gradient(Transform):
    """The function that `gs.grad` and `gs.value_and_grad` return."""

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: Argnums,
        *,
        has_aux: bool = False,
        with_value: bool = False,
        compiles: Compile = True,
        jit: bool = False,
    ) -> None:
        if not isinstance(has_aux, bool):
            raise ArgumentError(f"has_aux={has_aux!r}", "pass True or False")
        numbers = argument_numbers(argnums)
        self.argnums: Argnums = numbers if isinstance(argnums, (tuple, list)) else numbers[0]
        self.given = function
        self.function: Callable[..., Any] = function
        self.chain: tuple[Argnums, ...] = (self.argnums,)
        if isinstance(function, Gradient):
            function.check_differentiable()
            self.function = function.function
            self.chain = (*function.chain, self.argnums)
        self.has_aux = has_aux
        self.with_value = with_value
        key = (Gradient, self.chain, has_aux, with_value)
        super().__init__(function, "grad", key, compiles, jit)
        if compiles is True:
            self.target  # noqa: B018  (refuse now what is no function)

    @cached_property
    def target(self) -> Target:
        """What is compiled of the function."""
        found = target_of(self.function)
        return partial_target(found, RECORDING) if self.compiles == "auto" else found

    def check_in_order(self) -> None:
        """Refuse gradients that are not structured as those of all parameters in their order."""
        for numbers in self.chain:
            in_order = isinstance(numbers, int) or (
                len(numbers) > 1 and all(a < b for a, b in itertools.pairwise(numbers))
            )
            if not in_order or (isinstance(numbers, tuple) and numbers[0] < 0):
                raise ArgumentError(
                    f"a gradient by argnums={numbers} is differentiated itself",
                    "wrap it in a function: `lambda x, y: g(x, y)`",
                )

    @property
    def is_first_order(self) -> bool:
        return not isinstance(self.given, Transform)

    @property
    def __gradscribe_gradient__(self) -> bool:
        return not (self.has_aux or self.with_value)

    @property
    def compiled(self) -> Target:
        return self.target

    def unbound(self) -> Gradient:
        function: Callable[..., Any] = self.target.function
        for argnums in self.chain[:-1]:
            function = Gradient(function, self.target.unbound(argnums))
        argnums = self.target.unbound(self.argnums)
        return Gradient(function, argnums, has_aux=self.has_aux, with_value=self.with_value)

    def recorded(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        out, found = recorded_transforms.gradient(
            self.given, self.argnums, args, keywords, has_aux=self.has_aux
        )
        if self.with_value:
            return out, found
        return (found, out[1]) if self.has_aux else found

    def plan(self, target: Target, primal: Primal) -> Plan:
        if len(self.chain) > 1 and not _always_raises(primal.function):
            return self._nested_plan(target, primal)
        active = self._active(target, primal, self.argnums)
        if _always_raises(primal.function):
            generated = primal.specialization(active).generated_forward
            return Plan(prepared(primal, generated), generated)
        seeded = check_scalar(primal.function, self.has_aux, primal.location)
        stored = StoredOutside.of(primal, target)
        if stored is not None:
            return self._storing_plan(target, primal, active, stored)
        special = primal.specialization(active, seeded)
        generated = special.generated_gradient
        if self.with_value or self.has_aux:
            generated = special.generated_value_and_gradient
        run = prepared(primal, generated, *special.default_seeds())
        arrange = self._arrange(target)
        if self.with_value:
            run = _then(run, lambda pair: (pair[0], arrange(pair[1])))
        elif self.has_aux:
            run = _then(run, lambda pair: (arrange(pair[1]), pair[0][1]))
        elif arrange is not _unchanged:
            run = _then(run, arrange)
        return Plan(run, generated)

    def _storing_plan(
        self, target: Target, primal: Primal, active: tuple[int, ...], stored: StoredOutside
    ) -> Plan:
        """That of a function that stores outside of its arguments."""
        special, arrange = primal.storing_specialization(active, (0,)), self._arrange(target)
        generated = special.generated_changes_and_gradient
        if self.with_value or self.has_aux:
            generated = special.generated_value_and_gradient
        run = prepared(primal, generated, *special.default_seeds())

        def result(found: tuple[Any, Any]) -> tuple[Any, Any]:
            first, gradient = found[0], arrange(found[1])
            if self.with_value:
                return (first[0], gradient), first[1]
            return ((gradient, first[0][1]), first[1]) if self.has_aux else (gradient, first)

        return Plan(_then(run, result), generated, stored)

    def _nested_plan(self, target: Target, primal: Primal) -> Plan:
        """The gradient of a gradient: see `higher_order`."""
        chain = self.leaf_chain(target, primal)
        generated = Generated(
            lambda: nested_gradient(primal.function, chain, with_value=self.with_value)
        )
        run, arrange = prepared(primal, generated), self._arrange(target)
        if self.with_value:
            run = _then(run, lambda pair: (pair[0], arrange(pair[1])))
        else:
            run = _then(run, arrange)
        return beside(run, generated, StoredOutside.of(primal, target))

    def leaf_chain(self, target: Target, primal: Primal) -> list[tuple[int, ...]]:
        """The leaves of each gradient of the chain; all but the last must be one number."""
        check_scalar(primal.function, False, primal.location)
        chain = [self._active(target, primal, argnums) for argnums in self.chain]
        for argnums, leaves in zip(self.chain[:-1], chain[:-1], strict=True):
            if isinstance(argnums, tuple) or len(leaves) > 1 or not _is_number(primal, leaves[0]):
                raise NonScalarError(
                    "the inner gradient is not one real number, so it has no gradient itself",
                    "use `gs.hessian`, `gs.jacobian` or `gs.hvp`",
                    primal.location,
                )
        return chain

    def _active(self, target: Target, primal: Primal, argnums: Argnums) -> tuple[int, ...]:
        """The active leaves; each argument that is differentiated must have some."""
        numbers = argnums if isinstance(argnums, tuple) else (argnums,)
        parameters = [target.parameter(number) for number in numbers]
        for number in parameters:
            if not primal.active_leaves((number,)):
                raise ArgumentError(
                    f"argument `{primal.arguments[number].name}` of `{primal.name}` has nothing "
                    f"to differentiate: it is {_kind(primal, number)}",
                    "pass floating-point numbers or arrays (`3.0`, not `3`), or other argnums",
                    parameter_location(primal.user_function, primal.arguments[number].name),
                )
        return primal.active_leaves(tuple(parameters))

    def _arrange(self, target: Target) -> Callable[[Any], Any]:
        """From the generated gradient, which has the arguments in the function's own order, to
        the order of argnums, with a tuple for a tuple."""
        if isinstance(self.argnums, int):
            return _unchanged
        numbers = [target.parameter(number) for number in self.argnums]
        order = sorted(set(numbers))
        if len(order) == 1:
            return lambda gradient: (gradient,) * len(numbers)
        if order == numbers:
            return _unchanged
        positions = [order.index(number) for number in numbers]
        return lambda gradients: tuple(gradients[position] for position in positions)

    def check_differentiable(self) -> None:
        """Refuse what `grad` of this gradient would not mean."""
        if self.has_aux or self.with_value:
            raise NonScalarError(
                f"`{self.__name__}` returns a pair, which has no gradient", "use `gs.grad` inside"
            )


def _always_raises(function: Function) -> bool:
    """Whether every path ends in a `raise` of the program: calling it does just that."""
    operations = function.body.operations
    return bool(operations) and operations[-1].primitive is RAISE


def check_scalar(
    function: Function, has_aux: bool, location: Location | None = None
) -> tuple[int, ...] | None:
    """Refuse functions whose result (less the auxiliary part) is not one real number; returns
    the leaves of the result that get a cotangent, where that is not all."""
    tree: Tree = function.result
    if has_aux:
        if not isinstance(tree, Node) or tree.cls is not tuple or len(tree.children) != 2:
            raise ArgumentError(
                f"`{function.name}` does not return a pair",
                "with `has_aux`, return (value, aux)",
                location,
            )
        tree = tree.children[0]
    if tree == Constant(None):
        raise NonScalarError(
            f"`{function.name}` returns nothing, and so has no gradient",
            "`return` what is to be differentiated",
            location,
        )
    if not isinstance(tree, Leaf):
        raise _not_scalar(function, _shown(tree), location)
    type_ = function.body.yields[0].type
    if isinstance(type_, Opaque):  # of a call that tells what is wrong, perhaps
        refuse_opaque(function, frozenset(range(len(function.body.parameters))))
    has_axes = isinstance(type_, Array) and bool(type_.dims)
    if has_axes or not isinstance(type_, (Scalar, Array)) or not is_differentiable(type_):
        found = "a value of unknown type" if type_ == Opaque() else leaf_text(type_)
        raise _not_scalar(function, found, location)
    if np.dtype(type_.dtype).kind == "c":
        raise _not_scalar(function, "a complex number", location)
    return (0,) if has_aux else None


def _shown(tree: Constant | Node) -> str:
    """What a result that is no single number is called in errors."""
    if isinstance(tree, Constant):
        return repr(tree.value)
    return f"a {tree.cls.__name__} of {len(tree.children)}"


def _not_scalar(function: Function, found: str, location: Location | None) -> NonScalarError:
    return NonScalarError(
        f"the gradient of `{function.name}` needs one real number as its result, not {found}",
        "sum the result (`np.sum`), or use `gs.vjp` or `gs.jacobian`",
        location,
    )


def _then(run: Run, change: Callable[[Any], Any]) -> Run:
    return lambda values: change(run(values))


def _unchanged(gradient: Any) -> Any:
    return gradient


def _is_number(primal: Primal, leaf: int) -> bool:
    type_ = primal.function.body.parameters[leaf].type
    return isinstance(type_, Scalar) or (isinstance(type_, Array) and not type_.dims)


def _kind(primal: Primal, parameter: int) -> str:
    typed = primal.arguments[parameter]
    return "of type " + ", ".join(map(leaf_text, typed.types)) if typed.types else "static"
