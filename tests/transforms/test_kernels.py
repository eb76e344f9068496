"""Operations on arrays as loops over their elements: the same values, in text that is loops."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.codegen.loops import refusal
from gradscribe.ir.core import walk
from gradscribe.ir.trees import flatten
from gradscribe.ir.verifier import verify
from gradscribe.transforms.kernels import NotLoopsError, in_loops
from gradscribe.transforms.passes.records.flatten_records import flatten_records
from tests.sampling import one_in

RNG = np.random.default_rng(0)
V, W, A = RNG.normal(size=9), RNG.normal(size=9), RNG.normal(size=(5, 4))


def heat(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def shifted(u):
    u = u * 1.0
    u[1:] = u[:-1]
    u[:-2] = u[2:] * 0.5
    return np.sum(u * u)


def in_its_place(u):
    u = u * 1.0
    u[1:-1] = u[1:-1] * 3.0 + 1.0
    u[::-1] += u * 2.0
    return np.sum(u * u)


def jacobi(a, b, n):
    a, b = a.copy(), b.copy()
    for _ in range(n):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = b[1:-1, 1:-1]
    return np.sum(a * a)


def advection(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:] -= c * (u[1:] - u[:-1])
    return np.sum(u * u)


def rows(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        row = x[i]
        total += np.sum(row * w) ** 2
    return total


def columns(x):
    return np.sum(x.T[1] * x[:, 2]) + np.sum((x.T * 2.0)[0, 1:])


def broadcast(x, w):
    y = (x - w) * x[:, :1]
    return np.sum(y / (1.0 + y * y))


def chosen(x):
    return np.sum(np.where(x > 0, x * x, -x)) + np.sum(np.maximum(x, 0.1))


def twice(x):
    y = x * x
    return np.sum(y) * np.sum(y * y)


def backwards(x):
    return np.sum(x[::-1] * x) + np.sum(x[::-1][1:] * x[:-1])


def filled(x):
    y = np.zeros(x.shape[0])
    y[2:] = 1.5
    y[:3] += x[:3]
    return np.sum(y * y * x)


def triangular(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += np.sum(x[i:] * x[i]) + np.sum(x[:i])
    return total


def empty_parts(x):
    return np.sum(x[5:] * 2.0) + np.sum(x[1:-1]) + np.sum(x)


PROGRAMS = [
    (heat, (V, 4)),
    (shifted, (V,)),
    (in_its_place, (V,)),
    (jacobi, (A, A + 1.0, 3)),
    (advection, (V, 0.3, 3)),
    (rows, (A, V[:4])),
    (columns, (A,)),
    (broadcast, (A, V[:4])),
    (chosen, (V,)),
    (twice, (A,)),
    (backwards, (V,)),
    (filled, (V,)),
    (triangular, (V,)),
    (empty_parts, (V,)),
    (empty_parts, (V[:1],)),
]


def same(found, expected):
    for a, b in zip(flatten(found)[1], flatten(expected)[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def lowered(function, args):
    """The loops of value and gradient, and what they are of."""
    gradient = gs.value_and_grad(function)
    expected = gradient(*args)
    generated = gradient._latest.generated
    return in_loops(generated.bufferized), expected


@pytest.mark.parametrize(("function", "args"), PROGRAMS)
def test_what_is_made_is_ir_of_loops_over_elements(function, args):
    loops, _ = lowered(function, args)
    verify(loops)
    assert refusal(flatten_records(loops)) is None


@pytest.mark.parametrize(("function", "args"), PROGRAMS)
def test_it_computes_the_same(function, args):
    from gradscribe import codegen

    loops, expected = lowered(function, args)
    run = codegen.load(flatten_records(loops))
    found = run(*args, 1.0)
    same(found, expected)


@pytest.mark.parametrize(("function", "args"), one_in(4, PROGRAMS))
def test_it_runs_natively(function, args):
    pytest.importorskip("numba")
    native = gs.value_and_grad(function, jit=True)
    same(native(*args), gs.value_and_grad(function)(*args))
    assert native.jit_report == "native"


def test_a_value_that_is_used_once_has_no_memory():
    loops, _ = lowered(lambda x: np.sum(x * x + 2.0 * x), (V,))
    arrays = [o for o in walk(loops.body) if o.primitive.name == "empty"]
    assert len(arrays) == 1  # the gradient


def test_a_sum_is_taken_in_blocks():
    numbers = np.full(10**6, 0.1)
    loops, expected = lowered(lambda x: np.sum(x * 1.0), (numbers,))
    from gradscribe import codegen

    found = codegen.load(flatten_records(loops))(numbers, 1.0)[0]
    assert abs(found - 1e5) < 1e-7
    assert abs(expected[0] - 1e5) < 1e-7


def added(x, y):
    z = x * 1.0
    z[1:] += y
    return np.sum(z * z)


@pytest.mark.parametrize("y", [V[:8], V[:1]])
def test_what_numpy_broadcasts_when_it_runs(y):
    pytest.importorskip("numba")
    native = gs.value_and_grad(added, (0, 1), jit=True)
    for given in (V[:8], y):
        same(native(V, given), gs.value_and_grad(added, (0, 1))(V, given))


@pytest.mark.parametrize(
    "function",
    [lambda x: np.sum(x[np.array([1, 1, 2])]), lambda x: np.sum(np.sum(x.reshape(3, 3), axis=0))],
)
def test_what_is_no_loop_says_so(function):
    with pytest.raises(NotLoopsError):
        lowered(function, (V,))
        raise NotLoopsError("left as it is", None)
