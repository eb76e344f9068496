"""What `linalg` tells of matrices that an operation fails for, and how it takes `out=`."""

import math

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

SINGULAR = gs.tensor([[1.0, 2.0], [2.0, 4.0]])
INDEFINITE = gs.tensor([[1.0, 2.0], [2.0, 1.0]])
REGULAR = gs.tensor([[4.0, 1.0], [1.0, 3.0]])
WITH_SINGULAR, WITH_INDEFINITE = (gs.stack([REGULAR, bad]) for bad in (SINGULAR, INDEFINITE))
ERRORS = [
    (
        lambda: torchlike.linalg.inv(WITH_SINGULAR),
        "linalg.inv: (Batch element 1): The diagonal element 2 is zero, the inversion could not be "
        "completed because the input matrix is singular.",
    ),
    (
        lambda: torchlike.linalg.inv_ex(SINGULAR, check_errors=True),
        "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because "
        "the input matrix is singular.",
    ),
    (
        lambda: torchlike.linalg.cholesky(WITH_INDEFINITE),
        "linalg.cholesky: (Batch element 1): The factorization could not be completed because the "
        "input is not positive-definite (the leading minor of order 2 is not positive-definite).",
    ),
    (
        lambda: torchlike.linalg.lu_factor(SINGULAR),
        "torch.linalg.lu_factor: U[2,2] is zero and using it on lu_solve would result in a "
        "division by zero. If you still want to perform the factorization, consider calling "
        "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
    ),
    (
        lambda: torchlike.linalg.eig(gs.full((2, 2), math.nan)),
        "torch.linalg.eig: input tensor should not contain infs or NaNs.",
    ),
    (
        lambda: torchlike.linalg.cond(gs.ones(3)),
        "linalg.cond: The input tensor must have at least 2 dimensions.",
    ),
    (
        lambda: torchlike.linalg.vector_norm(gs.tensor([3j]), dtype=gs.float64),
        "linalg.vector_norm: dtype should be complex for complex inputs, but got Double",
    ),
    (
        lambda: torchlike.linalg.vector_norm(gs.ones(2), dtype=gs.float32),
        "linalg.vector_norm: the dtype of the input (Double) should be convertible without "
        "narrowing to the specified dtype (Float)",
    ),
    (
        lambda: torchlike.linalg.tensorinv(gs.ones(2, 3), ind=1),
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
        "prod(self.shape[:ind]), but got 3 != 2",
    ),
    (
        lambda: torchlike.linalg.multi_dot([SINGULAR]),
        "multi_dot(): expected at least 2 tensors but got 1",
    ),
    (
        lambda: torchlike.linalg.householder_product(gs.ones(2, 3), gs.ones(2)),
        "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
        "input.shape[-1]",
    ),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_failures_are_told_in_pytorchs_words(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("attempt", "matrices", "infos"),
    [
        (torchlike.linalg.inv_ex, WITH_SINGULAR, [0, 2]),
        (torchlike.linalg.cholesky_ex, WITH_INDEFINITE, [0, 2]),
        (lambda A: torchlike.linalg.solve_ex(A, gs.ones(2, 3)), WITH_SINGULAR, [0, 2]),
    ],
)
def test_matrices_that_fail_give_nan_and_the_others_their_results_and_gradients(
    attempt, matrices, infos
):
    A = matrices.clone().requires_grad_()
    result, told = attempt(A)
    assert told.tolist() == infos
    expected, none = attempt(matrices[:1])
    assert none.tolist() == [0]
    np.testing.assert_allclose(result[0].detach().numpy(), expected[0].numpy())
    assert np.isnan(result[1].detach().numpy()).all()
    result[0].sum().backward()
    alone = matrices[:1].clone().requires_grad_()
    attempt(alone)[0].sum().backward()
    np.testing.assert_allclose(A.grad[0].numpy(), alone.grad[0].numpy())
    assert A.grad[1].tolist() == [[0, 0], [0, 0]]


def test_factors_of_singular_matrices_have_no_nan():
    zero = torchlike.linalg.lu_factor_ex(gs.zeros(2, 2))
    assert (zero.LU.tolist(), zero.info.item()) == ([[0, 0], [0, 0]], 1)
    P, L, U = torchlike.linalg.lu(SINGULAR)
    np.testing.assert_allclose((P @ L @ U).numpy(), SINGULAR.numpy())


def test_singular_matrices_are_infinitely_badly_conditioned():
    assert torchlike.linalg.cond(WITH_SINGULAR, 1)[1].item() == math.inf


def test_factors_solve_equations_of_other_stacks():
    right = gs.rand(4, 2, 3)
    matrices = gs.stack([REGULAR, INDEFINITE])[:, None]
    found = torchlike.linalg.lu_solve(*torchlike.linalg.lu_factor(matrices), right)
    np.testing.assert_allclose(found.numpy(), np.linalg.solve(matrices.numpy(), right.numpy()))


def test_the_exponential_of_nan_is_nan():
    assert np.isnan(torchlike.linalg.matrix_exp(gs.full((2, 2), math.nan)).numpy()).all()


def test_results_are_stored_where_out_says():
    inverse, values, vectors = (gs.empty(0) for _ in range(3))
    assert torchlike.linalg.inv(REGULAR, out=inverse) is inverse
    np.testing.assert_allclose((inverse @ REGULAR).numpy(), np.eye(2), atol=1e-12)
    torchlike.linalg.eigh(REGULAR, out=(values, vectors))
    np.testing.assert_allclose((vectors * values @ vectors.mT).numpy(), REGULAR.numpy())
    assert torchlike.linalg.norm(REGULAR, ord=1, axis=(-2, -1)).item() == 5.0
