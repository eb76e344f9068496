"""Floating-point errors: infinities and NaN without warnings, as in PyTorch."""

import warnings

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

SILENT = [
    lambda x: x.log(),
    lambda x: x / 0,
    lambda x: x**-1,
    lambda x: (x * 1e300).exp(),
    lambda x: (x * 1e308).to(gs.float32),
    lambda x: (x / 0).to(gs.int32),
    lambda x: gs.zeros(2, dtype=gs.float32).fill_(1e300),
    lambda x: gs.tensor([1e300], dtype=gs.float32),
    lambda x: x[:0].mean(),
    lambda x: torchlike.nanmean(x[:2] * np.nan),
    lambda x: gs.autograd.grad(x.log().sum(), x, create_graph=True)[0].sum(),
    lambda x: np.log(x),
]


@pytest.mark.parametrize("call", SILENT)
def test_eager_operations_do_not_warn(call):
    x = gs.tensor([-1.0, 0.0, 1e300, np.nan], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = call(x)
        if result.requires_grad:
            result.sum().backward()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("var", lambda x: x[:1].var()),
        ("std", lambda x: x.std(correction=3)),
        ("var", lambda x: x[:, None].var(1)),
        ("var_mean", lambda x: torchlike.var_mean(x[:1])[0]),
        ("std_mean", lambda x: torchlike.std_mean(x[:, None], 1)[0]),
    ],
)
def test_a_deviation_of_too_few_elements_warns_in_pytorchs_words(name, call):
    message = rf"^{name}\(\): degrees of freedom is <= 0. Correction should be strictly less than"
    with pytest.warns(UserWarning, match=message) as caught:
        result = call(gs.tensor([1.0, 2.0, 3.0]))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not result.isfinite().any()


def test_compiled_code_warns_as_plain_python_does():
    def f(x):
        return np.log(x).sum()

    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
        gs.grad(f)(np.array([0.0]))
