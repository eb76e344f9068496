"""Factorizations, whose results are tuples: used as users use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.primitives.registry import PRIMITIVES
from tests.primitives.cases import array, positive, regular

WEIGHTS = np.sin(np.arange(9.0)).reshape(3, 3)


def slogdet(a: Any) -> Any:
    sign, log = np.linalg.slogdet(a)
    return np.sum(sign * log**2)


def eigenvalues_and_vectors(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum((v * WEIGHTS) ** 2) + np.sum(np.exp(-w))


def eigenvectors_alone(a: Any) -> Any:
    return np.sum(np.linalg.eigh(a, "U")[1] ** 2 * WEIGHTS)


def singular_vectors(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum((u * WEIGHTS[0]) ** 2) + np.sum((vh.T @ vh) * WEIGHTS) + s[0] * s[1]


def both_vectors(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (
        np.sum((u * s) @ vh * np.sin(a)) + np.sum(u * u * WEIGHTS[0]) + np.sum(vh[0] ** 3 * vh[0])
    )


def singular_values(a: Any) -> Any:
    return np.sum(np.linalg.svd(a, compute_uv=False) ** 3)


def orthonormal_and_triangular(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    return np.sum(q**3) + np.sum(r**2 * WEIGHTS)


def least_squares(a: Any) -> Any:
    solution, residuals, _, values = np.linalg.lstsq(a, np.sin(a[:, 0] * 3 + np.arange(4.0)))
    return np.sum(solution**2) + np.sum(residuals * 2.0) + np.sum(values**3)


def least_squares_of_columns(a: Any) -> Any:
    solution, residuals, _, _ = np.linalg.lstsq(a, np.exp(a[:, ::-1] ** 2))
    return np.sum(solution * np.exp(solution)) + np.sum(residuals**2)


def mantissas(a: Any) -> Any:
    mantissa, exponent = np.frexp(a)
    return np.sum(mantissa**2 * exponent)


def determinant_of_singular(a: Any) -> Any:
    return np.linalg.det(a - a[:1])


USES: list[tuple[Callable[[Any], Any], Any, Any]] = [
    (slogdet, np.linalg.slogdet, regular(3, 3)),
    (slogdet, np.linalg.slogdet, regular(2, 3, 3)),
    (eigenvalues_and_vectors, np.linalg.eigh, positive(3, 3)),
    (eigenvalues_and_vectors, np.linalg.eigh, positive(2, 3, 3)),
    (eigenvectors_alone, np.linalg.eigh, positive(3, 3)),
    (singular_vectors, np.linalg.svd, regular(3, 3)),
    (both_vectors, np.linalg.svd, array(4, 3)),
    (singular_values, np.linalg.svd, array(3, 4)),
    (determinant_of_singular, np.linalg.det, array(3, 3)),
    (singular_values, np.linalg.svd, array(2, 4, 3)),
    (orthonormal_and_triangular, np.linalg.qr, regular(3, 3)),
    (orthonormal_and_triangular, np.linalg.qr, array(5, 3)),
    (orthonormal_and_triangular, np.linalg.qr, array(2, 4, 3)),
    (least_squares, np.linalg.lstsq, array(4, 3)),
    (least_squares, np.linalg.lstsq, array(4, 5)),
    (least_squares_of_columns, np.linalg.lstsq, array(4, 2)),
    (mantissas, np.frexp, array(2, 3)),
]
TESTED = {PRIMITIVES[callee] for _, callee, _ in USES}


@pytest.mark.parametrize(("function", "callee", "matrix"), USES)
def test_both_modes_and_the_second_order(function: Any, callee: Any, matrix: Any) -> None:
    gs.testing.check_grad(function, matrix)


def test_equal_eigenvalues_give_no_nan() -> None:
    assert np.all(np.isfinite(gs.grad(lambda a: np.sum(np.linalg.eigh(a)[0]))(np.eye(3))))


def test_the_norm_of_zeros_has_gradient_zero() -> None:
    assert gs.grad(lambda x: np.linalg.norm(x))(np.zeros(3)).tolist() == [0, 0, 0]
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    gradient = gs.grad(lambda x: np.sum(np.linalg.norm(x, axis=1)))(rows)
    np.testing.assert_allclose(gradient, [[0, 0], [0.6, 0.8]])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: np.sum(np.linalg.qr(a, mode="raw")[0]), "leave `mode` out"),
        (lambda a: np.linalg.det(a), "a matrix has to be square"),
    ],
)
def test_what_has_no_derivative_is_refused(function: Any, message: str) -> None:
    with pytest.raises(gs.errors.UnsupportedError, match=message):
        gs.grad(function)(array(4, 3))
