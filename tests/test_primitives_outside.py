"""What the function of a primitive reads and changes outside is what the program finds there."""

from __future__ import annotations

import gc
import linecache
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from gradscribe.primitives.registry import PRIMITIVES
from tests.sampling import one_in

X = np.array([1.0, 2.0, 3.0])


class Model:
    def __init__(self) -> None:
        self.k, self.w = 2.0, np.ones(3)

    def grow(self) -> None:
        self.k = 5.0

    def forward(self, v):
        return v * self.k


M, W, COUNT, LOG, NUMBER = Model(), np.ones(3), {"n": 0.0}, [1.0], 1.0
BOX = [W]


def restart() -> None:
    global NUMBER
    M.__dict__.update(k=2.0, w=np.ones(3))
    W[:], LOG[:], NUMBER, COUNT["n"] = 1.0, [1.0], 1.0, 0.0


def scale():
    return M.k


def linear(function: Any, **declared: Any) -> Any:
    """A primitive that multiplies its argument by something."""
    made = gs.primitive(function, **declared)

    @made.adjoint
    def _(out, v, *, d_out):
        return d_out * out / v

    return made


def closure(model: Model = M):
    return linear(lambda v: v * model.k)


directly, by_a_helper, by_a_closure, by_its_name, as_a_method, known_to_be_pure, of_its_array = (
    linear(lambda v: v * M.k),
    linear(lambda v: v * scale()),
    closure(),
    linear(lambda v: v * operator.attrgetter("k")(M)),
    linear(M.forward),
    linear(lambda v: v * M.k, pure=True),
    linear(lambda v: v * M.w),
)
total = gs.primitive(lambda: float(W.sum()), pure=True)


def to_scratch(a):
    a += M.k


writing = gs.primitive(to_scratch, writes=("a",))
READERS = {
    "directly": directly,
    "by a helper": by_a_helper,
    "by a closure": by_a_closure,
    "by its name": by_its_name,
    "as a method": as_a_method,
    "known to be pure": known_to_be_pure,
}


def assign() -> None:
    M.k = 5.0


def multiply() -> None:
    M.k *= 3.0


def assign_by_name() -> None:
    setattr(M, "k", 5.0)


STORES = {"=": assign, "*=": multiply, "setattr": assign_by_name, "method": M.grow}


def stored_before(store: Callable[[], None], reader: Any) -> Any:
    def function(x):
        store()
        return np.sum(reader(x) * x)

    return function


def stored_in_a_loop(x):
    s = 0.0
    for _ in range(3):
        s = s + np.sum(directly(x))
        M.k = M.k + 1.0
    return s


def stored_on_a_path(x):
    if x[0] > 0:
        M.k = 5.0
    return np.sum(directly(x))


def stored_under_another_name(x):
    BOX[0][0] = 5.0
    return total() * np.sum(x)


def another_array(x):
    M.w = np.arange(3.0)
    return np.sum(of_its_array(x) * x)


def written(x):
    M.k = 5.0
    scratch = np.ones(3)
    writing(scratch)
    return np.sum(scratch * x)


READING = {
    **{f"{s}, {r}": stored_before(STORES[s], READERS[r]) for s in STORES for r in READERS},
    **{f.__name__: f for f in (stored_in_a_loop, stored_on_a_path, stored_under_another_name)},
    **{f.__name__: f for f in (another_array, written)},
}


def changing(function: Any) -> Any:
    made = gs.primitive(function)
    made.like(lambda v: v * 2.0)

    @made.adjoint
    def _(out, v, *, d_out):
        return 2 * d_out

    return made


@changing
def counts(v):
    COUNT["n"] += 1
    return v * 2.0


@changing
def stores(v):
    W[0] += 1
    return v * 2.0


@changing
def adds_in_place(v):
    kept = W
    kept += 1
    return v * 2.0


@changing
def assigns(v):
    global NUMBER
    NUMBER += 1
    return v * 2.0


@changing
def sets(v):
    M.k += 1
    return v * 2.0


@changing
def appends(v):
    LOG.append(1.0)
    return v * 2.0


@gs.primitive
def takes_nothing():
    W[0] += 1
    return 1.0


