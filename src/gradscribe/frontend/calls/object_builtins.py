"""Built-in functions about objects: `super`, `setattr`, `dataclasses.replace`, `copy.copy`, …"""

from __future__ import annotations

import collections
import copy
import copyreg
import dataclasses
import sys
from typing import Any

import numpy as np

from gradscribe.frontend.containers import dicts, iteration_items, reducing
from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.memory import at_once, given_twice, iterators, outside, sequences
from gradscribe.frontend.objects import construction, object_stores
from gradscribe.frontend.prelude import iteration_prelude, prelude, standard_functions
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.handlers import Handler, enter, handles, written_as
from gradscribe.frontend.state.knowledge import Early
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, protocols, standard_classes
from gradscribe.frontend.structures.instances import (
    class_of,
    has_methods,
    is_object,
    new_instance,
)
from gradscribe.frontend.values.iterations import Iteration
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    ObjectRef,
    OneShot,
    Ref,
    Reference,
    Static,
    Storage,
    Super,
    TupleOf,
    is_number,
    may_hold,
    may_overlap,
)
from gradscribe.ir.core import Method, Value
from gradscribe.ir.probing import is_dataclass, probe


@handles(super)
def _super(
    lowering: Lowering,
    node: Any,
    cls: FrontendValue | None = None,
    receiver: FrontendValue | None = None,
    /,
) -> Super:
    if cls is not None:
        return _of_class(lowering, node, static_values.object_of(lowering, node, cls), receiver)
    frame: Frame | None = lowering.frame
    while frame is not None:
        if frame.cls is not None:
            return _of_class(lowering, node, frame.cls, frame.names[frame.source.parameters[0]])
        code = frame.function.__code__
        if frame.outer is None and "__class__" in code.co_freevars:
            cell = (frame.function.__closure__ or ())[code.co_freevars.index("__class__")]
            receiver = frame.names[frame.source.parameters[0]]
            return _of_class(lowering, node, cell.cell_contents, receiver)
        frame = frame.outer
    return lowering.unsupported(
        node,
        "`super()` outside of a method",
        "call the function of the class by its name: `Base.method(self)`",
    )


def _of_class(lowering: Lowering, node: Any, after: Any, receiver: FrontendValue | None) -> Super:
    """`super(after, receiver)`, if that is an object of the class, or a class derived from it."""
    if not isinstance(after, type):
        what = f"super() argument 1 must be a type, not {type(after).__name__}"
        lowering.raises(node, TypeError(what), what)
    if isinstance(receiver, (ObjectRef, Static)) or (receiver and has_methods(receiver)):
        found = Super(after, receiver)
        if issubclass(class_attributes.class_of_super(found), after):
            return found
    elif receiver is None or after.__module__ == "builtins":
        lowering.unsupported(
            node,
            "`super` of a class alone, or of no object of a class, is not supported",
            "call the function of the class by its name: `Base.method(self)`",
        )
    what = "super(type, obj): obj must be an instance or subtype of type"
    return lowering.raises(node, TypeError(what), what)


@handles(setattr)
def _setattr(
    lowering: Lowering, node: Any, owner: FrontendValue, name: FrontendValue, item: FrontendValue, /
) -> Static:
    object_stores.store(lowering, node, owner, static_values.object_of(lowering, node, name), item)
    return Static(None)


@handles(object.__setattr__)
def _set_plainly(
    lowering: Lowering, node: Any, owner: FrontendValue, name: FrontendValue, item: FrontendValue, /
) -> Static:
    if not is_object(owner):
        lowering.unsupported(
            node,
            "the attributes of this value cannot be stored",
            "keep what changes in an object of your own, or return it",
            python=AttributeError,
        )
    object_stores.store_plainly(
        lowering, node, owner, static_values.object_of(lowering, node, name), item
    )
    return Static(None)


@handles(object.__init__)
def _no_init(lowering: Lowering, node: Any, /, *given: FrontendValue, **named: Any) -> Static:
    return Static(None)


def _fields_of(lowering: Lowering, node: Any, owner: FrontendValue) -> dict[str, Any]:
    fields = dataclasses.fields(class_of(owner)) if is_object(owner) else ()
    return {field.name: lowering.attribute(node, owner, field.name) for field in fields}


