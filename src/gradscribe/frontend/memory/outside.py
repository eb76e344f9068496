"""Values outside the function, as the frontend sees them.

They are either resolved now, and then a `Dependency` of the specialization (functions, modules,
flags), or an implicit input, read anew at each call (arrays, numbers, and the attributes of objects
that hold them). Containers of known structure are opened when their items are needed.
"""

from __future__ import annotations

import collections
import enum
import functools
import io
import types
import weakref
from collections import abc
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory.outside_functions import is_code
from gradscribe.frontend.memory.outside_kinds import (
    CALLABLES,
    RESOLVED,
    is_constant,
    is_input,
    is_of_scipy,
    is_settled,
    is_transformed,
)
from gradscribe.frontend.state.dependencies import (
    HOLDERS,
    depend,
    depend_on_names,
    is_library,
    resolve,
)
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    BoundMethod,
    DictRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    PartialOf,
    Static,
    Storage,
    TupleOf,
    ViewOf,
)
from gradscribe.ir.alike import is_alike
from gradscribe.ir.probing import derived_number, has, in_class, probe, redefined
from gradscribe.primitives import optional
from gradscribe.primitives.registry import DISTRIBUTIONS

CONSTANTS: set[type] = set()
"""Classes of the layers above whose objects are known by their value."""


def external(lowering: Lowering, value: Any, path: AccessPath, name: str) -> FrontendValue:
    """The frontend value of an object found at a path outside the function."""
    if type(value) in weakref.ProxyTypes:
        what = f"`{name}` is a weak proxy, whose class is not the one that it tells"
        lowering.unsupported(lowering.frame.statement, what, "use the object itself")
    refuse_reached(lowering, value, path, name)
    refuse_derived_number(lowering, value, name)
    if isinstance(value, _BOUND) and isinstance(value.__self__, _WITH_ITEMS):
        depend(lowering, path.attribute("__name__"), value.__name__, "equality")
        receiver = external(lowering, value.__self__, path.attribute("__self__"), name)
        return BoundMethod(receiver, value.__name__)
    if isinstance(value, (*RESOLVED, enum.Enum)) or is_transformed(value):
        resolve(lowering, path, value)
        return Static(value)
    is_known = path.place in lowering.outside.known or type(value) in CONSTANTS
    is_known = is_known or value is None or value is Ellipsis
    if is_known or isinstance(value, (str, bytes, bool, slice, np.dtype)):
        is_one = isinstance(value, (str, bytes)) and type(value) not in (str, bytes)
        is_one = is_one or (isinstance(value, slice) and not is_settled(value))
        depend(lowering, path, value, "identity" if is_one else "equality")
        return Static(value)
    if isinstance(value, collections.deque):
        _refuse_redefined(lowering, value, name)
    as_objects = lowering.outside.as_objects
    if isinstance(value, (set, frozenset)) and not as_objects and is_constant(value):
        _refuse_redefined(lowering, value, name)
        depend(lowering, path, type(value)(value), "equality")
        return Static(set(value) if isinstance(value, set) else frozenset(value))
    if as_objects and isinstance(value, _grown_classes(lowering)):
        return _grown(lowering, ObjectRef(value, path, name, grown=True))
    if is_input(value):
        captured: FrontendValue = lowering.captured_variable(value, path, name)
        return captured
    if isinstance(value, CALLABLES) or _is_function(value):
        depend(lowering, path, value)
        return Static(value)
    if is_of_scipy(value) or is_of_scipy(probe(value, "__self__")):
        optional.enter_imported()
        return Static(_known_distribution(lowering, value, path))
    if isinstance(value, types.MethodType):
        depend(lowering, path.attribute("__func__"), value.__func__)
        receiver = external(lowering, value.__self__, path.attribute("__self__"), name)
        return BoundMethod(receiver, value.__name__, value.__func__)
    depend(lowering, path, type(value), "class")
    depend_on_names(lowering, type(value))
    if type(value) is functools.partial:
        return partial_of(lowering, value, path, name)
    found = ObjectRef(value, path, name=name)
    has_names = has(type(value), "_fields") or has(type(value), "n_sequence_fields")
    is_plain = has_names and redefined(type(value)) is None
    return opened(lowering, found) if is_plain else found


def of_library(lowering: Lowering, value: Any, path: AccessPath, name: str) -> FrontendValue:
    """What the user's code finds in a module of Python's, or among the built-in names: what is the
    library's own stays what it is, as long as it is found there."""
    if not _is_librarys(value):
        return external(lowering, value, path, name)
    depend(lowering, path, value)
    return Static(value)


