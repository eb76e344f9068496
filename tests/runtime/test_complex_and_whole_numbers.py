"""Functions of Tensors of complex numbers, of integers, and of single precision."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.autograd import gradcheck, gradgradcheck

rng = np.random.default_rng(0)
Z = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
POSITIVE = Z @ Z.conj().T + 3 * np.eye(3)
ROW = Z[0]


def test_vdot_conjugates_its_first_operand():
    x, y = gs.tensor(ROW, requires_grad=True), gs.tensor(Z[1], requires_grad=True)
    np.testing.assert_allclose(torchlike.vdot(x, y).item(), np.vdot(ROW, Z[1]))
    assert gs.autograd.gradcheck(torchlike.vdot, (x, y))


def test_inner_is_over_the_last_axes():
    x, y = rng.standard_normal((2, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(torchlike.inner(gs.tensor(x), gs.tensor(y)).numpy(), x @ y.T)


def test_logsumexp_has_the_principal_logarithm():
    z = np.array([1.0 + 9j, 2.0 - 40j])
    x = gs.tensor(z, requires_grad=True)
    found = gs.logsumexp(x, 0)
    np.testing.assert_allclose(found.item(), np.log(np.exp(z).sum()))
    assert gs.autograd.gradcheck(lambda x: gs.logsumexp(x, 0), x)


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_factors_solve_hermitian_equations(upper):
    factor = torchlike.cholesky(gs.tensor(POSITIVE), upper)
    inverse = torchlike.cholesky_inverse(factor, upper)
    np.testing.assert_allclose(inverse.numpy(), np.linalg.inv(POSITIVE))
    solution = torchlike.cholesky_solve(gs.tensor(Z), factor, upper)
    np.testing.assert_allclose(solution.numpy(), np.linalg.solve(POSITIVE, Z))


def test_reflections_are_unitary():
    q = torchlike.orgqr(*torchlike.geqrf(gs.tensor(Z)))
    np.testing.assert_allclose((q.mH @ q).numpy(), np.eye(3), atol=1e-12)
    raw, factors = torchlike.geqrf(gs.tensor(Z))
    back = torchlike.ormqr(
        raw, factors, torchlike.ormqr(raw, factors, gs.tensor(Z)), transpose=True
    )
    np.testing.assert_allclose(back.numpy(), Z)


def test_the_diagonal_of_a_hermitian_matrix_is_real():
    x = gs.tensor(POSITIVE + 1j * np.eye(3))
    np.testing.assert_allclose(torchlike.linalg.eigvalsh(x).numpy(), np.linalg.eigvalsh(POSITIVE))


def test_transforms_of_complex_frames_are_complex():
    signal = gs.tensor(np.exp(0.3j * np.arange(32.0)))
    assert torchlike.stft(signal, 8).dtype == gs.complex128


def test_means_of_integers_are_rounded_down():
    x, index, values = gs.tensor([0, 4]), gs.tensor([0, 1]), gs.tensor([-3, 1])
    assert torchlike.index_reduce(x, 0, index, values, "mean").tolist() == [-2, 2]


def test_integers_between_others_are_truncated():
    assert gs.linspace(-2, 1, 5, dtype=gs.int64).tolist() == [-2, -1, 0, 0, 1]


@pytest.mark.parametrize(
    "function",
    [
        torchlike.cov,
        torchlike.corrcoef,
        lambda x: torchlike.cov(x, fweights=gs.tensor([1, 2, 1])),
        lambda x: gs.logsumexp(x, 0),
        torchlike.linalg.pinv,
    ],
)
def test_single_precision_is_kept(function):
    assert function(gs.tensor(Z.real, dtype=gs.float32)).dtype == gs.float32


def test_polynomials_keep_single_precision():
    pytest.importorskip("scipy")
    x = gs.tensor([0.5], dtype=gs.float32)
    assert torchlike.special.chebyshev_polynomial_t(x, 3).dtype == gs.float32


def test_the_parts_of_a_complex_number_may_be_infinite():
    infinite = gs.tensor(float("inf"))
    assert torchlike.complex(gs.tensor(1.0), infinite).item() == complex(1.0, float("inf"))
    x = gs.tensor([3.0], requires_grad=True)
    whole = torchlike.complex(x, 4 / 3 * x)
    whole.abs().sum().backward()
    assert whole.grad_fn.name() == "ComplexBackward0"
    assert x.grad.item() == pytest.approx(5 / 3)


def test_complex_numbers_are_no_view_of_rows_of_odd_length():
    with pytest.raises(RuntimeError, match="must have a last dimension of size 2"):
        torchlike.view_as_complex(gs.ones(3, 3))
    with pytest.raises(RuntimeError, match="stride divisible by 2 for all but last dimension"):
        torchlike.view_as_complex(gs.ones(4, 3)[:, :2])


def test_weights_between_complex_numbers_may_be_complex():
    start, end, weight = gs.tensor([1 + 1j]), gs.tensor([2 + 2j]), gs.tensor([0.5 + 0.5j])
    assert torchlike.lerp(start, end, weight).item() == 1 + 2j


@pytest.mark.parametrize("name", ["sigmoid", "rsqrt", "softmax", "log_softmax"])
def test_recorded_gradients_of_complex_operands_are_conjugated(name):
    function, more = getattr(torchlike, name), (0,) * name.endswith("softmax")
    z = gs.tensor([0.3 + 0.4j, 0.2 - 0.7j], requires_grad=True)
    loss = (function(z, *more) * (1 + 2j)).abs().sum()
    (plain,) = gs.autograd.grad(loss, z, retain_graph=True)
    (recorded,) = gs.autograd.grad(loss, z, create_graph=True)
    np.testing.assert_allclose(recorded.detach().numpy(), plain.numpy(), rtol=1e-12)
    assert gs.autograd.gradcheck(lambda z: function(z, *more), (z,))


def test_sgn_of_complex_numbers_is_their_direction_and_has_a_derivative():
    z = gs.tensor([3 + 4j, 0.5 - 0.1j], requires_grad=True)
    assert gradcheck(torchlike.sgn, z)
    assert gradgradcheck(gs.abs, z)
    zero = gs.zeros(1, dtype=gs.complex128, requires_grad=True)
    torchlike.sgn(zero).sum().abs().backward()
    assert zero.grad.tolist() == [0]


def test_a_negative_base_has_a_derivative_by_a_complex_exponent():
    exponent = gs.tensor([0.3 + 0.2j, 0.5 - 0.1j], requires_grad=True)
    assert gradcheck(lambda y: gs.pow(-gs.ones(2), y), exponent)
    assert gradcheck(lambda y: gs.pow(-1, y), exponent)