@handles(dataclasses.replace)
def _replace(
    lowering: Lowering, node: Any, owner: FrontendValue, /, **changes: FrontendValue
) -> FrontendValue:
    """`dataclasses.replace(owner, **changes)`: its class called anew."""
    if not is_object(owner) or not is_dataclass(class_of(owner)):
        lowering.unsupported(
            node,
            "`replace` of something that is no dataclass",
            "call the class itself",
            python=TypeError,
        )
    cls: Any = class_of(owner)
    initial = {field.name for field in dataclasses.fields(cls) if field.init}
    fields = _fields_of(lowering, node, owner)
    given = {name: item for name, item in fields.items() if name in initial} | changes
    return lowering.call(node, Static(cls), (), given)


@handles(dataclasses.fields)
def _fields(lowering: Lowering, node: Any, /, class_or_instance: FrontendValue) -> TupleOf:
    owner = class_or_instance
    cls: Any = (
        class_of(owner) if is_object(owner) else static_values.object_of(lowering, node, owner)
    )
    return TupleOf(tuple(map(Static, dataclasses.fields(cls))))


@handles(dataclasses.asdict)
def _asdict(lowering: Lowering, node: Any, /, obj: FrontendValue) -> DictRef:
    storage = Storage()
    lowering.contents[storage] = {
        name: _deeply(lowering, node, item, _asdict)
        for name, item in _fields_of(lowering, node, obj).items()
    }
    return DictRef(storage)


@handles(dataclasses.astuple)
def _astuple(lowering: Lowering, node: Any, /, obj: FrontendValue) -> TupleOf:
    fields = _fields_of(lowering, node, obj).values()
    return TupleOf(tuple(_deeply(lowering, node, item, _astuple) for item in fields))


def _deeply(lowering: Lowering, node: Any, item: FrontendValue, convert: Handler) -> FrontendValue:
    """A copy, in which dataclasses are converted."""
    if is_object(item) and is_dataclass(class_of(item)):
        return convert(lowering, node, item)
    return _deep_copied(lowering, node, item, [])


@handles(copy.copy)
def _copy(lowering: Lowering, node: Any, /, x: FrontendValue) -> FrontendValue:
    own = protocols.call(lowering, node, x, "__copy__") if is_object(x) else None
    return _shallow(lowering, node, x) if own is None else own


