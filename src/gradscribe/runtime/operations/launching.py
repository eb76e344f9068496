"""Launchers: the short way of an eager operation.

A public function on Tensors does whatever its arguments ask for: it checks and converts operands,
tells modes, takes views again. Of a call of the usual kind all this comes to one compiled function
on the operands' arrays, and one node. So what the general way has done for operands of some dtypes
and shapes is kept as a `Way`, and the next such call goes it at once: it looks at the classes of
the operands, reads their arrays, runs the compiled function and fills the slots of the node and
the result. While any mode is on, and for whatever is unusual (subclasses of Tensor, views whose
base has changed, errors of NumPy), the general way is taken.

The code of a launcher is made of a text for each form of call (`launcher_text.py`), so that it has
no loops over operands and no calls but those of the operation.
"""

from __future__ import annotations

import functools
import linecache
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.eager_operation import Operation
from gradscribe.runtime.arrays.floating_point_errors import silent, silent_call
from gradscribe.runtime.arrays.kinds import Kind
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.modes import MODES
from gradscribe.runtime.graph.node import next_sequence
from gradscribe.runtime.operations.indexing import plain_index
from gradscribe.runtime.operations.kernel import Kernel, signature
from gradscribe.runtime.operations.launcher_text import Form, text_of
from gradscribe.runtime.operations.operation import OperationNode
from gradscribe.runtime.operations.provider import WAYS
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, kind_of
from gradscribe.runtime.tensors.views import Step, view_by
from gradscribe.tracebacks import shorten

Function = Callable[..., Any]

_MOST_WAYS = 1 << 10
"""How many ways a launcher keeps; then it begins anew."""


NOTHING, FIRST, SECOND, ALL, RESULT = "nothing", "first", "second", "all", "result"
"""What of leaves and result is in a record."""


class Way:
    """What a call of some dtypes and shapes comes to.

    run: the compiled forward of the kernel. Where that does nothing but call the operation (or
        nothing is recorded, and kernel is None), the operation itself; held tells then what the
        record is.
    step: of a view, how it is taken.
    active0, active1: whether the operand is active.
    kind: that of the result; None before there is one.
    spares0, spares1: whether the node keeps only the kind of the operand; spares_all: of each that
        is an array.
    keeps_result: whether the node must notice a change of the result.
    """

    __slots__ = (
        "active0",
        "active1",
        "both",
        "constants",
        "held",
        "keeps_result",
        "kernel",
        "kind",
        "node_class",
        "nones",
        "run",
        "spares0",
        "spares1",
        "spares_all",
        "step",
        "zeros",
    )

    def __init__(
        self,
        run: Function,
        kind: Kind | None = None,
        kernel: Kernel | None = None,
        held: str | None = NOTHING,
        step: Step | None = None,
        spares_all: bool = False,
    ) -> None:
        self.run = run
        self.kind = kind
        self.kernel = kernel
        self.held = held
        self.step = step
        self.constants: tuple[Any, ...] = ()
        if kernel is not None:
            self.constants = kernel.constants
            self.node_class = kernel.node_class
            self.active0, self.active1 = 0 in kernel.active, 1 in kernel.active
            self.both = self.active0 and self.active1
            self.keeps_result = kernel.checks_outputs
            count = len(kernel.spared) - len(kernel.constants)
            self.spares0, self.spares1 = (*kernel.spared[:count], False)[:2]
            self.spares_all = all(kernel.spared[:count]) or spares_all
            self.nones = (None,) * len(kernel.spared)
            self.zeros = (0,) * len(kernel.spared)

    def again(self) -> Way:
        """The same way for arrays of other lengths."""
        spares_all = self.kernel is not None and self.spares_all
        return Way(self.run, None, self.kernel, self.held, self.step, spares_all)


UNFIT = Way(lambda: None)
"""For a call that must go the general way each time."""


