"""Calls that are carried out when the function is compiled.

A function is pure if it gives the same for the same arguments and does nothing else. A call of
one whose arguments are known is folded to what it gives; others may be called on trial, for the
type of their result. What reads or changes the state of the interpreter, of NumPy or of the
machine is called by the running program, or refused.
"""

from __future__ import annotations

import builtins
import enum
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradscribe.frontend import outside
from gradscribe.frontend.data import sequences
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import Static
from gradscribe.ir.probing import probe

_LIBRARIES = ("numpy", "scipy", "math", "cmath", "operator", "itertools")
"""Modules whose functions only compute, but for these."""

_STATEFUL = frozenset(
    {"load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "DataSource"}
    | {"save", "savez", "savez_compressed", "savetxt", "nditer", "nested_iters", "info", "test"}
    | {"seterr", "geterr", "seterrcall", "geterrcall", "setbufsize", "getbufsize", "errstate"}
    | {"set_printoptions", "get_printoptions", "printoptions", "show_config", "show_runtime"}
    | {"array2string", "array_repr", "array_str", "shares_memory", "may_share_memory"}
    | {"loadmat", "savemat", "whosmat", "hb_read", "hb_write", "mmread", "mmwrite"}
)
"""Their functions that read or change files, settings or memory."""

_BUILTINS = frozenset(
    {abs, all, any, ascii, bin, bool, bytes, chr, complex, divmod, float, format, frozenset}
    | {hex, int, len, max, min, oct, ord, pow, range, repr, round, slice, sorted, str, sum, tuple}
    | {builtins.__import__}
)

_VALUES = frozenset({str, bytes, int, float, complex, bool, tuple, frozenset})
"""Classes whose methods only compute."""

_CHANGEABLE = (Iterator, list, dict, set, bytearray, np.ndarray)
"""Objects of these classes are made anew by each call."""


def is_pure(callee: Any) -> bool:
    """Whether a callable gives the same for the same arguments and does nothing else."""
    owner = probe(callee, "__self__")
    if isinstance(callee, types.BuiltinMethodType) and not isinstance(owner, types.ModuleType):
        return (owner if isinstance(owner, type) else type(owner)) in _VALUES
    if isinstance(callee, enum.EnumMeta):
        return True
    if isinstance(callee, type) and issubclass(callee, BaseException):
        return callee.__module__ == "builtins"
    module = module_of(callee)
    if module == "builtins":
        return any(callee is function for function in _BUILTINS)
    is_random = "random" in str(probe(callee, "__module__", ""))
    name = probe(callee, "__name__", "")
    return module in _LIBRARIES and not is_random and name not in _STATEFUL


def module_of(callee: Any) -> str:
    """The name of the top-level module that a callable belongs to."""
    module = probe(callee, "__module__")
    if module is None and isinstance(callee, types.BuiltinFunctionType):
        module = type(callee.__self__).__module__
    return (module or "").partition(".")[0]


def folded(
    lowering: Lowering, node: Any, callee: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """What a call of a pure function gives, if all that it is given is known; else None. A list is
    a new one, which the function may change."""
    if not is_pure(callee):
        return None
    items = (*arguments, *keywords.values())
    if isinstance(probe(callee, "__self__"), str):  # `",".join(names)`
        items = tuple(outside.opened(lowering, item) for item in items)
    given = [known_object(lowering, item) for item in items]
    if not all(isinstance(item, Static) for item in given):
        return None
    if any(callable(item.value) and not is_pure(item.value) for item in given):
        return None
    plain = [item.value for item in given]
    count = len(arguments)
    try:
        found = callee(*plain[:count], **dict(zip(keywords, plain[count:], strict=True)))
    except Exception as error:
        what = f"this call always raises {type(error).__name__}: {error}"
        lowering.raises(node, error, what)
    if isinstance(found, list) and not any(isinstance(item, _CHANGEABLE) for item in found):
        return sequences.new_list(lowering, tuple(map(Static, found)))
    parts = found if isinstance(found, tuple) else (found,)
    return None if any(isinstance(part, _CHANGEABLE) for part in parts) else Static(found)


def known_object(lowering: Lowering, item: Any) -> Any:
    """A tuple or list of known items as one object; other values as they are."""
    items = sequences.known_items(lowering, item)
    if items is None:
        return item
    below = [known_object(lowering, one) for one in items]
    if not all(isinstance(one, Static) for one in below):
        return item
    return Static(type(items)(one.value for one in below))
