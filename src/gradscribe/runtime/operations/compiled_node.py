"""The node of a call of a compiled function, which can tell what that call did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any
from weakref import ref

import numpy as np

from gradscribe.ir.generators import RandomGenerator
from gradscribe.runtime.graph.trace import Graph, traced
from gradscribe.runtime.operations.drawing import States, drawn_again
from gradscribe.runtime.operations.kept_call import Freed
from gradscribe.runtime.operations.operation import OperationNode
from gradscribe.runtime.tensors.saved import unpacked

_PLAIN = (bool, int, float, complex, str, np.generic, type(None), RandomGenerator)
_SMALL = 4096
"""So many bytes of an argument stay after a backward; as much as the node takes itself."""


@cache
def compiled_node_class(name: str, count: int) -> type[CompiledNode]:
    """The class of the nodes of this name, with so many outputs that have cotangents."""
    own = {"__slots__": (), "__module__": "builtins", "cotangent_count": count}
    return type(name, (CompiledNode,), own)


class CompiledNode(OperationNode):
    """The node of one call of a compiled function.

    states: of the generators that the call drew from, before it; None where it drew nothing.
    """

    __slots__ = ("states",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.states: States | None = None

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        given = tuple([number for number, c in enumerate(cotangents) if c is not None])
        derivatives = self.kernel.derivatives
        if len(given) == len(self.kernel.outputs):
            return super().backward(cotangents, create_graph)
        part = derivatives.of_outputs(given) if derivatives.has_given_rules else None
        if part is None or isinstance(self.record, Freed):
            results = super().backward(cotangents, create_graph)
        else:
            results = self.backward_of(part, given, cotangents, create_graph)
        return [
            None if outputs.isdisjoint(given) else result
            for result, outputs in zip(results, derivatives.reached, strict=True)
        ]

    def release(self) -> None:
        """Free the record; of the arguments, `run` still finds what is small, or in use
        elsewhere."""
        if self.kernel.records and not isinstance(self.record, Freed):
            remembered = [*map(_remembered, self.leaves)]
            super().release()
            self.leaves = remembered

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), "run"]

    def run(self) -> Graph:
        """What the recorded call did: the branch taken at every `if`, the iterations of every loop.

        The function runs once more for this, on the same arguments and the same random numbers.
        It prints nothing then; whatever else it does besides computing (the body of a
        `gs.primitive`, a call of a logger) is done once more.

        Raises RuntimeError where an argument has been changed in place since the call, or is
        gone: after a backward that frees the graph, arguments that the caller does not keep
        either, and large arrays that are no Tensors.
        """
        refusal = f"the run of {self.name()} cannot be shown: "
        leaves = [leaf() if isinstance(leaf, ref) else leaf for leaf in self.leaves]
        for position, leaf in enumerate(leaves):
            counter, expected = self.counters[position], self.expected[position]
            if leaf is None and self.leaves[position] is not None:
                raise RuntimeError(
                    f"{refusal}argument {position} of the call was freed by the backward; call "
                    "`run()` before it, or backward with retain_graph=True"
                )
            if counter is not None and counter[0] != expected and isinstance(leaf, np.ndarray):
                raise RuntimeError(
                    f"{refusal}argument {position} has been modified by an inplace operation since "
                    f"the call (it is at version {counter[0]}, and was at version {expected}); "
                    "call `run()` before that"
                )
        drawing = self.kernel.drawing
        function, arguments = self.kernel.derivatives.primal_call(unpacked(leaves, {}))
        remark = ", of random numbers drawn anew" if drawing and drawing.is_unrepeatable else ""
        with drawn_again(self.states or []):
            return traced(function, arguments, remark, prints=False)


def _remembered(leaf: Any) -> Any:
    """What stays of an argument: itself where it is small, otherwise what finds it as long as it
    is in use."""
    if _size(leaf) <= _SMALL:
        return leaf
    return ref(leaf) if isinstance(leaf, np.ndarray) else ref(_Gone())


class _Gone:
    """What nothing refers to."""


def _size(leaf: Any) -> float:
    """The bytes that a value keeps alive: of objects and of what was packed, that is unknown."""
    if isinstance(leaf, np.ndarray):
        owner = leaf if leaf.base is None else leaf.base
        return getattr(owner, "nbytes", math.inf)
    if isinstance(leaf, (list, tuple)):
        return sum(map(_size, leaf))
    return 0 if isinstance(leaf, _PLAIN) else math.inf
