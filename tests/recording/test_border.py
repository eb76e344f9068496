"""Programs that call compiled code, recorded: right, or refused."""

import functools
import types
from typing import Any

import numpy as np
import pytest
import scipy.fftpack
import scipy.linalg
from scipy.linalg import blas, lapack

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.border import verdicts
from tests.border.programs import ROWS, programs
from tests.sampling import one_in

TABLES = sorted(path.stem for path in ROWS.glob("*.txt"))
OTHERWISE = {
    "scipy: brentq and fsolve": "raises what SciPy makes of a refusal",
    "called_back: a root that depends on an active number": "raises what SciPy makes of it",
    "called_back: a root that depends on an active number, as it comes": "the same",
}


class Recorded(types.ModuleType):
    """gradscribe, whose transforms run functions as they are."""

    def __getattr__(self, name):
        found = getattr(gs, name)
        is_transform = name in ("grad", "value_and_grad", "jvp", "vjp", "hvp")
        return functools.partial(found, compile=False) if is_transform else found


@pytest.mark.parametrize("row", one_in(24, programs(*TABLES)), ids=str)
def test_programs_at_the_border_are_right_or_refused(row, monkeypatch):
    if str(row) in OTHERWISE:
        pytest.skip(OTHERWISE[str(row)])
    monkeypatch.setattr(verdicts, "gs", Recorded("gradscribe"))
    monkeypatch.delitem(verdicts.MODES, "Tensors")
    found = row.verdict()
    assert found.kind in ("right", "refused"), found.detail


def test_results_of_scipy_have_their_structure() -> None:
    def loss(x: Any) -> Any:
        matrix = x.reshape(2, 2)
        (triangle,) = scipy.linalg.qr(matrix, mode="r")
        factor, lower = scipy.linalg.cho_factor(matrix @ matrix.T + np.eye(2))
        solution = scipy.linalg.cho_solve((factor, lower), x[:2])
        return np.sum(scipy.linalg.qr(matrix, mode="r")[0] + triangle) + np.sum(solution)

    x = np.array([0.5, 1.5, -0.4, 2.0])
    compiled, recorded = gs.grad(loss)(x), gs.grad(loss, compile=False)(x)
    np.testing.assert_allclose(recorded, compiled, rtol=1e-12)


def test_a_function_that_overwrites_constants_does_so() -> None:
    def loss(x: Any) -> Any:
        scratch = np.arange(4.0)
        scipy.fftpack.dct(scratch, overwrite_x=True)
        return np.sum(scratch * x**2)

    scratch = scipy.fftpack.dct(np.arange(4.0))
    x = np.array([0.5, 1.5, -0.4, 2.0])
    np.testing.assert_allclose(gs.grad(loss, compile=False)(x), 2 * scratch * x, rtol=1e-12)


@pytest.mark.parametrize("call", [blas.drot, functools.partial(blas.drot)])
def test_code_that_overwrites_copies_leaves_constants(call) -> None:
    def loss(x: Any) -> Any:
        first, second, third = np.ones(4), np.full(4, 2.0), np.array([1.0, 2.0, 3.0, 4.0])
        call(first, second, 0.6, 0.8, overwrite_x=1)
        lapack.dgesv(np.eye(4) * 2.0, third)
        return np.sum((first + second + third) * x)

    gradient = gs.grad(loss, compile=False)(np.ones(4))
    np.testing.assert_allclose(gradient, np.array([1.0, 2.0, 3.0, 4.0]) + 2.0 + 0.6 + 1.6)


def test_what_numpy_changes_in_place_without_a_rule_is_refused() -> None:
    def loss(x: Any) -> Any:
        scratch = np.array([3.0, 1.0, 2.0, 0.0])
        return np.median(scratch, overwrite_input=True) * np.sum(scratch * x)

    with pytest.raises(UnsupportedError, match="`median` changes an array that it is given"):
        gs.grad(loss, compile=False)(np.ones(4))
