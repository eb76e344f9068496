"""What Tensors do otherwise than arrays, in functions that are given both."""

from __future__ import annotations

import numpy as np

import gradscribe as gs
from gradscribe.errors import AliasingError
from tests.refused import refused

X = np.linspace(0.5, 2.0, 4)
MATRIX = np.arange(6.0).reshape(2, 3) + 1


def with_tensors(function, *args):
    """A call with Tensors in place of the arrays and floats."""
    tensors = [
        gs.tensor(a, requires_grad=True) if np.asarray(a).dtype.kind == "f" else a for a in args
    ]
    return gs.differentiable(function)(*tensors)


@refused(
    "`sort` changes an array, but gives another Tensor, which is not used here", X, by=with_tensors
)
def sorted_in_place(x):
    y = x * 2
    y.sort()
    return y[0]


@refused("an array has no attribute `to_sparse`", MATRIX, by=with_tensors)
def method_of_tensors(x):
    return x.to_sparse().sum()


@refused(
    "the method `max` of what is an array on one path and a Tensor on the other", X, by=with_tensors
)
def array_or_tensor(x):
    y = x.detach().numpy() if x[0] > 1 else x
    return y.max(0)


@refused("an array of bytes is a mask for Tensors, but not arrays", X, by=with_tensors)
def bytes_as_index(x):
    return (x * 2)[np.array([1, 0, 1, 1], dtype=np.uint8)].sum()


@refused("a list of lists indexes each axis of Tensors, but not arrays", MATRIX, by=with_tensors)
def list_of_lists_as_index(m):
    return (m * 2)[[[0, 1], [1, 0]]].sum()


@refused(
    "an integer selects before arrays index Tensors, but not arrays",
    MATRIX,
    np.array([0, 1]),
    by=with_tensors,
)
def integer_and_array_as_index(m, places):
    return (m * 2)[0, :, None, places].sum()


@refused(
    "for Tensors this changes `y`, too, but not for arrays", X, by=with_tensors, kind=AliasingError
)
def number_with_two_names(x):
    y = x.sum()
    z = y
    z += 1.0
    return y * z


@refused(
    "for Tensors this changes the Tensor that it is an element of, too, but not for arrays",
    X,
    by=with_tensors,
    kind=AliasingError,
)
def element_added_to(x):
    y = x * 2
    first = y[0]
    first += 1.0
    return y.sum() * first


LISTED = [np.ones(4)]


@refused(
    "a view is put in a list from outside, where it is copied with Tensors", X, by=with_tensors
)
def view_in_a_list(x):
    total = np.sum(LISTED[0] * x)
    LISTED[0] = MATRIX[0]
    return total
