"""A call of a compiled function with Tensors: one node in the recorded graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.api.existing import Existing
from gradscribe.api.list_derivatives import ListDerivatives, items_of
from gradscribe.api.write_back import WriteBack, refuse_unclear
from gradscribe.compiler import Derivatives, Primal, Target
from gradscribe.compiler.entry import Values
from gradscribe.compiler.leaves import copied, is_wrapped, unwrapped
from gradscribe.compiler.specialization import Specialization
from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.ir.flow import computed_of
from gradscribe.ir.trees import LEAF, Tree, flatten, unflatten
from gradscribe.ir.types import Array, Opaque, Scalar, Type
from gradscribe.ir.types import Sequence as SequenceType
from gradscribe.primitives.control import LENT_ITSELF
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.modes import MODES, tangent_of
from gradscribe.runtime.modes.dual import call_with_tangents
from gradscribe.runtime.operations.drawing import Drawing
from gradscribe.runtime.operations.eager import apply_compiled, compiled_kernel
from gradscribe.runtime.operations.inplace import as_it_was
from gradscribe.runtime.operations.operation import Kernel
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.transforms.analyses.left import left_values
from gradscribe.transforms.analyses.opacity import reached_unknown, refuse_opaque


def compiled_call(
    target: Target,
    values: Values,
    argnums: tuple[int, ...] | None,
    note: Callable[[Specialization], None],
    plain: Callable[[], Any],
) -> Callable[[], Any]:
    """What runs a call, as Tensors that lead back to one node.

    argnums: the parameters that are differentiated (None: all; captured Tensors among them).
    note: is told of the specialization that a call makes. plain: runs the user's own function, for
    what forward mode on Tensors does not heed.
    """
    while True:
        primal, matched = target.program.find(values)
        leaves = primal.layout.leaves(matched)
        has_tangents = bool(MODES) and any(map(has_tangent, leaves))
        if has_tangents and _is_run_eagerly(primal):
            return plain
        chosen = [leaf for leaf in primal.active_leaves(argnums) if leaf in primal.used_leaves]
        active = tuple([leaf for leaf in chosen if _requires_grad(leaves[leaf])])
        if has_tangents:
            moving = {leaf for leaf in chosen if has_tangent(leaves[leaf])}
            active = tuple(sorted({*active, *moving}))
        elif not grad_enabled():
            active = ()
        call: _Call | None = primal.plans.get((compiled_call, active))
        if call is None:
            call = primal.plans[compiled_call, active] = _Call(primal, active, leaves)
            note(primal.specialization(active))
            if primal.match(values) is None:
                continue  # compiling has assumed what does not hold for this call
        run = call.with_tangents if has_tangents else call
        return functools.partial(run, matched, leaves)


def _is_run_eagerly(primal: Primal) -> bool:
    """Whether forward mode on Tensors runs a function operation by operation: what changes its
    arguments, or sets gradient modes, which forward mode does not heed."""
    lowered = primal.lowered
    return lowered.has_effects or lowered.has_modes


def has_tangent(leaf: Any) -> bool:
    """Whether a leaf is, or holds, a Tensor with a tangent in the dual level that is on."""
    if isinstance(leaf, (list, tuple)):
        return any(map(has_tangent, leaf))
    return isinstance(leaf, Tensor) and tangent_of(leaf) is not None


def is_active(tensor: Tensor) -> bool:
    """Whether a Tensor is differentiated: it requires a gradient, which is recorded, or has a
    tangent."""
    return (tensor.requires_grad and grad_enabled()) or (bool(MODES) and has_tangent(tensor))


def _requires_grad(leaf: Any) -> bool:
    """Whether a leaf is, or holds, a Tensor that requires a gradient."""
    if isinstance(leaf, (list, tuple)):
        return any(map(_requires_grad, leaf))
    return isinstance(leaf, Tensor) and leaf.requires_grad


class _Call:
    """What is done at each call of a lowering with these active leaves; compiled when made."""

    def __init__(self, primal: Primal, active: tuple[int, ...], leaves: Sequence[Any]) -> None:
        derivatives = primal.effectful_specialization(active).derivatives
        derivatives.forward, derivatives.adjoint  # noqa: B018
        self._primal = primal
        self._derivatives = derivatives
        self._existing = [
            None if origin is None else Existing(origin, active)
            for origin in primal.lowered.origins
        ]
        self._is_new = not any(self._existing)
        self._active = active
        self._unknown = tuple(reached_unknown(primal.lowered.effectful, active))
        self._stored = primal.lowered.stored
        self._distinct = primal.lowered.distinct
        start = len(primal.function.body.yields)
        self._write_back = WriteBack(primal, start) if primal.lowered.has_effects else None
        results = primal.lowered.effectful.body.yields
        returns_lists = any(isinstance(value.type, SequenceType) for value in results)
        types = [type_ for argument in primal.arguments for type_ in argument.types]
        self._has_lists = returns_lists or any(isinstance(t, SequenceType) for t in types)
        if self._has_lists:
            _refuse_logs(types, leaves)
            _refuse_moved(primal, types)
        body = primal.lowered.effectful.body
        tensors = (leaf for leaf, t in zip(body.parameters, types, strict=True) if is_wrapped(t))
        of_tensors = computed_of(body, tensors)
        left = left_values(primal.lowered.effectful)
        self._leaves_given = not left.isdisjoint(body.parameters)
        self._plain = [
            position
            for position, value in enumerate(results)
            if position not in derivatives.outputs
            and (
                value.type.spelling == "numpy"
                if isinstance(value.type, Array)
                else isinstance(value.type, Scalar) and value not in of_tensors
            )
        ]
        self._copied = frozenset(
            position
            for position, type_ in enumerate(types)
            if isinstance(type_, (Array, SequenceType)) and not is_wrapped(type_)
        )
        lent = {o.operands[0] for o in body.operations if o.primitive is LENT_ITSELF}
        self._lent = frozenset(n for n, leaf in enumerate(body.parameters) if leaf in lent)
        self._copied -= self._lent
        inputs = tuple(i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor))
        self._kernel: Kernel = compiled_kernel(derivatives, inputs, len(leaves))
        self._kernel.drawing = Drawing(derivatives.effects)

    def __call__(self, values: Values, leaves: Sequence[Any]) -> Any:
        write_back = self._write_back
        given = leaves
        fixed: Sequence[Tensor] = ()
        if self._primal.lowered.unclear:
            refuse_unclear(self._primal, leaves)
        if write_back is not None:
            fixed = write_back.check(values)
            given = self._before_changes(values, leaves, fixed)
        elif self._primal.lowered.shown:
            self._primal.check_changed(values, leaves)
        new = self._record(given, leaves)
        if not all(isinstance(new[position], _CONSTANT) for position in self._unknown):
            refuse_opaque(self._primal.lowered.effectful, frozenset(self._active))
        every: Sequence[Any] = new
        if not self._is_new:
            rest = iter(new)
            found = [next(rest) if e is None else None for e in self._existing]
            every = [
                known if existing is None else existing(leaves, found)
                for known, existing in zip(found, self._existing, strict=True)
            ]
        if write_back is not None:
            write_back(values, every, fixed)
        return self._primal.build_result(every)

    def with_tangents(self, values: Values, leaves: Sequence[Any]) -> Any:
        """The result, with the tangents that those of the leaves give it."""
        trees = [flatten(leaf)[0] if has_tangent(leaf) else LEAF for leaf in leaves]
        items = [
            item
            for leaf, tree in zip(leaves, trees, strict=True)
            for item in ([leaf] if tree is LEAF else flatten(leaf)[1])
        ]
        found: list[Tree] = []

        def run(varied: Sequence[Any]) -> Sequence[Any]:
            rest = iter(varied)
            tree, results = flatten(self(values, [unflatten(tree, rest) for tree in trees]))
            found.append(tree)
            return results

        results = call_with_tangents(run, items)
        return unflatten(found[0], iter(results))

    def _before_changes(
        self, values: Values, leaves: Sequence[Any], fixed: Sequence[Tensor]
    ) -> list[Any]:
        """The leaves, with copies of those that the caller will find changed."""
        self._primal.check_changed(values, leaves)
        stored = set(self._stored) - self._lent
        left = {id(tensor) for tensor in fixed}
        return [
            _as_it_was(leaf, position in self._distinct, left) if position in stored else leaf
            for position, leaf in enumerate(leaves)
        ]

    def _record(self, given: Sequence[Any], leaves: Sequence[Any]) -> Sequence[Any]:
        """Run forward, as a node of the graph. What it keeps of the caller's own arrays are
        copies, since nothing tells of their changes; where such an array is left outside, that is
        the one among the leaves."""
        recorded = given
        if self._copied:
            made: dict[int, Any] = {}
            recorded = [
                copied(leaf, made) if position in self._copied else leaf
                for position, leaf in enumerate(given)
            ]
        if self._has_lists:
            new: Sequence[Any] = _call_with_lists(self._derivatives, recorded, given, leaves)
        else:
            new = apply_compiled(self._kernel, recorded)
        if self._leaves_given:
            arrays = zip(map(_array_of, recorded), leaves, strict=True)
            given_as = {id(array): leaf for array, leaf in arrays if array is not None}
            new = [self._itself(given_as, item) for item in new]
        if self._plain:
            new = [self._array(i, x) if i in self._plain else x for i, x in enumerate(new)]
        return new

    def _itself(self, given_as: Mapping[int, Any], item: Any) -> Any:
        """What a result is of what was given. given_as: that, by the identity of the arrays, or of
        the copies of them, that were computed with."""
        array = _array_of(item)
        if array is not None and id(array.base) in given_as:
            raise AliasingError(
                f"`{self._primal.name}`, which is called with Tensors, stores a part of an array "
                "from outside in an object or container there",
                "store a copy of that part",
                self._primal.location,
            )
        return item if array is None else given_as.get(id(array), item)

    def _array(self, position: int, result: Any) -> Any:
        """The array, or number, of a result that is none for the graph; the record may refer to it.
        (A sum over no rows is a number.)"""
        if not isinstance(result, Tensor):
            return result
        array = result.array
        if isinstance(self._primal.lowered.effectful.body.yields[position].type, Scalar):
            return array[()]
        return array.copy() if position in self._derivatives.record_outputs else array


def _array_of(leaf: Any) -> Any:
    """The array that a leaf is, or has; None of others."""
    array = leaf.array if isinstance(leaf, Tensor) else leaf
    return array if isinstance(array, np.ndarray) else None


_CONSTANT = (str, bytes, int, type(None))
"""Classes of results that have no derivative, be they made of what has."""


def _refuse_logs(types: Sequence[Type], leaves: Sequence[Any]) -> None:
    """Lists that come in are taken apart; one that the function adds to would change meanwhile."""
    for type_, leaf in zip(types, leaves, strict=True):
        if isinstance(type_, Opaque) and isinstance(leaf, list):
            raise UnsupportedError(
                "a function of lists of Tensors adds to a list from outside",
                "return what is to be kept",
            )


def _refuse_moved(primal: Primal, types: Sequence[Type]) -> None:
    """Lists in a list that comes in are made anew, at whatever places they are in it."""
    for position in primal.lowered.placed:
        type_ = types[position]
        if isinstance(type_, SequenceType) and isinstance(type_.item, SequenceType):
            raise AliasingError(
                f"`{primal.name}`, which is called with Tensors, moves the lists in a list from "
                "outside",
                "make the list in the function",
                primal.location,
            )


def _as_it_was(leaf: Any, with_items: bool, left: Collection[int]) -> Any:
    """A copy of an array, or of a list that will be changed, with its items or without. left: what
    will not be changed, by identity."""
    if id(leaf) in left:
        return leaf
    if isinstance(leaf, (list, tuple)):
        return type(leaf)(_as_it_was(item, True, left) if with_items else item for item in leaf)
    return as_it_was(leaf) if isinstance(leaf, Tensor) else copied(leaf)


def _call_with_lists(
    derivatives: Derivatives,
    leaves: Sequence[Any],
    originals: Sequence[Any],
    as_given: Sequence[Any],
) -> list[Any]:
    """Run once, so that the lengths of the lists that come out are known, then record.

    originals: what the leaves are, where they are copies; an item of those may come out. as_given:
    the callers' own; a list among those may come out.
    """
    known: dict[int, Any] = {}
    values = [unwrapped(leaf, known) for leaf in leaves]
    drawing = Drawing(derivatives.effects)
    states = drawing.states(values) if drawing else None
    out, record = derivatives.forward(*values)
    lists = dict(_lists(values, as_given))
    left = [lists.get(id(leaf)) for leaf in out]
    given = items_of(values)
    out = tuple([_separated(leaf, given) for leaf in out])
    trees, out_trees = ([flatten(leaf)[0] for leaf in all_] for all_ in (leaves, out))
    adapted = ListDerivatives(derivatives, trees, out_trees, (items_of(out), record))
    items = items_of(leaves)
    inputs = tuple(i for i, item in enumerate(items) if isinstance(item, Tensor))
    kernel: Kernel = compiled_kernel(adapted, inputs, len(items))
    kernel.drawing = drawing
    found = {id(value): item for value, item in zip(given, items_of(originals), strict=True)}
    wrapped = zip(items_of(out), apply_compiled(kernel, items, states), strict=True)
    results = iter(
        [
            value if isinstance(value, _COUNTS) else found.setdefault(id(value), result)
            for value, result in wrapped
        ]
    )
    made = [unflatten(tree, results) for tree in adapted.out_trees]
    return [new if itself is None else itself for new, itself in zip(made, left, strict=True)]


def _lists(values: Sequence[Any], as_given: Sequence[Any]) -> Iterator[tuple[int, list[Any]]]:
    """The lists among these, and in them, by the identity of what was computed with."""
    for value, leaf in zip(values, as_given, strict=True):
        if isinstance(value, list):
            yield id(value), leaf
            yield from _lists(value, leaf)


_COUNTS = (int, np.integer)
"""Numbers that no gradient is passed through, beside others in an item of a list."""


def _separated(leaf: Any, given: Sequence[Any]) -> Any:
    """A list that comes out, with copies for the items that are views of what went in."""
    if isinstance(leaf, (list, tuple)):
        return type(leaf)(_separated(item, given) for item in leaf)
    if not isinstance(leaf, np.ndarray) or any(leaf is array for array in given):
        return leaf
    return leaf if leaf.base is None else leaf.copy()
