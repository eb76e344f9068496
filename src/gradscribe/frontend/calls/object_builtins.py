"""Built-in functions about objects: `super`, `setattr`, `dataclasses.replace`, `copy.copy`, …"""

from __future__ import annotations

import copy
import copyreg
import dataclasses
import sys
from typing import Any

import numpy as np

from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.containers import iteration_items, reducing
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.memory import at_once, given_twice, iterators, outside, sequences
from gradscribe.frontend.objects import construction, object_stores
from gradscribe.frontend.prelude import iteration_prelude, prelude, standard_functions
from gradscribe.frontend.state import dependencies, handlers
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.knowledge import Early
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, protocols, standard_classes
from gradscribe.frontend.structures.instances import class_of, is_object, new_instance
from gradscribe.frontend.values.iterations import Iteration
from gradscribe.frontend.values.values import (
    DictRef,
    InstanceRef,
    ListRef,
    ObjectRef,
    OneShot,
    Ref,
    Static,
    Storage,
    Super,
    TupleOf,
    is_number,
    may_hold,
    may_overlap,
)
from gradscribe.ir.core import Value
from gradscribe.ir.probing import is_dataclass, probe


def _super(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    if arguments:
        return Super(static_values.object_of(lowering, node, arguments[0]), arguments[1])
    frame: Frame | None = lowering.frame
    while frame is not None:
        if frame.cls is not None:
            return Super(frame.cls, frame.names[frame.source.parameters[0]])
        code = frame.function.__code__
        if frame.outer is None and "__class__" in code.co_freevars:
            cell = (frame.function.__closure__ or ())[code.co_freevars.index("__class__")]
            return Super(cell.cell_contents, frame.names[frame.source.parameters[0]])
        frame = frame.outer
    return lowering.unsupported(
        node,
        "`super()` outside of a method",
        "call the function of the class by its name: `Base.method(self)`",
    )


def _setattr(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner, name, item = arguments
    object_stores.store(lowering, node, owner, static_values.object_of(lowering, node, name), item)
    return Static(None)


def _set_plainly(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner, name, item = arguments
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


def _no_init(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return Static(None)


def _fields_of(lowering: Lowering, node: Any, owner: Any) -> dict[str, Any]:
    fields = dataclasses.fields(class_of(owner)) if is_object(owner) else ()
    return {field.name: lowering.attribute(node, owner, field.name) for field in fields}


def _replace(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`dataclasses.replace(owner, **changes)`: its class called anew."""
    (owner,) = arguments
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
    given = {name: item for name, item in fields.items() if name in initial} | keywords
    return lowering.call(node, Static(cls), (), given)


def _fields(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    (owner,) = arguments
    cls: Any = (
        class_of(owner) if is_object(owner) else static_values.object_of(lowering, node, owner)
    )
    return TupleOf(tuple(map(Static, dataclasses.fields(cls))))


def _asdict(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    (owner,) = arguments
    storage = Storage()
    lowering.contents[storage] = {
        name: _deeply(lowering, node, item, _asdict)
        for name, item in _fields_of(lowering, node, owner).items()
    }
    return DictRef(storage)


def _astuple(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    fields = _fields_of(lowering, node, arguments[0]).values()
    return TupleOf(tuple(_deeply(lowering, node, item, _astuple) for item in fields))


def _deeply(lowering: Lowering, node: Any, item: Any, convert: handlers.Handler) -> Any:
    """A copy, in which dataclasses are converted."""
    if is_object(item) and is_dataclass(class_of(item)):
        return convert(lowering, node, (item,), {})
    return _deep_copied(lowering, node, item, [])


def _copy(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    (item,) = arguments
    own = protocols.call(lowering, node, item, "__copy__") if is_object(item) else None
    return _shallow(lowering, node, item) if own is None else own


def _shallow(lowering: Lowering, node: Any, item: Any) -> Any:
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
        storage = Storage(holds=item.storage.holds)
        lowering.contents[storage] = lowering.contents[item.storage]
        return type(item)(storage)
    if isinstance(item, Ref):
        return lowering.call(node, Static(np.copy), (item,), {})
    if isinstance(item, (Static, TupleOf)) or is_number(item):
        return item
    return lowering.unsupported(node, "a copy of this object is not supported", "make a new one")


_OF_COPIES = (
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getnewargs__", "__getnewargs_ex__"),
)
"""Methods by which a class says how it is pickled, and so copied."""


def _refuse_own_copies(lowering: Lowering, node: Any, item: Any, hooks: tuple[str, ...]) -> None:
    """Refuse an object whose class says by one of these methods how it is copied."""
    cls = item.cls if isinstance(item, InstanceRef) else type(getattr(item, "target", None))
    found = (vars(c)[hook] for c in cls.__mro__[:-1] for hook in hooks if hook in vars(c))
    own = any(getattr(hook, "__module__", "dataclasses") != "dataclasses" for hook in found)
    if own or cls in copyreg.dispatch_table:
        lowering.unsupported(node, "a copy of this object is not supported", "make a new one")


def _deepcopy(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    memo = [*arguments[1:], *keywords.values()]
    if any(item != Static(None) for item in memo):
        what = "`copy.deepcopy` with a `memo` is not supported"
        lowering.unsupported(node, what, "leave it out")
    made: _Made = []
    copied = _deep_copied(lowering, node, arguments[0], made)
    given_twice.check_items(lowering, [item for item, _ in made])
    return copied


_Made = list[tuple[Any, Any]]
"""What a deep copy has copied: what is in it twice is copied once."""


def _deep_copied(lowering: Lowering, node: Any, item: Any, made: _Made) -> Any:
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
            if not item.storage.levels:
                _refuse_perhaps_twice(lowering, node)
            copied = lowering.inline(node, prelude.deeply_copied, (item,))
    if isinstance(item, (Ref, ListRef, DictRef)):
        made.append((item, copied))
    return copied


def _is_one(lowering: Lowering, node: Any, item: Any, other: Any) -> bool:
    """Whether this is an object that was copied before."""
    if isinstance(item, ObjectRef) or isinstance(other, ObjectRef):
        return type(item) is type(other) and protocols.is_same(lowering, node, item, other)
    if item is other or not isinstance(item, (Ref, ListRef, DictRef, InstanceRef)):
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


def _are_given(lowering: Lowering, item: Any, other: Any) -> bool:
    """Whether two arrays or containers are the caller's, or from outside: they may be one."""
    return all(lowering.outside.is_seen(one.storage) for one in (item, other))


def _may_be_in(lowering: Lowering, item: Any, owner: Any) -> bool:
    """Whether this may be an item of a list whose items are not known one by one."""
    is_open = isinstance(owner, ListRef) and isinstance(lowering.contents[owner.storage], Value)
    return is_open and may_hold(owner.storage, item.storage)


def _refuse_perhaps_twice(lowering: Lowering, node: Any) -> None:
    lowering.unsupported(
        node,
        "whether this holds an object twice, which is copied once, is not known",
        "copy what it holds, one by one",
    )


def _iter(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    item, *end = arguments
    if end:
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


def _next(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    item, *default = arguments
    if class_attributes.method(lowering, item, "__next__") is not None:
        if default:
            return lowering.inline(node, iteration_prelude.next_or, arguments)
        return protocols.call(lowering, node, item, "__next__")
    if not isinstance(item, OneShot):
        lowering.unsupported(
            node, "`next` of what is no iterator", "make one: `iter(…)`", python=TypeError
        )
    iteration, early = _partly_taken(lowering, node, item)
    count = iteration_items.length(lowering, iteration)
    if count is not None and count.known == 0:
        return default[0] if default else lowering.raises(node, StopIteration())
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


def _replace_fields(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner, *rest = arguments
    if rest:
        lowering.raises(node, TypeError("_replace() takes keyword arguments only"))
    fields: tuple[str, ...] = getattr(owner.cls, "_fields", ())
    if not keywords.keys() <= set(fields):
        lowering.unsupported(
            node,
            f"`{owner.cls.__name__}` has no such field",
            "name the fields as the class does",
            python=_NO_FIELD,
        )
    items = zip(fields, owner.items, strict=True)
    return TupleOf(tuple(keywords.get(name, item) for name, item in items), owner.cls)


def _fields_as_dict(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    storage = Storage()
    fields = getattr(arguments[0].cls, "_fields", ())
    lowering.contents[storage] = dict(zip(fields, arguments[0].items, strict=True))
    return DictRef(storage)


handlers.NAMEDTUPLE_METHODS.update(_replace=_replace_fields, _asdict=_fields_as_dict)


def _instance_of(cls: type) -> handlers.Handler:
    return lambda lowering, node, arguments, keywords: construction.instantiate(
        lowering, node, cls, arguments, keywords
    )


def _written_as(function: Any) -> handlers.Handler:
    return lambda lowering, node, arguments, keywords: lowering.inline(
        node, function, arguments, keywords
    )


handlers.FUNCTIONS.update(
    {cls: iterators.taking(_instance_of(own)) for cls, own in standard_classes.CLASSES.items()}
)
handlers.FUNCTIONS.update({f: _written_as(own) for f, own in standard_functions.FUNCTIONS.items()})
handlers.FUNCTIONS.update(
    {
        super: _super,
        setattr: _setattr,
        object.__setattr__: _set_plainly,
        object.__init__: _no_init,
        iter: _iter,
        next: _next,
        dataclasses.replace: _replace,
        dataclasses.fields: _fields,
        dataclasses.asdict: _asdict,
        dataclasses.astuple: _astuple,
        copy.copy: _copy,
        copy.deepcopy: _deepcopy,
    }
)
