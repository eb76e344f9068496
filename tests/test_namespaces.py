"""`linalg`, `fft`, `special`, `signal.windows` of `torchlike`: values as NumPy's or SciPy's,
derivatives of both orders, the same in compiled functions."""

import subprocess
import sys

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

rng = np.random.default_rng(0)
A = rng.standard_normal((3, 3)) + 3 * np.eye(3)
TALL, WIDE, ROW = rng.standard_normal((4, 2)), rng.standard_normal((2, 4)), rng.standard_normal(3)
B, STACK = rng.standard_normal((3, 2)), rng.standard_normal((2, 3, 3)) + 3 * np.eye(3)
POSITIVE = A @ A.T
Z = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3)) + 3 * np.eye(3)
HERMITIAN = Z @ Z.conj().T
L, F = torchlike.linalg, torchlike.fft

LINALG = {
    "cond": (lambda a: L.cond(a), (A,), np.linalg.cond(A)),
    "cond 1": (lambda a: L.cond(a, 1), (A,), np.linalg.cond(A, 1)),
    "cross": (lambda a, b: L.cross(a, b), (A[:1], A), np.cross(A[:1], A)),
    "det": (lambda a: L.det(a), (STACK,), np.linalg.det(STACK)),
    "diagonal": (lambda a: L.diagonal(a, offset=1), (A,), np.diagonal(A, 1)),
    "inv": (lambda a: L.inv(a), (STACK,), np.linalg.inv(STACK)),
    "inv_ex": (lambda a: L.inv_ex(a).inverse, (A,), np.linalg.inv(A)),
    "cholesky": (lambda a: L.cholesky(a), (POSITIVE,), np.linalg.cholesky(POSITIVE)),
    "cholesky upper": (
        lambda a: L.cholesky(a, upper=True),
        (HERMITIAN,),
        np.linalg.cholesky(HERMITIAN).conj().T,
    ),
    "eigvalsh": (lambda a: L.eigvalsh(a), (POSITIVE,), np.linalg.eigvalsh(POSITIVE)),
    "eigvalsh of a triangle": (lambda a: L.eigvalsh(a, "U"), (A,), np.linalg.eigvalsh(A, "U")),
    "eigh": (lambda a: L.eigh(a)[1] ** 2, (POSITIVE,), np.linalg.eigh(POSITIVE)[1] ** 2),
    "eigvals": (lambda a: abs(L.eigvals(a)).sum(), (A,), np.abs(np.linalg.eigvals(A)).sum()),
    "lstsq": (lambda a, b: L.lstsq(a, b)[0], (TALL, TALL + 1), np.linalg.lstsq(TALL, TALL + 1)[0]),
    "lu": (lambda a: L.lu(a)[1] @ L.lu(a)[2], (TALL,), None),
    "lu_solve": (lambda a, b: L.lu_solve(*L.lu_factor(a), b), (A, B), np.linalg.solve(A, B)),
    "matrix_norm": (lambda a: L.matrix_norm(a, "nuc"), (A,), np.linalg.norm(A, "nuc")),
    "matrix_power": (lambda a: L.matrix_power(a, 3), (A,), A @ A @ A),
    "multi_dot": (lambda a, b: L.multi_dot([a, a, b]), (A, B), A @ A @ B),
    "norm": (lambda a: L.norm(a, 1), (A,), np.linalg.norm(A, 1)),
    "norm along an axis": (lambda a: L.norm(a, 3, 0), (A,), np.linalg.norm(A, 3, 0)),
    "pinv": (lambda a: L.pinv(a), (TALL,), np.linalg.pinv(TALL)),
    "qr": (lambda a: L.qr(a).Q, (TALL,), np.linalg.qr(TALL)[0]),
    "qr of wide": (lambda a: L.qr(a).R, (WIDE,), np.linalg.qr(WIDE)[1]),
    "slogdet": (lambda a: L.slogdet(a).logabsdet, (A,), np.linalg.slogdet(A)[1]),
    "solve": (lambda a, b: L.solve(a, b), (A, B), np.linalg.solve(A, B)),
    "solve from the right": (
        lambda a, b: L.solve(a, b, left=False),
        (A, B.T),
        np.linalg.solve(A.T, B).T,
    ),
    "solve a vector": (lambda a, b: L.solve(a, b), (A, ROW), np.linalg.solve(A, ROW)),
    "solve_triangular": (
        lambda a, b: L.solve_triangular(a, b, upper=True),
        (A, B),
        np.linalg.solve(np.triu(A), B),
    ),
    "svd": (lambda a: L.svd(a)[1], (WIDE,), np.linalg.svd(WIDE)[1]),
    "svdvals": (lambda a: L.svdvals(a), (TALL,), np.linalg.svd(TALL)[1]),
    "tensorinv": (lambda a: L.tensorinv(a, 1), (A,), np.linalg.inv(A)),
    "vander": (lambda x: L.vander(x, 3), (ROW,), np.vander(ROW, 3, increasing=True)),
    "vecdot": (lambda a, b: L.vecdot(a, b), (Z, Z + 1), np.vecdot(Z, Z + 1)),
    "vector_norm": (lambda a: L.vector_norm(a), (A,), np.sqrt((A**2).sum())),
    "vector_norm keepdim": (lambda a: L.vector_norm(a, 1, keepdim=True), (A,), [[abs(A).sum()]]),
}

