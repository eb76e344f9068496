"""Whether other operations, which stand for a function of NumPy's or SciPy's, give what it gives.

They do for the arguments that they were made for; of a combination that nobody has thought of, an
array where a number is usual, say, it is found by a trial on values of these types. Such a call is
refused: what it gives, or its derivative, would be another.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.frontend.opaque import trial_calls
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.probing import probe

_known: dict[Any, str] = {}
"""What differs in the calls that were tried."""

_MOST = 1024


def check(
    lowering: Lowering,
    node: Any,
    callee: Any,
    composition: Callable[..., Any],
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> None:
    """Refuse a call for which the composition gives something else than the callee."""
    samples = list(trial_calls.samples(lowering, arguments, keywords))
    key = (callee, composition, repr([_described(sample) for sample in samples]))
    if key not in _known:
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = _difference(callee, composition, samples)
    if _known[key]:
        lowering.unsupported(
            node,
            f"of such arguments, the operations that stand for `{wording.name_of(callee)}` give "
            f"{_known[key]}",
            "write it with other functions",
        )


def _described(sample: Any) -> Any:
    """What tells samples apart: their numbers are made from their types."""
    if isinstance(sample, (tuple, list)):
        return [_described(item) for item in sample]
    if isinstance(sample, dict):
        return {key: _described(item) for key, item in sample.items()}
    return (sample.shape, sample.dtype) if isinstance(sample, np.ndarray) else sample


def _difference(callee: Any, composition: Callable[..., Any], samples: list[Any]) -> str:
    """What the composition gives that the callee does not: in another structure, whatever the
    numbers are, or other ones for all numbers for which the callee is defined."""
    differences = set()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample, are_compared in zip(samples, (True, False, True), strict=False):
            if not are_compared and "linalg" in str(probe(callee, "__module__")):
                continue  # the matrix is singular
            try:
                expected = _result(callee, sample)
                is_certain = _agree(expected, _result(callee, sample))
            except Exception:  # it is not defined for these numbers
                continue
            try:
                given = _result(composition, sample)
            except Exception:  # nor is that; what is lowered of it says so
                return ""
            if _structure(given) != _structure(expected):
                return f"a result of the shape {_structure(given)}, not {_structure(expected)}"
            if (dtype := _other_dtype(given, expected)) is not None:
                return f"numbers of another dtype than {dtype}"
            if are_compared:
                differences.add(is_certain and not _agree(given, expected))
    return "other numbers" if differences == {True} else ""


def _result(function: Callable[..., Any], sample: tuple[list[Any], dict[str, Any]]) -> Any:
    """What a function gives for a sample, to which it may store."""
    plain, named = copy.deepcopy(sample)
    return function(*plain, **named)


def _structure(result: Any) -> Any:
    """The shapes of what is in a result."""
    if isinstance(result, (tuple, list)):
        return tuple(map(_structure, result))
    return result.shape if isinstance(result, np.ndarray) else ()


def _other_dtype(given: Any, expected: Any) -> np.dtype[Any] | None:
    """What a real number has for dtype in the one result and not in the other. (Whether a result is
    complex may depend on the numbers; Python's have none.)"""
    if isinstance(expected, (tuple, list)):
        return next(filter(None, map(_other_dtype, given, expected)), None)
    if not all(isinstance(item, (np.ndarray, np.generic)) for item in (given, expected)):
        return None
    kinds = "biuf" if expected.ndim else "bf"  # versions differ in what they count with
    is_other = given.dtype.kind in kinds and expected.dtype.kind in kinds
    return expected.dtype if is_other and given.dtype != expected.dtype else None


def _agree(given: Any, expected: Any) -> bool:
    """Whether the numbers in two results of one structure are the same, as precise as they are."""
    if isinstance(given, (tuple, list)):
        return all(map(_agree, given, expected))
    a, b = np.asarray(given), np.asarray(expected)
    if not all(array.dtype.kind in "biufc" for array in (a, b)):
        return True
    precise = float(np.finfo(a.dtype).eps) ** 0.25 if a.dtype.kind in "fc" else 0.0
    scale = float(np.max(np.abs(b[np.isfinite(b)]), initial=1.0))
    return np.allclose(a, b, rtol=precise, atol=precise * scale, equal_nan=True)
