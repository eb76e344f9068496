"""Methods of ufuncs that are given their arrays by name."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from tests.every_mode import MODES, check_mode, differences

X = np.array([1.2, -0.7, 0.6, 1.9])
W = np.arange(1.0, 5.0)


def reduced(x):
    largest = np.maximum.reduce(axis=0, array=x) * np.add.reduce(out=None, array=x * x)
    return largest + np.multiply.reduce(array=x) + np.hypot.reduce(array=x[:3], keepdims=True)[0]


def accumulated(x):
    return np.add.accumulate(array=x * x, axis=0) @ W + np.divide.accumulate(array=x) @ W


def summed_in_slices(x):
    parts = np.add.reduceat(indices=[0, 2], array=x * x)
    return parts @ W[:2] * np.add.reduceat(x, indices=[1, 3])[0]


def into_an_array(x):
    y = x * 0
    np.add.accumulate(array=x * x, out=y)
    np.add.reduceat(array=x * x, indices=[0, 2], out=y[:2])
    return y @ W


def without_a_derivative(x):
    return np.logical_or.reduce(array=x) * x[0] + np.add.reduce(array=np.ones(3)) * x[1]


FUNCTIONS = [reduced, accumulated, summed_in_slices, into_an_array, without_a_derivative]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_are_given_by_name(function, mode):
    check_mode(mode, function, X)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_tensors_are_given_by_name(function):
    x = gs.tensor(X, requires_grad=True)
    (found,) = gs.autograd.grad(function(x), x)
    np.testing.assert_allclose(found.numpy(), differences(function, X), rtol=1e-5)
