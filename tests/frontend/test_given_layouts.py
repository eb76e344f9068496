"""Arrays that the program is given, with gaps, backwards, over each other: code in C finds them
so."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import gradscribe as gs

X = np.array([0.7, 1.3, 2.1])
TENSOR = gs.tensor(X, requires_grad=True)
GAPS = np.arange(1.0, 7.0)[::2]
PART = np.asfortranarray(np.eye(5) * 4 + 1)[:3, :3]


def scaled(x, a):
    scipy.linalg.blas.dscal(3.0, a)
    return np.sum(a * x)


def factored(x, a):
    scipy.linalg.lapack.dpotrf(a, lower=1, overwrite_a=1, clean=0)
    return np.sum(a @ x)


def scaled_outside(x):
    return scaled(x, GAPS)


def factored_outside(x):
    return factored(x, PART)


def steps(x, a):
    return np.sum(x) * a.strides[0]


def scaled_together(x, a, b):
    scipy.linalg.blas.dscal(3.0, a)
    return np.sum(b * x)


def stored_together(x, a, b):
    a[0] = 5.0
    return np.sum(b * x)


def gaps():
    return (np.arange(1.0, 7.0)[::2],)


def backwards():
    return (np.arange(1.0, 4.0)[::-1],)


def in_order():
    return (np.arange(1.0, 4.0),)


def row():
    return (np.asfortranarray(np.eye(3) * 4 + 1)[0],)


def by_columns():
    return (np.asfortranarray(np.eye(3) * 4 + 1),)


def by_rows():
    return (np.eye(3) * 4 + 1,)


def part():
    return (np.asfortranarray(np.eye(5) * 4 + 1)[:3, :3],)


def shifted():
    memory = np.arange(1.0, 6.0)
    return memory[:3], memory[1:4]


def reversed_too():
    memory = np.arange(1.0, 4.0)
    return memory, memory[::-1]


CASES = [
    *((scaled, given) for given in (gaps, backwards, in_order, row)),
    *((factored, given) for given in (by_columns, by_rows, part)),
    *((steps, given) for given in (gaps, backwards, row, by_columns, part)),
    *((scaled_together, given) for given in (shifted, reversed_too)),
    *((stored_together, given) for given in (shifted, reversed_too)),
    *((function, tuple) for function in (scaled_outside, factored_outside)),
]
TRANSFORMS = {
    "value_and_grad": lambda f, a, o: gs.value_and_grad(f, **o)(X, *a)[0],
    "jvp": lambda f, a, o: gs.jvp(lambda x: f(x, *a), (X,), (X,), **o)[0],
    "tensors": lambda f, a, o: gs.differentiable(f, **o)(TENSOR, *a).item(),
}


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize(("function", "given"), CASES)
def test_what_is_done_depends_on_how_they_lie(function, given, transform, options):
    GAPS[:], PART[:] = [1.0, 3.0, 5.0], np.eye(3) * 4 + 1
    expected = function(X, *given())
    GAPS[:], PART[:] = [1.0, 3.0, 5.0], np.eye(3) * 4 + 1
    try:
        value = transform(function, given(), options)
    except gs.errors.GradscribeError:
        changes_unseen = transform is TRANSFORMS["tensors"] and options
        assert function is steps or changes_unseen or given not in (in_order, by_rows, by_columns)
        return
    np.testing.assert_allclose(value, expected)