takes_nothing.like(lambda: 1.0)
CHANGING: dict[str, Callable[[Any], Any]] = {
    "an item": lambda x: np.sum(counts(x)) * COUNT["n"],
    "an element": lambda x: np.sum(W * stores(x)),
    "an element, read before and after": lambda x: np.sum(W * x) + np.sum(stores(x) * W),
    "an element, read before": lambda x: W[0] * np.sum(stores(x)),
    "in place": lambda x: np.sum(adds_in_place(x) * W),
    "a variable": lambda x: np.sum(assigns(x)) * NUMBER,
    "an attribute": lambda x: np.sum(sets(x)) * M.k,
    "a list": lambda x: np.sum(appends(x)) * len(LOG),
    "without arguments": lambda x: takes_nothing() * np.sum(x * W),
    "in a loop": lambda x: sum([np.sum(counts(x)) * COUNT["n"] for _ in range(3)]),
}


def slope(function: Any) -> Any:
    found = []
    for step in 1e-6 * np.eye(3):
        values = []
        for x in (X + step, X - step):
            restart()
            values.append(function(x))
        found.append((values[0] - values[1]) / 2e-6)
    return np.array(found)


def by_tensors(function: Any) -> Any:
    t = gs.tensor(X, requires_grad=True)
    out = gs.differentiable(function)(t)
    out.backward()
    return out.item(), t.grad.numpy()


def by_tangents(function: Any, compile: Any) -> Any:
    rows = []
    for direction in np.eye(3):
        restart()
        value, row = gs.jvp(function, (X,), (direction,), compile=compile)
        rows.append(row)
    return value, np.array(rows)


MODES: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda f: gs.value_and_grad(f)(X),
    "in part": lambda f: gs.value_and_grad(f, compile="auto")(X),
    "as it is": lambda f: gs.value_and_grad(f, compile=False)(X),
    "forward": lambda f: by_tangents(f, True),
    "forward, as it is": lambda f: by_tangents(f, False),
    "Tensors": by_tensors,
}


@pytest.fixture(autouse=True)
def _restarted():
    restart()
    yield
    restart()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", one_in(2, [*READING, *CHANGING]))
def test_outside_is_what_python_finds_there_or_refused(program: str, mode: str) -> None:
    function = (READING | CHANGING)[program]
    value = function(X)
    left = W.tolist(), COUNT["n"], LOG[:], NUMBER, M.k, M.w.tolist()
    expected = slope(function)
    restart()
    try:
        found, gradient = MODES[mode](function)
    except UnsupportedError:
        assert mode not in ("as it is", "forward, as it is")
        return
    assert found == value
    assert gradient == pytest.approx(expected, rel=1e-6)
    assert (W.tolist(), COUNT["n"], LOG[:], NUMBER, M.k, M.w.tolist()) == left


def read_and_not_changed(x):
    return np.sum(directly(x) * x) + M.k


def of_a_library(x):
    return np.sum(special(x)) * scale()


special = gs.primitive(lambda v: scipy.special.expit(v))


@special.adjoint
def _(out, v, *, d_out):
    return d_out * out * (1 - out)


def stored_after(x):
    s = np.sum(directly(x))
    M.k = 5.0
    return s + M.k


def stored_elsewhere(x):
    M.other = 5.0
    return np.sum(directly(x))


@pytest.mark.parametrize(
    "function", [read_and_not_changed, of_a_library, stored_after, stored_elsewhere]
)
def test_what_does_not_meet_is_compiled(function: Any) -> None:
    value, expected = function(X), slope(function)
    restart()
    transform = gs.value_and_grad(function)
    found, gradient = transform(X)
    assert found == value
    assert gradient == pytest.approx(expected, rel=1e-6)
    assert "is_unchanged" not in transform.source


def test_the_namespace_may_hold_what_is_read():
    place = types.SimpleNamespace(k=2.0)
    op = linear(lambda v: v * place.k)
    transform = gs.value_and_grad(lambda x: np.sum(op(x)) * place.k)
    for place.k in (2.0, 3.0):
        value, gradient = transform(X)
        assert value == np.sum(X) * place.k**2
        assert gradient == pytest.approx(np.full(3, place.k**2))


CALLS: list[Any] = []


@changing
def counted(v):
    CALLS.append(v)
    return v * float(len(CALLS))


@counted.adjoint
def _(out, v, *, d_out):
    return d_out * out / v


