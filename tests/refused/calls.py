"""Calls and their arguments that are refused."""

from __future__ import annotations

import _thread
import collections
import ctypes
import functools
import json
import re
import struct
import types

import numpy as np
import scipy.linalg.blas

from gradscribe.errors import CompiledCodeError
from tests.refused import refused

X = np.linspace(0.5, 2.0, 4)
COS = ctypes.CDLL(None).cos
MATRIX = np.arange(4.0).reshape(2, 2) + 1


@refused("`ndmin` must be known when the function is compiled", X, 1)
def option_computed(x, n):
    return np.array(x, ndmin=n)


@refused("this argument of `concatenate` is not supported", X)
def dict_of_arrays(x):
    return np.sum(np.concatenate({"a": x, "b": x}))


@refused("this call of `sum` is not supported: got an unexpected keyword argument 'axes'", X)
def misspelt_keyword(x):
    return np.sum(x, axes=0)


@refused("`interp` cannot be called like this: got an unexpected keyword argument 'by'", X)
def misspelt_keyword_of_a_rarer_form(x):
    return np.sum(np.interp(x, [0.0, 1.0], [2.0, 3.0], by=2))


@refused("this value must be known when the function is compiled", MATRIX, X)
def computed_axis(m, x):
    return np.sum(np.sum(m, axis=int(x[0])))


@refused("`list` has no attribute `frobnicate`", X)
def method_of_no_value(x):
    return [x].frobnicate()


@refused("the method `__sizeof__` is not supported on this value", X)
def size_of_a_list(x):
    return np.sum(x) * [x].__sizeof__()


@refused("`strict=True` for an iterator whose items are not counted", X)
def strict_zip_of_a_zip(x):
    return sum(a[0] * b for a, b in zip(zip(x, x), x, strict=True))


@refused("`zip(…, strict=True)` in a `try` that handles its error, which comes after the items", X)
def strict_zip_in_a_try(x):
    found = []
    try:
        for _, b in zip(x[:2], x, strict=True):
            found.append(b)
    except ValueError:
        found.append(x[2])
    return sum(found)


@refused("`cos`, which is compiled code, cannot be differentiated", X, kind=CompiledCodeError)
def function_of_ctypes(x):
    return COS(x[0])


@refused(
    "`frompyfunc` makes the function that is called here, and its code cannot be read",
    X,
    kind=CompiledCodeError,
)
def function_of_elements(x):
    return np.sum(np.frompyfunc(lambda v: v * v, 1, 1)(x))


@refused("which function is called here is not known when the function is compiled", X)
def function_chosen_by_the_run(x):
    return [np.sin, np.cos][int(x[1])](x[0])


@refused("`sum` cannot be compiled here: it is given None", X)
def function_that_forgets_to_return(x):
    def doubled(v):
        v * 2

    return np.sum(doubled(x))


@refused("this store cannot be compiled here: an array is stored in a smaller one", X)
def larger_array_stored(x):
    y = x * 1
    y[:] = np.ones((2, 4))
    return np.sum(y)


@refused("`norm` cannot be compiled here: 'fro' is the order of no norm here", X)
def norm_of_a_vector_as_of_a_matrix(x):
    return np.linalg.norm(x, "fro")


@refused("this value has no length", 2.0)
def length_of_a_number(x):
    return x * len(x)


class Noting:
    def __init__(self):
        self.count = 1

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


@refused("`_count_elements`, whose code cannot be read, may change `noting`", X)
def compiled_code_given_an_object_that_notes_stores(x):
    noting = Noting()
    collections._count_elements({}, [noting])
    return noting.count * np.sum(x)


LOG = bytearray()


@refused(
    "`extend`, whose code cannot be read, may use `found`, which another call in a branch or loop "
    "may have kept",
    X,
)
def kept_and_in_a_list(x):
    found = []
    for _ in range(100):
        y = np.ones(4)
        LOG.extend(y)
        found.append(y)
    LOG.clear()
    return np.sum(found[-1] * x)


@refused(
    "what `down` calls, whose code cannot be read, may use `y`, which another call may have kept", X
)
def kept_around_a_recursion(x):
    y = np.ones(4)
    LOG.extend(y)

    def down(k):
        LOG.clear()
        return 0.0 if k == 0 else np.sum(x * k) + down(k - 1)

    return down(3) * np.sum(y * x)


@refused("`out=` must be one array", X)
def out_is_a_tuple_of_two(x):
    first, second = np.zeros(4), np.zeros(4)
    np.exp(x, out=[first, second])
    return np.sum(first)


@refused("`where=` without an array to store in leaves the other elements undefined", X)
def where_without_out(x):
    return np.sum(np.log(x, where=x > 1))


@refused("the result is float64, but `out=` is of float32", X)
def out_of_another_dtype(x):
    total = np.zeros((), dtype=np.float32)
    np.sum(x, out=total)
    return total * x[0]


@refused("this call of `add.at` is not supported", X)
def at_of_a_list(x):
    found = [0.0, 0.0]
    np.add.at(found, [0, 1], x[:2])
    return found[0]


