"""Dicts, lists, sets and objects that are one of two after a branch, and are changed by any name:
each change goes to the one that the run tells, or is refused."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.properties.grammar.programs import compiled
from tests.properties.oracles import check as check_program
from tests.sampling import one_in

POINTS = [np.array([0.7, 1.3, -0.4]), np.array([-0.7, 0.3, 0.4])]


@dataclass
class Held:
    """a, b: what may be changed; b is not there at first."""

    a: Any

    def change(self, a: Any) -> None:
        self.a = a


CHOSEN = "l, m = {new}, {new}\nk = l if x[0] > 0 else m"
READ = "return sum(k.values()) + 2 * sum(l.values()) + 3 * sum(m.values()) + len(l) * x[0]"
OF_LISTS = "return sum(k) + 2 * sum(l) + 3 * sum(m) + len(l) * x[0] + (l[0] * x[1] if l else 0)"
OF_OBJECTS = "return sum(c * getattr(o, n, x[c]) for c, o in enumerate((k, l, m)) for n in 'ab')"
OF_SETS = "return len(k) * x[0] + 2 * len(l) * x[1] + 3 * len(m) * x[2]"

CHANGES = {
    ("{'a': x[0], 'b': x[1]}", READ): """
        k['a'] = x[2]
        k['a'] += x[2]
        k['c'] = x[2]
        (l if x[1] > 1 else m)['a'] += x[2]
        l['a'] = k['b']
        del k['a']
        k.update(a=x[2])
        k.update([('a', x[2])])
        k |= {'a': x[2]}
        k.pop('a')
        k.popitem()
        k.setdefault('c', x[2])
        k.clear()
        for key in list(k): k[key] = k[key] * x[2]
        (lambda d: d.update(a=x[2]))(k)""",
    ("mapping(float, {'a': x[0]})", READ): """
        k['a'] += x[2]
        k['c'] += x[2]
        k.update(a=x[2])
        k.clear()""",
    ("{'a': [x[0], x[2]]}", "return sum(l['a']) + 3 * sum(m['a'])"): """
        k['a'][0] = x[1]
        k['a'] += [x[1]]
        k['a'].append(x[1])
        k['a'] = [x[1] ** 2]""",
    ("[x[0], x[1]]", OF_LISTS): """
        k[0] = x[2]
        k += [x[2]]
        k *= 2
        k.append(x[2])
        k.extend([x[2]])
        k.insert(0, x[2])
        k.pop(0)
        k.remove(k[0])
        k.clear()
        k.reverse()
        k.sort()
        k[:] = [x[2]]
        k[1:] = [x[2], x[1]]
        l[0] = k[1]
        del k[0]
        del k[1:]
        for i in range(2): k[i] = k[i] * x[2]""",
    ("queue([x[0], x[1]])", OF_LISTS): """
        k[0] = x[2]
        k.append(x[2])
        k.appendleft(x[2])
        k.popleft()
        k.rotate(1)
        k.clear()""",
    ("Held(x[0])", OF_OBJECTS): """
        k.a = x[2]
        k.a += x[2]
        k.b = x[2]
        l.b = k.a
        del k.a
        setattr(k, 'a', x[2])
        k.change(x[2])""",
    ("set(range(2))", OF_SETS): """
        k.add(3)
        k.discard(1)
        k |= {5}
        k.clear()""",
}
CASES = [
    (new, change.strip(), read)
    for (new, read), changes in CHANGES.items()
    for change in changes.strip().splitlines()
]


def program_of(*lines: str) -> Any:
    program = compiled("def program(x):\n" + textwrap.indent("\n".join(lines), "    "))
    from collections import defaultdict, deque

    program.__globals__.update(mapping=defaultdict, queue=deque, Held=Held)
    return program


def check(program: Any) -> None:
    compiled_for = gs.value_and_grad(program)
    for x in POINTS:
        value, gradient = compiled_for(x)
        assert value == program(x)
        np.testing.assert_allclose(gradient, gs.grad(program, compile=False)(x), rtol=1e-12)


@pytest.mark.parametrize(("new", "change", "read"), one_in(2, CASES))
def test_a_change_goes_to_the_one_that_the_run_tells(new: str, change: str, read: str) -> None:
    check(program_of(CHOSEN.format(new=new), change, read))


@pytest.mark.parametrize(
    "chosen",
    [
        "k = l\nif x[0] > 0:\n    l, m = m, l",
        "h = Held(l)\nif x[0] > 0:\n    h.a = m\nk = h.a",
        "h, i = Held(l), Held(m)\nk = (h if x[0] > 0 else i).a",
        "t = [l, m] if x[0] > 0 else [m, l]\nk = t[0]",
        "k = l if x[0] > 0 else {'a': x[1] ** 2, 'b': x[2]}",
        "k = l if x[0] > 0 else m if x[1] > 1 else {'a': x[1] ** 2, 'b': x[2]}",
        "if x[0] > 0:\n    k = l\nelse:\n    k = dict(m)",
        "k = l or m",
    ],
)
def test_one_of_two_dicts_by_any_way(chosen: str) -> None:
    new = "{'a': x[0], 'b': x[1]}"
    check(program_of(f"l, m = {new}, {new}", chosen, "k['a'] = x[2]", "m['b'] *= x[0]", READ))


def tallied(x):
    positive, negative = {"n": 0, "s": 0.0}, {"n": 0, "s": 0.0}
    for v in x:
        side = positive if v > 0 else negative
        side["n"] += 1
        (positive if v > 0 else negative)["s"] += v * v
    return positive["s"] / max(positive["n"], 1) + 3 * negative["s"] / max(negative["n"], 1)


def test_each_iteration_of_a_loop_changes_the_one_that_it_tells() -> None:
    check(tallied)


NEW = ["{'a': x[0]}", "[x[0]]", "Held(x[0])", "1.0 * x"]


MADE_ONCE = [
    "if x[0] > 0:\n    k = NEW\n    l = k\nelse:\n    k, l = NEW, NEW",
    "a, b = NEW, NEW\nif x[0] > 0:\n    k = NEW\n    l = k\nelse:\n    k, l = a, b",
    "k, l = NEW, NEW\nfor v in x:\n    if v > 1:\n        k = NEW\n        l = k",
]


@pytest.mark.parametrize("new", NEW)
@pytest.mark.parametrize("made", MADE_ONCE)
def test_what_may_be_one_that_a_path_has_made_is_refused(new: str, made: str) -> None:
    place = {"{": "['a']", "H": ".a"}.get(new[0], "[0]")
    lines = f"k{place} = x[1] ** 2", f"return 3 * k{place} + 5 * l{place}"
    program = program_of(made.replace("NEW", new), *lines)
    with pytest.raises(UnsupportedError, match="may share memory"):
        gs.grad(program)(POINTS[0])


@pytest.mark.parametrize("new", NEW)
def test_what_a_loop_makes_one_of_two_is_right_or_refused(new: str) -> None:
    place = {"{": "['a']", "H": ".a"}.get(new[0], "[0]")
    lines = (
        f"l, m = {new}, {new}",
        "k, i = l, 0",
        "while i < x[1] * 2:",
        "    l, m, i = m, l, i + 1",
        f"    l{place} = l{place} * 2",
        f"k{place} += x[1] ** 2",
        f"return k{place} + 3 * l{place} + 5 * m{place}",
    )
    try:
        check(program_of(*lines))
    except UnsupportedError as error:
        assert "may share memory" in str(error)


CONTENTS = ["[x * 2.0]", "[x[0]]", "[[x * 3.0], [x]]", "([x], 2.0)", "(x, {'a': x})"]
DECIDED = [
    "((i == 1) and b or b)",
    "((i == 1) and b or a)",
    "((x[0] > 0) and b or a)",
    "(x[i] and b or b)",
    "((i == 1) and (x[0] > 0) and b or a)",
    "(((i == 1) or b) and a)",
]


@pytest.mark.parametrize("new", CONTENTS)
@pytest.mark.parametrize("decided", DECIDED)
@pytest.mark.parametrize("bound", ["a, c = [{}, a]", "a = {}", "c = {}; a = c"])
def test_a_loop_leaves_the_operand_that_decided(new: str, decided: str, bound: str) -> None:
    lines = (
        f"a, b = {new}, {new.replace('x', '(x * x)')}",
        "for i in range(3):",
        f"    {bound.format(decided)}",
        "    x = x * 1.1",
        "return np.sum(a[0]) + 2 * np.sum(b[0])",
    )
    check(program_of(*lines))


@pytest.mark.parametrize("decided", ["(i == 1) and b", "(x[0] < 0) and b"])
def test_a_loop_leaves_an_operand_of_two_kinds(decided: str) -> None:
    lines = (
        "a, b = [x * 2.0], [x * 3.0]",
        "for i in range(1, 3):",
        f"    a, _ = [{decided}, a]",
        "return np.sum(a[0] if isinstance(a, list) else x) + np.sum(b[0])",
    )
    check(program_of(*lines))


def test_what_decided_is_not_what_is_merged_with_it() -> None:
    lines = ("q = (x[0] > 0) and ([x] if x[1] > 1 else 5.0)", "return np.sum(x) * (7 if q else 8)")
    check(program_of(*lines))


BASE, OTHER = {"a": 1.0}, {"a": 2.0}


def test_a_dict_from_outside_that_is_one_of_two_is_changed_where_it_is() -> None:
    def function(x):
        chosen = BASE if x[0] > 0 else OTHER
        chosen["a"] = x[1]
        return BASE["a"] * x[0] + OTHER["a"] * x[2]

    BASE["a"], OTHER["a"] = 1.0, 2.0
    value, gradient = gs.value_and_grad(function)(np.array([0.5, 1.5, -0.5]))
    assert (value, gradient.tolist()) == (0.5 * 1.5 - 1.0, [1.5, 0.5, 2.0])
    assert (BASE["a"], OTHER["a"]) == (1.5, 2.0)


AUGMENTED = {
    "item": "d = [k, l]; d[0] = l if x[0] > 0 else k; d[0] += [x[2]]",
    "attribute": "h = Held(k); h.a = l if x[0] > 0 else k; h.a += [x[2]]; d = [h.a]",
    "product": "d = {'a': l if x[0] > 0 else k}; d['a'] *= 2; d = [d['a']]",
    "array": "k, l = x * x, x * 2.0; d = [l if x[0] > 0 else k]; d[0] += x[1]; d[0][0] *= 3.0",
}


@pytest.mark.parametrize("change", AUGMENTED.values(), ids=AUGMENTED)
def test_an_item_that_is_one_of_two_is_augmented_in_place(change: str) -> None:
    read = "return sum(k) + 2 * sum(l) + 3 * sum([sum(q) for q in d]) + len(k) * x[1]"
    check(program_of("k, l = [x[1]], [x[0], x[1]]", *change.split("; "), read))


def test_what_says_where_it_is_stored_may_be_made_of_what_is_stored_to() -> None:
    def function(x, s, n):
        y = np.zeros(3)
        if x[0] > 0.0:
            y[y * 2.0 > -0.3] = 0.25
        for _ in range(n):
            if s > 0.5:
                x = y
        return np.sum(x**2) + 3.0 * x[0]

    for point in POINTS:
        for s in (0.2, 0.7):
            found = gs.grad(function, (0, 1))(point, s, 2)
            expected = gs.grad(function, (0, 1), compile=False)(point, s, 2)
            np.testing.assert_allclose(found[0], expected[0])


SEVERAL = """
import copy
import numpy as np

