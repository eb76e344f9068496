"""Matrices: their products, triangles and diagonals, and views of them that change."""

from __future__ import annotations

import numpy as np

import gradscribe as gs
from tests.frontend.oracles import check


def inverse_distances(x):
    d = np.sqrt((x - x[:, None]) ** 2)
    d[d > 0] = 1.0 / d[d > 0]
    return np.sum(np.triu(d, 1)) + np.sum(np.tril(d, -1) ** 2)


def test_a_pole_outside_of_a_triangle_is_cut_off():
    check(inverse_distances, np.array([1.0, 2.5, 4.5]), order=1)


def quadratic_form(x):
    B = np.array([[2.0, x[0]], [x[0], 3.0]])
    d = np.linalg.solve(B, x)
    t = d @ B
    t = t @ x
    return t * x


def test_products_of_vectors_are_not_taken_in_place():
    check(quadratic_form, np.array([0.5, 0.8]))


def bands(A):
    return np.diag(np.diag(A)) + np.diag(A[0, 1:], 1) - np.diag(A[0, :-1], -1)


def test_the_band_of_a_diagonal_matrix_is_no_data():
    check(bands, np.eye(3) + 1.5)


def jacobian_of_softmax(p):
    p = p.reshape(-1, 1)
    return np.diagflat(p) - p @ p.T


def test_a_column_is_put_on_a_diagonal():
    check(jacobian_of_softmax, np.array([0.2, 0.3, 0.5]))


def rotated_energy(x):
    z = np.diag([1.0, -1.0])
    shifted = np.diag((x, 2 * x), 1)
    return np.sum(np.kron(z, np.diag([x, 1.0]))) + np.sum(shifted[:2, 1:] @ z)


def test_lists_are_put_on_a_diagonal():
    check(rotated_energy, 1.5)


def polar(w, n):
    w = np.array([[w[0, 0], w[0, 1]], [w[1, 0], w[1, 1]]])
    for _ in range(n):
        u, _, vh = np.linalg.svd(w)
        w = (u @ vh).T @ w + w
    return w


def test_a_transposed_view_that_is_changed_in_place_is_a_variable():
    check(polar, np.array([[1.0, 0.2], [0.3, 2.0]]), 2, order=1)


def reflect(A):
    A = A.copy()
    for k in range(A.shape[1]):
        v = A[k:, k].copy()
        v /= np.sqrt(np.sum(v * v))
        A[k:, k:] -= 2 * np.outer(v, v @ A[k:, k:])
    return A


def test_a_product_with_a_recorded_view_rounds_as_in_plain_python() -> None:
    A = np.random.default_rng(0).normal(size=(7, 5))
    found, _ = gs.differentiable(reflect).specialize(A).forward(A)
    np.testing.assert_array_equal(found, reflect(A))
    gs.testing.check_grad(reflect, A)
