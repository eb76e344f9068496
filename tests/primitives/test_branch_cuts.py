"""Complex functions have one derivative on all of their plane; on a branch cut, each side its own.

The sign of a zero tells the side. The derivative is compared with differences along the cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.primitives.test_forms import function_of_text

pytestmark = pytest.mark.filterwarnings("ignore")


def of_scipy(text: str) -> Any:
    special = pytest.importorskip("scipy.special")
    return function_of_text(text, ["z"], (("np", np), ("sp", special)))


PARTS = (-2.3, -0.6, -0.0, 0.0, 0.7, 1.9)
PLANE = [complex(re, im) for re in PARTS for im in PARTS if (re, im) != (0, 0)]

FUNCTIONS = """
np.sqrt(z); np.log(z); np.log1p(z); np.arcsin(z); np.arccos(z); np.arctan(z); np.arcsinh(z)
np.arccosh(z); np.arctanh(z); z**0.5; z**-1.5; z**z; z**(1 + 2j); (-2.0) ** z; np.sinc(z)
sp.spence(z); sp.exp1(z); sp.expi(z); sp.loggamma(z); sp.gamma(z); sp.erf(z); sp.wofz(z)
sp.wrightomega(z); sp.xlogy(0.7, z); sp.xlog1py(0.7, z); sp.jv(1.5, z); sp.yv(1.5, z); sp.kv(1.5, z)
sp.iv(-0.7, z); sp.kve(1.5, z); sp.hankel1(1.5, z); sp.hankel2(0, z); sp.hankel1e(1.5, z)
sp.hankel2e(1.5, z); sp.spherical_jn(2, z)
sp.spherical_kn(1, z)
"""


@pytest.mark.parametrize("text", [t.strip() for t in FUNCTIONS.replace(";", "\n").split("\n") if t])
def test_each_side_of_a_branch_cut_has_its_derivative(text: str) -> None:
    function = of_scipy(text)
    points = np.array([z for z in PLANE if np.isfinite(function(np.array([z])))[0]])
    _, derivative = gs.jvp(function, (points,), (np.ones_like(points),))
    is_found = np.zeros(len(points), bool)
    for axis in (0, 1):
        with np.errstate(all="ignore"):
            is_found |= np.isclose(derivative, _difference(function, points, axis), 1e-5, 1e-6)
    assert not points[~is_found].tolist()


def _difference(function: Any, z: np.ndarray, axis: int) -> np.ndarray:
    """Along the real or the imaginary axis; the other part keeps the sign of its zero."""

    def moved(by: float) -> Any:
        parts = np.stack([z.real, z.imag])
        parts[axis] += by
        at = np.empty_like(z)
        at.real, at.imag = parts
        return function(at)

    slope = (8 * (moved(1e-4) - moved(-1e-4)) - moved(2e-4) + moved(-2e-4)) / 12e-4
    return slope if axis == 0 else slope / 1j


@pytest.mark.parametrize("name", ["ive", "jve", "yve"])
def test_functions_scaled_by_a_part_of_the_number_are_refused_for_complex_numbers(
    name: str,
) -> None:
    function = of_scipy(f"np.sum(np.abs(sp.{name}(0, z)))")
    with pytest.raises(gs.errors.UnsupportedError, match=f"`{name}` of complex numbers"):
        gs.grad(function)(np.array([1 + 2j]))
    assert np.isfinite(gs.grad(function)(np.array([1.0])))
