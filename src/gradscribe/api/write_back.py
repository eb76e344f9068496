"""What a compiled call with Tensors leaves in the caller's own arrays, lists and dicts.

The compiled forward changes nothing that it is given; it returns what plain Python would have
left in it. Here that is stored, as an in-place operation of the runtime stores: a Tensor takes
its new place in the graph, with its views and its base.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from types import WrapperDescriptorType
from typing import Any

import numpy as np

from gradscribe.compiler import Primal
from gradscribe.compiler.entry import Values, argument, steps_text
from gradscribe.compiler.item_texts import getter
from gradscribe.compiler.leaves import Builder, builders
from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.frontend.interface import NEW, ContainerChange
from gradscribe.ir.trees import Node, Tree, count_leaves, flatten
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.operations.inplace import is_fixed, refuse_leaf, refuse_store, take_over
from gradscribe.runtime.tensors.tensor import Tensor


def refuse_unclear(primal: Primal, leaves: Sequence[Any]) -> None:
    """Refuse a call that changes, or may change, an argument in a way that is not followed."""
    changed = [n for n in primal.lowered.unclear if isinstance(leaves[n], (Tensor, np.ndarray))]
    if changed:
        names = " or ".join(f"`{primal.leaf_names[n]}`" for n in changed)
        raise AliasingError(
            f"`{primal.name}` changes {names} in place, under a name that stands for several "
            "arrays, or as a number: a call with Tensors does not follow that",
            "store into each array under a name of its own, assign numbers with a plain `=`",
            primal.location,
        )


class WriteBack:
    """What is done with the changes of one lowering, after each call."""

    def __init__(self, primal: Primal, start: int) -> None:
        """start: the number of the first leaf of the changes."""
        changes = primal.lowered.changes
        self._name = primal.name
        self._targets = getter(argument(c.argument) + steps_text(c.steps) for c in changes)
        of_items = [change.leaf in primal.lowered.distinct for change in changes]
        self._of_items = of_items
        self._changes_twice = primal.lowered.changes_moved or any(
            map(operator.and_, of_items, [c.rearranged for c in changes])
        )
        self._steps: list[tuple[Builder, slice]] = []
        lowered = primal.lowered
        trees: list[Tree] = [_contents(change.tree) for change in changes]
        trees += [change.tree for change in lowered.attributes]
        trees += [_contents(change.tree) for change in lowered.containers]
        known = [item.number for item in lowered.known]
        self._known = known
        self._known_in = primal.finder(item.owner for item in lowered.known)
        builds = iter(builders(trees, frozenset(known)))
        for change in changes:
            stop = start + count_leaves(change.tree)
            self._steps.append((next(builds), slice(start, stop)))
            start = stop
        self._attributes = _Attributes(primal, start, builds) if lowered.attributes else None
        start += sum(count_leaves(c.tree) for c in lowered.attributes)
        self._of_containers = _Containers(primal, start, builds) if lowered.containers else None

    def check(self, values: Values) -> list[Tensor]:
        """Refuse, before the call, what cannot be changed; the Tensors that may not be, for they
        are leaves of the graph, but may be left as they are on the path that is taken."""
        fixed: list[Tensor] = []
        for target, of_items in zip(self._targets(values), self._of_items, strict=True):
            for tensor in flatten(target)[1] if of_items else [target]:
                if isinstance(tensor, Tensor):
                    if grad_enabled() and is_fixed(tensor):
                        fixed.append(tensor)
                    refuse_store(tensor)
        if self._changes_twice:
            raise AliasingError(
                f"`{self._name}` changes a list and items of it", "pass the items as a tuple"
            )
        return fixed

    def __call__(self, values: Values, leaves: Sequence[Any], fixed: Sequence[Tensor]) -> None:
        """Store what the changed objects hold in the end, which is found among all leaves of the
        result and the changes. fixed: what must be as it was."""
        owners = self._attributes.owners(values) if self._attributes is not None else ()
        made: dict[int, Any] = dict(zip(self._known, self._known_in(values), strict=True))
        contents = [build(leaves[where], made) for build, where in self._steps]
        if fixed:
            self._refuse_changed(values, contents, fixed)
        if self._of_containers is not None:
            self._of_containers(values, leaves, made)
        targets = self._targets(values)
        for target, held in zip(targets, contents, strict=True):
            if isinstance(target, np.ndarray) and isinstance(held, Tensor) and held.requires_grad:
                raise UnsupportedError(
                    f"`{self._name}` stores what is differentiated in an array of NumPy, which "
                    "keeps no derivative",
                    "make the array a Tensor, or return what is to be kept",
                )
        left = {id(tensor) for tensor in fixed}
        for target, of_items, held in zip(targets, self._of_items, contents, strict=True):
            if of_items:
                _store_items(target, held, left)
            elif id(target) not in left:
                _store(target, held)
        if self._attributes is not None:
            self._attributes(owners, leaves, made)

    def _refuse_changed(
        self, values: Values, contents: Sequence[Any], fixed: Sequence[Tensor]
    ) -> None:
        for target, of_items, held in zip(
            self._targets(values), self._of_items, contents, strict=True
        ):
            pairs = zip(flatten(target)[1], flatten(held)[1], strict=True)
            for tensor, left in pairs if of_items else [(target, held)]:
                is_one = any(tensor is one for one in fixed)
                if is_one and not np.array_equal(tensor.array, left.array, equal_nan=True):
                    refuse_leaf(tensor)


def _contents(tree: Tree) -> Tree:
    """What a list or dict is to hold: not that itself, though it is there already."""
    return replace(tree, number=None) if isinstance(tree, Node) else tree


class _Attributes:
    """The stores to attributes of objects. start: the number of their first leaf. builds: what
    makes that which is stored."""

    def __init__(self, primal: Primal, start: int, builds: Iterator[Builder]) -> None:
        self.owners = primal.finder(change.owner for change in primal.lowered.attributes)
        """The objects, which must be found before any container is changed."""
        self._steps: list[tuple[str, Builder, slice]] = []
        for change in primal.lowered.attributes:
            stop = start + count_leaves(change.tree)
            self._steps.append((change.name, next(builds), slice(start, stop)))
            start = stop

    def __call__(self, owners: Sequence[Any], leaves: Sequence[Any], made: dict[int, Any]) -> None:
        built = [build(leaves[where], made) for _, build, where in self._steps]
        for owner, (name, _, _), item in zip(owners, self._steps, built, strict=True):
            _store_of_c(owner)(owner, name, item)


def _store_of_c(owner: Any) -> Any:
    """What stores to attributes of an object, by no method that a class of the user's has."""
    found = (vars(base).get("__setattr__") for base in type(owner).__mro__)
    return next(store for store in found if isinstance(store, WrapperDescriptorType))


