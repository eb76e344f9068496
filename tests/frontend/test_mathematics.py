"""The functions of the modules `math` and `cmath`."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import check

X = np.array([0.5, 1.5, 2.5])


def products(x):
    listed = [v * v for v in x]
    return math.prod(listed) + math.prod([x[0], x[1] * 2]) + math.prod([x[0]], start=3)


def sums(x):
    return math.fsum(v * v for v in x) + math.fsum([x[0], 1, x[1]]) + math.fsum(x)


def distances(x):
    total = (
        math.dist([x[0], 1.0], (2.0, x[1])) + math.dist(x, x * x) + math.dist(list(x), [0, 0, 1])
    )
    return total + math.hypot(x[0]) + math.hypot(x[0], x[1]) + math.hypot(x[0], 2, x[1], x[2])


def gammas(x):
    return math.gamma(x[1]) + math.lgamma(x[0]) + math.gamma(-x[0]) * math.lgamma(30 * x[2])


def remainders(x):
    return math.remainder(x[2], x[0] * 3) + math.fmod(x[2], 1.1 * x[0]) + math.copysign(x[0], -x[1])


def parts(x):
    total = 0.0
    for v in x:
        m, e = math.frexp(v * 3)
        f, i = math.modf(-v * 1.3)
        total += m * e + f * v + i + math.ldexp(v, 2)
    return total


def angles(x):
    z = complex(x[0], -x[1])
    radius, angle = cmath.polar(z * z)
    return cmath.phase(z) * radius + angle + cmath.phase(-x[2]) * x[2] + cmath.polar(x[1])[0]


def angles_of_each(x):
    return sum(map(cmath.phase, [x[0] + 1j, x[1] * 1j, x[2] - x[0] * 1j])) * x[0]


def angle_of_a_text(x):
    try:
        return cmath.phase("1") * x[0]
    except TypeError:
        return x[0] * x[1]


def integers(x, n):
    total = 0.0
    for k in range(n + 1):
        total += math.comb(n, k) * x[0] ** k / math.factorial(k) + math.perm(n, k) * x[1]
    if math.isclose(total, 1.0) or math.isnan(total) or math.isinf(total):
        total = 0.0
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (products, (X,)),
        (sums, (X,)),
        (distances, (X,)),
        (gammas, (X,)),
        (remainders, (X,)),
        (parts, (X,)),
        (angles, (X,)),
        (angles_of_each, (X,)),
        (angle_of_a_text, (X,)),
        (integers, (X, 5)),
    ],
)
def test_functions_of_math_have_derivatives(function: Any, args: Any) -> None:
    gs.testing.check_grad(function, *args)


def test_the_primal_is_that_of_math_bit_for_bit() -> None:
    for function in (products, sums, distances, gammas, remainders, parts, angles, angles_of_each):
        assert gs.value_and_grad(function)(X)[0] == function(X)


@pytest.mark.parametrize(
    "z", [0j, complex(-1.0, -0.0), complex(-0.0, 0.0), complex(-math.inf, math.inf), -1.0, 3, True]
)
def test_angles_are_those_of_cmath_at_the_branch_cut_and_at_infinity(z: Any) -> None:
    def polar(z: Any, x: Any) -> Any:
        radius, angle = cmath.polar(z)
        return angle * x + cmath.phase(z), radius

    (angle, radius), _ = gs.vjp(polar, z, 1.0)
    assert (radius, angle / 2) == cmath.polar(z)


def test_a_product_has_a_derivative_where_a_factor_is_zero() -> None:
    assert list(gs.grad(lambda x: math.prod([x[0], x[1], x[2]]))(np.array([0.0, 2, 3]))) == [
        6,
        0,
        0,
    ]


@pytest.mark.skipif(not hasattr(math, "sumprod"), reason="new in CPython 3.12")
def test_the_sum_of_products() -> None:
    def of_lists(x):
        first = math.sumprod([x, x * x, 2.0], [x, 3.0, x])
        return first + math.sumprod((x, 2.0), (x, x))

    check(of_lists, 1.3)


@pytest.mark.skipif(not hasattr(math, "fma"), reason="new in CPython 3.13")
def test_products_and_sums_that_are_rounded_once() -> None:
    check(lambda x: math.fma(x, x * 2, math.sin(x)), 1.3)


@pytest.mark.parametrize(
    "call",
    [
        lambda d: math.log(d, None),
        lambda d: math.log(d, base=2),
        lambda d: math.sqrt(x=d),
        lambda d: math.pow(d, None),
        lambda d: math.hypot(d, "a"),
    ],
)
def test_functions_of_math_refuse_for_tensors_what_python_refuses(call):
    with pytest.raises(UnsupportedError) as refusal:
        gs.differentiable(lambda x: call(x[0]))(gs.tensor([0.7, 1.3], requires_grad=True))
    assert isinstance(refusal.value, TypeError)