@functools.cache
def _maker(form: Form) -> Function:
    """`make(general, row, ways, silently)` for this form."""
    text = text_of(form)
    filename = f"{__file__}:{form.parameters}:{len(form.operands)}"
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = len(text), None, lines, filename
    namespace: dict[str, Any] = {
        "ALL": ALL,
        "AXES": {"dim", "keepdim"},
        "AXIS": {"dim"},
        "FIRST": FIRST,
        "MODES": MODES,
        "RESULT": RESULT,
        "SECOND": SECOND,
        "Tensor": Tensor,
        "UNFIT": UNFIT,
        "__name__": __name__,
        "asarray": np.asarray,
        "edge_of": edge_of,
        "grad_enabled": grad_enabled,
        "kind_of": kind_of,
        "interned": _interned,
        "learn": _learn,
        "ndarray": np.ndarray,
        "new": object.__new__,
        "next_sequence": next_sequence,
        "shorten": shorten,
        "similar": _similar,
        "view_by": view_by,
    }
    exec(compile(text, filename, "exec"), namespace)
    made: Function = namespace["make"]
    return made


_BASIC = (int, type(None), type(Ellipsis))


def _interned(index: Any) -> Any:
    """An index of integers, slices, None and ellipses as a hashable; None for any other."""
    if index.__class__ is slice:
        bounds = index.start, index.stop, index.step
        for bound in bounds:
            if bound is not None and bound.__class__ is not int:
                return None
        return bounds
    if index.__class__ is not tuple:
        return None
    items: list[Any] = [tuple]
    for item in index:
        found = item if item.__class__ in _BASIC else _interned(item)
        if found is None and item is not None:
            return None
        items.append(found)
    return tuple(items)


@silent
def _learn(
    ways: dict[Any, Way],
    key: Any,
    row: Operation,
    operands: tuple[Any, ...],
    static: tuple[Any, ...],
    result: Any,
) -> None:
    """Keep the way that a call has gone, if calls of its kind can go it directly."""
    if len(ways) >= _MOST_WAYS:
        ways.clear()
    find = _way_of_view if row.view and len(operands) == 1 else _way
    way = find(row, operands, static, result) if result.__class__ is Tensor else None
    ways[key] = way or UNFIT
    if way is not None and (isinstance(row.callee, np.ufunc) or row.callee in _OF_ANY_LENGTHS):
        ways[_pattern(key)] = way


_OF_ANY_LENGTHS = frozenset({np.sum, np.mean, np.prod, np.max, np.min})
"""Functions, beside ufuncs, of whose derivatives the code is that for any lengths."""


def _similar(ways: dict[Any, Way], key: Any) -> Way | None:
    """A way that is known for arrays of other lengths, of which the same are 0, 1 and equal."""
    pattern = _pattern(key)
    found = ways.get(pattern)
    if found is None:
        return None
    if len(ways) >= _MOST_WAYS:
        ways.clear()
        ways[pattern] = found
    way = ways[key] = found.again()
    return way


def _pattern(key: tuple[Any, ...]) -> Any:
    """A key without the lengths of arrays: it tells which of them are none, one, and equal."""
    labels: dict[int, int] = {}

    def of(item: Any) -> Any:
        if item.__class__ is not Kind:
            return item
        lengths = [n if n < 2 else labels.setdefault(n, -1 - len(labels)) for n in item.shape]
        return item.dtype, tuple(lengths)

    return Kind, tuple([of(item) for item in key])


def _way(
    row: Operation, operands: tuple[Any, ...], static: tuple[Any, ...], result: Tensor
) -> Way | None:
    """The way to a result that is no view."""
    leaves = [o.array if isinstance(o, Tensor) else o for o in operands]
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
    out, node = result.array, result._node
    if result._view_of is not None or any(np.may_share_memory(out, array) for array in arrays):
        return None
    if row.callee is np.nanmean or any(a.dtype.kind != "f" for a in arrays[: 2 - row.view]):
        return None  # what else is checked, or counted, by the elements
    if row.counts_elements and row.has_too_few(operands[0], static):
        return None
    run = operator.getitem if row.view else row.caller(static)
    if node is None:
        is_same = not result._needs_grad and _is_same(run(*leaves), out)
        return Way(run, kind_of(result)) if is_same else None
    if not isinstance(node, OperationNode) or node.kernel.constants:
        return None
    if row.view:
        leaves[1] = node.leaves[1]  # a copy
    elif node.kernel.call is None or node.kernel.call[1] != static:
        return None
    return _recorded(node, run, leaves, result) if _is_of(node, operands, leaves) else None