class _Containers:
    """The changes of lists, deques and dicts from outside. start: the number of their first
    leaf. builds: what makes that which they get."""

    def __init__(self, primal: Primal, start: int, builds: Iterator[Builder]) -> None:
        self._changes = primal.lowered.containers
        self._owners = primal.finder(change.owner for change in self._changes)
        self._steps: list[tuple[Builder, slice]] = []
        for change in self._changes:
            stop = start + count_leaves(change.tree)
            self._steps.append((next(builds), slice(start, stop)))
            start = stop

    def __call__(self, values: Values, leaves: Sequence[Any], made: dict[int, Any]) -> None:
        owners = self._owners(values)
        new = [
            _items_at_the_end(owner, change, build(leaves[where], made))
            for owner, change, (build, where) in zip(
                owners, self._changes, self._steps, strict=True
            )
        ]
        for owner, change, items in zip(owners, self._changes, new, strict=True):
            if change.adds:
                owner.extend(items)
            elif change.keys is not None:
                _fill(owner, dict(zip(change.keys, items, strict=True)))
            else:
                owner[:] = items


def _fill(owner: dict[Any, Any], items: dict[Any, Any]) -> None:
    """Let a dict have these items, in this order, by no method that a class of the user's has."""
    kind = OrderedDict if isinstance(owner, OrderedDict) else dict  # it keeps its order beside
    kind.clear(owner)
    for key, item in items.items():
        kind.__setitem__(owner, key, item)


def _items_at_the_end(owner: Any, change: ContainerChange, new: Any) -> list[Any]:
    """The items of a container after the call, or those that are added to it."""
    if change.kept is None:
        return list(new)
    rest = iter(new)
    return [next(rest) if former is NEW else owner[former] for former in change.kept]


def _store_items(target: Any, contents: Any, left: Collection[int]) -> None:
    """Store what the items of a list hold at the end, in those items; not in what is left."""
    if isinstance(target, (list, tuple)) and isinstance(target[0], _CHANGEABLE):
        for item, below in zip(target, contents, strict=True):
            _store_items(item, below, left)
    elif id(target) not in left:
        _store(target, contents)


_CHANGEABLE = (Tensor, np.ndarray, list, tuple)


def _store(target: Any, contents: Any) -> None:
    if isinstance(target, Tensor):
        take_over(target, contents)
    elif isinstance(target, list):
        target[:] = contents
    elif isinstance(target, dict):
        target.clear()
        target.update(contents)
    else:
        target[...] = getattr(contents, "array", contents)
