"""What operations are given: numbers, arrays and lists that do not fit them."""

from __future__ import annotations

import json
import math
import statistics
import struct

import numpy as np

from gradscribe.errors import UnknownTypeError
from tests.refused import refused

VECTOR = np.array([0.5, 1.5, 2.5])
MATRIX = np.array([[0.5, 1.5, 2.5], [1.0, 2.0, 4.0]])

# -- numbers and arrays --------------------------------------------------------------------------


@refused("`sin` cannot be compiled here: it takes numbers, not arrays", VECTOR)
def sine_of_an_array(x):
    return math.sin(x)


@refused("`gamma` cannot be compiled here: it takes numbers, not arrays", VECTOR)
def gamma_of_an_array(x):
    return math.gamma(x)


@refused("`max` cannot be compiled here: it takes numbers, not arrays", VECTOR)
def larger_of_arrays(x):
    return max(x, 1.0)


@refused("`float` cannot be compiled here: it takes numbers, not arrays", VECTOR)
def float_of_an_array(x):
    return float(x)


@refused("`item` cannot be compiled here: it takes numbers, not arrays", VECTOR)
def item_of_an_array(x):
    return x.item()


@refused("`complex` cannot be compiled here: it takes numbers, not arrays", VECTOR)
def complex_of_an_array(x):
    return complex(x, 1.0).real


@refused("`modf` cannot be compiled here: it takes numbers, not arrays", VECTOR)
def parts_of_an_array(x):
    return math.modf(x)[0]


@refused(
    "`logical_or` cannot be compiled here: of what is no number NumPy computes with Python's "
    "objects, and may return one of them",
    0.5,
)
def the_other_one_of_none(x):
    return np.logical_or(None, x) ** 2


@refused("`float` cannot be compiled here: expected a number or an array", VECTOR)
def float_of_a_list(x):
    return float([v for v in x])


@refused(
    "this computes with a value whose type is not known when the function is compiled",
    VECTOR,
    kind=UnknownTypeError,
)
def function_of_an_unknown_value(x):
    return np.tanh(struct.unpack("d", bytes(8))[0]) * x[0]


@refused("`zeros` cannot be compiled here: expected an integer, got 2.0", VECTOR)
def float_as_a_length(x):
    return np.zeros(2.0) + x[0]


@refused("`reshape` cannot be compiled here: expected an integer", VECTOR)
def computed_float_as_a_length(x):
    return x.reshape(x[0], 1)


@refused("`sum` cannot be compiled here: the initial value is a number", VECTOR)
def array_as_initial_value(x):
    return np.sum(x, initial=x)


@refused("`sum` cannot be compiled here: an array without axes has no items", VECTOR)
def sum_over_one_number(x):
    return sum(np.asarray(x[0]))


@refused(
    "this always raises ValueError: Calling nonzero on 0d arrays is not allowed. "
    "Use np.atleast_1d(scalar).nonzero() instead.",
    VECTOR,
)
def indices_of_a_number(x):
    return x[np.nonzero(x[0])]


@refused(
    "`astype` cannot be compiled here: what it returns has dtype <U32, which is not a numeric one",
    VECTOR,
)
def array_of_texts(x):
    return x.astype(str)


@refused(
    "`mean` cannot be compiled here: `statistics.mean` of these items is not supported", VECTOR
)
def mean_of_integers(x):
    return x[0] * statistics.mean([int(v) for v in x])


@refused(
    "this sort cannot be compiled here: only numbers, and tuples of numbers, are sorted", MATRIX
)
def sorted_rows(x):
    return sorted(x)[0].sum()


@refused("`sort` cannot be compiled here: only an array can be sorted", VECTOR)
def sorted_number(x):
    return np.sort(x[0])


@refused(
    "`nan_to_num` cannot be compiled here: `copy=False` changes the array that it is given", VECTOR
)
def cleaned_in_place(x):
    np.nan_to_num(x, copy=False)
    return x.sum()


# -- axes and indices ----------------------------------------------------------------------------


@refused(
    "`sum` cannot be compiled here: axis must be known when the function is compiled",
    VECTOR,
    np.array(0),
)
def axis_in_an_array(x, axis):
    return np.sum(x, axis=axis)


@refused(
    "`sum` cannot be compiled here: axis 1 is out of bounds for an array of 1 dimensions", VECTOR
)
def axis_that_is_not_there(x):
    return np.sum(x, axis=1)


@refused(
    "this index cannot be compiled here: too many indices: the array has 1 axes, 2 were given",
    VECTOR,
)
def two_slices_of_a_vector(x):
    return x[1:, 0]


@refused(
    "this index cannot be compiled here: too many indices: the array has 1 axes, 2 were given",
    VECTOR,
)
def two_lists_of_a_vector(x):
    return x[[0, 1], [0, 0]]


@refused("this store cannot be compiled here: one element of an array holds no array", VECTOR)
def array_in_one_element(x):
    y = x.copy()
    y[0] = x
    return y.sum()


@refused(
    "`dot` cannot be compiled here: the lengths that are multiplied and summed: 3 and 2 differ",
    VECTOR,
    np.ones(2),
)
def product_of_unequal_lengths(x, y):
    return np.dot(x, y)


# -- shapes --------------------------------------------------------------------------------------


@refused("`ravel` cannot be compiled here: order='K' depends on the memory layout", MATRIX)
def flat_as_in_memory(x):
    return np.ravel(x, order="K")


@refused(
    "`broadcast_to` cannot be compiled here: "
    "the shape to broadcast to has fewer axes than the array",
    MATRIX,
)
def broadcast_to_fewer_axes(x):
    return np.broadcast_to(x, (3,))


