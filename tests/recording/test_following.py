"""Calls that NumPy's protocols do not tell of are followed where the source can be read."""

import decimal
import functools
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import GradscribeError, NoDerivativeError

X = np.array([0.3, 0.7, 1.1])
A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])


def filled(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = math.exp(x[i]) * x[0]
    out[1:] += x[:2]
    return np.sum(out**2)


def of_lists(x):
    point = np.array([x[0], 2.0 * x[1]])
    return np.linalg.norm([x[2], x[0]]) + np.sum([v * v for v in x]) + point @ point


def copied(x):
    B = A.copy()
    B[0, 0] = x[0]
    C = np.full((3, 3), 1.0)
    C[1] = x
    return np.linalg.det(B) + A.dot(x)[1] + np.sum(C * B)


def converted(x):
    y = np.asarray(x, dtype=float)
    return float(y[0]) * np.float64(y[1]) + y.sum() if type(x) is np.ndarray else 0.0


class Curve:
    def __init__(self, x):
        self.knots = np.zeros(4)
        self.knots[1:] = x
        self.length = math.hypot(x[0], x[1])

    def __call__(self, t):
        return self.length * np.interp(t, [0.0, 1.0, 2.0, 3.0], self.knots) * math.sin(self.length)


def of_objects(x):
    return Curve(x)(1.5)


class Shifted(Curve):
    def __init__(self, x):
        super().__init__(x + 1)


def of_inherited_objects(x):
    return Shifted(x)(0.5)


def of_functions(x):
    largest = max(x, key=lambda v: math.cos(v))
    total = functools.reduce(lambda a, b: a + math.sqrt(b), x)
    pieces = np.piecewise(x, [x > 0.5], [lambda t: t * x[0], lambda t: t**2])
    return largest * total + sum(map(math.log, x)) + np.sum(pieces)


def of_parts(x):
    mantissa, exponent = math.frexp(10 * x[0])
    fraction, whole = math.modf(3 * x[1])
    return mantissa * exponent + fraction * (whole + 1) * math.ldexp(x[2], 1)


def of_objects_of_numpy(x):
    y = np.array(x, dtype=object)
    return (y * y).sum() + (x[:2].astype("O") * y[1:]).sum()


def with_texts(x):
    text = "%.2f and %s" % (x[0], x)
    return x[0] * len("{:.1f}".format(x[1])) + len(text) * 0.0


def closure(scale):
    def scaled(x, power=2):
        return np.sum(scale * x**power) * math.exp(x[0])

    return scaled


@pytest.mark.parametrize(
    "function",
    [
        filled,
        of_lists,
        copied,
        converted,
        of_objects,
        of_inherited_objects,
        of_functions,
        of_parts,
        of_objects_of_numpy,
        with_texts,
        closure(2.0),
        functools.partial(closure(3.0), power=3),
        lambda x: math.pow(x[0], 2) * math.atan2(x[1], x[2]),
    ],
)
def test_calls_are_followed(function):
    step = 1e-6
    ends = [(function(X + step * d), function(X - step * d)) for d in np.eye(3)]
    expected = [(above - below) / (2 * step) for above, below in ends]
    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert value == function(X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)


def test_calls_with_tensors_are_followed():
    x = gs.tensor(X, requires_grad=True)
    gs.differentiable(filled, compile=False)(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), gs.grad(filled)(X))


def test_functions_of_scipy_with_rules_are_followed():
    linalg, special = pytest.importorskip("scipy.linalg"), pytest.importorskip("scipy.special")

    def function(x):
        return special.logsumexp(x) + linalg.inv(A * x[0])[0, 0]

    expected = gs.grad(function)(X)
    np.testing.assert_allclose(gs.grad(function, compile=False)(X), expected)


def without_source(text):
    namespace = {"np": np, "math": math}
    exec(text, namespace)
    return namespace["f"]


def test_what_is_not_followed_is_refused():
    for text in (
        "def f(x):\n    return math.exp(x[0])",
        "def f(x):\n    out = np.zeros(3)\n    out[0] = x[0]\n    return out[0]",
        "def f(x):\n    out = np.zeros(3)\n    out[:] = x\n    return out[0]",
        "def f(x):\n    return np.array([x[0], 1.0])[0]",
        "def f(x):\n    return np.asarray(x)[0]",
    ):
        with pytest.raises(NoDerivativeError, match="takes a value that is differentiated out of"):
            gs.grad(without_source(text), compile=False)(X)


def test_source_that_is_not_that_of_the_code_is_not_used(tmp_path):
    file = tmp_path / "changed.py"
    namespace = {"math": math}
    exec(compile("def f(x):\n    return math.exp(x)", str(file), "exec"), namespace)
    file.write_text("def f(x):\n    return math.sin(x)\n")
    with pytest.raises(GradscribeError, match="takes a value"):
        gs.grad(namespace["f"], compile=False)(1.0)


def test_variables_of_a_function_are_its_own():
    def function(x):
        y = 2 * x
        names.append((sorted(locals()), sorted(vars()), type("Made", (), {}).__module__))
        return y * y

    names = []
    assert gs.grad(function, compile=False)(3.0) == 24.0
    function(3.0)
    assert names[0] == names[1] == (["names", "x", "y"], ["names", "x", "y"], __name__)