@refused("this value cannot be called", 2.0)
def called_number(x):
    return x(2)


@refused("the parts must be known when the function is compiled", X)
def split_at_computed_places(x):
    return np.sum(np.split(x, np.flatnonzero(x > 1))[0])


@refused("it takes arrays, numbers and dtypes", X)
def type_of_a_list_of_arrays(x):
    return x.astype(np.result_type(x, [x]))


@refused("this call of `split` is not supported", MATRIX)
def split_along_what_is_read(m):
    return np.sum(np.split(m, 2, json.loads("0"))[0])


@refused("this call always raises ValueError: could not convert string to float: 'one'", 2.0)
def number_of_a_text(x):
    return x * float("one")


@refused("`scaled` cannot be called like this: missing a required argument: 'by'", 2.0)
def argument_left_out(x):
    return scaled(x)


def scaled(x, by):
    return x * by


@refused("`fromiter` is given more than is supported", X)
def counted_items(x):
    return np.sum(np.fromiter((v * v for v in x), float, len(x)))


@refused("this call of `max` has no items", 2.0)
def largest_of_nothing(x):
    return x * max([])


@refused("`reverse` must be known when the function is compiled", X)
def order_computed(x):
    return sorted(x, reverse=x[0] > 1)[0]


@functools.lru_cache
def remembered(n):
    print("computed")
    return n + 1


@refused("a function that remembers its results has effects", X)
def remembers_with_effects(x):
    return np.sum(x) * remembered(len(x))


@refused("`**` of this value is not supported in a call", 2.0)
def keywords_of_a_list(x):
    return scaled(**[x, x])


@refused("`**` of this value is not supported in a dict display", 2.0)
def dict_of_a_list(x):
    return {**[x]}["a"]


@refused("`in` is not supported on this container", 2.0)
def member_of_a_number(x):
    return x if 1 in x else -x


@refused("`<` is not supported on a dict and a dict", 2.0)
def compared_dicts(x):
    return x if {"a": x} < {"a": 2} else -x


@refused("`-` of tuples or lists is not supported", 2.0)
def difference_of_lists(x):
    return ([x] - [1.0])[0]


@refused("`is` between run-time values is not supported", X)
def identity_of_numbers(x):
    return x[0] if x[0] is x[1] else x[2]


@refused("`+` cannot be compiled here: axes of 4 and 3 do not broadcast", X)
def other_lengths(x):
    return np.sum(x + np.ones(3))


@refused("the class of this value is not known", X)
def class_of_an_iterator(x):
    return x[0] if type(v for v in x) is list else x[1]


@refused("the items of a set must be known when the function is compiled", X)
def set_of_computed_items(x):
    return x[0] * len(frozenset([x[0], x[1]]))


@refused("this must be known when the function is compiled", X)
def attribute_by_a_computed_name(x):
    return getattr(x, str(x[0]))()


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


@refused(
    "`_count_elements`, whose code cannot be read, may change an object, which another call "
    "may have kept",
    X,
)
def object_that_loses_an_attribute_after_it_was_kept(x):
    rates = types.SimpleNamespace(fast=2.0, slow=1.0)
    collections._count_elements({"a": rates}, [])
    del rates.slow
    collections._count_elements({}, [1.0])
    return x[0]


ROUNDED = np.vectorize(lambda a: a * 1.5, otypes=[int])


@refused("`np.vectorize` with `otypes` is not supported", X)
def vectorized_for_integers(x):
    return np.sum(ROUNDED(x))


@refused("`function dgemm` may ask how an array lies in memory, which is not known here", MATRIX)
def matrix_beside_a_differentiated_one_in_fortran_order(m):
    c = np.zeros((2, 2), order="F") + 1.0
    rows = m.copy(order="F")
    scipy.linalg.blas.dgemm(1.0, np.eye(2), np.eye(2), beta=1.0, c=c, overwrite_c=1)
    return np.sum(c @ rows)


@refused("`sub`, whose code cannot be read, calls what gives `found` other items", X)
def list_filled_by_what_is_called_back(x):
    found = []
    re.sub("a", lambda match: found.append(1.0) or "b", "aab")
    return np.sum(x) * len(found)


@refused("`sub`, whose code cannot be read, calls what gives `counts` other items", X)
def dict_filled_by_what_is_called_back(x):
    counts = {}

    def count(match):
        counts[match[0]] = counts.get(match[0], 0) + 1
        return ""

    re.sub("a", count, "aab")
    return np.sum(x) * counts["a"]


@functools.cache
def remembered_array(n):
    return np.ones(n)


@refused("`pack_into` may write to an array that others may have", X)
def overwrites_what_is_remembered(x):
    weights = remembered_array(len(x))
    struct.pack_into("d", weights, 0, 5.0)
    return np.sum(weights * x)


@refused("`start_new_thread` is not supported: what another thread does, and when, is not known", X)
def thread_that_is_started(x):
    _thread.start_new_thread(print, ())
    return np.sum(x)
