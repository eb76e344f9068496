"""One object at two places is one for code that tells objects apart: pickles, `is`."""

from __future__ import annotations

import operator
import pickle
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.5, 1.0, 2.0])


def length_of_a_pickle(x):
    inner = [1.0]
    return len(pickle.dumps([inner, inner])) * np.sum(x)


def list_from_a_pickle(x):
    inner = [1.0]
    found = pickle.loads(pickle.dumps({"a": inner, "b": [inner]}))
    found["a"].append(2.0)
    return len(found["b"][0]) * np.sum(x)


def array_from_a_pickle(x):
    inner = np.ones(3)
    return len(pickle.dumps({"a": inner, "b": inner, "c": (inner,)})) * np.sum(x)


def list_of_arrays_in_a_pickle(x):
    inner = np.arange(3.0)
    return len(pickle.dumps([inner, inner])) * np.sum(x)


def list_given_to_a_pickle(x):
    inner = np.ones(3)
    items = [inner]
    size = len(pickle.dumps(items))
    items[0][0] = 4.0
    return (size + float(items[0] is inner)) * np.sum(x * inner)


def operator_of_lists(x):
    a, b = [1.0, 2.0], [1.0, 2.0]
    same, other = operator.is_(a, a), operator.is_(a, b)
    return (4.0 * same + 2.0 * other + operator.is_not(a, b)) * np.sum(x)


def operator_of_arrays(x):
    a, b = x * 2.0, x * 2.0
    return (4.0 * operator.is_(a, a) + operator.is_not(a, b)) * np.sum(a * b)


def operator_that_maps(x):
    row = [1.0]
    return sum(map(operator.is_, [row, [1.0]], [row, row])) * np.sum(x)


PROGRAMS = (
    *(length_of_a_pickle, list_from_a_pickle, array_from_a_pickle, list_of_arrays_in_a_pickle),
    *(list_given_to_a_pickle, operator_of_lists, operator_of_arrays, operator_that_maps),
)


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_an_object_is_one_wherever_it_stands(program: Any, options: dict[str, Any]) -> None:
    value, gradient = gs.value_and_grad(program, **options)(X)
    assert value == program(X)
    step = 1e-6 * np.eye(3)
    differences = [(program(X + d) - program(X - d)) / 2e-6 for d in step]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6)
