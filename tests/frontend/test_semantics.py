"""What Python says of attributes, augmented items and the ways out of a block."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import agrees, check

X = np.array([0.7, 1.3, 0.4, 2.1])


class Shifted:
    """A data descriptor: it decides what is stored, and what is read."""

    def __set_name__(self, owner: Any, name: str) -> None:
        self.place = "_" + name

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return getattr(owner, self.place) * 2

    def __set__(self, owner: Any, value: Any) -> None:
        setattr(owner, self.place, value + 1)


class Described:
    first, second = Shifted(), Shifted()

    def __init__(self, value: Any) -> None:
        self.first = value
        self.second = value * 2


class Deleting:
    def __init__(self, value: Any) -> None:
        self.value, self.kept = value, 1.0

    def __delattr__(self, name: str) -> None:
        self.kept = self.value

    @functools.cached_property
    def doubled(self) -> Any:
        return self.value * 2


class Defaulted:
    rate = 2.0

    @property
    def halved(self) -> Any:
        return self.rate / 2

    @halved.deleter
    def halved(self) -> None:
        self.rate = 7.0


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Sum:
    """Adds in place, and otherwise multiplies."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __iadd__(self, other: Any) -> Any:
        self.value = self.value + other
        return self

    def __add__(self, other: Any) -> Any:
        return Sum(self.value * getattr(other, "value", other))

    def __radd__(self, other: Any) -> Any:
        return Sum(self.value * 100)


class InheritsOperators(Sum):
    """Python asks the left operand first: this class has no reflected operator of its own."""


def descriptors(x: Any) -> Any:
    owner = Described(x[0])
    owner.first = x[1]
    owner.second += x[2]
    return owner.first * owner.second


def deleter_of_the_class(x: Any) -> Any:
    owner = Deleting(x[0])
    del owner.value
    return owner.kept * x[1]


def deleted_attribute_of_the_class(x: Any) -> Any:
    owner = Defaulted()
    owner.rate = x[0]
    before = owner.rate
    del owner.rate
    return before * owner.rate * x[1]


def deleter_of_a_property(x: Any) -> Any:
    owner = Defaulted()
    del owner.halved
    return owner.rate * x[1]


def cached_and_changed(x: Any) -> Any:
    owner = Deleting(x[0])
    first = owner.doubled
    owner.value = x[1]
    return first * owner.doubled


def no_slot(x: Any) -> Any:
    owner = Slotted(x[0])
    try:
        owner.other = x[1]  # type: ignore[attr-defined]
    except AttributeError:
        owner.value = x[2]
    return owner.value * x[3]


def inherited_operators(x: Any) -> Any:
    return (Sum(x[0]) + InheritsOperators(x[1])).value


@pytest.mark.parametrize(
    "function",
    [
        descriptors,
        deleter_of_the_class,
        deleter_of_a_property,
        cached_and_changed,
        no_slot,
        inherited_operators,
    ],
)
def test_the_class_decides_what_attributes_and_operators_mean(function: Any) -> None:
    check(function, X)


def test_below_a_deleted_attribute_is_that_of_the_class() -> None:
    agrees(deleted_attribute_of_the_class, X)


def list_in_a_list(x: Any) -> Any:
    inner = [x[0]]
    outer = [inner]
    outer[0] += [x[1]]
    return sum(inner) * len(inner)


def list_in_a_dict(x: Any) -> Any:
    inner = [x[0]]
    table = {"key": inner}
    table["key"] += [x[1]]
    return sum(inner) * len(inner)


def object_in_a_list(x: Any) -> Any:
    owner = Sum(x[0])
    items = [owner]
    items[0] += x[1]
    return owner.value


def array_in_a_tuple(x: Any) -> Any:
    items = (x * 1.0,)
    try:
        items[0] += 1.0  # type: ignore[index]
    except TypeError:
        pass
    return (items[0] * x).sum()


@pytest.mark.parametrize(
    "function", [list_in_a_list, list_in_a_dict, object_in_a_list, array_in_a_tuple]
)
def test_an_augmented_item_is_changed_in_place(function: Any) -> None:
    check(function, X)


def section_and_array(x: Any) -> Any:
    items = [x[0], x[1], x[2]]
    items[1:] -= x[2:]
    return items[0] * 3 + items[1] * items[2]


