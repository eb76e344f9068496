"""NumPy's public functions and methods: each has a derivative, or it is said why it has none."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import scipy.linalg

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.coverage import Support, public_functions
from gradscribe.frontend.prelude.array_changes import METHODS as CHANGES
from gradscribe.primitives.limits import LIMITS, WITHOUT_DERIVATIVE
from gradscribe.primitives.registry import COMPOSITIONS, METHODS
from tests.functions import PAGE, page

REASONS = {name for names in WITHOUT_DERIVATIVE.values() for name in names.split()}


@functools.cache
def known() -> dict[str, Support]:
    """What is said of each function, by its name."""
    return {entry.name: entry for entry in gs.supported()}


@pytest.mark.skipif(not hasattr(math, "fma"), reason="the page lists the functions of CPython 3.13")
def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.functions`"


def test_a_function_has_a_derivative_or_a_reason_for_none() -> None:
    names = [name for name, _ in public_functions()]
    assert [name for name in names if name not in known()] == []
    assert [n for n in names if not (known()[n].modes or known()[n].limits)] == []
    assert [n for n in names if known()[n].modes and n in REASONS] == []


def test_reasons_and_limits_are_given_for_functions_that_are_known() -> None:
    others = {"np.trapz", "np.in1d", "np.vectorize", "np.poly1d"}  # gone, or classes
    others |= {f"scipy.linalg.{name}" for name in scipy.linalg.__all__}
    names = {name for name, _ in public_functions()} | others
    assert not [name for name in LIMITS if name not in names]
    newer = [name for name in REASONS - names if hasattr(np, name.split(".")[1])]
    assert not newer


WITHOUT_NUMBERS = """
    argmax argmin argpartition argsort all any nonzero searchsorted
    byteswap dump dumps getfield resize setfield setflags to_device tobytes tofile tolist
    tostring view
    """.split()
"""Methods of arrays whose results are integers, or bytes; or which are about memory."""


def test_a_method_has_a_derivative_or_none() -> None:
    methods = [n for n in dir(np.ndarray) if n[0] != "_" and callable(getattr(np.ndarray, n))]
    of_each = {*METHODS, *COMPOSITIONS, *CHANGES, *WITHOUT_NUMBERS}
    assert [name for name in methods if name not in of_each] == []


def test_functions_of_networks_and_methods_of_distributions_are_listed() -> None:
    pytest.importorskip("scipy.stats")
    names = {f"torchlike.nn.functional.{name}" for name in torchlike.nn.functional.__all__}
    assert names <= known().keys()
    assert "scipy.stats.dirichlet.logpdf" in known()
    assert "scipy.stats.multivariate_normal" not in known(), "it has only some of the methods"
