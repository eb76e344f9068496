"""The functions of BLAS and LAPACK that SciPy shows, and arguments for them.

In: what f2py documents of a function: the ranks and dtypes of its arguments, its flags; where that
does not do, `GIVEN`, by the names without the letter of the dtype. Out: calls of it, in several
layouts, with every flag. What is not run stands in `NOT_RUN`, with the reason.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.border.samples import MATRIX as A
from tests.border.samples import VECTOR, Done, done

V, D, E = VECTOR[:4], VECTOR[:4] + 4.0, VECTOR[:3]
PACKED = np.array([4.0, 0.3, 0.2, 0.5, 3.0, 0.1, 0.7, 5.0, 0.9, 2.0])
PLACES = np.array([1, 2, 3, 4], np.int32)

GIVEN: dict[str, tuple[Any, ...]] = {
    "gbmv": (4, 4, 1, 1, 1.0, A[:3], V),
    "gbsv": (1, 1, A, V),
    "gbtrf": (A, 1, 1),
    "gelsd": (A, A, 300, 300, 300),
    "gelsy": (A, A, PLACES, 0.1, 64),
    "geqrt": (2, A),
    "getri": (A, PLACES - 1),
    "getrs": (A, PLACES - 1, V),
    "gtcon": (E, D, E, V[:2], PLACES, 1.0),
    "gtsv": (E, D, E, V),
    "gtsvx": (E, D, E, V),
    "gttrf": (E, D, E),
    "gttrs": (E, D, E, V[:2], PLACES, V),
    "hbmv": (1, 1.0, A[:2], V),
    "hecon": (A, PLACES, 1.0),
    "hetri": (A, PLACES),
    "hetrs": (A, PLACES, A),
    "hfrk": (4, 4, 1.0, A, 1.0, PACKED),
    "hpmv": (4, 1.0, PACKED, V),
    "hpr": (4, 1.0, V, PACKED),
    "hpr2": (4, 1.0, V, V, PACKED),
    "lamch": ("e",),
    "langb": ("1", 1, 1, A[:3]),
    "lange": ("1", A),
    "lantr": ("1", A),
    "larf": (V, 0.5, A, V),
    "larfg": (4, 0.5, E),
    "laswp": (A, PLACES - 1),
    "orghr": (A, E),
    "ormqr": ("L", "N", A, V, A, 64),
    "pftrf": (4, PACKED),
    "pftri": (4, PACKED),
    "pftrs": (4, PACKED, A),
    "ppcon": (4, PACKED, 1.0),
    "ppsv": (4, PACKED, A),
    "pptrf": (4, PACKED),
    "pptri": (4, PACKED),
    "pptrs": (4, PACKED, A),
    "pteqr": (D, E, A),
    "ptsv": (D, E, V),
    "ptsvx": (D, E, V),
    "pttrf": (D, E),
    "pttrs": (D, E, V),
    "rotm": (V, D, np.array([-1.0, 1.0, 0.5, 0.2, 1.0])),
    "sbmv": (1, 1.0, A[:2], V),
    "sfrk": (4, 4, 1.0, A, 1.0, PACKED),
    "spmv": (4, 1.0, PACKED, V),
    "spr": (4, 1.0, V, PACKED),
    "spr2": (4, 1.0, V, V, PACKED),
    "stebz": (D, E, 0, 0.0, 1.0, 1, 4, 0.0, "E"),
    "stein": (D, E, V[:2], PLACES, PLACES),
    "stemr": (D, V, 0, 0.0, 1.0, 1, 4),
    "sterf": (D, E),
    "stev": (D, E),
    "stevd": (D, E),
    "sycon": (A, PLACES, 1.0),
    "syconv": (A, PLACES),
    "sytri": (A, PLACES),
    "sytrs": (A, PLACES, A),
    "tbmv": (1, A[:2], V),
    "tbsv": (1, A[:2], V),
    "tfsm": (1.0, PACKED, A),
    "tfttp": (4, PACKED),
    "tfttr": (4, PACKED),
    "tpmv": (4, PACKED, V),
    "tpqrt": (0, 2, A, A),
    "tpsv": (4, PACKED, V),
    "tpttf": (4, PACKED),
    "tpttr": (4, PACKED),
    "trexc": (A, A, 1, 2),
    "unghr": (A, E),
    "unmqr": ("L", "N", A, V, A, 64),
}

_BELIEVED = "believes sizes that it is given, and those of which are not documented"

NOT_RUN = {
    "gees": "calls a function",
    "gges": "calls a function",
    "gbcon": _BELIEVED,
    "gbtrs": _BELIEVED,
    "gesc2": _BELIEVED,
    "hbevx": _BELIEVED,
    "lasd4": _BELIEVED,
    "sbevx": _BELIEVED,
    "tgexc": _BELIEVED,
    "tgsen": _BELIEVED,
    "tpmqrt": _BELIEVED,
    "trsen": _BELIEVED,
}
"""Besides those that take no arrays: `_lwork`, `ilaver`."""


def functions(module: str) -> list[str]:
    library = pytest.importorskip(f"scipy.linalg.{module}")
    return [
        name
        for name in sorted(dir(library))
        if type(getattr(library, name)).__name__ == "fortran"
        if not name.endswith(("_lwork", "ilaver")) and name[1:] not in NOT_RUN
    ]


def calls(module: str, name: str) -> Iterator[tuple[Any, Done, dict[str, Any]]]:
    """The calls of a function that work, with the flag that each was given."""
    callee = getattr(importlib.import_module(f"scipy.linalg.{module}"), name)
    flags = re.findall(r"^(overwrite_\w+) : ", callee.__doc__, re.MULTILINE)
    for arguments in _arguments(callee, name):
        for keywords in ({}, *({flag: value} for flag in flags for value in (0, 1))):
            for layout in ("C", "Fortran", "strided", "float32"):
                call = done(callee, arguments, layout, keywords)
                if call is not None:
                    yield callee, call, keywords


def _arguments(callee: Any, name: str) -> Iterator[tuple[Any, ...]]:
    if name[1:] in GIVEN:
        for dtype in "fdFD":
            yield tuple(
                item.astype(dtype)
                if isinstance(item, np.ndarray) and item.dtype.kind == "f"
                else item
                for item in GIVEN[name[1:]]
            )
        return
    found = _documented(callee)
    if found is not None:
        yield found


def _converted(item: Any, dtype: str) -> Any:
    is_float = isinstance(item, np.ndarray) and item.dtype.kind == "f"
    return item.astype(dtype) if is_float else item


def _documented(callee: Any) -> tuple[Any, ...] | None:
    """Arguments by the ranks and dtypes that the documentation says; None where it takes integers,
    whose meaning is not told."""
    required = callee.__doc__.partition("Other Parameters")[0].partition("\nReturns")[0]
    found = re.findall(r"^\w+ : (?:input |in/output )?(.*)$", required, re.MULTILINE)
    if any(text.startswith("int") or "array('i')" in text for text in found):
        return None
    return tuple(map(_sample, found))


def _sample(text: str) -> Any:
    kind = re.search(r"rank-(\d) array\('(\w)'\)", text)
    return 1.5 if kind is None else (V if kind.group(1) == "1" else A).astype(kind.group(2))
