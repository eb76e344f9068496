"""Calls of code that cannot be read: what they may write to is not what it was."""

import collections
import ctypes
import gc
import logging
import struct
import warnings
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import ArgumentError, NoDerivativeError, UnsupportedError

X = np.linspace(0.5, 1.5, 4)
WEIGHTS = np.arange(1.0, 5.0)
COUNT = collections._count_elements
MEMMOVE = ctypes.memmove
PACK = struct.pack_into


def differences(f, x=X):
    steps = 1e-6 * np.eye(x.size)
    return np.array([(f(x + step) - f(x - step)) / 2e-6 for step in steps])


def check(f):
    value, gradient = gs.value_and_grad(f)(X.copy())
    assert value == f(X.copy())
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-6, atol=1e-8)
    _, tangent = gs.jvp(f, (X.copy(),), (WEIGHTS,))
    np.testing.assert_allclose(tangent, gradient @ WEIGHTS, rtol=1e-10)


def check_refused(f, text="no derivative is known of"):
    for derive in (
        lambda: gs.grad(f)(X.copy()),
        lambda: gs.jvp(f, (X.copy(),), (WEIGHTS,)),
        lambda: gs.differentiable(f)(gs.tensor(X, requires_grad=True)).backward(),
    ):
        with pytest.raises(UnsupportedError, match=text) as raised:
            derive()
        assert raised.value.location is not None


def test_what_is_written_of_constants_is_read_again():
    def f(x):
        scratch = np.zeros(4)
        PACK("dd", scratch, 8, 2.0, 3.0)
        return np.sum(scratch * x**2)

    check(f)


def test_what_was_read_before_is_kept_for_the_adjoint():
    def f(x):
        scratch = np.ones(4)
        total = np.sum(scratch * x**2)
        for k in range(3):
            PACK("d", scratch, 8 * k, k + 2.0)
            total = total * 0.5 + np.sum(scratch * x**3)
        return total

    check(f)


def test_a_store_after_the_call_and_one_before_it():
    def f(x):
        scratch = np.ones(4)
        scratch[1] = 5.0
        PACK("d", scratch, 0, 7.0)
        scratch[2] = scratch[0] + scratch[1]
        return np.sum(scratch * x**2)

    check(f)


def test_what_is_written_through_a_view():
    def f(x):
        scratch = np.ones((2, 4))
        PACK("d", scratch[1], 8, 7.0)
        return np.sum(scratch[1] * x**2) + np.sum(scratch[0] * x)

    check(f)


def test_an_array_that_is_made_anew_in_each_iteration():
    def f(x, n):
        total = 0.0
        for k in range(n):
            scratch = np.full(4, 0.25)
            PACK("d", scratch, 0, scratch[0] + 1.0)
            total = total + np.sum(scratch * x**2) * k
        return total

    value, gradient = gs.value_and_grad(f)(X.copy(), 20)
    assert value == f(X, 20)
    np.testing.assert_allclose(gradient, differences(lambda x: f(x, 20)), rtol=1e-6)


def test_what_one_path_writes():
    def f(x):
        scratch = np.ones(4)
        if np.sum(x) > 1:
            PACK("d", scratch, 8, 7.0)
        return np.sum(scratch * x**2)

    check(f)


def test_what_an_active_value_is_written_to_is_refused():
    def f(x):
        out = np.zeros(4)
        PACK("d", out, 0, x[0])
        return np.sum(out)

    check_refused(f)


def test_active_memory_that_may_have_been_written_is_refused():
    def f(x):
        y = x * 2
        MEMMOVE(y.ctypes.data, WEIGHTS.ctypes.data, 8)
        return np.sum(y)

    with pytest.raises(UnsupportedError):
        gs.grad(f)(X.copy())


def test_what_is_not_read_later_is_free():
    def f(x):
        out = np.zeros(4)
        PACK("d", out, 0, x[0])
        return np.sum(x**2)

    check(f)


