"""The arguments of a run: what the function is given for them, and what it must have left alone.

What is differentiated are values of the run; lists, dicts, dataclasses and arrays besides are
copies, so that those of the caller are not changed. A run in which that would be seen is refused
when it has ended: one that has changed a copy of what the function may find by another name, too,
or under another name what it was given a copy of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.compiler.given_leaves import converted, leaves_in, shape_error
from gradscribe.errors import AliasingError
from gradscribe.ir.mapped_memory import exporter_of, file_of
from gradscribe.ir.overlaps import (
    copied,
    copied_together,
    overlaps_itself,
    owner_of_memory,
    share_memory,
)
from gradscribe.ir.probing import is_a
from gradscribe.ir.shown import Memory, asks_which
from gradscribe.ir.trees import flatten, node_of, unflatten
from gradscribe.primitives.argument_trees import is_same
from gradscribe.recording.arrays import (
    RecordedArray,
    check_class,
    is_recorded,
    present,
    shown,
)
from gradscribe.recording.levels import Traced, is_differentiable, plain
from gradscribe.recording.reverse import fitted

Active = Sequence[Any] | None
"""The active leaves: for each argument whether all of it is (a bool), or for each of its leaves, in
the order of `ir.trees.flatten`; None: all that have derivatives."""


class Point:
    """Arguments of a function, flat; by which nothing is differentiated, if they are keywords.

    leaves: their values. active: the numbers of the active ones.
    """

    def __init__(
        self,
        args: Sequence[Any],
        active: Active = None,
        keywords: Mapping[str, Any] | None = None,
    ) -> None:
        self._trees: list[Any] = []
        self._counts: list[int] = []
        self.leaves: list[Any] = []
        self.active: list[int] = []
        self._read_only: list[int] = []
        self._views: list[int] = []
        self._before: dict[int, Any] = {}
        self._given: list[Any] = []
        self._names = tuple(keywords or ())
        self._args = (*args, *(keywords or {}).values())
        self._containers: list[tuple[_Container, _Container]] = []
        self._own: list[_Container] = []
        self._stored: list[Any] = []
        for number, arg in enumerate(self._args):
            tree, leaves = flatten(arg, is_recorded)
            chosen = number < len(args) and (active is None or active[number])
            flags = [chosen] * len(leaves) if isinstance(chosen, bool) else list(chosen)
            for leaf, flag in zip(leaves, flags, strict=True):
                if flag and is_differentiable(plain(present(leaf))):
                    if is_a(leaf, np.ndarray) and not is_recorded(leaf):
                        check_class(leaf)
                    self.active.append(len(self.leaves))
                if _is_read_only(leaf):
                    self._read_only.append(len(self.leaves))
                if _is_view(leaf):
                    self._views.append(len(self.leaves))
                self.leaves.append(present(leaf))
            self._trees.append(tree)
            self._counts.append(len(leaves))

    def values(self, traced: Mapping[int, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments and keywords that the function is called with. traced: the active
        leaves."""
        copies = Copies(self.leaves, self.active)
        leaves = [
            shown(traced[i]) if i in traced else copies.of(leaf)
            for i, leaf in enumerate(self.leaves)
        ]
        for i in self._read_only:
            _set_read_only(leaves[i])
        for i in self._views:
            if type(leaves[i]) is RecordedArray:
                leaves[i]._memory.is_view = True
        overlapping = {id(leaves[i]): leaves[i] for i in copies.overlapping}
        known = {
            key: leaf if is_recorded(leaf) else shown(leaf) for key, leaf in overlapping.items()
        }
        refuse_stores(known.values())
        self._given = [known.get(id(leaf), leaf) for leaf in leaves]
        others = ((i, leaf) for i, leaf in enumerate(self.leaves) if i not in traced)
        self._before = {i: leaf.copy(order="K") for i, leaf in others if _is_array(leaf)}
        given = self._nested(self._given)
        pairs = zip(_containers(self._args), _containers(given), strict=True)
        self._containers = [(_Container(own), _Container(made)) for own, made in pairs]
        count = len(given) - len(self._names)
        return given[:count], dict(zip(self._names, given[count:], strict=True))

    def inputs(self) -> dict[int, Any]:
        """The active leaves, as values that nobody changes: copies of the caller's arrays."""
        own = ((i, self.leaves[i]) for i in self.active)
        return {i: copied(x) if is_a(x, np.ndarray) else x for i, x in own}

    def end(self, inputs: dict[int, Any]) -> None:
        """Note which copies the run has changed, and let go of them. inputs: the active leaves, as
        they were."""
        for i, before in (inputs | self._before).items():
            if type(before) is not Traced and not _are_same(before, plain(present(self._given[i]))):
                self._stored.append(self.leaves[i])
        self._stored += [own.value for own, given in self._containers if given.has_changed]
        self._own = [own for own, _ in self._containers]
        self._given, self._containers = [], []

    def refuse_changed(self, inputs: dict[int, Any], function: Callable[..., Any]) -> None:
        """Refuse a run that has ended, and has changed what is the caller's under another name, or
        a copy of what others may show, who have read what was there before.

        inputs: the active leaves, as they were. function: what ran.
        """
        self._refuse_compared(function)
        for i, before in (inputs | self._before).items():
            if not _are_same(before, self.leaves[i]):
                raise _stored_outside("an array")
        for own in self._own:
            if own.has_changed:
                raise _stored_outside(f"a {type(own.value).__name__}")
        objects = (x for x in self.leaves if not (is_a(x, np.ndarray) or type(x) is Traced))
        others = [function, *objects]
        count = Counter(id(own.value) for own in self._own)
        for target in self._stored:
            owner = owner_of_memory(target)
            holders = [target] if count[id(target)] > 1 else [owner] if owner is not None else []
            _refuse_shown(target, [*holders, *others])

    def _refuse_compared(self, function: Callable[..., Any]) -> None:
        """Refuse a run that may have compared a copy with what the caller has given."""
        if not asks_which(function):
            return
        arrays = [leaf for leaf in self.leaves if _is_array(leaf)]
        containers = [own.value for own in self._own]
        count = Counter(map(id, containers))
        for target in (*arrays, *containers):
            if count[id(target)] > 1 or _memory_of(target).is_shown_by(function):
                raise AliasingError(
                    "the function asks by `is` which object something is, and finds an argument by "
                    "another name, too, of which it is given a copy",
                    "compare what they hold; or let it be compiled",
                )

    def nested(self, leaves: Sequence[Any]) -> list[Any]:
        """Something for each leaf, in the structure of the arguments that are no keywords."""
        return self._nested(leaves)[: len(self._trees) - len(self._names)]

    def _nested(self, leaves: Sequence[Any]) -> list[Any]:
        remaining = iter(leaves)
        return [unflatten(tree, remaining) for tree in self._trees]

    def directions(self, tangents: Sequence[Any]) -> dict[int, Any]:
        """The tangents of the active leaves, from tangents in the structure of the arguments."""
        given: list[Any] = []
        trees = self._trees[: len(self._trees) - len(self._names)]
        for tangent, tree in zip(tangents, trees, strict=True):
            given += leaves_in(tree, tangent, "tangent")
        return {i: like(given[i], self.leaves[i], "tangent") for i in self.active}


