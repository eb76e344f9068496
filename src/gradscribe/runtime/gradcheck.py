"""`gradcheck` and `gradgradcheck`: backward against central differences.

For each input that requires a gradient and each output, the whole Jacobian is computed twice:
numerically, column by column, and by backward, row by row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.runtime import dual
from gradscribe.runtime.backward import as_tensors, grad
from gradscribe.runtime.creation import finished
from gradscribe.runtime.function import Function as CustomFunction
from gradscribe.runtime.tensor import Array, Tensor, wrap

Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """Backward and finite differences do not agree."""


def gradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of func's outputs with central differences of step eps.

    inputs: the arguments of func; those Tensors that require gradients are checked. Returns
    True; where they differ by more than atol + rtol * |numerical|, raises a GradcheckError, or
    returns False without raise_exception. check_forward_ad: compare tangents, too.
    check_undefined_grad: try outputs that get no gradient. nondet_tol: how much two runs may
    differ. The other options of PyTorch's gradcheck are accepted and change nothing.
    """
    arguments = as_tensors(inputs) if isinstance(inputs, Tensor) else tuple(inputs)
    check = _Check(func, arguments, eps, atol, rtol, nondet_tol)
    try:
        check.run(check_backward_ad, check_forward_ad)
        if check_undefined_grad and check_backward_ad:
            check.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradients of func, as functions of its inputs and of grad_outputs
    (random numbers by default)."""
    arguments = as_tensors(inputs) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        seeds = [
            finished(generator.standard_normal(out.shape), out.dtype, requires_grad=True)
            for out in _outputs(func(*arguments))
        ]
    else:
        seeds = [seed.detach().requires_grad_() for seed in as_tensors(grad_outputs)]
    count = len(seeds)

    def gradients(*values: Any) -> tuple[Tensor, ...]:
        outputs = _outputs(func(*values[:-count]))
        wanted = [v for v in values[:-count] if _is_checked(v)]
        found = grad(outputs, wanted, values[-count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None and g.requires_grad)

    return gradcheck(
        gradients,
        (*arguments, *seeds),
        eps,
        atol,
        rtol,
        raise_exception,
        nondet_tol,
        check_undefined_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
    )


def _is_checked(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _all_outputs(result: Any) -> tuple[Tensor, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _outputs(result: Any) -> tuple[Tensor, ...]:
    """The differentiable outputs."""
    items = result if isinstance(result, (tuple, list)) else (result,)
    return tuple(i for i in items if isinstance(i, Tensor) and i.requires_grad)


@dataclass(frozen=True)
class _Check:
    """One call of `gradcheck`; see its parameters."""

    func: Function
    arguments: Sequence[Any]
    eps: float
    atol: float
    rtol: float
    nondet_tol: float

    @property
    def checked(self) -> list[Tensor]:
        return [value for value in self.arguments if _is_checked(value)]

    def run(self, backward: bool, forward: bool) -> None:
        """Compare all Jacobians."""
        self._check_inputs()
        outputs = _outputs(self.func(*self.arguments))
        if not outputs:
            self._refuse_slopes()
        for number, output in enumerate(outputs):
            numerical = [self._numerical(number, value) for value in self.checked]
            if forward:
                self._compare(
                    number, numerical, self._forward(number), "computed with forward mode "
                )
            if backward:
                self._compare(number, numerical, _analytical(output, self.checked), "")
                self._check_repeated(output)

    def _check_inputs(self) -> None:
        if not self.checked:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, "
                "but none of the them have requires_grad=True."
            )
        for position, value in enumerate(self.arguments):
            if not _is_checked(value):
                continue
            if value.array.dtype not in (np.float64, np.complex128):
                warnings.warn(
                    f"Input #{position} requires gradient and is not a double precision floating "
                    "point or complex. This check will likely fail if all the inputs are not of "
                    "double precision floating point or complex. ",
                    stacklevel=5,
                )
            if value.array.size > 1 and 0 in value.array.strides:
                raise RuntimeError(
                    f"The {position}th input has a dimension with stride 0. gradcheck only "
                    "supports inputs that are non-overlapping to be able to compute the numerical "
                    "gradients correctly. You should call .contiguous on the input before passing "
                    "it to gradcheck."
                )
            value.retain_grad()

    def _refuse_slopes(self) -> None:
        """Where no output requires a gradient, none may depend on an input."""
        result = self.func(*self.arguments)
        count = len(result) if isinstance(result, (tuple, list)) else 1
        for number in range(count):
            for value in self.checked:
                if np.any(self._numerical(number, value, _all_outputs)):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    def _compare(
        self, number: int, numerical: Sequence[Array], found: Sequence[Array], how: str
    ) -> None:
        for position, (expected, given) in enumerate(zip(numerical, found, strict=True)):
            if not np.allclose(given, expected, rtol=self.rtol, atol=self.atol, equal_nan=True):
                raise GradcheckError(
                    f"Jacobian {how}mismatch for output {number} with respect to input "
                    f"{position},\nnumerical:{wrap(expected)!r}\nanalytical:{wrap(given)!r}\n"
                )

    def _check_repeated(self, output: Tensor) -> None:
        """Two runs must agree, and no gradient must give none."""
        first, again = _analytical(output, self.checked), _analytical(output, self.checked)
        for one, other in zip(first, again, strict=True):
            if not np.allclose(one, other, rtol=0, atol=self.nondet_tol, equal_nan=True):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    "gradient matches numerical gradient. The tolerance for nondeterminism was "
                    f"{self.nondet_tol}."
                )
        zeros = wrap(np.zeros_like(output.array))
        for gradient in grad(output, self.checked, zeros, retain_graph=True, allow_unused=True):
            if gradient is not None and np.any(gradient.array != 0):
                raise GradcheckError("backward not multiplied by grad_output")

    def undefined_gradients(self) -> None:
        """Run backward with outputs that get no gradient, some and all of them."""
        outputs = _outputs(self.func(*self.arguments))
        some = [[i] for i in range(len(outputs))] if len(outputs) > 1 else []
        for missing in [list(range(len(outputs))), *some]:
            nodes = [_Undefined.apply(i in missing, output) for i, output in enumerate(outputs)]
            if not nodes:
                return
            seeds = [wrap(np.ones_like(output.array)) for output in outputs]
            try:
                found = grad(nodes, self.checked, seeds, True, allow_unused=True)
            except RuntimeError as error:
                raise GradcheckError(_UNDEFINED) from error
            if len(missing) == len(outputs):
                for gradient in found:
                    if gradient is not None and np.any(gradient.array != 0):
                        raise GradcheckError(_UNDEFINED)

    def _numerical(
        self, number: int, value: Tensor, pick: Callable[[Any], Sequence[Tensor]] | None = None
    ) -> Array:
        """The Jacobian of one output with respect to one input by central differences."""

        def output() -> Array:
            result = (pick or _outputs)(self.func(*self.arguments))[number]
            return result.array.astype(np.result_type(result.array, np.float64)).ravel()

        rows = []
        for i in range(value.array.size):
            place = np.unravel_index(i, value.array.shape)
            present = value.array[place]
            sides = []
            for step in (self.eps, -self.eps):
                value.array[place] = present + step
                sides.append(output())
            value.array[place] = present
            rows.append((sides[0] - sides[1]) / (2 * self.eps))
        return np.array(rows).reshape(value.array.size, -1)

    def _forward(self, number: int) -> list[Array]:
        """For each input the Jacobian of one output, by forward mode."""
        return [self._forward_rows(number, value) for value in self.checked]

    def _forward_rows(self, number: int, value: Tensor) -> Array:
        rows = []
        for i in range(value.array.size):
            direction = np.zeros_like(value.array)
            direction.flat[i] = 1
            with dual.dual_level():
                moved = [
                    dual.make_dual(a, wrap(direction)) if a is value else a for a in self.arguments
                ]
                out = _outputs(self.func(*moved))[number]
                tangent = dual.unpack_dual(out).tangent
            rows.append(np.zeros(out.array.size) if tangent is None else tangent.array.ravel())
        return np.array(rows).reshape(value.array.size, -1)


_UNDEFINED = (
    'Expected backward function to handle undefined output grads. Please look at "Notes about '
    'undefined output gradients" in "tools/autograd/derivatives.yaml"'
)


class _Undefined(CustomFunction):
    """The Tensor itself, whose gradient gets lost on the way back."""

    @staticmethod
    def forward(ctx: Any, lost: bool, x: Any) -> Any:
        ctx.lost = lost
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return None, None if ctx.lost else gradient


def _analytical(output: Tensor, inputs: Sequence[Tensor]) -> list[Array]:
    """For each input the Jacobian, of shape (input elements, output elements), by backward."""
    jacobians = [np.zeros((i.array.size, output.array.size), output.dtype) for i in inputs]
    for column in range(output.array.size):
        seed = np.zeros_like(output.array)
        seed.flat[column] = 1
        found = grad(output, inputs, wrap(seed), retain_graph=True, allow_unused=True)
        for jacobian, gradient in zip(jacobians, found, strict=True):
            if gradient is not None:
                jacobian[:, column] = gradient.array.ravel()
    return jacobians
