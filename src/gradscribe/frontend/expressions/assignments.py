"""Assignments: of names, items and attributes, of several targets at once, `op=`; and `del`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast

from gradscribe.frontend.calls.operators import BINARY
from gradscribe.frontend.containers import (
    array_likes,
    dicts,
    lengths,
    lists,
    run_time_sets,
    unpacking,
)
from gradscribe.frontend.containers.stores import augment, store_item
from gradscribe.frontend.containers.subscripts import part_of, read_item
from gradscribe.frontend.expressions import comprehensions
from gradscribe.frontend.expressions.expressions import index
from gradscribe.frontend.joins.splitting import for_each_kind
from gradscribe.frontend.kinds import known_sets, presence, tensors
from gradscribe.frontend.memory import kept_variables, outside
from gradscribe.frontend.memory.sequences import new_list
from gradscribe.frontend.objects import object_stores
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, protocols
from gradscribe.frontend.structures.indices import step_of
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    Either,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    Unbound,
    ViewOf,
)
from gradscribe.ir.types import is_complex


def assign(lowering: Lowering, target: Any, item: FrontendValue) -> None:
    """Bind or store a value to an assignment target."""
    if isinstance(target, gast.Name):
        item = lowering.named(item, target.id)
        lowering.frame.names[target.id] = item
        kept_variables.bind(lowering, target.id, item)
    elif isinstance(item, Either):
        for_each_kind(lowering, target, (item,), lambda one: _assigned(lowering, target, one))
    elif isinstance(target, (gast.Tuple, gast.List)):
        _unpack(lowering, target, item)
    elif isinstance(target, gast.Subscript):
        owner, place = lowering.expression(target.value), index(lowering, target.slice)
        _for_each_owner(lowering, target, owner, store_item, place, item)
    else:
        assert isinstance(target, gast.Attribute)
        owner = lowering.expression(target.value)
        _for_each_owner(lowering, target, owner, _store_attribute, item)


def _for_each_owner(
    lowering: Lowering,
    node: Any,
    owner: FrontendValue,
    change: Callable[..., None],
    *given: Any,
) -> None:
    """Change what a target of this statement belongs to: `(a if c else b)[0] = item`."""

    def changed(one: FrontendValue) -> Static:
        change(lowering, node, one, *given)
        return Static(None)

    for_each_kind(lowering, node, (owner,), changed)


def _store_attribute(
    lowering: Lowering, target: Any, owner: FrontendValue, item: FrontendValue
) -> None:
    """`owner.name = item`; the real and the imaginary part of an array are views of it."""
    if isinstance(owner, Ref) and target.attr in ("real", "imag"):
        if target.attr == "imag" and not is_complex(lowering.load(owner).type):
            error = TypeError("array does not have imaginary part to set")
            lowering.raises(target, error)
        part = lowering.attribute(target, owner, target.attr)
        store_item(lowering, target, part, Static(...), item)
    else:
        object_stores.store(lowering, target, owner, target.attr, item)


def _assigned(lowering: Lowering, target: Any, item: FrontendValue) -> Static:
    assign(lowering, target, item)
    return Static(None)


def _unpack(lowering: Lowering, target: Any, item: FrontendValue) -> None:
    starred = [i for i, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
    if starred and isinstance(item, ListRef) and lengths.has_run_time_length(lowering, item):
        first = starred[0]
        last = len(target.elts) - first - 1
        _assign_each(lowering, target, unpacking.divided(lowering, target, item, first, last))
        return
    expected = None if starred else len(target.elts)
    items = list(lowering.unpacked(target, item, expected))
    if starred:
        first, after = starred[0], len(target.elts) - starred[0] - 1
        if len(items) < len(target.elts) - 1:
            lowering.unsupported(
                target,
                f"not enough values to unpack: {len(items)}",
                "name fewer targets, or give it more items",
                python=ValueError,
            )
        middle = new_list(lowering, tuple(items[first : len(items) - after]))
        items[first : len(items) - after] = [middle]
    if len(items) != len(target.elts):
        lowering.unsupported(
            target,
            f"expected {len(target.elts)} values to unpack, got {len(items)}",
            "name as many targets as there are items, or collect the rest: `a, *rest = …`",
            python=ValueError,
        )
    _assign_each(lowering, target, items)


def _assign_each(lowering: Lowering, target: Any, items: Sequence[FrontendValue]) -> None:
    for part, below in zip(target.elts, items, strict=True):
        assign(lowering, part.value if isinstance(part, gast.Starred) else part, below)


def assign_statement(lowering: Lowering, node: Any) -> None:
    first = node.targets[0]
    if isinstance(node.value, gast.ListComp) and isinstance(first, gast.Name):
        item = comprehensions.list_of(lowering, node.value, first.id)
    else:
        item = lowering.expression(node.value)
    for target in node.targets:
        assign(lowering, target, item)


def annotated_statement(lowering: Lowering, node: Any) -> None:
    if node.value is not None:
        assign(lowering, node.target, lowering.expression(node.value))


def augmented_statement(lowering: Lowering, node: Any) -> None:
    callee = BINARY[type(node.op)]
    target = node.target
    if isinstance(target, gast.Subscript):
        owner = lowering.expression(target.value)
        place = index(lowering, target.slice)
        _for_each_owner(lowering, node, owner, _augment_item, callee, place)
        return
    if isinstance(target, gast.Attribute):
        owner = lowering.expression(target.value)
        _for_each_owner(lowering, node, owner, _augment_attribute, callee)
        return
    read = gast.Name(target.id, gast.Load(), None, None)
    current = lowering.expression(gast.copy_location(read, target))
    _augment_by(lowering, node, callee, current, lambda changed: assign(lowering, target, changed))


def _augment_by(
    lowering: Lowering,
    node: Any,
    callee: Any,
    current: FrontendValue,
    store: Callable[[FrontendValue], None],
    *,
    owner: FrontendValue | None = None,
    always: bool = False,
) -> None:
    """`current op= node.value`: what that gives is stored where it is not `current` itself, changed
    in place (always: in any case). owner: what `current` is an item of."""

    def changed_by(current: FrontendValue, item: FrontendValue) -> Static:
        current = outside.opened(lowering, current)
        if not isinstance(current, (Ref, ListRef)):
            tensors.refuse_shared_number(lowering, node, current, owner)
        changed = _changed_by(lowering, node, callee, current, item)
        if always or changed is not current:
            store(changed)
        return Static(None)

    for_each_kind(lowering, node, (current, lowering.expression(node.value)), changed_by)


def _changed_by(
    lowering: Lowering, node: Any, callee: Any, current: FrontendValue, item: FrontendValue
) -> FrontendValue:
    """What `current op= item` gives: `current` itself, changed in place, or another value."""
    if isinstance(current, Ref):
        augment(lowering, node, current, callee, item)
        return current
    is_list = isinstance(current, ListRef)
    if is_list and callee is operator.add and not _computes_with_lists(lowering, item):
        lists.extend(lowering, node, current, item)
        return current
    if isinstance(current, DictRef) and callee is operator.or_:
        dicts.update(lowering, node, current, item)
        return current
    known_sets.refuse_change(lowering, node, current)
    is_set = run_time_sets.is_set(current) and _may_be_set(item)
    if is_set and callee in _CHANGING_SETS:
        method = BoundMethod(current, _CHANGING_SETS[callee])
        lowering.call(node, method, (item,), {})
        return current
    changed = protocols.augment(lowering, node, callee, current, item)
    if changed is not None:
        return changed
    if unknown.is_opaque(current) and not texts.is_text(current):
        in_place = unknown.IN_PLACE[callee]
        return unknown.call(lowering, node, in_place, (current, item), {})
    changed = lowering.operate(node, callee, current, item)
    if is_list and isinstance(changed, ListRef):  # `*=`
        lists.store_section(lowering, node, current, slice(None), changed)
        return current
    return changed


def _computes_with_lists(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether `items += item` is a sum that this computes, where else it extends the list."""
    if isinstance(item, Ref) or array_likes.is_of_numpy(item):
        return True
    return class_attributes.method(lowering, item, "__radd__") is not None