def test_code_in_c_shares_the_memory_of_arrays_that_record():
    ctypes = pytest.importorskip("ctypes")

    def function(x):
        scratch = np.zeros(3)
        ctypes.memmove(scratch.ctypes.data, A[0].ctypes.data, 24)
        memoryview(scratch)[0] = 5.0
        return np.sum(scratch * x)

    assert gs.grad(function, compile=False)(X).tolist() == [5.0, 1.0, 0.0]


def test_arrays_that_c_was_given_take_no_value_that_is_differentiated():
    def function(x):
        scratch = np.zeros(3)
        held = memoryview(scratch)
        scratch[0] = x[0]
        return np.sum(scratch) + held[0]

    with pytest.raises(GradscribeError, match="cannot be stored in an array that code which"):
        gs.grad(function, compile=False)(X)


def test_numbers_are_not_read_from_texts_of_what_is_differentiated():
    def by_float(x):
        return float(f"{x[0]:.3f}") * x[1]

    def by_eval(x):
        return eval(repr(float(x[0]))) * x[1]

    def by_complex(x):
        return complex(str(x[0])).real * x[1]

    def by_integer(x):
        return int(f"{1000 * x[0]:.0f}") * x[1]

    def by_decimal(x):
        return float(decimal.Decimal(str(x[0]))) * x[1]

    def by_array(x):
        return np.array([str(x[0])], dtype=float)[0] * x[1]

    def by_conversion(x):
        return np.array([str(x[0])]).astype(float)[0] * x[1]

    def by_store(x):
        y = np.zeros(1)
        y[0] = str(x[0])
        return y[0] * x[1]

    class Told:
        def __init__(self, number):
            self.number = number

        @property
        def read(self):
            return float(str(self.number))

    def by_property(x):
        return Told(x[0]).read * x[1]

    class Length(float):
        pass

    def by_subclass(x):
        return Length(str(x[0])) * x[1]

    def by_new(x):
        return float.__new__(float, str(x[0])) * x[1]

    by_source = without_source("def f(x):\n    return float(str(x[0])) * x[1]")
    for function in (
        *(by_float, by_eval, by_complex, by_integer, by_decimal),
        *(by_array, by_conversion, by_store, by_property, by_source, by_subclass, by_new),
    ):
        with pytest.raises(NoDerivativeError, match="a number is read from a text"):
            gs.grad(function, compile=False)(X)


def test_a_refusal_that_is_caught_is_raised_at_the_end():
    function = without_source(
        "def f(x):\n"
        "    try:\n"
        "        scale = math.exp(x[0])\n"
        "    except Exception:\n"
        "        scale = 1.0\n"
        "    return scale * x[1]"
    )
    with pytest.raises(NoDerivativeError, match="takes a value that is differentiated out of"):
        gs.grad(function, compile=False)(X)


def test_lists_that_c_changes_are_those_of_the_program():
    heapq = pytest.importorskip("heapq")

    def function(x):
        heap = [x[2], x[0], x[1], np.zeros(2)[0]]
        heapq.heapify(heap)
        return heapq.heappop(heap) + 2 * heapq.heappop(heap)

    assert gs.grad(function, compile=False)(X).tolist() == [2.0, 0.0, 0.0]


def test_texts_are_made_where_nothing_is_read(capsys):
    f = without_source("def f(x):\n    print(x[0])\n    return x[0] * x[1]")
    assert gs.grad(f, compile=False)(X).tolist() == [0.7, 0.3, 0.0]
    assert capsys.readouterr().out == "0.3\n"


def test_an_index_that_is_none_raises_what_numpy_does():
    def function(x):
        try:
            return x["a"]
        except IndexError:
            return x[0]

    assert gs.grad(function, compile=False)(X).tolist() == [1.0, 0.0, 0.0]


def test_numbers_without_derivative_may_be_keys():
    def function(x):
        key = gs.grad(lambda y: y * y, compile=False)(2.0)
        return x[0] * {key: 2.0}[key] + len({np.float64(v) for v in (1.0, key)})

    assert gs.grad(function, compile=False)(X).tolist() == [2.0, 0.0, 0.0]


def in_threads(x):
    out = np.zeros(3)

    def fill(i):
        out[i] = math.exp(x[i]) * x[0]

    threads = [threading.Thread(target=fill, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(fill, 2).result() or np.sum(out**2)


def test_threads_are_part_of_the_run():
    expected = [2 * math.exp(2 * v) * X[0] ** 2 for v in X]
    expected[0] += 2 * X[0] * sum(math.exp(2 * v) for v in X)
    np.testing.assert_allclose(gs.grad(in_threads, compile=False)(X), expected)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_a_thread_refuses_is_raised_at_the_end():
    def function(x):
        read = [0.0]

        def tell():
            read[0] = float(str(x[0]))

        thread = threading.Thread(target=tell)
        thread.start()
        thread.join()
        return read[0] * x[1]

    with pytest.raises(NoDerivativeError, match="a number is read from a text"):
        gs.grad(function, compile=False)(X)


def test_arrays_that_objects_stand_for_are_refused():
    class Sampled:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return self.values

    with pytest.raises(NoDerivativeError, match="code that does not record is given what is diff"):
        gs.grad(lambda x: np.sum(np.sin(Sampled(x))), compile=False)(X)
