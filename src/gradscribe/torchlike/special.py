"""`torchlike.special`: special functions of Tensors, under PyTorch's names. Most need SciPy.

Functions that `gs` has, too, are the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import special
from gradscribe.runtime.operations.eager import apply
from gradscribe.runtime.operations.outputs import into
from gradscribe.runtime.tensors.promotion import divisible, divisible_arrays
from gradscribe.runtime.tensors.tensor import Tensor

# fmt: off
__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t",
    "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr",
    "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln",
    "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e",
    "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit",
    "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
    "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py", "xlogy",
    "zeta",
]
# fmt: on

exp2, expm1, log1p, sinc, round = (
    functions.exp2,
    functions.expm1,
    functions.log1p,
    functions.sinc,
    functions.round,
)
expit, logit, xlogy = functions.sigmoid, functions.logit, functions.xlogy
logsumexp, softmax, log_softmax = functions.logsumexp, functions.softmax, functions.log_softmax
erf, erfc, erfinv = special.erf, special.erfc, special.erfinv
gammaln, multigammaln, polygamma = special.lgamma, special.mvlgamma, special.polygamma
gammainc, gammaincc = special.igamma, special.igammac
digamma = psi = special.digamma
i0 = modified_bessel_i0 = special.i0

airy_ai = special._special("airy_ai", "SpecialAiryAi", "The Airy function Ai.")
bessel_j0 = special._special("bessel_j0", "SpecialBesselJ0", "The Bessel function J of order 0.")
bessel_j1 = special._special("bessel_j1", "SpecialBesselJ1", "The Bessel function J of order 1.")
bessel_y0 = special._special("bessel_y0", "SpecialBesselY0", "The Bessel function Y of order 0.")
bessel_y1 = special._special("bessel_y1", "SpecialBesselY1", "The Bessel function Y of order 1.")
entr = special._special("entr", "SpecialEntr", "-x * log(x), 0 at 0.")
erfcx = special._special("erfcx", "SpecialErfcx", "exp(x**2) * erfc(x).")
i0e = special._special("i0e", "SpecialI0E", "exp(-|x|) * i0(x).")
i1 = special._special("i1", "SpecialI1", "The modified Bessel function I of order 1.")
i1e = special._special("i1e", "SpecialI1E", "exp(-|x|) * i1(x).")
modified_bessel_i1 = i1
modified_bessel_k0 = special._special(
    "modified_bessel_k0", "SpecialModifiedBesselK0", "The modified Bessel function K of order 0."
)
modified_bessel_k1 = special._special(
    "modified_bessel_k1", "SpecialModifiedBesselK1", "The modified Bessel function K of order 1."
)
scaled_modified_bessel_k0 = special._special(
    "scaled_modified_bessel_k0",
    "SpecialScaledModifiedBesselK0",
    "exp(x) * modified_bessel_k0(x).",
)
scaled_modified_bessel_k1 = special._special(
    "scaled_modified_bessel_k1",
    "SpecialScaledModifiedBesselK1",
    "exp(x) * modified_bessel_k1(x).",
)
spherical_bessel_j0 = special._special(
    "spherical_bessel_j0", "SpecialSphericalBesselJ0", "sin(x) / x."
)
ndtr = special._special(
    "ndtr", "SpecialNdtr", "The distribution function of the normal distribution."
)
log_ndtr = special._special("log_ndtr", "SpecialLogNdtr", "The logarithm of `ndtr`.")
ndtri = special._special("ndtri", "SpecialNdtri", "The inverse of `ndtr`.")


def _of_two(name: str, node: str, meaning: str) -> Callable[..., Tensor]:
    """`name(x, other)`, a floating number also of integers."""

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        result = apply(special._row(name, node), divisible_arrays(input, other))
        return result if out is None else into(out, result, name)

    return special.described(function, name, meaning)


def _polynomial(name: str, node: str, shifted: bool = False) -> Callable[..., Tensor]:
    """`name(x, n)`, of the degree n; shifted: of 2 * x - 1."""
    row = name.removeprefix("shifted_")

    def function(input: Any, n: Any, *, out: Tensor | None = None) -> Tensor:
        x, degree = divisible(input, n)
        if shifted:
            x = functions.sub(functions.mul(x, 2), 1)
        result = apply(special._row(row, node), (x, degree))
        if isinstance(x, Tensor):
            result = functions.to_dtype(result, x.dtype)
        return result if out is None else into(out, result, name)

    return special.described(function, name, f"The {name.replace('_', ' ')} of degree n at x.")


xlog1py = _of_two("xlog1py", "SpecialXlog1Py", "x * log1p(y), 0 where x is.")
zeta = _of_two("zeta", "SpecialZeta", "The Hurwitz zeta function; its derivative in q is known.")
chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t", "SpecialChebyshevPolynomialT")
chebyshev_polynomial_u = _polynomial("chebyshev_polynomial_u", "SpecialChebyshevPolynomialU")
chebyshev_polynomial_v = _polynomial("chebyshev_polynomial_v", "SpecialChebyshevPolynomialV")
chebyshev_polynomial_w = _polynomial("chebyshev_polynomial_w", "SpecialChebyshevPolynomialW")
shifted_chebyshev_polynomial_t = _polynomial(
    "shifted_chebyshev_polynomial_t", "SpecialShiftedChebyshevPolynomialT", True
)
shifted_chebyshev_polynomial_u = _polynomial(
    "shifted_chebyshev_polynomial_u", "SpecialShiftedChebyshevPolynomialU", True
)
shifted_chebyshev_polynomial_v = _polynomial(
    "shifted_chebyshev_polynomial_v", "SpecialShiftedChebyshevPolynomialV", True
)
shifted_chebyshev_polynomial_w = _polynomial(
    "shifted_chebyshev_polynomial_w", "SpecialShiftedChebyshevPolynomialW", True
)
hermite_polynomial_h = _polynomial("hermite_polynomial_h", "SpecialHermitePolynomialH")
hermite_polynomial_he = _polynomial("hermite_polynomial_he", "SpecialHermitePolynomialHe")
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", "SpecialLaguerrePolynomialL")
legendre_polynomial_p = _polynomial("legendre_polynomial_p", "SpecialLegendrePolynomialP")