def test_the_arguments_of_the_caller_stay_as_they_are():
    def f(x, scratch):
        PACK("d", scratch, 0, 3.0)
        return np.sum(scratch * x)

    scratch = np.ones(4)
    np.testing.assert_array_equal(gs.grad(f)(X, scratch), [3, 1, 1, 1])
    np.testing.assert_array_equal(scratch, 1)
    x = gs.tensor(X, requires_grad=True)
    gs.differentiable(f)(x, scratch).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3, 1, 1, 1])
    np.testing.assert_array_equal(scratch, [3, 1, 1, 1])


def test_numbers_of_a_container_are_read_anew_after_the_call():
    def f(x):
        counts = {"a": 1, "b": 5}
        COUNT(counts, "aab")
        return counts["a"] * np.sum(x) - counts["b"]

    value, gradient = gs.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_array_equal(gradient, [3, 3, 3, 3])


def test_what_else_becomes_of_a_container_is_told_when_it_runs():
    def f(x):
        counts = {"a": 1}
        COUNT(counts, "ab")
        return counts["a"] * np.sum(x)

    with pytest.raises(UnsupportedError, match="`_count_elements` changed what there is in a cont"):
        gs.grad(f)(X)


def test_what_an_option_overwrites_is_not_read_later():
    linalg = pytest.importorskip("scipy.linalg")

    def f(x, a, b):
        solution = linalg.solve(a + np.diag(x), b, overwrite_b=True)
        return np.sum(solution**2)

    def read_later(x, a, b):
        return np.sum(linalg.inv(a, True)) + np.sum(a * x)

    a, b = np.eye(4) + 0.1, WEIGHTS.copy()
    gradient = gs.grad(f)(X, a, b)
    expected = differences(lambda x: f(x, a.copy(), b.copy()))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)
    with pytest.raises(UnsupportedError, match="`inv` may overwrite `a`, which is read later"):
        gs.grad(read_later)(X, a, b)


def test_calls_that_only_read_leave_all_as_it_is():
    def f(x):
        y = x * 2
        print(y)
        warnings.warn(f"{y}", stacklevel=1)
        return np.sum(y**2)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(f)


@gs.primitive(pure=True)
def halved(x):
    return 0.5 * x


@halved.adjoint
def _(out, x, *, d_out):
    return 0.5 * d_out


def fill(out, value):
    out[...] = value


def test_a_primitive_may_be_declared_to_be_pure():
    check(lambda x: np.sum(halved(x) ** 2))


def test_a_primitive_may_be_declared_to_write():
    filled = gs.primitive(fill, writes=("out",))

    def constant(x):
        out = np.empty(4)
        filled(out, 3.0)
        return np.sum(out * x**2)

    def active(x):
        out = np.empty(4)
        filled(out, x[0])
        return np.sum(out)

    check(constant)
    check_refused(active)
    with pytest.raises(ArgumentError, match="writes to its arguments"):
        filled.adjoint(lambda out, *a, d_out: None)


def test_a_primitive_that_writes_without_saying_so_is_an_error():
    @gs.primitive
    def doubled(x):
        x *= 2
        return x

    @doubled.adjoint
    def _(out, x, *, d_out):
        return 2 * d_out

    with pytest.raises(ArgumentError, match="`doubled` wrote to an argument"):
        gs.grad(lambda x: np.sum(doubled(x) * x))(X.copy())


def test_a_primitive_that_returns_its_argument_returns_a_copy():
    @gs.primitive
    def same(x):
        return x

    @same.adjoint
    def _(out, x, *, d_out):
        return d_out

    def f(x):
        y = x * 1.0
        z = same(y)
        z[0] = 0.0
        return np.sum(y * z)

    gradient = gs.grad(f)(X.copy())
    np.testing.assert_allclose(gradient, [0, *(2 * X[1:])])


RUNS = {
    "compiled": lambda f: gs.grad(f)(X.copy()),
    "forward": lambda f: gs.jvp(f, (X.copy(),), (X,)),
    "recorded": lambda f: gs.grad(f, compile=False)(X.copy()),
    "tensors": lambda f: gs.differentiable(f)(gs.tensor(X, requires_grad=True)),
    "eager": lambda f: f(gs.tensor(X, requires_grad=True)),
}


