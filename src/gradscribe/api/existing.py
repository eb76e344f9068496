"""Results of a compiled call that are arguments of it or other results, or views of those.

Such a result is no output of the call's node: it is that very Tensor, or a view that the runtime
takes of it, as if the function had been run eagerly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from gradscribe.frontend.interface import Origin
from gradscribe.ir.core import Method
from gradscribe.primitives.indexing import GETITEM
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.shaping import respelled
from gradscribe.runtime.operations import indexing
from gradscribe.runtime.operations.adaptors import BY_CALLEE
from gradscribe.runtime.operations.eager import Operation
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.runtime.tensors.views import Step, take, take_array


class Existing:
    """How a result is found among the arguments, or the other results, of a call.

    active: the argument leaves that are differentiated.
    """

    def __init__(self, origin: Origin, active: Collection[int]) -> None:
        self._leaf = origin.leaf
        self._among_results = origin.among_results
        self._detached = not origin.among_results and origin.leaf not in active
        steps = [step for step in origin.path if step[0] is not PRIMITIVES[respelled]]
        self._steps = tuple([_step(*step) for step in steps])

    def __call__(self, arguments: Sequence[Any], results: Sequence[Any]) -> Any:
        leaf = (results if self._among_results else arguments)[self._leaf]
        if not isinstance(leaf, Tensor):
            return take_array(leaf, self._steps)
        if self._detached and leaf.requires_grad:
            leaf = leaf.detach()
        return take(leaf, self._steps)


def _step(primitive: Any, arguments: dict[str, Any], callee: Any) -> Step:
    if primitive is GETITEM:
        index = tuple(arguments["index"])
        static = index if Ellipsis in index else (*index, Ellipsis)
        return Step(indexing.operation_of(static, ()), (), (static,))
    function = primitive.callee if callee is None or isinstance(callee, Method) else callee
    row = BY_CALLEE.get(function)
    if row is None:
        name = primitive.name.title().replace("_", "")
        row = Operation(name, function, tuple(arguments), view=True)
    return Step(row, (), tuple(arguments.get(name) for name in row.parameters))