@refused("`squeeze` cannot be compiled here: which axes have length one is not known here", VECTOR)
def squeezed_selection(x):
    return np.squeeze(x[x > 1])


@refused(
    "`sliding_window_view` cannot be compiled here: "
    "there is one length for each axis that a window slides over",
    MATRIX,
)
def windows_of_one_length(x):
    return np.lib.stride_tricks.sliding_window_view(x, 2)


# -- several arrays ------------------------------------------------------------------------------


@refused("`concatenate` cannot be compiled here: expected a tuple or list of arrays", VECTOR)
def joined_number(x):
    return np.concatenate(x[0])


@refused("`concatenate` cannot be compiled here: there is nothing to join", VECTOR)
def joined_nothing(x):
    return x.sum() * np.concatenate([])


@refused("`multi_dot` cannot be compiled here: expected at least two arrays", MATRIX)
def chain_of_one(x):
    return np.linalg.multi_dot([x])


@refused("`convolve` cannot be compiled here: expected arrays of one axis", MATRIX)
def convolved_matrix(x):
    return np.convolve(x, x)


@refused(
    "this always raises TypeError: each subscript must be either an integer or an ellipsis", VECTOR
)
def subscripts_of_axes(x):
    return np.einsum(1.0, x, x)


@refused("this value must be known when the function is compiled", VECTOR)
def order_of_a_norm_in_an_array(x):
    return np.linalg.norm(x, np.array(x[0]))


@refused("these axes are not supported", VECTOR)
def axis_of_a_size_that_is_read(x):
    return np.size(x, json.loads("0")) * x


@refused("`repeat` cannot be compiled here: expected integers, how often each is repeated", VECTOR)
def repeated_by_floats(x):
    return np.repeat(x, x)


@refused(
    "this always raises ValueError: more operands provided to einstein sum function than "
    "specified in the subscripts string",
    VECTOR,
)
def term_too_many(x):
    return np.einsum("i,i->", x)


@refused(
    "this always raises ValueError: einstein sum subscripts string contains too many subscripts "
    "for operand 0",
    VECTOR,
)
def letter_too_many(x):
    return np.einsum("ij->", x)


@refused(
    "this always raises ValueError: einstein sum subscripts string contains too many subscripts "
    "for operand 0",
    VECTOR,
)
def letters_beside_an_ellipsis(x):
    return np.einsum("ij...->...", x)


# -- linear algebra and signals ------------------------------------------------------------------


@refused("`@` cannot be compiled here: the operands of `@` have at least one axis", VECTOR)
def matrix_product_of_numbers(x):
    return (x @ x) @ x


@refused("`triu` cannot be compiled here: expected a matrix or a stack of matrices", VECTOR)
def triangle_of_a_vector(x):
    return np.triu(x[0])


@refused("this always raises ValueError: At least one array has zero dimension", VECTOR)
def cross_product_of_numbers(x):
    return np.cross(x, x[0])


@refused("`solve` cannot be compiled here: the right side has at least one axis", MATRIX)
def solution_for_a_number(x):
    return np.linalg.solve(x @ x.T, x[0, 0])


@refused(
    "`qr` cannot be compiled here: "
    "whether the matrix has at least as many rows as columns is not known",
    MATRIX,
)
def factors_of_chosen_rows(x):
    return np.linalg.qr(x[x[:, 0] > 0])[1]


@refused("`qr` cannot be compiled here: of mode='raw' no derivative is known", MATRIX)
def raw_factors(x):
    return np.linalg.qr(x.T, mode="raw")[1]


@refused(
    "`norm` cannot be compiled here: a norm of a given order is of vectors or matrices",
    np.ones((2, 2, 2)),
)
def norm_over_three_axes(x):
    return np.linalg.norm(x, axis=(0, 1, 2))


@refused("`fft` cannot be compiled here: a transform is one of an array with an axis", VECTOR)
def spectrum_of_a_number(x):
    return np.fft.fft(x[0]).real


@refused(
    "`fft` cannot be compiled here: norm='none' is none of 'backward', 'ortho' and 'forward'",
    VECTOR,
)
def spectrum_of_no_norm(x):
    return np.fft.fft(x, norm="none").real


@refused(
    "`quantile` cannot be compiled here: of the method 'middle' no derivative is known",
    VECTOR,
)
def quantile_of_unknown_method(x):
    return np.quantile(x, 0.5, method="middle")


@refused(
    "this repetition cannot be compiled here: a list is repeated a whole number of times",
    0.5,
    [1.0, 2.0],
)
def list_times_a_fraction(x, items):
    return x + (items * 1.5)[0]


@refused("this index cannot be compiled here: the places of a list's items are integers", VECTOR)
def item_at_a_float(x):
    place = 0.0 * len(x)
    return np.sum([x[:2], x][place][-1])


@refused("this index cannot be compiled here: the places of a list's items are integers", VECTOR)
def item_at_a_list(x):
    items = [x * i for i in range(len(x))]
    return np.sum(items[[0]][-1])


@refused("this store cannot be compiled here: the places of a list's items are integers", VECTOR)
def item_stored_at_a_float(x):
    items = [x[:2], x]
    items[x[0]] = x
    return np.sum(items[0])


@refused(
    "`astype` cannot be compiled here: what it returns has dtype >f8, of another byte order than "
    "this machine's",
    VECTOR,
)
def array_of_another_byte_order(x):
    return np.sum(x.astype(">f8"))


@refused(
    "`astype` with `order='A'` and without a copy, which depends on how the array lies",
    np.eye(2),
)
def array_in_any_order(m):
    return np.sum(m[:, ::-1].astype(float, order="A", copy=False))
