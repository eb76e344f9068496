"""What is stored outside shares memory as in plain Python: parts of one array do, equal ones not.

Each body is run three times as it is, and by the derivatives; then the arrays that are outside are
compared, and which of them share memory.
"""

from __future__ import annotations

import linecache
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradscribe as gs


class Holder:
    pass


BODIES = [
    "P['a'] = y[:2]; P['b'] = y[1:]",
    "y = np.outer(x, x); P['a'] = y.ravel(); P['b'] = y.T",
    "P['a'] = y[:2]; P['b'] = y[1:]; y[1] = 5.0",
    "k = int(x[0]) % 2; P['a'] = y[k:]; P['b'] = y",
    "k = int(x[0]) % 2; P['a'] = y[k:]; P['b'] = y[:2]",
    "z = y if x[0] > 1.5 else x * 3.0; P['a'] = y; P['b'] = z",
    "z = y[1:] if x[0] > 1.5 else x[1:] * 3.0; P['a'] = y; P['b'] = z",
    "P['a'] = y.reshape(3, 1); P['b'] = y.reshape(1, 3)",
    "P['a'] = y[:1]; P['b'] = y[1:]; o.a = y[::-1]",
    "P['a'] = [y[:2], y[1:]]",
    "o.a = y; o.b = y[1:]",
    "o.a = y[1:]; o.b = y[:-1]; o.c = (y[:1], y)",
    "h.append(y); P['a'] = y",
    "P['a'] = y; h.append(y)",
    "h.append(y); P['a'] = y[1:]",
    "h.append(y[:2]); P['a'] = y[1:]",
    "d.append(y); P['a'] = y",
    "h.append((y, 1.0)); P['a'] = y",
    "h.append({'k': y}); P['a'] = y",
    "o.a = y; h.append(o.a)",
    "h.append(y); h.append(y)",
    "h.append(y[:2]); h.append(y[1:])",
    "h.extend([y, y]); P['a'] = y",
    "h.append(y); y[0] = 7.0; P['a'] = y",
    "h.append(y); P['a'] = y; y = y + 1.0; P['b'] = y",
    "rows = [y, y * 2]; h.append(rows); o.a = rows; P['a'] = y",
    "for k in range(2): h.append(y)",
    "for v in x:\n    h.append(y)\n    y = y * 2.0\nh.append(y)\nP['a'] = y",
    "for v in x:\n    h.append(y)\n    z = y\n    y = z * 2.0\ny *= 3.0",
    "for k in range(3):\n    h.append(y)\n    y = y * 2.0",
    "for v in x:\n    h.append(y)\n    y = y - v * y",
    "while y[0] < 9.0:\n    h.append(y)\n    y = y * 2.0",
    "for k in range(3):\n    if k != 1: h.append(y)\n    y = y + 1.0",
    "for k in range(3):\n    for j in range(2): h.append(y)\n    y = y * 2.0",
    "for k in range(2):\n    y = y * 2.0\n    h.append(y)\n    y[0] = 7.0",
    "for k in range(2): h.append(np.sin(x))",
    "w = np.ones(3); P['a'] = w * 2.0\nfor k in range(2): P['b'] = w * 2.0",
    "P['a'] = np.sin(x); P['b'] = np.sin(x)",
    "P['a'] = np.zeros(3)\nfor k in range(2): P['b'] = np.zeros(3)",
    "q = [np.sin(x) for _ in range(2)]; P['a'], P['b'] = q",
    "while len(h) < 2: h.append(x * 1.5)",
    "if x[0] > 1.5: h.append(y)\nP['a'] = y",
    "for k in range(2):\n    y = x * (k + 1.0)\n    h.append(y)\n    P['a'] = y",
]