FFT = {
    "fft": (lambda x: F.fft(x, 4), (Z,), np.fft.fft(Z, 4)),
    "rfft": (lambda x: F.rfft(x, dim=0, norm="ortho"), (A,), np.fft.rfft(A, None, 0, "ortho")),
    "irfft": (lambda x: F.irfft(x, 4), (Z,), np.fft.irfft(Z, 4)),
    "hfft": (lambda x: F.hfft(x), (Z,), np.fft.hfft(Z)),
    "ihfft": (lambda x: F.ihfft(x), (A,), np.fft.ihfft(A)),
    "fft2": (lambda x: F.fft2(x), (STACK,), np.fft.fft2(STACK)),
    "ifftn": (lambda x: F.ifftn(x, (2, -1)), (Z,), np.fft.ifftn(Z, (2, 3), (0, 1))),
    "rfftn": (lambda x: F.rfftn(x), (A,), np.fft.rfftn(A, axes=(0, 1))),
    "irfft2": (lambda x: F.irfft2(x), (Z,), np.fft.irfft2(Z)),
    "hfft2": (lambda x: F.hfft2(x), (Z,), np.fft.hfft(np.fft.fft(Z, axis=0))),
    "ihfftn": (lambda x: F.ihfftn(x), (A,), np.fft.ifft(np.fft.ihfft(A), axis=0)),
    "fftshift": (lambda x: F.fftshift(x), (A,), np.fft.fftshift(A)),
    "ifftshift": (lambda x: F.ifftshift(x, 0), (A,), np.fft.ifftshift(A, 0)),
}
CASES = {**LINALG, **FFT}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    function, arrays, value = CASES[name]
    inputs = [gs.tensor(array, requires_grad=True) for array in arrays]
    if value is not None:
        found = function(*inputs).detach().numpy()
        np.testing.assert_allclose(found, value, rtol=1e-8, atol=1e-10)
    if name.startswith(("cholesky", "eig")):  # of a matrix that stays Hermitian
        inputs = [gs.tensor(array, requires_grad=True) for array in arrays]

        def of_hermitian(a):
            return function((a + a.mH) / 2)

        assert gs.autograd.gradcheck(of_hermitian, inputs)
        return
    assert gs.autograd.gradcheck(function, inputs)
    assert gs.autograd.gradgradcheck(function, inputs, atol=1e-4)


