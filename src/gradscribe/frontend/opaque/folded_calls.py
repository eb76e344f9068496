"""Calls that are carried out when the function is compiled.

A function is pure if it gives the same for the same arguments and does nothing else. A call of
one whose arguments are known is folded to what it gives; others may be called on trial, for the
type of their result. What reads or changes the state of the interpreter, of NumPy or of the
machine is called by the running program, or refused.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.frontend.memory import outside, sequences
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.values.values import FrontendValue, ListRef, Static, TupleOf
from gradscribe.ir.probing import module_of_class, probe
from gradscribe.primitives.codec_names import other_codec
from gradscribe.primitives.contracts import contract_of

_CHANGEABLE = (Iterator, list, dict, set, bytearray, np.ndarray)
"""Objects of these classes are made anew by each call."""


def is_pure(callee: Any, given: Iterable[FrontendValue] = ()) -> bool:
    """Whether a callable gives the same for the same arguments and does nothing else. given:
    frontend values, which it may call where they are functions."""
    known = [item.value for item in given if isinstance(item, Static)]
    return contract_of(callee, given=known).computes


def module_of(callee: Any) -> str:
    """The name of the top-level module that a callable belongs to."""
    module = probe(callee, "__module__")
    if module is None and isinstance(callee, types.BuiltinFunctionType):
        module = module_of_class(type(callee.__self__))
    return (module or "").partition(".")[0]


def refuse_codecs(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: Sequence[FrontendValue],
    keywords: Mapping[str, FrontendValue],
) -> None:
    """Refuse a call that runs a codec, or a handler of its errors, which may be the program's."""
    given = [item.value if isinstance(item, Static) else item for item in arguments]
    named = {k: item.value if isinstance(item, Static) else item for k, item in keywords.items()}
    kind = other_codec(callee, given, named)
    if kind is not None:
        lowering.unsupported(
            node,
            f"the code that this `{kind}` names is not Python's own, as far as is known",
            "write the name of a codec, or of a handler, of Python's own, or call it outside",
        )


def folded(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue | None:
    """What a call of a pure function gives, if all that it is given is known, and it gives no
    warning that the program heeds; else None. A list is a new one, which the function may change.
    """
    items = (*arguments, *keywords.values())
    if not is_pure(callee, items):
        return None
    if isinstance(probe(callee, "__self__"), str):  # `",".join(names)`
        items = tuple(outside.opened(lowering, item) for item in items)
    given = [known_object(lowering, item) for item in items]
    plain = [item.value for item in given if instances.is_folded(item)]
    if len(plain) < len(given):
        return None
    if any(callable(value) and not is_pure(value) for value in plain):
        return None
    count = len(arguments)
    named = dict(zip(keywords, plain[count:], strict=True))
    try:
        if lowering.exceptions.heeds_warnings:
            with np.errstate(all="raise"), warnings.catch_warnings():
                warnings.simplefilter("error")
                found = callee(*plain[:count], **named)
        else:
            found = callee(*plain[:count], **named)
    except (Warning, FloatingPointError):
        return None
    except Exception as error:
        what = f"this call always raises {type(error).__name__}: {error}"
        lowering.raises(node, error, what)
    if isinstance(found, list) and not any(isinstance(item, _CHANGEABLE) for item in found):
        return sequences.new_list(lowering, tuple(map(Static, found)))
    parts = found if isinstance(found, tuple) else (found,)
    return None if any(isinstance(part, _CHANGEABLE) for part in parts) else Static(found)


def known_object(lowering: Lowering, item: FrontendValue) -> FrontendValue:
    """A tuple or list of known items as one object; other values as they are."""
    is_plain = isinstance(item, ListRef) or (isinstance(item, TupleOf) and item.cls is tuple)
    items = sequences.known_items(lowering, item) if is_plain else None
    if items is None:
        return item
    below = [known_object(lowering, one) for one in items]
    objects = [one.value for one in below if instances.is_folded(one)]
    if len(objects) < len(below):
        return item
    return Static(objects if isinstance(item, ListRef) else tuple(objects))


def is_library(function: Any) -> bool:
    """Whether a Python function belongs to NumPy, SciPy or the standard library."""
    module = module_of(function)
    return module in ("numpy", "scipy") or module in sys.stdlib_module_names
