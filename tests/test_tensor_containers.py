"""Lists, deques and dicts from outside hold after a call with Tensors what they do in eager
execution: Tensors that belong to the graph."""

import collections
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError


class Node:
    """Something to hold attributes."""

    tables: dict[str, Any]
    log: list[Any]


class Noting(list[Any]):
    """A list that counts what is added to it."""

    added = 0

    def append(self, item: Any) -> None:
        self.added += 1
        super().append(item)


def seen(item: Any) -> Any:
    """What two runs may be compared by: values, whether they belong to the graph, and types."""
    if isinstance(item, gs.Tensor):
        return "Tensor", item.tolist(), item.requires_grad
    if isinstance(item, dict):
        return type(item), {key: seen(below) for key, below in item.items()}, list(item)
    if isinstance(item, (list, tuple, collections.deque)):
        return type(item), [seen(below) for below in item]
    if isinstance(item, Node):
        return seen(vars(item))
    return float if isinstance(item, float) else type(item), item


def assert_leaves_the_same(make: Any) -> None:
    """make: gives a function, and the container that it changes. Called twice: the second call is
    of another specialization, or of the same one."""
    (plain, expected), (compiled, found) = make(), make()
    compiled = gs.differentiable(compiled)
    for factor in (1.0, 2.0):
        x, y = (gs.tensor([0.5, -1.5], requires_grad=True) for _ in range(2))
        first, second = plain(x * factor), compiled(y * factor)
        np.testing.assert_allclose(second.tolist(), first.tolist())
        assert seen(found) == seen(expected)


MAKERS = []


def maker(make: Any) -> Any:
    MAKERS.append(make)
    return make


@maker
def item_of_an_empty_dict():
    table: dict[str, Any] = {}

    def f(x):
        table["h"] = x * 2
        return table["h"] * x

    return f, table


@maker
def item_in_the_place_of_none():
    table = {"other": "text", "h": None}

    def f(x):
        table["h"] = x * 2
        return table["h"] * x

    return f, table


@maker
def number_in_the_place_of_none():
    slots = [None, "text"]

    def f(x):
        slots[0] = x.sum()
        return x * x

    return f, slots


@maker
def exchanged_items():
    slots = [1.0, None]

    def f(x):
        slots[0], slots[1] = slots[1], slots[0]
        return x * x

    return f, slots


@maker
def list_of_a_default_dict():
    table = collections.defaultdict(list)

    def f(x):
        table["a"].append(x * 2)
        return x * x

    return f, table


@maker
def counted_in_a_dict():
    counts: dict[str, int] = {}

    def f(x):
        counts["n"] = counts.get("n", 0) + 1
        return x * x

    return f, counts


@maker
def counted_by_a_counter():
    counts = collections.Counter()

    def f(x):
        counts["n"] += 1
        return x * x

    return f, counts


@maker
def container_in_a_container():
    tables = {"a": {}, "b": [None]}

    def f(x):
        tables["a"]["h"] = x * 2
        tables["b"][0] = x * 3
        return x * x

    return f, tables


@maker
def containers_in_a_tuple():
    pair = ({}, [])

    def f(x):
        pair[0]["a"] = x * 2
        pair[1].append(x * 3)
        return x * x

    return f, pair


@maker
def dict_of_an_object():
    node = Node()
    node.tables = {}

    def f(x):
        node.tables["h"] = x * 2
        return x * x

    return f, node


@maker
def set_if_it_is_not_there():
    table: dict[str, Any] = {}

    def f(x):
        h = table.setdefault("h", x * 2)
        table.setdefault("log", []).append(x)
        return x * h

    return f, table


@maker
def read_if_it_is_there():
    table: dict[str, Any] = {}

    def f(x):
        if "h" not in table:
            table["h"] = x * 2
        return x * table["h"]

    return f, table


@maker
def items_taken_out():
    table, items = {"a": 1.0, "b": None, "c": "text"}, [3.0, None, "text"]

    def f(x):
        table.pop("a", None)
        table.pop("b", None)
        if len(items) > 1:
            items.pop(0)
        return x * x

    return f, (table, items)


@maker
def all_items_taken_out():
    table, items = {"a": None}, [None, 1.0]

    def f(x):
        table.clear()
        items.clear()
        table["b"] = x * 2
        return x * x

    return f, (table, items)


@maker
def updated_by_keywords():
    table: dict[str, Any] = {}

    def f(x):
        table.update(h=x * 2, n=1)
        return x * x

    return f, table


@maker
def different_kinds_of_items():
    items: list[Any] = []

    def f(x):
        items.append(x * 2)
        items.append((x.sum(), "text", 1))
        items.extend([{"loss": x[0] * 1}, None, 3.0])
        return x * x

    return f, items


