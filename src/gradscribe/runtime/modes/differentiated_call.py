"""One call of a user's function of Tensors, and the derivatives through it that
`functional.py` is made of.

A product with the Jacobian itself, J v, is computed by two runs backward: J^T u is linear in u,
and the derivative of <J^T u, v> by u is J v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from gradscribe.runtime.graph.grad_mode import is_grad_enabled, set_grad_enabled
from gradscribe.runtime.operations import shaping
from gradscribe.runtime.tensors.backward import check_real, grad
from gradscribe.runtime.tensors.constants import zeros_like
from gradscribe.runtime.tensors.tensor import Tensor, wrap

Tensors = tuple[Tensor, ...]
OneOrMore = Tensor | Tensors
Function = Callable[..., Any]


class DifferentiatedCall:
    """One call of the user's function on inputs of our own, and derivatives through it.

    inputs: with create_graph views of what was given, so that a graph leads back there.
    """

    many_outputs: bool
    outputs: Tensors

    def __init__(self, name: str, inputs: OneOrMore, create_graph: bool, strict: bool) -> None:
        self.name = name
        self.create_graph = create_graph
        self.strict = strict
        self.many_inputs, given = as_tuple(inputs, "inputs", name)
        self.inputs = tuple(
            i.view_as(i) if create_graph and i.requires_grad else i.detach().requires_grad_()
            for i in given
        )

    def run(self, func: Function) -> None:
        """Call the user's function."""
        what = "outputs of the user-provided function"
        self.many_outputs, self.outputs = as_tuple(func(*self.inputs), what, self.name)
        for position, output in enumerate(self.outputs):
            if self.strict and not output.requires_grad:
                raise RuntimeError(
                    f"Output {position} of the user-provided function does not require gradients. "
                    "The outputs must be computed in a differentiable manner from the input when "
                    "running in strict mode."
                )

    def check_scalar(self) -> None:
        """Refuse a function that does not return one element."""
        if self.many_outputs:
            raise RuntimeError(f"The function given to {self.name} should return a single Tensor")
        if not is_single(self.outputs):
            raise RuntimeError(
                f"The Tensor returned by the function given to {self.name} should contain a "
                "single element"
            )

    def vector(self, v: Any, like: Tensors, is_tuple: bool) -> Tensors | None:
        """The vector that was given, checked against what it is multiplied with."""
        if v is None:
            return None
        _, parts = as_tuple(v, "v", self.name)
        if len(parts) != len(like):
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(like)} but got {len(parts)}."
                if is_tuple
                else "The given v should contain a single Tensor."
            )
        for position, (part, other) in enumerate(zip(parts, like, strict=True)):
            if part.shape != other.shape:
                entry = f"Entry {position} in " if is_tuple else ""
                raise RuntimeError(
                    f"{entry}v has invalid size: should be {other.shape} but got {part.shape}."
                )
        kept = self.create_graph
        return tuple(p if kept and p.requires_grad else p.detach() for p in parts)

    def direction(self, v: Any) -> Tensors | None:
        """A vector of the inputs' shapes; None is one, for a single element."""
        if v is None and not is_single(self.inputs):
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a "
                "single Tensor with a single element."
            )
        return self.vector(v, self.inputs, self.many_inputs)

    def gradients(
        self,
        outputs: Sequence[Tensor],
        inputs: Tensors,
        weights: Sequence[Tensor | None] | None,
        order: str,
    ) -> Tensors:
        """The weighted gradients, zeros for inputs that the outputs do not depend on."""
        found = gradients(outputs, inputs, weights, self.create_graph)
        if self.strict:
            self._check_dependence(found, order)
        return with_zeros(found, inputs)

    def first_order(self) -> Tensors:
        """The gradients of the output, to be differentiated once more."""
        found = gradients(self.outputs, self.inputs, None, True)
        for position, gradient in enumerate(found):
            if self.strict and gradient is None:
                _refuse(_INDEPENDENT["gradient"].format(position))
        first = with_zeros(found, self.inputs)
        self.check_first_order(first)
        return first

    def check_first_order(self, gradients: Tensors) -> None:
        """With strict, refuse gradients that have no derivative themselves."""
        for position, gradient in enumerate(gradients):
            if self.strict and not gradient.requires_grad:
                raise RuntimeError(
                    "While computing the hessian, found that the jacobian of the user-provided "
                    f"function with respect to input {position} is independent of the input. This "
                    "is not allowed in strict mode. You should ensure that your function is twice "
                    "differentiable and that the jacobian depends on the inputs (this would be "
                    "violated by a linear function for example)."
                )

    def _check_dependence(self, found: Sequence[Tensor | None], order: str) -> None:
        missing = _INDEPENDENT[order]
        for position, gradient in enumerate(found):
            if gradient is None:
                _refuse(missing.format(position))
            if self.create_graph and not gradient.requires_grad:
                of = "jacobian" if order in ("gradient", "direction") else "hessian"
                raise RuntimeError(
                    f"The {of} of the user-provided function is independent of input {position}. "
                    "This is not allowed in strict mode when create_graph=True."
                )

    def forward_products(self, outputs: Tensors, direction: Tensors | None) -> Tensors:
        """J v for the Jacobian of the outputs, by the inputs."""
        weights = tuple(zeros_like(output).requires_grad_() for output in outputs)
        products = gradients(outputs, self.inputs, weights, True)
        for position, product in enumerate(products):
            if self.strict and (product is None or not product.requires_grad):
                _refuse(_INDEPENDENT["gradient"].format(position))
        reached = [p is not None and p.requires_grad for p in products]
        through = [p for p, is_reached in zip(products, reached, strict=True) if is_reached]
        along = None
        if direction is not None:
            along = [d for d, is_reached in zip(direction, reached, strict=True) if is_reached]
        with set_grad_enabled(self.create_graph or is_grad_enabled()):
            order = "direction" if outputs is self.outputs else "double direction"
            return self.gradients([p for p in through if p is not None], weights, along, order)

    def check_real(self) -> None:
        """Refuse complex outputs: one run backward does not give the derivatives of one."""
        for output in self.outputs:
            if output.requires_grad:
                check_real(output.array.dtype)

    def rows(self) -> list[Tensors]:
        """The Jacobian by runs backward, one for each element of an output."""
        return [self._rows_of(number, output) for number, output in enumerate(self.outputs)]

    def _rows_of(self, number: int, output: Tensor) -> Tensors:
        columns: list[list[Tensor]] = [[] for _ in self.inputs]
        for seed in _units(output):
            found = gradients((output,), self.inputs, (seed,), self.create_graph, retain=True)
            for position, gradient in enumerate(found):
                if self.strict:
                    self._check_row(number, position, gradient)
                tensor = self.inputs[position]
                columns[position].append(zeros_like(tensor) if gradient is None else gradient)
        return tuple(
            _stacked(rows, output, tensor)
            for rows, tensor in zip(columns, self.inputs, strict=True)
        )

    def _check_row(self, number: int, position: int, gradient: Tensor | None) -> None:
        if gradient is None:
            raise RuntimeError(
                f"Output {number} of the user-provided function is independent of input "
                f"{position}. This is not allowed in strict mode."
            )
        if self.create_graph and not gradient.requires_grad:
            raise RuntimeError(
                "The jacobian of the user-provided function is independent of input "
                f"{position}. This is not allowed in strict mode when create_graph=True."
            )

    def columns(self) -> list[Tensors]:
        """The Jacobian by products with unit vectors of the inputs."""
        blocks: list[list[Tensor]] = [[] for _ in self.outputs]
        for position, tensor in enumerate(self.inputs):
            products = [
                self.forward_products(self.outputs, self._unit(position, seed))
                for seed in _units(tensor)
            ]
            for number, output in enumerate(self.outputs):
                flat = [shaping.reshape(p[number], -1) for p in products]
                block = shaping.stack(flat, 1) if flat else wrap(np.zeros((output.numel(), 0)))
                blocks[number].append(shaping.reshape(block, (*output.shape, *tensor.shape)))
        return [tuple(block) for block in blocks]

    def _unit(self, position: int, seed: Tensor) -> Tensors:
        return tuple(seed if i == position else zeros_like(t) for i, t in enumerate(self.inputs))

    def result(self, tensors: Tensors, is_tuple: bool) -> Any:
        """Tensors as the caller gets them."""
        given = tensors if self.create_graph else tuple(tensor.detach() for tensor in tensors)
        return given if is_tuple else given[0]


