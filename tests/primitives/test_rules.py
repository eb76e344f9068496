"""Every rule, called as the Python function that it is, against finite differences."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from gradscribe.primitives import degenerate, equal_values, gauge, stability
from gradscribe.primitives.eigenvalues import as_complex
from gradscribe.primitives.orthogonal import wide_qr
from gradscribe.primitives.registry import METHODS, PRIMITIVES
from gradscribe.primitives.samples import FUNCTIONS as SAMPLES
from tests.primitives import test_factorizations
from tests.primitives.cases import ALL
from tests.primitives.harness import (
    Case,
    adjoint,
    by_rule,
    counted_from_the_end,
    naming,
    raw_cotangents,
    tangent,
)
from tests.primitives.test_forms import TESTED as FORMS
from tests.primitives.test_spectra import TESTED as TRANSFORMS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def directions(case: Case, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=np.shape(x)).astype(x.dtype) for x in case.operands]


def difference_quotient(case: Case, directions: list[np.ndarray], step: float = 1e-6) -> Any:
    """The central difference of the call along these directions."""

    def moved(by: float) -> np.ndarray:
        pairs = zip(case.operands, directions, strict=True)
        operands = [_like(x, x + by * v) for x, v in pairs]
        return np.asarray(case.with_operands(operands)(), dtype=float)

    return (moved(step) - moved(-step)) / (2 * step)


def _like(x: Any, moved: Any) -> Any:
    """NumPy makes numbers of arrays of rank 0; the operand stays what it was."""
    return np.asarray(moved) if isinstance(x, np.ndarray) else moved


RULES = by_rule(ALL)


@pytest.mark.parametrize("name", RULES)
def test_adjoint_and_tangent_agree_with_finite_differences(name: str) -> None:
    for case in RULES[name]:
        with naming(case):
            check_modes(case)
            if np.asarray(case()).dtype == np.float64:
                check_that_single_precision_stays_single(case)
            twin = counted_from_the_end(case)
            if twin is not None:
                check_modes(twin)


def check_modes(case: Case) -> None:
    out = case()
    along = directions(case)
    seed = np.random.default_rng(1).normal(size=np.shape(out)).astype(np.asarray(out).dtype)
    d_out = tangent(case, out, along)
    cotangents = adjoint(case, out, seed)

    through_tangent = np.sum(seed * d_out)
    through_adjoint = sum(np.sum(d * v) for d, v in zip(cotangents, along, strict=True))
    tolerance = 1e-5 if np.asarray(out).dtype == np.float32 else 1e-12
    np.testing.assert_allclose(through_adjoint, through_tangent, rtol=tolerance, atol=tolerance)
    if np.asarray(out).dtype == np.float64:
        expected = difference_quotient(case, along)
        np.testing.assert_allclose(d_out, expected, rtol=1e-5, atol=1e-7)


def in_single_precision(case: Case) -> Case:
    return case.with_operands([x.astype(np.float32) for x in case.operands])


LEFT_TO_THE_CAST = {"maximum", "minimum", "fmax", "fmin"}
"""Their shares are computed as float64."""


def check_that_single_precision_stays_single(case: Case) -> None:
    single = in_single_precision(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        out = single()
    if np.asarray(out).dtype != np.float32 or case.primitive.name in LEFT_TO_THE_CAST:
        return
    seed = np.ones(np.shape(out), np.float32)[()]
    for cotangent in raw_cotangents(single, out, seed):
        assert cotangent is None or np.asarray(cotangent).dtype == np.float32


def test_every_rule_is_tested() -> None:
    """Those of SciPy's functions, which are there once it is imported, in `test_scipy_special`;
    checks of what factorizations leave open in `test_gauge`."""
    tested = {case.primitive for case in ALL} | test_factorizations.TESTED
    others = (*TRANSFORMS, *SAMPLES, *FORMS, complex, as_complex, wide_qr)
    others += (*gauge.CHECKS, *degenerate.CHECKS, gauge.reciprocal)
    others += (*stability.CHECKS, *equal_values.CHECKS, stability.of_rank)
    tested |= {PRIMITIVES.get(callee) for callee in others}
    missing = [
        primitive.name
        for primitive in {*PRIMITIVES.values(), *METHODS.values()} - tested
        if primitive.adjoint is not None
        and str(primitive.adjoint.__module__).startswith("gradscribe.primitives.")
        and not primitive.adjoint.__module__.startswith("gradscribe.primitives.scipy.")
    ]
    assert not missing


def test_calls_with_axes_have_a_twin_that_counts_from_the_end() -> None:
    assert sum(counted_from_the_end(call) is not None for call in ALL) >= 200
