"""What is compiled finds the state outside as it is, and leaves it as Python does; a refusal leaves
it alone."""

from __future__ import annotations

import collections
import sys

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([1.0, 2.0, 3.0])
RATE = 3.0
HERE = sys.modules[__name__]
LISTS: collections.defaultdict = collections.defaultdict(list)
WEIGHTS: collections.defaultdict = collections.defaultdict(lambda: 1.0)


def stores_by_its_name(x):
    HERE.RATE = RATE + 1.0
    return RATE * np.sum(x)


def stores_by_setattr(x):
    setattr(HERE, "RATE", RATE + 1.0)
    return RATE * np.sum(x)


@pytest.mark.parametrize("function", [stores_by_its_name, stores_by_setattr])
@pytest.mark.parametrize(
    "transform", [gs.value_and_grad, lambda f: gs.differentiable(f).specialize]
)
def test_a_refused_store_to_a_module_is_not_made(function, transform):
    with pytest.raises(UnsupportedError, match="attribute `RATE` of this value cannot be stored"):
        transform(function)(X)
    assert RATE == 3.0


def of_a_missing_list(x):
    try:
        return LISTS["a"][0] * np.sum(x)
    except KeyError:
        return x[0]
    except IndexError:
        return x[1]


def of_a_list_that_grows(x):
    LISTS["a"].append(2.0)
    return (len(LISTS) + len(LISTS["b"])) * np.sum(x)


@pytest.mark.parametrize("function", [of_a_missing_list, of_a_list_that_grows])
def test_an_item_that_a_dict_would_make_is_not_made_by_a_refusal(function):
    LISTS.clear()
    with pytest.raises(UnsupportedError, match="makes an item when it is read"):
        gs.value_and_grad(function)(X)
    assert not LISTS


@pytest.mark.parametrize("function", [of_a_missing_list, of_a_list_that_grows])
def test_partly_compiled_it_is_made_at_each_call(function):
    value_and_grad = gs.value_and_grad(function, compile="auto")
    for _ in range(3):
        LISTS.clear()
        expected, made = function(X), dict(LISTS)
        LISTS.clear()
        assert value_and_grad(X)[0] == expected
        assert dict(LISTS) == made


def weighted(x):
    return WEIGHTS["w"] * np.sum(x)


def test_an_item_that_is_there_is_read_and_not_made_again():
    value_and_grad = gs.value_and_grad(weighted)
    for weight in (2.0, 3.0):
        WEIGHTS["w"] = weight
        assert value_and_grad(X)[0] == weight * 6.0
    WEIGHTS.clear()
    with pytest.raises(UnsupportedError, match="makes an item when it is read"):
        value_and_grad(X)
    assert not WEIGHTS


def test_what_a_handle_of_cffi_leads_to_may_be_changed():
    ffi = pytest.importorskip("cffi").FFI()
    held = {"a": 2.0}
    handle = ffi.new_handle(held)

    def function(x):
        ffi.from_handle(handle)["a"] = 5.0
        return held["a"] * np.sum(x)

    with pytest.raises(UnsupportedError, match="both read and changed"):
        gs.value_and_grad(function)(X)
    assert held == {"a": 2.0}
    assert gs.value_and_grad(function, compile=False)(X)[0] == 30.0
