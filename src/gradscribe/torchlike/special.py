"""`torchlike.special`: special functions of Tensors, under PyTorch's names. Most need SciPy.

Functions that `gs` has, too, are the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.runtime.arrays.rows import FUNCTION, OUT, Table
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, reductions, special
from gradscribe.runtime.operations.adaptors import FLOATING, named
from gradscribe.runtime.operations.eager import apply
from gradscribe.runtime.operations.spellings import publish
from gradscribe.runtime.tensors.promotion import divisible, divisible_arrays
from gradscribe.runtime.tensors.tensor import Tensor

SPECIAL = Table("torchlike.special")

exp2 = SPECIAL.also("exp2", elementwise.exp2)
expm1 = SPECIAL.also("expm1", elementwise.expm1)
log1p = SPECIAL.also("log1p", elementwise.log1p)
sinc = SPECIAL.also("sinc", elementwise.sinc)
round = SPECIAL.also("round", functions.round)
expit = SPECIAL.also("expit", elementwise.sigmoid)
logit = SPECIAL.also("logit", functions.logit)
xlogy = SPECIAL.also("xlogy", elementwise.xlogy)
logsumexp = SPECIAL.also("logsumexp", reductions.logsumexp)
softmax = SPECIAL.also("softmax", reductions.softmax)
log_softmax = SPECIAL.also("log_softmax", reductions.log_softmax)
erf = SPECIAL.also("erf", special.erf)
erfc = SPECIAL.also("erfc", special.erfc)
erfinv = SPECIAL.also("erfinv", special.erfinv)
gammaln = SPECIAL.also("gammaln", special.lgamma)
multigammaln = SPECIAL.also("multigammaln", special.mvlgamma)
polygamma = SPECIAL.also("polygamma", special.polygamma)
gammainc = SPECIAL.also("gammainc", special.igamma)
gammaincc = SPECIAL.also("gammaincc", special.igammac)
digamma = SPECIAL.also("digamma", special.digamma)
psi = SPECIAL.also("psi", special.digamma)
i0 = SPECIAL.also("i0", special.i0)
modified_bessel_i0 = SPECIAL.also("modified_bessel_i0", special.i0)


def _special(name: str, node: str, meaning: str) -> Callable[..., Tensor]:
    return special.made(name, meaning, f"Special{node}", table=SPECIAL)


airy_ai = _special("airy_ai", "AiryAi", "The Airy function Ai.")
bessel_j0 = _special("bessel_j0", "BesselJ0", "The Bessel function J of order 0.")
bessel_j1 = _special("bessel_j1", "BesselJ1", "The Bessel function J of order 1.")
bessel_y0 = _special("bessel_y0", "BesselY0", "The Bessel function Y of order 0.")
bessel_y1 = _special("bessel_y1", "BesselY1", "The Bessel function Y of order 1.")
entr = _special("entr", "Entr", "-x * log(x), 0 at 0.")
erfcx = _special("erfcx", "Erfcx", "exp(x**2) * erfc(x).")
i0e = _special("i0e", "I0E", "exp(-|x|) * i0(x).")
i1 = _special("i1", "I1", "The modified Bessel function I of order 1.")
i1e = _special("i1e", "I1E", "exp(-|x|) * i1(x).")
modified_bessel_i1 = SPECIAL.also("modified_bessel_i1", i1)
modified_bessel_k0 = _special(
    "modified_bessel_k0", "ModifiedBesselK0", "The modified Bessel function K of order 0."
)
modified_bessel_k1 = _special(
    "modified_bessel_k1", "ModifiedBesselK1", "The modified Bessel function K of order 1."
)
scaled_modified_bessel_k0 = _special(
    "scaled_modified_bessel_k0",
    "ScaledModifiedBesselK0",
    "exp(x) * modified_bessel_k0(x).",
)
scaled_modified_bessel_k1 = _special(
    "scaled_modified_bessel_k1",
    "ScaledModifiedBesselK1",
    "exp(x) * modified_bessel_k1(x).",
)
spherical_bessel_j0 = _special("spherical_bessel_j0", "SphericalBesselJ0", "sin(x) / x.")
ndtr = _special("ndtr", "Ndtr", "The distribution function of the normal distribution.")
log_ndtr = _special("log_ndtr", "LogNdtr", "The logarithm of `ndtr`.")
ndtri = _special("ndtri", "Ndtri", "The inverse of `ndtr`.")


_OF_TWO = SPECIAL.operation(FUNCTION | OUT, shapes="(…), (…) -> (…)", dtypes=FLOATING)


def _of_two(name: str, node: str, meaning: str) -> Callable[..., Tensor]:
    """`name(x, other)`, a floating number also of integers."""
    special.by_scipy(name, node)

    def function(input: Any, other: Any) -> Tensor:
        return apply(special.row_of(name), divisible_arrays(input, other))

    return _OF_TWO(named(function, name, meaning))


def _polynomial(name: str, node: str, shifted: bool = False) -> Callable[..., Tensor]:
    """`name(x, n)`, of the degree n; shifted: of 2 * x - 1."""
    row = name.removeprefix("shifted_")
    special.by_scipy(row, node.replace("Shifted", ""))

    def function(input: Any, n: Any) -> Tensor:
        x, degree = divisible(input, n)
        if shifted:
            x = elementwise.sub(elementwise.mul(x, 2), 1)
        result = apply(special.row_of(row), (x, degree))
        return functions.to_dtype(result, x.dtype) if isinstance(x, Tensor) else result

    return _OF_TWO(named(function, name, f"The {name.replace('_', ' ')} of degree n at x."))


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

__all__ = publish(SPECIAL, globals())
