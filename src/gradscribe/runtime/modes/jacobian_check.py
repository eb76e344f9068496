"""Whole Jacobians, computed numerically, by backward and by forward mode, and compared.

A Jacobian here is real-linear, of shape (input elements, output elements): where the output, or
the part of it that is looked at, is real, its entry for x is the gradient dL/dx, and for a
complex z it is dL/d(re z) + i dL/d(im z), PyTorch's convention. Of a complex output the imaginary
and the real part are looked at one after the other.

In fast mode a Jacobian J is seen along one random direction u of the input, as one row u J, and by
backward along one random v of the output besides, as the number u J v; u and v have no negative
elements and are of length 1, so that a tolerance for each entry is one of sum(u) sum(v) for u J v.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.size import Size, in_tuple
from gradscribe.runtime.modes import dual
from gradscribe.runtime.modes.function import Function as CustomFunction
from gradscribe.runtime.tensors.backward import grad
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap


class GradcheckError(RuntimeError):
    """Derivatives and finite differences do not agree."""


class Part(NamedTuple):
    """A real function of an output: its real or its imaginary part.

    unit: the cotangent of the output that is 1 for the part. text: how errors begin.
    """

    of: Callable[[Array], Array]
    unit: complex
    text: str


_IN_FAST_MODE = (
    "The above quantities relating the numerical and analytical jacobians are computed in fast "
    "mode, along random directions. Whole Jacobians are shown with fast_mode=False.\n"
)
_WHOLE = Part(np.real, 1, "")
_IMAGINARY = Part(np.imag, 1j, "While considering the imaginary part of complex outputs only, ")
_REAL = Part(np.real, 1, "While considering the real part of complex outputs only, ")


def is_checked(value: Any) -> bool:
    """Whether derivatives by this argument are checked."""
    return isinstance(value, Tensor) and value.requires_grad


def outputs_of(result: Any) -> tuple[Tensor, ...]:
    """The differentiable outputs."""
    return tuple(i for i in in_tuple(result) if isinstance(i, Tensor) and i.requires_grad)


@dataclass(frozen=True)
class Check:
    """One call of `gradcheck`; see its parameters."""

    func: Callable[..., Any]
    arguments: Sequence[Any]
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    fast: bool = False

    @property
    def checked(self) -> list[Tensor]:
        return [value for value in self.arguments if is_checked(value)]

    def run(self, backward: bool, forward: bool) -> None:
        """Compare all Jacobians."""
        self._check_inputs()
        listed = in_tuple(self.func(*self.arguments))
        places = [i for i, out in enumerate(listed) if out.requires_grad]
        outputs = [listed[place] for place in places]
        if not outputs:
            self._refuse_slopes(listed)
        numerical = {
            (number, part): [self._numerical(place, part, value) for value in self.checked]
            for number, place in enumerate(places)
            for part in _parts(listed[place])
        }
        if backward:
            for output in outputs:
                self._check_repeated(output)
            for (number, part), expected in numerical.items():
                found = self._analytical(outputs[number], part)
                weights = _drawn(outputs[number]).ravel()
                if self.fast:
                    expected = [rows @ weights for rows in expected]
                self._compare(number, part, expected, found, "", float(np.sum(weights)))
            for output in outputs:
                self._check_nothing(output)
        if forward:
            tangents = self._tangents(places, outputs)
            for (number, part), expected in numerical.items():
                found = [
                    part.of(rows[number]) + 1j * part.of(turned[number])
                    for rows, turned in tangents
                ]
                self._compare(number, part, expected, found, "computed with forward mode ")

    def _analytical(self, output: Tensor, part: Part) -> list[Array]:
        """For each input the Jacobian of part of an output, by backward; in fast mode the one
        number u J v."""
        columns: list[list[Array]] = [[] for _ in self.checked]
        for direction in self._directions(output):
            seed = wrap(np.asarray(part.unit * direction, output.array.dtype))
            found = grad(output, self.checked, seed, retain_graph=True, allow_unused=True)
            for column, value, gradient in zip(columns, self.checked, found, strict=True):
                array = np.zeros_like(value.array) if gradient is None else gradient.array
                column.append(np.sum(_drawn(value) * array) if self.fast else array.ravel())
        if self.fast:
            return [np.array(column) for column in columns]
        sizes = [(output.array.size, value.array.size) for value in self.checked]
        return [np.reshape(c, size).T for c, size in zip(columns, sizes, strict=True)]

    def _check_inputs(self) -> None:
        if not self.checked:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, "
                "but none of them have requires_grad=True."
            )
        for position, value in enumerate(self.arguments):
            if not is_checked(value):
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

    def _refuse_slopes(self, listed: Sequence[Any]) -> None:
        """Where no output requires a gradient, none may depend on an input."""
        for place, output in enumerate(listed):
            for part in _parts(output) if isinstance(output, Tensor) else ():
                if any(np.any(self._numerical(place, part, value)) for value in self.checked):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    def _compare(
        self,
        number: int,
        part: Part,
        numerical: Sequence[Array],
        found: Sequence[Array],
        how: str,
        scale: float = 1.0,
    ) -> None:
        """scale: in fast mode, the sum of the weights of the elements of the output."""
        for position, (expected, given) in enumerate(zip(numerical, found, strict=True)):
            atol = self.atol * self._weight(position, scale)
            if not np.allclose(given, expected, rtol=self.rtol, atol=atol, equal_nan=True):
                shown = given if np.iscomplexobj(expected) else given.real
                raise GradcheckError(
                    f"{part.text}Jacobian {how}mismatch for output {number} with respect to input "
                    f"{position},\nnumerical:{wrap(expected)!r}\nanalytical:{wrap(shown)!r}\n"
                    f"{_IN_FAST_MODE if self.fast else ''}"
                )

    def _weight(self, position: int, scale: float) -> float:
        """The sum of the weights with which entries of a Jacobian count in what is compared."""
        if not self.fast:
            return 1.0
        value = self.checked[position]
        return float(np.sum(_drawn(value))) * len(_steps(value)) * scale

    def _check_repeated(self, output: Tensor) -> None:
        """Two runs must agree."""
        part = _parts(output)[-1]
        runs = [self._analytical(output, part) for _ in range(2)]
        for one, other in zip(*runs, strict=True):
            if not np.allclose(one, other, rtol=0, atol=self.nondet_tol, equal_nan=True):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    "gradient matches numerical gradient. The tolerance for nondeterminism was "
                    f"{self.nondet_tol}."
                )

    def _check_nothing(self, output: Tensor) -> None:
        """No gradient must give none."""
        zeros = wrap(np.zeros_like(output.array))
        for gradient in grad(output, self.checked, zeros, retain_graph=True, allow_unused=True):
            if gradient is not None and np.any(gradient.array != 0):
                raise GradcheckError("backward not multiplied by grad_output")

    def undefined_gradients(self) -> None:
        """Run backward with outputs that get no gradient, some and all of them."""
        outputs = outputs_of(self.func(*self.arguments))
        some = [[i] for i in range(len(outputs))] if len(outputs) > 1 else []
        for missing in [list(range(len(outputs))), *some] if outputs else []:
            nodes = [_Undefined.apply(i in missing, output) for i, output in enumerate(outputs)]
            seeds = [wrap(np.ones_like(output.array)) for output in outputs]
            try:
                found = grad(nodes, self.checked, seeds, True, allow_unused=True)
            except RuntimeError as error:
                raise _undefined() from error
            if len(missing) == len(outputs):
                for gradient in found:
                    if gradient is not None and np.any(gradient.array != 0):
                        raise _undefined()

    def missing_tangents(self) -> None:
        """An input without tangent must give what one with a tangent of zeros gives."""
        generator = np.random.default_rng(0)
        draws = [wrap(_normal(generator, value.array)) for value in self.checked]
        for missing in range(len(draws)):
            given: list[Tensor | None] = [*draws]
            given[missing] = wrap(np.zeros_like(draws[missing].array))
            with_zeros = self._with_tangents(given)
            given[missing] = None
            for one, other in zip(with_zeros, self._with_tangents(given), strict=True):
                if not np.allclose(_or_zeros(one), _or_zeros(other)):
                    raise GradcheckError(
                        "Expected jvp to give the same for an input without tangent as for one "
                        "whose tangent is zero"
                    )

    def _with_tangents(self, given: Sequence[Tensor | None]) -> list[tuple[Any, Tensor | None]]:
        """The outputs, with their tangents, for these tangents of the checked inputs (None: for
        an input without). The inputs require no gradients meanwhile."""
        rest = iter(given)
        with dual.dual_level():
            moved = []
            for value in self.arguments:
                tangent = next(rest) if is_checked(value) else None
                plain = value.detach() if isinstance(value, Tensor) else value
                moved.append(plain if tangent is None else dual.make_dual(plain, tangent))
            listed = in_tuple(self.func(*moved))
            return [
                (out, dual.unpack_dual(out).tangent if _is_floating(out) else None)
                for out in listed
            ]

    def _tangents(
        self, places: Sequence[int], outputs: Sequence[Tensor]
    ) -> list[tuple[list[Array], list[Array]]]:
        """For each input, the Jacobians of the outputs by forward mode, one row for each direction
        of the input, moved along 1 and (of a complex one) along i."""
        found = []
        for position, value in enumerate(self.checked):
            units = (1, 1j) if np.iscomplexobj(value.array) else (1,)
            blocks = [self._rows(position, value, unit, places, outputs) for unit in units]
            zeros = [np.zeros(block.shape) for block in blocks[0]]
            found.append((blocks[0], blocks[1] if len(blocks) > 1 else zeros))
        return found

    def _rows(
        self,
        position: int,
        value: Tensor,
        unit: complex,
        places: Sequence[int],
        outputs: Sequence[Tensor],
    ) -> list[Array]:
        rows: list[list[Array]] = [[] for _ in outputs]
        directions = list(self._directions(value))
        for direction in directions:
            given = [wrap(np.zeros_like(other.array)) for other in self.checked]
            given[position] = wrap(np.asarray(unit * direction, value.array.dtype))
            tangents = self._with_tangents(given)
            for row, place, output in zip(rows, places, outputs, strict=True):
                tangent = tangents[place][1]
                row.append(
                    np.zeros(output.array.size) if tangent is None else tangent.array.ravel()
                )
        return [
            np.array(row).reshape(len(directions), output.array.size)
            for row, output in zip(rows, outputs, strict=True)
        ]

    def _directions(self, value: Tensor) -> Iterator[Array]:
        """Along what an input is moved: each of its elements, or in fast mode one drawn array."""
        if self.fast:
            yield _drawn(value)
            return
        for position in range(value.array.size):
            direction = np.zeros(value.array.shape)
            direction.flat[position] = 1
            yield direction

    def _numerical(self, place: int, part: Part, value: Tensor) -> Array:
        """The Jacobian of part of one output with respect to one input by central differences."""
        rows = []
        for direction in self._directions(value):
            slopes = [self._slope(place, part, value, step * direction) for step in _steps(value)]
            rows.append(slopes[0] if len(slopes) == 1 else slopes[0] + 1j * slopes[1])
        return np.array(rows) if rows else np.zeros((0, 1))

    def _slope(self, place: int, part: Part, value: Tensor, direction: Array) -> Array:
        """The derivative of part of one output along a direction of an input."""
        present = value.array.copy()
        sides = []
        for sign in (1, -1):
            value.array[...] = present + sign * self.eps * direction
            sides.append(np.array(in_tuple(self.func(*self.arguments))[place].array))
        value.array[...] = present
        where = "" if self.fast else f"on index {tuple(map(int, np.argwhere(direction)[0]))} "
        for kind in ("shape", "dtype"):
            self._check_same(kind, where, *(getattr(side, kind) for side in sides))
        up, down = (part.of(side).astype(np.float64).ravel() for side in sides)
        return (up - down) / (2 * self.eps)

    def _check_same(self, kind: str, where: str, one: Any, other: Any) -> None:
        if one != other:
            shown = (Size(one), Size(other)) if kind == "shape" else (one, other)
            raise AssertionError(
                f"Expected `func` to return outputs with the same {kind} when inputs are perturbed "
                f"{where}by {self.eps}, but got: {kind}s {shown[0]} and {shown[1]}."
            )


def _parts(output: Tensor) -> tuple[Part, ...]:
    return (_IMAGINARY, _REAL) if np.iscomplexobj(output.array) else (_WHOLE,)


def _steps(value: Tensor) -> tuple[complex, ...]:
    """The directions in which an element of an input is moved."""
    return (1, 1j) if np.iscomplexobj(value.array) else (1,)


def _drawn(value: Tensor) -> Array:
    """Random weights for the elements of a Tensor, the same at each call."""
    drawn = np.random.default_rng(value.array.size).uniform(size=value.array.shape)
    return np.asarray(drawn / (np.linalg.norm(drawn) or 1.0))


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and dtypes.is_differentiable(value.array.dtype)


def _normal(generator: np.random.Generator, like: Array) -> Array:
    drawn = generator.standard_normal((2, *like.shape))
    return np.asarray(drawn[0] + 1j * drawn[1] if np.iscomplexobj(like) else drawn[0], like.dtype)


def _or_zeros(output: tuple[Any, Tensor | None]) -> Any:
    out, tangent = output
    if tangent is not None:
        return tangent.array
    return np.zeros_like(out.array) if isinstance(out, Tensor) else 0


def _undefined() -> GradcheckError:
    """The error for a backward that does not bear undefined gradients; warns besides."""
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        "default, but it may break existing callers of this function. If this is true for you, "
        'you can call this function with "check_undefined_grad=False" to disable the feature',
        stacklevel=5,
    )
    return GradcheckError(
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
