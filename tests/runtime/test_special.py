"""Functions that SciPy computes: values and gradients as PyTorch gives them."""

import sys

import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.autograd import gradcheck, gradgradcheck
from gradscribe.errors import MissingLibraryError

pytest.importorskip("scipy")

CASES = {
    "erf": (lambda x: x.erf(), [0.3286267594591274, 0.9103139782296354]),
    "erfc": (lambda x: x.erfc(), [0.6713732405408726, 0.08968602177036457]),
    "erfinv": (lambda x: (x / 2).erfinv(), [0.1337269216648197, 0.5951160814499948]),
    "lgamma": (lambda x: x.lgamma(), [1.0957979948180755, -0.08537409000331581]),
    "digamma": (lambda x: x.digamma(), [-3.502524222200133, -0.28903989659218843]),
    "polygamma": (lambda x: x.polygamma(2), [-75.27253658872601, -1.478036114435933]),
    "mvlgamma": (lambda x: (x + 1).mvlgamma(2), [0.6162498118166772, 0.5735047123082732]),
    "i0": (lambda x: x.i0(), [1.0226268793515974, 1.3937255841340706]),
    "igamma": (lambda x: gs.tensor(1.5).igamma(x), [0.10356762665808855, 0.5063653772882721]),
    "igammac": (lambda x: gs.tensor(1.5).igammac(x), [0.8964323733419115, 0.49363462271172787]),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    function, values = CASES[name]
    x = gs.tensor([0.3, 1.2], requires_grad=True)
    y = function(x)
    assert y.tolist() == pytest.approx(values, rel=1e-6)
    assert type(y.grad_fn).__name__ == f"{name.title()}Backward0"
    assert gradcheck(function, (x,), check_forward_ad=True)
    assert gradgradcheck(function, (x,))


def test_in_place_forms_and_dtypes():
    x = gs.tensor([0.3, 1.2], dtype=gs.float32)
    assert x.erf_() is x
    assert x.dtype == gs.float32
    assert gs.erf(gs.tensor([1, 2])).dtype == gs.get_default_dtype()
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        gs.tensor([1, 2]).lgamma_()


def test_the_incomplete_gamma_function_has_no_derivative_in_its_order():
    order = gs.tensor([1.5], requires_grad=True)
    with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input' is not impl"):
        torchlike.igamma(order, gs.tensor([2.0]))


def test_without_scipy_the_call_says_what_to_install(monkeypatch):
    from gradscribe.runtime.operations import special

    special.row_of.cache_clear()
    monkeypatch.setitem(sys.modules, "gradscribe.runtime.arrays.special_composites", None)
    with pytest.raises(MissingLibraryError, match=r"`erf` needs SciPy.*\n.*pip install scipy"):
        gs.erf(gs.ones(1))
