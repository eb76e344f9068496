"""What cannot be compiled is refused with the place and advice, never lowered wrongly."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from gradscribe.errors import AliasingError, SourceNotFoundError, UnsupportedError
from tests.frontend.test_programs import check, lowered

x5 = np.linspace(-1.0, 2.0, 5)


def ambiguous_branch(x, s):
    y = x * 2
    z = x * 3
    w = y if s > 0 else z
    w[0] = 1.0
    return np.sum(y) + np.sum(w)


def aliased_in_loop(x, n):
    u = x * 1
    v = x * 2
    for _ in range(n):
        v[0] += 1.0
        s = np.sum(u)
        v = u
    return s + np.sum(v)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (ambiguous_branch, (x5, 1.0)),
        (aliased_in_loop, (x5, 20)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_ambiguous_aliases_are_refused(function: Any, args: Any) -> None:
    with pytest.raises(AliasingError, match="may share memory"):
        lowered(function, *args)


def harmless_branch(x, s):
    y = x * 2
    z = x * 3
    w = y if s > 0 else z
    w[0] = 1.0
    return np.sum(w)


def rebound_in_loop(x, n):
    u = x * 1
    for _ in range(n):
        v = u
        v[0] += 1.0
        u = v * 0.5
    return np.sum(u)


def view_of_view_of_transpose(a):
    t = a.T
    t[0] = 7.0
    w = t[1:, 2]
    w += 1.0
    return a * 1, np.sum(w)


def base_changes_under_view(x):
    v = x[1:]
    before = v * 1
    x[2] = 100.0
    return before, v * 1


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (harmless_branch, (x5, 1.0)),
        (harmless_branch, (x5, -1.0)),
        (rebound_in_loop, (x5, 3)),
        (view_of_view_of_transpose, (np.arange(12.0).reshape(3, 4),)),
        (base_changes_under_view, (x5,)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_aliases_that_types_can_follow_are_compiled(function: Any, args: Any) -> None:
    check(function, *args)


def uses_generator(x):
    yield x


def uses_unknown(x):
    return np.sort_complex(x)


def mixed_kinds(x, s):
    if s > 0:
        y = x
    else:
        y = 1.0
    return y


@pytest.mark.parametrize(
    ("function", "args", "what"),
    [
        (uses_generator, (1.0,), "generators are not supported"),
        (uses_unknown, (np.eye(3),), "`sort_complex` cannot be differentiated"),
        (mixed_kinds, (x5, 1.0), "does not return one type of value|on the other"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_unsupported_constructs_say_where_and_what(function: Any, args: Any, what: str) -> None:
    with pytest.raises(UnsupportedError, match=what) as caught:
        lowered(function, *args)
    assert f'File "{__file__}", line' in str(caught.value)
    assert "^" in str(caught.value)


def test_function_without_source_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x * x\n", namespace)
    with pytest.raises(SourceNotFoundError, match="cannot be read"):
        lowered(namespace["f"], 1.0)


def test_an_attribute_that_arrays_do_not_have() -> None:
    with pytest.raises(UnsupportedError, match="an array has no attribute `foo`"):
        gs.grad(lambda x: np.sum(x.foo))(np.ones(3))


def test_a_type_string_with_an_unknown_dtype() -> None:
    with pytest.raises(gs.errors.ArgumentError, match="there is no numeric dtype 'flot64'"):
        gs.differentiable(lambda x: x).specialize("flot64[:]")


def adds_other_lengths(x):
    return np.sum(x + np.ones(3))


def adds_none(x):
    return np.sum(x * 2 + None)


def sums_an_axis_too_many(x):
    return np.sum(x, axis=1)


def indexes_an_axis_too_many(x):
    return x[0, 1]


def stores_too_much(x):
    y = x * 1
    y[:2] = np.ones(3)
    return np.sum(y)


def calls_without_an_argument(x):
    return adds(x)


def adds(a, b):
    return np.sum(a + b)


def misspells(x):
    return np.summ(x)


def asks_for_strides(x):
    return np.sum(x) * x.strides[0]


def makes_objects(x):
    return np.sum(np.array([x, None], dtype=object)[0])


def makes_fields(x):
    return np.sum(x) * np.zeros(2, dtype=[("a", float)])["a"][0]


def changes_the_shape(x):
    y = x * 2
    y.shape = (5, 1)
    return np.sum(y)


@pytest.mark.parametrize(
    ("function", "what", "at", "advice"),
    [
        (
            adds_other_lengths,
            "`+` cannot be compiled here: axes of 5 and 3 do not broadcast",
            "x + np.ones(3)",
            "correct what it is given: float64 of shape (5,) and float64 of shape (3,)",
        ),
        (
            adds_none,
            "`+` is not supported on float64 of shape (5,) and None",
            "x * 2 + None",
            "apply it to numbers and arrays: is a `return` missing?",
        ),
        (
            sums_an_axis_too_many,
            "`sum` cannot be compiled here: axis 1 is out of bounds for an array of 1 dimensions",
            "np.sum(x, axis=1)",
            "correct what it is given: float64 of shape (5,)",
        ),
        (
            indexes_an_axis_too_many,
            "this index cannot be compiled here: too many indices: the array has 1 axes, 2 were "
            "given",
            "x[0, 1]",
            "correct what it is given: float64 of shape (5,)",
        ),
        (
            stores_too_much,
            "this store cannot be compiled here: axes of 2 and 3 do not broadcast",
            "y[:2] = np.ones(3)",
            "correct what it is given: float64 of shape (5,) and float64 of shape (3,)",
        ),
        (
            calls_without_an_argument,
            "`adds` cannot be called like this: missing a required argument: 'b'",
            "adds(x)",
            "call it as adds(a, b)",
        ),
        (
            asks_for_strides,
            "the attribute `strides` of an array is not supported",
            "x.strides",
            "use its shape, dtype or elements",
        ),
        (
            makes_objects,
            "`array` cannot be compiled here: what it returns has dtype object, which is not a "
            "numeric one",
            "np.array([x, None], dtype=object)",
            "compute with numbers, or call it outside and pass the result in",
        ),
        (
            makes_fields,
            "`zeros` cannot be compiled here: what it returns has dtype [('a', '<f8')], which is "
            "not a numeric one",
            'np.zeros(2, dtype=[("a", float)])',
            "compute with numbers, or call it outside and pass the result in",
        ),
        (
            changes_the_shape,
            "the attribute `shape` of this value cannot be stored",
            "y.shape",
            "use `reshape`",
        ),
        (misspells, "`numpy` has no attribute `summ`", "np.summ", "perhaps `sum` is meant"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_what_does_not_fit_is_shown_in_the_words_of_the_program(
    function: Any, what: str, at: str, advice: str
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        lowered(function, x5)
    error = caught.value
    assert (error.what, error.advice) == (what, advice)
    line, carets = str(error).splitlines()[2:4]
    assert line[carets.index("^") : carets.rindex("^") + 1].startswith(at)
    assert type(error).__module__ == "gradscribe.errors"


def stores_by_a_computed_key(x, d):
    d[str(x[0])] = np.sum(x)
    return np.sum(x) * d["a"]


def test_errors_are_of_the_classes_that_users_know() -> None:
    with pytest.raises(UnsupportedError, match="a dict key must be known") as caught:
        gs.vjp(stores_by_a_computed_key, x5, {"a": 1.0})
    assert type(caught.value) is UnsupportedError


def takes_a_mode_of_the_library(x):
    return statistics.mode(x) * 2.0


def test_a_function_of_a_library_is_refused_where_it_is_called() -> None:
    with pytest.raises(UnsupportedError, match="`mode` cannot be compiled: ") as caught:
        lowered(takes_a_mode_of_the_library, x5)
    text = str(caught.value).splitlines()
    assert f'File "{__file__}"' in text[1]
    assert text[2].strip() == "return statistics.mode(x) * 2.0"
    assert text[3].strip() == "^" * len("statistics.mode(x)")


EMPTY: list = []


class Shared:
    items: list = []  # noqa: RUF012  (that all objects share it is the point)

    def add(self, x):
        self.items.append(x)


def _size():
    return len(EMPTY)


def reads_what_it_has_added_to(x):
    EMPTY.append(1.0)
    return np.sum(x) * _size()


def reads_what_objects_share(x):
    first, second = Shared(), Shared()
    first.add(x[0])
    return sum(second.items) * x[1]


@pytest.mark.parametrize("function", [reads_what_it_has_added_to, reads_what_objects_share])
def test_a_list_from_outside_that_is_empty_at_first(function) -> None:
    with pytest.raises(UnsupportedError, match="both read and changed"):
        gs.grad(function)(x5)
    assert not EMPTY
    assert not Shared.items


def test_a_text_of_numpy_that_is_returned_is_refused_as_everything_is():
    with pytest.raises(UnsupportedError, match="has dtype <U2") as caught:
        gs.vjp(lambda x: np.char.add("a", "b"), np.ones(2))
    assert type(caught.value) is UnsupportedError


def added_to_integers(x):
    y = np.arange(3)
    y += x
    return np.sum(y)


async def asynchronous(x):
    return x


def test_what_python_refuses_or_defers_is_refused() -> None:
    with pytest.raises(errors.UnsupportedError, match="does not store a float64"):
        gs.grad(added_to_integers)(1.5)
    with pytest.raises(errors.UnsupportedError, match="`async` function"):
        gs.grad(asynchronous)(1.0)