@pytest.mark.parametrize("run", RUNS)
def test_what_a_primitive_says_of_memory_is_checked_in_each_call(run):
    @gs.primitive(pure=True)
    def tail(x):
        return x[1:]

    @tail.adjoint
    def _(out, x, *, d_out):
        found = np.zeros_like(x)
        found[1:] = d_out
        return found

    @gs.primitive(writes=("out",))
    def filled(out, other):
        out[...] = other[...] = 2.0

    def stored(x):
        y = x * 1.0
        t = tail(y)
        t *= 2
        return (y**2).sum()

    def written(x):
        w = np.ones(4)
        filled(np.zeros(4), w)
        return (x * w).sum()

    with pytest.raises(ArgumentError, match=r"`tail`, .* returned memory of its argument `x`"):
        RUNS[run](stored)
    with pytest.raises(ArgumentError, match="`filled` wrote to its argument `other`"):
        RUNS[run](written)


def test_arrays_that_share_memory_with_what_a_primitive_writes_to_may_change():
    @gs.primitive(writes=("out",))
    def shifted(out, x):
        out[...] = 2 * x

    def f(x):
        w = np.arange(5.0)
        shifted(w[1:], w[:-1])
        return np.sum(w[1:] * x)

    check(f)
    np.testing.assert_array_equal(gs.grad(f, compile=False)(X), [0, 2, 4, 6])


def test_a_primitive_runs_where_its_result_is_not_read():
    @gs.primitive
    def doubled(x):
        x *= 2
        return x

    def f(x):
        y = x * 1.0
        doubled(y)
        return np.sum(y**2)

    for transform in (gs.grad, gs.value_and_grad):
        with pytest.raises(ArgumentError, match="`doubled` wrote to an argument"):
            transform(f)(X.copy())


LOG = bytearray()


def test_what_a_call_may_have_kept_is_read_anew_after_each_call():
    def f(x):
        y = np.ones(4)
        LOG.extend(y)
        y[0] = 2.0
        LOG.clear()
        return np.sum(y * x**2)

    check(f)
    expected = """\
    y = np.ones(4)
    y_kept = y.copy()
    LOG.extend(y_kept)
    y = y_kept.copy()
    y[0] = 2.0
    np.copyto(y_kept, y)
    LOG.clear()
    y = y_kept.copy()
"""
    assert expected in gs.differentiable(f).specialize(X).gradient_source


def test_what_was_kept_in_the_iterations_before_is_read_anew():
    def f(x):
        total, y = 0.0, np.ones(4)
        for k in range(100):
            LOG.clear()
            y[k % 4] += 0.01
            total = total + np.sum(y * x**2)
            LOG.extend(y)
        return total

    check(f)
    assert "for " in gs.differentiable(f).specialize(X).forward_source


def test_what_is_made_in_one_iteration_does_not_concern_the_next():
    def f(x):
        total = 0.0
        for k in range(len(x)):
            LOG.clear()
            y = x * k
            LOG.extend(y)
            total = total + x[k]
        return total

    check(f)
    assert "for " in gs.differentiable(f).specialize(X).forward_source


def test_what_one_path_gives_away_is_read_anew_on_both():
    def f(x):
        y = np.ones(4)
        if np.sum(x) > 1:
            LOG.extend(y)
        y[1] = 3.0
        LOG.clear()
        return np.sum(y * x**2)

    check(f)


def test_the_advice_is_a_primitive():
    def f(x):
        out = np.zeros(4)
        PACK("d", out, 0, x[0])
        return np.sum(out)

    with pytest.raises(NoDerivativeError, match=r"gs\.primitive"):
        gs.grad(f)(X)


class Linked:
    """A class that holds an object of its own."""

    def weight(self):
        return 2.0


Linked.first = Linked()


