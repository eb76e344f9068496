"""What compiled code looks like to the runtime: `Derivatives`, and the `Kernel` made of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradscribe.runtime.arrays.eager_operation import Operation
from gradscribe.runtime.operations.drawing import Drawing

if TYPE_CHECKING:
    from gradscribe.codegen import Stepwise

Convert = Callable[[Any], Any]


class Point(Protocol):
    """Where a derivative is taken: values that are fetched when they are first read."""

    def operand(self, position: int) -> Any:
        """The leaf of the arguments at a position."""

    def result(self) -> Any:
        """The result."""

    def operand_like(self, position: int) -> Any:
        """An array of the shape and dtype of that leaf."""

    def result_like(self) -> Any:
        """An array of the shape and dtype of the result."""


class AdjointByOperations(Protocol):
    """The adjoint of an operation that can be run on Tensors.

    reads: the positions of the leaves whose elements it reads; reads_result: whether it reads
    those of the result.
    """

    @property
    def reads(self) -> Collection[int]: ...
    @property
    def reads_result(self) -> bool: ...
    def gradients(self, point: Point, cotangents: Sequence[Any]) -> list[Any]:
        """The gradients of the active leaves."""


class Derivatives(Protocol):
    """Compiled code for one operation or function at given types and active leaves.

    Leaves are arrays and numbers, in and out. A cotangent has the type of its primal; none of
    the results of `adjoint` and `order` shares memory with another or with what goes in.
    """

    @property
    def name(self) -> str:
        """As in the node's name: "Add" for AddBackward0, "Loss" for LossBackward."""

    @property
    def is_leaf(self) -> bool:
        """Whether the result is one leaf, and no structure of leaves and constants."""

    @property
    def active(self) -> tuple[int, ...]:
        """The positions of the active leaves."""

    @property
    def outputs(self) -> tuple[int, ...]:
        """The positions of the out leaves that have cotangents (floating and complex ones)."""

    @property
    def record_inputs(self) -> tuple[int, ...]:
        """The positions of the leaves whose memory the record refers to."""

    @property
    def record_outputs(self) -> tuple[int, ...]:
        """The positions of the out leaves whose memory the record refers to."""

    @property
    def higher_inputs(self) -> tuple[int, ...]:
        """The positions of the leaves whose elements a derivative of higher order reads."""

    @property
    def keeps_values(self) -> bool:
        """Whether the adjoint reads more of the record than types and shapes."""

    @property
    def linear(self) -> bool:
        """Whether the adjoint reads nothing that depends on an active leaf. Then no derivative
        of second or higher order reads more of an active leaf than its type and shape."""

    @property
    def by_operations(self) -> AdjointByOperations | None:
        """The adjoint as single operations, where it can be run so."""

    @property
    def has_given_rules(self) -> bool:
        """Whether a derivative is in part one that the user gave, which need be no true one. Then
        F_1 is no gradient, and no F_n from the second on the transpose of itself."""

    @property
    def has_choices(self) -> bool:
        """Whether the function calls factorizations, whose results may be a choice."""

    @property
    def gradient(self) -> Derivatives:
        """Of `(*leaves, *cotangents) -> cotangents of the active leaves`, by the active leaves and
        the cotangents."""

    @property
    def tangent(self) -> Derivatives:
        """Of `(*leaves, *tangents of the active ones) -> tangents of the outputs`, by the active
        leaves and these tangents."""

    @property
    def reached(self) -> Sequence[frozenset[int]]:
        """For each active leaf, the numbers of the outputs that depend on it."""

    def of_outputs(self, numbers: tuple[int, ...]) -> Derivatives | None:
        """The derivatives of some of the outputs alone, where there are such."""

    @property
    def reads(self) -> tuple[int, ...]:
        """The positions of the leaves whose elements the function itself reads."""

    def forward(self, *leaves: Any) -> tuple[tuple[Any, ...], Any]:
        """(out leaves, record). For an operation the out leaf is what the operation itself
        returns, a view where that is one; for a function no out leaf shares memory with a leaf."""

    def adjoint(self, record: Any, *cotangents: Any) -> Sequence[Any]:
        """The cotangents of the active leaves, from one cotangent for each of `outputs`. Leaves
        its arguments as they are."""

    def flow(self, record: Any, *cotangents: Any) -> Sequence[Any]:
        """As `adjoint`, for single operations; but the results may share memory with each other and
        with the cotangents."""

    def primal_call(self, leaves: Sequence[Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The function itself as generated code, and its arguments."""

    def primal(self, *leaves: Any) -> Sequence[Any]:
        """The out leaves of a derivative. None shares memory with another or with a leaf."""

    @property
    def stepwise_primal(self) -> Stepwise:
        """The code of a derivative itself, with a statement for each operation."""

    def order(self, n: int) -> Callable[..., Sequence[Any]]:
        """F_n as `(*leaves, *cotangents, *w_1, ..., *w_{n-1})`, where each w_i has one value for
        each active leaf, then one for each cotangent; returns as many: the part of the active
        leaves, then the part of the cotangents."""

    def stepwise(self, n: int) -> Stepwise:
        """The code of F_n, or for 0 of the adjoint (whose results may be nested), with a statement
        for each operation."""


class Kernel:
    """What the runtime keeps of a `Derivatives`, with attribute look-ups done once.

    inputs: the positions of the leaves that `next_functions` tells of (the Tensors).
    stem: the name of the operation or function, as in the names of its nodes.
    constants: numbers that are passed after the leaves (the integers of an index).
    spared: for each leaf, whether it is an array of which only the shape and dtype are kept.
    converters: for each output, what makes a cotangent of the type that the code expects.
    cotangent_class: the class of the first output: a cotangent of this class is as expected.
    call: of an eager operation, the operation and its static arguments.
    by_operations: of an eager operation, its adjoint as operations on Tensors, where it can be.
    flow: that of the derivatives, once it has been needed.
    drawing: of a user's function, where it draws random numbers from.
    keeps_result: whether the result, an array or a number, is in the record.
    checked: the positions, among the leaves and then the outputs, whose memory is recorded.
    """

    __slots__ = (
        "_kept",
        "active",
        "by_operations",
        "call",
        "checked",
        "checks_outputs",
        "constants",
        "converters",
        "cotangent_class",
        "derivatives",
        "drawing",
        "flow",
        "forward",
        "inputs",
        "keeps_result",
        "node_class",
        "outputs",
        "records",
        "spared",
        "stem",
    )

    def __init__(
        self,
        derivatives: Derivatives,
        stem: str,
        node_class: type[Any],
        inputs: tuple[int, ...],
        arity: int,
        constants: tuple[Any, ...] = (),
        spared: Collection[int] = (),
    ) -> None:
        self.derivatives = derivatives
        self.forward = derivatives.forward
        self.flow: Callable[..., Sequence[Any]] | None = None
        self.active = derivatives.active
        self.outputs = derivatives.outputs
        self.stem = stem
        self.node_class = node_class
        self.inputs = inputs
        self.constants = constants
        self.spared = tuple([position in spared for position in range(arity)])
        self.call: tuple[Operation, tuple[Any, ...]] | None = None
        self.by_operations: AdjointByOperations | None = None
        self.drawing: Drawing | None = None
        self._kept: tuple[int, ...] | None = None
        outputs = (arity + position for position in derivatives.record_outputs)
        self.checked = (*derivatives.record_inputs, *outputs)
        self.checks_outputs = bool(derivatives.record_outputs)
        self.keeps_result = self.checks_outputs
        self.converters: tuple[Convert, ...] = ()
        self.cotangent_class: type | None = None
        self.records = True

    @property
    def adjoint(self) -> Callable[..., Sequence[Any]]:
        return self.derivatives.adjoint

    @property
    def kept(self) -> tuple[int, ...]:
        """The positions of the leaves whose memory higher derivatives read."""
        if self._kept is None:
            higher = self.derivatives.higher_inputs
            self._kept = tuple({position for position in higher if not self.spared[position]})
        return self._kept

    def learn(self, out: Sequence[Any], record: Any, leaves: Sequence[Any] = ()) -> None:
        """Remember, from the first call, the types of the outputs and whether values are kept: of
        arrays among the leaves, only those that the record is checked for; and the number that an
        operation takes for an operand."""
        self.converters = tuple(converter(out[position]) for position in self.outputs)
        self.cotangent_class = type(out[self.outputs[0]]) if self.outputs else None
        if self.call is not None:
            self.keeps_result = self.checks_outputs or refers_to(record, out[0])
        unread = {id(leaf) for i, leaf in enumerate(leaves) if i not in self.checked}
        has_factor = self.call is not None and self.call[0].wraps_numbers
        self.records = self.derivatives.keeps_values and (
            has_factor or holds_arrays(record, unread)
        )

    def plain_outputs(self, out: Sequence[Any]) -> Sequence[int]:
        """The positions of arrays and NumPy's numbers among the out leaves without cotangent."""
        if len(out) == len(self.outputs):
            return ()
        rest = set(range(len(out))).difference(self.outputs)
        return [
            position for position in rest if isinstance(out[position], (np.ndarray, np.generic))
        ]

    def owned(self, leaves: Sequence[Any], counters: Sequence[Any]) -> list[Any]:
        """The leaves, with copies of the arrays of the caller, whose changes nothing counts (they
        have no counter), as far as a derivative may read them."""
        read = self.read_positions(len(leaves))
        return [
            leaf.copy(order="K")
            if counters[position] is None and isinstance(leaf, np.ndarray) and position in read
            else leaf
            for position, leaf in enumerate(leaves)
        ]

    def read_positions(self, count: int) -> Sequence[int]:
        """The positions, of so many leaves, whose elements a derivative may read."""
        if self.derivatives.linear:
            return self.derivatives.record_inputs
        return [position for position in range(count) if not self.spared[position]]


def as_array(cotangent: Any) -> Any:
    return cotangent if type(cotangent) is np.ndarray else np.asarray(cotangent)


def _as_numpy_scalar(cotangent: Any) -> Any:
    return cotangent[()] if type(cotangent) is np.ndarray else cotangent


def _as_number(cotangent: Any) -> Any:
    return cotangent.item() if isinstance(cotangent, (np.ndarray, np.generic)) else cotangent


def converter(primal: Any) -> Convert:
    if isinstance(primal, np.ndarray):
        return as_array
    return _as_numpy_scalar if isinstance(primal, np.generic) else _as_number


def signature(value: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of an array or number."""
    array = np.asarray(value)
    return array.shape, array.dtype


def refers_to(record: Any, value: Any) -> bool:
    """Whether a number that was computed is somewhere in a record."""
    if isinstance(record, (tuple, list)):
        return any(refers_to(item, value) for item in record)
    return isinstance(record, np.inexact) and record is value


def holds_arrays(record: Any, unread: Collection[int]) -> bool:
    """Whether there is an array, or a number that was computed, anywhere in a record.

    unread: the identities of arrays that do not count.
    """
    if isinstance(record, (tuple, list)):
        return any(holds_arrays(item, unread) for item in record)
    return isinstance(record, (np.ndarray, np.inexact)) and id(record) not in unread
