"""Functions of `itertools` on run-time sequences, written in Python (see `prelude`)."""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.prelude.prelude import is_equal


def taken_while(function: Any, items: Any) -> Any:
    taken = []
    for item in items:
        if not function(item):
            break
        taken.append(item)
    return taken


def dropped_while(function: Any, items: Any) -> Any:
    kept, started = [], False
    for item in items:
        if not started and not function(item):
            started = True
        if started:
            kept.append(item)
    return kept


def filtered_out(function: Any, items: Any) -> Any:
    return [item for item in items if not function(item)]


def compressed(items: Any, selectors: Any) -> Any:
    return [item for item, is_chosen in zip(items, selectors, strict=False) if is_chosen]


def zipped_longest(first: Any, second: Any, fill: Any) -> Any:
    return [
        (first[i] if i < len(first) else fill, second[i] if i < len(second) else fill)
        for i in range(max(len(first), len(second)))
    ]


def grouped(items: Any, key: Any) -> Any:
    keys: list[Any] = []
    groups: list[Any] = []
    for item in items:
        found = item if key is None else key(item)
        if not (keys and is_equal(keys[-1], found)):
            keys.append(found)
            groups.append([item])
        else:
            groups[-1].append(item)
    return zip(keys, groups, strict=True)


def combined_threes(items: Any) -> Any:
    count = len(items)
    return [
        (items[i], items[j], items[k])
        for i in range(count)
        for j in range(i + 1, count)
        for k in range(j + 1, count)
    ]


def combined_with_replacement(items: Any) -> Any:
    return [(items[i], items[j]) for i in range(len(items)) for j in range(i, len(items))]


def permuted(items: Any) -> Any:
    count = len(items)
    return [(items[i], items[j]) for i in range(count) for j in range(count) if i != j]


def column(rows: Any, number: int) -> Any:
    return [row[number] for row in rows]
