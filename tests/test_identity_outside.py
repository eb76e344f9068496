"""What a function leaves outside: lists there hold the very arrays, lists and objects that they
would hold after plain Python, whatever the derivative; or it is refused."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError, GradscribeError
from tests.sampling import one_in

X = np.array([1.0, 2.0])


class Task:
    done = 0.0


class World:
    """What there is outside, and which object is which."""

    def __init__(self):
        self.first, self.second, self.third = np.zeros(2), np.ones(2), np.full(2, 2.0)
        self.arrays = [self.first, self.second, self.third]
        self.history, self.latest = [], collections.deque()
        self.rows = [[1.0], [2.0, 3.0], [4.0]]
        self.named = {id(array): f"array {n}" for n, array in enumerate(self.arrays)}
        self.named |= {id(row): f"row {n}" for n, row in enumerate(self.rows)}
        self.tasks = [Task(), Task()]
        self.named |= {id(task): f"task {n}" for n, task in enumerate(self.tasks)}
        self.by_name = {"one": self.tasks[1]}
        self.kept = [*self.arrays, *self.rows]

    def shown(self):
        shown = [list(map(self._shown, items)) for items in (self.arrays, self.rows, self.tasks)]
        shown += [list(map(self._shown, items)) for items in (self.history, self.latest)]
        shown += [[np.asarray(item).tolist() for item in self.kept]]
        return shown, [(name, t.done) for name, t in sorted(self.by_name.items())]

    def _shown(self, item):
        if isinstance(item, tuple):
            return [self._shown(part) for part in item]
        is_view = isinstance(item, np.ndarray) and np.shares_memory(item, self.first)
        name = self.named.get(id(item), "a view" if is_view else "another")
        return name, item.done if isinstance(item, Task) else np.asarray(item).tolist()


def appended(w, x):
    w.history.append(w.first)
    w.latest.append(w.second)
    return np.sum(w.third * x)


def stored_and_appended(w, x):
    w.first[0] += 1.0
    w.history.append(w.first)
    return np.sum(w.first * x)


def appended_and_stored(w, x):
    w.history.append((w.first, 1.0))
    w.first[0] += 1.0
    return np.sum(w.first * x)


def view_appended(w, x):
    w.first[0] += 1.0
    w.history.append(w.first[:1])
    return np.sum(w.first * x)


def appended_in_a_loop(w, x):
    for _ in range(2):
        w.first[0] += 1.0
        w.history.append(w.first)
    return np.sum(w.first * x)


def local_appended_twice(w, x):
    y = np.zeros(2)
    for _ in range(2):
        y[1] += 1.0
        w.history.append(y)
    return np.sum(w.first * x)


def added(w, x):
    w.arrays.append(np.full(2, 7.0))
    return np.sum(w.arrays[1] * x)


def rotated(w, x):
    w.arrays.append(w.arrays.pop(0))
    return np.sum(w.arrays[1] * x)


def reversed_by_a_slice(w, x):
    w.arrays[:] = w.arrays[::-1]
    return np.sum(w.arrays[1] * x)


def sorted_anew(w, x):
    w.arrays.sort(key=lambda array: -array[0])
    return np.sum(w.arrays[1] * x)


def swapped(w, x):
    w.arrays[0], w.arrays[1] = w.arrays[1], w.arrays[0]
    return np.sum(w.arrays[0] * x)


def changed_items(w, x):
    for array in w.arrays:
        array *= 2
    return np.sum(w.arrays[1] * x)


def rows_rotated(w, x):
    w.rows.append(w.rows.pop(0))
    return w.rows[0][0] * np.sum(x)


def popped_and_stored(w, x):
    array = w.arrays.pop(0)
    array[:] = 5.0
    w.arrays.append(array)
    return np.sum(array * x)


def popped_and_sorted(w, x):
    array = w.arrays.pop()
    array.sort()
    return np.sum(array * x)


def task_popped(w, x):
    task = w.tasks.pop(0)
    task.done = 3.0
    return task.done * np.sum(x)


def task_that_moves(w, x):
    task = w.tasks[1]
    del w.tasks[0]
    task.done = 3.0
    return task.done * np.sum(x)


def task_by_name(w, x):
    task = w.by_name.pop("one")
    task.done = 3.0
    return task.done * np.sum(x)


FOLLOWED = [
    *(appended, local_appended_twice, added, rotated, reversed_by_a_slice, sorted_anew, swapped),
    *(stored_and_appended, appended_and_stored, view_appended, appended_in_a_loop),
    *(changed_items, rows_rotated, task_popped, task_that_moves, task_by_name),
]
REFUSED = [popped_and_stored, popped_and_sorted]
TRANSFORMS = {
    "reverse": lambda f, x, o: gs.grad(f, **o)(x),
    "forward": lambda f, x, o: gs.jvp(f, (x,), (x,), **o),
    "pullback": lambda f, x, o: gs.vjp(f, x, **o)[1](1.0),
    "call": lambda f, x, o: gs.differentiable(f, **o)(x),
    "tensors": lambda f, x, o: gs.differentiable(f, **o)(gs.tensor(x, requires_grad=True)),
}


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", one_in(2, [*FOLLOWED, *REFUSED]))
def test_what_is_left_outside_is_what_python_leaves(program, transform, options):
    expected, world = World(), World()
    for _ in range(2):
        try:
            program(expected, X)
        except (IndexError, KeyError):
            return
        try:
            TRANSFORMS[transform](lambda x: program(world, x), X.copy(), options)
        except GradscribeError:
            is_expected = program in REFUSED or transform in ("pullback", "tensors")
            assert is_expected or "compile" in options, program
            return
        assert world.shown() == expected.shown()


@pytest.mark.parametrize("program", FOLLOWED)
def test_it_is_followed_in_reverse_mode(program):
    world = World()
    function = gs.grad(lambda x: program(world, x))
    function(X)
    if not program.__name__.startswith("task"):
        function(X)


@pytest.mark.parametrize("program", REFUSED)
def test_items_that_move_and_change_are_refused(program):
    world = World()
    with pytest.raises(AliasingError, match="changes a list and items of it"):
        gs.grad(lambda x: program(world, x))(X)


def test_numbers_of_arrays_stay_numbers_in_calls_with_tensors():
    table, task = np.ones(2), Task()

    @gs.differentiable
    def program(x):
        task.done = table[0] + 1.0
        task.active = x[0] * 2
        return task.done * x[0], table.sum()

    product, total = program(gs.tensor([1.0, 2.0], requires_grad=True))
    product.backward()
    assert (type(task.done), type(total), type(task.active)) == (np.float64, np.float64, gs.Tensor)


def test_tables_are_arrays_for_numpy_in_recorded_runs():
    pandas = pytest.importorskip("pandas")
    column, places = pandas.Series([1.0, 2.0]), pandas.Series([1, 1])
    table = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    for program in (
        lambda x: np.dot(column, x),
        lambda x: np.sum(x[column > 1]),
        lambda x: np.sum(np.outer(column, x[places])),
        lambda x: np.linalg.solve(table, x).sum(),
    ):
        slopes = [(program(X + e) - program(X - e)) / 2e-6 for e in np.eye(2) * 1e-6]
        np.testing.assert_allclose(gs.grad(program, compile=False)(X), slopes, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("with_tensors", [False, True])
def test_what_is_one_of_several_arrays_is_left_itself(n, with_tensors):
    first, second = np.zeros(2), np.ones(2)
    state, task = {"now": first, "before": second}, Task()
    task.held, task.rows, rows = second, [1.0], [2.0, 3.0]
    old = task.rows

    def chosen(x, n):
        if n > 1:
            state["now"], state["before"] = state["before"], state["now"]
            task.rows = rows
        for _ in range(n):
            task.held = first
        return np.sum(x * state["now"] + task.held) + task.rows[0]

    expected = (second, first) if n > 1 else (first, second)
    if with_tensors:
        gs.differentiable(chosen)(gs.tensor(X, requires_grad=True), n).backward()
    else:
        gs.value_and_grad(chosen)(X, n)
    assert state["now"] is expected[0]
    assert state["before"] is expected[1]
    assert task.held is (first if n else second)
    assert task.rows is (rows if n > 1 else old)
