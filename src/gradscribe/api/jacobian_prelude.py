"""What the Jacobians of a call are made of, written in Python.

The frontend lowers these as it lowers the user's functions. pullback, push: the derivative of one
leaf of the result, or by one leaf of the arguments; each gives a tuple with one value for each
leaf on the other side. likes: the leaves of that side themselves. A leaf is a number, an array,
or a list of those.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def rows(pullback: Any, result: Any, likes: Any) -> Any:
    """The derivatives of one leaf of the result by all of the likes."""
    if isinstance(result, list):
        return of_items(pullback, result, likes, rows)
    if np.ndim(result) == 0:
        return pullback(one_like(result))
    count = number_of_elements(result)
    blocks = tuple(empty_rows(count, like) for like in likes)
    for row in range(count):
        cotangents = pullback(unit_like(result, count, row))
        for block, cotangent in zip(blocks, cotangents, strict=True):
            put_row(block, row, cotangent)
    if np.ndim(result) == 1:
        return blocks
    return tuple(with_first_axes(block, np.shape(result)) for block in blocks)


def columns(push: Any, argument: Any, likes: Any) -> Any:
    """The derivatives of all of the likes by one leaf of the arguments."""
    if isinstance(argument, list):
        found = of_items(push, argument, likes, columns)
        return tuple(by_result(block, like) for block, like in zip(found, likes, strict=True))
    if np.ndim(argument) == 0:
        return push(one_like(argument))
    count = number_of_elements(argument)
    blocks = tuple(empty_columns(count, like) for like in likes)
    for column in range(count):
        tangents = push(unit_like(argument, count, column))
        for block, tangent in zip(blocks, tangents, strict=True):
            put_column(block, column, tangent)
    if np.ndim(argument) == 1:
        return blocks
    return tuple(with_last_axes(block, np.shape(argument)) for block in blocks)


def of_items(derivative: Any, items: Any, likes: Any, of_one: Any) -> Any:
    """What `rows` or `columns` gives for each item of a list, as lists."""
    zeros = [zero_like(item) for item in items]
    found: Any = tuple([] for _ in likes)
    for i in range(len(items)):

        def of_item(seed: Any) -> Any:
            seeds = list(zeros)
            seeds[i] = seed  # noqa: B023  (called in this very trip)
            return derivative(seeds)

        append_each(found, of_one(of_item, items[i], likes))
    return found


def append_each(lists: Any, items: Any) -> None:
    for each, item in zip(lists, items, strict=True):
        each.append(item)


def by_result(block: Any, like: Any) -> Any:
    """For each item of a list that the function returns, what was found for each argument."""
    if not isinstance(like, list):
        return block
    return [[of_argument[j] for of_argument in block] for j in range(len(like))]


def number_of_elements(array: Any) -> Any:
    count = len(array)
    for length in np.shape(array)[1:]:
        count = count * length
    return count


def unit_like(array: Any, count: Any, number: Any) -> Any:
    """Zeros, but for one element, in the shape of an array of so many."""
    seed = np.zeros(count, array.dtype)
    seed[number] = 1.0
    return seed if np.ndim(array) == 1 else seed.reshape(np.shape(array))


def one_like(number: Any) -> Any:
    return np.ones_like(number) if isinstance(number, np.ndarray) else 1.0


def zero_like(item: Any) -> Any:
    return np.zeros_like(item) if isinstance(item, np.ndarray) else 0.0


def empty_rows(count: Any, like: Any) -> Any:
    if isinstance(like, list):
        return [np.empty((count, *np.shape(item)), np.asarray(item).dtype) for item in like]
    jacobian = np.empty((count, *np.shape(like)), np.asarray(like).dtype)
    return jacobian


def empty_columns(count: Any, like: Any) -> Any:
    if isinstance(like, list):
        return [np.empty((*np.shape(item), count), np.asarray(item).dtype) for item in like]
    jacobian = np.empty((*np.shape(like), count), np.asarray(like).dtype)
    return jacobian


def put_row(block: Any, row: Any, cotangent: Any) -> None:
    if isinstance(block, list):
        for i in range(len(block)):
            block[i][row] = cotangent[i]
    else:
        block[row] = cotangent


def put_column(block: Any, column: Any, tangent: Any) -> None:
    if isinstance(block, list):
        for i in range(len(block)):
            block[i][..., column] = tangent[i]
    else:
        block[..., column] = tangent


def with_first_axes(block: Any, shape: Any) -> Any:
    if isinstance(block, list):
        return [item.reshape(*shape, *item.shape[1:]) for item in block]
    return block.reshape(*shape, *block.shape[1:])


def with_last_axes(block: Any, shape: Any) -> Any:
    if isinstance(block, list):
        return [item.reshape(*item.shape[:-1], *shape) for item in block]
    return block.reshape(*block.shape[:-1], *shape)
