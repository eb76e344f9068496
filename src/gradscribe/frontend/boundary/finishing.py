"""The end of a lowering: the IR function, with all that it depends on and changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import FunctionType

from gradscribe.frontend.boundary import moved_items
from gradscribe.frontend.boundary.container_changes import changed_containers
from gradscribe.frontend.boundary.effects import (
    Attribute,
    Effects,
    Given,
    attributes_of,
    effects_of,
    given_by,
)
from gradscribe.frontend.boundary.results import result_tree
from gradscribe.frontend.interface import (
    AccessPath,
    Dependency,
    KnownContainer,
    Lowered,
    Shown,
)
from gradscribe.frontend.memory import kept_memory, remembered
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import fields_of_c
from gradscribe.frontend.values.values import FrontendValue, Storage
from gradscribe.ir.core import Block, Function, Parameter, Value
from gradscribe.ir.probing import module_of_class
from gradscribe.ir.trees import LEAF, Node, Tree, numbers_of


def lowered(
    lowering: Lowering,
    function: FunctionType,
    parameters: list[Parameter],
    given: list[Given],
    attributes: list[Attribute],
    result: FrontendValue,
) -> Lowered:
    """What has been lowered, as a function.

    given, attributes: the objects in the arguments, as they were at the start.
    """
    remembered.check(lowering)
    fields_of_c.refuse_shared(lowering)
    tree, yields = result_tree(lowering, result)
    containers = list(changed_containers(lowering))
    captures, own = lowering.outside.captures, len(parameters)
    given = [*given, *_given_by_captures(lowering, parameters)]
    attributes = [*attributes, *_attributes_of_captures(lowering)]
    parameters = [*parameters, *(parameter for _, parameter in captures)]
    values = tuple(leaf for parameter in parameters for leaf in parameter.leaves)
    effects = effects_of(lowering, given, attributes, containers, values, result)
    _tell_apart(lowering, {change.argument - own for change in effects.changes})
    dependencies.identities(lowering)
    body = Block(values, tuple(lowering.builder.operations), tuple(yields))
    name = function.__name__ if function.__name__.isidentifier() else "function"
    facts = lowering.builder.facts
    plain = Function(name, tuple(parameters), body, tree, facts, function.__doc__)
    captured = {leaf for parameter in parameters[own:] for leaf in parameter.leaves}
    plain = kept_memory.lent_themselves(plain, captured)
    dependencies.tell_closures_apart(lowering, plain)
    return Lowered(
        plain,
        _effectful(plain, effects),
        effects.changes,
        effects.attributes,
        effects.containers,
        effects.origins,
        tuple(capture for capture, _ in captures),
        tuple(lowering.outside.dependencies.values()),
        effects.stored,
        effects.distinct,
        effects.unclear,
        tuple(n for n, leaf in enumerate(values) if leaf in lowering.layouts.assumed_contiguous),
        tuple(n for n, leaf in enumerate(values) if leaf in lowering.layouts.assumed_otherwise),
        lowering.modes.exist,
        _storing(plain, effects),
        effects.own_origins,
        frozenset(g.argument for g in given if g.storage in lowering.changes.handed),
        tuple(_known(lowering, effects, given, own)),
        tuple(_placed(lowering, values)),
        frozenset(n for n, leaf in enumerate(values) if lowering.outside.only_grown.get(leaf)),
        moved_items.are_changed(lowering),
        tuple(_shown(lowering)),
        tuple(kept_memory.themselves(plain, [parameter for _, parameter in captures])),
    )


def _tell_apart(lowering: Lowering, changed: set[int]) -> None:
    """Make it a condition of each call that what is changed outside is none of the others that are
    found there. changed: the numbers of the captures."""
    outside = lowering.outside
    objects = []
    for capture, _ in outside.captures:
        captured = outside.captured[capture.path.place]
        storage: Storage | None = getattr(captured, "storage", None)
        objects.append(None if storage is None else outside.memory.get(storage))
    for number in changed & set(range(len(objects))):
        path = outside.captures[number][0].path
        for (other, _), held in zip(outside.captures, objects, strict=True):
            if other.path is not path and type(held) is type(objects[number]):
                key = ("other", path.place, other.path.place)
                outside.dependencies[key] = Dependency(other.path, path, "other")


def _shown(lowering: Lowering) -> Iterator[Shown]:
    """What has to be asked at each call of the objects that unread code is given."""
    stores = bool(lowering.changes.stored)
    for number, (target, name, path) in lowering.outside.shown.items():
        is_written = number in lowering.outside.written
        is_own = module_of_class(type(target)).partition(".")[0] == "gradscribe"
        is_code = callable(target) or is_own
        if (stores or is_written) and not is_code and number not in lowering.outside.grown:
            yield Shown(name, path, is_written)


def _placed(lowering: Lowering, leaves: Sequence[Value]) -> Iterator[int]:
    """The leaves that are put outside themselves, and the lists whose items are put elsewhere."""
    outside, changes = lowering.outside, lowering.changes
    moved = [outside.originals.get(storage) for storage in changes.rearranged]
    placed = {*outside.placed.values(), *moved}
    return (number for number, leaf in enumerate(leaves) if leaf in placed)


def _known(
    lowering: Lowering, effects: Effects, given: list[Given], own: int
) -> Iterator[KnownContainer]:
    """The lists and dicts from outside that are stored elsewhere. own: how many arguments come
    before the captures."""
    trees: list[Tree] = [change.tree for change in effects.changes]
    trees += [change.tree for change in effects.attributes]
    trees += [change.tree for change in effects.containers]
    numbers = {number for tree in trees for number in numbers_of(tree)}
    roots = [AccessPath(number) for number in range(own)]
    roots += [capture.path for capture, _ in lowering.outside.captures]
    for item in given:
        if item.storage.serial in numbers and item.leaf is None:
            root = roots[item.argument]
            owner = AccessPath(root.root, (*root.steps, *item.steps))
            yield KnownContainer(item.storage.serial, owner)
    for storage, found in lowering.outside.containers.items():
        if storage.serial in numbers:
            yield KnownContainer(storage.serial, found.path)


def _given_by_captures(lowering: Lowering, parameters: list[Parameter]) -> list[Given]:
    """The arrays, lists and dicts in the implicit inputs, which come after these parameters."""
    outside = lowering.outside
    leaves = sum(len(parameter.leaves) for parameter in parameters)
    captured = [parameter for _, parameter in outside.captures]
    items = [outside.captured[capture.path.place] for capture, _ in outside.captures]
    return [
        replace(
            item,
            argument=item.argument + len(parameters),
            leaf=None if item.leaf is None else item.leaf + leaves,
        )
        for item in given_by(captured, items, outside.entered)
    ]


def _attributes_of_captures(lowering: Lowering) -> list[Attribute]:
    outside = lowering.outside
    return [
        attribute
        for capture, parameter in outside.captures
        for attribute in attributes_of(
            capture.path, parameter, outside.captured[capture.path.place], outside.entered
        )
    ]


def _effectful(plain: Function, effects: Effects) -> Function:
    """The function that returns what it leaves changed, too, and nothing twice."""
    body, origins = plain.body, effects.origins
    has_changes = effects.changes or effects.attributes or effects.containers
    if not has_changes and not any(o is not None for o in origins):
        return plain
    every = zip((*body.yields, *effects.leaves), origins, strict=True)
    new = tuple(leaf for leaf, origin in every if origin is None)
    return replace(plain, body=replace(body, yields=new), result=Node(tuple, (LEAF,) * len(new)))


def _storing(plain: Function, effects: Effects) -> Function:
    """The function that returns a pair: its result, and what is new in what it leaves changed."""
    every = zip(effects.leaves, effects.own_origins, strict=True)
    new = tuple(leaf for leaf, origin in every if origin is None)
    result = Node(tuple, (plain.result, Node(tuple, (LEAF,) * len(new))))
    return replace(
        plain, body=replace(plain.body, yields=(*plain.body.yields, *new)), result=result
    )
