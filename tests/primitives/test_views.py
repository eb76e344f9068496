"""Operations that give their argument, or a view of it, for some arguments: what is computed from
the result goes neither into the argument nor into the seed or the vector of the caller."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from tests.primitives.test_forms import function_of_text

FORMS = """
x; +x; x.T; x.real; np.real(x); np.imag(x); x.conj(); np.conj(x); x.flat[2:]; x[::2]; x[None]
np.einsum('ij->ji', x); np.einsum('ij->ij', x); np.einsum('ii->i', x); np.einsum('...ii->...i', x)
np.einsum('iij->ij', x[:, :, None]); np.einsum(x, [0, 1], [1, 0]); np.einsum('ba', x)
np.einsum('ij->ji', x, optimize=True); np.einsum('ij->ji', x, dtype=np.float64)
np.broadcast_to(x, (2, 3, 3)); np.broadcast_to(x, (3, 3)); np.broadcast_arrays(x, x[0])[1]
np.asarray(x, dtype=np.float64); x.astype(np.float64, copy=False); np.array(x, copy=None, ndmin=3)
np.ravel(x); np.ravel(x, 'F'); np.ravel(x.T); x.T.reshape(9); x.flatten(); np.squeeze(x[None], 0)
np.atleast_1d(x); np.atleast_2d(x); np.atleast_3d(x); np.nan_to_num(x); np.ascontiguousarray(x)
np.ascontiguousarray(x.T); np.split(x, 3)[1]; np.diag(x); np.diagonal(x); np.rot90(x, 4)
np.fliplr(x); np.diff(x, 0); np.tile(x, 1); np.roll(x, 0); np.vstack([x]); np.concatenate([x])
np.meshgrid(x[0], x[1], copy=False)[0]; np.rollaxis(x, 1); np.expand_dims(x, 0); np.sum(x, axis=())
np.max(x, axis=()); np.linalg.matrix_power(x, 1); np.clip(x, None, 99); np.block([x]); np.pad(x, 0)
np.lib.stride_tricks.sliding_window_view(x, (2, 2)); np.resize(x, (3, 3)); np.trim_zeros(x[0])
"""


@pytest.mark.parametrize("text", [t.strip() for t in FORMS.replace("\n", ";").split(";") if t])
def test_a_view_is_not_written_to(text: str) -> None:
    function = function_of_text(f"y = {text}; np.sum(y * y) + 3 * np.sum(x)", ["x"])
    x, vector = np.arange(1.0, 10.0).reshape(3, 3), np.arange(-4.0, 5.0).reshape(3, 3)
    before = x.copy(), vector.copy()
    step = 2.0**-10
    ahead, behind = x + step * vector, x - step * vector
    slope = (function(ahead) - function(behind)) / 2 / step
    gradient = gs.grad(function)
    curve = (gradient(ahead) - gradient(behind)) / 2 / step
    np.testing.assert_allclose(np.sum(gradient(x) * vector), slope, 1e-6)
    np.testing.assert_allclose(gs.jvp(function, (x,), (vector,)), (function(x), slope), 1e-6)
    np.testing.assert_allclose(gs.hvp(function, x, vector), curve, 1e-6, 1e-6)
    value, pullback = gs.vjp(function_of_text(text, ["x"]), x)
    seed = np.ones_like(value)
    (cotangent,) = pullback(seed)
    assert not np.shares_memory(cotangent, seed)
    assert not np.shares_memory(cotangent, x)
    np.testing.assert_array_equal(seed, 1)
    np.testing.assert_array_equal((x, vector), before)
