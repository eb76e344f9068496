"""Calls that NumPy's protocols do not tell of are followed where the source can be read."""

import _thread
import contextlib
import dataclasses
import functools
import linecache
import math
import operator
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import gradscribe as gs
from gradscribe.errors import GradscribeError, NoDerivativeError
from tests.sampling import RUN, examples

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


class Measured:
    """A number whose operators, properties and conversions compute with `math`."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Measured(math.hypot(self.value, other.value))

    def __iadd__(self, other):
        self.value = float(self.value) + math.exp(other)
        return self

    def __matmul__(self, other):
        out = np.zeros(2)
        out[0], out[1] = self.value, math.sin(other.value)
        return out

    def __getitem__(self, power):
        return math.pow(self.value, power)

    def __setitem__(self, scale, value):
        self.value = float(self.value) * scale + math.log(value)

    def __float__(self):
        return math.cosh(self.value)

    def __iter__(self):
        yield from (math.exp(self.value), float(self.value))

    def __lt__(self, other):
        return float(self.value) < float(other.value)

    def __enter__(self):
        return math.sqrt(self.value)

    def __exit__(self, *error):
        self.value = math.exp(self.value)

    @property
    def area(self):
        return math.pi * float(self.value) ** 2

    @area.setter
    def area(self, area):
        self.value = math.sqrt(area / math.pi)

    @functools.cached_property
    def cube(self):
        return math.pow(self.value, 3)


class Squared:
    def __get__(self, owner, cls):
        return math.pow(owner.root, 2)

    def __set__(self, owner, value):
        owner.root = math.sqrt(value)


class Rooted:
    square = Squared()

    def __new__(cls, value):
        made = object.__new__(cls)
        made.root = math.exp(value)
        return made


FROM_OUTSIDE = Measured(0.5)


def of_operators(x):
    total = Measured(x[0]) + Measured(x[1])
    total += x[2]
    total[2.0] = x[0]
    return np.sum(Measured(x[0]) @ total) * total[3] + sum([total], Measured(x[2])).value


def of_conversions(x):
    larger = max(Measured(x[0]), Measured(x[2]))
    stored = np.zeros(2)
    stored[1] = Measured(x[1])
    return float(larger) * stored[1] + math.exp(Measured(x[1])) + np.float64(larger)


def of_properties(x):
    found = Measured(x[0])
    found.area = x[1]
    return found.area * found.cube + found.value + FROM_OUTSIDE.area * x[2]


def of_iteration(x):
    first, second = Measured(x[0])
    return first * second + sum(Measured(x[1])) + [v * x[2] for v in Measured(x[2])][1]


def of_contexts(x):
    measured = Measured(x[0])
    with measured as root, scaled_by(x[1]) as scale:
        root = root * scale
    return root * measured.value


@contextlib.contextmanager
def scaled_by(value):
    yield math.exp(value)


def of_descriptors(x):
    rooted = Rooted(x[0])
    before = rooted.square
    rooted.square = x[1]
    return before * rooted.root * x[2]


@pytest.mark.parametrize(
    "function",
    [
        of_operators,
        of_conversions,
        of_properties,
        of_iteration,
        of_contexts,
        of_descriptors,
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


ENDS = st.sampled_from([0, 1, True, 2**60, 0.1, -1e16, 1e16, 1e100, math.inf, math.nan])


@seed(RUN.seed)
@settings(max_examples=examples(200, 15), database=None, deadline=None)
@given(st.lists(ENDS | st.floats(-1e3, 1e3)), st.integers(0, 3), ENDS)
def test_the_bits_of_a_sum_are_those_of_python(values, kind, start):
    """Sums of floats are compensated from CPython 3.12 on."""

    def function(x):
        given = [float(v * x[0]) if isinstance(v, float) else v for v in values]
        others = [given, given + [x[1]] + given, given + [True, 3] + given, [*given, *x, *given]]
        return sum((v for v in others[kind]), start) * 1.0 + sum(others[kind]) + float(x[0])

    ones = np.ones(2)
    with np.errstate(all="ignore"):
        value, gradient = gs.value_and_grad(function, compile=False)(ones)
        np.testing.assert_equal(value, function(ones))
    if np.all(np.isfinite([float(v) for v in values])):
        count = [2, 4, 4, 4][kind]
        floats = math.fsum(v for v in values if isinstance(v, float))
        extra = 2.0 if kind == 3 else 0.0
        assert gradient[0] == pytest.approx(count * floats + extra + 1.0, rel=1e-6, abs=1e85)


def test_classes_are_as_they_were_after_a_run():
    before = {cls: dict(vars(cls)) for cls in (Measured, Rooted, Squared)}
    with pytest.raises(ZeroDivisionError):
        gs.grad(lambda x: Measured(x[0]).area + Rooted(x[0]).square / 0, compile=False)(X)
    assert {cls: dict(vars(cls)) for cls in before} == before


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


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("np.sort_complex(x)[0].real", "has no derivative, and its result depends on"),
        ("float(str(x[0]))", "a number is read from a text"),
        ("{x[0]: 2.0}[0.5]", "cannot be the key of a dict"),
        ("x.ctypes.data", "`ctypes` takes a value that is differentiated"),
        ("x.__reduce__()", "pickling takes a value that is differentiated"),
        ("x.__array_interface__", "`__array_interface__` takes a value that is diff"),
        ("getattr(x, '__array_struct__')", "`__array_struct__` takes a value that is diff"),
        ("hasattr(x, '__array_struct__')", "`__array_struct__` takes a value that is diff"),
        ("np.from_dlpack(x)", "`__dlpack"),
        ("np.add(x, 1, out=W)", "cannot be stored in an array that does not record"),
        ("np.copyto(W, x)", "cannot be stored in an array that does not record"),
    ],
)
def test_a_refusal_that_is_caught_is_raised_at_the_end(value, message):
    text = (
        "def f(x):\n"
        "    try:\n"
        f"        scale = {value}\n"
        "    except Exception:\n"
        "        scale = 1.0\n"
        "    return scale * x[1]\n"
    )
    function = without_source(text)
    with pytest.raises(NoDerivativeError, match="there is no source, handles exceptions"):
        gs.grad(function, compile=False)(X)
    linecache.cache["<program>"] = (len(text), None, text.splitlines(keepends=True), "<program>")
    namespace = {"np": np, "math": math, "W": np.zeros(3)}
    exec(compile(text, "<program>", "exec"), namespace)
    with pytest.raises(GradscribeError, match=message):
        gs.grad(namespace["f"], compile=False)(X)


@pytest.mark.parametrize("value", ["np.ndarray.dot(x, x)", "float.hex(x[0])", "memoryview(x)[0]"])
def test_what_c_raises_of_what_records_is_no_error_of_the_program(value):
    function = without_source(f"def f(x):\n    return {value}")

    def calling(x):
        try:
            function(x)
        except Exception:
            x = 10 * x
        return np.sum(x)

    with pytest.raises(NoDerivativeError, match="TypeError, of what is differentiated"):
        gs.grad(calling, compile=False)(X)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("try:\n  {}\n except Exception:\n  x = 10 * x", "handles exceptions"),
        ("try:\n  {}\n except (KeyError, TypeError):\n  x = 10 * x", "handles exceptions"),
        ("try:\n  {}\n except:\n  x = 10 * x", "handles exceptions"),
        ("try:\n  {}\n except ERRORS:\n  x = 10 * x", "handles exceptions"),
        ("try:\n  {}\n except list((TypeError,))[0]:\n  x = 10 * x", "handles exceptions"),
        ("with contextlib.suppress(TypeError):\n  {}\n  x = 10 * x", "handles exceptions"),
        ("x = 10 * x if type(x) is np.ndarray else x", "compares classes"),
    ],
)
def test_functions_without_source_do_not_see_what_records(block, message):
    text = block.format("np.ndarray.dot(x, x)")
    function = without_source(f"def f(x):\n {text}\n return np.sum(x)")
    function.__globals__.update(contextlib=contextlib, ERRORS=(KeyError, ValueError))
    with pytest.raises(NoDerivativeError, match=f"of which there is no source, {message}"):
        gs.grad(function, compile=False)(X)


def test_functions_without_source_may_handle_what_they_raise():
    function = without_source(
        "def f(x, of=None):\n"
        " try:\n  scale = {}['a']\n"
        " except (KeyError, np.linalg.LinAlgError):\n  scale = 2.0\n"
        " finally:\n  x = 3 * x\n"
        " with np.errstate(divide='ignore'):\n  return scale * np.sum(x)"
    )
    parse = without_source(
        "def f(text):\n try:\n  return int(text)\n except ValueError:\n  return type(text)"
    )

    def calling(x):
        return function(x) + np.sum(x) * (parse("a") is str)

    for recorded in (function, calling):
        expected = 6.0 + (recorded is calling)
        assert np.all(gs.grad(recorded, compile=False)(X) == expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: float(x[0], None),
        lambda x: x.copy("Z"),
        lambda x: x.astype(float, order="Z"),
        lambda x: x.astype(float, nothing=1),
        lambda x: np.array(x, nothing=1),
        lambda x: np.array([x[0]], copy=False),
        lambda x: np.asarray(x, order="Z"),
        lambda x: np.ascontiguousarray(x, nothing=1),
        lambda x: np.gradient(x[:1]),
        lambda x: np.digitize(x, x[::-1] * [1, 3, 2]),
        lambda x: np.add(x, x[:2]),
        lambda x: np.stack([x, x[:2]]),
    ],
)
def test_calls_that_python_refuses_raise_what_the_program_handles(call):
    def function(x):
        try:
            call(x)
        except (TypeError, ValueError):
            x = 10 * x
        return np.sum(x)

    assert function(X) == 10 * np.sum(X)
    np.testing.assert_array_equal(gs.grad(function, compile=False)(X), np.full(3, 10.0))


def test_lists_that_c_changes_are_those_of_the_program():
    heapq = pytest.importorskip("heapq")

    def function(x):
        heap = [x[2], x[0], x[1], np.zeros(2)[0]]
        heapq.heapify(heap)
        return heapq.heappop(heap) + 2 * heapq.heappop(heap)

    assert gs.grad(function, compile=False)(X).tolist() == [2.0, 0.0, 0.0]


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

    with pytest.raises(NoDerivativeError, match="__array__ method not producing an array"):
        gs.grad(lambda x: np.sum(np.sin(Sampled(x))), compile=False)(X)


def in_a_dict_in_an_array(x):
    holder = np.array([{"y": x * 2.0, "z": [x[0]]}])
    return holder[0]["y"].sum() * holder[0]["z"][0]


def in_dicts_of_a_longer_array(x):
    kept = np.append(np.array([1.0], dtype=object), [{"y": x}])
    return (kept[1]["y"] ** 2).sum()


def in_an_array_of_one(x):
    return np.asarray({"y": x[0]}).item()["y"] ** 2


@pytest.mark.parametrize(
    "function", [in_a_dict_in_an_array, in_dicts_of_a_longer_array, in_an_array_of_one]
)
def test_what_dicts_in_arrays_hold_is_followed(function: Any) -> None:
    x, v = np.array([0.5, 2.0]), np.array([1.0, -0.5])
    gradient = gs.grad(function, compile=False)(x)
    steps = [(function(x + d) - function(x - d)) / 2e-6 for d in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(gradient, steps, rtol=1e-6)
    assert np.isclose(gs.jvp(function, (x,), (v,), compile=False)[1], gradient @ v)


def test_what_c_raises_of_recorded_values_is_not_handled_by_the_program():
    def taken(x):
        try:
            scale = np.frombuffer(x)[0]
        except Exception:
            scale = 1.0
        return scale * x[1]

    with pytest.raises(NoDerivativeError):
        gs.grad(taken, compile=False)(X)
    scaled = gs.grad(lambda x: np.frombuffer(np.ones(2))[0] * x[0], compile=False)
    assert scaled(X).tolist() == [1, *np.zeros(len(X) - 1)]


def test_methods_of_classes_of_numbers_and_arrays_are_followed():
    def added(x):
        return float.__add__(x[0], 1.0) * np.ndarray.sum(x)

    assert gs.grad(added, compile=False)(np.ones(2)).tolist() == [4.0, 2.0]


class NoOperand:
    __array_ufunc__ = None

    def __radd__(self, other):
        return 2 * other


def test_arrays_do_not_ask_objects_without_ufuncs_to_change_them():
    def f(x):
        y = x + NoOperand()
        try:
            y += NoOperand()
        except TypeError:
            y *= 5.0
        return np.sum(y)

    assert gs.value_and_grad(f, compile=False)(X)[0] == f(X)
    with pytest.raises(TypeError, match="does not support ufuncs"):
        X.copy().__iadd__(NoOperand())


class CountingItsHashes:
    count = 0

    def __hash__(self):
        CountingItsHashes.count += 1
        return 1

    def __call__(self):
        return 3.0


def test_what_is_called_is_not_asked_for_its_hash():
    called = CountingItsHashes()
    assert gs.grad(lambda x: called() * x[0], compile=False)(X)[0] == 3.0
    assert CountingItsHashes.count == 0


def decorated_inside(x):
    @operator.attrgetter("__code__.co_names")
    def names(a):
        return np.sin(a)

    @functools.lru_cache
    def twice(n):
        return 2.0 * n

    @contextlib.contextmanager
    def added(n):
        yield n + 1.0

    @dataclasses.dataclass
    class Pair:
        first: float
        second: float

        @property
        def product(self):
            return self.first * self.second

        @staticmethod
        def of(a):
            return Pair(a, twice(3))

    with added(x[0]) as more:
        return Pair.of(more).product * len(names)


def test_decorators_of_nested_functions_are_called_as_other_functions():
    x = np.array([0.5, 2.0])
    value, gradient = gs.value_and_grad(decorated_inside, compile=False)(x)
    assert value == decorated_inside(x)
    np.testing.assert_allclose(gradient, [12.0, 0.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.logical_or(np.zeros(2, object), x)[0],
        lambda x: np.logical_and(np.array(["a", "b"], object), x)[0],
        lambda x: np.logical_or(x, 0.0, dtype=object)[0],
        lambda x: np.logical_or.outer(np.zeros(2, object), x)[0, 0],
        lambda x: np.logical_or(np.array(0, object), x[0]),
        lambda x: np.logical_or(None, x[0]),
        lambda x: np.logical_or(np.zeros(2, object), x, out=np.empty(2, object))[0],
    ],
)
def test_objects_of_which_numpy_returns_one_are_refused(function):
    x = np.array([0.7, 1.3])
    assert function(x) == x[0]
    with pytest.raises(gs.errors.GradscribeError):
        gs.grad(function, compile=False)(x)


class Convertible:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def handles_what_numpy_says_of_records(x):
    ones = np.ones(3)
    try:
        total = np.stack([Convertible(ones), ones]).sum()
    except ValueError:
        total = 0.0
    return total * x[0]


def handles_all(x):
    try:
        norm = np.linalg.norm(Convertible(x))
    except:
        norm = 0.0
    return norm * x[0]


def handles_its_own(x):
    try:
        raise KeyError(3)
    except (KeyError, ValueError) as error:
        found = error.args[0]
    try:
        return x[7]
    except IndexError:
        return found * x[1]


@pytest.mark.parametrize(
    "function", [handles_what_numpy_says_of_records, handles_all, handles_its_own]
)
def test_no_handler_takes_what_plain_code_does_not_raise(function):
    gradient = gs.grad(function, compile=False)
    if function is handles_its_own:
        assert gradient(X).tolist() == [0.0, 3.0, 0.0]
    else:
        with pytest.raises(NoDerivativeError):
            gradient(X)


LACKING = {
    "iter": lambda v: iter(v[0]),
    "len": lambda v: len(v[0]),
    "in": lambda v: 1.0 in v[0],
    "call": lambda v: v(1.0),
    "next": lambda v: next(v),
    "hash": lambda v: {v: 1.0},
    "unpack": lambda v: [*v[0]],
    "store": lambda v: v[0].__class__.__name__ and operator.setitem(v[0], 0, 1.0),
}


@pytest.mark.parametrize("ask", LACKING)
def test_programs_may_handle_that_arrays_and_numbers_lack_a_method(ask):
    def tried(x):
        try:
            LACKING[ask](x)
        except TypeError as error:
            return (1.0 + ("numpy" in str(error))) * x[0]
        return x[1]

    value, gradient = gs.value_and_grad(tried, compile=False)(X)
    assert value == tried(X)
    assert gradient.tolist() == [value / X[0], 0.0, 0.0]


def test_threads_that_python_starts_itself_are_part_of_the_run():
    def program(x):
        weights, is_over = np.ones(3), threading.Event()

        def store():
            weights[0] = 9.0
            is_over.set()

        _thread.start_new_thread(store, ())
        is_over.wait(5.0)
        return np.sum(weights * x)

    assert gs.grad(program, compile=False)(X).tolist() == [9.0, 1.0, 1.0]


def named_locally(x):
    @dataclasses.dataclass
    class Part:
        a: float

        class Inner:
            def of(self):
                return lambda v: v

    def needing(v):
        yield v

    try:
        needing()
    except TypeError as error:
        said = str(error)
    made = [Part, Part.Inner, Part.Inner.of, Part.Inner().of(), needing, needing(1), lambda v: v]
    names = [repr(Part(1.0)), said, *(one.__qualname__ for one in made)]
    return x[0] * len("".join(names)), names


def test_what_a_function_defines_has_the_name_that_python_gives_it():
    x = np.array([2.0])
    _, names = named_locally(x)
    (value, found), _ = gs.value_and_grad(named_locally, compile=False, has_aux=True)(x)
    assert found == names and value == named_locally(x)[0]

    class Owner:
        def run(self, x):
            class Part:
                pass

            return x[0] * 2, Part.__qualname__

    _, name = gs.grad(Owner().run, compile=False, has_aux=True)(x)
    assert name == Owner().run(x)[1]


ASKED = [0]


class Asked:
    """Counts how often an attribute is read."""

    def __init__(self, value):
        self.value = value

    def __getattribute__(self, name):
        ASKED[0] += 1
        return object.__getattribute__(self, name)


def attributes_given_by_a_class_inside(x):
    class Inside:
        def __init__(self, value):
            self.value = value

        def __getattribute__(self, name):
            return 3.0 if name == "three" else super().__getattribute__(name)

        def doubled(self):
            return self.value * 2

    class Below(Inside):
        def __getattribute__(self, name):
            return super().__getattribute__(name)

    inside = Below(x)
    return inside.doubled() * inside.three


def attributes_are_read_as_often_as_in_python(x):
    before = ASKED[0]
    asked = Asked(x)
    held = [asked, (asked,)]
    return held[0].value * (ASKED[0] - before)


@pytest.mark.parametrize("options", [{"compile": False}, {"compile": "auto"}], ids=str)
def test_what_gives_attributes_is_called_by_the_program_alone(options):
    def found(function):
        return gs.value_and_grad(function, **options)(2.0)

    assert found(attributes_given_by_a_class_inside) == (12.0, 6.0)
    assert found(attributes_are_read_as_often_as_in_python) == (2.0, 1.0)
