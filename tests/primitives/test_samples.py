"""Python's `statistics`: of lists, tuples and arrays, both modes, to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.primitives.samples import FUNCTIONS

NUMBERS = [0.7, 1.9, 1.2, 2.4]


def name_of(part: Any) -> str:
    return getattr(part, "__name__", "")


@pytest.mark.parametrize("container", [list, tuple, np.array], ids=name_of)
@pytest.mark.parametrize("function", FUNCTIONS, ids=name_of)
def test_value_and_derivatives(function: Any, container: Any) -> None:
    data = container(NUMBERS)

    def scaled(data):
        return function(data) ** 2

    assert gs.vjp(scaled, data)[0] == scaled(data)
    gs.testing.check_grad(scaled, data, order=2)


@pytest.mark.parametrize("function", FUNCTIONS, ids=name_of)
def test_of_computed_items(function: Any) -> None:
    def of_products(x):
        return function([v * v for v in x]) + function((x[0], x[1] * 2))

    gs.testing.check_grad(of_products, np.array(NUMBERS))