def _shallow(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """A copy as Python makes it where the class has no method for that."""
    item = outside.opened(lowering, item)
    _refuse_own_copies(lowering, node, item, _OF_COPIES)
    if isinstance(item, InstanceRef):
        return new_instance(lowering, item.cls, lowering.attributes(item))
    if isinstance(item, ObjectRef) and isinstance(probe(item.target, "__dict__"), dict):
        names = tuple(vars(item.target))
        path = item.path.attribute("__dict__")
        dependencies.depend(lowering, path, names, "keys")
        known_fields = {name: lowering.attribute(node, item, name) for name in names}
        return new_instance(lowering, type(item.target), known_fields)
    if isinstance(item, ListRef) and isinstance(lowering.contents[item.storage], Value):
        return reducing.copied(lowering, item)
    if isinstance(item, (ListRef, DictRef)):
        ordered = collections.OrderedDict if dicts.is_ordered(item) else None
        storage = Storage(holds=item.storage.holds, derived=ordered)
        lowering.contents[storage] = lowering.contents[item.storage]
        return type(item)(storage)
    if isinstance(item, Ref):
        return lowering.call(node, Static(np.copy), (item,), {})
    if isinstance(item, (Static, TupleOf)) or is_number(item):
        return item
    return lowering.unsupported(node, "a copy of this object is not supported", "make a new one")


_OF_COPIES = (
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getattr__", "__getnewargs__", "__getnewargs_ex__"),
)
"""Methods by which a class says how it is pickled, and so copied, or may answer for these."""


def _refuse_own_copies(
    lowering: Lowering, node: Any, item: FrontendValue, hooks: tuple[str, ...]
) -> None:
    """Refuse an object whose class says by one of these methods how it is copied."""
    cls = item.cls if isinstance(item, InstanceRef) else type(getattr(item, "target", None))
    found = (vars(c)[hook] for c in cls.__mro__[:-1] for hook in hooks if hook in vars(c))
    own = any(getattr(hook, "__module__", "dataclasses") != "dataclasses" for hook in found)
    if own or cls in copyreg.dispatch_table:
        lowering.unsupported(node, "a copy of this object is not supported", "make a new one")


@handles(copy.deepcopy)
def _deepcopy(
    lowering: Lowering, node: Any, /, x: FrontendValue, memo: FrontendValue = Static(None)
) -> FrontendValue:
    if memo != Static(None):
        what = "`copy.deepcopy` with a `memo` is not supported"
        lowering.unsupported(node, what, "leave it out")
    made: _Made = []
    copied = _deep_copied(lowering, node, x, made)
    given_twice.check_items(lowering, [item for item, _ in made])
    return copied


_Made = list[tuple[FrontendValue, FrontendValue]]
"""What a deep copy has copied: what is in it twice is copied once."""


def _deep_copied(lowering: Lowering, node: Any, item: FrontendValue, made: _Made) -> FrontendValue:
    if isinstance(item, TupleOf):
        copies = tuple(_deep_copied(lowering, node, i, made) for i in item.items)
        return TupleOf(copies, item.cls)
    for other, copied in made:
        if _is_one(lowering, node, item, other):
            return copied
    if isinstance(item, (InstanceRef, ObjectRef)):
        _refuse_own_copies(lowering, node, item, ("__deepcopy__",))
    copied = _shallow(lowering, node, item)
    if isinstance(copied, InstanceRef):
        made.append((item, copied))
        for name, cell in copied.cells.items():
            held = lowering.items_in(cell)[name]
            lowering.contents[cell] = {name: _deep_copied(lowering, node, held, made)}
    elif isinstance(copied, (ListRef, DictRef)):
        contents = lowering.contents[copied.storage]
        if isinstance(contents, tuple):
            contents = tuple(_deep_copied(lowering, node, i, made) for i in contents)
            copied = sequences.new_list(lowering, contents)
        elif isinstance(contents, dict):
            lowering.contents[copied.storage] = {
                key: _deep_copied(lowering, node, i, made) for key, i in contents.items()
            }
        elif not sequences.holds_numbers(lowering, copied):
            if not getattr(item, "storage", copied.storage).levels:
                _refuse_perhaps_twice(lowering, node)
            copied = lowering.inline(node, prelude.deeply_copied, (item,))
    if isinstance(item, (Ref, ListRef, DictRef)):
        made.append((item, copied))
    return copied


def _is_one(lowering: Lowering, node: Any, item: FrontendValue, other: FrontendValue) -> bool:
    """Whether this is an object that was copied before."""
    if isinstance(item, ObjectRef) or isinstance(other, ObjectRef):
        return type(item) is type(other) and protocols.is_same(lowering, node, item, other)
    kinds = (Ref, ListRef, DictRef, InstanceRef)
    if item is other or not (isinstance(item, kinds) and isinstance(other, kinds)):
        return item is other
    pairs = ((item, other), (other, item))
    if any(_may_be_in(lowering, one, two) for one, two in pairs):
        _refuse_perhaps_twice(lowering, node)
    if type(item) is not type(other):
        return False
    is_one = item.storage is other.storage
    if not is_one and _are_given(lowering, item, other):
        return given_twice.is_one(lowering, item, other)
    path, other_path = getattr(item, "path", ()), getattr(other, "path", ())
    if is_one and path != other_path:
        return False
    if path if is_one else may_overlap(item.storage, other.storage):
        _refuse_perhaps_twice(lowering, node)
    return is_one


def _are_given(lowering: Lowering, item: Reference, other: Reference) -> bool:
    """Whether two arrays or containers are the caller's, or from outside: they may be one."""
    return all(lowering.outside.is_seen(one.storage) for one in (item, other))


def _may_be_in(lowering: Lowering, item: Reference, owner: Reference) -> bool:
    """Whether this may be an item of a list whose items are not known one by one."""
    is_open = isinstance(owner, ListRef) and isinstance(lowering.contents[owner.storage], Value)
    return is_open and may_hold(owner.storage, item.storage)


def _refuse_perhaps_twice(lowering: Lowering, node: Any) -> None:
    lowering.unsupported(
        node,
        "whether this holds an object twice, which is copied once, is not known",
        "copy what it holds, one by one",
    )


@handles(iter)
def _iter(
    lowering: Lowering, node: Any, item: FrontendValue, end: FrontendValue | None = None, /
) -> FrontendValue:
    if end is not None:
        lowering.unsupported(
            node, "`iter` with a value to stop at is not supported", "write a `while` loop"
        )
    if isinstance(item, OneShot):
        return item
    if is_object(item):
        item = iterations.iter_of(lowering, node, item)
    if class_attributes.method(lowering, item, "__next__") is not None:
        return item
    return iterations.started(lowering, node, item)


@handles(next)
def _next(
    lowering: Lowering, node: Any, item: FrontendValue, default: FrontendValue | None = None, /
) -> FrontendValue:
    if class_attributes.method(lowering, item, "__next__") is not None:
        if default is not None:
            return lowering.inline(node, iteration_prelude.next_or, (item, default))
        return protocols.call_own(lowering, node, item, "__next__")
    if not isinstance(item, OneShot):
        lowering.unsupported(
            node, "`next` of what is no iterator", "make one: `iter(…)`", python=TypeError
        )
    iteration, early = _partly_taken(lowering, node, item)
    count = iteration_items.length(lowering, iteration)
    if count is not None and count.known == 0:
        return lowering.raises(node, StopIteration()) if default is None else default
    has_first = count is not None and lowering.builder.facts.at_least(count, 1)
    if iteration.is_reversed:
        lowering.unsupported(
            node,
            "`next` of what is taken from the last item to the first",
            "use a loop, or index: `x[-1]`",
        )
    if not (has_first or iteration.is_endless):
        lowering.unsupported(node, "`next` of what may have no items", "use a loop, or index")
    first, rest = iteration_items.first_and_rest(lowering, node, iteration)
    iterators.put_back(lowering, item, rest, early)
    return first


def _partly_taken(
    lowering: Lowering, node: Any, item: OneShot
) -> tuple[Iteration, tuple[Early, ...]]:
    """What an iterator runs over of which one item is taken, and what was computed at once."""
    depth, lowering.loops.iterable = len(lowering.generators.early), node
    lowering.generators.leaving = True
    try:
        iteration = iterations.over(lowering, node, item)
    finally:
        lowering.generators.leaving = False
    early = at_once.since(lowering, depth)
    at_once.refuse_effects(lowering, node, early)
    return iteration, early


_NO_FIELD = TypeError if sys.version_info >= (3, 13) else ValueError
"""What Python raises where a field of a namedtuple is replaced that it has not."""


@handles(Method("_replace"))
def _replace_fields(
    lowering: Lowering, node: Any, owner: TupleOf, /, *rest: Any, **changes: FrontendValue
) -> TupleOf:
    if rest:
        lowering.raises(node, TypeError("_replace() takes keyword arguments only"))
    fields: tuple[str, ...] = getattr(owner.cls, "_fields", ())
    if not changes.keys() <= set(fields):
        lowering.unsupported(
            node,
            f"`{owner.cls.__name__}` has no such field",
            "name the fields as the class does",
            python=_NO_FIELD,
        )
    items = zip(fields, owner.items, strict=True)
    return TupleOf(tuple(changes.get(name, item) for name, item in items), owner.cls)


@handles(Method("_asdict"))
def _fields_as_dict(lowering: Lowering, node: Any, owner: TupleOf, /) -> DictRef:
    storage = Storage()
    fields = getattr(owner.cls, "_fields", ())
    lowering.contents[storage] = dict(zip(fields, owner.items, strict=True))
    return DictRef(storage)


def _instance_of(cls: type) -> Handler:
    def handler(
        lowering: Lowering, node: Any, /, *given: FrontendValue, **named: Any
    ) -> FrontendValue:
        return construction.instantiate(lowering, node, cls, given, named)

    return handler


_take = iterators.taking()
enter({cls: _take(_instance_of(own)) for cls, own in standard_classes.CLASSES.items()})
enter({callee: written_as(own) for callee, own in standard_functions.FUNCTIONS.items()})