def section_and_list(x: Any) -> Any:
    items = [x[0], x[1], x[2]]
    items[1:] += [x[3] * 2]
    return len(items) * items[3]


def section_repeated(x: Any) -> Any:
    items = [x[0], x[1], x[2]]
    for i in range(3):
        items[i : i + 1] *= 2
    return items[0] * items[1] + items[2] + len(items)


def section_by_a_variable(x: Any) -> Any:
    items, part = [x[0], x[1], x[2]], slice(1, 3)
    items[part] += (x[3],)
    return items[part][0] * items[3]


@pytest.mark.parametrize(
    "function", [section_and_array, section_and_list, section_repeated, section_by_a_variable]
)
def test_an_augmented_section_of_a_list_is_stored(function: Any) -> None:
    check(function, X)


def list_and_array(x: Any) -> Any:
    items = same = [x[0], x[1]]
    items += x[2:]
    return items[0] * same[1] * len(items) * len(same)


def list_less_array(x: Any) -> Any:
    items = same = [x[0], x[1]]
    items -= x[2:]  # type: ignore[operator]
    return items[0] * same[1]


def list_times_array(x: Any) -> Any:
    rows = same = [[x[0], x[1]], [x[2]]]
    rows[0] *= x[2:]  # type: ignore[assignment, arg-type]
    return rows[0][1] * same[0][0] * len(rows[0])


class Adding:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __radd__(self, items: list[Any]) -> Any:
        return items[0] * self.value


def list_and_an_object_that_adds(x: Any) -> Any:
    items = same = [x[0], x[1]]
    items += Adding(x[2])
    return items * same[1] * len(same)


@pytest.mark.parametrize(
    "function", [list_and_array, list_less_array, list_times_array, list_and_an_object_that_adds]
)
def test_who_computes_with_lists_does_so_in_augmented_assignments(function: Any) -> None:
    check(function, X)


def sum_from_an_array(x: Any) -> Any:
    return sum(x[:1], x)


def sum_of_numbers_from_an_array(x: Any) -> Any:
    return sum(x.tolist(), x) * sum((t * t for t in x), x[:2])[1]


def sum_of_rows_from_a_row(x: Any) -> Any:
    return sum(np.outer(x, x[:1]), x)


def sum_of_numbers_from_a_tuple(x: Any) -> Any:
    return sum([x[0], 2], (x[0], x[1]))


@pytest.mark.parametrize(
    "function",
    [
        sum_from_an_array,
        sum_of_numbers_from_an_array,
        sum_of_rows_from_a_row,
        sum_of_numbers_from_a_tuple,
    ],
)
def test_what_a_sum_starts_from_is_broadcast(function: Any) -> None:
    agrees(function, X)


def power_of_lists(x: Any) -> Any:
    return pow([x[0], x[1]], x[2:]) + pow(base=(x[2], x[3]), exp=x[0])


def kinds_of_sets(x: Any) -> Any:
    known, frozen = {1, 2}, frozenset({2})
    scale = 3 if isinstance(known, set) and not isinstance(frozen, set) else 5
    return x * scale * len(known | frozen) * sum(known)


def container_in_a_container(x: Any) -> Any:
    found = [x[0], x[1], x[2], x[3]] in x, x[:2] in np.outer(x, x[:2]), x in [x]
    return x * sum(2**k for k, flag in enumerate(found) if flag)


def order_of_lists(x: Any) -> Any:
    return max([x[0], x[1]], [x[0], x[2]])[1] * ([x] == [x]) * ([x[0], 2.0] < [x[0], 1.0])


@pytest.mark.parametrize(
    "function", [power_of_lists, kinds_of_sets, container_in_a_container, order_of_lists]
)
def test_containers_mean_what_they_do_to_python(function: Any) -> None:
    check(function, np.abs(X))


def arrays_in_lists_are_compared(x: Any) -> Any:
    return x[0] * ([x] == [x * 1.0])


def array_as_a_condition(x: Any) -> Any:
    if x:
        pass
    return x[0]


@pytest.mark.parametrize("function", [arrays_in_lists_are_compared, array_as_a_condition])
def test_an_array_of_many_numbers_has_no_truth_value(function: Any) -> None:
    for run in (function, gs.grad(function)):
        with pytest.raises(ValueError, match="truth value"):
            run(X)