def test_a_class_that_holds_its_own_objects_is_looked_into_once():
    held = Linked()

    def f(x):
        gc.is_tracked(held)
        return np.sum(x)

    assert gs.grad(f)(X).tolist() == [1, 1, 1, 1]


class Pair(ctypes.Array):
    _type_, _length_ = ctypes.c_double, 2


class Hexadecimal(float):
    pass


def test_python_makes_methods_in_c_anew_when_they_are_read():
    def f(x):
        written = np.ones(4)
        pair = Pair.from_buffer(written)
        pair[1] = 6.0
        return Hexadecimal.fromhex("0x1.8p+1") * np.sum(written * x)

    assert gs.grad(f)(X).tolist() == [3, 18, 3, 3]


# -- as they are written -----------------------------------------------------------------------


def source_of(f):
    return gs.differentiable(f).specialize(X).gradient_source


def test_items_of_unknown_objects_are_stored_as_python_writes_it():
    def f(x):
        table = np.array([None, None, None, None])
        table[0], table[1:] = "a", "b"
        table[int(x[0]) :] = "ccc"
        return np.sum(x) * len(table[0]) * len(table[3])

    check(f)
    expected = """\
    table[0] = "a"
    table[1:] = "b"
    table[int(x[0]) :] = "ccc"
"""
    assert expected in source_of(f)


def test_what_is_stored_through_an_unknown_result_is_written_so():
    def f(x):
        found = memoryview(bytearray(3))
        found[0] = 5
        found[1] += 2
        return np.sum(x) * float(found[0] + found[1])

    check(f)
    assert "    found[0] = 5\n    found[1] += 2\n" in source_of(f)


def test_slices_are_written_out_where_they_are_no_index():
    def f(x):
        k = int(x[0])
        table = np.array([None, None])
        table[k] = slice(k, None)
        parts = collections.deque([slice(k, k + 1)])
        return np.sum(x) * len(parts)

    check(f)
    assert "table[k] = slice(k, None, None)" in source_of(f)


def test_the_buffer_of_an_array_is_no_constant():
    with pytest.raises(UnsupportedError, match="memoryview"):
        gs.grad(lambda x: float(memoryview(x)[1]) * x[0])(X)
    check(lambda x: x.data[1] * x[0] if x.data[2] > 0 else x[0])

    def f(x):
        scratch = np.zeros(4)
        scratch.data[1] = 3.0
        return np.sum(scratch * x**2)

    check(f)


def test_np_vectorize_calls_its_function_once_more_than_there_are_elements():
    def f(x):
        total = [0.0]

        def running(a):
            total[0] += a
            return a * total[0]

        return np.sum(np.vectorize(running)(x) * x)

    check(f)


class Shows(logging.Handler):
    def emit(self, record):
        self.shown = record.getMessage()


class Halves(logging.Handler):
    def emit(self, record):
        for array in record.args:
            array *= 0.5


class Fills(logging.Filter):
    def filter(self, record):
        record.args[0].fill(0.5)
        return True


def logger_with(part: Any) -> logging.Logger:
    logger = logging.Logger("own")
    (logger.addFilter if isinstance(part, logging.Filter) else logger.addHandler)(part)
    return logger


def test_handlers_of_logs_may_read_arrays() -> None:
    logger = logger_with(Shows())

    def logged(x):
        y = x * 2
        logger.info("y = %s", y)
        return y.sum()

    assert gs.grad(logged)(np.ones(2)).tolist() == [2.0, 2.0]
    assert logger.handlers[0].shown == "y = [2. 2.]"


@pytest.mark.parametrize("part", [Halves(), Fills()])
@pytest.mark.parametrize("constant", [True, False])
def test_handlers_of_logs_that_store_to_arrays_are_refused(part: Any, constant: bool) -> None:
    logger = logger_with(part)
    adapter = logging.LoggerAdapter(logger, {})

    def logged(x):
        y = np.ones(2) if constant else x * 2
        adapter.warning("y = %s", y)
        return (y * x).sum()

    with pytest.raises(UnsupportedError, match="changes an array that `warning` is given to show"):
        gs.grad(logged)(np.array([3.0, 4.0]))