def _is_of(node: OperationNode, operands: Sequence[Any], leaves: Sequence[Any]) -> bool:
    """Whether a node is that of a call of these operands as they are, and of no others."""
    kernel = node.kernel
    active = zip(kernel.active, node.next_edges, strict=True)
    if len(node.leaves) != len(leaves):
        return False
    if any(edge_of(operands[position]) != edge for position, edge in active):
        return False
    return all(
        signature(held) == signature(leaf) if is_spared else held is leaf
        for leaf, is_spared, held in zip(leaves, kernel.spared, node.leaves, strict=True)
    )


def _is_same(found: Any, expected: Any) -> bool:
    """Whether an operation on the operands as they are has given the result, and so nothing is
    done to them before."""
    array = np.asarray(found)
    return array.dtype == expected.dtype and np.array_equal(array, expected, equal_nan=True)


def _way_of_view(
    row: Operation, operands: tuple[Any, ...], static: tuple[Any, ...], result: Tensor
) -> Way | None:
    """The way to a view."""
    view, node = result._view_of, result._node
    if view is None or view.last_step.operands or not result.array.flags.writeable:
        return None
    step = view.last_step
    take = operator.itemgetter(plain_index(step.static[0], ()))
    if node is None:
        return Way(take, kind_of(result), step=step)
    if not isinstance(node, OperationNode) or node.kernel.call != (step.operation, step.static):
        return None
    leaves = [operands[0].array, *node.kernel.constants]
    if not _is_of(node, operands, leaves):
        return None
    way = _recorded(node, take, leaves, result)
    way.step = step
    return way if way.spares_all else None


def _recorded(node: OperationNode, run: Function, leaves: Sequence[Any], result: Tensor) -> Way:
    """The way to a result with a node. run: the operation itself, where it is of NumPy's own."""
    kernel, record = node.kernel, node.record
    held = None
    if isinstance(run, (np.ufunc, functools.partial, *_TAKING)):
        held = _held(record, leaves, result.array)
    spares_all = all(
        is_spared or not isinstance(leaf, np.ndarray)
        for leaf, is_spared in zip(leaves, kernel.spared, strict=True)
    )
    run = kernel.forward if held is None else run
    return Way(run, kind_of(result), kernel, held, spares_all=spares_all)


_TAKING = (operator.itemgetter, type(operator.getitem))
"""The classes of functions that take elements of an array, in C."""


def _held(record: Any, leaves: Sequence[Any], out: Any) -> str | None:
    """Which of the leaves, or the result, a record is; None where it is something else."""
    places = [*leaves[:2], None, None]
    for place, held in zip((out, *places[:2]), (RESULT, FIRST, SECOND), strict=True):
        if record is place and place is not None:
            return held
    if not isinstance(record, tuple):
        return None
    if not record:
        return NOTHING
    is_all = len(record) == len(leaves) and all(map(operator.is_, record, leaves))
    return ALL if is_all else None


def launched(general: Function, form: Form, row: Operation) -> Function:
    """A function that does what `general` does, the short way where it can.

    row: the operation that it calls, in the usual case, with its operands and static arguments as
    they are.
    """
    ways: dict[Any, Way] = {}
    WAYS.append(ways)
    launch: Any = functools.wraps(general)(_maker(form)(general, row, ways, silent_call()))
    launch.__gradscribe_function__ = getattr(general, "__gradscribe_function__", general)
    return launch  # type: ignore[no-any-return]
