"""Codecs and handlers of errors by their names: those that a program has registered run its code.

Comes in: a function of Python's or NumPy's, and what it is called with (`"a".encode(name)`,
`open(path, encoding=name)`). Goes out: whether all such names are of Python's own.
"""

from __future__ import annotations

import codecs
import encodings
import functools
import pkgutil
import types
from collections.abc import Mapping, Sequence
from encodings import aliases
from typing import Any

from gradscribe.ir.probing import is_library_module, probe
from gradscribe.primitives.contract_kinds import parameters


def other_codec(callee: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str | None:
    """The parameter of a call that is given the name of a codec, or of a handler, which is not
    Python's, or is no name at all."""
    if not (arguments or keywords) or not _is_library(callee):
        return None
    names = _PARAMETERS.get(callee) if isinstance(callee, type) else None
    names = names or parameters(callee)
    if "encoding" not in names:
        return None
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    named = {kind: given.get(kind) for kind in _KNOWN}
    return next((k for k, n in named.items() if not (n is None or _KNOWN[k](n))), None)


def _is_library(callee: Any) -> bool:
    """Whether this is a function, a class or a method of Python's or NumPy's."""
    owner = probe(callee, "__self__", probe(callee, "__objclass__", callee))
    if isinstance(owner, types.ModuleType):
        return is_library_module(owner.__name__)
    is_known = isinstance(owner, (type, types.FunctionType))
    return is_library_module(probe(owner if is_known else type(owner), "__module__"))


def _is_codec(name: Any) -> bool:
    return isinstance(name, str) and encodings.normalize_encoding(name).lower() in _codecs()


@functools.cache
def _codecs() -> frozenset[str]:
    """The names of Python's own codecs, which are found before those of others; and what functions
    take in their place."""
    modules = (module.name for module in pkgutil.iter_modules(encodings.__path__))
    return frozenset({*aliases.aliases, *modules, "bytes", "locale"})


def _is_handler(name: Any) -> bool:
    """Whether a name is that of one of Python's handlers, and no other is registered for it."""
    try:
        return isinstance(codecs.lookup_error(name), types.BuiltinFunctionType)
    except (LookupError, TypeError):
        return False


_KNOWN = {"encoding": _is_codec, "errors": _is_handler}

_PARAMETERS: dict[Any, list[str]] = {
    str: ["object", "encoding", "errors"],
    bytes: ["source", "encoding", "errors"],
    bytearray: ["source", "encoding", "errors"],
}
"""Classes that have no signature."""
