"""Calls of libraries whose result is real or complex, or has more or fewer axes, by the values of
what they are given: constants, and arrays from outside that may be others at the next call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.signal
import scipy.spatial
import scipy.special
from numpy.polynomial import chebyshev, hermite, legendre, polynomial

import gradscribe as gs

REAL, COMPLEX = np.array([-1.0, 0.0, 4.0]), np.array([3.0, 0.0, 0.5])
SMALL, LARGE = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([[0.1, 2.0], [0.3, 0.4]])
NEARLY, MIXED = np.array([1.0 + 0j, 2.0]), np.array([1.0 + 1j, 2.0])
CORNER, OTHER = np.array([1.0, 0.0]), np.array([0.0, 1.0])
held = REAL


def used(result: Any, x: Any) -> Any:
    """A number that depends on x by what a call gave, by whether that is complex, and its axes."""
    factor = 2.0 if np.iscomplexobj(result) else 3.0
    return np.sum(np.abs(result * x - 1.0)) + (factor + np.ndim(result)) * np.sum(x)


CALLS: dict[str, Callable[[], Any]] = {
    "real roots": lambda: polynomial.polyroots(REAL),
    "complex roots": lambda: polynomial.polyroots(COMPLEX),
    "roots of integers": lambda: polynomial.polyroots(np.array([3, 1, 1])),
    "roots of a literal": lambda: chebyshev.chebroots([3, 0, 0.5]),
    "roots of an array": lambda: chebyshev.chebroots(np.array([3.0, 0.0, 0.5])),
    "roots of what is computed": lambda: hermite.hermroots(COMPLEX * 2.0 + 1.0),
    "roots of a helper's": lambda: legendre.legroots(doubled(COMPLEX)),
    "real roots of what is stored": lambda: polynomial.polyroots(filled(-2.0)),
    "complex roots of what is stored": lambda: polynomial.polyroots(filled(3.0)),
    "real arcs": lambda: np.emath.arccos(SMALL),
    "complex arcs": lambda: np.emath.arccos(LARGE),
    "arcs of a literal": lambda: np.emath.arcsin(np.array([[0.1, 0.2], [0.3, 0.4]])),
    "real square roots": lambda: np.emath.sqrt(SMALL),
    "complex square roots": lambda: np.emath.sqrt(-SMALL),
    "real numbers": lambda: np.real_if_close(NEARLY),
    "complex numbers": lambda: np.real_if_close(MIXED),
    "complex numbers of a literal": lambda: np.real_if_close(np.array([1 + 1j, 2.0])),
    "one direction": lambda: scipy.spatial.geometric_slerp(CORNER, OTHER, 0.3),
    "several directions": lambda: scipy.spatial.geometric_slerp(
        CORNER, OTHER, np.array([0.2, 0.7])
    ),
    "real zeros": lambda: scipy.signal.tf2zpk(np.array([1.0, 2, -5]), REAL[::-1] + 1.0)[0],
    "complex zeros": lambda: scipy.signal.tf2zpk(COMPLEX[::-1], REAL[::-1])[0],
    "a number of dimensions": lambda: scipy.special.multigammaln(SMALL[0] + 3.0, 2),
    "no dimensions": lambda: scipy.special.multigammaln(SMALL[0] + 3.0, 0),
}


def filled(first: float) -> Any:
    coefficients = np.zeros(3)
    coefficients[1:] = COMPLEX[1:]
    coefficients[0] = first
    return coefficients


def doubled(values: Any) -> Any:
    return 2.0 * values


def differences(function: Callable[[Any], Any], x: Any) -> Any:
    steps = 1e-6 * np.eye(np.size(x)).reshape(-1, *np.shape(x))
    return np.reshape([(function(x + s) - function(x - s)) / 2e-6 for s in steps], np.shape(x))


def by_tensors(function: Callable[[Any], Any], x: Any) -> Any:
    leaf = gs.tensor(x, requires_grad=True)
    value = gs.differentiable(function)(leaf)
    value.backward()
    assert leaf.grad is not None
    return value.item(), leaf.grad.numpy()


def by_vjp(function: Callable[[Any], Any], x: Any) -> Any:
    value, pullback = gs.vjp(function, x)
    return value, pullback(1.0)[0]


def by_jvp(function: Callable[[Any], Any], x: Any) -> Any:
    directions = np.eye(np.size(x)).reshape(-1, *np.shape(x))
    found = [gs.jvp(function, (x,), (type(x)(d) if np.ndim(x) == 0 else d,)) for d in directions]
    return found[0][0], np.reshape([tangent for _, tangent in found], np.shape(x))


MODES: dict[str, Callable[..., Any]] = {
    "gradient": lambda function, x: gs.value_and_grad(function)(x),
    "vjp": by_vjp,
    "jvp": by_jvp,
    "tensors": by_tensors,
    "auto": lambda function, x: gs.value_and_grad(function, compile="auto")(x),
    "uncompiled": lambda function, x: gs.value_and_grad(function, compile=False)(x),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CALLS)
def test_the_type_is_that_of_the_values(name: str, mode: str) -> None:
    call = CALLS[name]

    def function(x: Any) -> Any:
        return used(call(), x)

    at = 0.7 if np.ndim(call()) > 1 or np.size(call()) > 2 else np.array([0.5, 0.8])
    for x in (0.7, at):
        for _ in range(2):
            value, gradient = MODES[mode](function, x)
            np.testing.assert_allclose(value, function(x))
            assert np.shape(gradient) == np.shape(x)
            assert not np.iscomplexobj(gradient)
            np.testing.assert_allclose(gradient, differences(function, x), atol=1e-6)


def of_held(x: Any) -> Any:
    return used(polynomial.polyroots(held), x)


@pytest.mark.parametrize("mode", ["gradient", "vjp", "jvp", "tensors"])
def test_values_of_another_kind_are_refused_when_it_runs(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    MODES[mode](of_held, 0.7)
    monkeypatch.setattr(f"{__name__}.held", COMPLEX)
    with pytest.raises(gs.errors.UnknownTypeError, match="gave complex128 of 1 axis, and float64"):
        MODES[mode](of_held, 0.7)
    monkeypatch.setattr(f"{__name__}.held", REAL + 1.0 * (REAL < 0) - 2.0 * (REAL == -1.0))
    value, gradient = MODES[mode](of_held, 0.7)
    np.testing.assert_allclose(value, of_held(0.7))
    np.testing.assert_allclose(gradient, differences(of_held, 0.7), atol=1e-6)


def test_a_call_by_the_rest_compiled_takes_values_of_any_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gradient = gs.value_and_grad(of_held, compile="auto")
    for values in (REAL, COMPLEX, REAL, COMPLEX):
        monkeypatch.setattr(f"{__name__}.held", values)
        value, slope = gradient(0.7)
        np.testing.assert_allclose(value, of_held(0.7))
        np.testing.assert_allclose(slope, differences(of_held, 0.7), atol=1e-6)


TOLD: list[Any] = []


def telling(x: Any) -> Any:
    TOLD.append(1)
    return of_held(x)


def test_what_is_told_before_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = gs.value_and_grad(telling, compile="auto")
    gradient(0.7)
    monkeypatch.setattr(f"{__name__}.held", COMPLEX)
    TOLD.clear()
    with pytest.raises(gs.errors.UnsupportedError):
        gradient(0.7)
    value, slope = gradient(0.7)
    assert len(TOLD) <= 2
    np.testing.assert_allclose(value, of_held(0.7))
    np.testing.assert_allclose(slope, differences(of_held, 0.7), atol=1e-6)


def test_handlers_of_the_program_do_not_take_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def guarded(x: Any) -> Any:
        try:
            return of_held(x)
        except Exception:
            return x

    gradient = gs.grad(guarded)
    gradient(0.7)
    monkeypatch.setattr(f"{__name__}.held", COMPLEX)
    with pytest.raises(gs.errors.UnknownTypeError):
        gradient(0.7)


def source_of(function: Callable[[Any], Any]) -> str:
    gradient = gs.grad(function)
    gradient(0.7)
    return str(gradient.source)


def test_what_is_checked_is_shown_in_one_line() -> None:
    assert 'check_result(t, "polyroots", ("float64", 1))' in source_of(
        lambda x: np.sum(polynomial.polyroots(held) * x)
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(scipy.spatial.geometric_slerp(np.array([1.0, 0]), np.eye(2)[1], 0.3)) * x,
        lambda x: np.sum(chebyshev.chebroots([3, 0, 0.5]).real) * x,
        lambda x: np.sum(scipy.special.ndtri(SMALL)) * x,
        lambda x: np.sum(np.linalg.inv(SMALL)) * x,
        lambda x: np.sum(np.median(np.array([1, 2, 3]))) * x,
    ],
)
def test_what_depends_on_types_alone_is_not_checked(function: Callable[[Any], Any]) -> None:
    assert "check_result" not in source_of(function)


@pytest.mark.parametrize("of", [gs.jacfwd, gs.jacrev, gs.hessian])
def test_a_check_in_a_loop_or_branch_is_no_effect(of: Callable[..., Any]) -> None:
    def function(x: Any) -> Any:
        total = np.sum(x)
        for _ in range(3):
            if total > 0:
                total = total + np.sum(polynomial.polyroots(REAL) * x[:1]) ** 2
        return total

    x = np.array([0.5, 0.8])
    first = of is not gs.hessian
    expected = differences(function if first else lambda x: gs.grad(function)(x)[0], x)
    found = of(function)(x) if first else of(function)(x)[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)