_INDEPENDENT = {
    "gradient": (
        "The output of the user-provided function is independent of input {}. This is not allowed "
        "in strict mode."
    ),
    "direction": (
        "The gradient with respect to the input is independent of entry {} in the grad_outputs "
        "when using the double backward trick to compute forward mode gradients. This is not "
        "allowed in strict mode."
    ),
    "jacobian": (
        "The jacobian of the user-provided function is independent of input {}. This is not "
        "allowed in strict mode."
    ),
    "double direction": (
        "The hessian of the user-provided function is independent of entry {} in the "
        "grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
        "backward trick to replace forward mode AD."
    ),
}
"""What strict says of an input that something does not depend on."""


def _refuse(message: str) -> NoReturn:
    raise RuntimeError(message)


def gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor | None] | None,
    record: bool,
    retain: bool | None = None,
) -> tuple[Tensor | None, ...]:
    """`grad` of those outputs that require a gradient."""
    given = weights if weights is not None else (None,) * len(outputs)
    pairs = [(o, w) for o, w in zip(outputs, given, strict=True) if o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    roots, seeds = zip(*pairs, strict=True)
    found: tuple[Tensor | None, ...] = grad(roots, inputs, seeds, retain, record, allow_unused=True)
    return found


def with_zeros(found: Sequence[Tensor | None], like: Sequence[Tensor]) -> Tensors:
    """Gradients, zeros for those that are None."""
    pairs = zip(found, like, strict=True)
    return tuple(zeros_like(tensor) if g is None else g for g, tensor in pairs)


def as_tuple(value: Any, what: str, name: str) -> tuple[bool, Tensors]:
    """Whether it is a tuple, and the Tensors."""
    is_tuple = isinstance(value, tuple)
    items = value if is_tuple else (value,)
    for position, item in enumerate(items):
        if not isinstance(item, Tensor):
            which = f"value at index {position}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but "
                f"the {which} has type {type(item)}."
            )
    return is_tuple, items


def is_single(tensors: Tensors) -> bool:
    return len(tensors) == 1 and tensors[0].numel() == 1


def _units(tensor: Tensor) -> list[Tensor]:
    """The unit vectors of a Tensor's shape."""
    units = np.eye(tensor.numel(), dtype=tensor.array.dtype)
    return [wrap(unit.reshape(tensor.array.shape)) for unit in units]


def _stacked(rows: Sequence[Tensor], output: Tensor, tensor: Tensor) -> Tensor:
    shape = (*output.array.shape, *tensor.array.shape)
    if not rows:
        return wrap(np.zeros(shape, tensor.array.dtype))
    return shaping.reshape(shaping.stack(rows), shape)
