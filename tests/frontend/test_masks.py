"""`where=` of NumPy's functions, given as numbers, and as lists of them."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.every_mode import BY, MODES, check_mode
from tests.sampling import one_in

X = np.array([1.2, -0.7, 0.6, 1.9, 0.3])
W = np.arange(1.0, 6.0)
FLAGS = [1, 0, 1, 1, 0]
MASKS = [
    FLAGS,
    [2, 0, 3, 0, 0],
    [0.5, 0, 1, 0, 0],
    (1, 0, 1, 0, 1),
    [True, False, True, False, True],
    np.array([True, False, True, False, True]),
    [True],
    1,
    0,
    2,
    0.5,
    np.int64(3),
    None,
    True,
]
REDUCTIONS = [np.sum, np.prod, np.max, np.min, np.nansum, np.any, np.add.reduce, np.hypot.reduce]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", one_in(3, MASKS), ids=repr)
def test_a_masked_store_takes_numbers_for_truths(where, mode):
    def stored(x):
        y = x * 1.0
        np.add(y, 1.0, out=y, where=where)
        np.multiply(y, y, where=where, out=y)
        return y @ W

    check_mode(mode, stored, X)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("reduction", one_in(3, REDUCTIONS), ids=lambda f: f.__name__)
@pytest.mark.parametrize("where", [FLAGS, [2, 0, 3, 0, 0], [0.5, 0, 1, 1, 0], 2, 1], ids=repr)
def test_a_masked_reduction_takes_numbers_for_truths(where, reduction, mode):
    options = {} if reduction is np.any else {"initial": 0.4}

    def reduced(x):
        return np.sum(reduction(x * x, where=where, **options) * x)

    check_mode(mode, reduced, X)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("moment", [np.mean, np.std, np.var, np.nanmean, np.nanvar])
@pytest.mark.parametrize("where", [FLAGS, (1, 0, 1, 1, 1), [True, False, True, True, False], 1])
def test_moments_count_ones(where, moment, mode):
    check_mode(mode, lambda x: moment(x * x, where=where) * x[0], X)


@pytest.mark.parametrize("mode", [*MODES[:3], *MODES[4:]])
def test_masks_are_written_in_the_program(mode):
    def reduced(x):
        n = len(x)
        mean = np.mean(x * x, where=[1, 0, 1, 1, 0]) + (x * x).std(where=(1, 0, 1, 1, 0))
        largest = (x * x).max(where=[n, 2, 3, 0, 0], initial=0.1)
        return mean + largest + np.sum(x * x, where=[n, 0, n - 5, 1, 1]) + np.sum(x, where=n)

    check_mode(mode, reduced, X)


@pytest.mark.parametrize("mode", MODES)
def test_an_array_has_to_be_a_mask(mode):
    where = np.array(FLAGS)

    def stored(x):
        y = x * 1.0
        np.add(y, 1.0, out=y, where=where)
        return y @ W

    for function in (stored, lambda x: np.sum(x * x, where=where)):
        with pytest.raises((TypeError, UnsupportedError), match="Cannot cast array data"):
            BY[mode](function, X)


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}])
@pytest.mark.parametrize("where", [[2, 0, 3, 0, 0], 2, [2.0, 0, 1, 0, 0]], ids=repr)
def test_a_moment_of_other_numbers_is_refused(where, options):
    with pytest.raises(UnsupportedError):
        gs.grad(lambda x: np.mean(x * x, where=where), **options)(X)