def made(body: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A function with this body, and what is outside of it."""
    lines = ["r = np.sum(P['a']) * 0.5 + np.sum(P['b'])", "y = x * 2.0", *body.split("\n")]
    text = "def f(x):\n" + "".join(f"    {line}\n" for line in lines)
    text += "    return np.sum(y * x) + r\n"
    name = f"<stored outside: {body}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    holder = Holder()
    state = {"P": {"a": np.zeros(3), "b": np.zeros(3)}, "h": [], "d": deque(), "o": vars(holder)}
    variables = {**state, "np": np, "o": holder}
    exec(compile(text, name, "exec"), variables)
    return variables["f"], state


def arrays_in(held: Any) -> Iterator[np.ndarray]:
    if isinstance(held, dict):
        held = list(held.values())
    if isinstance(held, (list, tuple, deque)):
        for item in held:
            yield from arrays_in(item)
    elif isinstance(held, (np.ndarray, gs.Tensor)):
        yield held.detach().numpy() if isinstance(held, gs.Tensor) else held


def seen(body: str, by: Callable[[Any], Callable[[np.ndarray], Any]]) -> tuple[Any, ...]:
    """The values of three calls, what is outside then, and which of that shares memory."""
    function, state = made(body)
    run = by(function)
    values = [float(run(np.arange(1.0, 4.0) + i)) for i in range(3)]
    arrays = [*arrays_in(state)]
    shared = [[np.shares_memory(a, b) for a in arrays] for b in arrays]
    return values, [array.tolist() for array in arrays], shared


def by_gradient(function: Any) -> Callable[[np.ndarray], Any]:
    return lambda x: gs.value_and_grad(function)(x)[0]


def by_tangent(function: Any) -> Callable[[np.ndarray], Any]:
    return lambda x: gs.jvp(function, (x,), (np.ones(3),))[0]


def by_tensors(function: Any) -> Callable[[np.ndarray], Any]:
    compiled = gs.differentiable(function)
    return lambda x: compiled(gs.tensor(x, requires_grad=True)).detach()


REFUSED_WITH_TENSORS = {BODIES[-1]}


@pytest.mark.parametrize("by", [by_gradient, by_tangent, by_tensors])
@pytest.mark.parametrize("body", BODIES)
def test_memory_is_shared_as_in_plain_python(body: str, by: Any) -> None:
    if by is by_tensors and body in REFUSED_WITH_TENSORS:
        with pytest.raises(gs.errors.UnsupportedError):
            seen(body, by)
    else:
        assert seen(body, by) == seen(body, lambda function: function)


ON_SOME_PATHS = [
    "z = x * 3.0\nfor v in x:\n    h.append(y)\n    y, z = z, y",
    "z = y\nfor v in x:\n    h.append(y)\n    y = y * 2.0\nz *= 5.0",
    "z = y\nfor v in x:\n    h.append(y)\n    y = y * 2.0\nP['a'] = z",
    "z = y\nfor v in x:\n    h.append(y)\n    y = y * 2.0\nh.append(z)",
    "z = x * 3.0\nfor v in x:\n    if v > 1.5: h.append(y)\n    y = z",
    "if x[0] > 1.5:\n    if x[1] > 2.5: y[1:] += 1.5\n    h.append(y)\ny[1:] *= 0.5",
    "for k in range(1):\n    h.append(y)\n    for j in range(2): y, y = y, y\ny[2] = 9.0",
    "z = x[::-1]\nfor k in range(2): z, y = y, z\nh.append([z[:], x])",
    "P['a'] = np.asarray(y) if x[0] > 1.5 else y * 1; y *= 2.0",
    "o.a = {'k': y if x[0] > 1.5 else y * 1}; y *= 2.0",
    "h.append(np.asarray(y) if x[0] > 1.5 else y * 1); y *= 2.0",
    "h.append(x * 1.0)\nfor k in range(2):\n    y *= 2.0\n    h.append(y if x[0] > 1 else y * 1)",
    "for k in range(2): h.append(x if x[0] > 1.5 else y)",
    "h.append([np.asarray(y) if x[0] > 1.5 else y * 1, y])",
    "h.append(y if x[0] > 1.5 else y * 1); P['a'] = y",
    "h.append([x * 2, x]); P['a'] = x[:]",
    "z = y if x[0] > 1.5 else y * 1; z *= 2.0\nif x[1] > 0: h.append(z)\nfor k in range(2): pass",
]


@pytest.mark.parametrize("by", [by_gradient, by_tangent, by_tensors])
@pytest.mark.parametrize("body", ON_SOME_PATHS)
def test_what_is_one_array_on_some_paths_is_shared_so_or_refused(body: str, by: Any) -> None:
    try:
        found = seen(body, by)
    except gs.errors.GradscribeError as error:
        assert not isinstance(error, gs.errors.InternalError)
    else:
        assert found == seen(body, lambda function: function)


@pytest.mark.parametrize("change", ["L.append(V)", "L[0] = V", "L.append(W)", "L.reverse()"])
@pytest.mark.parametrize("start", ["[]", "[W, V]"])
def test_a_list_that_was_left_outside_gets_what_is_there_itself(start: str, change: str) -> None:
    text = f"def f(x):\n    L = {start}\n    h.append(L)\n    {change}\n    return np.sum(W * x)\n"
    name = f"<a list left outside: {start}, {change}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {"np": np, "W": np.ones(3), "V": np.zeros(3), "h": []}
    exec(compile(text, name, "exec"), scope)
    if change == "L[0] = V" and start == "[]":
        return
    scope["f"](np.ones(3))
    gs.grad(scope["f"])(np.ones(3))
    first, second = scope["h"]
    assert list(map(id, first)) == list(map(id, second))


NUMBERS: dict[str, Any] = {}
LOSSES: list[Any] = []


def of_an_item(x):
    NUMBERS["loss"] = float(np.sum(x**2))
    return NUMBERS["loss"] * x[0]


def of_what_was_appended(x):
    LOSSES.append(float(x[0]))
    return LOSSES[-1] * x[1]


def of_items_in_a_loop(x):
    NUMBERS["loss"] = 1.0
    for _ in range(2):
        NUMBERS["loss"] = float(NUMBERS["loss"] * x[1])
    return NUMBERS["loss"] * 1.0


def of_what_a_loop_appended(x):
    for i in range(2):
        LOSSES.append(float(x[i]))
    return LOSSES[0] * LOSSES[1]


@pytest.mark.parametrize(
    "function", [of_an_item, of_what_was_appended, of_items_in_a_loop, of_what_a_loop_appended]
)
def test_a_number_stored_outside_has_its_derivative_where_it_is_read(function: Any) -> None:
    def given() -> None:
        NUMBERS.update(loss=0.0)
        LOSSES.clear()

    given()
    expected = gs.grad(function, compile=False)(np.array([1.0, 2.0]))
    given()
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    gs.differentiable(function)(x).backward()
    assert x.grad.tolist() == expected.tolist()
    assert all(type(number) is float for number in (*LOSSES, *NUMBERS.values()))


@pytest.mark.parametrize("what", ["v.flags.writeable", "v.base is None", "v.flat.index"])
def test_attributes_of_arrays_that_tensors_lack_are_refused(what: str) -> None:
    scope: dict[str, Any] = {"np": np}
    text = f"def f(x):\n    v = x * 1.5\n    return np.sum(v * (2.0 if {what} else 3.0))\n"
    linecache.cache[f"<{what}>"] = (len(text), None, text.splitlines(True), f"<{what}>")
    exec(compile(text, f"<{what}>", "exec"), scope)
    with pytest.raises(gs.errors.UnsupportedError, match="attribute"):
        gs.differentiable(scope["f"])(gs.tensor([1.0, 2.0], requires_grad=True))


def test_the_real_part_of_a_real_array_is_that_array() -> None:
    def f(x):
        v = x * 1.5
        return np.sum(v * (2.0 if v.real is v and v.real.base is None else 3.0))

    assert gs.grad(f, compile=False)(np.ones(2)).tolist() == [3.0, 3.0]
