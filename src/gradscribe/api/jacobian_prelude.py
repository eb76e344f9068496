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
        return derivatives_of(pullback, one_like(result), likes)
    count = number_of_elements(result)
    blocks = tuple(empty_rows(count, like, result) for like in likes)
    for row in range(count):
        cotangents = derivatives_of(pullback, unit_like(result, count, row), likes)
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
        return derivatives_by(push, one_like(argument), likes)
    count = number_of_elements(argument)
    blocks = tuple(empty_columns(count, like, argument) for like in likes)
    for column in range(count):
        tangents = derivatives_by(push, unit_like(argument, count, column), likes)
        for block, tangent in zip(blocks, tangents, strict=True):
            put_column(block, column, tangent)
    if np.ndim(argument) == 1:
        return blocks
    return tuple(with_last_axes(block, np.shape(argument)) for block in blocks)


def derivatives_of(pullback: Any, unit: Any, likes: Any) -> Any:
    """Those of one element: of a complex one, its parts by real numbers, or the complex derivative,
    of which the pullback gives the conjugate."""
    if not is_complex(unit):
        return pullback(unit)
    if all(is_complex(like) for like in likes):
        return tuple(np.conjugate(by_real) for by_real in pullback(unit))
    pairs = zip(pullback(unit), pullback(unit * 1j), likes, strict=True)
    return tuple(
        np.conjugate(of_real) if is_complex(like) else combined(of_real, of_imaginary)
        for of_real, of_imaginary, like in pairs
    )


def derivatives_by(push: Any, unit: Any, likes: Any) -> Any:
    """Those by one element: by a complex one the gradients of real results, from its parts, or the
    complex derivatives."""
    if not is_complex(unit) or all(is_complex(like) for like in likes):
        return push(unit)
    pairs = zip(push(unit), push(unit * 1j), likes, strict=True)
    return tuple(
        by_real if is_complex(like) else combined(by_real, by_imaginary)
        for by_real, by_imaginary, like in pairs
    )


def combined(real: Any, imaginary: Any) -> Any:
    """The complex numbers of these parts; of lists, item by item."""
    if isinstance(real, list):
        return [a + 1j * b for a, b in zip(real, imaginary, strict=True)]
    return real + 1j * imaginary


def is_complex(item: Any) -> Any:
    """Whether an argument or a result is; lists are of real numbers."""
    return not isinstance(item, list) and np.asarray(item).dtype.kind == "c"


def of_items(derivative: Any, items: Any, likes: Any, of_one: Any) -> Any:
    """What `rows` or `columns` gives for each item of a list, as lists."""
    zeros = [zero_like(item) for item in items]
    found: Any = tuple([] for _ in likes)
    for i in range(len(items)):

        def of_item(seed: Any) -> Any:
            seeds = list(zeros)
            seeds[i] = seed  # noqa: B023  (called in this very iteration)
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
    if isinstance(number, np.ndarray):
        return np.ones_like(number)
    return 1.0 + 0.0j if is_complex(number) else 1.0


def zero_like(item: Any) -> Any:
    return np.zeros_like(item) if isinstance(item, np.ndarray) else 0.0


def dtype_of_block(like: Any, other: Any) -> Any:
    """That of the leaf that the derivatives are shaped like, and complex if the other one is."""
    dtype = np.asarray(like).dtype
    return np.promote_types(dtype, np.complex64) if is_complex(other) else dtype


def empty_rows(count: Any, like: Any, result: Any) -> Any:
    if isinstance(like, list):
        return [np.empty((count, *np.shape(i)), dtype_of_block(i, result)) for i in like]
    jacobian = np.empty((count, *np.shape(like)), dtype_of_block(like, result))
    return jacobian


def empty_columns(count: Any, like: Any, argument: Any) -> Any:
    if isinstance(like, list):
        return [np.empty((*np.shape(i), count), dtype_of_block(i, argument)) for i in like]
    jacobian = np.empty((*np.shape(like), count), dtype_of_block(like, argument))
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
