"""One call of an operation on plain and `Traced` values: what it gives, and what is recorded of it.

The compiler is asked for the `Derivatives` of the call (`runtime.operations.kernel`), as it is for
an operation on Tensors. Those of the first order run the operation itself and its adjoint; their
`gradient` and `tangent` are the `Derivatives` of the next order, which are computed from leaves.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradscribe.compiler.leaves import zero_like
from gradscribe.ir.core import Operand, SliceOf
from gradscribe.ir.overlaps import copied
from gradscribe.ir.probing import probe
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.recording.levels import Level, Traced, below, levels_of, plain
from gradscribe.runtime.operations.kernel import Derivatives
from gradscribe.runtime.operations.provider import derivatives_of


class Answer:
    """What the function of an operation of the user's has given, which runs once for each call of
    it in the program: its derivatives read that again.

    operation: the operation. key: tells the arguments; None until the function has run. given: all
    that the key knows by its identity.
    """

    __slots__ = ("given", "key", "operation", "result")

    def __init__(self, operation: Any) -> None:
        self.operation = operation
        self.key: Any = None
        self.result: Any = None
        self.given: Any = None


ANSWER: ContextVar[Answer | None] = ContextVar("answer", default=None)
"""That of the call that is recorded, or of which a derivative is computed."""

_MOST = 1 << 14
_known: dict[Any, Derivatives] = {}


class Node:
    """One call in the record of a level; number: in the order of the calls.

    derivatives: None for an input of the run. leaves: what it was called with, for the levels
    below. parents: for each active leaf, its place in this level, or None. record: what the
    adjoint reads; None where there is no adjoint but that of the leaves. likes: the outputs that
    have cotangents, for the levels below. answer: of an operation of the user's.
    """

    __slots__ = ("answer", "derivatives", "leaves", "likes", "number", "parents", "record")

    _count = itertools.count(1)

    def __init__(
        self,
        derivatives: Derivatives | None = None,
        leaves: Sequence[Any] = (),
        parents: Sequence[tuple[Node, int] | None] = (),
        record: Any = None,
        likes: Sequence[Any] = (),
    ) -> None:
        self.derivatives = derivatives
        self.leaves = leaves
        self.parents = parents
        self.record = record
        self.likes = likes
        self.answer = ANSWER.get()
        self.number = next(Node._count)

    def evaluate(
        self, find: Callable[[], Derivatives], leaves: Sequence[Any], *, is_first: bool = False
    ) -> tuple[Any, ...]:
        """The results of what has the derivatives that `find` gives, which are, or belong to, those
        of the call."""
        if self.answer is None:
            return evaluate(find(), leaves, is_first=is_first)
        token = ANSWER.set(self.answer)
        try:
            return evaluate(find(), leaves, is_first=is_first)
        finally:
            ANSWER.reset(token)


def call(
    callee: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    integers: Sequence[int] = (),
) -> tuple[Any, ...]:
    """The results of `callee(*args, **kwargs)`, in which `Operand(i)` stands for leaf i, and
    whatever else there is, is known to the compiler.

    leaves: values that nobody changes any more. integers: further leaves, parts of an index.
    """
    found = derivatives_at(callee, args, kwargs, leaves, integers)
    return evaluate(found, (*leaves, *integers), is_first=True)


def derivatives_at(
    callee: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    integers: Sequence[int] = (),
) -> Derivatives:
    """The derivatives of such a call. (Rules of the user's may read what has changed since.)"""
    arrays = [plain(value) for value in (*leaves, *integers)]
    active = tuple(i for i, value in enumerate(leaves) if type(value) is Traced)
    if probe(callee, "__gradscribe_primitive__"):
        return derivatives_of(callee, args, kwargs, arrays, active)
    key = (
        callee,
        PRIMITIVES.get(callee),
        hashable(args),
        hashable(kwargs) if kwargs else (),
        tuple(map(_signature, arrays)),
        tuple(integers),
        active,
    )
    found = _known.get(key)
    if found is None:
        found = derivatives_of(callee, args, kwargs, arrays, active)
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = found
    return found


def evaluate(
    derivatives: Derivatives, leaves: Sequence[Any], *, is_first: bool = False
) -> tuple[Any, ...]:
    """The results of what has these derivatives, Traced where leaves are.

    is_first: it is an operation, and no derivative of one.
    """
    arrays = map(plain, leaves)
    record: Any = None
    if is_first:
        out, record = derivatives.forward(*arrays)
    else:
        out = tuple(derivatives.primal(*arrays))
    results = [
        value if position in derivatives.outputs else _of_its_own(value)
        for position, value in enumerate(out)
    ]
    for level in levels_of(leaves):
        values = [below(leaf, level.number) for leaf in leaves]
        active = [below(leaves[i], level.number + 1) for i in derivatives.active]
        likes = [results[i] for i in derivatives.outputs]
        places = _places(level, derivatives, values, active, likes, record)
        for position, place in zip(derivatives.outputs, places, strict=True):
            results[position] = Traced(results[position], level, place)
        record = None
    return tuple(results)


@contextmanager
def silent() -> Iterator[None]:
    """While a value is computed that NumPy has computed, and warned of, already. (What has warned
    where, `warnings.catch_warnings` would forget.)"""
    nothing = ("ignore", None, Warning, None, 0)
    filters: Any = warnings.filters
    filters.insert(0, nothing)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        filters[:] = [one for one in filters if one is not nothing]


def _of_its_own(value: Any) -> Any:
    """A result that does not record: the program may store to it, and a record may hold it."""
    return copied(value) if isinstance(value, np.ndarray) else value


def _places(
    level: Level,
    derivatives: Derivatives,
    values: Sequence[Any],
    active: Sequence[Any],
    likes: Sequence[Any],
    record: Any,
) -> Sequence[Any]:
    """The places in a level of the outputs of a call.

    values: the leaves, for the levels below. active: the active ones, for this one.
    """
    own = [value if type(value) is Traced and value.level is level else None for value in active]
    if level.is_forward:
        tangents = [
            zero_like(plain(value)) if traced is None else traced.place
            for value, traced in zip(active, own, strict=True)
        ]
        with np.errstate(all="ignore"):  # not as the program asks it of its own operations
            return evaluate(derivatives.tangent, [*values, *tangents])
    parents = [None if traced is None else traced.place for traced in own]
    node = Node(derivatives, values, parents, record, likes)
    return [(node, index) for index in range(len(likes))]


def hashable(value: Any) -> Any:
    """Of what is known in a call, something that tells it from what is not the same."""
    if isinstance(value, (list, tuple)):
        return (type(value), *map(hashable, value))
    if isinstance(value, dict):
        return (dict, *((key, hashable(item)) for key, item in value.items()))
    if isinstance(value, slice):
        return (slice, hashable(value.start), hashable(value.stop), hashable(value.step))
    if isinstance(value, (Operand, SliceOf)) or value is None:
        return value
    if isinstance(value, (float, complex)):
        return type(value), repr(value)
    return type(value), value


def _signature(value: Any) -> Any:
    if type(value) is np.ndarray:
        return value.dtype, value.shape
    return type(value)