def set_with_a_list(x: Any) -> Any:
    items = {1, 2}
    items.add(3)
    items |= [4]  # type: ignore[arg-type]
    return x[0] * len(items)


def order_of_no_numbers(x: Any) -> Any:
    return x[0] * max({1}, None)


def no_dtype(x: Any) -> Any:
    return np.ones(3, dtype=-1) * x[0]  # type: ignore[call-overload]


@pytest.mark.parametrize("function", [set_with_a_list, order_of_no_numbers, no_dtype])
def test_what_raises_in_python_is_a_type_error(function: Any) -> None:
    for run in (function, gs.grad(function)):
        with pytest.raises(TypeError):
            run(X)


def object_then_number(x: Any) -> Any:
    found: Any = Sum(x[0])
    for i in range(len(x)):
        found = x[i] * 2
    return found


def number_then_dict(x: Any) -> Any:
    found = x[0]
    for i in range(2):
        found = {"a": x[i] * 3}
    return found


def dict_then_another(x: Any) -> Any:
    found = {"a": x[0]}
    for i in range(2):
        found = {"b": x[i] * 3}
    return found


def dict_in_another_order(x: Any) -> Any:
    found = {"a": x[0], "b": x[1]}
    for i in range(2):
        found = {"b": x[2] * i, "a": x[3]}
    return found["a"] * 10 + found["b"], list(found.values())[0]


class Pair:
    def __init__(self, first: Any, second: Any, in_order: bool) -> None:
        if in_order:
            self.first = first
        self.second = second
        if not in_order:
            self.first = first


def attributes_in_another_order(x: Any) -> Any:
    pair = Pair(x[0], x[1], True)
    for i in range(2):
        pair = Pair(pair.second * x[2], pair.first * i, False)
    return pair.first * 10 + pair.second


@pytest.mark.parametrize(
    "function",
    [
        object_then_number,
        number_then_dict,
        dict_then_another,
        dict_in_another_order,
        attributes_in_another_order,
    ],
)
def test_a_loop_binds_a_name_to_something_else(function: Any) -> None:
    check(function, X)


def pair_found_in_a_loop(x: Any, n: int) -> Any:
    scale = np.tanh(x[0])
    found = None
    for i in range(n):
        found = np.sin(np.sin(x)), x[i] / (2 + scale**2)
    return np.tanh(np.max(found[0]) * found[1]) if found is not None else scale


@pytest.mark.parametrize("n", [0, 2])
def test_nothing_is_found_where_a_loop_makes_no_iteration(n: int) -> None:
    check(pair_found_in_a_loop, X, n)


def finally_may_return(x: Any, n: int) -> Any:
    try:
        return x[0]
    finally:
        if n > 0:
            return x[1] * 3


