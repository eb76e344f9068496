"""Fixtures of the runtime's tests."""

import warnings

import pytest

import gradscribe.runtime  # noqa: F401  (attaches the methods to Tensor)
from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.graph.grad_mode import set_grad_enabled


@pytest.fixture(autouse=True)
def settings_as_they_were():
    """What a test sets for good (default dtype, grad mode, warnings) ends with it."""
    default = dtypes.get_default_dtype()
    with warnings.catch_warnings():
        yield
    dtypes.set_default_dtype(default)
    set_grad_enabled(True)
