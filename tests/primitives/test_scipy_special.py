"""Functions of SciPy in compiled code: derivatives of both modes, to second order."""

import linecache

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.testing import check_grad

special = pytest.importorskip("scipy.special")

X = np.array([0.3, 0.7, 0.9])
NAMES = """erf erfc erfcx erfinv ndtr ndtri log_ndtr i0 i0e i1 i1e j0 j1 expit logit log_expit entr
    gammaln gamma psi"""


def compiled(body: str):
    """A function of x and y with source."""
    source = f"def function(x, y):\n    return np.sum({body})\n"
    filename = f"<{body}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace = {"np": np, "special": special}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["function"]


@pytest.mark.parametrize("name", NAMES.split())
def test_functions_of_one_argument(name):
    check_grad(compiled(f"special.{name}(x) * y"), X, X + 0.2)


@pytest.mark.parametrize("name", ["betaln", "xlogy", "xlog1py"])
def test_functions_of_two_arguments(name):
    check_grad(compiled(f"special.{name}(x, y)"), X, X + 0.2)


def test_the_bessel_functions_have_a_derivative_at_zero():
    both = compiled("special.i1(x) + special.j1(x)")
    assert gs.grad(both)(np.zeros(2), X[:2]).tolist() == [1.0, 1.0]


def test_a_gradient_names_the_functions_by_their_module():
    found = gs.differentiable(compiled("special.gammaln(x)")).specialize(X, X)
    assert "scipy.special.psi(x)" in found.gradient_source
