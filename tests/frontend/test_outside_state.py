"""What is compiled finds the state outside as it is, and leaves it as Python does; a refusal leaves
it alone."""

from __future__ import annotations

import collections
import contextlib
import functools
import sys
import types

import numpy as np
import pytest
import scipy.integrate
import scipy.ndimage
import scipy.sparse.linalg

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([1.0, 2.0, 3.0])
RATE = 3.0
HERE = sys.modules[__name__]
LISTS: collections.defaultdict = collections.defaultdict(list)
WEIGHTS: collections.defaultdict = collections.defaultdict(lambda: 1.0)


def stores_by_its_name(x):
    HERE.RATE = RATE + 1.0
    return RATE * np.sum(x)


def stores_by_setattr(x):
    setattr(HERE, "RATE", RATE + 1.0)
    return RATE * np.sum(x)


@pytest.mark.parametrize("function", [stores_by_its_name, stores_by_setattr])
@pytest.mark.parametrize(
    "transform", [gs.value_and_grad, lambda f: gs.differentiable(f).specialize]
)
def test_a_refused_store_to_a_module_is_not_made(function, transform):
    with pytest.raises(UnsupportedError, match="attribute `RATE` of this value cannot be stored"):
        transform(function)(X)
    assert RATE == 3.0


def of_a_missing_list(x):
    try:
        return LISTS["a"][0] * np.sum(x)
    except KeyError:
        return x[0]
    except IndexError:
        return x[1]


def of_a_list_that_grows(x):
    LISTS["a"].append(2.0)
    return (len(LISTS) + len(LISTS["b"])) * np.sum(x)


@pytest.mark.parametrize("compile_", [True, False, "auto"])
@pytest.mark.parametrize("function", [of_a_missing_list, of_a_list_that_grows])
def test_an_item_that_a_dict_makes_is_made_at_each_call(function, compile_):
    value_and_grad = gs.value_and_grad(function, compile=compile_)
    for _ in range(3):
        LISTS.clear()
        expected, made = function(X), dict(LISTS)
        LISTS.clear()
        assert value_and_grad(X)[0] == expected
        assert dict(LISTS) == made


def weighted(x):
    return WEIGHTS["w"] * np.sum(x)


def test_an_item_that_is_there_is_read_and_one_that_is_gone_is_made():
    value_and_grad = gs.value_and_grad(weighted)
    for weight in (2.0, 3.0):
        WEIGHTS["w"] = weight
        assert value_and_grad(X)[0] == weight * 6.0
    WEIGHTS.clear()
    assert value_and_grad(X)[0] == 6.0
    assert dict(WEIGHTS) == {"w": 1.0}


def test_a_refusal_makes_no_item():
    WEIGHTS.clear()
    with pytest.raises(UnsupportedError):
        gs.grad(lambda x: WEIGHTS["w"] * np.sum(x) * x.flags.aligned)(X)
    assert not WEIGHTS


def test_what_a_handle_of_cffi_leads_to_may_be_changed():
    ffi = pytest.importorskip("cffi").FFI()
    held = {"a": 2.0}
    handle = ffi.new_handle(held)

    def function(x):
        ffi.from_handle(handle)["a"] = 5.0
        return held["a"] * np.sum(x)

    with pytest.raises(UnsupportedError, match="both read and changed"):
        gs.value_and_grad(function)(X)
    assert held == {"a": 2.0}
    assert gs.value_and_grad(function, compile=False)(X)[0] == 30.0


CALLS = [0.0]


def counted(v):
    CALLS[0] += 1.0
    return v


COUNTING = scipy.sparse.linalg.LinearOperator((3, 3), matvec=counted, dtype=float)


def calls_by_a_method(x):
    COUNTING.matvec(np.ones(3))
    return CALLS[0] * np.sum(x)


def calls_by_a_solver(x):
    scipy.sparse.linalg.cg(COUNTING, np.ones(3))
    return CALLS[0] * np.sum(x)


@pytest.mark.parametrize("function", [calls_by_a_method, calls_by_a_solver])
def test_what_a_function_changes_that_an_object_of_a_library_calls_is_not_read(function):
    for transform in (gs.value_and_grad(function), lambda x: gs.jvp(function, (x,), (x,))):
        CALLS[0] = 0.0
        with pytest.raises(UnsupportedError, match="both read and changed"):
            transform(X)
    CALLS[0] = 0.0
    expected = function(X)
    CALLS[0] = 0.0
    assert gs.value_and_grad(function, compile=False)(X)[0] == expected


def operators_of_an_object(x):
    counts = np.zeros(3)

    def product(v):
        counts[0] += 1.0
        return 2 * v

    a = scipy.sparse.linalg.LinearOperator((3, 3), matvec=product, dtype=float)
    a @ np.ones(3)
    (-a) @ np.ones(3)
    return np.sum(counts * x)


@pytest.mark.parametrize("compile_", [True, False, "auto"])
def test_an_operator_of_an_object_may_write_to_what_that_holds(compile_):
    value, gradient = gs.value_and_grad(operators_of_an_object, compile=compile_)(X)
    assert value == operators_of_an_object(X)
    np.testing.assert_array_equal(gradient, [2.0, 0.0, 0.0])


def read_after_it_was_overwritten(x):
    w = np.array([3.0, 1.0, 2.0])
    middle = np.median(w, overwrite_input=True)
    return np.sum(w * x) + middle


def labelled(x):
    labels = np.zeros(3, dtype=np.int32)
    count = scipy.ndimage.label(np.array([1, 0, 1]), output=labels)
    return np.sum(labels * x) + int(count)


