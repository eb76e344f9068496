"""Loops that become one, loops that must not, and arrays that become numbers."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.ir.core import LOOP, walk
from gradscribe.ir.verifier import verify
from gradscribe.transforms.kernels import fusion, lowering

RNG = np.random.default_rng(0)
V, W, A = RNG.normal(size=9), RNG.normal(size=9), RNG.normal(size=(5, 5))


def loops_before_and_after(monkeypatch, function, *args):
    """The gradient's loops as they are lowered, and what becomes of them."""
    generated = gs.differentiable(function).specialize(*args).generated_gradient
    after = lowering.in_loops(generated.bufferized)
    monkeypatch.setattr(lowering, "fused", lambda unchanged: unchanged)
    before = lowering.in_loops(generated.bufferized)
    verify(after)
    return [sum(o.primitive is LOOP for o in walk(f.body)) for f in (before, after)]


def same(function, *args):
    pytest.importorskip("numba")
    native, plain = gs.grad(function, jit=True), gs.grad(function)
    np.testing.assert_allclose(native(*args), plain(*args), rtol=1e-12, atol=1e-14)
    assert native.jit_report == "native"
    return native.loops_source


# -- what becomes one ------------------------------------------------------------------------------


def chain(x, y):
    t = np.tanh(x * y + 0.5 * x)
    return np.sum(np.exp(-t * t) * y)


def test_a_gradient_of_elementwise_operations_is_one_loop_without_temporaries():
    text = same(chain, V, W)
    assert text.count("for ") == 1
    assert text.count("np.empty") == 1


def stencil(u):
    v = u[1:-1] + 0.5 * (u[2:] - u[:-2])
    w = v * v
    return np.sum(w * np.cos(v))


def test_what_is_read_at_other_places_is_recomputed_or_stored(monkeypatch):
    before, after = loops_before_and_after(monkeypatch, stencil, V)
    assert after < before
    same(stencil, V)


def planes(a):
    b = a * 2.0
    c = np.sin(b) * a
    return np.sum(c * b)


def test_nests_become_one_from_the_outermost_loop_on():
    text = same(planes, A)
    assert text.count("for ") == 2


def added_twice(x, y):
    z = x * y
    z += x
    z += y
    return np.sum(z * z)


def test_what_is_added_to_an_element_just_stored_is_a_sum():
    assert "+=" not in same(added_twice, V, W).split("# ")[0]


def zeroed_then_added_to(x):
    y = x * 2.0
    y[1:4] = 0.0
    y[1:4] += x[:3]
    return np.sum(y * y)


def counted_in_integers(x):
    k = np.zeros(len(x), dtype=np.int64)
    k[:] = 1
    k[:] += 2
    return np.sum(x * k)


@pytest.mark.parametrize("function", [zeroed_then_added_to, counted_in_integers])
def test_sums_with_what_was_stored_have_the_type_of_the_array(function):
    generated = gs.differentiable(function).specialize(V).generated_gradient
    verify(lowering.in_loops(generated.bufferized))
    same(function, V)


# -- what does not ---------------------------------------------------------------------------------


def shifted_down(x):
    t = x * 2.0
    t[:-1] = t[1:] * 3.0
    return np.sum(t * t)


def shifted_up(x):
    t = x * 2.0
    t[1:] = t[:-1] * 3.0
    return np.sum(t * t)


def backwards(x):
    t = x * 2.0
    s = t[::-1] * x
    return np.sum(s * s * t)


def transposed(a):
    b = a * 2.0
    c = b.T * a
    return np.sum(c * c * b)


def transposed_in_place(a):
    a = a * 1.0
    a[1:-1, 1:-1] = a[1:-1, 1:-1].T * 2.0 + a[1:-1, 1:-1]
    a[:] = a.T + a
    return np.sum(a * a)


def other_lengths(x):
    t = x * 2.0
    s = t[1:] * x[:-1]
    r = t[:-1] * s
    return np.sum(r * r) + np.sum(t)


def stored_in_turns(x):
    t = np.zeros_like(x)
    t[::2] = x[::2] * 2.0
    t[1::2] = t[::2][: len(x) // 2] * x[1::2]
    return np.sum(t * t)


def rows_that_wait(a):
    b = a * 1.0
    b[1:] += b[:-1] * 0.5
    b[:-1] *= b[1:]
    return np.sum(b * b)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        *((f, (V,)) for f in (shifted_down, shifted_up, backwards, other_lengths, stored_in_turns)),
        *((f, (A,)) for f in (transposed, transposed_in_place, rows_that_wait)),
    ],
)
def test_what_must_wait_for_later_iterations_waits(function, args):
    same(function, *args)


def sums_between(x, y):
    t = x * y
    total = np.sum(t)
    s = t * total
    return np.sum(s * s)


def views_between(x, y):
    t = x * y
    t.reshape(3, 3)[1] *= 2.0
    return np.sum(t * t * y)


@pytest.mark.parametrize("function", [sums_between, views_between])
def test_what_is_between_two_loops_and_needs_the_first_keeps_them_apart(function):
    same(function, V, W)


@pytest.mark.parametrize(
    ("distance", "is_nest", "is_allowed"),
    [
        (0, False, True),
        (-1, False, False),
        (-1, True, True),
        (1, True, False),
        (None, True, False),
    ],
)
def test_the_distance_that_is_allowed(monkeypatch, distance, is_nest, is_allowed):
    class One:
        def origin(self, array):
            return self

    monkeypatch.setattr(fusion, "_distance", lambda *_: distance)
    access = fusion._Access(None, (None,), True)
    assert (
        fusion._Fusion(One(), None)._is_in_order(access, access, None, None, is_nest) is is_allowed
    )


def summed_and_shifted(x):
    t = np.exp(x)
    return np.sum(t[1:] * x[:-1]) * np.sum(t)


def test_an_array_that_is_read_at_other_places_is_stored():
    text = same(summed_and_shifted, V)
    assert "t[i] = simd.exp(x[i])" in text