def _is_librarys(value: Any) -> bool:
    """Whether an object is part of a library, and neither data nor made of the user's."""
    if isinstance(value, (*HOLDERS, types.MethodType)):
        return is_library(value)
    if isinstance(value, _BOUND):
        return not isinstance(value.__self__, _WITH_ITEMS)
    is_own = is_library(type(value)) or isinstance(value, io.IOBase)  # `sys.stdout`
    if not is_own or isinstance(value, (*_CHANGING, functools.partial)):
        return False
    if isinstance(value, tuple) and type(value) is not tuple:  # `sys.float_info`
        return True
    return not is_input(value) and (type(value) is not tuple or is_constant(value))


_CHANGING = (abc.MutableMapping, abc.MutableSequence, abc.MutableSet)
"""What modules of libraries hold that programs change: `os.environ`, `sys.argv`."""


def _known_distribution(lowering: Lowering, value: Any, path: AccessPath) -> Any:
    """A distribution of SciPy's as the one that has rules, where it is one of its own or a copy of
    that; other objects are themselves."""
    known = DISTRIBUTIONS.get(type(value))
    if known is not None and is_alike(value, known):
        depend(lowering, path, known, "alike")
        return known
    depend(lowering, path, value)
    return value


_BOUND = (types.BuiltinMethodType, types.MethodWrapperType)
_WITH_ITEMS = (np.ndarray, list, dict, set, collections.deque)
"""Methods of these, such as `keep = log.append`, are calls of methods: what they change is seen."""


def _is_function(value: Any) -> bool:
    """Whether an object of compiled code is one that is called, and no more: pointers of cffi can
    be called, too, whatever they point to."""
    is_data = in_class(type(value), "__getitem__") is not None
    return callable(value) and probe(value, "__dict__") is None and not is_data


def _grown_classes(lowering: Lowering) -> tuple[type, ...]:
    """The containers that may be changed where they are. With Tensors, a dict may not: what is
    stored in it belongs to the graph, and its keys are known."""
    kinds = (list, set, collections.deque)
    return kinds if lowering.has_tensors else (*kinds, dict)


def _grown(lowering: Lowering, item: ObjectRef) -> ObjectRef | ListRef:
    """A container to which items are only added: the object itself or, where Tensors may be added,
    a list of what is added to it."""
    target, found = item.target, lowering.outside
    key = id(target)
    is_exposed = key in found.exposed and lowering.has_tensors
    if key in found.opened or key in found.read or is_exposed:
        refuse_changed(lowering, item.name)
    found.grown.add(key)
    found.meet(item, compared=True)
    if not lowering.has_tensors or not _adds_as_usual(type(target)):
        return item
    storage = next((s for s, other in found.containers.items() if other.target is target), None)
    if storage is None:
        depend(lowering, item.path, type(target), "class")
        storage = Storage(item.name)
        found.containers[storage] = item
        found.entered[storage] = lowering.contents[storage] = ()
    return ListRef(storage)


def _adds_as_usual(cls: type) -> bool:
    """Whether a class has the methods of lists, or of deques, by which items are added."""
    for kind in (list, collections.deque):
        if issubclass(cls, kind):
            return cls.append is kind.append and cls.extend is kind.extend
    return False


def partial_of(
    lowering: Lowering,
    value: functools.partial[Any] | functools.partialmethod[Any],
    path: AccessPath,
    name: str,
) -> PartialOf:
    """A partial from outside: the arrays and numbers that it holds are inputs."""
    given, named = (path.attribute(step) for step in ("args", "keywords"))
    depend(lowering, given, len(value.args), "length")
    depend(lowering, named, tuple(value.keywords), "keys")
    function = external(lowering, value.func, path.attribute("func"), name)
    arguments = tuple(
        external(lowering, item, given.item(number), f"{name}_{number}")
        for number, item in enumerate(value.args)
    )
    keywords = {
        key: external(lowering, item, named.item(key), f"{name}_{key}")
        for key, item in value.keywords.items()
    }
    return PartialOf(function, arguments, keywords)


