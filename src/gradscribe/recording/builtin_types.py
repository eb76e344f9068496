"""Which module callables are of: classes of extensions in C that do not say so seem to be of
`builtins`."""

from __future__ import annotations

import builtins
import collections
import types
from typing import Any

from gradscribe.ir.probing import module_of_class, probe

_ITEMS: dict[Any, Any] = {}
_ONE_WAY: list[Any] = [(), "", "\u00e9", b"", bytearray(), set(), memoryview(b""), range(1 << 70)]
_BOTH_WAYS: list[Any] = [[], range(0), _ITEMS, _ITEMS.values(), _ITEMS.items()]
_OBJECTS: list[Any] = [
    *map(iter, [*_ONE_WAY, *_BOTH_WAYS, collections.OrderedDict()]),
    *map(reversed, _BOTH_WAYS),
    *(_ITEMS.keys(), *_BOTH_WAYS, iter(lambda: 0, 0)),
]
"""Objects of classes that have no name there."""

_NAMED = (*vars(builtins).values(), *vars(types).values())
_KNOWN = frozenset({*(cls for cls in _NAMED if type(cls) is type), *map(type, _OBJECTS)})


def module_of(function: Any) -> str:
    """The module that a callable is of; of a method in C, that of the object's class. Empty where
    it has not said so."""
    module, owner = probe(function, "__module__"), probe(function, "__self__")
    if module is None:
        cls = type(function if owner is None else owner)
        if owner is not None and module_of_class(cls) == "builtins" and cls not in _KNOWN:
            return ""
        module = module_of_class(cls)
    return module if isinstance(module, str) else module_of_class(type(function))
