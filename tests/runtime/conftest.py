"""The runtime is tested on its own: a hand-made compiler stands behind the seam.

With GRADSCRIBE_STAND_IN=0 the same tests run on the real compiler.
"""

import os
import warnings

import pytest

import gradscribe.runtime  # noqa: F401  (attaches the methods to Tensor)
from gradscribe.runtime import dtypes, eager
from gradscribe.runtime.grad_mode import set_grad_enabled
from tests.runtime import stand_in


@pytest.fixture(autouse=True)
def compiler_of_the_runtime():
    if os.environ.get("GRADSCRIBE_STAND_IN", "1") == "0":
        yield
        return
    previous = eager.set_provider(stand_in.derivatives)
    yield
    eager.set_provider(previous)


@pytest.fixture(autouse=True)
def settings_as_they_were():
    """What a test sets for good (default dtype, grad mode, warnings) ends with it."""
    default = dtypes.get_default_dtype()
    with warnings.catch_warnings():
        yield
    dtypes.set_default_dtype(default)
    set_grad_enabled(True)
