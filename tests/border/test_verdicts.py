"""The judge itself: it finds what is wrong, and calls only that wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.border.compiled_code import CALLBACK, native, plain
from tests.border.verdicts import KINDS, function_of, verdict

X = np.array([0.3, -0.8, 1.1])


@gs.primitive
def halved(x: Any) -> Any:
    return 0.5 * x


@halved.adjoint
def _(out: Any, x: Any, d_out: Any) -> Any:
    return 0.25 * d_out


@halved.tangent
def _(out: Any, x: Any, d_x: Any) -> Any:
    return 0.25 * d_x


def raises(*args: Any) -> Any:
    raise ZeroDivisionError


def test_a_gradient_that_differs_from_differences_is_wrong() -> None:
    found = verdict(lambda: lambda x: np.sum(halved(x)), (X,))
    assert found.modes["reverse"] == found.modes["forward"] == found.modes["Tensors"] == "wrong"
    assert found.kind == "wrong"
    assert "the derivative is 0.25, by differences 0.5" in found.detail


def test_a_program_of_known_operations_is_right_in_every_mode() -> None:
    def program(x: Any, items: Any, s: float) -> Any:
        x *= s
        items[1][0] = x[1] * 2.0
        return np.sum(np.sin(x) * items[1])

    found = verdict(lambda: program, (X, [X, X * 2.0], 0.7))
    assert (found.kind, set(found.modes.values())) == ("right", {"right"}), found.detail


def test_what_is_left_in_the_arguments_counts_as_a_result() -> None:
    def program(x: Any, y: Any) -> Any:
        y[:] = halved(x)
        return np.sum(x)

    assert verdict(lambda: program, (X, X)).kind == "wrong"


def test_a_refusal_is_no_crash() -> None:
    def program(x: Any) -> Any:
        return np.sum(x) * native.total(x)

    found = verdict(lambda: program, (X,))
    assert found.kind == "refused", found.detail


def test_what_is_neither_value_nor_refusal_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gs, "jvp", raises)
    found = verdict(lambda: lambda x: np.sum(x), (X,))
    assert found.kind == "crash"
    assert found.modes["forward"] == "crash"
    assert "ZeroDivisionError" in found.detail


def test_an_exception_of_the_program_itself_is_nobodys_verdict() -> None:
    with pytest.raises(ZeroDivisionError):
        verdict(lambda: raises, (X,))


def test_each_call_finds_the_state_that_the_one_before_has_left() -> None:
    text = "CALLS = [1.0]\ndef program(s):\n    CALLS[0] += 1.0\n    return s * 2.0 * CALLS[0]\n"
    found = verdict(lambda: function_of(text), (0.5,))
    assert found.kind == "right", found.detail


def test_refused_are_errors_of_unsupported_programs() -> None:
    with pytest.raises(UnsupportedError):
        gs.grad(lambda x: np.sum(native.doubled(x)))(X)


def test_kinds_go_from_good_to_bad() -> None:
    assert KINDS == ("right", "refused", "wrong", "crash")


def test_the_compiled_code_does_what_the_tables_say() -> None:
    x, out = X.copy(), np.zeros(3)
    native.scale_into(x, out, 3.0)
    np.testing.assert_array_equal(out, 3.0 * X)
    native.accumulate(x, out)
    np.testing.assert_array_equal(out, 3.0 * X + X)
    assert native.scaled(x, 2.0) is x and native.same(x) is x
    np.testing.assert_array_equal(x, 2.0 * X)
    assert not np.shares_memory(native.doubled(x), x)
    assert np.shares_memory(native.tail(x), x)
    assert np.shares_memory(np.asarray(native.view(x)), x)
    keeper = native.Keeper()
    keeper.keep(x)
    keeper.scale(0.5)
    np.testing.assert_array_equal(x, X)
    assert keeper.array() is x
    assert native.axpy(X, x, overwrite_y=1) is x
    np.testing.assert_array_equal(x, 2.0 * X)
    plain.remember(x, 3)
    plain.scale_remembered(0.5)
    plain.apply(CALLBACK(lambda v: v + 1.0), x, 3)
    np.testing.assert_array_equal(x, X + 1.0)
    plain.place(x, 2)[0] = 7.0
    assert x[2] == 7.0