def opened(lowering: Lowering, item: FrontendValue) -> FrontendValue:
    """A list, tuple or dict from outside as one of known structure, and a view of a dict as it is
    now; other values as they are."""
    if isinstance(item, ViewOf):
        return view_of(lowering, item.owner, item.kind)
    if not isinstance(item, ObjectRef) or item.grown:
        return item
    if not isinstance(item.target, (list, tuple, dict)):
        return item
    target, path = item.target, item.path
    _refuse_redefined(lowering, target, item.name)
    lowering.outside.meet(item)
    refuse_exposed(lowering, item)
    if id(target) in lowering.outside.opened:
        return lowering.outside.opened[id(target)]
    if id(target) in lowering.outside.grown:
        refuse_changed(lowering, item.name)
    is_dict = isinstance(target, dict)
    keys = tuple(target) if isinstance(target, dict) else tuple(range(len(target)))
    refuse_nan(lowering, item.name, keys)
    depend(lowering, path, keys if is_dict else len(keys), "keys" if is_dict else "length")
    items = [
        external(lowering, target[key], _path_to_item(item, key), _name_of_item(item, key))
        for key in keys
    ]
    found: TupleOf | ListRef | DictRef
    if isinstance(target, tuple):
        found = TupleOf(tuple(items), type(target))
    else:
        is_plain = type(target) in (list, dict)
        storage = Storage(item.name, derived=None if is_plain else type(target))
        contents = dict(zip(keys, items, strict=True)) if is_dict else tuple(items)
        lowering.outside.entered[storage] = lowering.contents[storage] = contents
        lowering.outside.containers[storage] = item
        found = DictRef(storage) if is_dict else ListRef(storage)
    lowering.outside.opened[id(target)] = found
    return found


def _refuse_redefined(lowering: Lowering, target: Any, name: str) -> None:
    """Refuse to take an object for a list, tuple, dict or set whose class gives it another
    meaning."""
    own = redefined(type(target))
    if own is not None:
        cls = type(target).__name__
        raise UnsupportedError(
            f"`{name or cls}` is a {cls}, which has a `{own}` of its own",
            "use a plain list, tuple, dict or set here, or an object that holds one",
            lowering.builder.location,
        )


def refuse_derived_number(lowering: Lowering, value: Any, name: str) -> None:
    """Refuse to take an object for a number whose class is derived from one."""
    kind = derived_number(value)
    if kind is not None:
        name = name or type(value).__name__
        raise UnsupportedError(
            f"`{name}` is a {type(value).__name__}, of a class derived from {kind}",
            f"use a plain number here: `{kind}({name})`, or an object that holds one",
            lowering.builder.location,
        )


def view_of(lowering: Lowering, owner: DictRef, kind: str) -> ViewOf:
    """`owner.keys()`, `owner.values()` or `owner.items()`."""
    contents = lowering.items_in(owner.storage)
    items: tuple[FrontendValue, ...] = tuple(contents.values())
    if kind == "keys":
        items = tuple(map(Static, contents))
    elif kind == "items":
        items = tuple(TupleOf((Static(key), item)) for key, item in contents.items())
    return ViewOf(items, owner=owner, kind=kind)


def refuse_nan(lowering: Lowering, name: str, keys: Iterable[Any]) -> None:
    """Refuse a dict with a key that is not equal to itself."""
    if any(key != key for key in keys):
        what = f"`{name}` has NaN as a key, which is found by its identity alone"
        lowering.unsupported(None, what, "use another key")


def _name_of_item(owner: ObjectRef, key: Any) -> str:
    """What an item of a container from outside is called."""
    name = f"{owner.name or 'item'}_{key}"
    return name if name.isidentifier() else owner.name or "item"


def attribute_of_object(lowering: Lowering, owner: ObjectRef, name: str) -> FrontendValue:
    """What an object itself holds under a name: an implicit input or a static object."""
    path = owner.path.attribute(name)
    kind = in_class(type(owner.target), name)
    is_held = kind is not None or name in (probe(owner.target, "__dict__") or ())
    if isinstance(kind, types.GetSetDescriptorType) or not is_held:  # it is computed in C
        lowering.outside.show(owner.target, owner.name, owner.path)
    return external(lowering, getattr(owner.target, name), path, name_along(lowering, path))


def expose(lowering: Lowering, owner: ObjectRef) -> None:
    """Note that code which cannot be read may change what an object holds; refuse it where that is
    read."""
    root, steps = owner.path.place
    below = (
        place
        for place in lowering.outside.captured
        if place[0] == root and len(place[1]) > len(steps) and place[1][: len(steps)] == steps
    )
    if any(below):
        refuse_changed(lowering, owner.name or type(owner.target).__name__)
    lowering.outside.exposed.add(id(owner.target))


def name_along(lowering: Lowering, path: AccessPath) -> str:
    """What a value is called that is found along this path: by the steps that can be part of a
    name (keys may be any strings); "" where none can."""
    steps = [str(step) for _, step in path.steps if step != "cell_contents"]
    if isinstance(path.root, int):
        steps.insert(0, lowering.parameters[path.root])
    while steps and not steps[0].isidentifier():
        del steps[0]
    return "_".join(step for step in steps if f"_{step}".isidentifier())


