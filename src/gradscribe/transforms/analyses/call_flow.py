"""What derivatives pass through the functions that a function calls, recursion included.

Comes in: for each function a graph of what depends on what in it. Goes out: for each of them, by
which of its inputs derivatives enter it and by which of its outputs they leave, in any of the calls
that the program makes of it; it is the least solution that fits all of them.

What passes from inputs to outputs is found first, for each function by itself (its *links*), so
that what one call is given is not mixed with what another one returns. The ends that are in use are
then handed down from the outermost function.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from gradscribe.ir.core import Callee, Function
from gradscribe.ir.flow import reachable

Node = Hashable
Group = Sequence[Node]
"""The nodes in a function for one input or output, which a call sees as one value: a record."""


@dataclass(eq=False)
class Site:
    """One call: what stands in the caller for the inputs and outputs of what is called."""

    callee: Callee
    inputs: Sequence[Node]
    outputs: Sequence[Node]


@dataclass(eq=False)
class Graph:
    """What depends on what in one function, without what its calls hand through.

    uses: the nodes that depend on each node. sources: those that each depends on.
    """

    inputs: Sequence[Group] = ()
    outputs: Sequence[Group] = ()
    sites: list[Site] = field(default_factory=list)
    uses: dict[Node, list[Node]] = field(default_factory=dict)
    sources: dict[Node, list[Node]] = field(default_factory=dict)

    def depend(self, source: Node, result: Node) -> None:
        self.uses.setdefault(source, []).append(result)
        self.sources.setdefault(result, []).append(source)

    def passed(self, seeds: Iterable[Node], results: Iterable[Node], forced: Forced) -> set[Node]:
        """The nodes that depend on a seed and that a result depends on."""
        always = list(forced(self))
        varied = reachable((*seeds, *always), self.uses)
        return varied & reachable((*results, *always), self.sources)

    def entered(self, ends: Ends) -> list[Node]:
        """The nodes of the inputs by which derivatives enter."""
        return [node for number in ends.inputs for node in self.inputs[number]]

    def left(self, ends: Ends) -> list[Node]:
        """Those of the outputs by which they leave."""
        return [node for number in ends.outputs for node in self.outputs[number]]

    def links(self) -> set[tuple[int, int]]:
        """(input, output), by their numbers, for each output that depends on an input."""
        reached: dict[Node, int] = {}  # from which inputs, one bit for each
        for number, group in enumerate(self.inputs):
            for node in group:
                reached[node] = reached.get(node, 0) | 1 << number
        pending = list(reached)
        while pending:
            node = pending.pop()
            for result in self.uses.get(node, ()):
                known = reached.get(result, 0)
                if known | reached[node] != known:
                    reached[result] = known | reached[node]
                    pending.append(result)
        return {
            (number, output)
            for output, group in enumerate(self.outputs)
            for node in group
            if (bits := reached.get(node, 0))
            for number in range(len(self.inputs))
            if bits >> number & 1
        }


Forced = Callable[[Graph], Iterable[Node]]


@dataclass(frozen=True)
class Ends:
    """The numbers of the inputs and outputs of a function that derivatives pass through."""

    inputs: frozenset[int] = frozenset()
    outputs: frozenset[int] = frozenset()

    def __or__(self, other: Ends) -> Ends:
        return Ends(self.inputs | other.inputs, self.outputs | other.outputs)


class CallFlow:
    """The graphs of a function and of all that it calls, joined by what calls hand through."""

    def __init__(self, function: Function, graph_of: Callable[[Function], Graph]) -> None:
        self.outermost = graph_of(function)
        self.graphs: dict[Callee, Graph] = {}
        self._sites: dict[Callee, list[tuple[Graph, Site]]] = {}
        pending = [self.outermost]
        while pending:
            graph = pending.pop()
            for site in graph.sites:
                self._sites.setdefault(site.callee, []).append((graph, site))
                if site.callee not in self.graphs:
                    self.graphs[site.callee] = graph_of(site.callee.function)
                    pending.append(self.graphs[site.callee])
        self._link()

    def _link(self) -> None:
        known: dict[Callee, set[tuple[int, int]]] = {callee: set() for callee in self.graphs}
        pending = dict.fromkeys(self.graphs)
        while pending:
            callee, _ = pending.popitem()
            found = self.graphs[callee].links() - known[callee]
            known[callee] |= found
            for graph, site in self._sites[callee] if found else ():
                for start, end in found:
                    graph.depend(site.inputs[start], site.outputs[end])
                pending.update({c: None for c, own in self.graphs.items() if own is graph})

    def ends(
        self, seeds: Iterable[Node], results: Iterable[Node], forced: Forced = lambda graph: ()
    ) -> dict[Callee, Ends]:
        """The ends of each function that a derivative passes through, from these nodes of the
        outermost to those. forced: the nodes that one passes through in any case."""
        found: dict[Callee, Ends] = {}
        pending: dict[Callee | None, None] = {None: None}
        passed = self.outermost.passed(seeds, results, forced)
        while pending:
            caller, _ = pending.popitem()
            graph = self.outermost
            if caller is not None:
                graph, passed = self.graphs[caller], self.inside(caller, found[caller], forced)
            for site in graph.sites:
                outputs = _numbers(site.outputs, passed)
                before = found.get(site.callee, Ends())
                after = before | Ends(_numbers(site.inputs, passed), outputs)
                if outputs and after != before:
                    found[site.callee] = after
                    pending[site.callee] = None
        return found

    def inside(self, callee: Callee, ends: Ends, forced: Forced = lambda graph: ()) -> set[Node]:
        """The nodes of a function that derivatives pass through between these ends of it."""
        graph = self.graphs[callee]
        return graph.passed(graph.entered(ends), graph.left(ends), forced)


def _numbers(nodes: Sequence[Node], among: set[Node]) -> frozenset[int]:
    return frozenset(number for number, node in enumerate(nodes) if node in among)