def finally_may_break(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(4):
        try:
            total += x[i]
        finally:
            if i == n:
                break
    return total


def finally_may_continue(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(4):
        try:
            if i == n:
                return total * 100
            total += x[i]
        finally:
            if i == n:
                continue
        total *= 2
    return total


def finally_ends_an_exception(x: Any, n: int) -> Any:
    try:
        raise ValueError("ended")
    finally:
        return x[n]


@pytest.mark.parametrize(
    "function",
    [finally_may_return, finally_may_break, finally_may_continue, finally_ends_an_exception],
)
@pytest.mark.parametrize("n", [1, -1])
def test_a_finally_that_leaves_goes_before_what_it_follows(function: Any, n: int) -> None:
    check(function, X, n)


class Noting:
    def __init__(self, notes: list[float]) -> None:
        self.notes = notes

    def __enter__(self) -> Noting:
        self.notes.append(1.0)
        return self

    def __exit__(self, cls: Any, error: Any, trace: Any) -> None:
        self.notes.append(2.0 if cls is None else 3.0)


def manager_is_told_of_an_exception(x: Any) -> Any:
    notes: list[float] = []
    try:
        with Noting(notes):
            raise ValueError("told")
    except ValueError:
        pass
    return x[0] * sum(notes)


def test_a_manager_is_left_when_an_exception_passes() -> None:
    check(manager_is_told_of_an_exception, X)


def changed_in_a_call(x: Any, n: int) -> Any:
    items = [x[0]]

    def raising() -> float:
        items.append(x[1])
        if n > 0:
            raise ValueError
        return 1.0

    try:
        factor = raising()
    except ValueError:
        factor = x[1]
    return factor * sum(items)


def changed_by_an_earlier_operand(x: Any, n: int) -> Any:
    items = [x[0], x[1]]

    def raising(value: Any) -> Any:
        if n > 0:
            raise ValueError
        return value

    try:
        last = raising(items.pop())
    except ValueError:
        last = x[2]
    return last * sum(items)


def changed_by_finally(x: Any, n: int) -> Any:
    items = [x[0]]

    def raising() -> float:
        try:
            if n > 0:
                raise ValueError
            return 1.0
        finally:
            items.append(x[1])

    try:
        factor = raising()
    except ValueError:
        factor = x[1]
    return factor * sum(items)


def named_by_an_earlier_operand(x: Any, n: int) -> Any:
    factor = x[0]

    def raising(value: Any) -> Any:
        if n > 0:
            raise ValueError
        return value

    try:
        result = (factor := x[1] * 3) * raising(2.0)
    except ValueError:
        result = x[1]
    return result * factor


@pytest.mark.parametrize(
    "function",
    [
        changed_in_a_call,
        changed_by_an_earlier_operand,
        changed_by_finally,
        named_by_an_earlier_operand,
    ],
)
def test_a_state_that_a_handler_cannot_start_from_is_refused(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="exception"):
        gs.grad(function)(X, 1)


def appended_after_a_call(x: Any, n: int) -> Any:
    items = [x[0]]

    def raising() -> Any:
        if n > 0:
            raise ValueError
        return x[3]

    try:
        items.append(raising())
    except ValueError:
        items.append(x[1] * 7)
    return sum(items) * x[2]


@pytest.mark.parametrize("n", [1, -1])
def test_a_store_after_what_may_raise_is_no_obstacle(n: int) -> None:
    check(appended_after_a_call, X, n)


class AnyName:
    def __getattribute__(self, name: str) -> float:
        return 5.0


def own_lookup(x: Any, n: int) -> Any:
    return AnyName().anything * x[0]


def stored_or_of_the_class(x: Any, n: int) -> Any:
    owner = Defaulted()
    if n > 0:
        owner.rate = x[0]
    return owner.rate * x[1]


def asked_after_a_branch(x: Any, n: int) -> Any:
    owner = Deleting(x[0])
    if n > 0:
        owner.other = x[1]  # type: ignore[attr-defined]
    return x[2] if hasattr(owner, "other") else x[3]


def caught_after_a_branch(x: Any, n: int) -> Any:
    owner = Deleting(x[0])
    if n > 0:
        owner.other = x[1]  # type: ignore[attr-defined]
    try:
        return owner.other * x[2]  # type: ignore[attr-defined]
    except AttributeError:
        return x[3]


def default_after_a_branch(x: Any, n: int) -> Any:
    owner = Deleting(x[0])
    if n > 0:
        owner.other = x[1]  # type: ignore[attr-defined]
    return getattr(owner, "other", x[2]) * x[0]


@pytest.mark.parametrize(
    "function",
    [
        stored_or_of_the_class,
        asked_after_a_branch,
        caught_after_a_branch,
        default_after_a_branch,
    ],
)
@pytest.mark.parametrize("n", [1, -1])
def test_attributes_that_depend_on_a_branch_are_found_as_in_python(
    function: Callable[..., Any], n: int
) -> None:
    assert gs.vjp(function, X, n)[0] == function(X, n)
    gs.testing.check_grad(functools.partial(function, n=n), X)


def missing_after_a_branch(x: Any, n: int) -> Any:
    owner = Deleting(x[0])
    if n > 0:
        owner.other = x[1]  # type: ignore[attr-defined]
    return owner.other * x[2]  # type: ignore[attr-defined]


def test_an_attribute_that_the_path_has_not_stored_raises_as_in_python() -> None:
    gradient = gs.grad(missing_after_a_branch)
    np.testing.assert_array_equal(gradient(X, 1), [0, X[2], X[1], 0])
    with pytest.raises(AttributeError, match="`Deleting` has no attribute `other`"):
        gradient(X, -1)


def its_absence_is_caught(x: Any, n: int) -> Any:
    owner = Deleting(x[0])
    for i in range(n):
        if x[i] > 0:
            owner.other = x[i]  # type: ignore[attr-defined]
    try:
        return owner.other * x[2]  # type: ignore[attr-defined]
    except AttributeError:
        return x[3]


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (own_lookup, "`AnyName` has a `__getattribute__` of its own"),
        (its_absence_is_caught, "whether the attribute `other` was stored is not known"),
    ],
)
def test_attributes_that_depend_on_iterations_are_refused(
    function: Callable[..., Any], what: str
) -> None:
    with pytest.raises(UnsupportedError, match=what):
        gs.grad(function)(X, 1)