def as_they_are(leaves: Iterable[Any]) -> list[tuple[Any, Any]]:
    """The arrays of the caller's among these, with copies of them."""
    return [(leaf, leaf.copy(order="K")) for leaf in leaves if _is_array(leaf)]


def refuse_other_names(held: Iterable[tuple[Any, Any]]) -> None:
    """Refuse a run that has stored to an array of the caller's. held: those, as they were."""
    for array, before in held:
        if not _are_same(array, before):
            raise _stored_outside("an array")


def _stored_outside(what: str) -> AliasingError:
    return AliasingError(
        f"{what} among the arguments is stored to under another name, outside of the function's "
        "arguments",
        "pass a copy of it",
    )


def _memory_of(target: Any) -> Memory:
    return Memory([target], most=1_000, in_doubt=owner_of_memory(target) is not None)


def _refuse_shown(target: Any, others: Iterable[Any]) -> None:
    """Refuse a run that has stored to a copy of what others may show: what holds its memory, what
    the function finds outside, other arguments."""
    memory = _memory_of(target)
    for other in others:
        if other is target or memory.is_shown_by(other):
            raise AliasingError(
                "an argument is stored to that the function may read by another name, too (as part "
                f"of a `{type(other).__name__}`)",
                "pass a copy of it",
            )