@pytest.mark.parametrize("name", ["solve", "matrix_norm", "vander", "cross", "rfft", "ihfftn"])
def test_compiled_functions_may_call_them_with_arrays(name):
    function, arrays, _ = CASES[name]
    inputs = [gs.tensor(array, requires_grad=True) for array in arrays]
    result = abs(function(*inputs)).sum()
    expected = gs.autograd.grad(result, inputs)

    def program(*values):
        return abs(function(*values)).sum()

    value, found = gs.value_and_grad(program, argnums=tuple(range(len(arrays))))(*arrays)
    np.testing.assert_allclose(value, result.item())
    for gradient, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(gradient, wanted.numpy(), rtol=1e-8, atol=1e-10)


def test_gradients_of_hermitian_matrices_are_hermitian():
    for function in (L.cholesky, L.eigvalsh, lambda a: L.eigh(a).eigenvalues):
        x = gs.tensor(POSITIVE, requires_grad=True)
        (gradient,) = gs.autograd.grad((function(x) ** 2).sum(), x)
        np.testing.assert_allclose(gradient.numpy(), gradient.numpy().T)


def test_of_vectors_beyond_the_singular_values_the_space_has_a_derivative():
    x = gs.tensor(WIDE, requires_grad=True)
    u, s, vh = L.svd(x)
    assert (u.shape, s.shape, vh.shape) == ((2, 2), (2,), (4, 4))
    np.testing.assert_allclose((u @ torchlike.diag(s) @ vh[:2]).detach().numpy(), WIDE)
    np.testing.assert_allclose((vh @ vh.mH).detach().numpy(), np.eye(4), atol=1e-12)
    projection = vh[2:].mT @ vh[2:]
    of_others = gs.eye(4) - vh[:2].mT @ vh[:2]
    seed = gs.arange(16.0).reshape(4, 4)
    one, other = (
        gs.autograd.grad(p, x, seed, retain_graph=True)[0].numpy() for p in (projection, of_others)
    )
    np.testing.assert_allclose(one, other, atol=1e-12)
    with pytest.raises(RuntimeError, match="depends on which columns complete a basis"):
        gs.autograd.grad(vh[2:].sum(), x)


def test_ranks_and_thresholds():
    x = gs.tensor([[1.0, 0.0], [0.0, 1e-9]])
    assert L.matrix_rank(x).item() == 2
    assert L.matrix_rank(x, atol=1e-6).item() == 1
    np.testing.assert_allclose(L.pinv(x, rtol=1e-6).numpy(), [[1, 0], [0, 0]])


def test_numbers_of_numpy_are_arguments():
    x = gs.tensor(TALL, requires_grad=True)
    np.testing.assert_allclose(
        np.linalg.pinv(x, np.float64(1e-10)).detach().numpy(), np.linalg.pinv(TALL)
    )
    assert np.clip(x, np.float64(0), np.float64(1)).requires_grad


def test_singular_matrices_are_refused():
    for call in (L.inv, lambda a: L.solve(a, gs.ones(2))):
        with pytest.raises(L.LinAlgError, match="singular"):
            call(gs.zeros((2, 2)))
    with pytest.raises(RuntimeError, match=r"linalg\.cholesky: The factorization could not be"):
        L.cholesky(-gs.eye(2))