@pytest.mark.parametrize("function", [read_after_it_was_overwritten, labelled])
def test_a_call_that_writes_stays_before_what_reads_that(function):
    expected = function(X)
    assert gs.value_and_grad(function)(X)[0] == expected
    assert gs.vjp(function, X)[0] == expected
    assert gs.jvp(function, (X,), (X,))[0] == expected
    with_tensors = gs.differentiable(function)(gs.tensor(X, requires_grad=True))
    assert with_tensors.item() == expected


def test_what_an_object_of_numba_is_asked_may_write_to_what_that_holds():
    numba = pytest.importorskip("numba")
    experimental = pytest.importorskip("numba.experimental")

    @experimental.jitclass([("notes", numba.float64[:])])
    class Noting:
        def __init__(self, notes):
            self.notes = notes

        def __len__(self):
            self.notes[0] += 1.0
            return 2

        def __getitem__(self, key):
            self.notes[1] += 1.0
            return 3.0

        def __contains__(self, item):
            self.notes[2] += 1.0
            return True

    def function(x):
        notes = np.zeros(3)
        it = Noting(notes)
        total = float(len(it)) + float(it[0]) + (1.0 if 2.0 in it else 0.0)
        return np.sum(notes * x) + total * x[0]

    for options in ({}, {"compile": False}):
        value, gradient = gs.value_and_grad(function, **options)(X)
        assert value == function(X)
        np.testing.assert_array_equal(gradient, [7.0, 1.0, 1.0])


class Statistics:
    calls = 0.0


def counted_by_class(t):
    Statistics.calls += 1.0
    return t


def counted_by_itself(t):
    counted_by_itself.calls += 1.0
    return t


counted_by_itself.calls = 0.0


def of_a_class(x):
    area = scipy.integrate.quad(counted_by_class, 0, 1)[0]
    return float(area) * x[0] + Statistics.calls * x[1]


def of_a_function(x):
    area = scipy.integrate.quad(counted_by_itself, 0, 1)[0]
    return float(area) * x[0] + counted_by_itself.calls * x[1]


@pytest.mark.parametrize("function", [of_a_class, of_a_function])
def test_attributes_that_c_lets_a_function_store_are_not_read(function):
    with pytest.raises(UnsupportedError, match="both read and changed"):
        gs.value_and_grad(function)(X)


UNREAD = {}
exec(  # a class without source
    """
class Noting:
    def __init__(self, notes):
        self.notes = notes
    def note(self, *_):
        self.notes[0] += 1.0
        return 1
    def holds(self, *_):
        return self.note() == 1
    __len__ = __index__ = __int__ = __getitem__ = __add__ = __radd__ = __neg__ = __matmul__ = note
    __bool__ = __contains__ = __eq__ = __lt__ = __gt__ = holds
    total = property(note)
""",
    UNREAD,
)
NOTING = functools.partial(UNREAD["Noting"])


def added(it):
    return it + 2.0, 2.0 + it, -it, it @ it


def asked(it):
    return len(it), it[0], 2.0 in it, int(it)


def compared(it):
    return it == 1.0, it < 1.0, 1.0 < it, (it,) == (1.0,), it in [3.0]


def judged(it):
    return (1 if it else 2), not it, it or 3.0, it and 4.0, any([it, it]), all([it, it])


def looked_at(it):
    return it.total, [1.0, 2.0][it], (1.0, 2.0)[it]


def waited_for(it):
    count = 0
    while it:
        count += 1
        if count > 3:
            break
    return count


@pytest.mark.parametrize("use", [added, asked, compared, judged, looked_at, waited_for])
def test_what_an_unread_object_is_asked_may_write_to_what_that_holds(use):
    def function(x):
        notes = np.zeros(3)
        use(NOTING(notes))
        return np.sum(notes * x)

    for options in ({}, {"compile": "auto"}, {"compile": False}):
        value, gradient = gs.value_and_grad(function, **options)(np.ones(3))
        assert value == function(np.ones(3))
        assert gradient[0] == value


class Switch:
    def __init__(self, notes, is_on):
        self.notes, self.is_on = notes, is_on

    def __bool__(self):
        self.notes[0] += 1.0
        return self.is_on


@pytest.mark.parametrize("decide", [any, all])
def test_any_and_all_ask_each_object_once_and_no_more_than_they_need(decide):
    def function(x):
        notes = np.zeros(3)
        decided = decide([Switch(notes, True), Switch(notes, False), Switch(notes, True)])
        return np.sum(notes * x) + (1.0 if decided else 0.0)

    for options in ({}, {"compile": False}):
        assert gs.value_and_grad(function, **options)(np.ones(3))[0] == function(np.ones(3))


@contextlib.contextmanager
def storing(array):
    array[0] = 5.0
    yield
    array[1] = 7.0


@contextlib.contextmanager
def at_another_rate(model):
    old, model.rate = model.rate, 3.0
    yield
    model.rate = old


RATED = types.SimpleNamespace(rate=1.0)


def in_a_block_that_stores(x):
    weights = np.ones(3)
    with storing(weights):
        total = weights @ x
    return total + weights @ x**2


def in_a_block_at_another_rate(x):
    with at_another_rate(RATED):
        total = RATED.rate * np.sum(x)
    return total + RATED.rate * np.sum(x)


@pytest.mark.parametrize("function", [in_a_block_that_stores, in_a_block_at_another_rate])
def test_context_managers_made_by_functions_change_what_is_read(function):
    for options in ({}, {"compile": "auto"}, {"compile": False}):
        try:
            value, _ = gs.value_and_grad(function, **options)(X)
        except UnsupportedError:
            assert not options
            continue
        assert value == function(X)