@maker
def added_by_an_operator():
    items: list[Any] = []

    def f(x):
        own = items
        own += [x * 2]
        return x * x

    return f, items


@maker
def inserted_at_the_beginning():
    items: list[Any] = []

    def f(x):
        items.insert(0, x * 2)
        return x * x

    return f, items


@maker
def added_in_a_loop():
    items: list[Any] = []

    def f(x):
        for i in range(3):
            items.append((i, x * i))
        return x * x

    return f, items


@maker
def added_under_a_condition():
    items: list[Any] = []

    def f(x):
        if x.sum() < -1:
            items.append(x * 2)
        return x * x

    return f, items


@maker
def added_by_a_helper():
    node = Node()
    node.log = [None]

    def note(item):
        node.log.append(item)

    def f(x):
        note(x * 2)
        note(x * 3)
        return x * x

    return f, node


@maker
def added_to_the_longest_deque():
    items: collections.deque[Any] = collections.deque(maxlen=3)

    def f(x):
        items.append(x * 2)
        items.append(x * 3)
        return x * x

    return f, items


@maker
def converted_numbers():
    table: dict[str, Any] = {"loss": None}

    def f(x):
        table["loss"] = float(x.sum())
        return x * x

    return f, table


@maker
def converted_numbers_in_a_list():
    losses: list[Any] = []

    def f(x):
        losses.append(float(x.sum()))
        losses.append(x.sum().item())
        return x * x

    return f, losses


@maker
def texts_in_a_loop():
    items: list[str] = []

    def f(x):
        for i in range(3):
            items.append(f"step {i}")
        return x * x

    return f, items


@pytest.mark.parametrize("make", MAKERS, ids=[make.__name__ for make in MAKERS])
def test_a_container_from_outside_is_left_as_in_eager_execution(make: Any) -> None:
    assert_leaves_the_same(make)


def test_what_is_added_leads_back_to_the_call() -> None:
    history: list[Any] = []

    @gs.differentiable
    def f(x):
        h = x * 2
        history.append(h)
        return h * x

    x = gs.ones(2, requires_grad=True)
    (f(x).sum() + history[0].sum()).backward()
    assert x.grad.tolist() == [6, 6]


def test_what_is_stored_in_a_dict_leads_back_to_the_call() -> None:
    table: dict[str, Any] = {}

    @gs.differentiable
    def f(x):
        table["h"] = x * 2
        return x

    x = gs.ones(2, requires_grad=True)
    (f(x).sum() + table["h"].sum()).backward()
    assert x.grad.tolist() == [3, 3]


def test_what_a_container_keeps_stays_the_same_object() -> None:
    kept, inner = gs.ones(2), {"a": None}
    table: dict[str, Any] = {"inner": inner, "kept": kept, "node": Node()}
    before = dict(table)

    @gs.differentiable
    def f(x):
        table["new"] = x * 2
        table["inner"]["a"] = x * 3
        return x * x

    f(gs.ones(2, requires_grad=True))
    assert list(table) == ["inner", "kept", "node", "new"]
    assert all(table[key] is item for key, item in before.items())
    assert inner["a"].tolist() == [3, 3]


def test_one_specialization_serves_a_growing_list() -> None:
    history: list[Any] = []

    @gs.differentiable
    def f(x):
        history.append(x.sum())
        return x * x

    for _ in range(4):
        f(gs.ones(2, requires_grad=True))
    assert len(history) == 4
    assert len(f.specializations) == 1


def test_two_dicts_are_told_apart_from_one() -> None:
    class Pair:
        first: dict[str, Any]
        second: dict[str, Any]

    pair = Pair()

    @gs.differentiable
    def f(x):
        pair.first["a"] = x * 2
        pair.second["a"] = x * 3
        return x * pair.first["a"]

    x = gs.ones(1, requires_grad=True)
    pair.first = pair.second = {}
    assert f(x).tolist() == [3]
    pair.first, pair.second = {"a": 1.0}, {"a": 1.0}
    pair.first, pair.second = {}, {}
    assert f(x).tolist() == [2]


def test_a_tensor_for_a_set_or_a_list_of_its_own_kind_is_refused() -> None:
    names, notes = set[Any](), Noting()

    @gs.differentiable
    def entered(x):
        names.add(x.sum())
        return x * x

    @gs.differentiable
    def noted(x):
        notes.append(x * 2)
        return x * x

    for f in (entered, noted):
        with pytest.raises(UnsupportedError, match="a Tensor is added to a"):
            f(gs.ones(2, requires_grad=True))


def test_numbers_may_be_entered_in_a_set() -> None:
    numbers = set[Any]()

    @gs.differentiable
    def f(x):
        numbers.add(x.sum().item())
        return x * x

    f(gs.ones(2, requires_grad=True))
    assert numbers == {2.0}
