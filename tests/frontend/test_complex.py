"""Complex numbers: the gradient of a real loss is dL/d(Re z) + i dL/d(Im z), as in PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

Z = np.array([1 + 2j, 0.3 - 0.4j])
X = np.array([0.3, 0.7, -0.4, 1.1])


def differences(function: Any, z: Any, h: float = 1e-6) -> Any:
    """The gradient by central differences along both axes of each number."""
    gradient = np.zeros_like(z)
    for i in range(len(z)):
        for direction in (1, 1j):
            step = np.zeros_like(z)
            step[i] = h * direction
            gradient[i] += direction * (function(z + step) - function(z - step)) / (2 * h)
    return gradient


pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")

LOSSES: list[Any] = []


def loss(function: Any) -> Any:
    LOSSES.append(function)
    return function


@loss
def polynomial(z):
    return np.sum(np.abs(z * z - 1) ** 2)


@loss
def functions(z):
    return np.sum(np.abs(np.exp(z) * np.sin(z) / (z + 2) + np.sqrt(z) * np.log(z)) ** 2)


@loss
def more_functions(z):
    a = np.arctan(z).real + np.cosh(z).imag + np.expm1(z).real + np.log1p(z).real
    return np.sum(a + np.square(z).imag + np.reciprocal(z).real + np.tanh(z).imag)


@loss
def functions_of_real_numbers(z):  # NumPy's complex numbers give `math` their real part
    return abs(z[0] * math.cos(z[0])) + abs(z[1] * math.hypot(z[1], z[0])) + math.exp(z[1])


@loss
def powers(z):
    return np.sum(np.abs(2.0**z + z**z + z**3 + z**0.5))


@loss
def products(z):
    matrix = np.outer(z, z) + np.eye(2)
    return np.linalg.norm(matrix @ np.conj(z)) + np.abs(z @ z + np.inner(z, z.conj()))


@loss
def inner_products(z):
    return np.real(np.vdot(z, z**2)) + np.imag(np.vdot(z**2, 1j * z)) + np.abs(np.dot(z, z))


@loss
def systems(z):
    matrix = np.outer(z, z) + np.eye(2)
    return np.sum(np.abs(np.linalg.solve(matrix, z)) + np.abs(np.linalg.inv(matrix)))


@loss
def contractions(z):
    return np.sum(np.abs(np.einsum("i,j->ij", z, z.conj()) @ z) + np.abs(np.kron(z, z)[:2]))


@loss
def accumulated(z):
    parts = np.real(np.cumsum(z) * z)[0] + np.imag(np.mean(z)) + np.sum(np.abs(np.cumprod(z)))
    return np.abs(np.prod(z)) + np.angle(z[0]) + parts + np.sum(np.abs(np.convolve(z, z)))


@loss
def chosen(z):
    return np.sum(np.abs(np.where(z.real > 0.5, z * 1j, z))) + abs(z[[0, 0, 1]][1]) ** 3


@loss
def moments(z):
    return np.var(z) + np.std(z * 1j) + np.linalg.norm(z, 1) + np.linalg.norm(z * z, np.inf)


@loss
def stored(z):
    w = np.zeros(3, dtype=complex)
    for i in range(2):
        w[i] = z[i] * 1j**i
        w[2] += w[i].conjugate() * z[1]
    return abs(w[2]) + w.real[0] * w.imag[1]


@loss
def written_parts(z):
    w = z.copy()
    w.real = z.imag * 2
    w.imag[0] = z.real[1] ** 2
    return np.sum(w.real * w.imag)


@pytest.mark.parametrize("function", LOSSES, ids=lambda f: f.__name__)
def test_gradient_of_a_real_loss(function: Any) -> None:
    value, gradient = gs.value_and_grad(function)(Z)
    assert value == function(Z)
    np.testing.assert_allclose(gradient, differences(function, Z), rtol=1e-6, atol=1e-6)
    gs.testing.check_grad(function, Z, order=1)


def butterflies(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = butterflies(x[::2]), butterflies(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turned, even - turned])


def power_spectrum(x):
    return np.sum(np.abs(butterflies(x.astype(complex))) ** 2 * np.arange(len(x)))


def transform_by_loops(x):
    n = len(x)
    spectrum = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        for j in range(n):
            spectrum[k] += x[j] * np.exp(-2j * np.pi * k * j / n)
    return np.sum(spectrum.real**2 + spectrum.imag**2 * np.arange(n))


def iterated(x):
    z = complex(x[0], x[1])
    for _ in range(5):
        z = z * z + complex(x[2], x[3]) * 0.1
    return z.real**2 + z.imag + abs(z)


def phases(x):
    z = x[0] + 1j * x[1]
    wave = z * np.exp(1j * x[2])
    return np.angle(wave) + (wave.conjugate() * z).real + wave.imag


@pytest.mark.parametrize("function", [power_spectrum, transform_by_loops, iterated, phases])
def test_real_programs_that_compute_with_complex_numbers(function: Any) -> None:
    gs.testing.check_grad(function, X, order=2)


def test_python_numbers() -> None:
    def modulus(z, w):
        return abs(z * w + z.conjugate()) + w.real * z.imag

    d_z, d_w = gs.grad(modulus, argnums=(0, 1))(0.3 + 0.4j, 1.5)
    assert type(d_w) in (float, np.float64)
    h = 1e-6
    across = modulus(0.3 + 0.4j + h * 1j, 1.5) - modulus(0.3 + 0.4j - h * 1j, 1.5)
    along = modulus(0.3 + 0.4j + h, 1.5) - modulus(0.3 + 0.4j - h, 1.5)
    assert abs(d_z - (along + 1j * across) / (2 * h)) < 1e-8


def test_modulus_at_zero_has_gradient_zero() -> None:
    np.testing.assert_array_equal(gs.grad(lambda z: np.sum(np.abs(z)))(Z * 0), Z * 0)


def test_real_programs_say_nothing_of_conjugates() -> None:
    text = gs.differentiable(lambda x: np.sum(x * x) + np.var(x)).specialize(X)
    assert "conj" not in text.gradient_source + text.tangent_source
    assert "real" not in text.gradient_source + text.tangent_source


@pytest.mark.parametrize(
    "function", [lambda z: np.sum(np.sign(z)).real, lambda z: np.sum(np.median(z)).real]
)
def test_what_has_no_complex_derivative_is_refused(function: Any) -> None:
    with pytest.raises(errors.UnsupportedError, match="of complex numbers cannot be"):
        gs.grad(function)(np.outer(Z, Z))


def augmented_parts(z):
    w = z.copy()
    w.real += 2 * z.imag
    w.imag *= 3
    w.imag[1] += w.real[0]
    return np.sum(w.real * w.imag)


def filled_parts(x):
    w = np.empty(len(x), dtype=complex)
    w.real = x
    w.imag = x**2
    return np.abs(w)


@pytest.mark.parametrize(("function", "argument"), [(augmented_parts, Z), (filled_parts, X)])
def test_parts_of_arrays_are_stored_to(function: Any, argument: Any) -> None:
    np.testing.assert_array_equal(gs.vjp(function, argument)[0], function(argument))
    gs.testing.check_grad(function, argument)


def test_a_real_array_has_no_imaginary_part_to_set() -> None:
    def wrong(x):
        x.imag = x
        return x

    with pytest.raises(errors.UnsupportedError, match="does not have imaginary part"):
        gs.vjp(wrong, X)


def one_of(x, z, number):
    return (x if number > 0 else z) * z


def multiplied(x, z, number):
    product = x
    for _ in range(number):
        product = product * z
    return product


def item_of(x, z, number):
    return [x, z, x][number] * z


@pytest.mark.parametrize("function", [one_of, multiplied, item_of])
def test_a_real_number_joined_with_complex_ones_has_a_real_gradient(function: Any) -> None:
    d_x, d_z, _ = gs.vjp(function, 0.4, 1 + 2j, 2)[1](0.3 - 0.7j)
    assert np.isrealobj(d_x)
    assert np.iscomplexobj(d_z)
    gs.testing.check_grad(lambda x, z: function(x, z, 2), 0.4, 1 + 2j)


def test_a_complex_number_has_a_complex_gradient() -> None:
    for z in (1j, np.complex64(1j), np.complex128(1j)):
        gradient = gs.grad(lambda z: z.real * 2)(z)
        assert np.iscomplexobj(gradient)
        assert np.asarray(gradient).dtype == np.asarray(z).dtype


def test_a_path_for_complex_numbers_has_second_derivatives() -> None:
    gs.testing.check_grad(lambda z: np.real(z**2 if np.iscomplex(z) else np.sum(z)), 2 + 1j)


def test_the_widest_complex_numbers_keep_their_dtype() -> None:
    z = Z.astype(np.clongdouble)
    assert gs.grad(lambda z: np.real(np.sum(z**2)))(z).dtype == z.dtype
    assert isinstance(gs.grad(lambda z: np.real(z**2))(z[0]), np.clongdouble)
