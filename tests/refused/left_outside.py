"""Arrays and lists from outside that are put in containers there, in ways that are not followed."""

from __future__ import annotations

import tempfile
import types

import numpy as np

import gradscribe as gs
from gradscribe.errors import AliasingError
from tests.refused import refused, refused_when_run

TABLE, TABLES, LOG = np.ones(2), [np.ones(2), np.zeros(2)], []
MADE = []


@refused("`append` puts what may be in a list from outside in another container", np.ones(2))
def item_of_a_list_in_another(x):
    LOG.append(TABLES[0])
    return np.sum(TABLES[1] * x)


@refused(
    "an iteration gives code that cannot be read what may be `y`, which it may have, too",
    np.ones(2),
    kind=AliasingError,
)
def one_array_or_two_in_a_list(x):
    y = x * 2
    for _ in range(2):
        LOG.append([np.asarray(y) if x[0] > 0 else y * 1, x])
    return np.sum(y * x)


@refused(
    "`extend`, whose code cannot be read, may use `TABLE`, which is in a container from outside",
    np.ones(2),
)
def looked_at_after_a_store(x):
    LOG.append(TABLE)
    TABLE[0] = 5.0
    MADE.extend([x[0]])
    return np.sum(TABLE * x)


@refused_when_run(
    "`placed` puts an array from outside in a container there, and the derivative reads it",
    AliasingError,
)
def pullback_with_what_is_outside():
    table, log = np.ones(2), []

    def placed(x):
        log.append(table)
        return np.sum(table * x)

    gs.vjp(placed, np.ones(2))


@refused_when_run("what is outside may be put in `log`, in a branch or loop")
def tensors_in_a_branch():
    table, log = np.ones(2), []

    def branching(x):
        if x[0] > 0:
            log.append(table)
        return (x * x).sum()

    gs.differentiable(branching)(gs.tensor([1.0, 2.0], requires_grad=True))


@refused_when_run(
    "`rotated`, which is called with Tensors, moves the lists in a list from outside", AliasingError
)
def lists_that_move():
    rows = [[1.0], [2.0]]

    def rotated(x):
        rows.append(rows.pop(0))
        return rows[0][0] * x.sum()

    gs.differentiable(rotated)(gs.tensor([1.0, 2.0], requires_grad=True))


@refused_when_run(
    "`placed`, which is called with Tensors, stores a part of an array from outside in an object "
    "or container there",
    AliasingError,
)
def part_of_an_array():
    table, kept = np.ones(3), {"part": np.zeros(2)}

    def placed(x, n):
        if n > 1:
            kept["part"] = table[1:]
        return (x * x).sum() + kept["part"].sum()

    gs.differentiable(placed)(gs.tensor([1.0, 2.0], requires_grad=True), 3)


CHOSEN = {"one": np.zeros(2)}


@refused("what this function leaves outside may be `TABLE`, which it stores to", np.ones(2), 3)
def changed_and_left_or_not(x, n):
    TABLE[0] = 5.0
    if n > 1:
        CHOSEN["one"] = TABLE
    return np.sum(CHOSEN["one"] * x)


KEPT_ROWS: list[np.ndarray] = []


@refused(
    "what this function leaves outside may be what it leaves elsewhere, on some paths",
    np.ones(2),
    3,
)
def kept_and_left_or_not(x, n):
    rows = [np.ones(2), np.zeros(2)]
    KEPT_ROWS.append(rows[0])
    CHOSEN["one"] = rows[n - 2]
    return np.sum(x)


NESTED = [[np.ones(2)], [np.ones(2)]]


@refused("a list in `NESTED`, a list from outside, gets other arrays", np.ones(2))
def a_list_in_a_list(x):
    NESTED[0].append(x * 2)
    return np.sum(x)


NUMBERED = {"one": {"a": 1.0}, "two": {"a": 2.0}}


@refused(
    "it may be one of several lists, dicts or objects, which is known at run time only",
    np.ones(2),
    3,
)
def a_dict_under_another_key(x, n):
    if n > 1:
        NUMBERED["one"] = NUMBERED["two"]
    return np.sum(NUMBERED["one"]["a"] * x)


FILE = tempfile.NamedTemporaryFile()
MAPPED = np.memmap(FILE, dtype=float, mode="w+", shape=2)


@refused("`MAPPED` is mapped from a file, to which `open` may write", np.ones(2))
def written_while_it_is_read(x):
    first = np.sum(MAPPED * x)
    with open(FILE.name, "r+b") as file:
        file.write(bytes(8))
    return first * np.sum(MAPPED * x)


def kept_row_by_row(rows):
    if np.ndim(rows) == 1:
        LOG.append(rows)
        return rows.sum()
    return np.array([kept_row_by_row(row) for row in rows])


@refused(
    "this stores to an array, which a recursive call may have given to code that cannot be read",
    np.ones(2),
)
def changed_after_a_recursive_call(x):
    rows = np.arange(4.0).reshape(2, 2)
    sums = kept_row_by_row(rows)
    rows[0, 1] = 2.0
    return np.sum(sums * x)


NAMED = {float("nan"): 1.0, 2: 3.0}


@refused("`NAMED` has NaN as a key, which is found by its identity alone", 2.0)
def nan_as_a_key(x):
    return x * sum(NAMED.values())


SETTINGS = types.SimpleNamespace(a=1.0, b=2.0)


@refused("the attribute `a` gets another place among those of the object on some paths", np.ones(2))
def deleted_and_stored_again(x):
    del SETTINGS.a
    SETTINGS.a = 2.0
    return np.sum(x)


@refused(
    "an object whose attributes are stored in another order on some paths is returned, or stored "
    "outside",
    np.ones(2),
)
def attributes_in_two_orders(x):
    made = types.SimpleNamespace()
    if x[0] > 1:
        made.a = x[0]
        made.b = x[1]
    else:
        made.b = x[0]
        made.a = x[1]
    return made


NOTHING = np.zeros(2)
MIXED = [0.5, NOTHING[0]]
ROWS = [[NOTHING[0]], [NOTHING[1], NOTHING[0]]]


@refused("a list of several kinds of items is put in a list, and is elsewhere, too", np.ones(2))
def list_of_several_kinds_in_another(x):
    ROWS[0] = MIXED
    return np.sum(x) + sum(sum(row) for row in ROWS)
