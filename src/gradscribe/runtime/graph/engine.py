"""The engine: runs the nodes of a recorded graph backwards.

A node is made after all nodes that it leads to, so sequence numbers fall along every edge, and
the pending node with the greatest number can have no other pending node before it. A heap of
the pending nodes is therefore all the scheduling there is: no counting of dependencies, no
recursion, and a node is met only when all its cotangents are there. Cotangents are held no
longer than until their node has run, and a node is freed right after (unless `retain_graph`).
Leaves come last, by their numbers; where hooks may tell, the edges to each are counted first, and
it is run as soon as all have brought something.

Between nodes flow arrays; with `create_graph` Tensors, and what nodes and hooks do with those
is recorded. All state belongs to the run, so a hook or a `backward` may start another one, and
an exception leaves nothing behind.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from heapq import heappop, heappush
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.graph import anomaly
from gradscribe.runtime.graph.grad_mode import enter_mode, leave_mode
from gradscribe.runtime.graph.hooks import WATCHED, HookTable, checked_results, run_hooks
from gradscribe.runtime.graph.in_thread import in_thread
from gradscribe.runtime.graph.modes import MODES, any_needs_tensors, tell_finished_gradient, timed
from gradscribe.runtime.graph.node import AccumulateGrad, Edge, Node, NodeState
from gradscribe.runtime.graph.variable import Variable, is_shown, shown

Root = tuple[Edge, Variable]
Sink = Callable[[Any], None]
Sinks = dict[Node, list[tuple[int, Sink]]]

_DEEPEST = 20
"""So many runs within runs share one stack; the next gets the fresh stack of a thread."""

_FIRST = -(1 << 64)
"""The key, among those of pending nodes, of leaves that wait for nothing."""

_next_number = itertools.count().__next__
_current: ContextVar[Run | None] = ContextVar("gradscribe_backward_run", default=None)
current_run = _current.get
"""The innermost run that is under way here."""


class Run:
    """One backward run.

    records: whether Tensors flow, and operations on them are recorded: for create_graph, or where
        the tangents of gradients must be known.
    sinks: what to do with the cotangents of some outputs besides passing them on. goals: nodes
        that are to be run. If either is given, only nodes that lead there are run.
    """

    def __init__(
        self,
        retain_graph: bool,
        create_graph: bool,
        sinks: Sinks | None = None,
        goals: Collection[Node] | None = None,
    ) -> None:
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.records = create_graph
        self.sinks = sinks or {}
        self.goals = goals or ()
        self.is_partial = sinks is not None or goals is not None
        self.anomaly = anomaly.current()
        self.leading: set[Node] | None = None
        self.pending: dict[Node, list[Any]] = {}
        self.heap: list[tuple[int, int, Node]] = []
        self.uses: dict[Node, int] | None = None
        self.complete = 0
        self.roots: list[Node] = []
        self.node: Node | None = None
        self.number = _next_number()
        self.callbacks: list[Callable[[], Any]] = []
        self._reached: set[Node] | None = None
        outer = current_run()
        self.depth: int = 0 if outer is None else outer.depth + 1

    def run(self, roots: Sequence[Root]) -> None:
        """Send the roots' cotangents through the graph."""
        self.roots = [edge[0] for edge, _ in roots if edge[0]]
        if MODES and any_needs_tensors(self.roots, [cotangent for _, cotangent in roots]):
            self.records = True
        if self.is_partial:
            self.leading = leading_to({*self.sinks, *self.goals}, self.roots)
        if WATCHED:
            self.uses = self._uses_of_leaves()
        if self.depth and self.depth % _DEEPEST == 0:
            in_thread(lambda: self._run(roots))
        else:
            self._run(roots)

    @silent
    def _run(self, roots: Sequence[Root]) -> None:
        token = enter_mode(self.records)
        outer = _current.set(self)
        try:
            leading = self.leading
            if len(roots) == 1:  # the hooks of a single root are called in any case
                self.leading = None
            for edge, cotangent in roots:
                self.deliver(edge, cotangent if self.records else cotangent.array, fresh=False)
            self.leading = leading
            self._visit_all()
            for callback in self.callbacks:
                callback()
        finally:
            _current.reset(outer)
            leave_mode(token)

    def _visit_all(self) -> None:
        """Run all pending nodes, and those that become pending. Of a node that nothing watches
        there is no more to do than to run it and to pass the results on."""
        heap, pending = self.heap, self.pending
        is_plain = (
            not self.records and self.leading is None and self.uses is None and self.anomaly is None
        )
        while heap:
            node = heappop(heap)[2]
            cotangents = pending.pop(node, None)
            if cotangents is None:
                continue
            if (
                not is_plain
                or MODES
                or node.own_hooks is not None
                or cotangents[0] is None
                or not node.returns_fresh
            ):
                self.visit(node, cotangents)
                continue
            self.node = node
            results = node.flow(cotangents)
            if node.own_hooks is not None:  # in the meantime
                self._pass_on(node, cotangents, [r if r is None else _own(r) for r in results])
                continue
            if not self.retain_graph:
                node.release()
            given = cotangents[0]
            for (target, index), result in zip(node.next_edges, results, strict=True):
                if target is None:
                    continue
                waiting = pending.get(target)
                if waiting is None:
                    waiting = pending[target] = [None] * target.cotangent_count
                    heappush(heap, (-target.sequence_nr, 0, target))
                if result is None:
                    continue
                present = waiting[index]
                if present is not None:
                    waiting[index] = present + result
                elif (target.only_reads and target.own_hooks is None) or (
                    _is_alone(result, (given, *results))
                ):
                    waiting[index] = result
                else:
                    waiting[index] = _own(result)

    def _uses_of_leaves(self) -> dict[Node, int]:
        """How many edges of what is to be run lead to each leaf."""
        uses: Counter[Node] = Counter(n for n in self.roots if type(n) is AccumulateGrad)
        for node in reached_from(self.roots) if self.leading is None else self.leading:
            for target, _ in node.next_edges:
                if type(target) is AccumulateGrad:
                    uses[target] += 1
        return uses

    def _count_use(self, leaf: Node) -> None:
        """One of the edges to a leaf has brought something; after the last one it is run next."""
        assert self.uses is not None
        self.uses[leaf] -= 1
        if not self.uses[leaf]:
            self.complete += 1
            heappush(self.heap, (_FIRST, self.complete, leaf))

    def will_visit(self, node: Node | None) -> bool:
        """Whether a node is run, or has been."""
        if self._reached is None:
            self._reached = reached_from(self.roots)
        return node in self._reached and (self.leading is None or node in self.leading)

    def deliver(self, edge: Edge, cotangent: Any, fresh: bool) -> None:
        """Add a cotangent to those that wait for a node.

        fresh: nothing else refers to it, so a leaf may keep it as its gradient.
        """
        node, index = edge
        if node is None:
            return
        if self.leading is not None and node not in self.leading:
            return
        waiting = self.pending.get(node)
        if waiting is None:
            waiting = self.pending[node] = [None] * node.cotangent_count
            heappush(self.heap, (-node.sequence_nr, 0, node))
        if self.uses is not None and type(node) is AccumulateGrad:
            self._count_use(node)
        if cotangent is None:
            return
        present = waiting[index]
        if present is not None:
            waiting[index] = present + cotangent
        elif fresh or type(node) is not AccumulateGrad:
            waiting[index] = cotangent
        else:
            waiting[index] = _own(cotangent)

    def visit(self, node: Node, cotangents: list[Any]) -> None:
        """Run one node, with its hooks, and pass the results on."""
        self.node = node
        state = node.own_hooks
        if type(node) is AccumulateGrad:
            leaf = node.variable._leaf
            if leaf is not None and leaf.hooks:
                cotangents = [self._hooked(leaf.hooks, cotangents[0])]
        elif state is not None:
            cotangents = self._after_tensor_hooks(state, cotangents)
        if self.leading is not None and node not in self.leading:
            return  # a root that leads to nothing that is wanted
        if self.sinks and node in self.sinks:
            for index, sink in self.sinks[node]:
                sink(self._final(cotangents[index]))
            if node not in self.goals and not self._continues(node):
                return
        if state is not None and state.prehooks:
            cotangents = self._after_prehooks(state.prehooks, cotangents)
        if type(node) is AccumulateGrad and _is_hooked(node):
            cotangents = [None if c is None else _own(c) for c in cotangents]
        self._pass_on(node, cotangents, self._results(node, cotangents))

    def _pass_on(self, node: Node, cotangents: list[Any], results: Sequence[Any]) -> None:
        """Give the results of a node that has run to its hooks, and to where its edges lead."""
        edges = node.next_edges
        state = node.own_hooks
        if state is not None and state.hooks:
            wanted = results if node.gives_all else self._wanted(edges, results)
            results = self._after_hooks(node, state.hooks, wanted, cotangents)
        if not self.retain_graph:
            node.release()
        fresh = node.returns_fresh and (state is None or not state.hooks)
        for edge, result in zip(edges, results, strict=True):
            if edge[0] is not None:
                self.deliver(edge, result, fresh)

    def _wanted(self, edges: Sequence[Edge], results: Sequence[Any]) -> Sequence[Any]:
        """The results of a node that lead to what the run is for; None for the others."""
        if self.leading is None:
            return results
        pairs = zip(edges, results, strict=True)
        return [result if target in self.leading else None for (target, _), result in pairs]

    def _results(self, node: Node, cotangents: list[Any]) -> Sequence[Any]:
        if cotangents[0] is None and not node.takes_undefined and not _any(cotangents):
            return [None] * len(node.next_edges)
        if self.records and type(node) is AccumulateGrad:
            cotangents = [self._final(cotangents[0])]
        backward = node.backward
        if self.anomaly is not None:
            backward = functools.partial(self.anomaly.backward, node)
        if not MODES:
            return backward(cotangents, self.records)
        name, number = node.name(), node.sequence_nr
        with (
            timed(f"autograd::engine::evaluate_function: {name}", (), number),
            timed(name, cotangents, number),
        ):
            return backward(cotangents, self.records)

    def _final(self, cotangent: Any) -> Any:
        """A gradient as it comes out of the run: in the graph only if that was asked for."""
        if self.records == self.create_graph or cotangent is None:
            return cotangent
        result = cotangent.detach()
        tell_finished_gradient(cotangent, result)
        return result

    def _continues(self, node: Node) -> bool:
        """Whether a node with a sink leads to another one."""
        assert self.leading is not None
        return any(target in self.leading for target, _ in node.next_edges)

    def _after_tensor_hooks(self, state: NodeState, cotangents: list[Any]) -> list[Any]:
        """The cotangents after the hooks of the output Tensors, which may retain them."""
        cotangents = list(cotangents)
        for index, hooks in tuple(state.tensor_hooks.items()):
            cotangents[index] = self._hooked(hooks, cotangents[index])
        for index, retained in state.retained.items():
            tensor = retained()
            if tensor is not None and cotangents[index] is not None:
                tensor._accumulate(_own(self._final(cotangents[index])))
        return cotangents

    def _hooked(self, hooks: HookTable, cotangent: Any) -> Any:
        return self._hidden(run_hooks(hooks, shown(cotangent))) if hooks else cotangent

    def _after_prehooks(self, prehooks: HookTable, cotangents: list[Any]) -> list[Any]:
        """The cotangents after the hooks that the node has before it is run."""
        seen = tuple(map(shown, cotangents))
        for hook in tuple(prehooks.values()):
            changed = hook(seen)
            if changed is not None:
                seen = checked_results(hook, changed, seen)
        return [self._hidden(item) for item in seen]

    def _after_hooks(
        self, node: Node, hooks: HookTable, results: Sequence[Any], cotangents: list[Any]
    ) -> Sequence[Any]:
        """The node's results after its hooks, which see one for each input."""
        seen = tuple(map(shown, node.arranged_by_input(results)))
        for hook in tuple(hooks.values()):
            changed = hook(seen, tuple(map(shown, cotangents)))
            if changed is not None:
                seen = checked_results(hook, changed, seen)
        return [self._hidden(item) for item in node.arranged_by_edge(seen)]

    def _hidden(self, shown: Any) -> Any:
        """What flows between nodes, for a Tensor that a hook has seen."""
        return shown if shown is None or self.records else shown.array