TABLE = np.arange(4.0)
ADDRESS = TABLE.ctypes.data


def by_cast(x):
    pointer = ctypes.cast(ADDRESS, ctypes.POINTER(ctypes.c_double))
    pointer[0] = 8.0
    return np.sum(TABLE * x)


def by_a_call(x):
    ctypes.memset(ADDRESS, 0, 16)
    return np.sum(TABLE * x)


def by_a_pointer(x):
    ctypes.memset(ctypes.c_void_p(ADDRESS), 0, 16)
    return np.sum(TABLE * x)


def by_an_array_there(x):
    shown = np.ctypeslib.as_array((ctypes.c_double * 4).from_address(ADDRESS))
    shown[1] = 3.0
    return np.sum(TABLE * x)


@pytest.mark.parametrize("function", [by_cast, by_a_call, by_a_pointer, by_an_array_there])
def test_an_address_that_is_a_number_may_lead_anywhere(function):
    check_refused(function, "from outside is both read and changed")


def test_no_address_leads_nowhere():
    buffer = ctypes.create_string_buffer(8)

    def cleared(x):
        ctypes.memset(buffer, 0, 8)
        ctypes.c_void_p(0)
        return np.sum(TABLE * x)

    assert gs.grad(cleared)(X).tolist() == TABLE.tolist()


KEPT = []


def keeps_its_row(row):
    KEPT.append(row)
    row[0] = 9.0
    return row.sum()


def rows_in_turn(function, rows):
    if np.ndim(rows) == 1:
        return np.array(function(rows))
    return np.array([rows_in_turn(function, row) for row in rows])


@pytest.mark.parametrize(
    "along", [lambda f, a: np.apply_along_axis(f, 1, a), rows_in_turn], ids=["numpy", "own"]
)
def test_what_a_recursive_function_gives_away_is_stored_to(along):
    def summed(x):
        return np.sum(along(keeps_its_row, np.arange(8.0).reshape(2, 4))) * np.sum(x)

    KEPT.clear()
    expected = summed(X)
    kept = [row.tolist() for row in KEPT]
    KEPT.clear()
    assert gs.value_and_grad(summed)(X)[0] == expected
    assert [row.tolist() for row in KEPT] == kept


def test_no_file_is_written_when_a_function_is_compiled(tmp_path):
    path = tmp_path / "numbers"
    for method in ("tofile", "dump"):

        def never(x, method=method):
            if np.sum(x) < 0:
                getattr(np.arange(4.0), method)(path)
                getattr(x, method)(path)
            return np.sum(x)

        with pytest.raises(UnsupportedError):
            gs.grad(never)(X)
        assert not path.exists()


def test_compiled_code_is_not_tried_on_places_that_are_made_up():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    lapack = pytest.importorskip("scipy.linalg.lapack")

    def distance(x):
        found = csgraph.dijkstra(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]))
        return found[0, 1] * x[3]

    def solved(x):
        factors, pivots, _ = lapack.dsytrf(np.asfortranarray(np.eye(4) * 4 + 1))
        found, _ = lapack.dsytrs(factors, pivots, np.ones((4, 1)))
        return np.sum(found[:, 0] * x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(distance)
        check(solved)

    def swapped(x):
        found = lapack.dlaswp(np.asfortranarray(np.eye(4)), np.array([3, 2, 2, 3]))
        return np.sum(found @ x)

    check_refused(swapped, "whose type is not known")


def test_numbers_that_are_equal_on_trial_are_two():
    linalg = pytest.importorskip("scipy.linalg")
    matrix = np.array([[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 3.0, 1.0]])

    def program(x):
        lower, upper = linalg.bandwidth(matrix)
        return x[0] * lower + x[1] * upper

    np.testing.assert_array_equal(gs.grad(program)(np.ones(2)), [1.0, 0.0])
