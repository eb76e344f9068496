"""Arguments of NumPy's functions that change nothing about the numbers which these give.

They say which conversions are errors, in which order memory is laid out, whether work may be done
in the memory of an argument. Compiled code does without them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.ir.core import Method
from gradscribe.ir.probing import probe

_WITHOUT_EFFECT: Mapping[str, tuple[Any, ...] | None] = {
    "casting": None,
    "subok": None,
    "overwrite_input": None,
    "order": ("K", "A", "C", "F", None),
    "kind": ("introselect", None),
    "writeable": (False,),
    "like": (None,),
}
"""The values that have no effect, by the name of the parameter (None: all)."""


def essential(
    callee: Any, signature: inspect.Signature, variant: Any, keywords: dict[str, FrontendValue]
) -> dict[str, Any]:
    """The keywords of a call without those that have no effect, and are none of the parameters that
    the signature, or a function that stands for other calls, has."""
    dropped = {name for name, item in keywords.items() if _has_no_effect(name, item)}
    if _may_give_its_argument(callee, keywords) and keywords.get("order") in _LAYOUTS:
        dropped -= {"order"}  # it says whether that is copied
    if not dropped or not _is_of_numpy(callee):
        return keywords
    dropped -= signature.parameters.keys()
    if variant is not None:
        dropped -= inspect.signature(variant).parameters.keys()
    return {name: item for name, item in keywords.items() if name not in dropped}


def says_how_it_lies(callee: Any, keywords: dict[str, FrontendValue]) -> bool:
    """Whether a call asks for an array that need not lie in C order."""
    order = keywords.get("order", Static("C"))
    is_kept = order == Static("K") and callee == Method("copy")
    return _is_of_numpy(callee) and (is_kept or order in (Static("F"), Static("A")))


def says_c_order(callee: Any, keywords: dict[str, FrontendValue]) -> bool:
    """Whether a call asks for an array in C order that would else lie as its argument does."""
    keeps_order = isinstance(callee, np.ufunc) or callee in _KEEPING_ORDER
    return keeps_order and keywords.get("order") == Static("C")


_KEEPING_ORDER = (
    *(np.array, np.copy, Method("astype")),
    *(np.zeros_like, np.ones_like, np.empty_like, np.full_like),
)


_LAYOUTS = (Static("C"), Static("F"))


def _may_give_its_argument(callee: Any, keywords: dict[str, FrontendValue]) -> bool:
    """Whether a conversion gives the very array that it is given, where that is as wanted."""
    if callee in (np.asarray, np.asanyarray):
        return True
    is_asked = callee is np.array or callee == Method("astype")
    return bool(is_asked and keywords.get("copy", Static(True)) != Static(True))


def _is_of_numpy(callee: Any) -> bool:
    """Whether it is NumPy's, or a method of arrays."""
    if isinstance(callee, (np.ufunc, Method)):
        return True
    return str(probe(callee, "__module__", "")).startswith("numpy")


def _has_no_effect(name: str, item: FrontendValue) -> bool:
    if name not in _WITHOUT_EFFECT or not isinstance(item, Static):
        return False
    values = _WITHOUT_EFFECT[name]
    return values is None or item.value in values