class _Container:
    """A list, dict or dataclass, and what it held."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._keys, self._held = _held(value)

    @property
    def has_changed(self) -> bool:
        keys, held = _held(self.value)
        return keys != self._keys or any(a is not b for a, b in zip(held, self._held, strict=True))


def _held(container: Any) -> tuple[Any, list[Any]]:
    """The keys of what is in a container, or its length, and the items."""
    found = node_of(container)
    assert found is not None
    node, items = found
    return node.keys or len(items), items


def _containers(values: Iterable[Any]) -> Iterator[Any]:
    """The containers in these values, as deep as they are taken apart."""
    for value in values:
        found = None if is_recorded(value) else node_of(value)
        if found is not None:
            if not isinstance(value, tuple):
                yield value
            yield from _containers(found[1])


def refuse_stores(arrays: Iterable[Any]) -> None:
    """Let stores to these be refused."""
    for array in arrays:
        if is_recorded(array):
            array._memory.overlaps = True
        else:
            array.flags.writeable = False


class Copies:
    """Copies of the arrays that a run is given, in memory as these are.

    overlapping: the numbers of those that share memory, and whose copies do not: those in which
    something is differentiated, or all of them, if are_apart.
    """

    def __init__(
        self, leaves: Sequence[Any], active: Collection[int], *, are_apart: bool = False
    ) -> None:
        self._made: dict[int, Any] = {}
        self.overlapping: list[int] = []
        for group in _sharing(leaves):
            arrays = {id(leaves[i]): leaves[i] for i in group}
            are_plain = all(type(array) is np.ndarray for array in arrays.values())
            mappings = {id(exporter_of(plain(a))) for a in arrays.values() if file_of(plain(a))}
            are_plain &= len(mappings) < 2  # else one file is at two addresses
            has_objects = any(plain(array).dtype.hasobject for array in arrays.values())
            is_active = any(i in active for i in group)
            if are_plain and not (has_objects or is_active or are_apart):
                made = copied_together(list(arrays.values()))
                self._made |= dict(zip(arrays, made, strict=True))
            elif len(arrays) > 1 or is_active:
                self.overlapping += group

    def of(self, leaf: Any) -> Any:
        """What the run gets for a leaf that is not differentiated."""
        if type(leaf) is Traced:
            return shown(leaf)
        if not is_a(leaf, np.ndarray):
            return leaf
        if id(leaf) not in self._made:
            is_plain = type(leaf) is np.ndarray
            made = copied(leaf) if is_plain else leaf.copy(order="K")
            if is_plain and leaf.base is not None and made.base is None:
                made = made[...]  # the function may ask whether it has a base
            self._made[id(leaf)] = made
            if leaf.dtype == object:
                for place, held in np.ndenumerate(leaf):
                    made[place] = self._held(held)
        return self._made[id(leaf)]

    def _held(self, value: Any) -> Any:
        """What an array of objects gets for one of these."""
        tree, leaves = flatten(value, is_recorded)
        return unflatten(tree, map(self.of, leaves))


def _sharing(leaves: Sequence[Any]) -> list[list[int]]:
    """The numbers of the arrays, those together that share memory, directly or by way of others,
    or of which two elements do."""
    groups: list[list[int]] = []
    for i, leaf in enumerate(leaves):
        array = plain(leaf)
        if not is_a(array, np.ndarray) or not array.size:
            continue
        near = [g for g in groups if any(share_memory(array, plain(leaves[j])) for j in g)]
        groups = [group for group in groups if group not in near]
        groups.append([*(j for group in near for j in group), i])
    return [g for g in groups if len(g) > 1 or overlaps_itself(plain(leaves[g[0]]))]


def _is_array(leaf: Any) -> bool:
    return is_a(leaf, np.ndarray) and not is_recorded(leaf)


def _are_same(a: Any, b: Any) -> bool:
    """Whether the bytes of two arrays are the same, or two numbers are."""
    both = [x.view(np.ndarray) if is_a(x, np.ndarray) else x for x in (a, b)]
    return is_same(*both)


def like(leaf: Any, value: Any, kind: str) -> Any:
    """A (co)tangent in the type of what it belongs to."""
    own, leaf = plain(value), present(leaf)
    if type(leaf) is not Traced:
        return converted(leaf, own, kind)
    if np.shape(plain(leaf)) != np.shape(own):
        wanted = str(np.shape(own)) if np.ndim(own) else ""
        raise shape_error(kind, str(np.shape(plain(leaf))), wanted)
    return fitted(leaf, own)


def _is_read_only(leaf: Any) -> bool:
    if type(leaf) is RecordedArray:
        return not leaf._writeable
    return _is_array(leaf) and not leaf.flags.writeable


def _is_view(leaf: Any) -> bool:
    """Whether an argument is a view of another array."""
    if type(leaf) is RecordedArray:
        return leaf._base is not None or leaf._memory.is_view
    return _is_array(leaf) and leaf.base is not None


def _set_read_only(leaf: Any) -> None:
    if type(leaf) is RecordedArray:
        leaf._writeable = False
    else:
        leaf.flags.writeable = False
