"""What compiled code knows of a call of an `autograd.Function`: its `ctx`, and how `backward` and
`jvp` are called.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradscribe.frontend.kinds.structure_parts import Structure
from gradscribe.frontend.opaque.given_derivatives import has_sum_of_shape, is_same_shape, sums_to
from gradscribe.frontend.prelude.derivative_prelude import check_same, check_sum
from gradscribe.runtime.modes.function import Function
from gradscribe.runtime.modes.function_node import misfit

_serial = itertools.count(1)


class Context:
    """The `ctx` of compiled code. What it is told has private names: users may set any other."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()
        self.__for_forward: tuple[Any, ...] = ()
        self.__non_differentiable: tuple[Any, ...] = ()
        self.__dirty: tuple[Any, ...] = ()
        self.__materializes = True

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self.__for_forward = tensors

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        return self.saved_tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.__non_differentiable = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        self.__dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.__materializes = value


FOR_FORWARD = "_Context__for_forward"
NON_DIFFERENTIABLE = "_Context__non_differentiable"
DIRTY = "_Context__dirty"
MATERIALIZES = "_Context__materializes"


@dataclass(eq=False)
class Rules:
    """The derivative of one call. context: the structure of its `ctx`; inputs: which of the
    arguments are differentiable; foreign: which are no Tensors; outputs: which of the results are
    differentiable; of: for each leaf of the context the result that it is; filled: for which of
    the results without derivative `backward` gets zeros (they follow the leaves of the context in
    what is saved); materializes: whether gradients are never None.
    """

    function: type[Function]
    context: Structure
    inputs: tuple[bool, ...]
    foreign: tuple[bool, ...]
    outputs: tuple[bool, ...]
    of: tuple[int | None, ...]
    filled: tuple[bool, ...]
    materializes: bool
    serial: int = field(default_factory=_serial.__next__)

    def __repr__(self) -> str:
        return f"<derivative {self.serial} of {self.function.__name__}>"

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


@dataclass(frozen=True, eq=False)
class Backward:
    """How `backward` is called: with what `ctx` kept under that name, and a gradient for each
    result, for one of each argument."""

    rules: Rules
    name = "backward"
    kept = "saved_tensors"
    check_shape = staticmethod(check_sum)

    @property
    def function(self) -> Callable[..., Any]:
        return self.rules.function._backward_rule()

    @property
    def wanted(self) -> tuple[bool, ...]:
        return self.rules.inputs

    fits = staticmethod(sums_to)
    has_fitting = staticmethod(has_sum_of_shape)

    def misfit(self, position: int, given: str, wanted: str) -> str:
        """What is said of one of another shape."""
        return (
            f"Function {self.rules.function.__name__}Backward returned an invalid gradient at "
            f"index {position} - got {given} but expected shape compatible with {wanted}"
        )

    def check(self, is_none: Sequence[bool]) -> None:
        """Refuse what is returned if it is not one gradient for each argument (or more of them,
        which are None), or is one for what is no Tensor."""
        expected = len(self.wanted)
        if len(is_none) < expected or not all(is_none[expected:]):
            raise misfit(
                self.function,
                f"function {self.rules.function.__name__}Backward returned an incorrect number of "
                f"gradients (expected {expected}, got {len(is_none)})",
            )
        for position, foreign in enumerate(self.rules.foreign):
            if foreign and not is_none[position]:
                raise misfit(
                    self.function,
                    f"function {self.rules.function.__name__}Backward returned a gradient "
                    f"different than None at position {position + 1}, but the corresponding "
                    "forward input was not a Variable",
                )


@dataclass(frozen=True, eq=False)
class Forward:
    """How `jvp` is called: with a tangent for each argument, for one of each result."""

    rules: Rules
    name = "jvp"
    kept = FOR_FORWARD
    check_shape = staticmethod(check_same)

    @property
    def function(self) -> Callable[..., Any]:
        return self.rules.function.jvp

    @property
    def wanted(self) -> tuple[bool, ...]:
        return self.rules.outputs

    fits = staticmethod(is_same_shape)
    has_fitting = staticmethod(operator.eq)

    def misfit(self, position: int, given: str, wanted: str) -> str:
        """What is said of one of another shape."""
        return (
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {wanted} while the given forward "
            f"gradient is of size {given}."
        )

    def check(self, is_none: Sequence[bool]) -> None:
        """Refuse what is returned if it is not one tangent for each result."""
        if len(is_none) != len(self.wanted):
            raise misfit(
                self.function,
                "Function's jvp returned an invalid number of forward gradients (expected "
                f"{len(self.wanted)} but got {len(is_none)})",
            )


Method = Backward | Forward