X = np.array([0.2, 0.5, 0.9])
SPECIAL = {
    "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "entr": "entr",
    "erfcx": "erfcx", "expit": "expit", "gammaln": "gammaln", "i0e": "i0e", "i1": "i1",
    "i1e": "i1e", "log_ndtr": "log_ndtr", "logit": "logit", "modified_bessel_k0": "k0",
    "ndtr": "ndtr", "ndtri": "ndtri", "psi": "psi", "scaled_modified_bessel_k1": "k1e",
}  # fmt: skip
POLYNOMIALS = {
    "chebyshev_polynomial_t": "eval_chebyt", "chebyshev_polynomial_u": "eval_chebyu",
    "hermite_polynomial_h": "eval_hermite", "hermite_polynomial_he": "eval_hermitenorm",
    "laguerre_polynomial_l": "eval_laguerre", "legendre_polynomial_p": "eval_legendre",
    "shifted_chebyshev_polynomial_t": "eval_sh_chebyt",
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name):
    scipy = pytest.importorskip("scipy.special")
    function = getattr(torchlike.special, name)
    x = gs.tensor(X, requires_grad=True)
    np.testing.assert_allclose(function(x).detach().numpy(), getattr(scipy, SPECIAL[name])(X))
    assert gs.autograd.gradcheck(function, x)


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name):
    scipy = pytest.importorskip("scipy.special")
    function = getattr(torchlike.special, name)
    x = gs.tensor(X, requires_grad=True)
    np.testing.assert_allclose(
        function(x, 3).detach().numpy(), getattr(scipy, POLYNOMIALS[name])(3, X)
    )
    assert function(x, -2).tolist() == [0.0] * 3
    assert gs.autograd.gradcheck(lambda x: function(x, 3), x)


def test_polynomials_of_the_third_and_fourth_kind():
    pytest.importorskip("scipy.special")
    angle = np.arccos(X)
    for name, wave in (("v", np.cos), ("w", np.sin)):
        found = getattr(torchlike.special, f"chebyshev_polynomial_{name}")(gs.tensor(X), 4)
        expected = wave(4.5 * angle) / wave(angle / 2)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


WINDOWS = {
    "bartlett": ({}, lambda k, n: 1 - abs(2 * k / n - 1)),
    "blackman": (
        {},
        lambda k, n: 0.42 - 0.5 * np.cos(2 * np.pi * k / n) + 0.08 * np.cos(4 * np.pi * k / n),
    ),
    "cosine": ({}, lambda k, n: np.sin(np.pi * (k + 0.5) / (n + 1))),
    "exponential": ({"tau": 2.0}, lambda k, n: np.exp(-abs(k - n / 2) / 2)),
    "gaussian": ({"std": 2.0}, lambda k, n: np.exp(-((k - n / 2) ** 2) / 8)),
    "general_cosine": ({"a": [0.7, 0.3]}, lambda k, n: 0.7 - 0.3 * np.cos(2 * np.pi * k / n)),
    "general_hamming": ({"alpha": 0.6}, lambda k, n: 0.6 - 0.4 * np.cos(2 * np.pi * k / n)),
    "hamming": ({}, lambda k, n: 0.54 - 0.46 * np.cos(2 * np.pi * k / n)),
    "hann": ({}, lambda k, n: np.sin(np.pi * k / n) ** 2),
    "kaiser": ({"beta": 5.0}, lambda k, n: np.i0(5 * np.sqrt(1 - (2 * k / n - 1) ** 2)) / np.i0(5)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    options, formula = WINDOWS[name]
    window = getattr(torchlike.signal.windows, name)
    symmetric = window(7, **options).numpy()
    np.testing.assert_allclose(symmetric, formula(np.arange(7), 6.0), atol=1e-12)
    np.testing.assert_allclose(symmetric, symmetric[::-1], atol=1e-12)
    np.testing.assert_allclose(window(6, sym=False, **options).numpy(), symmetric[:6], atol=1e-12)
    assert window(1, **options).tolist() == [1.0]


def test_frequencies():
    np.testing.assert_allclose(F.fftfreq(5, 0.5).numpy(), np.fft.fftfreq(5, 0.5))
    np.testing.assert_allclose(F.rfftfreq(6).numpy(), np.fft.rfftfreq(6))


def test_modules_are_imported_when_first_named():
    program = (
        "import sys, gradscribe as gs\n"
        "assert 'gradscribe.torchlike' not in sys.modules\n"
        "from gradscribe import torchlike\n"
        "named = [n for n in ('nn', 'linalg', 'fft', 'special', 'signal')"
        " if 'gradscribe.torchlike.' + n in sys.modules]\n"
        "assert named == [], named\n"
        "torchlike.linalg.det, torchlike.signal.windows.hann, torchlike.nn.functional.relu\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