def counted_once(x):
    return np.sum(counted(x) ** 2)


def counted_twice(x):
    return np.sum(counted(x) * counted(x))


def counted_in_turn(x):
    return np.sum(counted(counted(x)) ** 2)


def along(function: Any, compile: Any) -> Any:
    return gs.hvp(function, (X,), (np.ones(3),), compile=compile)[0]


def of_gradients(function: Any, compile: Any) -> Any:
    gradient = gs.grad(function, compile=compile)
    return gs.grad(lambda x: np.sum(gradient(x)), compile=compile)(X)


HIGHER: dict[str, Callable[[Any, Any], Any]] = {
    "hessian": lambda f, compile: np.diag(gs.hessian(f, compile=compile)(X)),
    "hvp": along,
    "gradient of gradient": of_gradients,
    "tangent of gradient": lambda f, compile: gs.jvp(
        gs.grad(f, compile=compile), (X,), (np.ones(3),), compile=compile
    )[1],
}


@pytest.mark.parametrize("compile", [True, "auto", False])
@pytest.mark.parametrize("transform", HIGHER)
@pytest.mark.parametrize(
    ("function", "times", "expected"),
    [(counted_once, 1, 2.0), (counted_twice, 2, 4.0), (counted_in_turn, 2, 8.0)],
)
def test_the_function_runs_once_for_each_call(
    function: Any, times: int, expected: float, transform: str, compile: Any
) -> None:
    CALLS.clear()
    found = HIGHER[transform](function, compile)
    assert found == pytest.approx(np.full(3, expected))
    assert len(CALLS) == times


@pytest.mark.parametrize("order", [1, 2])
def test_it_runs_once_along_all_directions(order: int) -> None:
    CALLS.clear()
    derive = gs.jacfwd if order == 1 else lambda f, **o: gs.jacfwd(gs.jacfwd(f, **o), **o)
    found = derive(lambda x: counted(x) ** 2, compile=False)(X)
    assert np.sum(found) == pytest.approx(np.sum(2 * X) if order == 1 else 6.0)
    assert len(CALLS) == 1


def test_what_it_has_read_is_what_it_has_read_in_that_call():
    def function(x):
        first = directly(x)
        M.k = 5.0
        return np.sum(directly(first) ** 2)

    assert np.diag(gs.hessian(function, compile=False)(X)) == pytest.approx(np.full(3, 200.0))


def test_an_operation_ends_when_the_user_lets_go_of_it():
    def made() -> Any:
        op = linear(lambda v: v * 2.0)
        assert np.sum(op(X)) == 12.0
        return weakref.ref(op)

    gc.collect()
    texts, known = len(linecache.cache), len(PRIMITIVES)
    refs = [made() for _ in range(5)]
    gc.collect()
    assert [ref() for ref in refs] == [None] * 5
    assert len(linecache.cache) <= texts
    assert len(PRIMITIVES) == known


@gs.primitive
def noted(v):
    CALLS.append(v)
    return v * 2.0


noted.like(lambda v: v * 2.0)


def in_a_loop(x):
    for _ in range(2):
        noted(1.0)
    return np.sum(x**2)


def on_a_path(x):
    if x[0] > 0:
        noted(1.0)
    return np.sum(x**2)


@pytest.mark.parametrize("compile", [True, "auto", False])
@pytest.mark.parametrize("derive", [gs.grad, gs.jacrev, gs.jacfwd, gs.jacobian, gs.hessian])
@pytest.mark.parametrize(("function", "times"), [(in_a_loop, 2), (on_a_path, 1)])
def test_a_call_whose_result_nobody_needs_is_made(
    function: Any, times: int, derive: Any, compile: Any
) -> None:
    CALLS.clear()
    derive(function, compile=compile)(X)
    assert CALLS == [1.0] * times


def test_a_derivative_in_a_run_of_its_own_does_not_count_again() -> None:
    CALLS.clear()
    t = gs.tensor(X, requires_grad=True)
    out = gs.differentiable(lambda x: np.sum(x**2) * noted(1.0))(t)
    with pytest.raises(UnsupportedError, match="might get others for its derivatives"):
        gs.autograd.grad(out, t, create_graph=True)
    assert gs.autograd.grad(out, t)[0].tolist() == [4.0, 8.0, 12.0]
    assert CALLS == [1.0]
