"""Arrays of which only the running program can tell whether they share memory."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import gradscribe as gs
from gradscribe.errors import AliasingError

X = np.array([0.3, 0.7, 1.1])
IN_C = np.arange(9.0).reshape(3, 3) + 5 * np.eye(3)
IN_F = np.asfortranarray(IN_C)
LINE = np.arange(1.0, 7.0)


@pytest.fixture(autouse=True)
def _put_back():
    """What a program stores to what it captures."""
    held = [(array, array.copy()) for array in (IN_C, IN_F, LINE)]
    yield
    for array, before in held:
        array[...] = before


def agrees(function: Any, *args: Any) -> None:
    """All modes give what plain Python gives, and what its differences are."""
    captured = copy.deepcopy((IN_C, IN_F, LINE))

    def run(x: Any) -> Any:
        for array, before in zip((IN_C, IN_F, LINE), captured, strict=True):
            array[...] = before
        return function(x, *copy.deepcopy(args))

    def given() -> Any:
        return (X.copy(), *copy.deepcopy(args))

    value = run(X.copy())
    steps = 1e-6 * np.eye(3)
    expected = np.array([(run(X + step) - run(X - step)) / 2e-6 for step in steps])
    run(X.copy())
    for array, before in zip((IN_C, IN_F, LINE), captured, strict=True):
        array[...] = before
    found, gradient = gs.value_and_grad(function, argnums=0)(*given())
    np.testing.assert_allclose(found, value, rtol=1e-14)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)
    direction = np.array([1.0, -2.0, 0.5])
    others = copy.deepcopy(args)
    _, tangent = gs.jvp(lambda x: function(x, *others), (X,), (direction,))
    np.testing.assert_allclose(tangent, expected @ direction, rtol=1e-5, atol=1e-7)
    tensor = gs.Tensor(X.copy()).requires_grad_()
    gs.differentiable(function)(tensor, *given()[1:]).backward()
    np.testing.assert_allclose(np.asarray(tensor.grad), expected, rtol=1e-5, atol=1e-7)
    hessian = gs.jacobian(gs.grad(function, argnums=0))(*given())
    np.testing.assert_allclose(hessian, np.transpose(hessian), atol=1e-9)


def in_fortran_order(x, c):
    a = np.asfortranarray(c)
    a[0, 0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def in_c_order(x, c):
    a = np.ascontiguousarray(c.T)
    a[0, 0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def asked_for_an_order(x, c):
    a = np.asarray(c, order="F")
    a[0, 0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def cast_in_an_order(x, c):
    a = c.astype(float, order="F", copy=False)
    a[0, 0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def copied_if_needed(x, c):
    a = np.array(c, copy=None, order="F")
    a[0, 0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def required(x, c):
    a = np.require(c, requirements="F")
    a[0, 0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def required_by_a_list(x, c):
    a = np.require(c, None, ["F_CONTIGUOUS"])
    a[0, 0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def raveled_transpose(x, c):
    a = c.T.ravel()
    a[0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def raveled_in_order(x, c):
    a = np.ravel(c, order="F")
    a[0] = x[0]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def base_stored_to(x, c):
    c = c.copy()
    a = np.ravel(c.T)
    c[0, 0] = x[0] * x[1]
    return np.sum(a * a * x[1]) + np.sum(c[0] * x)


def stored_in_a_loop(x, c):
    a, s = np.asfortranarray(c), 0.0
    for k in range(3):
        a[k, 0] = x[k] ** 2
        s = s + a[k, 0] * c[k, 1]
    return s


def made_in_a_loop(x, c):
    s = 0.0
    for k in range(3):
        a = np.asfortranarray(c)
        a[k, 0] = x[k] ** 2
        s = s + a[k, 0] * c[k, 0]
    return s


def stored_by_a_helper(x, c):
    a = np.asfortranarray(c)

    def put(value):
        a[0, 0] = value

    put(x[0])
    return np.sum(a * x[1]) + c[0, 0] * x[2]


def among_others(x, c):
    arrays = [np.asfortranarray(c), c]
    arrays[0][0, 0] = x[0]
    return np.sum(arrays[0] * x[1]) + arrays[1][0, 0] * x[2]


def copy_of_a_copy(x, c):
    a = np.asfortranarray(c[:2])
    b = np.ravel(a)
    b[0] = x[0]
    a[1, 1] = x[1]
    return np.sum(b) * x[0] + np.sum(a[1] * x) + np.sum(c[0] * x)


FUNCTIONS = [
    *(in_fortran_order, in_c_order, asked_for_an_order, cast_in_an_order, required),
    *(required_by_a_list, raveled_transpose, raveled_in_order, stored_in_a_loop),
    *(made_in_a_loop, stored_by_a_helper, among_others),
]
if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    FUNCTIONS.append(copied_if_needed)


@pytest.mark.parametrize("function", [*FUNCTIONS, copy_of_a_copy, base_stored_to])
def test_a_copy_is_stored_to(function):
    agrees(function, IN_C)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_store_is_refused_in_a_run_in_which_memory_is_shared(function):
    with pytest.raises(AliasingError, match="shares memory with"):
        gs.grad(function, argnums=0)(X, IN_F)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_captured_arrays_are_told_apart(function):
    def copied(x):
        return function(x, IN_C)

    def shared(x):
        return function(x, IN_F)

    agrees(copied)
    with pytest.raises(AliasingError, match="shares memory"):
        gs.grad(shared)(X)


def test_one_specialization_serves_copies_and_refuses_views():
    gradient = gs.grad(raveled_transpose, argnums=0)
    sliced = np.repeat(IN_C, 2, axis=1)[:, ::2]
    expected = gradient(X, sliced)
    with pytest.raises(AliasingError, match="shares memory with `c`"):
        gradient(X, IN_F)
    np.testing.assert_array_equal(gradient(X, sliced), expected)


def test_what_is_known_to_be_a_copy_is_not_checked():
    source = gs.differentiable(in_fortran_order).specialize(X, IN_C).gradient_source
    assert "raise" not in source
    source = gs.differentiable(raveled_transpose).specialize(X, IN_C).gradient_source
    assert "raise" not in source


def test_the_check_asks_how_the_array_lies():
    sliced = np.repeat(IN_C, 2, axis=1)[:, ::2]
    source = gs.differentiable(raveled_transpose).specialize(X, sliced).gradient_source
    assert "    if c.T.flags.c_contiguous:\n        raise AliasingError(" in source


def factored(x):
    c = IN_C.copy()
    lu, _ = scipy.linalg.lu_factor(c, overwrite_a=True)
    lu[0, 0] = x[0]
    return np.sum(lu * lu * x[1]) + np.sum(c[0] * x)


def captured_factored(x):
    lu, _ = scipy.linalg.lu_factor(IN_C, overwrite_a=True)
    lu[0, 0] = x[0]
    return np.sum(lu * lu * x[1]) + np.sum(IN_C[0] * x)


def decomposed(x):
    c = IN_C.copy()
    q, _ = scipy.linalg.qr(c, overwrite_a=True)
    q[0, 0] = x[0]
    return np.sum(q * q * x[1]) + np.sum(c[0] * x)


def scaled(x):
    c = np.arange(3)
    found = scipy.linalg.blas.dscal(2.0, c)
    found[0] = x[0]
    return np.sum(found * x) + np.sum(c * x)


@pytest.mark.parametrize("function", [factored, captured_factored, decomposed, scaled])
def test_what_a_library_returns_is_stored_to(function):
    agrees(function)


def factored_in_place(x):
    c = np.array(IN_F)
    lu, _ = scipy.linalg.lu_factor(c, overwrite_a=True)
    lu[0, 0] = x[0]
    return np.sum(lu * lu * x[1]) + np.sum(c[0] * x)


def captured_factored_in_place(x):
    lu, _ = scipy.linalg.lu_factor(IN_F, overwrite_a=True)
    lu[0, 0] = x[0]
    return np.sum(lu * lu * x[1]) + np.sum(IN_F[0] * x)


def factored_twice(x):
    lu, _ = scipy.linalg.lu_factor(IN_F, overwrite_a=True)
    found = scipy.linalg.inv(lu, overwrite_a=True)
    return np.sum(found[0] * x) + np.sum(IN_F[0] * x)


def scaled_in_place(x):
    c = LINE[:3].copy()
    found = scipy.linalg.blas.dscal(2.0, c)
    found[0] = x[0]
    return np.sum(found * x) + np.sum(c * x)


@pytest.mark.parametrize(
    "function", [factored_in_place, captured_factored_in_place, factored_twice, scaled_in_place]
)
def test_what_a_library_returns_may_be_what_it_was_given(function):
    with pytest.raises(AliasingError, match="shares memory"):
        gs.grad(function)(X)


def test_a_captured_array_is_overwritten():
    def function(x):
        lu, _ = scipy.linalg.lu_factor(IN_F, overwrite_a=True)
        return np.sum(lu[0] * x) + np.sum(IN_F[0] * x)

    agrees(function)


def test_a_view_of_a_view_is_stored_to():
    def function(x):
        a = np.ravel(IN_F.T)
        b = np.require(a, requirements="W")
        b[0] = x[0] * 5
        return np.sum(IN_F * x)

    with pytest.raises(AliasingError, match="shares memory with `IN_F`"):
        gs.grad(function)(X)


def test_what_unread_code_returns_need_not_lie_without_gaps():
    def function(x):
        b = np.require(LINE[::2], requirements="W")
        r = b.ravel()
        r[0] = x[0] * 5
        return np.sum(b * x) + r[0]

    agrees(function)


def asked_for_by_array(x):
    c = np.array(IN_F + 1, order="C")
    lu, _ = scipy.linalg.lu_factor(c, overwrite_a=True)
    return np.sum(lu[0] * x) + np.sum(c[0] * x)


def asked_for_by_copy(x):
    c = np.copy(IN_F, order="C")
    lu, _ = scipy.linalg.lu_factor(c, overwrite_a=True)
    return np.sum(lu[0] * x) + np.sum(c[0] * x)


def asked_for_by_astype(x):
    c = IN_F.astype(float, order="C")
    lu, _ = scipy.linalg.lu_factor(c, overwrite_a=True)
    return np.sum(lu[0] * x) + np.sum(c[0] * x)


def asked_for_by_zeros(x):
    c = np.zeros_like(IN_F, order="C")
    c[...] = IN_F
    lu, _ = scipy.linalg.lu_factor(c, overwrite_a=True)
    return np.sum(lu[0] * x) + np.sum(c[0] * x)


@pytest.mark.parametrize(
    "function", [asked_for_by_array, asked_for_by_copy, asked_for_by_astype, asked_for_by_zeros]
)
def test_an_array_is_in_c_order_where_that_is_asked_for(function):
    agrees(function)


def test_orders_of_memory_have_derivatives():
    def function(m):
        return np.sum(np.asfortranarray(m * 2) ** 3) + np.sum(np.asarray(m, order="F") ** 2)

    gs.testing.check_grad(function, IN_C)
    gs.testing.check_grad(function, IN_F)


def test_all_modes_refuse_a_view():
    for run in (
        lambda f: gs.value_and_grad(f)(X),
        lambda f: gs.jvp(f, (X,), (X,)),
        lambda f: gs.jacobian(gs.grad(f))(X),
        lambda f: gs.differentiable(f)(gs.Tensor(X.copy()).requires_grad_()),
    ):
        with pytest.raises(AliasingError, match="shares memory with `IN_F`") as raised:
            run(_stored)
        assert "a[0, 0] = x[0]" in str(raised.value)


def _stored(x):
    a = np.asfortranarray(IN_F)
    a[0, 0] = x[0]
    return np.sum(a * x[1]) + np.sum(IN_F * x)


def test_two_names_of_one_array_are_given_away_together():
    native = pytest.importorskip("tests.border.compiled_code").native

    def chosen(x):
        c, d = LINE[:3].copy(), LINE[3:] * 2
        m = c if x[0] > 0 else d
        native.accumulate(m, c)
        return np.sum(m * x) + np.sum(c * x)

    def kept(x):
        c = LINE[:3].copy()
        a = np.require(c[:], requirements="W")
        native.accumulate(a, c)
        return np.sum(a * x) + np.sum(c * x)

    agrees(chosen)
    with pytest.raises(AliasingError, match="shares memory with `c`"):
        gs.grad(kept)(X)