def _any(cotangents: Sequence[Any]) -> bool:
    return any(cotangent is not None for cotangent in cotangents)


def _is_hooked(node: AccumulateGrad) -> bool:
    """Whether hooks have seen, and may hold, the gradient that comes to a leaf."""
    leaf, state = node.variable._leaf, node.own_hooks
    return bool(leaf is not None and leaf.hooks) or bool(state is not None and state.prehooks)


def _is_alone(result: Any, values: Sequence[Any]) -> bool:
    """Whether a result of a node has memory of its own. values: the cotangent and all results."""
    is_view = getattr(result, "base", None) is not None
    return not is_view and sum(value is result for value in values) == 1


def _own(cotangent: Any) -> Any:
    """A copy; Tensors are copied where they are accumulated."""
    return cotangent if is_shown(cotangent) else np.array(cotangent)


def reached_from(roots: Iterable[Node]) -> set[Node]:
    """The roots, and all nodes below them."""
    reached: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            stack.extend(target for target, _ in node.next_edges if target is not None)
    return reached


def leading_to(goals: Iterable[Node], roots: Iterable[Node]) -> set[Node]:
    """The nodes below the roots from which a goal is reached, the goals included.

    A node is decided when all that it leads to has been; so the walk from one root ends before
    that from the next begins, which may lead to it. Nodes older than all goals lead to none: what
    lies below the goals is not walked, however much that is.
    """
    leading = set(goals)
    oldest = min((goal.sequence_nr for goal in leading), default=0)
    seen: set[Node] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(root.next_edges))]
        while stack:
            node, edges = stack[-1]
            for target, _ in edges:
                if target is not None and target.sequence_nr >= oldest and target not in seen:
                    seen.add(target)
                    stack.append((target, iter(target.next_edges)))
                    break
            else:
                stack.pop()
                if any(target in leading for target, _ in node.next_edges):
                    leading.add(node)
    return leading