def _may_be_set(item: FrontendValue) -> bool:
    if isinstance(item, Static):
        return isinstance(item.value, (set, frozenset))
    return unknown.is_opaque(item) and not texts.is_text(item)


_CHANGING_SETS = {
    operator.or_: "update",
    operator.and_: "intersection_update",
    operator.sub: "difference_update",
    operator.xor: "symmetric_difference_update",
}


def _augment_attribute(lowering: Lowering, node: Any, owner: FrontendValue, callee: Any) -> None:
    target = node.target
    current = lowering.attribute(target, owner, target.attr)
    always = class_attributes.is_computed(owner, target.attr)
    store = functools.partial(object_stores.store, lowering, target, owner, target.attr)
    _augment_by(lowering, node, callee, current, store, always=always)


def _augment_item(
    lowering: Lowering, node: Any, owner: FrontendValue, callee: Any, place: FrontendValue
) -> None:
    old = read_item(lowering, node, owner, place)
    if isinstance(owner, Ref) and getattr(owner, "array", None) is None:
        view, before = (
            part_of(owner, step_of(lowering, node, place)),
            lowering.contents[owner.storage],
        )
        is_view = isinstance(old, Ref) and old.storage is owner.storage

        def changed_by(item: FrontendValue) -> Static:
            if is_view or lowering.contents[owner.storage] is before:
                augment(lowering, node, view, callee, item)
            else:  # by the value itself: it is added to what was read before
                changed = lowering.operate(node, callee, old, item)
                store_item(lowering, node, owner, place, changed)
            return Static(None)

        for_each_kind(lowering, node, (lowering.expression(node.value),), changed_by)
        return
    always = not isinstance(owner, (ListRef, DictRef)) or isinstance(place, slice)
    store = functools.partial(store_item, lowering, node, owner, place)
    _augment_by(lowering, node, callee, old, store, owner=owner, always=always)


