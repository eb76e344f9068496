"""Class patterns: of which class, and which attributes are matched.

What code of the user's computes is read once, before any of the patterns inside is matched, and
kept for these, and for the names that they bind.
"""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.calls import introspection
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import at_once
from gradscribe.frontend.state.frame import Matched
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.class_attributes import depend_on_class
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.core import Value
from gradscribe.ir.probing import probe


def class_of(lowering: Lowering, pattern: Any) -> type:
    """The class in a class pattern."""
    cls = lowering.expression(pattern.cls)
    if not stands_for(cls, type):
        lowering.unsupported(
            pattern, "the class in this pattern is not known", "name the class itself"
        )
    found: type = cls.value
    return found


_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern is matched by the object itself."""


def attributes(lowering: Lowering, pattern: Any) -> list[tuple[Any, str]]:
    """The patterns of a class pattern, each with its attribute; "" for the object itself."""
    cls = class_of(lowering, pattern)
    positional = list(getattr(pattern, "patterns", None) or ())
    names = [""] if cls in _WHOLE else list(probe(cls, "__match_args__", ()))
    if positional and names != [""]:
        depend_on_class(lowering, cls, "__match_args__", probe(cls, "__match_args__", ()))
    if len(names) < len(positional):
        lowering.unsupported(
            pattern,
            f"`{cls.__name__}` has no such positional patterns",
            "match attributes by name: `Point(x=a)`, or define `__match_args__`",
            python=TypeError,
        )
    by_name = zip(
        getattr(pattern, "kwd_patterns", None) or (),
        getattr(pattern, "kwd_attrs", None) or (),
        strict=True,
    )
    return [*zip(positional, names, strict=False), *by_name]


def is_there(lowering: Lowering, pattern: Any, owner: FrontendValue, name: str) -> bool:
    """Whether the attribute that a pattern in a class pattern is for is there."""
    matched, block = lowering.frame.matched, lowering.builder.operations
    if pattern not in matched or not lowering.builder.is_open(matched[pattern].block):
        trial = lowering.trial()
        is_known, item = introspection.attribute_if_there(lowering, pattern, owner, name)
        if isinstance(is_known, Value):
            what = f"whether there is a `{name}` to be matched is known at run time only"
            lowering.unsupported(pattern, what, "ask for it before the `match`, by `hasattr`")
        changes = at_once.changes_something(lowering, trial)
        matched[pattern] = Matched(block, item if is_known else None, changes)
    return matched[pattern].item is not None


def attribute(lowering: Lowering, pattern: Any, owner: FrontendValue, name: str) -> FrontendValue:
    """What is there; of "", the object itself."""
    if not name:
        return owner
    found = lowering.frame.matched[pattern]
    if found.item is not None and lowering.builder.is_open(found.block):
        return found.item
    if found.changes:
        what = f"to read `{name}` changes something, in a pattern that is matched on some paths"
        lowering.unsupported(pattern, what, "read it before the `match`")
    return lowering.attribute(pattern, owner, name)