class Held:
    def __init__(self, l, d):
        self.l, self.d = l, d

def program(x, A, s, n):
    half = 1.0 * x
    l = [v * 2.0 for v in x]
    first, second = {"a": s, "b": s}, {"a": s, "b": s}
    one, other = Held(l, first), Held(l, first)
    for _ in range(n):
        x = A[0]
    for _ in range(2):
        for _ in range(2):
            one.d = first
            first = (second if "c" in second else other.d)
        if x[2] > 0.0:
            second = copy.deepcopy(second)
            x[1:4] = 0.3 * half[2]
    return s * np.sum(A ** 2)
"""


def test_what_is_one_of_several_of_one_kind_is_carried_into_a_loop_again() -> None:
    check_program("references", SEVERAL, 0)


@pytest.mark.parametrize("k", [1.0, -1.0])
def test_what_one_path_only_tells_apart_is_not_asked_on_another(k: float) -> None:
    def function(x, y, k):
        x = x * 1.0
        held = [y * 1.0]
        if k > 0:
            pass
        else:
            if x[1] < x[2]:
                y, x = x, y
                held[0] = np.ravel(y)
            last = held[0]
            last += last
        turned = y[::-1]
        if k > 0:
            held.append(turned)
        return np.sum(x * 1.5) + np.sum(y * 2.5) + np.sum(turned * held[-1]) * len(held)

    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 0.25])
    value, found = gs.value_and_grad(function, (0, 1))(x, y, k)
    expected, gradient = gs.value_and_grad(function, (0, 1), compile=False)(x, y, k)
    np.testing.assert_allclose(value, function(x.copy(), y.copy(), k))
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(found, gradient)
