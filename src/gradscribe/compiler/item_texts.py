"""Items of dicts in generated expressions: `[key]`, of a key that may have no text of its own.

A key that is no literal (a member of an enumeration, a dtype, a class) stands in `KEYS`, which
the expressions name `keys`. `absent` is no item of any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any

KEYS: list[Any] = []
NAMESPACE: dict[str, Any] = {"keys": KEYS, "absent": object()}

_POSITIONS: dict[tuple[type, Hashable], int] = {}
_LITERALS = (type(None), bool, int, str, bytes)


def item_text(key: Any) -> str:
    """What is written after a dict for its item with this key."""
    return f"[{key_text(key)}]"


def key_text(key: Any) -> str:
    if _is_literal(key):
        return repr(key)
    position = _POSITIONS.setdefault((type(key), key), len(KEYS))
    if position == len(KEYS):
        KEYS.append(key)
    return f"keys[{position}]"


def shown_key(key: Any) -> str:
    """A key as people write it: `Mode.FAST`."""
    return repr(key) if _is_literal(key) else str(key)


def _is_literal(key: Any) -> bool:
    if type(key) is tuple:
        return all(map(_is_literal, key))
    return type(key) in _LITERALS or (type(key) is float and math.isfinite(key))


def getter(expressions: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The function that gives the values of these expressions over `a`, the values of a call."""
    text = "".join(f"{expression}, " for expression in expressions)
    function: Callable[[Any], tuple[Any, ...]] = eval(f"lambda a: ({text})", NAMESPACE)
    return function
