"""Programs that call compiled code, recorded: right, or refused."""

import contextlib
import ctypes
import functools
import logging
import math
import multiprocessing.pool
import struct
import threading
import types
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.fftpack
import scipy.linalg
from scipy.linalg import blas, lapack

import gradscribe as gs
from gradscribe.errors import AliasingError, NoDerivativeError, UnsupportedError
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


def test_what_is_overwritten_and_not_used_again_is_right() -> None:
    losses = [
        lambda x: np.sum(np.abs(scipy.fft.fft(x + 0j, overwrite_x=True)) ** 2),
        lambda x: np.sum(scipy.linalg.inv(np.outer(x, x) + np.eye(2), True)),
        lambda x: np.sum(scipy.linalg.solve(np.outer(x, x) + np.eye(2), 2 * x, overwrite_b=True)),
    ]
    for loss in losses:
        recorded = gs.grad(loss, compile=False)(np.array([0.5, 1.5]))
        np.testing.assert_allclose(recorded, gs.grad(loss)(np.array([0.5, 1.5])), rtol=1e-12)


def reads_it(y: Any) -> Any:
    return np.sum(y.real)


def reads_a_part(y: Any) -> Any:
    return y[0].real


def stores_to_it(y: Any) -> Any:
    y[...] = 0.0
    return 1.0


@pytest.mark.parametrize("use", [reads_it, reads_a_part, stores_to_it])
def test_what_is_overwritten_and_used_again_is_refused(use: Any) -> None:
    def loss(x: Any) -> Any:
        y = x + 0j
        spectrum = scipy.fft.fft(y, overwrite_x=True)
        return use(y) * np.sum(np.abs(spectrum))

    with pytest.raises(UnsupportedError, match="`fft` has overwritten an array that is used again"):
        gs.grad(loss, compile=False)(np.array([0.5, 1.5]))


class Compiled:
    """Stands for an object of compiled code that does not say which module it is of."""

    __call__ = staticmethod(memoryview)

    def __init__(self) -> None:
        self.__module__ = None


class Row(list):
    total = property(math.fsum)


def test_compiled_code_of_no_module_is_given_arrays() -> None:
    compiled = Compiled()

    def loss(x: Any) -> Any:
        w = np.ones(2)
        view = compiled(w)
        view[0] = 3.0
        return np.sum(w * x)

    assert gs.grad(loss, compile=False)(np.ones(2)).tolist() == [3.0, 1.0]


def test_compiled_code_of_a_property_is_known() -> None:
    assert gs.grad(lambda x: Row([x[0], 2 * x[1]]).total, compile=False)(np.ones(2)).tolist() == [
        1.0,
        2.0,
    ]


class Halves(logging.Handler):
    def emit(self, record: Any) -> None:
        with contextlib.suppress(ValueError):  # of arrays that are read-only
            record.args[0][0][...] /= 2


@pytest.mark.parametrize("constant", [True, False])
def test_handlers_of_logs_that_store_to_arrays_are_refused_or_followed(constant: bool) -> None:
    logger = logging.Logger("own")
    logger.addHandler(Halves())

    def logged(x: Any) -> Any:
        y = np.ones(2) if constant else x * 2
        logger.warning("%s and %s", [y], 1)
        return (y * x).sum()

    x = np.array([3.0, 4.0])
    with pytest.raises(UnsupportedError, match="changes an array that `warning` is given to"):
        gs.grad(logged)(x)
    expected = [0.5, 0.5] if constant else 2 * x
    np.testing.assert_allclose(gs.grad(logged, compile=False)(x), expected)


def test_what_a_compiler_has_compiled_runs_as_it_is():
    numba = pytest.importorskip("numba")

    @numba.njit
    def doubled(a):
        return a * 2.0

    @numba.stencil
    def around(a):
        return a[-1] + a[1]

    def function(x):
        return np.sum(doubled(3.0) * around(np.arange(3.0)) * x)

    x = np.ones(3)
    value, gradient = gs.value_and_grad(function, compile=False)(x)  # compiled here
    assert value == function(x) == 12.0
    np.testing.assert_array_equal(gradient, [0.0, 12.0, 0.0])
    with pytest.raises(NoDerivativeError, match="does not record"):
        gs.grad(lambda x: np.sum(around(x)), compile=False)(x)