def delete_statement(lowering: Lowering, node: Any) -> None:
    for target in node.targets:
        _delete(lowering, target)


def _delete(lowering: Lowering, target: Any) -> None:
    if isinstance(target, gast.Name):
        _delete_name(lowering, target)
    elif isinstance(target, (gast.Tuple, gast.List)):
        for part in target.elts:
            _delete(lowering, part)
    elif isinstance(target, gast.Attribute):
        owner = lowering.expression(target.value)
        _for_each_owner(lowering, target, owner, object_stores.delete, target.attr)
    else:
        owner = lowering.expression(target.value)
        _for_each_owner(lowering, target, owner, _delete_item, index(lowering, target.slice))


def _delete_name(lowering: Lowering, target: Any) -> None:
    """`del name`, which raises what a read of the name would raise."""
    names, name = lowering.frame.names, target.id
    if name not in names and name not in lowering.frame.source.local_names:  # in a class
        lowering.raises(target, NameError(f"name '{name}' is not defined"))
    if not isinstance(names.get(name), ViewOf):
        read = gast.Name(name, gast.Load(), None, None)
        found = lowering.expression(gast.copy_location(read, target))
        if lowering.frame.loops and presence.may_be_missing(lowering, found):
            lowering.unsupported(
                target,
                f"`{name}`, which may have no value, is deleted in a loop",
                "delete it on the path that gives it its value",
            )
    names[name] = Unbound(f"`{name}` has been deleted", raises=True)


def _delete_item(lowering: Lowering, node: Any, owner: FrontendValue, place: FrontendValue) -> None:
    owner = outside.opened(lowering, owner)
    if protocols.call(lowering, node, owner, "__delitem__", place) is not None:
        return
    if isinstance(owner, ListRef):
        lists.delete_item(lowering, node, owner, place)
    elif isinstance(owner, DictRef):
        dicts.delete_key(lowering, node, owner, place)
    else:
        lowering.unsupported(
            node,
            "only names and items of lists and dicts can be deleted",
            "make a new value without it",
            python=ValueError if isinstance(owner, Ref) else None,
        )