def item_of_object(lowering: Lowering, node: Any, owner: ObjectRef, key: Any) -> FrontendValue:
    """`owner[key]` of a container that is read at each call (`CONFIG["rate"]`)."""
    if id(owner.target) in lowering.outside.grown:
        refuse_changed(lowering, owner.name)
    refuse_exposed(lowering, owner)
    lowering.outside.meet(owner)
    if not isinstance(owner.target, (list, tuple, dict)):
        lowering.outside.show(owner.target, owner.name, owner.path)
    elif not isinstance(in_class(type(owner.target), "__getitem__"), _OF_C):
        _refuse_redefined(lowering, owner.target, owner.name)
    try:
        value = owner.target[key]
    except (TypeError, LookupError) as error:
        what = f"this item cannot be read: {error}"
        lowering.raises(node, error, what, "pass it as an argument")
    if not isinstance(key, (str, bytes, *PLAIN_NUMBERS)):
        lowering.unsupported(
            node, "only numbers and strings are supported as keys here", "pass the item instead"
        )
    path = _path_to_item(owner, key)
    return external(lowering, value, path, _name_of_item(owner, key))


_OF_C = (types.WrapperDescriptorType, types.MethodDescriptorType)
"""Methods of built-in classes."""


def makes_items(cls: type | None) -> bool:
    """Whether dicts of a class make an item when one is read that is not there."""
    return cls is not None and issubclass(cls, collections.defaultdict)


def is_made_by_reading(target: Any, key: Any) -> bool:
    """Whether a dict makes an item of this key when that is read, or its class says what it is."""
    is_made = makes_items(type(target)) and target.default_factory is not None
    is_own = redefined(type(target)) is not None and in_class(type(target), "__missing__")
    if not (is_made or is_own):
        return False
    try:
        return not dict.__contains__(target, key)
    except TypeError:  # it is no key
        return False


def factory_of(lowering: Lowering, node: Any, owner: DictRef) -> FrontendValue:
    """What makes the items of a `collections.defaultdict` from outside."""
    found = lowering.outside.containers.get(owner.storage)
    if found is None or found.target.default_factory is None:
        lowering.raises(node, KeyError("it makes no items"))
    path = found.path.attribute("default_factory")
    return external(lowering, found.target.default_factory, path, "default_factory")


def _path_to_item(owner: ObjectRef, key: Any) -> AccessPath:
    return owner.path.entry(key) if makes_items(type(owner.target)) else owner.path.item(key)


def refuse_exposed(lowering: Lowering, owner: ObjectRef) -> None:
    """Refuse to read what code that cannot be read may have changed."""
    if id(owner.target) in lowering.outside.exposed:
        refuse_changed(lowering, owner.name or type(owner.target).__name__)


def refuse_reached(lowering: Lowering, value: Any, path: AccessPath, name: str) -> None:
    """Refuse to read what functions from outside may have changed which unread code was given."""
    is_new = path.place not in lowering.outside.captured
    is_array = isinstance(value, np.ndarray) or has(type(value), "requires_grad")
    reached = lowering.outside.reached
    is_changed = id(value) in reached or id(memory_of(value)) in reached
    is_changed = is_array and is_new and is_changed
    if isinstance(value, (list, dict, set, collections.deque)):
        is_changed = not lowering.outside.as_objects and id(value) in lowering.outside.exposed
    is_renewed = any(key in lowering.outside.renewed for _, key in path.steps[-1:])
    is_renewed = is_renewed or (lowering.outside.renews_any and not _is_code(value))
    if is_changed or is_renewed or path.place in lowering.outside.rebound:
        refuse_changed(lowering, name)


def _is_code(value: Any) -> bool:
    return isinstance(value, types.ModuleType) or is_code(value)


def memory_of(value: Any) -> Any:
    """The object whose memory an array, a memoryview or a part of an object of ctypes shows; the
    value itself, if it shows none."""
    while True:
        below: Any = value.obj if isinstance(value, memoryview) else probe(value, "_b_base_")
        below = value.base if isinstance(value, np.ndarray) else below
        if below is None:
            return value
        value = below


def refuse_changed(lowering: Lowering, name: str) -> NoReturn:
    """Refuse a container from outside whose items are read, and to which others are added."""
    raise UnsupportedError(
        f"`{name}` from outside is both read and changed",
        "pass it as an argument",
        lowering.builder.location,
    )