def test_attributes_of_what_a_compiler_has_made_take_arrays():
    numba = pytest.importorskip("numba")

    @numba.experimental.jitclass([("w", numba.float64[::1])])
    class Holder:
        def __init__(self, w):
            self.w = w

        def __getitem__(self, i):
            return self.w[i]

        def __setitem__(self, i, v):
            self.w[i] = v[i]

    def stored(x):
        w, holder = np.ones(4), Holder(np.zeros(4))
        holder.w = w
        w[0] = 3.0
        holder[1] = 2.0 * w
        return holder.w[0] * holder[1] * x[0] + w[1] * x[1]

    x = np.ones(2)
    value, gradient = gs.value_and_grad(stored, compile=False)(x)
    assert value == stored(x) == 8.0
    np.testing.assert_array_equal(gradient, [6.0, 2.0])
    with pytest.raises(NoDerivativeError, match="does not record"):
        gs.grad(lambda x: setattr(Holder(np.zeros(4)), "w", x), compile=False)(x)


def test_what_a_class_in_c_raises_of_what_records_is_a_refusal():
    with pytest.raises(NoDerivativeError, match="`timedelta` is given what is differentiated"):
        gs.grad(lambda x: timedelta(seconds=x[0]).total_seconds(), compile=False)(np.ones(2))
    pandas = pytest.importorskip("pandas")
    with pytest.raises(NoDerivativeError, match="`Interval` is given what is differentiated"):
        gs.grad(lambda x: pandas.Interval(0.0, x[0]).length, compile=False)(np.ones(2))


@pytest.mark.parametrize(
    "store",
    [
        lambda w: struct.pack_into("d", w, 0, 2.0),
        lambda w: w.__setitem__(0, 2.0),
        lambda w: w[::-1].sort(),
        lambda w: np.multiply(w, 2.0, out=w),
        lambda w: ctypes.memset(w.ctypes.data, 0, 8),
    ],
)
def test_stores_to_an_argument_that_is_differentiated_under_another_name_are_refused(store):
    def stored(x, w):
        with contextlib.suppress(ValueError, TypeError):
            store(w)
        return np.sum(w) * x[0]

    x = np.array([3.0, 1.0, 2.0])
    with pytest.raises(AliasingError):
        gs.grad(stored, compile=False)(x, x)
    with pytest.raises(AliasingError):
        gs.grad(stored, compile=False)(x[:2], x[1:])
    read = gs.grad(lambda x, w: np.sum(w) * x[0] + w.flags.writeable, compile=False)
    np.testing.assert_array_equal(read(x, x), [6.0, 0.0, 0.0])


class Overwriting:
    def __init__(self, array):
        self.array = array

    def __del__(self):
        struct.pack_into("d", self.array, 0, 4.0)


class Failing:
    def __del__(self):
        raise ValueError("in the program itself")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("is_own", [True, False])
def test_errors_that_python_ignores_are_not_lost(is_own):
    def f(x):
        y = np.ones(3)
        kept = Failing() if is_own else Overwriting(y)
        del kept
        return np.sum(y * x)

    if is_own:
        assert gs.grad(f, compile=False)(np.ones(3)).tolist() == [1.0, 1.0, 1.0]
    else:
        with pytest.raises(gs.errors.NoDerivativeError, match="of what is differentiated"):
            gs.grad(f, compile=False)(np.ones(3))


def by_a_timer(x):
    weights = np.ones(3)
    timer = threading.Timer(0.0, struct.pack_into, ("d", weights, 0, 4.0))
    timer.start()
    timer.join()
    return np.sum(weights * x)


def by_a_pool(x):
    weights = np.ones(3)
    pool = multiprocessing.pool.ThreadPool(1)
    pool.apply_async(struct.pack_into, ("d", weights, 0, 4.0)).get()
    pool.close()
    pool.join()
    return np.sum(weights * x)


@pytest.mark.parametrize("function", [by_a_timer, by_a_pool])
def test_what_other_threads_write_is_not_lost(function):
    try:
        found = gs.grad(function, compile=False)(np.ones(3))
    except gs.errors.GradscribeError:
        assert function is by_a_timer
    else:
        assert found.tolist() == [4.0, 1.0, 1.0]


def test_ufuncs_without_result_are_refused():
    numba = pytest.importorskip("numba")

    @numba.guvectorize(["void(float64[:], float64[:])"], "(n),(n)", writable_args=(1,))
    def doubled(given, filled):
        for i in range(given.shape[0]):
            filled[i] = given[i] * 2

    def f(x):
        weights = np.zeros(3)
        doubled(x, weights)
        return np.sum(weights * x)

    with pytest.raises(UnsupportedError, match="which gives no result"):
        gs.grad(f, compile=False)(np.ones(3))
