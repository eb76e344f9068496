"""`np.poly1d`, written in Python, and lowered as a user's class."""

from __future__ import annotations

from typing import Any

import numpy as np


class Polynomial:
    """A polynomial by its coefficients, the highest power first.

    given: the coefficients with leading zeros, which have derivatives, too; coeffs: without.
    """

    def __init__(self, c_or_r: Any, r: bool = False, variable: Any = None) -> None:
        c = np.poly(c_or_r) if r else np.atleast_1d(c_or_r)
        self.given = c if len(c) > 0 else np.zeros(1, dtype=c.dtype)
        trimmed = np.trim_zeros(self.given, "f")
        self.coeffs = trimmed if len(trimmed) > 0 else self.given[-1:]

    @property
    def c(self) -> Any:
        return self.coeffs

    @property
    def coef(self) -> Any:
        return self.coeffs

    @property
    def order(self) -> int:
        return max(len(self.coeffs) - 1, 0)

    @property
    def o(self) -> int:
        return self.order

    @property
    def roots(self) -> Any:
        return np.roots(self.coeffs)

    @property
    def r(self) -> Any:
        return np.roots(self.coeffs)

    def __call__(self, x: Any) -> Any:
        value = np.zeros_like(x) * x + self.given[0]
        for coefficient in self.given[1:]:
            value = value * x + coefficient
        return value

    def __len__(self) -> int:
        return self.order

    def __getitem__(self, power: int) -> Any:
        return self.coeffs[self.order - power] if 0 <= power <= self.order else 0.0

    def deriv(self, m: int = 1) -> Polynomial:
        return Polynomial(np.polyder(self.given, m))

    def integ(self, m: int = 1, k: Any = None) -> Polynomial:
        return Polynomial(np.polyint(self.given, m, k))

    def __neg__(self) -> Polynomial:
        return Polynomial(-self.given)

    def __pos__(self) -> Polynomial:
        return self

    def __add__(self, other: Any) -> Polynomial:
        return Polynomial(np.polyadd(self.given, _coefficients(other)))

    def __radd__(self, other: Any) -> Polynomial:
        return Polynomial(np.polyadd(_coefficients(other), self.given))

    def __sub__(self, other: Any) -> Polynomial:
        return Polynomial(np.polysub(self.given, _coefficients(other)))

    def __rsub__(self, other: Any) -> Polynomial:
        return Polynomial(np.polysub(_coefficients(other), self.given))

    def __mul__(self, other: Any) -> Polynomial:
        if np.ndim(_coefficients(other)) == 0:
            return Polynomial(self.given * other)
        return Polynomial(np.polymul(self.given, _coefficients(other)))

    def __rmul__(self, other: Any) -> Polynomial:
        if np.ndim(_coefficients(other)) == 0:
            return Polynomial(other * self.given)
        return Polynomial(np.polymul(_coefficients(other), self.given))

    def __truediv__(self, other: Any) -> Any:
        if np.ndim(_coefficients(other)) == 0:
            return Polynomial(self.given / other)
        quotient, rest = np.polydiv(self.coeffs, getattr(other, "coeffs", other))
        return Polynomial(quotient), Polynomial(rest)

    def __pow__(self, power: int) -> Polynomial:
        result = np.ones(1)
        for _ in range(power):
            result = np.polymul(self.given, result)
        return Polynomial(result)


def _coefficients(other: Any) -> Any:
    return other.given if hasattr(other, "given") else other