def product_of_integers(x: Any, i: Any) -> Any:
    return (x * (i * 1000000000)).sum()


def test_a_product_of_integers_overflows_in_the_derivative_as_in_the_value() -> None:
    i = np.array([3, -2, 5, 7], np.int32)
    expected = (i * 1000000000).astype(float)
    np.testing.assert_array_equal(gs.grad(product_of_integers)(X, i), expected)


def divided_in_place(x: Any, i: Any) -> Any:
    i = i.copy()
    i /= 2
    return (x * i).sum()


def part_multiplied_in_place(x: Any, i: Any) -> Any:
    i = i.copy()
    i[:2] *= 1.5
    return (x * i).sum()


@pytest.mark.parametrize("function", [divided_in_place, part_multiplied_in_place])
def test_a_floating_result_is_not_stored_in_an_array_of_integers_in_place(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="NumPy does not store a float64 result"):
        gs.grad(function)(X, np.arange(4))


def integers_in_place(x: Any, i: Any) -> Any:
    i = i.copy()
    i //= 2
    i **= 2
    i[0] /= 2
    i[1] *= 1.5
    chosen = x > 1
    chosen |= i > 3
    return (x * i * chosen).sum()


def test_integers_in_place_are_stored_as_numpy_stores_them() -> None:
    check(integers_in_place, X, np.array([3, -2, 5, 7]))


class Measure:
    """Defines what functions and operators of Python ask their arguments for."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __divmod__(self, other: Any) -> Any:
        return self.value * other, self.value + other

    def __rdivmod__(self, other: Any) -> Any:
        return self.value * 5, other

    def __int__(self) -> int:
        return 3

    def __float__(self) -> float:
        return 2.5

    def __round__(self, digits: int = 7) -> Any:
        return self.value * digits

    def __floor__(self) -> int:
        return 4

    def __pow__(self, power: Any) -> Any:
        return Measure(self.value**power)


def functions_of_an_object(x: Any) -> Any:
    one = Measure(x[0])
    first, second = divmod(one, x[1])
    third, fourth = divmod(2.0, one)
    total = first * second + third * fourth + round(one) + round(one, 2) * x[2]
    return (
        total + int(one) * x[3] + float(one) * math.floor(one) + math.ceil(one) * pow(one, 2).value
    )


def containers_as_conditions(x: Any) -> Any:
    items, nothing = [x[0], x[1]], ()
    total = bool(items) * x[2] + bool(nothing) * x[3]
    while bool(items):
        total = total * 2 + items.pop()
    return total + ([1] == (1,)) * x[0] + ((1,) != [1]) * x[1] + (nothing == 3)


def united_dicts(x: Any) -> Any:
    first = {"a": x[0]}
    same = first
    first |= {"b": x[1]}
    other = first | {"a": x[2] * 2}
    return sum(other.values()) * len(same) + same["b"] * first["a"]


@pytest.mark.parametrize(
    "function", [functions_of_an_object, containers_as_conditions, united_dicts]
)
def test_built_in_functions_and_operators_ask_what_they_are_given(function: Any) -> None:
    check(function, X)


def first_of_the_largest(x, n):
    items = []
    for i in range(n):
        items.append(x[0] * i)
    return max(items, key=lambda item: item > 1.0) + 10 * min(items, key=lambda item: item > 5.0)


def test_of_several_items_that_are_largest_the_first_is_taken() -> None:
    agrees(first_of_the_largest, X, 5)
