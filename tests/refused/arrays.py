"""Arrays, indices and stores that are refused."""

from __future__ import annotations

import numpy as np

from gradscribe.errors import AliasingError
from tests.refused import refused

X = np.linspace(0.5, 2.0, 4)
MATRIX = np.arange(4.0).reshape(2, 2) + 1


@refused("the attribute `strides` of an array is not supported", X)
def strides(x):
    return np.sum(x) * x.strides[0]


@refused("the attribute `flags` of a number is not supported", X)
def flags_of_a_number(x):
    return np.sum(x) if x[0].flags.owndata else x[0]


@refused("an array has no attribute `foo`", X)
def attribute_of_no_array(x):
    return x.foo


@refused("a directive among the parts is not supported", X)
def joined_by_a_directive(x):
    return np.sum(np.r_["0,2", x, x])


@refused("numbers beside arrays of this type are not supported", X.astype(np.float32))
def numbers_beside_short_ones(x):
    return np.sum(np.r_[x, 1.0])


@refused("masks and lists of flags in one index are not supported", MATRIX)
def two_masks(m):
    return np.sum(m[m[0] > 1, [True, False]])


@refused("only integers, slices, None, `...`, masks and integer arrays are supported as index", X)
def float_index(x):
    return x[x[0]]


@refused("only lists of integers are supported as index", X)
def list_of_floats_as_index(x):
    return np.sum(x[[x[0], x[1]]])


@refused("only numbers and arrays can be stored in an array", X)
def stored_dict(x):
    y = x * 2
    y[0] = {"a": 1.0}
    return np.sum(y)


@refused("the bounds of a slice must be integers", X)
def float_bound(x):
    return np.sum(x[: len(x) / 2])


@refused("NumPy does not store a float64 result in an array of int64 in place", X)
def float_into_integers(x):
    counts = np.zeros(4, dtype=int)
    counts += x
    return np.sum(counts) * x[0]


@refused("items of this value cannot be stored", X)
def stored_in_a_number(x):
    y = 1.0
    y[0] = x[0]
    return y


@refused("this array is read-only", X)
def stored_in_a_broadcast(x):
    y = np.broadcast_to(x, (2, 4))
    y[0, 0] = 1.0
    return np.sum(y)


@refused("this stores into `w`, which may share memory with `y`", X, 99, kind=AliasingError)
def other_views_in_a_loop(x, n):
    y = x * 2
    w = y
    for k in range(n):
        w = y[k % 2 :]
    w[0] = 1.0
    return np.sum(y) + np.sum(w)


@refused(
    "of such arguments, the operations that stand for `logspace` give a result of the shape (3,), "
    "not (3, 3)",
    X[:3],
)
def spaced_by_several_bases(x):
    return np.sum(np.logspace(0.0, 1.0, 3, base=x))


@refused(
    "this stores into `flat`, which shares memory with `m`",
    np.asfortranarray(MATRIX),
    kind=AliasingError,
)
def a_reshape_that_is_a_view(m):
    flat = m.T.ravel()
    flat[0] = 1.0
    return np.sum(m) + np.sum(flat)


@refused("this value cannot be indexed", X)
def indexed_number(x):
    y = 2.0 * len(x)
    return y[0] * x[0]


@refused("this item cannot be read: tuple index out of range", X)
def item_out_of_range(x):
    pair = x[0], x[1]
    return pair[2]


@refused("this item cannot be stored: list assignment index out of range", X)
def stored_out_of_range(x):
    found = [x[0]]
    found[1] = x[1]
    return found[1]


@refused("a slice with a step is replaced by another number of items", X, 2)
def deleted_slice(x, n):
    found = list(x)
    del found[::n]
    return sum(found)


@refused("the dict has no key 'b'", X)
def missing_key(x):
    return {"a": x[0]}["b"]


@refused("this dict has numbers and tuples as keys, which are computed", X, np.arange(2))
def keys_of_two_kinds(x, n):
    parts = {}
    parts[n[0],] = x[0]
    parts[n[0]] = x[1]
    return parts[n[0]]


@refused("a dict key must be known when the function is compiled", X, {"a": 1.0})
def computed_key(x, d):
    d[str(x[0])] = x[0]
    return d["a"] * x[1]


class Point:
    def __init__(self, a):
        self.a = a


@refused("a set gets items of another type than those that were taken from it", X)
def other_items_later(x):
    seen = {1, 2}
    first = seen.pop()
    seen.add("a")
    return x[0] * first


@refused("whether a tuple is None is not known: it may come from a list that holds None", X)
def tuple_or_none(x):
    found = [None] * len(x)
    for k, v in enumerate(x):
        found[k] = (v, v)
    total = 0.0
    for item in found:
        if item is not None:
            total += item[0]
    return total


@refused(
    "NumPy makes an array of Python objects of the integer 100000000000000000000, beyond 64 bits", X
)
def an_array_of_vast_integers(x):
    return np.sum(np.array([[1.0, 100000000000000000000]])) * np.sum(x)


@refused("what is stored item by item may share memory with what it is stored to", X)
def flat_store_of_a_part(x):
    y = x.copy()
    y.flat[1:] = y[:-1]
    return np.sum(y)


@refused("what is stored item by item may share memory with what it is stored to", MATRIX)
def store_of_rows_in_reverse(m):
    m = m.copy()
    m[:] = list(m[::-1])
    return np.sum(m)


@refused("`np.dot` takes no `out=` that does not lie in C order", X)
def dot_into_a_strided_array(x):
    y = np.zeros((6, 3))
    np.dot(np.outer(x, x), np.outer(x, x), out=y[::2])
    return np.sum(y)


@refused("a result of 1 axes with `out=` of 2", X)
def cumulative_sum_into_a_matrix(x):
    y = np.zeros((3, 4))
    np.cumsum(x, axis=0, out=y)
    return np.sum(y)


@refused(
    "this stores a slice of an array in another slice of it, with another step: NumPy may read "
    "items that it has stored already",
    X,
)
def a_slice_in_one_of_another_step(x):
    y = x * 1.0
    y[::2] = y[:2]
    return np.sum(y)


@refused("NumPy adds up the numbers that are given as `where`, which may be others than 0 and 1", X)
def mean_of_counted_elements(x):
    return np.mean(x * x, where=[2, 0, 1, 0])
